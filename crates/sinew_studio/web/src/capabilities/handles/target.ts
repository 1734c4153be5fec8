// Which handle a region goes to, and how, by the options and the keys held.
import { ask, store } from '../../app';
import type { PaintOp, Region } from '../../net/protocol';
import type { BrushWork } from '../../tools/brush';
import { toast } from '../../ui/toast';
import { handleOptions, newHandleName } from './state';

export interface Target {
  handle: string;
  op: PaintOp;
}

/** Shift adds, Ctrl subtracts; without a main handle a new one is made. */
export function regionTarget(event: PointerEvent, op = handleOptions.value.op): Target | null {
  let wanted = op;
  if (event.ctrlKey) wanted = 'remove';
  else if (event.shiftKey) wanted = 'add';
  if (wanted === 'remove') return store.main === null ? null : { handle: store.main, op: 'remove' };
  if (wanted === 'new' || store.main === null) return { handle: newHandleName(), op: 'add' };
  return { handle: store.main, op: wanted };
}

export async function paint(target: Target, region: Region, stroke?: number): Promise<boolean> {
  const { handle, op } = target;
  const done = await ask({ type: 'paint', handle, op, region, weight: handleOptions.value.weight, stroke });
  if (done === undefined) return false;
  if (op !== 'remove' && store.main !== handle) store.selectMain(handle, true);
  store.emit('gesture', 'paint');
  return true;
}

/** Strokes that add vertices to a handle, or remove them. */
export const handleBrush = (erase: boolean): BrushWork => ({
  display: 'rest',
  takes: (event) => erase || event.ctrlKey,
  faces: () => handleOptions.value.singleFaces,
  begin: (event) => {
    const target = regionTarget(event, erase ? 'remove' : 'add');
    if (!target) {
      toast('info', 'Select the handle to erase from, in the view or in the outliner.');
      return null;
    }
    return (piece, stroke) => paint(target, { brush: piece }, stroke);
  },
});
