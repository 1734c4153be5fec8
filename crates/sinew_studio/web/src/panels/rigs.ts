// The rigs panel: templates dragged onto the body, control parameters with sliders, samples, and curves over a clip.
import { store } from '../app';
import { setLive, isLive } from '../fleshing';
import type { RigControl, ShownRig } from '../net/protocol';
import type { Player } from '../player';
import { changeRigs, DRAGGED, rigging, rigs, TEMPLATES, type GuideName } from '../rigging';
import { h, svg, whenChanged } from '../ui/dom';
import { iconButton, numberField, row, segments, selectField, slider } from '../ui/fields';
import { icon } from '../ui/icons';
import { section } from './section';

export function buildRigs(player: Player): HTMLElement {
  const element = h('div.properties.flesh.rigs', { 'data-testid': 'rigs' });
  const slots = Array.from({ length: 4 }, () => h('div'));
  element.append(...slots);
  const showAdd = whenChanged(() => slots[0].replaceChildren(adding()));
  const controls = new Controls(player);
  slots[1].append(controls.element);
  const showRig = whenChanged(() => slots[2].replaceChildren(rigSection()));
  const showCurves = whenChanged(() => slots[3].replaceChildren(curves(player)));
  const show = (): void => {
    const data = rigs();
    if (!data) return;
    showAdd([rigging.guide, rigging.template, store.doc?.joints]);
    controls.show();
    if (!slots[2].querySelector('input:active')) showRig([data.rigs, rigging.chosen?.name]);
    showCurves([data.curves, player.clip?.name, player.clip?.duration]);
  };
  store.on('doc', show);
  rigging.on('change', show);
  player.on('change', () => showCurves([rigs()?.curves, player.clip?.name, player.clip?.duration]));
  show();
  return element;
}

function adding(): HTMLElement {
  if ((store.doc?.joints ?? 0) === 0)
    return section('Add a rig', h('p.note', { 'data-testid': 'rigs-empty' }, 'Rigs shape flesh that hangs on bones. Open a character with a skeleton, or put joints into this one with the Flesh panel.'));
  return section(
    'Add a rig',
    h('div.templates', null, ...TEMPLATES.map(({ id, tip }) => template(id, tip))),
    row(
      'Placed by',
      segments<GuideName>(
        'rigs-guide',
        'Placed by',
        rigging.guide,
        [
          { value: 'skin', label: 'Skin', tip: 'Depth below the skin, and spin' },
          { value: 'bone', label: 'Bone', tip: 'Slides along the bone, orbits and spins around it' },
          { value: 'free', label: 'Free', tip: 'Anywhere' },
        ],
        (guide) => rigging.set({ guide }),
      ),
    ),
    h('p.note', null, 'Drag a template onto the body, or choose one and click there. Then pull the skin with the rig tool: the rig is fitted until it follows.'),
  );
}

function template(id: string, tip: string): HTMLElement {
  const button = h(
    'button',
    {
      type: 'button',
      draggable: 'true',
      'data-testid': `template-${id}`,
      'data-tip': tip,
      'aria-pressed': String(rigging.template === id),
      onclick: () => {
        rigging.set({ template: rigging.template === id ? null : id });
        store.setTool('rig');
      },
    },
    id,
  );
  button.addEventListener('dragstart', (event) => {
    event.dataTransfer?.setData(DRAGGED, id);
    store.setTool('rig');
  });
  return button;
}

/** Sliders of the control parameters. Kept while a hand has them. */
class Controls {
  readonly element = h('div');
  private readonly build: (value: unknown) => void;
  private inputs: { control: string; input: HTMLInputElement; out: HTMLElement }[] = [];

  constructor(player: Player) {
    this.build = whenChanged(() => {
      this.inputs = [];
      const all = rigs()?.controls ?? [];
      this.element.replaceChildren(...(all.length > 0 ? [section('Control parameters', ...all.map((control) => this.one(control, player)))] : []));
    });
  }

  show(): void {
    const all = rigs()?.controls ?? [];
    this.build(all.map(({ name, follows, range }) => [name, follows, range]));
    for (const { control, input, out } of this.inputs) {
      const value = all.find(({ name }) => name === control)?.value ?? 0;
      out.textContent = value.toFixed(2);
      if (input.matches(':active')) continue;
      input.value = String(value);
      input.style.setProperty('--share', String((input.valueAsNumber - Number(input.min)) / (Number(input.max) - Number(input.min))));
    }
  }

  private one({ name, follows, range, value }: RigControl, player: Player): HTMLElement {
    const out = h('output.number', { 'data-testid': `control-${name}-value` }, value.toFixed(2));
    if (follows) return row(name, h('span.dim.grow', null, `follows ${follows}`), out);
    const input = slider({
      id: `control-${name}`,
      label: name,
      value,
      min: range[0],
      max: range[1],
      step: (range[1] - range[0]) / 100,
      set: (to) => {
        if (!isLive()) setLive(true);
        void changeRigs({ value: { control: name, value: to } });
      },
    });
    this.inputs.push({ control: name, input, out });
    const key = iconButton(`control-${name}-key`, 'plus', 'A key at this moment of the clip', () => {
      const { clip } = player;
      if (clip) void changeRigs({ key: { clip: clip.name, control: name, time: player.time, value: input.valueAsNumber } });
    });
    return row(name, input, out, key);
  }
}

