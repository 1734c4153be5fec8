// The tools at the left edge.
import { action, firstKeys } from '../actions';
import { store } from '../app';
import type { ToolSpec } from '../capability';
import { allTools } from '../tools/registry';
import { el } from '../ui/dom';
import { walkGroup } from '../ui/fields';
import { iconView } from '../ui/icons';
import { h, mounted, useTopics, type View } from '../ui/view';

export function buildToolbar(): HTMLElement {
  const bar = el('div.toolbar', {
    role: 'toolbar',
    'aria-label': 'Tools',
    'aria-orientation': 'vertical',
    'data-testid': 'toolbar',
    // Arrow keys go through the tools without choosing them.
    onkeydown: (event: KeyboardEvent) => walkGroup(event, () => {}),
  });
  return mounted(bar, Toolbar);
}

function Toolbar(): View[] {
  useTopics(store, 'tool', 'prefs');
  const tools = allTools();
  return tools.flatMap((tool, i) => {
    const next = tools[i + 1];
    return [toolButton(tool), ...(next && next.group !== tool.group ? [h('hr', { key: `${tool.group} end` })] : [])];
  });
}

function toolButton({ id, label, icon }: ToolSpec): View {
  const item = action(`tool-${id}`);
  return h(
    'button.tool',
    {
      key: id,
      type: 'button',
      tabIndex: id === store.tool ? 0 : -1,
      'data-testid': `tool-${id}`,
      'aria-label': label,
      'aria-pressed': String(id === store.tool),
      'data-tip': label,
      'data-keys': firstKeys(item),
      onclick: () => item.run(),
    },
    iconView(icon),
  );
}
