// The fit panel: any clip as a small skin, beside the original, in numbers and in colours.
import { perform } from '../actions';
import { ask, store } from '../app';
import { openExport } from '../dialogs/export';
import { fitJob, fitSettings, fitView, stopFit, wish, type FitMap, type FitMode } from '../fitview';
import type { Fit } from '../net/protocol';
import type { Player } from '../player';
import { formatBytes, formatCount, h, svg, whenChanged } from '../ui/dom';
import { checkbox, iconButton, numberField, row, segments, selectField, slider } from '../ui/fields';
import { icon } from '../ui/icons';
import { section } from './section';

const ALL = ' all';
const MOST_BONES = 200;

export function buildFit(player: Player): HTMLElement {
  const element = h('div.properties.fit', { 'data-testid': 'fit' });
  const slots = [h('div'), h('div'), h('div')];
  element.append(...slots);
  const showChoices = whenChanged(() => slots[0].replaceChildren(choices(() => show())));
  const showRunning = runningSlot(slots[1]);
  const showResult = whenChanged(() => slots[2].replaceChildren(...result(player)));
  const show = (): void => {
    const { doc } = store;
    showChoices([doc?.clips.map(({ name }) => name), wish.aim, wish.rigid]);
    showRunning();
    showResult([doc?.fit, doc?.bounds, fitView.mode, fitView.map, fitView.bone, fitView.maps?.version]);
  };
  store.on('doc', show);
  store.on('jobs', show);
  store.on('opened', () => {
    wish.clips = [];
    show();
  });
  fitView.on('change', show);
  show();
  return element;
}

function choices(changed: () => void): HTMLElement {
  const clips = store.doc?.clips ?? [];
  if (clips.length === 0) return nothing();
  const names = clips.map(({ name }) => ({ value: name, label: name }));
  const all = clips.length > 1 ? [{ value: ALL, label: `All ${clips.length} clips, one skin` }] : [];
  return section(
    'Fit a skin',
    row(
      'Clip',
      selectField('fit-clip', 'Clip', wish.clips[0] ?? ALL, [...all, ...names], (name) => {
        wish.clips = name === ALL ? [] : [name];
      }),
    ),
    row(
      'Aim at',
      segments(
        'fit-aim',
        'Aim at',
        wish.aim,
        [
          { value: 'bones', label: 'Bones', tip: 'As good as so many bones can be' },
          { value: 'error', label: 'Error', tip: 'As few bones as reach it' },
        ],
        (value) => {
          wish.aim = value;
          changed();
        },
      ),
    ),
    wish.aim === 'bones' ? row('Bones', ...both('bones', 'Bones', [1, MOST_BONES, 1000])) : errorRow(),
    row('Influences', ...both('influences', 'Bones a vertex follows', [1, 8, 8])),
    row(
      'Bones may',
      segments(
        'fit-kind',
        'Bones may',
        wish.rigid ? 'rigid' : 'affine',
        [
          { value: 'affine', label: 'Stretch', tip: 'Turn, shift, scale and shear (affine): smallest error a bone' },
          { value: 'rigid', label: 'Turn only', tip: 'Turn and shift (rigid): smallest error a byte' },
        ],
        (kind) => {
          wish.rigid = kind === 'rigid';
          changed();
        },
      ),
    ),
    row(
      'Rest pose',
      checkbox('fit-rest', 'may be corrected', wish.correct_rest, (on) => {
        wish.correct_rest = on;
      }),
    ),
  );
}

function nothing(): HTMLElement {
  return section(
    'Fit a skin',
    h(
      'p.note',
      { 'data-testid': 'fit-empty' },
      'Nothing moves in this document. Open a folder of frames, an animated GLB, or the sample of a cloth: it becomes bones and weights.',
    ),
    h(
      'div.actions',
      null,
      h('button', { type: 'button', onclick: () => perform('open') }, 'Open…'),
      h('button', { type: 'button', onclick: () => perform('new') }, 'Sample…'),
    ),
  );
}

function errorRow(): HTMLElement {
  return row(
    'Error',
    numberField({
      id: 'fit-error',
      label: 'Error in percent of the diagonal',
      value: wish.error,
      min: 0.001,
      max: 10,
      step: 0.01,
      set: (value) => {
        wish.error = value;
      },
    }),
    h('span.dim', null, '% of the diagonal'),
  );
}

