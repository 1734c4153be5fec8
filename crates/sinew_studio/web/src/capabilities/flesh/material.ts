// What flesh is made of; it can change while the simulation runs.
import type { Flesh, FleshSettings, Vec3 } from '../../net/protocol';
import { button, numberField, row, selectField, slider } from '../../ui/fields';
import { section } from '../../ui/section';
import { h, type View } from '../../ui/view';
import { setFlesh, stiffness } from './state';

/** Directions of gravity by name. */
const DIRECTIONS: Record<string, Vec3> = {
  down: [0, -1, 0],
  up: [0, 1, 0],
  left: [-1, 0, 0],
  right: [1, 0, 0],
  forward: [0, 0, 1],
  back: [0, 0, -1],
};

const EARTH: Vec3 = [0, -9.81, 0];

const DEFAULTS: Partial<FleshSettings> = {
  cells: 1000,
  stiffness: null,
  poisson: 0.45,
  density: 1000,
  damping: 0.01,
  mode: 'predicted',
  bone_radius: 0.4,
  gravity: EARTH,
};

/** The direction that was chosen last, for when gravity is zero. */
let lastDirection = 'down';

function directionOf(gravity: Vec3): Vec3 {
  const size = Math.hypot(...gravity);
  return size > 0 ? (gravity.map((x) => x / size) as Vec3) : DIRECTIONS[lastDirection];
}

function directionName(gravity: Vec3): string {
  const [x, y, z] = directionOf(gravity);
  return Object.entries(DIRECTIONS).find(([, [a, b, c]]) => a * x + b * y + c * z > 0.999)?.[0] ?? 'other';
}

const pascals = (value: number): string =>
  value >= 1e6 ? `${(value / 1e6).toPrecision(2)} MPa` : `${Number((value / 1e3).toPrecision(2))} kPa`;

interface Knob {
  id: string;
  label: string;
  range: Vec3;
  tip: string;
  value: number;
  text: string;
  set(value: number, gesture: number): unknown;
}

function knob({ id, label, range: [min, max, step], tip, value, text, set }: Knob): View {
  return row(
    label,
    slider({ id, label, value, min, max, step, tip, set }),
    h('output.number', { 'data-testid': `${id}-value` }, text),
  );
}

export function materialSection({ settings, usual_stiffness: usual, modes }: Flesh): View {
  const gravity = Math.hypot(...settings.gravity);
  return section(
    'Material',
    knob({
      id: 'flesh-stiffness',
      label: 'Stiffness',
      range: [-2, 1.5, 0.05],
      tip: 'Softer to the left, stiffer to the right',
      value: Math.log10(stiffness() / usual),
      text: pascals(stiffness()),
      set: (value, gesture) => setFlesh({ stiffness: usual * 10 ** value }, gesture),
    }),
    knob({
      id: 'flesh-damping',
      label: 'Damping',
      range: [0, 0.1, 0.005],
      tip: 'How quickly motion dies down',
      value: settings.damping,
      text: `${Math.round(1000 * settings.damping)} ms`,
      set: (damping, gesture) => setFlesh({ damping }, gesture),
    }),
    knob({
      id: 'flesh-gravity',
      label: 'Gravity',
      range: [0, 30, 0.1],
      tip: 'Metres per second squared; 9.8 on Earth',
      value: gravity,
      text: `${gravity.toFixed(1)} m/s²`,
      set: (value, gesture) =>
        setFlesh({ gravity: directionOf(settings.gravity).map((x) => x * value) as Vec3 }, gesture),
    }),
    directionRow(settings),
    ...numberRows(settings),
    row(
      'Strain',
      selectField(
        'flesh-mode',
        'Strain measure',
        settings.mode,
        modes.map((value) => ({ value, label: value })),
        (mode) => setFlesh({ mode }),
      ),
    ),
    h(
      'div.actions',
      null,
      button('flesh-defaults', 'Defaults', () => void setFlesh({ ...DEFAULTS })),
    ),
  );
}

function directionRow({ gravity }: FleshSettings): View {
  const name = directionName(gravity);
  const names = Object.keys(DIRECTIONS).map((value) => ({ value, label: value }));
  if (name === 'other') names.push({ value: 'other', label: 'other' });
  const choose = (value: string): unknown => {
    if (!DIRECTIONS[value]) return undefined;
    lastDirection = value;
    const size = Math.hypot(...gravity) || Math.hypot(...EARTH);
    return setFlesh({ gravity: DIRECTIONS[value].map((x) => x * size) as Vec3 });
  };
  return row('Direction', selectField('flesh-way', 'Gravity direction', name, names, choose));
}

function numberRows({ cells, bone_radius }: FleshSettings): View[] {
  return [
    row(
      'Cells',
      numberField({
        id: 'flesh-n-cells',
        label: 'Approximate number of cells',
        value: cells,
        min: 50,
        max: 20000,
        step: 50,
        set: (value) => setFlesh({ cells: Math.round(value) }),
      }),
      h('span.dim', null, 'about'),
    ),
    row(
      'Bone thickness',
      numberField({
        id: 'flesh-bones',
        label: 'Bone thickness as a share of the distance to the surface',
        value: bone_radius,
        min: 0,
        max: 0.9,
        step: 0.05,
        set: (value) => setFlesh({ bone_radius: value }),
      }),
      h('span.dim', null, 'of the depth'),
    ),
  ];
}
