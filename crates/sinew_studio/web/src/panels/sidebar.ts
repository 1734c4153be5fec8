// The right side: a column of tabs, the handles, and below them what the tab in front shows.
import { store } from '../app';
import { h } from '../ui/dom';
import { icon, type IconName } from '../ui/icons';
import { buildFit } from './fit';
import { buildFlesh } from './flesh';
import { buildHistory } from './history';
import { buildOutliner } from './outliner';
import { buildPaths } from './paths';
import { buildPoses } from './poses';
import { buildProperties } from './properties';
import { buildPuppet } from './puppet';
import { buildReach } from './reach';
import { buildRefit } from './refit';
import { buildRigs } from './rigs';
import { buildRules } from './rules';
import type { Player } from '../player';

export type TabId =
  | 'properties'
  | 'poses'
  | 'reach'
  | 'paths'
  | 'rules'
  | 'refit'
  | 'fit'
  | 'puppet'
  | 'flesh'
  | 'rigs'
  | 'history';

const select = new Map<TabId, () => void>();

/** Bring a tab to the front, as the tour does. */
export function showTab(id: TabId): void {
  select.get(id)?.();
}

/** `capture` takes a small picture of the pose in view. */
export function buildSidebar(capture: () => string, player: Player): HTMLElement {
  const tabs: [TabId, string, IconName, HTMLElement][] = [
    ['properties', 'Properties', 'sliders', buildProperties()],
    ['poses', 'Poses', 'figure', buildPoses(capture)],
    ['reach', 'Reach', 'reach', buildReach()],
    ['paths', 'Paths', 'path', buildPaths(player)],
    ['rules', 'Rules', 'rules', buildRules(player)],
    ['refit', 'Refit', 'feet', buildRefit(player)],
    ['fit', 'Fit', 'bones', buildFit(player)],
    ['puppet', 'Puppet', 'puppet', buildPuppet(player)],
    ['flesh', 'Flesh', 'flesh', buildFlesh(player)],
    ['rigs', 'Rigs', 'rig', buildRigs(player)],
    ['history', 'History', 'clock', buildHistory()],
  ];
  const buttons = tabs.map(([id, title, sign]) =>
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
      icon(sign),
      title,
    ),
  );
  const bodies = tabs.map(([id, , , body]) =>
    h('div.tab-body', { role: 'tabpanel', id: `panel-${id}`, 'aria-labelledby': `tab-${id}` }, body),
  );
  tabs.forEach(([id], i) =>
    select.set(id, () => {
      buttons.forEach((button, j) => button.setAttribute('aria-selected', String(i === j)));
      bodies.forEach((body, j) => {
        body.hidden = i !== j;
      });
      // Some tabs are about the skeleton and need the room of the handles.
      sidebar.dataset.tab = id;
      store.emit('tab', id);
    }),
  );
  const sidebar = h(
    'aside.sidebar',
    null,
    h('div.tabs', { role: 'tablist', 'aria-orientation': 'vertical' }, ...buttons),
    buildOutliner(),
    h('section.panel.tabbed', null, ...bodies),
  );
  showTab('poses');
  return sidebar;
}
