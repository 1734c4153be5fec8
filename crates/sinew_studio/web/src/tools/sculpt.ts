// Sculpting detail: a brush that pulls, pushes and smooths the surface of a pose along its normals.
import { ask, store } from '../app';
import type { SculptOp } from '../net/protocol';
import type { BrushWork } from './brush';

/** Shift smooths whatever the brush does, Ctrl turns pull and push round. */
function opOf(event: PointerEvent): SculptOp {
  const { sculptOp } = store.options;
  if (event.shiftKey) return 'smooth';
  if (!event.ctrlKey) return sculptOp;
  return sculptOp === 'push' ? 'pull' : 'push';
}

export const detailBrush: BrushWork = {
  display: 'posed',
  takes: (event) => opOf(event) === 'push',
  faces: () => false,
  begin: (event) => {
    const { sculptExample: example, sculptStrength: strength } = store.options;
    const op = opOf(event);
    return async (piece, stroke) =>
      (await ask({ type: 'sculpt', example, op, ...piece, strength, stroke })) !== undefined;
  },
};
