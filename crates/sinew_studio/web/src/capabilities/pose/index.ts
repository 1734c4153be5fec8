// Posing: handles are dragged, turned, moved and twisted; poses are saved and loaded.
import { store } from '../../app';
import type { Capability } from '../../capability';
import { segments } from '../../ui/fields';
import type { View } from '../../ui/view';
import { poseCommands } from './commands';
import { GrabTool } from './grab';
import { forgetCaptured, PosePanel } from './panel';
import { poseOptions } from './state';
import { TwistTool } from './twist';

function axesOptions(): View[] {
  return [
    segments(
      'option-space',
      'Axes',
      poseOptions.value.space,
      [
        { value: 'world', label: 'World' },
        { value: 'local', label: 'Local', tip: 'Axes of the rotated handle' },
      ],
      (space) => poseOptions.set({ space }),
    ),
  ];
}

function twistOptions(): View[] {
  return [
    segments(
      'option-twist',
      'Axis',
      poseOptions.value.twistAxis,
      [
        { value: 'limb', label: 'Limb', tip: 'From the rotation centre along the handle' },
        { value: 'x', label: 'X' },
        { value: 'y', label: 'Y' },
        { value: 'z', label: 'Z' },
      ],
      (twistAxis) => poseOptions.set({ twistAxis }),
    ),
  ];
}

export const pose: Capability = {
  id: 'pose',
  panels: [{ id: 'poses', title: 'Poses', icon: 'figure', workspace: 'pose', withHandles: true, view: PosePanel }],
  commands: poseCommands,
  start: () => {
    store.on('opened', forgetCaptured);
  },
  tools: [
    {
      id: 'select',
      label: 'Select and orbit',
      icon: 'select',
      group: 'view',
      keys: { blender: ['W'], industry: ['Q'] },
      hint: 'Click a handle · drag to orbit',
      create: (stage) => new GrabTool(stage, 'look'),
    },
    {
      id: 'drag',
      label: 'Drag: turn a handle about its centre',
      icon: 'drag',
      group: 'pose',
      keys: { blender: ['D'] },
      hint: 'Drag a handle to turn it about its centre · Ctrl moves it · drag elsewhere to orbit',
      shows: 'posed',
      create: (stage) => new GrabTool(stage, 'rotate'),
    },
    {
      id: 'rotate',
      label: 'Rotate with rings',
      icon: 'rotate',
      group: 'pose',
      keys: { blender: ['Shift+R'], industry: ['E'] },
      hint: 'Drag a ring, or the handle · R rotates without a button',
      shows: 'posed',
      create: (stage) => new GrabTool(stage, 'rotate'),
      options: axesOptions,
    },
    {
      id: 'translate',
      label: 'Move with arrows',
      icon: 'translate',
      group: 'pose',
      keys: { blender: ['Shift+G'], industry: ['W'] },
      hint: 'Drag an arrow, or the handle · G moves without a button',
      shows: 'posed',
      create: (stage) => new GrabTool(stage, 'translate'),
      options: axesOptions,
    },
    {
      id: 'twist',
      label: 'Twist along the limb',
      icon: 'twist',
      group: 'pose',
      keys: { blender: ['T'] },
      hint: 'Drag a handle sideways to twist it along its limb',
      shows: 'posed',
      create: (stage) => new TwistTool(stage),
      options: twistOptions,
    },
  ],
};
