// The muscles panel: templates dragged onto the body, control parameters, samples, and curves over a clip.
import { store } from '../../app';
import type { Context } from '../../capability';
import type { MuscleControl, ShownMuscle } from '../../net/protocol';
import type { Player } from '../../player';
import { iconButton, note, numberField, row, segments, selectField, slider } from '../../ui/fields';
import { section } from '../../ui/section';
import { addSkeletonRow, hasSkeleton } from '../../ui/skeleton';
import { h, useTopics, type View } from '../../ui/view';
import { isLive, setLive } from '../flesh/state';
import { curveSection } from './curves';
import { changeMuscles, DRAGGED, type GuideName, muscles, muscleView, TEMPLATES } from './state';

export function MusclePanel({ context: { player } }: { context: Context }): View {
  useTopics(store, 'doc');
  useTopics(muscleView, 'change');
  useTopics(player, 'change');
  const controls = muscles()?.controls ?? [];
  const { chosen } = muscleView;
  return h(
    'div.properties.flesh.muscles',
    { 'data-testid': 'muscles' },
    addSection(),
    controls.length > 0 && section('Control parameters', ...controls.map((control) => controlRow(control, player))),
    chosen && muscleSection(chosen),
    curveSection(player),
  );
}

function addSection(): View {
  if (!hasSkeleton())
    return section(
      'Add a muscle',
      note(
        'Muscles shape flesh on bones. Add a skeleton, or place joints yourself with the Flesh panel.',
        'muscles-empty',
      ),
      addSkeletonRow('muscles-add-skeleton'),
    );
  return section(
    'Add a muscle',
    h('div.templates', null, ...TEMPLATES.map(({ id, tip }) => template(id, tip))),
    row(
      'Placed by',
      segments<GuideName>(
        'muscles-guide',
        'Placed by',
        muscleView.guide,
        [
          { value: 'skin', label: 'Skin', tip: 'Depth below the skin, and spin' },
          { value: 'bone', label: 'Bone', tip: 'Slides along the bone, orbits and spins around it' },
          { value: 'free', label: 'Free', tip: 'Anywhere' },
        ],
        (guide) => muscleView.set({ guide }),
      ),
    ),
    note(
      'Drag a template onto the body, or choose one and click there. Then pull the skin with the ' +
        'muscle tool to fit it.',
    ),
  );
}

function template(id: string, tip: string): View {
  const choose = (): void => {
    muscleView.set({ template: muscleView.template === id ? null : id });
    store.setTool('muscle');
  };
  return h(
    'button',
    {
      key: id,
      type: 'button',
      draggable: true,
      'data-testid': `template-${id}`,
      'data-tip': tip,
      'aria-pressed': String(muscleView.template === id),
      onclick: choose,
      ondragstart: (event: DragEvent) => {
        event.dataTransfer?.setData(DRAGGED, id);
        store.setTool('muscle');
      },
    },
    id,
  );
}

function controlRow({ name, follows, range: [min, max], value }: MuscleControl, player: Player): View {
  const out = h('output.number', { 'data-testid': `control-${name}-value` }, value.toFixed(2));
  if (follows) return row(name, h('span.dim.grow', null, `follows ${follows}`), out);
  const set = (to: number, gesture: number): unknown => {
    if (!isLive()) setLive(true);
    return changeMuscles({ value: { control: name, value: to } }, gesture);
  };
  const key = (): void => {
    const { clip } = player;
    if (clip) void changeMuscles({ key: { clip: clip.name, control: name, time: player.time, value } });
  };
  return row(
    name,
    slider({ id: `control-${name}`, label: name, value, min, max, step: (max - min) / 100, set }),
    out,
    iconButton(`control-${name}-key`, 'plus', 'Add a key at this time of the clip', key),
  );
}

/** Parameters that are angles are shown in degrees. */
const ANGLES = new Set(['spin', 'rx', 'ry', 'rz']);

