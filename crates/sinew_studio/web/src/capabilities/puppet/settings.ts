// How the character follows the actor.
import { store } from '../../app';
import type { Limb, PuppetSettings } from '../../net/protocol';
import { checkbox, row, segments, selectField, slider } from '../../ui/fields';
import { section } from '../../ui/section';
import { h, type View } from '../../ui/view';
import { puppetStage } from './state';

const LIMBS: [Limb, string][] = [
  ['arm.L', 'left arm'],
  ['arm.R', 'right arm'],
  ['leg.L', 'left leg'],
  ['leg.R', 'right leg'],
];

const PROJECTIONS: Record<string, string> = {
  l1: 'Sparse blend (L1)',
  positive: 'Never beyond the pairs',
  linear: 'Closest fit, may jitter (linear)',
  radial: 'By similarity (radial)',
};

/** What is used for cameras unless something else is set; motion files are not smoothed then. */
const CAMERA_SMOOTHING = 0.4;

type NumberKey = 'smoothing' | 'lambda' | 'limit' | 'hold';

function range(settings: PuppetSettings, key: NumberKey, label: string, max: number, step: number, tip: string): View {
  const value = settings[key] ?? CAMERA_SMOOTHING;
  const set = (to: number, gesture: number): unknown => puppetStage.set({ [key]: to }, gesture);
  return row(
    label,
    slider({ id: `puppet-${key}`, label, value, min: 0, max, step, tip, set }),
    h('span.dim.number', null, String(Number(value.toFixed(3)))),
  );
}

function limbs({ ignored }: PuppetSettings): View {
  const set = (limb: Limb, on: boolean): unknown =>
    puppetStage.set({ ignored: on ? ignored.filter((other) => other !== limb) : [...ignored, limb] });
  return h(
    'div.limbs',
    null,
    ...LIMBS.map(([limb, label]) => checkbox(`listen-${limb}`, label, !ignored.includes(limb), (on) => set(limb, on))),
  );
}

export function followingSection(): View {
  const { settings, projections: known = [] } = store.doc?.puppet ?? {};
  if (!settings) return section('Following');
  const projections = known.map((value) => ({ value, label: PROJECTIONS[value] ?? value }));
  return section(
    'Following',
    range(settings, 'smoothing', 'Smoothing', 1, 0.05, 'More is steadier and slower'),
    row(
      'Projection',
      selectField('puppet-projection', 'Projection', settings.projection, projections, (projection) =>
        puppetStage.set({ projection }),
      ),
    ),
    settings.projection === 'l1' && range(settings, 'lambda', 'Penalty', 0.2, 0.005, 'Extrapolation penalty, 0 = none'),
    range(settings, 'limit', 'Extrapolation', 2, 0.05, 'Largest sum of negative weights'),
    row(
      'Mirror',
      checkbox('puppet-mirror', 'as in a mirror', settings.mirror, (mirror) => puppetStage.set({ mirror })),
    ),
    row('Limbs', limbs(settings)),
    ...blendRows(settings),
    row(
      'Ground',
      h(
        'div.limbs',
        null,
        checkbox('puppet-travel', 'travel', settings.travel, (travel) => puppetStage.set({ travel })),
        checkbox('puppet-feet', 'plant feet', settings.feet, (feet) => puppetStage.set({ feet })),
      ),
    ),
    range(settings, 'hold', 'Hold', 5, 0.1, 'Seconds without tracking until reset'),
  );
}

function blendRows({ whole_body, interpolation }: PuppetSettings): View[] {
  return [
    row(
      'Body',
      segments(
        'puppet-parts',
        'Body',
        whole_body ? 'whole' : 'parts',
        [
          { value: 'parts', label: 'Limb by limb', tip: 'An arm does not affect a leg' },
          { value: 'whole', label: 'Whole', tip: 'The body as a whole, as in Sun (2017)' },
        ],
        (value) => puppetStage.set({ whole_body: value === 'whole' }),
      ),
    ),
    row(
      'Blend',
      segments(
        'puppet-blend',
        'Blend',
        interpolation,
        [
          { value: 'fk', label: 'Rotations', tip: 'Limbs keep their lengths' },
          { value: 'linear', label: 'Matrices', tip: 'For comparison, as in Sun (2017): limbs shrink and shear' },
        ],
        (value) => puppetStage.set({ interpolation: value }),
      ),
    ),
  ];
}
