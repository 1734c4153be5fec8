// Which shape is in view: asked for in one place, so that a clip that plays does not answer back.
import { ask, store } from './app';
import type { Shown } from './net/protocol';

/** The shape asked for and not yet shown. */
let asked: Shown | null = null;
store.on('doc', ({ display }) => {
  if (display.what === asked) asked = null;
});

/** Ask for a shape in view; a clip that plays stops. */
export async function showShape(what: Shown, moment?: { clip: string; time: number }): Promise<void> {
  asked = what;
  store.emit('show', what);
  const done = await ask({ type: 'display', what, ...moment });
  if (done === undefined && asked === what) asked = null;
}

/** The shape in view, or about to be. */
export function shown(): Shown | undefined {
  return asked ?? store.doc?.display.what;
}
