// What most tools share: a press finds something, a press that strays drags it, one that does not is a click, and a
// press
// on nothing orbits the view. What is under the pointer may be known only after the server has answered; a drag that is
// over by then is carried out all the same.
import { type Stage, strayed, type Tool } from './tool';

/** A drag in progress that can be ended or taken back. */
interface Gesture {
  end(): void;
  cancel?(): void;
}

export interface Press<T> {
  start: PointerEvent;
  last: PointerEvent;
  /** What was pressed: null if nothing, undefined until it is known. */
  found: T | null | undefined;
  moved: boolean;
  released: boolean;
  gesture?: Gesture;
}

export abstract class PressTool<T> implements Tool {
  abstract readonly cursor: string;
  protected press: Press<T> | null = null;

  constructor(protected readonly stage: Stage) {}

  /** What is under the pointer; undefined if the press does not count. */
  protected abstract find(event: PointerEvent): T | null | undefined | Promise<T | null>;
  /** What was found is dragged to where the event is. */
  protected abstract drag(press: Press<T>, found: T, event: PointerEvent): void;
  /** A press that did not stray. */
  protected click(_found: T | null, _event: PointerEvent): void {}
  /** A drag is over. */
  protected drop(press: Press<T>, _event: PointerEvent): void {
    press.gesture?.end();
  }
  /** Whether dragging orbits whatever was pressed. */
  protected get orbits(): boolean {
    return false;
  }

  down(event: PointerEvent): void {
    const press: Press<T> = { start: event, last: event, found: undefined, moved: false, released: false };
    const found = this.find(event);
    if (found === undefined) return;
    this.press = press;
    if (found instanceof Promise) void found.then((answer) => this.answered(press, answer));
    else press.found = found;
  }

  move(event: PointerEvent): void {
    const { press } = this;
    if (!press) return;
    const before = press.last;
    press.last = event;
    press.moved ||= strayed(press.start, event);
    if (!press.moved) return;
    if (this.orbits || press.found === null) this.orbit(before, event);
    else if (press.found !== undefined) this.drag(press, press.found, event);
  }

  up(event: PointerEvent): void {
    const { press } = this;
    this.press = null;
    this.stage.overlay.show({});
    if (!press) return;
    press.released = true;
    press.last = event;
    if (press.found !== undefined) this.finish(press);
  }

  cancel(): void {
    const { press } = this;
    this.press = null;
    if (press?.gesture?.cancel) press.gesture.cancel();
    else press?.gesture?.end();
    this.stage.overlay.show({});
  }

  protected orbit(from: PointerEvent, to: PointerEvent): void {
    this.stage.viewport.rig.orbit(to.clientX - from.clientX, to.clientY - from.clientY);
  }

  /** Release the press: it was not meant for this. */
  protected forget(): void {
    this.press = null;
  }

  private answered(press: Press<T>, found: T | null): void {
    press.found = found;
    if (this.press === press) {
      if (press.moved) this.move(press.last);
      return;
    }
    // A press that was cancelled was not released.
    if (!press.released) return;
    if (press.moved && found !== null && !this.orbits) this.drag(press, found, press.last);
    this.finish(press);
    this.stage.overlay.show({});
  }

  private finish(press: Press<T>): void {
    if (!press.moved) this.click(press.found ?? null, press.start);
    else if (press.found !== null) this.drop(press, press.last);
  }
}