/** A slider for the hand and a number for the exact. */
function both(key: 'bones' | 'influences', label: string, [min, max, most]: [number, number, number]): Node[] {
  const number = numberField({
    id: `fit-${key}-number`,
    label,
    value: wish[key],
    min,
    max: most,
    step: 1,
    set: (exact) => {
      range.value = String(exact);
      range.style.setProperty('--share', String((range.valueAsNumber - min) / (max - min)));
      wish[key] = Math.round(exact);
      number.value = String(wish[key]);
    },
  });
  number.classList.add('short');
  const range = slider({
    id: `fit-${key}`,
    label,
    value: wish[key],
    min,
    max,
    step: 1,
    set: (near) => {
      wish[key] = near;
      number.value = String(near);
    },
  });
  return [range, number];
}

/** The button, or how far the fit is. Kept while it runs: a button that is made anew while pressed is not pressed. */
function runningSlot(slot: HTMLElement): () => void {
  const bar = h('progress', { max: 1, 'aria-label': 'Fitting' });
  const note = h('span.grow.dim', { 'data-testid': 'fit-note' });
  const stop = h('button', { type: 'button', 'data-testid': 'fit-stop', onclick: stopFit }, 'Stop and keep');
  const running = h('div.stack.running', null, bar, h('div.actions', null, note, stop));
  const label = h('span');
  const start = h(
    'button.primary',
    {
      type: 'button',
      'data-testid': 'fit-start',
      onclick: () => void ask({ type: 'fit', settings: fitSettings() }),
    },
    icon('play'),
    label,
  );
  const idle = h('div.actions', null, start);
  const place = h('div.run', null, idle, running);
  slot.append(place);
  return () => {
    const job = fitJob();
    place.hidden = (store.doc?.clips.length ?? 0) === 0;
    idle.hidden = job !== undefined;
    running.hidden = job === undefined;
    label.textContent = store.doc?.fit?.current ? 'Fit again' : 'Fit';
    if (!job) return;
    note.textContent = job.note ? job.note : 'placing bones';
    if (job.share === null) bar.removeAttribute('value');
    else bar.value = job.share;
  };
}

function result(player: Player): Node[] {
  const fit = store.doc?.fit;
  if (!fit) return [];
  return fit.current
    ? [section('Result', ...numbers(fit), curve(fit, player)), section('See', ...views()), accept()]
    : [
        h(
          'p.note.stale',
          { 'data-testid': 'fit-stale' },
          'The last fit was of an earlier state of the document. Undo brings it back; or fit again.',
        ),
      ];
}

/** Numbers as they are told everywhere: dE in percent of the motion, E_RMS also with a diagonal of one. */
function numbers(fit: Fit): Node[] {
  const line = (name: string, value: string, id: string, tip?: string): HTMLElement =>
    row(name, h('span.number', { 'data-testid': id, 'data-tip': tip }, value));
  const kind = fit.settings.rigid ? 'turning' : 'stretching';
  const parts = [
    line('Bones', `${formatCount(fit.bones)} ${kind}, ${formatCount(fit.joints)} joints`, 'fit-result-bones'),
    line('Frames', `${formatCount(fit.frames)} at ${fit.fps} a second`, 'fit-result-frames'),
    line('E_RMS_diag1', `${digits(fit.E_RMS_diag1)} %`, 'fit-result-diag1', 'Root mean square, in percent of the diagonal'),
    line('E_RMS', digits(fit.E_RMS), 'fit-result-rms', '100 × root mean square over coordinates'),
    line('dE', fit.dE === null ? '–' : `${digits(fit.dE)} %`, 'fit-result-de', 'Distortion in percent of the motion'),
    line('d_avg', metres(fit.d_avg), 'fit-result-davg', 'Mean distance between the two surfaces'),
    line('Largest', metres(fit.max), 'fit-result-max', 'Largest distance of a vertex from where it should be'),
    line('Keys', `${formatCount(fit.keys)}, frames have ${formatCount(fit.full_keys)}`, 'fit-result-keys'),
    line(
      'Size',
      `${formatBytes(fit.bytes_out)} of ${formatBytes(fit.bytes_in)}`,
      'fit-result-size',
      'Of the GLB file, and of the positions of all frames',
    ),
    line('Time', `${fit.seconds.toFixed(1)} s, ${fit.rounds} rounds`, 'fit-result-time'),
  ];
  if (fit.stopped)
    parts.push(h('p.note', { 'data-testid': 'fit-stopped' }, 'Stopped: the best so far. “Fit again” goes on from here.'));
  return parts;
}

