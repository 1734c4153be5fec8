// What receives the pointer: navigation, the gizmo, the modal move, or the active tool.
import { store } from '../app';
import type { ToolSpec } from '../capability';
import { showShape } from '../display';
import type { ToolId } from '../store';
import { clampBrush } from '../ui/brushes';
import type { Gizmo } from '../view/gizmo';
import { Modal } from './modal';
import { type Navigation, navigationOf, wheel } from './navigate';
import { allTools } from './registry';
import type { Stage, Tool } from './tool';

export class ToolManager {
  readonly modal: Modal;
  private readonly tools: Map<ToolId, { spec: ToolSpec; tool: Tool }>;
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
    this.tools = new Map(allTools().map((spec) => [spec.id, { spec, tool: spec.create(stage) }]));
    const { canvas } = stage.viewport;
    canvas.addEventListener('pointerdown', (event) => this.down(event));
    canvas.addEventListener('pointermove', (event) => {
      if (!this.takesRaw) this.move(event);
    });
    // Before the browser aligns them with its frames: up to a frame less between the pointer and the surface.
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

  /** Cancel what is in progress; true if there was something. */
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

  /** F with a brush: moving the pointer sets its size, a click confirms it. */
  sizeBrush(): void {
    if (this.last) this.sizing = { from: store.options.brushPx, x: this.last.clientX };
  }

  private get takesRaw(): boolean {
    return 'onpointerrawupdate' in window && (this.pressed !== null || this.modal.active);
  }

  private get tool(): Tool {
    return this.tools.get(store.tool)!.tool;
  }

  private changed(tool: ToolId): void {
    if (tool === this.shown) return;
    this.shown = tool;
    const { spec, tool: active } = this.tools.get(tool)!;
    this.stage.viewport.canvas.style.cursor = active.cursor;
    // Selecting in a clip, or pulling its flesh, is no reason to leave it.
    if (!store.doc || spec.shows === undefined || store.doc.display.what === spec.shows) return;
    void showShape(spec.shows);
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
