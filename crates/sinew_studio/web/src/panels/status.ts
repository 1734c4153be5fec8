// The status line: counts, what the tool in hand does, times, and whether the studio is there.
import { stats, store } from '../app';
import type { ToolId } from '../store';
import { formatCount, h } from '../ui/dom';

const HINTS: Record<ToolId, string> = {
  select: 'Click a handle · drag to orbit',
  drag: 'Drag a handle to turn it about its centre · Ctrl moves it · empty space orbits',
  rotate: 'Pull a ring, or drag the handle · R turns without a button',
  translate: 'Pull an arrow, or drag the handle · G moves without a button',
  twist: 'Drag a handle sideways to twist it along its limb',
  centre: 'Drag a dot to place a rotation centre (at rest)',
  reach: 'Drag a handle: the body follows the examples · Del removes a target · Enter takes the pose · Esc drops it',
  sculpt: 'Stroke over the pose · [ ] size · Ctrl turns pull into push · Shift smooths · middle button orbits',
  path: 'Click adds a point, on a line between two · drag moves it · Del removes it · dragging elsewhere orbits',
  rules: 'Drag markers and planes · choose a verb, then click joints and markers to write a rule · dragging elsewhere orbits',
  box: 'Draw a box over the surface · Shift adds · Ctrl takes away',
  lasso: 'Draw around a part · Shift adds · Ctrl takes away',
  paint: 'Stroke over the surface · [ ] size · Ctrl takes away · middle button orbits',
  erase: 'Stroke over the handle · [ ] size · middle button orbits',
  flesh: 'Press the surface and pull, it springs back · Shift-click pushes · dragging elsewhere orbits',
  stiffen: 'Stroke over the surface: stiffer or softer flesh · [ ] size · Ctrl takes paint away · middle button orbits',
  rig: 'With a template chosen, click puts it · pull the skin: the rig is fitted until it follows · dragging elsewhere orbits',
  joint: 'Click puts a joint half-way through the body, on the one chosen · drag moves it, or turns the bone above · dragging elsewhere orbits',
};

const REFRESH_MS = 250;

export function buildStatus(): HTMLElement {
  const item = (id: string, tip: string): HTMLElement => h('span', { 'data-testid': `status-${id}`, 'data-tip': tip });
  const vertices = item('vertices', 'Vertices and faces of the mesh');
  const selection = item('selection', 'Main handle, and how many move along');
  const solve = item('solve', 'Time the engine took for the last frame');
  const draw = item('draw', 'Time the page took to draw the last frame');
  const latency = item('latency', 'From the pointer to new vertices, median of the last drags');
  const link = item('link', 'Connection to the studio');
  const hint = h('span.hint', { 'data-testid': 'status-hint' });
  let timer = 0;
  const show = (): void => {
    timer = 0;
    const { doc } = store;
    vertices.textContent = doc ? `${formatCount(doc.vertices)} vertices · ${formatCount(doc.faces)} faces` : '';
    selection.textContent =
      store.main === null
        ? 'nothing selected'
        : `${store.main}${store.secondary.size > 0 ? ` + ${store.secondary.size}` : ''}`;
    hint.textContent = HINTS[store.tool];
    solve.textContent = `solve ${stats.solveMs.toFixed(1)} ms`;
    draw.textContent = `draw ${stats.drawMs.toFixed(1)} ms`;
    const ms = stats.median();
    latency.textContent = ms === null ? 'latency –' : `latency ${ms.toFixed(0)} ms`;
    link.textContent = { open: 'connected', connecting: 'connecting…', lost: 'not connected' }[store.link];
    link.className = `link-${store.link}`;
  };
  // Numbers that change with every frame need not be written with every frame.
  const later = (): void => {
    if (timer === 0) timer = window.setTimeout(show, REFRESH_MS);
  };
  for (const topic of ['frame', 'camera'] as const) store.on(topic, later);
  for (const topic of ['doc', 'selection', 'link', 'tool'] as const) store.on(topic, show);
  show();
  return h(
    'div.status',
    { role: 'status', 'aria-live': 'off', 'data-testid': 'status' },
    vertices,
    selection,
    hint,
    solve,
    draw,
    latency,
    link,
  );
}
