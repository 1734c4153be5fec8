// What a capability brings to the page. `capabilities/index.ts` lists them all; the sidebar, toolbar, tool manager,
// options bar, commands, status line and debugging hooks are built from that list. The viewport also knows fit,
// flesh and pose, whose vertices it draws, the timeline rules, and the sidebar the list of handles.
import type { Action } from './actions';
import type { Shown } from './net/protocol';
import type { Player } from './player';
import type { Prefs } from './prefs';
import type { ToolManager } from './tools/manager';
import type { Stage, Tool } from './tools/tool';
import type { Icon } from './ui/icons';
import type { View, Views } from './ui/view';
import type { Gizmo } from './view/gizmo';

/** What capabilities and commands may use of the page. */
export interface Context extends Stage {
  gizmo: Gizmo;
  tools: ToolManager;
  player: Player;
}

export type WorkspaceId = 'character' | 'pose' | 'animate' | 'perform' | 'flesh' | 'deliver';

export interface Panel {
  id: string;
  title: string;
  icon: Icon;
  /** Where it belongs; one of `every` workspace comes last in each. */
  workspace: WorkspaceId | 'every';
  /** Whether the list of handles is above it. */
  withHandles?: boolean;
  /** Draws itself again on the topics it depends on. */
  view(props: { context: Context }): Views;
}

export interface ToolSpec {
  id: string;
  label: string;
  icon: Icon;
  /** Tools of a group stand together in the toolbar. */
  group: ToolGroup;
  keys: Partial<Record<Prefs['keys'], string[]>> & { blender: string[] };
  /** The status line while the tool is active. */
  hint: string;
  /** The shape it works on; absent if on whatever is shown. */
  shows?: Shown;
  /** Panel that comes to the front with the tool. */
  panel?: string;
  isBrush?: boolean;
  create(stage: Stage): Tool;
  /** Its controls above the viewport; drawn again when the tool, its options, the selection or the document change. */
  options?(): View[];
}

/** In the order of the toolbar. */
export const TOOL_GROUPS = ['view', 'pose', 'examples', 'flesh', 'select'] as const;
export type ToolGroup = (typeof TOOL_GROUPS)[number];

export interface Capability {
  id: string;
  panels?: Panel[];
  tools?: ToolSpec[];
  /** A track above the timeline. */
  track?(): Views;
  /** Actions by name, for menus and keys. Of two with the same key the first that is enabled runs. */
  commands?(context: Context): Action[];
  /** What is set up once, when the page is built. */
  start?(context: Context): void;
  /** Rows of the sheet of shortcuts: a title and what the mouse does. */
  mouse?: [string, [string, string][]];
  /** What tests may ask of it; entries of `window.sinew`. */
  debug?(context: Context): Record<string, unknown>;
}
