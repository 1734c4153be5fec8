// The small cross of axes in the corner: where one looks from, and a click to look from elsewhere.
import { Vector3 } from 'three';
import { store } from '../app';
import { svg } from '../ui/dom';
import type { ViewName } from './camera';
import type { Viewport } from './viewport';

interface Ball {
  direction: Vector3;
  view: ViewName;
  circle: SVGElement;
  line: SVGElement | null;
  label: SVGElement | null;
}

const REACH = 30;

const ENDS: { name: string; direction: [number, number, number]; view: ViewName; positive: boolean }[] = [
  { name: 'x', direction: [1, 0, 0], view: 'right', positive: true },
  { name: 'x', direction: [-1, 0, 0], view: 'left', positive: false },
  { name: 'y', direction: [0, 1, 0], view: 'top', positive: true },
  { name: 'y', direction: [0, -1, 0], view: 'bottom', positive: false },
  { name: 'z', direction: [0, 0, 1], view: 'front', positive: true },
  { name: 'z', direction: [0, 0, -1], view: 'back', positive: false },
];

export class Axes {
  private readonly root = svg('svg', {
    viewBox: '-42 -42 84 84',
    class: 'axes',
    role: 'group',
    'aria-label': 'Views',
    'data-testid': 'axes',
  });
  private readonly balls: Ball[];

  constructor(private readonly viewport: Viewport) {
    this.balls = ENDS.map((end) => this.build(end));
    viewport.element.append(this.root);
    store.on('camera', () => this.place());
    this.place();
  }

  private build({ name, direction, view, positive }: (typeof ENDS)[number]): Ball {
    const circle = svg(
      'circle',
      {
        r: positive ? 8.5 : 6.5,
        class: `axis-${name} ${positive ? 'positive' : 'negative'}`,
        role: 'button',
        tabindex: 0,
        'aria-label': `View from ${view}`,
        'data-testid': `view-${view}`,
      },
      svg('title', {}),
    );
    circle.firstElementChild!.textContent = `View from ${view}`;
    circle.addEventListener('click', () => this.viewport.rig.view(view));
    circle.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' || event.key === ' ') this.viewport.rig.view(view);
    });
    const line = positive ? svg('line', { class: `axis-${name}`, x1: 0, y1: 0 }) : null;
    const label = positive ? svg('text', { class: 'axis-label' }) : null;
    if (label) label.textContent = name.toUpperCase();
    return { direction: new Vector3(...direction), view, circle, line, label };
  }

  private place(): void {
    const toCamera = this.viewport.rig.quaternion.clone().invert();
    const seen = this.balls.map((ball) => ({ ball, at: ball.direction.clone().applyQuaternion(toCamera) }));
    seen.sort((a, b) => a.at.z - b.at.z);
    this.root.replaceChildren();
    for (const { ball, at } of seen) {
      const x = at.x * REACH;
      const y = -at.y * REACH;
      ball.circle.setAttribute('cx', String(x));
      ball.circle.setAttribute('cy', String(y));
      ball.line?.setAttribute('x2', String(x));
      ball.line?.setAttribute('y2', String(y));
      ball.label?.setAttribute('x', String(x));
      ball.label?.setAttribute('y', String(y));
      this.root.append(...[ball.line, ball.circle, ball.label].filter((el) => el !== null));
    }
  }
}
