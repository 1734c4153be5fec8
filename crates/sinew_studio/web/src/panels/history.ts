// The history: every step, a click goes there.
import { ask, store } from '../app';
import type { Doc } from '../net/protocol';
import { h, whenChanged } from '../ui/dom';

export function buildHistory(): HTMLElement {
  const list = h('ol.history', { 'data-testid': 'history', 'aria-label': 'History' });
  const show = whenChanged(({ first, steps, at }: Doc['history']) => {
    list.replaceChildren(
      ...steps.map((step, i) =>
        h(
          'li',
          null,
          h(
            'button',
            {
              type: 'button',
              class: i > at ? 'undone' : '',
              'aria-current': i === at ? 'step' : null,
              'data-testid': `history-${i}`,
              onclick: () => void ask({ type: 'jump', step: first + i }),
            },
            step,
          ),
        ),
      ),
    );
    list.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  });
  store.on('doc', (doc) => show(doc.history));
  return list;
}
