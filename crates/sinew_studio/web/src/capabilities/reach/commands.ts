// Commands while reaching, and mirrored examples.
import type { Action } from '../../actions';
import { run, store } from '../../app';
import { freeCopy } from '../../names';
import { endReach, removeTarget, targetOf } from './state';

const isReaching = (): boolean => store.tool === 'reach' && Boolean(store.doc?.reach);

export function reachCommands(): Action[] {
  return [
    {
      id: 'reach-accept',
      label: 'Apply the reached pose',
      group: 'Examples',
      keys: { all: ['Enter'] },
      enabled: isReaching,
      run: () => endReach(true),
    },
    {
      id: 'reach-cancel',
      label: 'Discard the reached pose',
      group: 'Examples',
      keys: { all: ['Escape'] },
      enabled: isReaching,
      run: () => endReach(false),
    },
    {
      id: 'target-remove',
      label: 'Remove the target of the handle',
      group: 'Examples',
      keys: { all: ['Delete'] },
      enabled: () => isReaching() && targetOf(store.main) !== undefined,
      run: () => removeTarget(store.main!),
    },
  ];
}

const SIDES: [RegExp, string][] = [
  [/([._ ])L$/, '$1R'],
  [/([._ ])R$/, '$1L'],
  [/left/, 'right'],
  [/Left/, 'Right'],
  [/right/, 'left'],
  [/Right/, 'Left'],
];

/** Add a copy with left and right exchanged, and load it. */
export async function mirrorExample(name: string): Promise<void> {
  const side = SIDES.find(([pattern]) => pattern.test(name));
  const stem = side ? name.replace(side[0], side[1]) : `${name} mirrored`;
  const to = freeCopy(store.doc?.examples ?? [], stem);
  if ((await run({ mirror_example: { name, to } })) !== undefined) await run({ load_example: { name: to } });
}