/** Parameters that are angles are shown in degrees. */
const ANGLES = new Set(['spin', 'rx', 'ry', 'rz']);

function rigSection(): HTMLElement {
  const data = rigs();
  const rig = rigging.chosen;
  if (!data || !rig) return h('div');
  const names = data.rigs.map(({ name }) => ({ value: name, label: name }));
  const what = rig.template ? `${rig.template} by ${rig.guide}` : 'out of a surface';
  return section(
    'Rig',
    row(
      'Rig',
      selectField('rig', 'Rig', rig.name, names, (name) => rigging.set({ rig: name })),
      iconButton('rig-remove', 'trash', 'Remove the rig', () => void changeRigs({ remove: { rig: rig.name } })),
    ),
    row('Is a', h('span', { 'data-testid': 'rig-kind' }, what)),
    ...rig.parameters.map(([name, value], i) => parameter(rig, name, value, i)),
    row(
      'Samples',
      ...rig.samples.map((at) =>
        h('button.sample', { type: 'button', 'data-testid': `rig-sample-${at}`, 'data-tip': 'Go to this value of the control parameter', onclick: () => void changeRigs({ value: { control: rig.control, value: at } }) }, at.toFixed(2)),
      ),
      iconButton('rig-forget', 'erase', 'Forget the sample at the present value', () => {
        const near = rig.samples.find((at) => Math.abs(at - rig.at) < 0.005);
        if (near !== undefined) void changeRigs({ forget: { rig: rig.name, at: near } });
      }),
    ),
    row(
      'Stiffens',
      numberField({ id: 'rig-stiffen', label: 'How many times as stiff flesh is where it acts', value: rig.stiffen, min: 0.01, max: 100, step: 0.5, set: (factor) => void changeRigs({ stiffen: { rig: rig.name, factor } }) }),
      h('span.dim', null, 'times, as a muscle'),
    ),
    h('p.note', null, `Changes are recorded at ${rig.control} = ${rig.at.toFixed(2)}.`),
  );
}

/** A slider around the present value; what is set is recorded at the present value of the control parameter. */
function parameter(rig: ShownRig, name: string, value: number, i: number): HTMLElement {
  // Angles in degrees, forces in kilonewtons a cubic metre: numbers that people read.
  const scale = ANGLES.has(name) ? 180 / Math.PI : name === 'amplitude' ? 1e-3 : 1;
  const size = Math.max(rig.reach, 1e-3);
  const [low, high] = spans(name, value, size);
  const record = (shown: number): void => {
    const eta = rig.parameters.map(([, old], j) => (j === i ? shown / scale : old));
    void changeRigs({ record: { rig: rig.name, at: rig.at, eta } });
  };
  const number = numberField({ id: `rig-${name}-number`, label: name, value: value * scale, step: name === 'amplitude' ? 1 : 0.01, digits: name === 'amplitude' ? 0 : 3, set: record });
  number.classList.add('short');
  return row(name, slider({ id: `rig-${name}`, label: name, value: value * scale, min: low * scale, max: high * scale, step: ((high - low) * scale) / 200, set: record }), number);
}

function spans(name: string, value: number, size: number): [number, number] {
  if (name === 'amplitude') {
    const most = Math.max(2 * Math.abs(value), 1);
    return [-most, most];
  }
  if (name === 'slide') return [0, 1];
  if (ANGLES.has(name)) return [-Math.PI, Math.PI];
  if (name === 'radius' || name === 'ring') return [0.1 * size, 3 * size];
  return [value - 2 * size, value + 2 * size];
}

/** Curves of the clip on the timeline; a click on a key goes there, Alt takes it out. */
function curves(player: Player): HTMLElement {
  const { clip } = player;
  const own = (rigs()?.curves ?? []).filter((curve) => curve.clip === clip?.name);
  if (!clip || clip.duration <= 0 || own.length === 0) return h('div');
  const [width, height] = [300, 36];
  return section(
    'Curves',
    ...own.map(({ control, keys }) => {
      const values = keys.map(([, value]) => value);
      const [low, high] = [Math.min(0, ...values), Math.max(1, ...values)];
      const x = (time: number): number => (time / clip.duration) * width;
      const y = (value: number): number => height - 4 - ((value - low) / (high - low)) * (height - 8);
      const line = [[0, keys[0][1]], ...keys, [clip.duration, keys[keys.length - 1][1]]].map(([t, v]) => `${x(t)},${y(v)}`).join(' ');
      const picture = svg('svg', { viewBox: `0 0 ${width} ${height}`, class: 'curve', preserveAspectRatio: 'none' }, svg('polyline', { points: line }), ...keys.map(([t, v]) => svg('circle', { cx: x(t), cy: y(v), r: 4 })));
      const button = h('button.curve-button', { type: 'button', 'data-testid': `curve-${control}`, 'aria-label': `Keys of ${control}`, 'data-tip': 'Click goes there; Alt-click takes the nearest key out' });
      button.append(picture);
      button.addEventListener('click', (event) => {
        const box = button.getBoundingClientRect();
        const time = ((event.clientX - box.left) / box.width) * clip.duration;
        const near = keys.reduce((best, key) => (Math.abs(key[0] - time) < Math.abs(best[0] - time) ? key : best));
        if (event.altKey) void changeRigs({ key: { clip: clip.name, control, time: near[0], value: null } });
        else player.seek(time);
      });
      return h('div.curve-row', null, h('span', null, icon('clock'), control), button);
    }),
  );
}
