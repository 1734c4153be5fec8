// Dragging (Hansen (2006), §6.4, algorithm 1): a pressed handle turns about its centre, or moves, in the screen's
// plane.
import { Vector3 } from 'three';
import { store } from '../../app';
import { SweptAngle } from '../../tools/angle';
import { PoseGesture, toDegrees } from '../../tools/gesture';
import { type Press, PressTool } from '../../tools/press';
import { clickSelect, ensureDisplay, pick, type Stage, screenAxis, screenVector } from '../../tools/tool';

/** `look` orbits whatever is pressed. */
export type Grab = 'look' | 'rotate' | 'translate';

export class GrabTool extends PressTool<string> {
  readonly cursor = 'default';
  private apply: ((event: PointerEvent) => void) | null = null;

  constructor(
    stage: Stage,
    private readonly kind: Grab,
  ) {
    super(stage);
  }

  protected override get orbits(): boolean {
    return this.kind === 'look';
  }

  protected find(event: PointerEvent): string | Promise<string | null> {
    this.apply = null;
    const { x, y } = this.stage.viewport.pixel(event);
    const centre = store.centres ? this.stage.overlay.centreAt(x, y) : null;
    return centre ?? pick(this.stage, event).then((picked) => picked?.handle ?? null);
  }

  protected drag(press: Press<string>, handle: string, event: PointerEvent): void {
    if (!press.gesture && !ensureDisplay('posed')) return this.forget();
    if (!press.gesture) this.apply = this.begin(press, handle);
    this.apply?.(event);
  }

  protected override click(handle: string | null, event: PointerEvent): void {
    clickSelect(handle, event);
  }

  private begin(press: Press<string>, name: string): (event: PointerEvent) => void {
    // A handle that is not among the active ones becomes the main one, with its stored set.
    if (name !== store.main && !store.secondary.has(name)) store.selectMain(name, press.start.altKey);
    const main = store.main!;
    const gesture = new PoseGesture(main, store.selected());
    press.gesture = gesture;
    const { overlay, viewport } = this.stage;
    const centre = overlay.centre(main) ?? new Vector3();
    if (this.kind === 'translate' || press.start.ctrlKey) {
      return (event) =>
        gesture.translate(screenVector(this.stage, press.start, event, centre).toArray(), event.timeStamp);
    }
    const middle = viewport.rig.project(centre);
    const swept = new SweptAngle(middle.x, middle.y);
    const first = viewport.pixel(press.start);
    swept.to(first.x, first.y);
    const axis = screenAxis(this.stage).toArray();
    return (event) => {
      const { x, y } = viewport.pixel(event);
      gesture.rotate(axis, toDegrees(swept.to(x, y)), event.timeStamp);
      overlay.show({ spoke: { ...middle, toX: x, toY: y } });
    };
  }
}
