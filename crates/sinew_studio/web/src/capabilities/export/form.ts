// Exporting: what, and in which format. The same form is in the panel and in the dialog.
import { useState } from 'preact/hooks';
import { ask, store } from '../../app';
import { address } from '../../net/address';
import type { Download, ExportFormat, ExportWhat, FitSettings } from '../../net/protocol';
import { openDialog } from '../../ui/dialog';
import { el } from '../../ui/dom';
import { fpsField, note, row, selectField } from '../../ui/fields';
import { formatBytes } from '../../ui/format';
import { toast } from '../../ui/toast';
import { h, part, type View } from '../../ui/view';
import { fitSettings } from '../fit/state';

interface Preset {
  format: ExportFormat;
  what: ExportWhat;
  label: string;
  note: string;
}

const PRESETS: Preset[] = [
  {
    format: 'glb',
    what: 'character',
    label: 'GLB · character with handles and clips',
    note: 'Opens in Blender, three.js and Sinew. Poses stay in the project.',
  },
  {
    format: 'glb',
    what: 'skin',
    label: 'GLB · handles as bones',
    note: 'For engines that support skeletons only: Godot, Bevy, Unity. Every saved pose becomes a clip.',
  },
  {
    format: 'glb',
    what: 'fit',
    label: 'GLB · clips through fit, as a small skin',
    note: 'Bones and weights fitted to the motion with the settings of the Fit panel; plays in every engine.',
  },
  { format: 'glb', what: 'posed', label: 'GLB · the current pose', note: 'The mesh in the current pose.' },
  {
    format: 'glb',
    what: 'clip',
    label: 'GLB · one clip as morph targets',
    note: 'Vertex positions over time; plays anywhere.',
  },
  { format: 'obj', what: 'posed', label: 'OBJ · the current pose', note: 'Mesh and materials only.' },
  { format: 'obj', what: 'character', label: 'OBJ · at rest', note: 'Mesh and materials only.' },
  { format: 'ply', what: 'posed', label: 'PLY · the current pose', note: 'Mesh with vertex colours.' },
  { format: 'bvh', what: 'clip', label: 'BVH · one clip', note: 'Motion of the skeleton, for motion-capture tools.' },
  {
    format: 'moves',
    what: 'posed',
    label: 'moves.json · the moves of the pose',
    note: 'Fits any model with handles of the same names.',
  },
  {
    format: 'handles',
    what: 'character',
    label: 'handles.json · the handles',
    note: 'For the command line and other copies of this mesh.',
  },
  {
    format: 'paths',
    what: 'character',
    label: 'paths.json · walk, paths and ground',
    note: 'For `sinew animate`.',
  },
  {
    format: 'pairs',
    what: 'character',
    label: 'pairs.json · pairs of poses',
    note: 'For `sinew puppet`, and for other characters with the same joints.',
  },
];

const INFLUENCES = [
  { value: '4', label: '4 per vertex (every engine)' },
  { value: '8', label: '8 per vertex (fewer engines)' },
];

interface ExportState {
  preset: Preset;
  clip: string | undefined;
  fps: number;
  influences: number;
}

function presets(): Preset[] {
  const hasClips = (store.doc?.clips.length ?? 0) > 0;
  return PRESETS.filter(({ what }) => hasClips || (what !== 'clip' && what !== 'fit'));
}

/** What is exported unless something else is chosen; `wanted` is chosen first. */
export function exportState(wanted?: ExportWhat | ExportFormat): ExportState {
  const all = presets();
  const [clip] = store.doc?.clips ?? [];
  return {
    preset: all.find(({ what, format }) => what === wanted || format === wanted) ?? all[0],
    clip: clip?.name,
    fps: Math.round(clip?.fps ?? 30),
    influences: 4,
  };
}

/** The choices; they are kept in `state`. */
function ExportForm({ state }: { state: ExportState }): View {
  const [, redraw] = useState(0);
  const set = (change: Partial<ExportState>): void => {
    Object.assign(state, change);
    redraw((n) => n + 1);
  };
  const all = presets();
  const { preset, clip, fps, influences } = state;
  const clips = (store.doc?.clips ?? []).map(({ name }) => ({ value: name, label: name }));
  const hasFps =
    preset.format === 'bvh' || (preset.format === 'glb' && preset.what !== 'posed' && preset.what !== 'fit');
  return h(
    'div.stack',
    null,
    row(
      'Format',
      selectField(
        'export-preset',
        'Format',
        String(all.indexOf(preset)),
        all.map(({ label }, i) => ({ value: String(i), label })),
        (value) => set({ preset: all[Number(value)] }),
      ),
    ),
    note(preset.note),
    preset.what === 'clip' &&
      row(
        'Clip',
        selectField('export-clip', 'Clip', clip ?? '', clips, (value) => set({ clip: value })),
      ),
    clips.length > 0 &&
      hasFps &&
      row('Frames per second', fpsField({ id: 'export-fps', value: fps, set: (value) => set({ fps: value }) })),
    preset.what === 'skin' &&
      row(
        'Influences',
        selectField('export-influences', 'Influences', String(influences), INFLUENCES, (value) =>
          set({ influences: Number(value) }),
        ),
      ),
  );
}

export const exportForm = (state: ExportState): View => part(ExportForm, { key: 'export', state });

export async function runExport({ preset, clip, fps, influences }: ExportState): Promise<void> {
  const { format, what } = preset;
  const made = await ask<Download>({
    type: 'export',
    format,
    what,
    clip: what === 'clip' ? clip : undefined,
    fps,
    influences: what === 'skin' ? influences : undefined,
    fit: what === 'fit' ? throughFit() : undefined,
  });
  if (made) download(made);
}

/** One part of the surface, with everything it needs. */
export async function exportPart(name: string): Promise<void> {
  const made = await ask<Download>({ type: 'export', format: 'glb', what: 'character', parts: [name] });
  if (made) download(made);
}

export function openExport(wanted?: ExportWhat | ExportFormat): void {
  const state = exportState(wanted);
  openDialog('export', 'Export', () => exportForm(state), [
    { label: 'Cancel' },
    { label: 'Export', primary: true, run: () => void runExport(state) },
  ]);
}

/** The fit that is shown, if it is of the document as it is; else one with the settings of the panel. */
function throughFit(): Partial<FitSettings> {
  const fit = store.doc?.fit;
  return fit?.current ? fit.settings : fitSettings();
}

/** Only the page that asked gets the file. */
function download({ url, name, bytes, warnings }: Download): void {
  const link = el('a', { href: address(url), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  toast('info', `${name} (${formatBytes(bytes)}) is ready.`);
  for (const warning of warnings) toast('warning', warning);
}
