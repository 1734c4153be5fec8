// Baking paths or keyframes to a clip, which then plays.
import { useState } from 'preact/hooks';
import { ask } from '../../app';
import type { Baked, Follow } from '../../net/protocol';
import { type Player, playNew } from '../../player';
import { button, fpsField, row, segments, textField } from '../../ui/fields';
import { counted } from '../../ui/format';
import { section } from '../../ui/section';
import { toast } from '../../ui/toast';
import { h, type View } from '../../ui/view';
import { paths } from './state';

/** Kept while the panel is closed. */
const settings = { follow: 'paths' as Follow, name: 'motion', fps: 30, report: '' };

/** Share of the body by which targets may be missed without a warning. */
const MISSED_SHARE = 0.02;

const hasPaths = (): boolean => paths().walk !== undefined || (paths().paths ?? []).length > 0;

export function Bake({ player }: { player: Player }): View {
  const [, redraw] = useState(0);
  const set = (change: Partial<typeof settings>): void => {
    Object.assign(settings, change);
    redraw((n) => n + 1);
  };
  const { follow, name, fps, report } = settings;
  const isReady = follow === 'paths' ? hasPaths() : (paths().keyframes?.examples.length ?? 0) > 0;
  const bake = async (): Promise<void> => {
    set({ report: 'Baking…' });
    const done = await ask<Baked>({ type: 'do', command: { bake: { clip: name, fps, follow } } });
    set({ report: done ? reportOf(done, follow) : 'Baking failed.' });
    if (!done) return;
    if (done.missed > MISSED_SHARE)
      toast(
        'warning',
        `Some targets are out of reach: they are missed by up to ${(100 * done.missed).toFixed(1)} % of the body.`,
      );
    playNew(player, name, fps);
  };
  return section(
    'Bake',
    segments<Follow>(
      'bake-follow',
      'Follow',
      follow,
      [
        { value: 'paths', label: 'Paths', tip: 'The walk and the paths of handles' },
        { value: 'keyframes', label: 'Keyframes', tip: 'Examples one after the other' },
      ],
      (to) => set({ follow: to }),
    ),
    row(
      'Clip',
      textField({
        id: 'bake-name',
        label: 'Name of the clip',
        value: name,
        set: (to) => set({ name: to || 'motion' }),
      }),
    ),
    row('fps', fpsField({ id: 'bake-fps', value: fps, set: (to) => set({ fps: to }) })),
    button('bake', 'Bake and play', () => void bake(), { class: 'primary', disabled: !isReady }),
    h('p.note', { 'data-testid': 'bake-report', role: 'status' }, report),
  );
}

function reportOf(baked: Baked, follow: Follow): string {
  const { frames, target_error } = baked;
  const [mean, most] = target_error.map((metres) => `${(100 * metres).toFixed(2)} cm`);
  const missed = `; targets are missed by ${mean} on average, ${most} at most`;
  return `${frames} frames${follow === 'keyframes' ? '' : missed}. ${storedAs(baked)}`;
}

/** What other programs will play. */
function storedAs({ joints, morphs, error }: Baked): string {
  if (joints === 0)
    return `Stored as ${counted(morphs, 'morph target')} of the whole surface, because no skeleton reproduces the motion.`;
  const targets = morphs === 0 ? '' : ` and ${counted(morphs, 'morph target')}`;
  return `Stored as a clip of ${counted(joints, 'joint')}${targets}, ${(100 * error).toFixed(3)} % from the solved surface.`;
}
