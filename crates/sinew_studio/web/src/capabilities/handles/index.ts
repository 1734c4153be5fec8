// Handles: parts of the surface to hold it by.
import type { Capability } from '../../capability';
import { BrushTool } from '../../tools/brush';
import { CentreTool } from './centre';
import { handleCommands } from './commands';
import { eraseOptions, paintOptions, regionOptions } from './options';
import { HandlePanel } from './panel';
import { RegionTool } from './region';
import { handleBrush } from './target';

export const handles: Capability = {
  id: 'handles',
  panels: [
    {
      id: 'properties',
      title: 'Handles',
      icon: 'sliders',
      workspace: 'character',
      withHandles: true,
      view: HandlePanel,
    },
  ],
  commands: handleCommands,
  mouse: [
    'Handles with the mouse',
    [
      ['Main handle', 'Click'],
      ['Main alone, without its set', 'Alt click'],
      ['Secondary handle', 'Shift click'],
      ['Drag: move instead of turn', 'Ctrl drag'],
      ['Add / subtract while selecting', 'Shift / Ctrl drag'],
    ],
  ],
  tools: [
    {
      id: 'centre',
      label: 'Drag rotation centres',
      icon: 'centre',
      group: 'pose',
      keys: { blender: ['O'] },
      hint: 'Drag a dot to move a rotation centre (at rest)',
      shows: 'rest',
      create: (stage) => new CentreTool(stage),
    },
    {
      id: 'box',
      label: 'Box: select vertices for a handle',
      icon: 'box',
      group: 'select',
      keys: { blender: ['B'] },
      hint: 'Drag a box over the surface · Shift adds · Ctrl subtracts',
      shows: 'rest',
      create: (stage) => new RegionTool(stage, 'box'),
      options: regionOptions,
    },
    {
      id: 'lasso',
      label: 'Lasso: select vertices for a handle',
      icon: 'lasso',
      group: 'select',
      keys: { blender: ['L'] },
      hint: 'Draw around a part · Shift adds · Ctrl subtracts',
      shows: 'rest',
      create: (stage) => new RegionTool(stage, 'lasso'),
      options: regionOptions,
    },
    {
      id: 'paint',
      label: 'Paint a handle',
      icon: 'paint',
      group: 'select',
      keys: { blender: ['P'] },
      hint: 'Paint over the surface · [ ] size · Ctrl erases · middle button orbits',
      shows: 'rest',
      isBrush: true,
      create: (stage) => new BrushTool(stage, handleBrush(false)),
      options: paintOptions,
    },
    {
      id: 'erase',
      label: 'Erase from a handle',
      icon: 'erase',
      group: 'select',
      keys: { blender: ['Shift+P'] },
      hint: 'Paint over the handle to erase it · [ ] size · middle button orbits',
      shows: 'rest',
      isBrush: true,
      create: (stage) => new BrushTool(stage, handleBrush(true)),
      options: eraseOptions,
    },
  ],
};
