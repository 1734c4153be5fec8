// The ground: flat, a slope, steps or hills, and their measures.
import { store } from '../app';
import type { Ground } from '../net/protocol';
import { lengthField, numberField, row, segments } from '../ui/fields';

type Kind = 'flat' | 'slope' | 'steps' | 'hills';

/** Which ground, and its measures. */
export function groundFields(id: string, given: Ground | undefined, change: (ground: Ground) => void): HTMLElement[] {
  const ground: Ground = given ?? { flat: 0 };
  const kind = Object.keys(ground)[0] as Kind | 'field';
  const size = store.doc ? store.doc.bounds[1][1] - store.doc.bounds[0][1] : 1.7;
  const fresh: Record<Kind, Ground> = {
    flat: { flat: 0 },
    slope: { slope: 10 },
    steps: { steps: { rise: 0.08 * size, run: 0.2 * size, start: 0.3 * size, count: 6 } },
    hills: { hills: { height: 0.15 * size, length: 2 * size } },
  };
  const length = (key: string, label: string, value: number, set: (value: number) => void): HTMLElement =>
    row(`${label} ${store.prefs.units}`, lengthField({ id: `${id}-${key}`, label, value, set }));
  const fields: HTMLElement[] = [];
  if ('flat' in ground) fields.push(length('height', 'Height', ground.flat, (flat) => change({ flat })));
  if ('slope' in ground) {
    const set = (slope: number): void => change({ slope });
    fields.push(row('Degrees', numberField({ id: `${id}-slope`, label: 'Degrees', value: ground.slope, min: -60, max: 60, step: 1, set })));
  }
  if ('steps' in ground) {
    const { steps } = ground;
    const set = (part: Partial<typeof steps>): void => change({ steps: { ...steps, ...part } });
    fields.push(
      length('rise', 'Rise', steps.rise, (rise) => set({ rise })),
      length('run', 'Depth', steps.run, (run) => set({ run })),
      length('start', 'Start', steps.start, (start) => set({ start })),
      row('Steps', numberField({ id: `${id}-count`, label: 'Steps', value: steps.count, min: 1, max: 1000, step: 1, set: (count) => set({ count: Math.round(count) }) })),
    );
  }
  if ('hills' in ground) {
    const { hills } = ground;
    const set = (part: Partial<typeof hills>): void => change({ hills: { ...hills, ...part } });
    fields.push(
      length('hill', 'Height', hills.height, (height) => set({ height })),
      length('length', 'Length', hills.length, (value) => set({ length: value })),
    );
  }
  return [
    segments<Kind | 'field'>(
      `${id}-kind`,
      'Ground',
      kind,
      [
        { value: 'flat', label: 'Flat' },
        { value: 'slope', label: 'Slope', tip: 'Up along +Z' },
        { value: 'steps', label: 'Steps', tip: 'Stairs along +Z' },
        { value: 'hills', label: 'Hills' },
      ],
      (choice) => change(fresh[choice as Kind]),
    ),
    ...fields,
  ];
}
