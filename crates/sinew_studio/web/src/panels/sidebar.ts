// The right side: handles above; properties, poses, reaching, paths, fit and history as tabs below.
import { h } from '../ui/dom';
import { buildFit } from './fit';
import { buildHistory } from './history';
import { buildOutliner } from './outliner';
import { buildPaths } from './paths';
import { buildPoses } from './poses';
import { buildProperties } from './properties';
import { buildReach } from './reach';
import type { Player } from '../player';

export type TabId = 'properties' | 'poses' | 'reach' | 'paths' | 'fit' | 'history';

const select = new Map<TabId, () => void>();

/** Bring a tab to the front, as the tour does. */
export function showTab(id: TabId): void {
  select.get(id)?.();
}

/** `capture` takes a small picture of the pose in view. */
export function buildSidebar(capture: () => string, player: Player): HTMLElement {
  const tabs: [TabId, string, HTMLElement][] = [
    ['properties', 'Properties', buildProperties()],
    ['poses', 'Poses', buildPoses(capture)],
    ['reach', 'Reach', buildReach()],
    ['paths', 'Paths', buildPaths(player)],
    ['fit', 'Fit', buildFit(player)],
    ['history', 'History', buildHistory()],
  ];
  const buttons = tabs.map(([id, title]) =>
    h(
      'button',
      {
        type: 'button',
        role: 'tab',
        id: `tab-${id}`,
        'aria-controls': `panel-${id}`,
        'data-testid': `tab-${id}`,
        onclick: () => showTab(id),
      },
      title,
    ),
  );
  const bodies = tabs.map(([id, , body]) =>
    h('div.tab-body', { role: 'tabpanel', id: `panel-${id}`, 'aria-labelledby': `tab-${id}` }, body),
  );
  tabs.forEach(([id], i) =>
    select.set(id, () => {
      buttons.forEach((button, j) => button.setAttribute('aria-selected', String(i === j)));
      bodies.forEach((body, j) => {
        body.hidden = i !== j;
      });
    }),
  );
  showTab('poses');
  return h(
    'aside.sidebar',
    null,
    buildOutliner(),
    h('section.panel.tabbed', null, h('div.tabs', { role: 'tablist' }, ...buttons), ...bodies),
  );
}
