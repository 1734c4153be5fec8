// Reaching: handles are dragged to targets, and the body follows a blend of the examples.
import type { Capability } from '../../capability';
import { reachCommands } from './commands';
import { ReachPanel } from './panel';
import { ReachTool } from './tool';

export const reach: Capability = {
  id: 'reach',
  panels: [{ id: 'reach', title: 'Reach', icon: 'reach', workspace: 'pose', withHandles: true, view: ReachPanel }],
  commands: reachCommands,
  mouse: [
    'Examples with the mouse',
    [
      ['Add a target', 'Click a handle'],
      ['Reach', 'Drag handle or target'],
      ['Add, move a point of a path', 'Click, drag'],
      ['Sculpt: smooth, invert', 'Shift, Ctrl drag'],
    ],
  ],
  tools: [
    {
      id: 'reach',
      label: 'Reach: drag targets, the body follows the examples',
      icon: 'reach',
      group: 'examples',
      keys: { blender: ['I'] },
      hint:
        'Drag a handle: the body follows the examples · Del removes a target · Enter applies the pose ' +
        '· Esc discards it',
      shows: 'posed',
      panel: 'reach',
      create: (stage) => new ReachTool(stage),
    },
  ],
};