function muscleSection(muscle: ShownMuscle): View {
  const names = (muscles()?.muscles ?? []).map(({ name }) => ({ value: name, label: name }));
  const kind = muscle.template ? `${muscle.template} by ${muscle.guide}` : 'from a surface';
  return section(
    'Muscle',
    row(
      'Muscle',
      selectField('muscle', 'Muscle', muscle.name, names, (name) => muscleView.set({ name })),
      iconButton(
        'muscle-remove',
        'trash',
        'Remove the muscle',
        () => void changeMuscles({ remove: { muscle: muscle.name } }),
      ),
    ),
    row('Kind', h('span', { 'data-testid': 'muscle-kind' }, kind)),
    ...muscle.parameters.map(([name, value], i) => parameterRow(muscle, name, value, i)),
    sampleRow(muscle),
    row(
      'Stiffens',
      numberField({
        id: 'muscle-stiffen',
        label: 'Factor of stiffness where the muscle acts',
        value: muscle.stiffen,
        min: 0.01,
        max: 100,
        step: 0.5,
        set: (factor) => changeMuscles({ stiffen: { muscle: muscle.name, factor } }),
      }),
      h('span.dim', null, '×'),
    ),
    note(`Changes are recorded at ${muscle.control} = ${muscle.at.toFixed(2)}.`),
  );
}

function sampleRow({ name, control, at, samples }: ShownMuscle): View {
  const go = (value: number): unknown => changeMuscles({ value: { control, value } });
  const forget = (): void => {
    const near = samples.find((sample) => Math.abs(sample - at) < 0.005);
    if (near !== undefined) void changeMuscles({ forget: { muscle: name, at: near } });
  };
  return row(
    'Samples',
    ...samples.map((sample) =>
      h(
        'button.sample',
        {
          key: sample,
          type: 'button',
          'data-testid': `muscle-sample-${sample}`,
          'data-tip': 'Go to this value of the control parameter',
          onclick: () => void go(sample),
        },
        sample.toFixed(2),
      ),
    ),
    iconButton('muscle-forget', 'erase', 'Remove the sample at the present value', forget),
  );
}

/** A slider around the value; what is set is recorded at the present value of the control parameter. */
function parameterRow(muscle: ShownMuscle, name: string, value: number, i: number): View {
  // Angles in degrees, forces in kilonewtons per cubic metre: numbers that people read.
  const scale = ANGLES.has(name) ? 180 / Math.PI : name === 'amplitude' ? 1e-3 : 1;
  const [low, high] = spanOf(muscle, name, value).map((x) => x * scale);
  const record = (shown: number, gesture?: number): unknown => {
    const eta = muscle.parameters.map(([, old], j) => (j === i ? shown / scale : old));
    return changeMuscles({ record: { muscle: muscle.name, at: muscle.at, eta } }, gesture);
  };
  const isForce = name === 'amplitude';
  return row(
    name,
    slider({
      id: `muscle-${name}`,
      label: name,
      value: value * scale,
      min: low,
      max: high,
      step: (high - low) / 200,
      set: record,
    }),
    numberField({
      id: `muscle-${name}-number`,
      label: name,
      value: value * scale,
      step: isForce ? 1 : 0.01,
      digits: isForce ? 0 : 3,
      class: 'short',
      set: (to) => record(to),
    }),
  );
}

/** Ends of the sliders, which do not move while the value stays within them. */
const spans = new Map<string, [number, number]>();

function spanOf({ name: muscle, reach }: ShownMuscle, name: string, value: number): [number, number] {
  const key = `${muscle}\n${name}`;
  const old = spans.get(key);
  if (old && value >= old[0] && value <= old[1]) return old;
  const span = freshSpan(name, value, Math.max(reach, 1e-3));
  spans.set(key, span);
  return span;
}

function freshSpan(name: string, value: number, size: number): [number, number] {
  if (name === 'amplitude') {
    const most = Math.max(2 * Math.abs(value), 1);
    return [-most, most];
  }
  if (name === 'slide') return [0, 1];
  if (ANGLES.has(name)) return [-Math.PI, Math.PI];
  if (name === 'radius' || name === 'ring') return [0.1 * size, 3 * size];
  return [value - 2 * size, value + 2 * size];
}

export const forgetSpans = (): void => spans.clear();
