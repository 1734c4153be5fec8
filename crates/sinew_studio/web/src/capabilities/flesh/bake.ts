// Baking flesh to a clip of vertices.
import { useState } from 'preact/hooks';
import { ask, store } from '../../app';
import type { FleshBaked } from '../../net/protocol';
import type { Player } from '../../player';
import { button, fpsField, note, numberField, row, selectField, textField } from '../../ui/fields';
import { formatCount } from '../../ui/format';
import { section } from '../../ui/section';
import { toast } from '../../ui/toast';
import { h, part, type View } from '../../ui/view';
import { freeClipName } from './state';

/** Value of the list that is no name. */
const NO_CLIP = ' none';

const fresh = () => ({ clip: NO_CLIP, to: '', fps: 30, seconds: 2 });

/** Kept while the panel is closed. */
const settings = fresh();

export const forgetBake = (): void => void Object.assign(settings, fresh());

export const bakeSection = (player: Player): View => part(Bake, { key: 'bake', player });

function Bake({ player }: { player: Player }): View {
  const [, redraw] = useState(0);
  const set = (change: Partial<typeof settings>): void => {
    Object.assign(settings, change);
    redraw((n) => n + 1);
  };
  const clips = store.doc?.clips ?? [];
  const clip = clips.find(({ name }) => name === settings.clip);
  const to = settings.to || freeClipName(clip ? `${clip.name} flesh` : 'flesh');
  const { fps, seconds } = settings;
  const bake = async (): Promise<void> => {
    const request = { clip: clip?.name ?? null, to, fps, seconds: clip ? null : seconds };
    const made = await ask<FleshBaked>({ type: 'do', command: { bake_flesh: { bake: request } } });
    if (!made) return;
    set({ to: '' });
    player.choose(to);
    toast('info', reportOf(made));
  };
  const choices = [{ value: NO_CLIP, label: 'no clip' }, ...clips.map(({ name }) => ({ value: name, label: name }))];
  return section(
    'Bake',
    row(
      'Clip',
      selectField('flesh-bake-clip', 'Motion of the bones', clip?.name ?? NO_CLIP, choices, (value) =>
        set({ clip: value, to: '' }),
      ),
    ),
    row(
      'Name',
      textField({ id: 'flesh-bake-name', label: 'Name of the clip', value: to, set: (name) => set({ to: name }) }),
    ),
    row('fps', fpsField({ id: 'flesh-bake-fps', value: fps, set: (value) => set({ fps: value }) })),
    !clip &&
      row(
        'Seconds',
        numberField({
          id: 'flesh-bake-seconds',
          label: 'Seconds',
          value: seconds,
          min: 0.1,
          max: 600,
          step: 0.5,
          set: (value) => set({ seconds: value }),
        }),
      ),
    h(
      'div.actions',
      null,
      button('flesh-bake', 'Bake', () => void bake(), { class: 'primary', icon: 'play' }),
    ),
    note('A clip of vertices on the timeline. Export it as morph targets, or as a small skin through Fit.'),
  );
}

function reportOf({ frames, seconds, steps, cells, warnings }: FleshBaked): string {
  const text = `${frames} frames in ${seconds.toFixed(1)} s, ${formatCount(steps)} steps of ${formatCount(cells)} cells.`;
  return warnings.length > 0 ? `${text} ${warnings.join('. ')}.` : text;
}
