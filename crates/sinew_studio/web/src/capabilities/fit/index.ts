// Fitting: clips become bones and weights.
import { store } from '../../app';
import type { Capability } from '../../capability';
import { buildCompare } from './compare';
import { FitPanel } from './panel';
import { chosenFit, fitView } from './state';

export const fit: Capability = {
  id: 'fit',
  panels: [{ id: 'fit', title: 'Fit', icon: 'bones', workspace: 'deliver', view: FitPanel }],
  start: ({ viewport }) => {
    viewport.element.append(buildCompare(viewport));
    store.on('opened', () => {
      chosenFit.clips = [];
    });
  },
  debug: ({ viewport }) => ({
    /** How a fit is shown, and where its vertices are. */
    fit: () => ({
      maps: fitView.maps !== null,
      map: fitView.map,
      bone: fitView.bone,
      shown: viewport.shows !== 'original',
      vertex: (index: number) => viewport.mesh.twinPosition(index).toArray(),
      place: (index: number) => {
        const at = viewport.place(viewport.mesh.twinPosition(index));
        return { ...at, x: at.x + (viewport.shows === 'both' ? viewport.canvas.clientWidth / 2 : 0) };
      },
    }),
  }),
};
