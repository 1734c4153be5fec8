// A brush that makes flesh stiffer or softer.
import { ask, store } from '../app';
import { fleshing } from '../fleshing';
import type { BrushWork } from './brush';

export const stiffnessBrush: BrushWork = {
  display: null,
  takes: (event) => event.ctrlKey,
  faces: () => false,
  begin: (event) => {
    const { stiffFactor, sculptStrength: strength } = store.options;
    // Ctrl takes paint away.
    const factor = event.ctrlKey ? 1 : stiffFactor;
    fleshing.set({ colours: true });
    return async (piece, stroke) =>
      (await ask({ type: 'paint_stiffness', factor, strength, ...piece, stroke })) !== undefined;
  },
};
