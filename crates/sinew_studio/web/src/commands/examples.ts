// Commands on examples: reaching, mirroring, details, points of paths.
import { define } from '../actions';
import { run, store } from '../app';
import { showTab } from '../panels/sidebar';
import { endReach, hasTarget, removeTarget } from '../reaching';
import { chosenPoint, removeChosen } from '../tools/path';

const reaching = (): boolean => store.tool === 'reach' && Boolean(store.doc?.reach);

/** Before those of handles and selections, which share keys with them. */
export function defineExamples(): void {
  define(
    { id: 'reach-accept', label: 'Take the pose that was reached', group: 'Examples', keys: { all: ['Enter'] }, enabled: reaching, run: () => endReach(true) },
    { id: 'reach-cancel', label: 'Drop it', group: 'Examples', keys: { all: ['Escape'] }, enabled: reaching, run: () => endReach(false) },
    {
      id: 'target-remove',
      label: 'Remove the target of the handle',
      group: 'Examples',
      keys: { all: ['Delete'] },
      enabled: () => reaching() && hasTarget(store.main),
      run: () => removeTarget(store.main!),
    },
    {
      id: 'path-point-remove',
      label: 'Remove the point of the path',
      group: 'Examples',
      keys: { all: ['Delete'] },
      enabled: () => store.tool === 'path' && chosenPoint() !== null,
      run: removeChosen,
    },
  );
  let last = store.tool;
  store.on('tool', (tool) => {
    if (tool === last) return;
    last = tool;
    if (tool === 'reach') showTab('reach');
    else if (tool === 'path') showTab('paths');
    else if (tool === 'rules') showTab('rules');
  });
  // A pose that is renamed or gone is not the one that is sculpted.
  store.on('doc', (doc) => {
    const { sculptExample } = store.options;
    if (sculptExample !== null && !doc.examples.some(({ name }) => name === sculptExample)) store.setOptions({ sculptExample: null });
  });
}

/** Sculpt a stored pose: it is loaded first. */
export async function sculptExample(name: string | null): Promise<void> {
  if (name !== null && (await run({ load_example: { name } })) === undefined) return;
  store.setOptions({ sculptExample: name });
}

const TWINS: [RegExp, string][] = [
  [/([._ ])L$/, '$1R'],
  [/([._ ])R$/, '$1L'],
  [/left/, 'right'],
  [/Left/, 'Right'],
  [/right/, 'left'],
  [/Right/, 'Left'],
];

/** A twin with left and right exchanged, which is shown. */
export async function mirrorExample(name: string): Promise<void> {
  const twin = TWINS.find(([pattern]) => pattern.test(name));
  const stem = twin ? name.replace(twin[0], twin[1]) : `${name} mirrored`;
  const taken = new Set(store.doc?.examples.map((example) => example.name));
  let to = stem;
  for (let i = 2; taken.has(to); i++) to = `${stem} ${i}`;
  if ((await run({ mirror_example: { name, to } })) !== undefined) await run({ load_example: { name: to } });
}
