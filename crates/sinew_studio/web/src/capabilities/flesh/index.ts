// Flesh: the body as an elastic solid on its bones.
import { Vector3 } from 'three';
import { store } from '../../app';
import type { Capability } from '../../capability';
import { BrushTool } from '../../tools/brush';
import { brushSize, brushStrength, labelled } from '../../ui/brushes';
import { segments, slider } from '../../ui/fields';
import { h, type View } from '../../ui/view';
import { forgetBake } from './bake';
import { drawUncovered, showCells } from './cells';
import { JointTool, jointPlace } from './joint';
import { FleshPanel } from './panel';
import { fleshOptions } from './state';
import { stiffnessBrush } from './stiffen';
import { FleshTool } from './tool';

function pullOptions(): View[] {
  return [
    segments(
      'option-flesh',
      'Action',
      fleshOptions.value.op,
      [
        { value: 'grab', label: 'Pull', tip: 'Drag the surface (Shift: push)' },
        { value: 'push', label: 'Push', tip: 'Click to push the surface inwards (Shift: pull)' },
      ],
      (op) => fleshOptions.set({ op }),
    ),
  ];
}

/** The factor of stiffness, on a logarithmic scale. */
function stiffenOptions(): View[] {
  const { stiffFactor } = fleshOptions.value;
  return [
    labelled(
      'Stiffness',
      slider({
        id: 'option-stiffness',
        label: 'Factor of stiffness',
        min: -1.5,
        max: 1.5,
        step: 0.05,
        value: Math.log10(stiffFactor),
        tip: 'Softer to the left, stiffer to the right; the middle erases',
        set: (value) => fleshOptions.set({ stiffFactor: 10 ** value }),
      }),
      h('output', null, `× ${Number(stiffFactor.toPrecision(2))}`),
    ),
    brushSize(),
    brushStrength(),
  ];
}

export const flesh: Capability = {
  id: 'flesh',
  panels: [{ id: 'flesh', title: 'Flesh', icon: 'flesh', workspace: 'flesh', view: FleshPanel }],
  start: ({ viewport, overlay }) => {
    showCells(viewport);
    overlay.layers.push((g, colour) => drawUncovered(viewport, g, colour));
    store.on('opened', forgetBake);
  },
  debug: ({ viewport }) => ({
    /** Where a joint of the joint tool is drawn. */
    joint: (name: string) => {
      const at = jointPlace(name);
      return at && viewport.place(new Vector3(...at));
    },
    /** What of flesh is in the buffers: painted vertices, edges of cells. */
    flesh: () => ({
      painted: viewport.mesh.stiffness.filter((value) => value !== 128).length,
      edges: (viewport.mesh.cellEdges?.length ?? 0) / 2,
      nodes: (viewport.mesh.cellNodes?.length ?? 0) / 3,
    }),
  }),
  tools: [
    {
      id: 'flesh',
      label: 'Flesh: pull or push the surface',
      icon: 'flesh',
      group: 'flesh',
      keys: { blender: ['Y'] },
      hint: 'Drag the surface; it springs back · Shift-click pushes · drag elsewhere to orbit',
      create: (stage) => new FleshTool(stage),
      options: pullOptions,
    },
    {
      id: 'stiffen',
      label: 'Paint stiffness of flesh',
      icon: 'stiffen',
      group: 'flesh',
      keys: { blender: ['Shift+Y'] },
      hint: 'Paint stiffer or softer flesh · [ ] size · Ctrl erases · middle button orbits',
      isBrush: true,
      create: (stage) => new BrushTool(stage, stiffnessBrush),
      options: stiffenOptions,
    },
    {
      id: 'joint',
      label: 'Joints: place them in the body, turn them',
      icon: 'joint',
      group: 'flesh',
      keys: { blender: ['N'] },
      hint:
        'Click to place a joint as a child of the selected one · drag moves it, or turns the bone ' +
        'above · drag elsewhere to orbit',
      shows: 'jointed',
      create: (stage) => new JointTool(stage),
    },
  ],
};
