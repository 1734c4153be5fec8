// Twisting: dragging sideways turns the main handle about its limb, spread over the handle before it.
import { Vector3 } from 'three';
import { store } from '../app';
import type { Vec3 } from '../net/protocol';
import { PoseGesture } from './gesture';
import { clickSelect, ensureDisplay, pick, strayed, type Stage, type Tool } from './tool';

const DEGREES_PER_PIXEL = 0.6;
const FIXED: Record<'x' | 'y' | 'z', Vec3> = { x: [1, 0, 0], y: [0, 1, 0], z: [0, 0, 1] };

export class TwistTool implements Tool {
  readonly cursor = 'ew-resize';
  private start: PointerEvent | null = null;
  private last: PointerEvent | null = null;
  private handle: string | null | undefined;
  /** A press that ended before the server said what was under it. */
  private early: { start: PointerEvent; end: PointerEvent } | null = null;
  private gesture: PoseGesture | null = null;
  /** As it lay when the twist began. */
  private axis: Vec3 = [0, 1, 0];

  constructor(private readonly stage: Stage) {}

  down(event: PointerEvent): void {
    this.start = this.last = event;
    this.handle = undefined;
    void pick(this.stage, event).then((picked) => {
      if (this.start === event) this.handle = picked?.handle ?? null;
      else if (this.early?.start === event) this.catchUp(picked?.handle ?? null, event, this.early.end);
    });
  }

  move(event: PointerEvent): void {
    if (!this.start || !this.last || !strayed(this.start, event)) return;
    if (this.handle === null)
      this.stage.viewport.rig.orbit(event.clientX - this.last.clientX, event.clientY - this.last.clientY);
    this.last = event;
    if (!this.handle) return;
    if (!this.gesture && !ensureDisplay('posed')) return this.cancel();
    this.gesture ??= this.begin(this.handle);
    const over = twistedOver(this.gesture.main);
    this.gesture.twist(this.axis, (event.clientX - this.start.clientX) * DEGREES_PER_PIXEL, over, event.timeStamp);
  }

  up(event: PointerEvent): void {
    const start = this.start;
    this.start = null;
    if (start && this.handle === undefined) this.early = { start, end: event };
    if (this.gesture) this.gesture.end();
    else if (start && this.handle !== undefined && !strayed(start, event)) clickSelect(this.handle, event);
    this.gesture = null;
  }

  cancel(): void {
    this.gesture?.cancel();
    this.gesture = null;
    this.start = null;
  }

  /** The server said what was pressed after the hand had let go: what it did is done now. */
  private catchUp(handle: string | null, start: PointerEvent, end: PointerEvent): void {
    this.early = null;
    if (!strayed(start, end)) return clickSelect(handle, start);
    if (handle === null || !ensureDisplay('posed')) return;
    const gesture = this.begin(handle);
    gesture.twist(this.axis, (end.clientX - start.clientX) * DEGREES_PER_PIXEL, twistedOver(gesture.main), end.timeStamp);
    gesture.end();
  }

  private begin(name: string): PoseGesture {
    if (name !== store.main) store.selectMain(name);
    const { twistAxis } = store.options;
    this.axis = twistAxis === 'limb' ? limbAxis(this.stage, store.main!) : FIXED[twistAxis];
    return new PoseGesture(store.main!, store.selected());
  }
}

/** From the handle's rotation centre to its middle: along the limb. */
export function limbAxis(stage: Stage, main: string): Vec3 {
  const index = store.doc?.handles.findIndex((handle) => handle.name === main) ?? -1;
  const box = stage.viewport.mesh.bounds(new Set([index]));
  const centre = stage.overlay.centre(main);
  if (!box || !centre) return [0, 1, 0];
  const axis = box.min.add(box.max).multiplyScalar(0.5).sub(centre);
  return axis.length() > 1e-9 ? axis.normalize().toArray() : new Vector3(0, 1, 0).toArray();
}

/** The handle before the main one: of those that take it along, the one that takes the fewest. */
export function twistedOver(main: string): string[] {
  const parents = (store.doc?.handles ?? []).filter((handle) => handle.secondary.includes(main));
  parents.sort((a, b) => a.secondary.length - b.secondary.length);
  return parents.length > 0 ? [parents[0].name] : [];
}
