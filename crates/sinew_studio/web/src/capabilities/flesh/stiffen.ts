// A brush that makes flesh stiffer or softer.
import { ask, store } from '../../app';
import type { BrushWork } from '../../tools/brush';
import { fleshOptions, fleshView } from './state';

export const stiffnessBrush: BrushWork = {
  display: null,
  takes: (event) => event.ctrlKey,
  faces: () => false,
  begin: (event) => {
    const { stiffFactor } = fleshOptions.value;
    const { strength } = store.options;
    // Ctrl erases.
    const factor = event.ctrlKey ? 1 : stiffFactor;
    fleshView.set({ colours: true });
    return async (piece, stroke) =>
      (await ask({ type: 'paint_stiffness', factor, strength, ...piece, stroke })) !== undefined;
  },
};
