// Sculpting detail: a brush that pulls, pushes and smooths the surface of a pose along its normals.
import { ask, run, store } from '../../app';
import type { SculptOp } from '../../net/protocol';
import type { BrushWork } from '../../tools/brush';
import { Options } from '../../tools/options';

export const sculptOptions = new Options<{
  op: SculptOp;
  /** The stored pose that is sculpted; null for the current one only. */
  example: string | null;
}>({ op: 'pull', example: null });

/** Shift smooths whatever the brush does, Ctrl swaps pull and push. */
function opOf(event: PointerEvent): SculptOp {
  const { op } = sculptOptions.value;
  if (event.shiftKey) return 'smooth';
  if (!event.ctrlKey) return op;
  return op === 'push' ? 'pull' : 'push';
}

export const detailBrush: BrushWork = {
  display: 'posed',
  takes: (event) => opOf(event) === 'push',
  faces: () => false,
  begin: (event) => {
    const { example } = sculptOptions.value;
    const { strength } = store.options;
    const op = opOf(event);
    return async (piece, stroke) =>
      (await ask({ type: 'sculpt', example, op, ...piece, strength, stroke })) !== undefined;
  },
};

/** Sculpt a stored pose: it is loaded first. */
export async function sculptExample(name: string | null): Promise<void> {
  if (name !== null && (await run({ load_example: { name } })) === undefined) return;
  sculptOptions.set({ example: name });
}
