// Muscles: forces in the flesh that control parameters drive.
import { store } from '../../app';
import type { Capability } from '../../capability';
import { forgetSpans, MusclePanel } from './panel';
import { listenToTemplates } from './state';
import { MuscleTool } from './tool';

export const muscles: Capability = {
  id: 'muscles',
  panels: [{ id: 'muscles', title: 'Muscles', icon: 'muscle', workspace: 'flesh', view: MusclePanel }],
  start: ({ viewport }) => {
    listenToTemplates(viewport);
    store.on('opened', forgetSpans);
  },
  tools: [
    {
      id: 'muscle',
      label: 'Muscles: place templates, pull the skin to shape them',
      icon: 'muscle',
      group: 'flesh',
      keys: { blender: ['Shift+N'] },
      hint: 'With a template chosen, click to place it · drag the skin to fit the muscle · drag elsewhere to orbit',
      create: (stage) => new MuscleTool(stage),
    },
  ],
};
