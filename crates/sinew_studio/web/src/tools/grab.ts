// Dragging (Hansen (2006), §6.4, algorithm 1): a pressed handle turns about its centre, or moves, in the screen's plane.
import { Vector3 } from 'three';
import { store } from '../app';
import type { Picked } from '../net/protocol';
import { SweptAngle } from './angle';
import { PoseGesture, toDegrees } from './gesture';
import { clickSelect, ensureDisplay, pick, screenAxis, screenVector, strayed, type Stage, type Tool } from './tool';

interface Press {
  start: PointerEvent;
  last: PointerEvent;
  /** What was under it; undefined until the server has said. */
  picked?: Picked | null;
  moved: boolean;
  released: boolean;
  gesture?: PoseGesture;
  apply?: (event: PointerEvent) => void;
}

export type Grab = 'look' | 'rotate' | 'translate';

/** Pressing on nothing orbits; so does everything with `look`. */
export class GrabTool implements Tool {
  readonly cursor = 'default';
  private press: Press | null = null;

  constructor(
    private readonly stage: Stage,
    private readonly kind: Grab,
  ) {}

  down(event: PointerEvent): void {
    const press: Press = { start: event, last: event, moved: false, released: false };
    this.press = press;
    const centre = this.centreUnder(event);
    if (centre) {
      press.picked = { handle: centre, vertex: 0, face: 0, position: [0, 0, 0], distance: 0 };
      return;
    }
    void pick(this.stage, event).then((picked) => {
      press.picked = picked;
      if (press.released) this.catchUp(press);
      else if (this.press === press && press.moved) this.move(press.last);
    });
  }

  move(event: PointerEvent): void {
    const press = this.press;
    if (!press) return;
    const before = press.last;
    press.last = event;
    press.moved ||= strayed(press.start, event);
    if (!press.moved) return;
    if (this.kind === 'look') return this.orbit(before, event);
    // Until the server has said what was pressed, nothing moves.
    if (press.picked === undefined) return;
    if (!press.picked?.handle) return this.orbit(before, event);
    if (!press.apply && !ensureDisplay('posed')) return void (this.press = null);
    press.apply ??= this.begin(press, press.picked.handle);
    press.apply(event);
  }

  up(event: PointerEvent): void {
    const press = this.press;
    this.press = null;
    this.stage.overlay.show({});
    if (!press) return;
    press.released = true;
    press.last = event;
    press.gesture?.end();
    if (!press.moved && press.picked !== undefined) this.click(press);
  }

  /** The server said what was pressed after the hand had let go: what it did is done now. */
  private catchUp(press: Press): void {
    if (!press.moved) return this.click(press);
    if (!press.picked?.handle || this.kind === 'look') return;
    const other = this.press;
    this.press = press;
    this.move(press.last);
    this.press = other;
    press.gesture?.end();
    this.stage.overlay.show({});
  }

  cancel(): void {
    this.press?.gesture?.cancel();
    this.press = null;
    this.stage.overlay.show({});
  }

  private click(press: Press): void {
    if (!press.moved) clickSelect(press.picked?.handle ?? null, press.start);
  }

  private centreUnder(event: PointerEvent): string | null {
    const { x, y } = this.stage.viewport.pixel(event);
    return store.centres ? this.stage.overlay.centreAt(x, y) : null;
  }

  private orbit(from: PointerEvent, to: PointerEvent): void {
    this.stage.viewport.rig.orbit(to.clientX - from.clientX, to.clientY - from.clientY);
  }

  private begin(press: Press, name: string): (event: PointerEvent) => void {
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
