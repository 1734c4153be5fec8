// Refitting: clips on other ground, with contacts edited on the timeline.
import { store } from '../../app';
import type { Capability } from '../../capability';
import { forgetRefit, RefitPanel } from './panel';
import { footContacts } from './state';
import { ContactTrackView } from './track';

export const refit: Capability = {
  id: 'refit',
  panels: [{ id: 'refit', title: 'Refit', icon: 'feet', workspace: 'animate', view: RefitPanel }],
  track: ContactTrackView,
  start: ({ player }) => {
    footContacts.watch(player);
    store.on('opened', forgetRefit);
  },
};
