// Which handle a region goes to, and how, by the options and the keys held.
import { ask, store } from '../app';
import type { PaintOp, Region } from '../net/protocol';
import { toast } from '../ui/toast';
import type { BrushWork } from './brush';

export interface Target {
  handle: string;
  op: PaintOp;
}

/** Shift adds, Ctrl takes away; without a main handle a new one is made. */
export function regionTarget(event: PointerEvent, op = store.options.op): Target | null {
  let wish = op;
  if (event.ctrlKey) wish = 'remove';
  else if (event.shiftKey) wish = 'add';
  if (wish === 'remove') return store.main === null ? null : { handle: store.main, op: 'remove' };
  if (wish === 'new' || store.main === null) return { handle: store.freeName('handle'), op: 'add' };
  return { handle: store.main, op: wish };
}

export async function paint(target: Target, region: Region, stroke?: number): Promise<boolean> {
  const { handle, op } = target;
  const done = await ask({ type: 'paint', handle, op, region, weight: store.options.weight, stroke });
  if (done === undefined) return false;
  // The new handle may not be in the state yet; it is selected all the same.
  if (op !== 'remove' && store.main !== handle) store.selectMain(handle, true);
  store.emit('gesture', 'paint');
  return true;
}

/** Strokes that give vertices to a handle, or take them away. */
export const handleBrush = (erase: boolean): BrushWork => ({
  display: 'rest',
  takes: (event) => erase || event.ctrlKey,
  faces: () => store.options.singleFaces,
  begin: (event) => {
    const target = regionTarget(event, erase ? 'remove' : 'add');
    if (!target) {
      toast('info', 'Select the handle to erase from, in the view or in the outliner.');
      return null;
    }
    return (piece, stroke) => paint(target, { brush: piece }, stroke);
  },
});
