// The ground: flat, a slope, steps or hills, and their measures.
import { store } from '../app';
import type { Ground } from '../net/protocol';
import { lengthField, numberField, row, segments } from './fields';
import type { View } from './view';

type Kind = 'flat' | 'slope' | 'steps' | 'hills';
type Change = (ground: Ground) => unknown;

/** A ground of a kind in proportion to the body. */
function freshGround(kind: Kind): Ground {
  const size = store.doc ? store.doc.bounds[1][1] - store.doc.bounds[0][1] : 1.7;
  if (kind === 'flat') return { flat: 0 };
  if (kind === 'slope') return { slope: 10 };
  if (kind === 'hills') return { hills: { height: 0.15 * size, length: 2 * size } };
  return { steps: { rise: 0.08 * size, run: 0.2 * size, start: 0.3 * size, count: 6 } };
}

function measures(id: string, ground: Ground, change: Change): View[] {
  const length = (key: string, label: string, value: number, set: (value: number) => unknown): View =>
    row(`${label} ${store.prefs.units}`, lengthField({ id: `${id}-${key}`, label, value, set }));
  const number = (
    key: string,
    label: string,
    value: number,
    [min, max]: [number, number],
    set: (v: number) => unknown,
  ) => row(label, numberField({ id: `${id}-${key}`, label, value, min, max, step: 1, set }));
  if ('flat' in ground) return [length('height', 'Height', ground.flat, (flat) => change({ flat }))];
  if ('slope' in ground) return [number('slope', 'Degrees', ground.slope, [-60, 60], (slope) => change({ slope }))];
  if ('steps' in ground) {
    const { steps } = ground;
    const set = (part: Partial<typeof steps>): unknown => change({ steps: { ...steps, ...part } });
    return [
      length('rise', 'Rise', steps.rise, (rise) => set({ rise })),
      length('run', 'Depth', steps.run, (run) => set({ run })),
      length('start', 'Start', steps.start, (start) => set({ start })),
      number('count', 'Steps', steps.count, [1, 1000], (count) => set({ count: Math.round(count) })),
    ];
  }
  if (!('hills' in ground)) return [];
  const { hills } = ground;
  const set = (part: Partial<typeof hills>): unknown => change({ hills: { ...hills, ...part } });
  return [
    length('hill', 'Height', hills.height, (height) => set({ height })),
    length('length', 'Length', hills.length, (value) => set({ length: value })),
  ];
}

/** Which ground, and its measures. */
export function groundFields(id: string, given: Ground | undefined, change: Change): View[] {
  const ground: Ground = given ?? { flat: 0 };
  return [
    segments<Kind | 'field'>(
      `${id}-kind`,
      'Ground',
      Object.keys(ground)[0] as Kind | 'field',
      [
        { value: 'flat', label: 'Flat' },
        { value: 'slope', label: 'Slope', tip: 'Rises along +Z' },
        { value: 'steps', label: 'Steps', tip: 'Stairs along +Z' },
        { value: 'hills', label: 'Hills' },
      ],
      (kind) => change(freshGround(kind as Kind)),
    ),
    ...measures(id, ground, change),
  ];
}
