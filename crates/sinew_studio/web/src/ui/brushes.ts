// Options that brushes share.
import { store } from '../app';
import { slider } from './fields';
import { h, type View, type Views } from './view';

const [SMALLEST_PX, LARGEST_PX] = [2, 300];

export function clampBrush(px: number): number {
  return Math.min(LARGEST_PX, Math.max(SMALLEST_PX, Math.round(px)));
}

export const labelled = (label: string, ...controls: Views[]): View =>
  h('label.inline', { key: label }, h('span', null, label), ...controls);

export function brushSize(): View {
  const { brushPx } = store.options;
  return labelled(
    'Size',
    slider({
      id: 'option-size',
      label: 'Brush size',
      min: 2,
      max: 150,
      step: 1,
      value: Math.min(150, brushPx),
      tip: 'Brush size: [ and ], or F and move',
      set: (value) => store.setOptions({ brushPx: clampBrush(value) }),
    }),
    h('output', null, `${brushPx} px`),
  );
}

export function brushStrength(): View {
  return labelled(
    'Strength',
    slider({
      id: 'option-strength',
      label: 'Strength',
      min: 0.05,
      max: 1,
      step: 0.05,
      value: store.options.strength,
      set: (strength) => store.setOptions({ strength }),
    }),
  );
}
