// Orbit, pan and zoom by mouse, trackpad and wheel.
import type { Prefs } from '../prefs';
import type { Viewport } from '../view/viewport';

export type Navigation = (viewport: Viewport, from: PointerEvent, to: PointerEvent) => void;

const orbit: Navigation = (viewport, from, to) =>
  viewport.rig.orbit(to.clientX - from.clientX, to.clientY - from.clientY);
const pan: Navigation = (viewport, from, to) => viewport.rig.pan(to.clientX - from.clientX, to.clientY - from.clientY);
const zoom: Navigation = (viewport, from, to) =>
  viewport.rig.zoom(1.006 ** (to.clientY - from.clientY + from.clientX - to.clientX));

/** Does a press move the camera, whatever tool is active? */
export function navigationOf(event: PointerEvent, prefs: Prefs): Navigation | null {
  if (prefs.keys === 'industry' && event.altKey) return [orbit, pan, zoom][event.button] ?? null;
  if (event.button === 1) {
    if (event.shiftKey) return pan;
    return event.ctrlKey ? zoom : orbit;
  }
  // For those without a middle button.
  return event.button === 2 ? pan : null;
}

export function wheel(event: WheelEvent, viewport: Viewport, prefs: Prefs): void {
  event.preventDefault();
  const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 30 : 1;
  const dx = event.deltaX * lines;
  const dy = event.deltaY * lines;
  // A pinch arrives as a wheel with Ctrl.
  if (prefs.navigation === 'trackpad' && !event.ctrlKey) {
    if (event.shiftKey) viewport.rig.pan(-dx, -dy);
    else viewport.rig.orbit(-dx, -dy);
    return;
  }
  const { x, y } = viewport.fromMiddle(event);
  const speed = event.ctrlKey ? 0.01 : 0.0012;
  viewport.rig.zoom(Math.exp(Math.max(-120, Math.min(120, dy)) * speed), x, y);
}
