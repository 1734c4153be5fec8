// The history: every step; a click goes there.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { ask, store } from '../../app';
import { h, useTopics, type View } from '../../ui/view';

export function HistoryPanel(): View {
  useTopics(store, 'doc');
  const list = useRef<HTMLElement>(null);
  const { first, steps, at } = store.doc?.history ?? { first: 0, steps: [], at: 0 };
  useLayoutEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [first, at]);
  const step = (label: string, i: number): View =>
    h(
      'li',
      { key: first + i },
      h(
        'button',
        {
          type: 'button',
          class: i > at ? 'undone' : '',
          'aria-current': i === at ? 'step' : undefined,
          'data-testid': `history-${i}`,
          onclick: () => void ask({ type: 'jump', step: first + i }),
        },
        label,
      ),
    );
  return h('ol.history', { ref: list, 'data-testid': 'history', 'aria-label': 'History' }, ...steps.map(step));
}
