// What commands need of the page.
import type { Player } from '../player';
import type { ToolManager } from '../tools/manager';
import type { Stage } from '../tools/tool';
import type { Gizmo } from '../view/gizmo';

export interface Context extends Stage {
  gizmo: Gizmo;
  tools: ToolManager;
  player: Player;
}