const digits = (value: number): string => value.toPrecision(3);

function metres(value: number): string {
  const unit = store.prefs.units === 'cm' ? 100 : 1;
  const shown = value * unit;
  return `${shown !== 0 && shown < 1e-3 ? shown.toExponential(1) : digits(shown)} ${store.prefs.units}`;
}

/** Error over the frames; a click goes there. */
function curve(fit: Fit, player: Player): HTMLElement {
  const [width, height] = [300, 48];
  const most = Math.max(...fit.per_frame, 1e-12);
  const n = fit.per_frame.length;
  const x = (i: number): number => (n > 1 ? (i / (n - 1)) * width : 0);
  const points = fit.per_frame.map((e, i) => `${x(i).toFixed(1)},${(height - 2 - (e / most) * (height - 6)).toFixed(1)}`);
  const picture = svg(
    'svg',
    { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', class: 'curve' },
    svg('polygon', { points: `0,${height} ${points.join(' ')} ${width},${height}` }),
    svg('polyline', { points: points.join(' ') }),
  );
  const element = h(
    'button.curve-button',
    { type: 'button', 'data-testid': 'fit-curve', 'aria-label': 'Error over the frames', 'data-tip': 'Error over the frames; a click goes there' },
  );
  element.append(picture);
  element.addEventListener('click', (event) => {
    const box = element.getBoundingClientRect();
    const frame = Math.round(((event.clientX - box.left) / box.width) * (n - 1));
    player.pause();
    if (fit.settings.clips.length === 1) player.seek(frame / fit.fps);
  });
  return element;
}

const MAPS: { value: FitMap; label: string }[] = [
  { value: 'error', label: 'Error at each vertex' },
  { value: 'deformation', label: 'Deformation' },
  { value: 'clusters', label: 'Bones, a colour each' },
  { value: 'weights', label: 'Weights of a bone' },
  { value: 'none', label: 'None' },
];

function views(): Node[] {
  const parts: Node[] = [
    row(
      'Show',
      segments<FitMode>(
        'fit-mode',
        'Show',
        fitView.mode,
        [
          { value: 'original', label: 'Original' },
          { value: 'both', label: 'Both' },
          { value: 'fit', label: 'Fit' },
        ],
        (mode) => fitView.set({ mode }),
      ),
    ),
    row(
      'Colours',
      selectField('fit-map', 'Colours', fitView.map, MAPS, (map) => fitView.set({ map: map as FitMap })),
    ),
  ];
  const bones = fitView.maps?.bones ?? 0;
  if (fitView.map === 'weights' && bones > 0) {
    const turn = (by: number): void => fitView.set({ bone: (fitView.bone + by + bones) % bones });
    const number = numberField({
      id: 'fit-bone',
      label: 'Bone',
      value: fitView.bone,
      min: 0,
      max: bones - 1,
      step: 1,
      set: (bone) => fitView.set({ bone: Math.round(bone) }),
    });
    number.classList.add('short');
    parts.push(
      row(
        'Bone',
        iconButton('fit-bone-previous', 'prev', 'Previous bone', () => turn(-1)),
        number,
        iconButton('fit-bone-next', 'next', 'Next bone', () => turn(1)),
        h('span.dim', null, 'or click the surface'),
      ),
    );
  }
  return parts;
}

function accept(): HTMLElement {
  return h(
    'div.actions.accept',
    null,
    h(
      'button.primary',
      {
        type: 'button',
        'data-testid': 'fit-take',
        'data-tip': 'Bones, weights and clips of the fit become those of the document; undo brings the original back',
        onclick: () => void ask({ type: 'take_fit' }),
      },
      'Use as character',
    ),
    h('button', { type: 'button', 'data-testid': 'fit-export', onclick: () => openExport('fit') }, 'Export…'),
  );
}
