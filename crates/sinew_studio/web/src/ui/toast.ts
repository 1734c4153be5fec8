// Short messages in the corner; errors stay until they are closed.
import type { Level } from '../net/protocol';
import { h } from './dom';
import { icon } from './icons';

const SHOWN_MS = { info: 5000, warning: 9000, error: 0 } satisfies Record<Level, number>;
const MOST = 5;

const region = h('div.toasts', { role: 'log', 'aria-live': 'polite', 'data-testid': 'toasts' });

export function mountToasts(parent: HTMLElement): void {
  parent.append(region);
}

export interface ToastAction {
  label: string;
  run(): void;
}

export interface Toast {
  close(): void;
  readonly isOpen: boolean;
}

export function toast(level: Level, text: string, actions: ToastAction[] = []): Toast {
  const close = (): void => item.remove();
  const buttons = actions.map((action) =>
    h(
      'button.small',
      {
        onclick: () => {
          close();
          action.run();
        },
        'data-testid': `toast-${action.label.toLowerCase()}`,
      },
      action.label,
    ),
  );
  const item = h(
    'div',
    { class: `toast ${level}`, 'data-testid': `toast-${level}` },
    icon(level === 'info' ? 'info' : 'warning'),
    h('div.toast-body', null, h('p', null, text), buttons.length > 0 && h('div.row', null, ...buttons)),
    h('button.ghost', { onclick: close, 'aria-label': 'Close', 'data-testid': 'toast-close' }, icon('close')),
  );
  // What is said again is not said twice.
  for (const other of region.querySelectorAll(`.toast.${level}`)) {
    if (other.querySelector('p')?.textContent === text) other.remove();
  }
  region.append(item);
  // What waits for an answer is not pushed out by what does not.
  if (region.children.length > MOST) region.querySelector('.toast:not(:has(.row))')?.remove();
  if (SHOWN_MS[level] > 0 && actions.length === 0) setTimeout(close, SHOWN_MS[level]);
  return {
    close,
    get isOpen() {
      return item.isConnected;
    },
  };
}
