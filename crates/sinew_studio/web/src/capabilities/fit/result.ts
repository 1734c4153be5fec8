// What a fit came to: numbers, the error over the frames, and how it is shown.
import { ask, store } from '../../app';
import type { Fit } from '../../net/protocol';
import type { Player } from '../../player';
import { button, iconButton, note, numberField, row, segments, selectField } from '../../ui/fields';
import { formatBytes, formatCount, formatFps } from '../../ui/format';
import { section } from '../../ui/section';
import { h, type View } from '../../ui/view';
import { openExport } from '../export/form';
import { type FitMap, type FitMode, fitView } from './state';

export function resultViews(player: Player): View[] {
  const fit = store.doc?.fit;
  if (!fit) return [];
  if (!fit.current)
    return [
      h(
        'p.note.stale',
        { 'data-testid': 'fit-stale' },
        'The last fit was of an earlier state of the document. Undo to return to it, or fit again.',
      ),
    ];
  return [section('Result', ...numbers(fit), curve(fit, player)), section('Show', ...showRows()), acceptRow()];
}

const digits = (value: number): string => value.toPrecision(3);

function metres(value: number): string {
  const shown = value * (store.prefs.units === 'cm' ? 100 : 1);
  return `${shown !== 0 && shown < 1e-3 ? shown.toExponential(1) : digits(shown)} ${store.prefs.units}`;
}

/** dE in percent of the motion, E_RMS also for a diagonal of one. */
function numbers(fit: Fit): View[] {
  const line = (name: string, value: string, id: string, tip?: string): View =>
    row(name, h('span.number', { 'data-testid': `fit-result-${id}`, 'data-tip': tip }, value));
  const kind = fit.settings.rigid ? 'rigid' : 'stretching';
  const size = `${formatBytes(fit.bytes_out)} of ${formatBytes(fit.bytes_in)}`;
  return [
    line('Bones', `${formatCount(fit.bones)} ${kind}, ${formatCount(fit.joints)} joints`, 'bones'),
    line('Frames', `${formatCount(fit.frames)} at ${formatFps(fit.fps)}`, 'frames'),
    line('E_RMS_diag1', `${digits(fit.E_RMS_diag1)} %`, 'diag1', 'Root mean square, in percent of the diagonal'),
    line('E_RMS', digits(fit.E_RMS), 'rms', '100 × root mean square over coordinates'),
    line('dE', fit.dE === null ? '–' : `${digits(fit.dE)} %`, 'de', 'Distortion in percent of the motion'),
    line('d_avg', metres(fit.d_avg), 'davg', 'Mean distance between the two surfaces'),
    line('Largest', metres(fit.max), 'max', 'Largest distance between a vertex and its original'),
    line(
      'Normals',
      `${digits(fit.normals_mean)}°, 1 % beyond ${digits(fit.normals_p99)}°, ${digits(fit.flipped)} % flipped`,
      'normals',
      'Angles between the facets of the fit and of the original',
    ),
    line(
      'Bind pose',
      `edges within × ${fit.bind_max.toFixed(2)}`,
      'bind',
      'How far its edges differ from the rest pose',
    ),
    line('Keys', `${formatCount(fit.keys)} of ${formatCount(fit.full_keys)}`, 'keys', 'Stored keys, of one per frame'),
    line('Size', size, 'size', 'Of the GLB file, and of the positions of all frames'),
    line('Time', `${fit.seconds.toFixed(1)} s, ${fit.rounds} rounds`, 'time'),
    ...(fit.stopped ? [note('Stopped: the best result so far. “Fit again” continues from here.', 'fit-stopped')] : []),
    ...fit.warnings.map((text) => h('p.note.missed', { key: text, 'data-testid': 'fit-warning' }, text)),
  ];
}

/** Error over the frames; a click goes there. */
function curve(fit: Fit, player: Player): View {
  const [width, height] = [300, 48];
  const most = Math.max(...fit.per_frame, 1e-12);
  const n = fit.per_frame.length;
  const x = (i: number): number => (n > 1 ? (i / (n - 1)) * width : 0);
  const y = (e: number): number => height - 2 - (e / most) * (height - 6);
  const points = fit.per_frame.map((e, i) => `${x(i).toFixed(1)},${y(e).toFixed(1)}`).join(' ');
  const go = (event: MouseEvent): void => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const frame = Math.round(((event.clientX - box.left) / box.width) * (n - 1));
    player.pause();
    if (fit.settings.clips.length === 1) player.seek(frame / fit.fps);
  };
  return h(
    'button.curve-button',
    {
      type: 'button',
      'data-testid': 'fit-curve',
      'aria-label': 'Error over the frames',
      'data-tip': 'Error over the frames; click to go there',
      onclick: go,
    },
    h(
      'svg.curve',
      { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none' },
      h('polygon', { points: `0,${height} ${points} ${width},${height}` }),
      h('polyline', { points }),
    ),
  );
}

const MAPS: { value: FitMap; label: string }[] = [
  { value: 'error', label: 'Error per vertex' },
  { value: 'deformation', label: 'Deformation' },
  { value: 'clusters', label: 'One colour per bone' },
  { value: 'weights', label: 'Weights of a bone' },
  { value: 'none', label: 'None' },
];

function showRows(): View[] {
  return [
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
    ...boneRow(),
  ];
}

function boneRow(): View[] {
  const bones = fitView.maps?.bones ?? 0;
  if (fitView.map !== 'weights' || bones === 0) return [];
  const step = (by: number): void => fitView.set({ bone: (fitView.bone + by + bones) % bones });
  return [
    row(
      'Bone',
      iconButton('fit-bone-previous', 'prev', 'Previous bone', () => step(-1)),
      numberField({
        id: 'fit-bone',
        label: 'Bone',
        value: fitView.bone,
        min: 0,
        max: bones - 1,
        step: 1,
        class: 'short',
        set: (bone) => fitView.set({ bone: Math.round(bone) }),
      }),
      iconButton('fit-bone-next', 'next', 'Next bone', () => step(1)),
      h('span.dim', null, 'or click the surface'),
    ),
  ];
}

function acceptRow(): View {
  return h(
    'div.actions.accept',
    { key: 'accept' },
    button('fit-take', 'Use as character', () => void ask({ type: 'take_fit' }), {
      class: 'primary',
      tip: 'Replaces bones, weights and clips of the document with those of the fit; undo restores the original',
    }),
    button('fit-export', 'Export…', () => openExport('fit')),
  );
}
