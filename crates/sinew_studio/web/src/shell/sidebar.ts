// The right side: the panels of the workspace as tabs, the handles where they are needed, and the panel in front.
import { store } from '../app';
import { Outliner } from '../capabilities/handles/outliner';
import type { Context } from '../capability';
import { el } from '../ui/dom';
import { walkGroup } from '../ui/fields';
import { iconView } from '../ui/icons';
import { h, mounted, part, useTopics, type View } from '../ui/view';
import { panel, panelsOf, showPanel, workspace } from './workspaces';

export function buildSidebar(context: Context): HTMLElement {
  return mounted(el('aside.sidebar', { id: 'sidebar' }), () => Sidebar(context));
}

function Sidebar(context: Context): View[] {
  useTopics(store, 'panel');
  const { id, withHandles, view } = panel();
  const own = panelsOf(workspace());
  return [
    h(
      'div.tabs',
      {
        key: 'tabs',
        role: 'tablist',
        'aria-label': 'Panels',
        'aria-orientation': 'vertical',
        onkeydown: (event: KeyboardEvent) => walkGroup(event),
      },
      ...own.map((other) =>
        h(
          'button',
          {
            key: other.id,
            type: 'button',
            role: 'tab',
            id: `tab-${other.id}`,
            tabIndex: other.id === id ? 0 : -1,
            'aria-selected': String(other.id === id),
            'aria-controls': other.id === id ? `panel-${id}` : undefined,
            'data-testid': `tab-${other.id}`,
            onclick: () => showPanel(other.id),
          },
          iconView(other.icon),
          other.title,
        ),
      ),
    ),
    h(
      'div.side-content',
      { key: 'content', class: withHandles ? 'with-handles' : '' },
      withHandles && part(Outliner, { key: 'outliner' }),
      h(
        'section.panel.tabbed',
        { key: 'panel' },
        h(
          'div.tab-body',
          { key: id, role: 'tabpanel', id: `panel-${id}`, 'aria-labelledby': `tab-${id}` },
          part(view, { context, key: id }),
        ),
      ),
    ),
  ];
}
