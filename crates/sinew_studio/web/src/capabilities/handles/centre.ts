// Dragging rotation centres in the screen's plane, on the surface at rest.
import { run, store } from '../../app';
import { type Press, PressTool } from '../../tools/press';
import { clickSelect, ensureDisplay, pick, screenVector } from '../../tools/tool';

export class CentreTool extends PressTool<string> {
  readonly cursor = 'move';

  protected find(event: PointerEvent): string | null | undefined {
    if (!ensureDisplay('rest')) return undefined;
    const { x, y } = this.stage.viewport.pixel(event);
    const handle = this.stage.overlay.centreAt(x, y);
    if (handle !== null && handle !== store.main) store.selectMain(handle);
    return handle;
  }

  protected drag(_press: Press<string>, handle: string, event: PointerEvent): void {
    const { overlay, viewport } = this.stage;
    const centre = overlay.centre(handle);
    if (!centre) return;
    const to = viewport.pixel(event);
    overlay.show({ spoke: { ...viewport.rig.project(centre), toX: to.x, toY: to.y } });
  }

  protected override drop({ start, found }: Press<string>, event: PointerEvent): void {
    const centre = found ? this.stage.overlay.centre(found) : null;
    if (!centre || !found) return;
    centre.add(screenVector(this.stage, start, event, centre));
    void run({ set_center: { name: found, center: centre.toArray() } });
    store.emit('gesture', 'centre');
  }

  protected override click(handle: string | null, event: PointerEvent): void {
    if (handle === null) void pick(this.stage, event).then((picked) => clickSelect(picked?.handle ?? null, event));
  }
}
