// The reach panel: targets, the weights of the examples, and applying or discarding the pose.
import { useRef } from 'preact/hooks';
import { store } from '../../app';
import { address } from '../../net/address';
import type { Doc, ReachTarget, Vec3 } from '../../net/protocol';
import { AXES, button, iconButton, lengthField, note, numberField, slider } from '../../ui/fields';
import { iconView } from '../../ui/icons';
import { h, part, useTopics, type View } from '../../ui/view';
import { mirrorExample } from './commands';
import { searchSection } from './search';
import { endReach, ReachGesture, reach, removeTarget, targetOf, withTarget } from './state';

const percent = (share: number): string => `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;

export function ReachPanel(): View {
  useTopics(store, 'doc', 'reach', 'prefs', 'tool', 'selection', 'welcome');
  const found = store.doc?.reach ?? null;
  const targets = found?.targets ?? [];
  const disabled = found === null;
  return h(
    'div.reach',
    { 'data-testid': 'reach' },
    h(
      'div.actions',
      null,
      button('reach-accept', 'Apply pose', () => endReach(true), { class: 'primary', disabled }),
      button('reach-cancel', 'Discard', () => endReach(false), { disabled }),
      button('reach-again', 'Search again', () => reach({ multi_start: true }), {
        disabled: targets.length === 0,
        tip: 'Look for a better pose everywhere, not only near this one',
      }),
    ),
    h(
      'p.note',
      { 'data-testid': 'reach-report', role: 'status', class: found && !found.reached ? 'missed' : '' },
      status(),
    ),
    h('h3', null, 'Targets'),
    h(
      'div.targets',
      { 'data-testid': 'reach-targets' },
      ...targets.map(targetRow),
      targets.length === 0 && note('None yet.'),
    ),
    h('h3', null, 'Weights'),
    part(Weights, { key: 'weights' }),
    searchSection(),
  );
}

function status(): string {
  const { doc } = store;
  if (!doc) return '';
  if (doc.examples.length === 0) return 'There are no examples to blend. Pose the body and save poses first.';
  if (!doc.reach) return 'Press a handle in the viewport and drag: the body follows your examples.';
  const { reach: found } = doc;
  if (found.targets.length === 0) return 'A blend of the examples, set by hand. Add targets on handles to search.';
  if (found.reached) return `Reached in ${found.ms.toFixed(1)} ms and ${found.evaluations} evaluations.`;
  return `Out of reach: this is the nearest pose, it misses by ${percent(found.missed)} of the body.`;
}

function targetRow({ handle, position, pin, distance }: ReachTarget): View {
  const now = (): Vec3 => targetOf(handle)?.position ?? position;
  const set = (axis: 0 | 1 | 2, value: number): void => {
    const to: Vec3 = [...now()];
    to[axis] = value;
    reach({ targets: withTarget(handle, to) });
  };
  const scale = store.prefs.units === 'cm' ? 100 : 1;
  const off = `${(distance * scale).toFixed(scale === 1 ? 3 : 1)} ${store.prefs.units} off`;
  return h(
    'div.target-row',
    { key: handle, class: store.main === handle ? 'main' : '', 'data-testid': `target-${handle}` },
    h(
      'div.target-head',
      { onclick: () => store.selectMain(handle, true) },
      h('span.swatch', { style: { backgroundColor: store.handle(handle)?.color } }),
      h('span.name', null, handle),
      h('span.off', { 'data-testid': `target-off-${handle}` }, off),
      iconButton(
        `target-pin-${handle}`,
        'pin',
        'Must be reached exactly',
        () => reach({ targets: withTarget(handle, now(), !pin) }),
        { pressed: pin },
      ),
      iconButton(`target-remove-${handle}`, 'trash', 'Remove the target', () => removeTarget(handle)),
    ),
    h(
      'div.target-place',
      null,
      ...AXES.map(([axis, name]) =>
        lengthField({
          id: `target-${handle}-${name.toLowerCase()}`,
          label: `${handle} ${name}`,
          value: position[axis],
          set: (value) => set(axis, value),
        }),
      ),
    ),
  );
}

function Weights(): View {
  const gesture = useRef<ReachGesture | null>(null);
  const set = (name: string, value: number): void => {
    gesture.current ??= new ReachGesture();
    gesture.current.update({ weights: [[name, value]] }, performance.now());
  };
  const end = (): void => {
    gesture.current?.end();
    gesture.current = null;
  };
  const examples = store.doc?.examples ?? [];
  return h(
    'div.weights',
    { 'data-testid': 'reach-weights' },
    ...examples.map((example, k) => weightRow(example, store.doc?.reach?.weights[k] ?? 0, set, end)),
  );
}

function weightRow(
  { name, thumbnail, detail }: Doc['examples'][number],
  value: number,
  set: (name: string, value: number) => void,
  end: () => void,
): View {
  const [min, max] = store.doc?.search.limits ?? [0, 1];
  const label = `Weight of ${name}`;
  const type = (typed: number): void => {
    set(name, typed);
    end();
  };
  return h(
    'div.weight-row',
    { key: name, class: Math.abs(value) > 0.005 ? 'used' : '', 'data-testid': `weight-row-${name}` },
    thumbnail === null ? iconView('figure') : h('img', { src: address(thumbnail), alt: '' }),
    h('span.name', { 'data-tip': detail ? `${name}, with detail` : name }, name),
    slider({ id: `weight-${name}`, label, min, max, step: 0.01, value, set: (to) => set(name, to), done: end }),
    numberField({ id: `weight-number-${name}`, label, value, step: 0.05, digits: 2, set: type }),
    iconButton(`mirror-${name}`, 'mirror', 'Mirror into a new example', () => void mirrorExample(name)),
  );
}
