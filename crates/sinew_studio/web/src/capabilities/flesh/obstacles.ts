// Obstacles of flesh: a floor and balls.
import { store } from '../../app';
import type { FleshSettings, Vec3 } from '../../net/protocol';
import { AXES, button, checkbox, iconButton, lengthField, numberField, row } from '../../ui/fields';
import { section } from '../../ui/section';
import { h, type View } from '../../ui/view';
import { setFlesh } from './state';

interface Ball {
  center: Vec3;
  radius: number;
}

export function obstacleSection({ floor, friction, colliders }: FleshSettings): View {
  const low = store.doc?.bounds[0][1] ?? 0;
  const remove = (i: number): unknown => setFlesh({ colliders: colliders.filter((_, k) => k !== i) });
  const put = (i: number, ball: Ball): unknown =>
    setFlesh({ colliders: colliders.map((old, k) => (k === i ? { ball } : old)) });
  return section(
    'Obstacles',
    row(
      'Floor',
      checkbox('flesh-floor', 'at', floor !== null, (on) => setFlesh({ floor: on ? low : null })),
      lengthField({
        id: 'flesh-floor-height',
        label: 'Height of the floor',
        value: floor ?? low,
        step: 0.01,
        set: (height) => setFlesh({ floor: height }),
      }),
      h('span.dim', null, store.prefs.units),
    ),
    row(
      'Friction',
      numberField({
        id: 'flesh-friction',
        label: 'Friction',
        value: friction,
        min: 0,
        max: 10,
        step: 0.1,
        set: (value) => setFlesh({ friction: value }),
      }),
    ),
    ...colliders.flatMap((collider, i) => ('ball' in collider ? [ballRow(collider.ball, i, put, remove)] : [])),
    h(
      'div.actions',
      null,
      button('flesh-add-ball', 'Ball', () => void setFlesh({ colliders: [...colliders, { ball: newBall() }] }), {
        icon: 'plus',
        tip: 'A solid ball in front of the body, with x, y, z and radius',
      }),
    ),
  );
}

function ballRow(
  { center, radius }: Ball,
  i: number,
  put: (i: number, ball: Ball) => unknown,
  remove: (i: number) => unknown,
): View {
  const moved = (axis: number, value: number): Ball => ({
    center: center.map((x, k) => (k === axis ? value : x)) as Vec3,
    radius,
  });
  return h(
    'div.ball',
    { key: `ball ${i}`, 'data-testid': `flesh-ball-${i}` },
    h('span', null, 'Ball'),
    ...AXES.map(([axis, name]) =>
      lengthField({
        id: `flesh-ball-${i}-${name}`,
        label: `${name} of the ball`,
        value: center[axis],
        step: 0.01,
        set: (value) => put(i, moved(axis, value)),
      }),
    ),
    lengthField({
      id: `flesh-ball-${i}-r`,
      label: 'Radius of the ball',
      value: radius,
      min: 1e-4,
      step: 0.01,
      set: (value) => put(i, { center, radius: value }),
    }),
    iconButton(`flesh-ball-${i}-remove`, 'trash', 'Remove the ball', () => void remove(i)),
  );
}

/** In front of the middle, touching. */
function newBall(): Ball {
  const [low, high] = store.doc!.bounds;
  const size = Math.max(...high.map((x, k) => x - low[k]));
  const radius = 0.08 * size;
  return { center: [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, high[2] + 0.5 * radius], radius };
}
