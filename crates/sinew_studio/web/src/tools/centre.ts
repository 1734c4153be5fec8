// Dragging rotation centres in the screen's plane, on the surface at rest.
import { run, store } from '../app';
import { clickSelect, ensureDisplay, pick, screenVector, strayed, type Stage, type Tool } from './tool';

export class CentreTool implements Tool {
  readonly cursor = 'move';
  private start: PointerEvent | null = null;
  private last: PointerEvent | null = null;
  private handle: string | null = null;

  constructor(private readonly stage: Stage) {}

  down(event: PointerEvent): void {
    if (!ensureDisplay('rest')) return;
    const { x, y } = this.stage.viewport.pixel(event);
    this.start = this.last = event;
    this.handle = this.stage.overlay.centreAt(x, y);
    if (this.handle !== null && this.handle !== store.main) store.selectMain(this.handle);
  }

  move(event: PointerEvent): void {
    if (!this.start || !this.last) return;
    if (this.handle === null) {
      this.stage.viewport.rig.orbit(event.clientX - this.last.clientX, event.clientY - this.last.clientY);
    } else {
      const from = this.stage.viewport.rig.project(this.stage.overlay.centre(this.handle)!);
      const to = this.stage.viewport.pixel(event);
      this.stage.overlay.show({ spoke: { ...from, toX: to.x, toY: to.y } });
    }
    this.last = event;
  }

  up(event: PointerEvent): void {
    const { start, handle } = this;
    this.cancel();
    if (!start) return;
    if (!strayed(start, event)) {
      if (handle === null) void pick(this.stage, event).then((picked) => clickSelect(picked?.handle ?? null, event));
      return;
    }
    const centre = handle === null ? null : this.stage.overlay.centre(handle);
    if (!centre || handle === null) return;
    centre.add(screenVector(this.stage, start, event, centre));
    void run({ set_center: { name: handle, center: centre.toArray() } });
    store.emit('gesture', 'centre');
  }

  cancel(): void {
    this.start = this.last = null;
    this.handle = null;
    this.stage.overlay.show({});
  }
}
