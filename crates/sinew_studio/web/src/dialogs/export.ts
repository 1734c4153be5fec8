// The export dialog: what leaves, in which format.
import { ask, store } from '../app';
import { fitSettings } from '../fitview';
import { address } from '../net/address';
import type { Download, ExportFormat, ExportWhat, FitSettings } from '../net/protocol';
import { openDialog } from '../ui/dialog';
import { formatBytes, h } from '../ui/dom';
import { numberField, row, selectField } from '../ui/fields';
import { toast } from '../ui/toast';

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
    note: 'For engines that know skeletons only: Godot, Bevy, Unity. Every kept pose becomes a clip.',
  },
  {
    format: 'glb',
    what: 'fit',
    label: 'GLB · clips through fit, as a small skin',
    note: 'Bones and weights fitted to whatever moves, as the Fit panel says; plays in every engine.',
  },
  { format: 'glb', what: 'posed', label: 'GLB · the pose as it stands', note: 'A mesh in the present pose.' },
  { format: 'glb', what: 'clip', label: 'GLB · one clip as shapes', note: 'Vertices over time, as morph targets; plays anywhere.' },
  { format: 'obj', what: 'posed', label: 'OBJ · the pose as it stands', note: 'Mesh and materials only.' },
  { format: 'obj', what: 'character', label: 'OBJ · at rest', note: 'Mesh and materials only.' },
  { format: 'ply', what: 'posed', label: 'PLY · the pose as it stands', note: 'Mesh with vertex colours.' },
  { format: 'bvh', what: 'clip', label: 'BVH · one clip', note: 'Motion of the skeleton, for motion-capture tools.' },
  {
    format: 'moves',
    what: 'posed',
    label: 'moves.json · what the hand did',
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
  { format: 'pairs', what: 'character', label: 'pairs.json · pairs of poses', note: 'For `sinew puppet`, and for other characters with the same joints.' },
];

/** `wanted` is chosen first. */
export function openExport(wanted?: ExportWhat | ExportFormat): void {
  const clips = store.doc?.clips ?? [];
  const presets = PRESETS.filter((preset) => !['clip', 'fit'].includes(preset.what) || clips.length > 0);
  const first = Math.max(0, presets.findIndex(({ what, format }) => what === wanted || format === wanted));
  let preset = presets[first];
  let clip = clips[0]?.name;
  let fps = Math.round(clips[0]?.fps ?? 30);
  let influences = 4;
  const details = h('div.stack');
  const show = (): void => {
    const parts: Node[] = [h('p.note', null, preset.note)];
    if (preset.what === 'clip') {
      parts.push(
        row(
          'Clip',
          selectField(
            'export-clip',
            'Clip',
            clip ?? '',
            clips.map(({ name }) => ({ value: name, label: name })),
            (value) => {
              clip = value;
            },
          ),
        ),
      );
    }
    if (clips.length > 0 && ((preset.format === 'glb' && !['posed', 'fit'].includes(preset.what)) || preset.format === 'bvh')) {
      parts.push(
        row(
          'Frames per second',
          numberField({
            id: 'export-fps',
            label: 'Frames per second',
            value: fps,
            min: 1,
            max: 240,
            step: 1,
            set: (value) => {
              fps = value;
            },
          }),
        ),
      );
    }
    if (preset.what === 'skin') {
      parts.push(
        row(
          'Influences',
          selectField(
            'export-influences',
            'Influences',
            String(influences),
            [
              { value: '4', label: '4 per vertex (every engine)' },
              { value: '8', label: '8 per vertex (fewer engines)' },
            ],
            (value) => {
              influences = Number(value);
            },
          ),
        ),
      );
    }
    details.replaceChildren(...parts);
  };
  show();
  openDialog(
    'export',
    'Export',
    [
      row(
        'Format',
        selectField(
          'export-preset',
          'Format',
          String(first),
          presets.map(({ label }, i) => ({ value: String(i), label })),
          (value) => {
            preset = presets[Number(value)];
            show();
          },
        ),
      ),
      details,
    ],
    [
      { label: 'Cancel' },
      {
        label: 'Export',
        primary: true,
        run: () =>
          void ask<Download>({
            type: 'export',
            format: preset.format,
            what: preset.what,
            clip: preset.what === 'clip' ? clip : undefined,
            fps,
            influences: preset.what === 'skin' ? influences : undefined,
            fit: preset.what === 'fit' ? throughFit() : undefined,
          }).then((made) => made && download(made)),
      },
    ],
  );
}

/** The fit that is shown, if it is of the document as it is; else one as the panel says. */
function throughFit(): Partial<FitSettings> {
  const fit = store.doc?.fit;
  return fit?.current ? fit.settings : fitSettings();
}

/** Only the page that asked takes the file. */
function download({ url, name, bytes, warnings }: Download): void {
  const link = h('a', { href: address(url), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  toast('info', `${name} (${formatBytes(bytes)}) is ready.`);
  for (const warning of warnings) toast('warning', warning);
}
