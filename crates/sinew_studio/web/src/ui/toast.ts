// Short messages in the corner; errors stay until they are closed.
import type { Level } from '../net/protocol';
import { el } from './dom';
import { iconElement } from './icons';

const SHOWN_MS = { info: 5000, warning: 9000, error: 0 } satisfies Record<Level, number>;
const MAX_TOASTS = 5;

const region = el('div.toasts', { role: 'log', 'aria-live': 'polite', 'data-testid': 'toasts' });

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
    el(
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
  const item = el(
    'div',
    { class: `toast ${level}`, role: level === 'error' && 'alert', 'data-testid': `toast-${level}` },
    iconElement(level === 'info' ? 'info' : 'warning'),
    el('div.toast-body', null, el('p', null, text), buttons.length > 0 && el('div.row', null, ...buttons)),
    el('button.ghost', { onclick: close, 'aria-label': 'Close', 'data-testid': 'toast-close' }, iconElement('close')),
  );
  // A repeated message replaces the earlier one.
  for (const other of region.querySelectorAll(`.toast.${level}`)) {
    if (other.querySelector('p')?.textContent === text) other.remove();
  }
  region.append(item);
  // Toasts that wait for an answer are not removed to make room for others.
  if (region.children.length > MAX_TOASTS) region.querySelector('.toast:not(:has(.row))')?.remove();
  if (SHOWN_MS[level] > 0 && actions.length === 0) setTimeout(close, SHOWN_MS[level]);
  return {
    close,
    get isOpen() {
      return item.isConnected;
    },
  };
}
