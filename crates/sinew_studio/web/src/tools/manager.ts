// Who gets the pointer: navigation, the gizmo, the modal move, or the tool in hand.
import { store } from '../app';
import { showShape } from '../display';
import type { Shown } from '../net/protocol';
import { REST_TOOLS, type ToolId } from '../store';
import type { Gizmo } from '../view/gizmo';
import { BrushTool } from './brush';
import { CentreTool } from './centre';
import { FleshTool } from './flesh';
import { GrabTool } from './grab';
import { JointTool } from './joint';
import { Modal } from './modal';
import { navigationOf, wheel, type Navigation } from './navigate';
import { PathTool } from './path';
import { ReachTool } from './reach';
import { RigTool } from './rig';
import { RulesTool } from './rules';
import { RegionTool } from './region';
import { detailBrush } from './sculpt';
import { stiffnessBrush } from './stiffen';
import { handleBrush } from './target';
import type { Stage, Tool } from './tool';
import { TwistTool } from './twist';

/** Tools that work on whatever is shown. */
const ANYWHERE: ReadonlySet<ToolId> = new Set<ToolId>(['select', 'flesh', 'stiffen', 'rig']);

export class ToolManager {
  readonly modal: Modal;
  private readonly tools: Record<ToolId, Tool>;
  private pressed: Tool | null = null;
  private navigation: Navigation | null = null;
  private last: PointerEvent | null = null;
  private shown: ToolId | null = null;
  /** Radius and pointer when F began to size the brush. */
  private sizing: { from: number; x: number } | null = null;

  constructor(
    private readonly stage: Stage,
    private readonly gizmo: Gizmo,
  ) {
    this.modal = new Modal(stage, () => this.last);
    this.tools = {
      select: new GrabTool(stage, 'look'),
      drag: new GrabTool(stage, 'rotate'),
      rotate: new GrabTool(stage, 'rotate'),
      translate: new GrabTool(stage, 'translate'),
      twist: new TwistTool(stage),
      box: new RegionTool(stage, 'box'),
      lasso: new RegionTool(stage, 'lasso'),
      paint: new BrushTool(stage, handleBrush(false)),
      erase: new BrushTool(stage, handleBrush(true)),
      centre: new CentreTool(stage),
      reach: new ReachTool(stage),
      sculpt: new BrushTool(stage, detailBrush),
      path: new PathTool(stage),
      rules: new RulesTool(stage),
      flesh: new FleshTool(stage),
      stiffen: new BrushTool(stage, stiffnessBrush),
      joint: new JointTool(stage),
      rig: new RigTool(stage),
    };
    const { canvas } = stage.viewport;
    canvas.addEventListener('pointerdown', (event) => this.down(event));
    canvas.addEventListener('pointermove', (event) => {
      if (!this.takesRaw) this.move(event);
    });
    // Before the browser aligns them with its frames: up to a frame less between the hand and the surface.
    canvas.addEventListener('pointerrawupdate', (event) => {
      if (this.takesRaw) this.move(event as PointerEvent);
    });
    canvas.addEventListener('pointerup', (event) => this.up(event));
    canvas.addEventListener('pointercancel', () => this.cancel());
    canvas.addEventListener('pointerleave', () => {
      if (!this.pressed && !this.modal.active) stage.overlay.show({});
    });
    canvas.addEventListener('contextmenu', (event) => event.preventDefault());
    canvas.addEventListener('wheel', (event) => wheel(event, stage.viewport, store.prefs), { passive: false });
    store.on('tool', (tool) => this.changed(tool));
    this.changed(store.tool);
  }

  /** Let go of whatever is being done; true if there was something. */
  cancel(): boolean {
    const busy = this.pressed !== null || this.modal.active || this.gizmo.dragging || this.sizing !== null;
    if (this.sizing) store.setOptions({ brushPx: this.sizing.from });
    this.sizing = null;
    this.pressed?.cancel();
    this.pressed = null;
    this.navigation = null;
    this.modal.cancel();
    if (this.gizmo.dragging) this.gizmo.cancel();
    return busy;
  }

  /** F with a brush: the pointer's way sets its size, a click keeps it. */
  sizeBrush(): void {
    if (this.last) this.sizing = { from: store.options.brushPx, x: this.last.clientX };
  }

  private get takesRaw(): boolean {
    return 'onpointerrawupdate' in window && (this.pressed !== null || this.modal.active);
  }

  private get tool(): Tool {
    return this.tools[store.tool];
  }

  private changed(tool: ToolId): void {
    if (tool === this.shown) return;
    this.shown = tool;
    this.stage.viewport.canvas.style.cursor = this.tools[tool].cursor;
    const own: Partial<Record<ToolId, Shown>> = { rules: 'ruled', joint: 'jointed' };
    const what = REST_TOOLS.has(tool) ? 'rest' : (own[tool] ?? 'posed');
    // Looking at a clip with the select tool is no reason to leave it, nor are hands on its flesh.
    if (!store.doc || store.doc.display.what === what || ANYWHERE.has(tool)) return;
    void showShape(what);
  }

  private down(event: PointerEvent): void {
    const { canvas } = this.stage.viewport;
    canvas.focus({ preventScroll: true });
    this.last = event;
    if (this.sizing && event.button === 0) {
      this.sizing = null;
      return;
    }
    if (this.modal.active) {
      if (event.button === 0) this.modal.confirm();
      else if (event.button === 2) this.modal.cancel();
      return;
    }
    if (event.button === 2 && this.cancel()) return;
    this.navigation = navigationOf(event, store.prefs);
    if (this.navigation === null && event.button === 0 && !this.gizmo.hovered) {
      this.pressed = this.tool;
      this.pressed.down(event);
    }
    if (this.navigation !== null || this.pressed !== null) canvas.setPointerCapture(event.pointerId);
    if (event.button === 1) event.preventDefault();
  }

  private move(event: PointerEvent): void {
    const before = this.last;
    this.last = event;
    if (this.modal.active) return this.modal.move(event);
    if (this.sizing) {
      store.setOptions({ brushPx: clampBrush(this.sizing.from + event.clientX - this.sizing.x) });
      this.tool.hover?.(event);
      return;
    }
    if (this.navigation && before) return this.navigation(this.stage.viewport, before, event);
    if (this.pressed) this.pressed.move(event);
    else this.tool.hover?.(event);
  }

  private up(event: PointerEvent): void {
    this.navigation = null;
    const tool = this.pressed;
    this.pressed = null;
    tool?.up(event);
  }
}

export function clampBrush(px: number): number {
  return Math.min(300, Math.max(2, Math.round(px)));
}
