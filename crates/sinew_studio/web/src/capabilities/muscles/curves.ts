// Curves of control parameters over the clip on the timeline.
import type { Player } from '../../player';
import { iconView } from '../../ui/icons';
import { section } from '../../ui/section';
import { h, type View } from '../../ui/view';
import { changeMuscles, muscles } from './state';

const [WIDTH, HEIGHT] = [300, 36];

type Keys = [number, number][];

export function curveSection(player: Player): View | null {
  const { clip } = player;
  const own = (muscles()?.curves ?? []).filter((curve) => curve.clip === clip?.name);
  if (!clip || clip.duration <= 0 || own.length === 0) return null;
  return section('Curves', ...own.map(({ control, keys }) => curveRow(control, keys, clip, player)));
}

/** A click goes to that time, Alt-click removes the nearest key. */
function curveRow(control: string, keys: Keys, clip: { name: string; duration: number }, player: Player): View {
  const values = keys.map(([, value]) => value);
  const [low, high] = [Math.min(0, ...values), Math.max(1, ...values)];
  const x = (time: number): number => (time / clip.duration) * WIDTH;
  const y = (value: number): number => HEIGHT - 4 - ((value - low) / (high - low)) * (HEIGHT - 8);
  const ends: Keys = [[0, keys[0][1]], ...keys, [clip.duration, keys[keys.length - 1][1]]];
  const press = (event: MouseEvent): void => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const time = ((event.clientX - box.left) / box.width) * clip.duration;
    const near = keys.reduce((best, key) => (Math.abs(key[0] - time) < Math.abs(best[0] - time) ? key : best));
    if (event.altKey) void changeMuscles({ key: { clip: clip.name, control, time: near[0], value: null } });
    else player.seek(time);
  };
  return h(
    'div.curve-row',
    { key: control },
    h('span', null, iconView('clock'), control),
    h(
      'button.curve-button',
      {
        type: 'button',
        'data-testid': `curve-${control}`,
        'aria-label': `Keys of ${control}`,
        'data-tip': 'Click to go there; Alt-click removes the nearest key',
        onclick: press,
      },
      h(
        'svg.curve',
        { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none' },
        h('polyline', { points: ends.map(([t, v]) => `${x(t)},${y(v)}`).join(' ') }),
        ...keys.map(([t, v]) => h('circle', { cx: x(t), cy: y(v), r: 4 })),
      ),
    ),
  );
}
