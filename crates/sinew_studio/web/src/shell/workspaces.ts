// Workspaces: what is done with a character, in the order of use, each with its few panels.
import { store } from '../app';
import { CAPABILITIES } from '../capabilities';
import type { Panel, WorkspaceId } from '../capability';
import { walkGroup } from '../ui/fields';
import { h, useTopics, type View } from '../ui/view';

interface Workspace {
  id: WorkspaceId;
  title: string;
  tip: string;
}

export const WORKSPACES: Workspace[] = [
  { id: 'character', title: 'Character', tip: 'Document, mesh and handles' },
  { id: 'pose', title: 'Pose', tip: 'Poses, reaching and rules' },
  { id: 'animate', title: 'Animate', tip: 'Walks, paths, keyframes and refitted clips' },
  { id: 'perform', title: 'Perform', tip: 'Follow a camera or a recording' },
  { id: 'flesh', title: 'Flesh', tip: 'Elastic flesh and muscles' },
  { id: 'deliver', title: 'Deliver', tip: 'Fit a skin and export' },
];

const panels = (): Panel[] => CAPABILITIES.flatMap((capability) => capability.panels ?? []);

export const panelsOf = (workspace: WorkspaceId): Panel[] => [
  ...panels().filter((panel) => panel.workspace === workspace),
  ...panels().filter((panel) => panel.workspace === 'every'),
];

/** What is in front; each workspace remembers its panel. */
const front: { workspace: WorkspaceId; panel: Partial<Record<WorkspaceId, string>> } = { workspace: 'pose', panel: {} };

export const workspace = (): WorkspaceId => front.workspace;

export function panel(): Panel {
  const own = panelsOf(front.workspace);
  return own.find(({ id }) => id === front.panel[front.workspace]) ?? own[0];
}

export function showWorkspace(id: WorkspaceId): void {
  front.workspace = id;
  store.emit('panel', panel().id);
}

/** Bring a panel to the front, with its workspace. */
export function showPanel(id: string): void {
  const found = panels().find((other) => other.id === id);
  if (!found) return;
  if (found.workspace !== 'every') front.workspace = found.workspace;
  front.panel[front.workspace] = id;
  store.emit('panel', id);
}

/** A panel of its own comes to the front with some tools. */
export function followTools(panelOf: (tool: string) => string | undefined): void {
  let last = store.tool;
  store.on('tool', (tool) => {
    if (tool === last) return;
    last = tool;
    const wanted = panelOf(tool);
    if (wanted !== undefined && wanted !== panel().id) showPanel(wanted);
  });
}

export function WorkspaceTabs(): View {
  useTopics(store, 'panel');
  return h(
    'div.workspaces',
    { role: 'tablist', 'aria-label': 'Workspaces', onkeydown: (event: KeyboardEvent) => walkGroup(event) },
    ...WORKSPACES.map(({ id, title, tip }) =>
      h(
        'button',
        {
          key: id,
          type: 'button',
          role: 'tab',
          id: `workspace-${id}`,
          tabIndex: id === front.workspace ? 0 : -1,
          'aria-selected': String(id === front.workspace),
          'aria-controls': 'sidebar',
          'data-tip': tip,
          'data-testid': `workspace-${id}`,
          onclick: () => showWorkspace(id),
        },
        title,
      ),
    ),
  );
}
