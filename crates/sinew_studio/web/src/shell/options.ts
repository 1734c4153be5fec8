// The strip above the viewport: options of the tool at its left, the look at its right.
import { action, firstKeys, perform } from '../actions';
import { store } from '../app';
import { setLook } from '../commands/view';
import type { Look } from '../store';
import { toolSpec } from '../tools/registry';
import { el } from '../ui/dom';
import { iconButton, type Segment, segments, slider } from '../ui/fields';
import type { Icon } from '../ui/icons';
import { h, mounted, part, useTopics, type View } from '../ui/view';

const LOOKS: Segment<Look>[] = [
  { value: 'shaded', label: 'Shaded', icon: 'shaded', tip: 'Shaded' },
  { value: 'matcap', label: 'Matcap', icon: 'matcap', tip: 'Matcap' },
  { value: 'handles', label: 'Handles', icon: 'handles', tip: 'Handles as colours, strong where the weight is 1' },
  { value: 'textured', label: 'Textured', icon: 'textured', tip: 'Textured' },
  { value: 'stress', label: 'Stress', icon: 'stress', tip: 'Stress: blue is compressed, red is stretched' },
];

export function buildOptions(): HTMLElement {
  return mounted(el('div.options'), () => [part(ToolOptions, { key: 'tool' }), part(LookOptions, { key: 'look' })]);
}

function ToolOptions(): View {
  useTopics(store, 'tool', 'selection', 'doc');
  const spec = toolSpec(store.tool);
  const controls = spec?.options?.() ?? [h('span.tool-name', null, spec?.label ?? '')];
  return h('div.options-left', { 'data-testid': 'tool-options' }, h('div.row', { key: store.tool }, ...controls));
}

function LookOptions(): View {
  useTopics(store, 'view');
  const toggle = (id: string, icon: Icon): View => {
    const item = action(id);
    const pressed = item.checked?.() ?? false;
    return iconButton(`toggle-${id}`, icon, item.label, () => perform(id), { keys: firstKeys(item), pressed });
  };
  return h(
    'div.options-right',
    { 'data-testid': 'look-options' },
    segments('look', 'Look', store.look, LOOKS, setLook),
    toggle('wireframe', 'wire'),
    toggle('ghost', 'ghost'),
    toggle('grid', 'grid'),
    slider({
      id: 'xray',
      label: 'Transparency',
      min: 0.1,
      max: 1,
      step: 0.05,
      value: store.xray,
      tip: 'See through',
      set: (xray) => store.setView({ xray }),
    }),
  );
}
