// The pairs with their thumbnails, and the weight of each in the present frame.
import { useRef } from 'preact/hooks';
import { run, store } from '../../app';
import { address } from '../../net/address';
import type { PairInfo } from '../../net/protocol';
import { askText } from '../../ui/dialog';
import { button, iconButton, note } from '../../ui/fields';
import { iconView } from '../../ui/icons';
import { section } from '../../ui/section';
import { h, useTopics, type View } from '../../ui/view';
import { openExport } from '../export/form';
import { puppetStage } from './state';

/** Metres from the nearest blend above which another pair would help. */
const FAR_M = 0.06;

export function Pairs(): View {
  useTopics(puppetStage, 'act', 'change');
  const { act, puppet } = store.doc ?? {};
  const pairs = puppet?.pairs ?? [];
  return section(
    'Pairs',
    h(
      'div.cards',
      { 'data-testid': 'pairs' },
      ...pairs.map((pair, i) => card(pair, act?.weights?.[i] ?? 0)),
      pairs.length === 0 &&
        note(
          'No pairs. A character with arms and legs follows you without them; others need two: stand still for “at rest”, then pair another pose.',
        ),
    ),
    residual(pairs.length > 0),
    files(),
  );
}

function residual(hasPairs: boolean): View {
  const { residual: off, fault } = store.doc?.act ?? {};
  const isFault = fault != null;
  const far = off != null && off > FAR_M ? ' Pair this pose too.' : '';
  const distance = off == null ? '' : `You are ${(100 * off).toFixed(1)} cm from a blend of these.${far}`;
  return h(
    'p.note',
    { class: isFault ? 'missed' : 'live', hidden: !hasPairs && !isFault, 'data-testid': 'residual' },
    isFault ? fault : distance,
  );
}

function files(): View {
  const input = useRef<HTMLInputElement>(null);
  const load = async (): Promise<void> => {
    const text = await input.current?.files?.[0]?.text();
    if (input.current) input.current.value = '';
    if (text === undefined) return;
    const pairs: unknown = await Promise.resolve(text)
      .then(JSON.parse)
      .catch(() => ({}));
    void run({ set_pairs: { pairs } });
  };
  return h(
    'div.actions',
    null,
    h('input', {
      ref: input,
      type: 'file',
      accept: '.json',
      hidden: true,
      'data-testid': 'pairs-file',
      onchange: load,
    }),
    button('pairs-import', 'Import…', () => input.current?.click(), {
      tip: 'Replace the pairs with those of a pairs.json',
    }),
    button('pairs-export', 'Export…', () => openExport('pairs'), { tip: 'For `sinew puppet`' }),
  );
}

function card({ name, thumbnail, target }: PairInfo, weight: number): View {
  const rename = (): void =>
    askText('rename-pair', 'Rename pair', 'Name', name, (to) => {
      if (to !== name) void run({ rename_pair: { name, to } });
    });
  const skeleton = 'joints' in target && target.joints === 0 ? 'at rest' : 'a pose of the skeleton';
  const meaning = 'example' in target ? `the pose ${target.example}` : skeleton;
  return h(
    'div.card.pair',
    { key: name, 'data-testid': `pair-${name}` },
    h(
      'div.card-picture',
      { 'data-tip': `Character: ${meaning}` },
      thumbnail === null ? iconView('figure') : h('img', { src: address(thumbnail), alt: '' }),
      h('i.weight', {
        class: weight < 0 ? 'below' : '',
        style: { '--weight': String(Math.min(1, Math.abs(weight))) },
        'data-weight': weight.toFixed(3),
      }),
    ),
    h(
      'div.card-line',
      null,
      h('span.name', { ondblclick: rename, 'data-tip': 'Double-click to rename' }, name),
      iconButton(`pair-delete-${name}`, 'trash', 'Delete pair', () => void run({ remove_pair: { name } })),
    ),
  );
}
