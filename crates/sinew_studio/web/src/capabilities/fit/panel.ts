// The fit panel: any clip as a small skin, beside the original, in numbers and in colours.
import { perform } from '../../actions';
import { ask, store } from '../../app';
import type { Context } from '../../capability';
import { showPanel } from '../../shell/workspaces';
import { button, checkbox, note, numberField, row, segments, selectField, slider } from '../../ui/fields';
import { section } from '../../ui/section';
import { h, useTopics, type View } from '../../ui/view';
import { resultViews } from './result';
import { chosenFit, fitJob, fitParams, fitSettings, fitView, stopFit } from './state';

/** Value of the list that is no name. */
const ALL = ' all';

export function FitPanel({ context: { player } }: { context: Context }): View {
  useTopics(store, 'doc', 'jobs', 'prefs');
  useTopics(fitView, 'change');
  return h('div.properties.fit', { 'data-testid': 'fit' }, settingsSection(), runView(), ...resultViews(player));
}

function set(change: typeof chosenFit): void {
  Object.assign(chosenFit, change);
  fitView.emit('change', null);
}

function settingsSection(): View {
  const clips = store.doc?.clips ?? [];
  if (clips.length === 0) return emptySection();
  const names = clips.map(({ name }) => ({ value: name, label: name }));
  const all = clips.length > 1 ? [{ value: ALL, label: `All ${clips.length} clips, one skin` }] : [];
  const chosen = clips.some(({ name }) => name === fitParams().clips[0])
    ? fitParams().clips[0]
    : (all[0]?.value ?? names[0].value);
  return section(
    'Fit a skin',
    row(
      'Clip',
      selectField('fit-clip', 'Clip', chosen, [...all, ...names], (name) => set({ clips: name === ALL ? [] : [name] })),
    ),
    row(
      'Goal',
      segments(
        'fit-aim',
        'Goal',
        fitParams().aim,
        [
          {
            value: 'automatic',
            label: 'Auto',
            tip: 'As many bones as shading needs and a file smaller than the frames has room for',
          },
          { value: 'bones', label: 'Bones', tip: 'The smallest error with this many bones' },
          { value: 'error', label: 'Error', tip: 'The fewest bones for this error' },
        ],
        (aim) => set({ aim }),
      ),
    ),
    ...goalRow(),
    row('Influences', ...both('influences', 'Bones per vertex', [1, 8, 8])),
    row(
      'Bones can',
      segments(
        'fit-kind',
        'Bones can',
        fitParams().rigid ? 'rigid' : 'affine',
        [
          { value: 'rigid', label: 'Rotate only', tip: 'Rotate and translate (rigid): plays alike in every engine' },
          {
            value: 'affine',
            label: 'Stretch',
            tip: 'Rotate, translate, scale and shear (affine): less error, but Unreal does not play shear',
          },
        ],
        (kind) => set({ rigid: kind === 'rigid' }),
      ),
    ),
    row(
      'Rest pose',
      checkbox('fit-rest', 'may be corrected', fitParams().correct_rest, (correct_rest) => set({ correct_rest })),
    ),
    // Affine bones are never in a tree.
    ...(fitParams().rigid
      ? [
          row(
            'Joints',
            checkbox('fit-flat', 'all below the root', fitParams().flat, (flat) => set({ flat })),
          ),
        ]
      : []),
  );
}

function emptySection(): View {
  return section(
    'Fit a skin',
    note(
      'This document has no clip to fit. Add a walk, or open a folder of frames, an animated GLB or a cloth sample.',
      'fit-empty',
    ),
    h(
      'div.actions',
      null,
      button('fit-walk', 'Walk…', () => showPanel('walk')),
      button('fit-open', 'Open…', () => perform('open')),
      button('fit-sample', 'Sample…', () => perform('new')),
    ),
  );
}

function goalRow(): View[] {
  const { aim } = fitParams();
  if (aim === 'automatic') return [];
  return [aim === 'bones' ? row('Bones', ...both('bones', 'Bones', [1, 200, 1000])) : errorRow()];
}

function errorRow(): View {
  return row(
    'Error',
    numberField({
      id: 'fit-error',
      label: 'Error in percent of the diagonal',
      value: fitParams().error,
      min: 0.001,
      max: 10,
      step: 0.01,
      set: (error) => set({ error }),
    }),
    h('span.dim', null, '% of the diagonal'),
  );
}

/** A slider, and a number for exact values beyond it. */
function both(key: 'bones' | 'influences', label: string, [min, max, most]: [number, number, number]): View[] {
  const change = (value: number): void => set({ [key]: Math.round(value) });
  const value = fitParams()[key];
  return [
    slider({ id: `fit-${key}`, label, value, min, max, step: 1, set: change }),
    numberField({ id: `fit-${key}-number`, label, value, min, max: most, step: 1, class: 'short', set: change }),
  ];
}

/** The button, or the progress of the fit. */
function runView(): View {
  const job = fitJob();
  const hidden = (store.doc?.clips.length ?? 0) === 0;
  if (job)
    return h(
      'div.run',
      { key: 'run', hidden },
      h(
        'div.stack.running',
        { key: 'running' },
        h('progress', { max: 1, value: job.share ?? undefined, 'aria-label': 'Fitting' }),
        h(
          'div.actions',
          null,
          h('span.grow.dim', { 'data-testid': 'fit-note' }, job.note || 'placing bones'),
          button('fit-stop', 'Stop', stopFit, { tip: 'Use the best result so far' }),
        ),
      ),
    );
  const start = (): void => void ask({ type: 'fit', settings: fitSettings() });
  const label = store.doc?.fit?.current ? 'Fit again' : 'Fit';
  return h(
    'div.run',
    { key: 'run', hidden },
    h('div.actions', { key: 'idle' }, button('fit-start', label, start, { class: 'primary', icon: 'play' })),
  );
}
