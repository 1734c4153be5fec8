// Twisting: dragging sideways turns the main handle about its limb, spread over the handle before it.
import { Vector3 } from 'three';
import { store } from '../../app';
import type { Vec3 } from '../../net/protocol';
import { PoseGesture } from '../../tools/gesture';
import { type Press, PressTool } from '../../tools/press';
import { clickSelect, ensureDisplay, pick, type Stage } from '../../tools/tool';
import { poseOptions } from './state';

const DEGREES_PER_PIXEL = 0.6;
const FIXED: Record<'x' | 'y' | 'z', Vec3> = { x: [1, 0, 0], y: [0, 1, 0], z: [0, 0, 1] };

export class TwistTool extends PressTool<string> {
  readonly cursor = 'ew-resize';
  private gesture: PoseGesture | null = null;
  /** Of the limb when the twist began. */
  private axis: Vec3 = [0, 1, 0];

  protected find(event: PointerEvent): Promise<string | null> {
    return pick(this.stage, event).then((picked) => picked?.handle ?? null);
  }

  protected drag(press: Press<string>, handle: string, event: PointerEvent): void {
    if (!press.gesture) {
      if (!ensureDisplay('posed')) return this.forget();
      press.gesture = this.gesture = this.begin(handle);
    }
    const { gesture } = this;
    const degrees = (event.clientX - press.start.clientX) * DEGREES_PER_PIXEL;
    gesture?.twist(this.axis, degrees, twistedOver(gesture.main), event.timeStamp);
  }

  protected override click(handle: string | null, event: PointerEvent): void {
    clickSelect(handle, event);
  }

  private begin(name: string): PoseGesture {
    if (name !== store.main) store.selectMain(name);
    const { twistAxis } = poseOptions.value;
    this.axis = twistAxis === 'limb' ? limbAxis(this.stage, store.main!) : FIXED[twistAxis];
    return new PoseGesture(store.main!, store.selected());
  }
}

/** From the handle's rotation centre to its middle: along the limb. */
function limbAxis(stage: Stage, main: string): Vec3 {
  const index = store.doc?.handles.findIndex((handle) => handle.name === main) ?? -1;
  const box = stage.viewport.mesh.bounds(new Set([index]));
  const centre = stage.overlay.centre(main);
  if (!box || !centre) return [0, 1, 0];
  const axis = box.min.add(box.max).multiplyScalar(0.5).sub(centre);
  return axis.length() > 1e-9 ? axis.normalize().toArray() : new Vector3(0, 1, 0).toArray();
}

/** The handle before the main one: of those that move it along, the one with the fewest others. */
function twistedOver(main: string): string[] {
  const parents = (store.doc?.handles ?? []).filter((handle) => handle.secondary.includes(main));
  parents.sort((a, b) => a.secondary.length - b.secondary.length);
  return parents.length > 0 ? [parents[0].name] : [];
}
