// What a tool is, and what tools share.
import { Vector3 } from 'three';
import { socket, store } from '../app';
import { shown, showShape } from '../display';
import type { Picked } from '../net/protocol';
import { toast } from '../ui/toast';
import type { Overlay } from '../view/overlay';
import type { Viewport } from '../view/viewport';

export interface Stage {
  viewport: Viewport;
  overlay: Overlay;
}

/** A tool takes the left button from press to release. */
export interface Tool {
  cursor: string;
  down(event: PointerEvent): void;
  move(event: PointerEvent): void;
  up(event: PointerEvent): void;
  /** The pointer moves with no button pressed. */
  hover?(event: PointerEvent): void;
  /** Back to how it was before the press. */
  cancel(): void;
}

/** Pixels a press may stray and still be a click. */
export const CLICK = 4;

export function strayed(a: PointerEvent, b: PointerEvent): boolean {
  return Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY) > CLICK;
}

/** What is under the pointer; null if nothing, or if the server did not answer. */
export async function pick(stage: Stage, event: PointerEvent): Promise<Picked | null> {
  const { viewport } = stage;
  try {
    return await socket.ask<Picked | null>({ type: 'pick', view: viewport.rig.view16(), at: viewport.ndc(event) });
  } catch {
    return null;
  }
}

/** Is the right surface in view for a tool, or about to be? If not, it is asked for, and the next press will do. */
export function ensureDisplay(what: 'rest' | 'posed'): boolean {
  if (shown() === what) return true;
  void showShape(what);
  toast(
    'info',
    what === 'rest'
      ? 'Handles are painted on the surface at rest, which is now shown.'
      : 'Handles are moved in the pose, which is now shown.',
  );
  return false;
}

/** Click selects, shift-click adds as secondary, alt-click selects alone. */
export function clickSelect(name: string | null, event: PointerEvent): void {
  if (name !== null && event.shiftKey) store.toggleSecondary(name);
  else if (name !== store.main || event.altKey || name === null) store.selectMain(name, event.altKey);
}

/** Out of the screen, towards the eye. */
export function screenAxis(stage: Stage): Vector3 {
  return new Vector3(0, 0, 1).applyQuaternion(stage.viewport.rig.quaternion);
}

/** The movement on the screen from one event to another, as a vector in the world at the depth of a point. */
export function screenVector(stage: Stage, from: PointerEvent, to: PointerEvent, at: Vector3): Vector3 {
  const { rig } = stage.viewport;
  const scale = rig.metresPerPixel(at);
  return new Vector3((to.clientX - from.clientX) * scale, (from.clientY - to.clientY) * scale, 0).applyQuaternion(
    rig.quaternion,
  );
}
