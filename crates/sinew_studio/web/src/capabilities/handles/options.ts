// Options of the tools that draw handles.
import { store } from '../../app';
import type { PaintOp } from '../../net/protocol';
import { brushSize, labelled } from '../../ui/brushes';
import { type Segment, segments, slider } from '../../ui/fields';
import { h, type View } from '../../ui/view';
import { handleOptions } from './state';

const OPERATIONS: Segment<PaintOp | 'new'>[] = [
  { value: 'new', label: 'New', tip: 'Create a new handle' },
  { value: 'add', label: 'Add', tip: 'Add to the main handle (Shift)' },
  { value: 'remove', label: 'Subtract', tip: 'Subtract from the main handle (Ctrl)' },
  { value: 'replace', label: 'Set', tip: 'Replace the vertices of the main handle' },
];

function weight(): View {
  const { value } = handleOptions;
  return labelled(
    'Weight',
    slider({
      id: 'option-weight',
      label: 'Weight',
      min: 0.05,
      max: 1,
      step: 0.05,
      value: value.weight,
      tip: '1 is rigid, less is softer',
      set: (to) => handleOptions.set({ weight: to }),
    }),
    h('output', null, value.weight.toFixed(2)),
  );
}

function target(isNew: boolean): View {
  return h('span.target', { 'data-testid': 'option-target' }, isNew ? '→ new handle' : `→ ${store.main}`);
}

export function regionOptions(): View[] {
  const { op, mode } = handleOptions.value;
  return [
    segments('option-op', 'Operation', op, OPERATIONS, (to) => handleOptions.set({ op: to })),
    segments(
      'option-mode',
      'Which vertices',
      mode,
      [
        { value: 'facing', label: 'Facing', tip: 'Visible vertices only' },
        { value: 'all', label: 'Through', tip: 'All vertices inside, including hidden ones' },
        { value: 'around', label: 'Around', tip: 'All around a limb, but nothing behind it' },
      ],
      (to) => handleOptions.set({ mode: to }),
    ),
    weight(),
    target(store.main === null || op === 'new'),
  ];
}

export function paintOptions(): View[] {
  return [
    brushSize(),
    weight(),
    segments(
      'option-faces',
      'Brush',
      handleOptions.value.singleFaces ? 'faces' : 'round',
      [
        { value: 'round', label: 'Round' },
        { value: 'faces', label: 'Faces', tip: 'Single faces under the pointer' },
      ],
      (value) => handleOptions.set({ singleFaces: value === 'faces' }),
    ),
    target(store.main === null),
  ];
}

export function eraseOptions(): View[] {
  return [brushSize(), h('span.target', null, store.main === null ? 'select a handle first' : `from ${store.main}`)];
}
