// The status line: counts, the hint of the tool, times, and the connection.
import { useLayoutEffect } from 'preact/hooks';
import { stats, store } from '../app';
import { toolSpec } from '../tools/registry';
import { el } from '../ui/dom';
import { formatCount } from '../ui/format';
import { h, mounted, useRedraw, useTopics, type View } from '../ui/view';

/** Numbers that change with every frame need not be drawn with every frame. */
const REFRESH_MS = 250;

const LINKS = { open: 'connected', connecting: 'connecting…', lost: 'not connected' };

export function buildStatus(): HTMLElement {
  return mounted(el('div.status', { role: 'status', 'aria-live': 'off', 'data-testid': 'status' }), Status);
}

function Status(): View[] {
  useTopics(store, 'doc', 'selection', 'link', 'tool');
  const redraw = useRedraw();
  useLayoutEffect(() => {
    let timer = 0;
    const later = (): void => {
      if (timer !== 0) return;
      timer = window.setTimeout(() => {
        timer = 0;
        redraw();
      }, REFRESH_MS);
    };
    store.on('frame', later);
    store.on('camera', later);
  }, []);
  const item = (id: string, tip: string, text: string, name = ''): View =>
    h('span', { key: id, class: name, 'data-testid': `status-${id}`, 'data-tip': tip }, text);
  const { doc, main, secondary } = store;
  const counts = doc ? `${formatCount(doc.vertices)} vertices · ${formatCount(doc.faces)} faces` : '';
  const selected = `${main}${secondary.size > 0 ? ` + ${secondary.size}` : ''}`;
  const ms = stats.median();
  return [
    item('vertices', 'Vertices and faces of the mesh', counts),
    item('selection', 'Main handle, and how many move along', main === null ? 'nothing selected' : selected),
    h('span.hint', { key: 'hint', 'data-testid': 'status-hint' }, toolSpec(store.tool)?.hint ?? ''),
    item('solve', 'Engine time of the last frame', `solve ${stats.solveMs.toFixed(1)} ms`),
    item('draw', 'Drawing time of the last frame', `draw ${stats.drawMs.toFixed(1)} ms`),
    item(
      'latency',
      'From the pointer to new vertices, median of the last drags',
      ms === null ? 'latency –' : `latency ${ms.toFixed(0)} ms`,
    ),
    item('link', 'Connection to the studio', LINKS[store.link], `link-${store.link}`),
  ];
}
