// Sculpting detail of poses.
import { run, store } from '../../app';
import type { Capability } from '../../capability';
import { BrushTool } from '../../tools/brush';
import { brushSize, brushStrength } from '../../ui/brushes';
import { button, segments, selectField } from '../../ui/fields';
import type { View } from '../../ui/view';
import { detailBrush, sculptExample, sculptOptions } from './tool';

function options(): View[] {
  const { op, example } = sculptOptions.value;
  const names = (store.doc?.examples ?? []).map(({ name }) => ({ value: name, label: name }));
  return [
    segments(
      'option-sculpt',
      'Brush',
      op,
      [
        { value: 'pull', label: 'Pull', tip: 'Outwards (Ctrl inverts)' },
        { value: 'push', label: 'Push', tip: 'Inwards (Ctrl inverts)' },
        { value: 'smooth', label: 'Smooth', tip: 'Smooth out (Shift)' },
      ],
      (to) => sculptOptions.set({ op: to }),
    ),
    brushSize(),
    brushStrength(),
    selectField(
      'option-example',
      'Which pose is sculpted',
      example ?? '',
      [{ value: '', label: 'this pose' }, ...names],
      (name) => sculptExample(name === '' ? null : name),
    ),
    button('option-clear-detail', 'Clear', () => void run({ clear_detail: { example } }), {
      disabled: !store.doc?.detail,
    }),
  ];
}

export const sculpt: Capability = {
  id: 'sculpt',
  start: () => {
    // A pose that is renamed or gone is not the one that is sculpted.
    store.on('doc', (doc) => {
      const { example } = sculptOptions.value;
      if (example !== null && !doc.examples.some(({ name }) => name === example)) sculptOptions.set({ example: null });
    });
  },
  tools: [
    {
      id: 'sculpt',
      label: 'Sculpt detail of a pose',
      icon: 'sculpt',
      group: 'examples',
      keys: { blender: ['V'] },
      hint: 'Paint over the pose · [ ] size · Ctrl inverts · Shift smooths · middle button orbits',
      shows: 'posed',
      isBrush: true,
      create: (stage) => new BrushTool(stage, detailBrush),
      options,
    },
  ],
};
