// Document and fit side by side: their names, the line between them, what the colours mean, and the pointer over them.
import { socket, store } from '../../app';
import type { Picked, Point } from '../../net/protocol';
import { strayed } from '../../tools/tool';
import { el } from '../../ui/dom';
import { formatCount } from '../../ui/format';
import { boneColour, HEAT, heatRange } from '../../view/heat';
import type { Viewport } from '../../view/viewport';
import { fitView } from './state';

export function buildCompare(viewport: Viewport): HTMLElement {
  const original = el('span.compare-name', { 'data-testid': 'compare-original' }, 'Original');
  const fit = el('span.compare-name.of-fit', { 'data-testid': 'compare-fit' });
  const line = el('i.compare-line');
  const legend = el('div.legend.heat', { 'data-testid': 'heat-legend' });
  const element = el('div.compare', { hidden: true }, original, fit, line, legend);
  let key = '';
  const show = (): void => {
    const { shows } = viewport;
    const now = `${shows} ${store.doc?.fit?.version} ${fitView.map} ${fitView.bone} ${fitView.maps?.version}`;
    if (now === key) return;
    key = now;
    element.hidden = shows === 'original';
    original.hidden = line.hidden = shows !== 'both';
    element.classList.toggle('single', shows === 'fit');
    fit.textContent = `Fit · ${formatCount(store.doc?.fit?.bones ?? 0)} bones`;
    legend.replaceChildren(...legendOf());
    legend.hidden = legend.childElementCount === 0;
  };
  viewport.afterDraw.push(show);
  new ComparePointer(viewport);
  return element;
}

/** What the colours mean, in words and numbers. */
function legendOf(): (Node | string)[] {
  const { map, maps, bone } = fitView;
  const bounds = store.doc?.bounds;
  if (!maps || !bounds || map === 'none') return [];
  const ramp = el('i');
  ramp.style.background = `linear-gradient(to right, ${HEAT.join(', ')})`;
  const texts = (low: string, high: string): Node[] => [el('span', null, low), ramp, el('span', null, high)];
  if (map === 'error') {
    const size = Math.hypot(...bounds[1].map((x, i) => x - bounds[0][i]));
    const [low, high] = heatRange(maps.error).map((x) => ((100 * x) / size).toPrecision(2));
    return texts(low, `${high} % of the diagonal`);
  }
  if (map === 'deformation') return texts('little deformation', 'much');
  if (map === 'weights') {
    const dot = el('b');
    dot.style.background = `#${boneColour(bone).getHexString()}`;
    return [dot, el('span', null, `bone ${bone}, weight`), ...texts('0', '1')];
  }
  return [el('span', null, 'one colour per bone, mixed by weight')];
}

/** While a fit is shown, the left button orbits, and a click picks a bone. */
class ComparePointer {
  private pressed: PointerEvent | null = null;
  private last: PointerEvent | null = null;

  constructor(private readonly viewport: Viewport) {
    const { element, canvas } = viewport;
    const capture = { capture: true };
    element.addEventListener(
      'pointerdown',
      (event) => {
        const isOurs = event.button === 0 && !event.altKey && event.target === canvas;
        if (!isOurs || viewport.shows === 'original') return;
        event.stopPropagation();
        canvas.setPointerCapture(event.pointerId);
        this.pressed = this.last = event;
      },
      capture,
    );
    for (const type of ['pointermove', 'pointerrawupdate'] as const) {
      element.addEventListener(
        type,
        (event) => {
          if (!this.pressed || !this.last) return;
          event.stopPropagation();
          if (type === 'pointerrawupdate' || !strayed(this.pressed, event as PointerEvent)) return;
          const to = event as PointerEvent;
          viewport.rig.orbit(to.clientX - this.last.clientX, to.clientY - this.last.clientY);
          this.last = to;
        },
        capture,
      );
    }
    element.addEventListener(
      'pointerup',
      (event) => {
        const { pressed } = this;
        this.pressed = this.last = null;
        if (!pressed) return;
        event.stopPropagation();
        if (!strayed(pressed, event)) void this.pick(event);
      },
      capture,
    );
    element.addEventListener('pointercancel', () => {
      this.pressed = this.last = null;
    });
  }

  /** The bone under the pointer, wherever it is: both pictures show the same vertices. */
  private async pick(event: PointerEvent): Promise<void> {
    const { viewport } = this;
    const { clientWidth, clientHeight } = viewport.canvas;
    const { x, y } = viewport.fromMiddle(event);
    const middle = viewport.shows === 'both' ? -0.5 : 0;
    const at: Point = [middle + (2 * x) / clientWidth, (2 * y) / clientHeight];
    const hit = await socket.ask<Picked | null>({ type: 'pick', view: viewport.rig.view16(), at }).catch(() => null);
    const bone = hit && fitView.strongest(hit.vertex);
    if (bone !== null) fitView.set({ bone, map: 'weights' });
  }
}
