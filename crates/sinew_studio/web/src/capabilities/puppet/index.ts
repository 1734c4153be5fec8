// Puppetry: a body in front of a camera or in a recording moves the character.
import { store } from '../../app';
import type { Capability } from '../../capability';
import { buildActorView } from './actor';
import { PuppetPanel } from './panel';
import { puppetStage } from './state';

export const puppet: Capability = {
  id: 'puppet',
  panels: [{ id: 'puppet', title: 'Puppet', icon: 'puppet', workspace: 'perform', view: PuppetPanel }],
  start: ({ viewport, player }) => {
    viewport.element.before(buildActorView(viewport));
    // A take that was just recorded is what the user wants to see next.
    puppetStage.on('take', (clip) => {
      const choose = (): boolean => {
        const isThere = store.doc?.clips.some(({ name }) => name === clip) ?? false;
        if (isThere) player.choose(clip, false);
        return isThere;
      };
      if (choose()) return;
      const stop = store.on('doc', () => {
        if (choose()) stop();
      });
    });
  },
  debug: () => ({
    /** Where the actor comes from, and how fast it is followed. */
    puppet: () => {
      const { source, camera, frame } = puppetStage;
      return { source, camera: camera.state, rate: camera.rate, ms: camera.ms, frame };
    },
  }),
};
