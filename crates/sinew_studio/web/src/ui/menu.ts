// Menus that drop from a button, usable by mouse and arrow keys.
import { el } from './dom';

export interface MenuItem {
  id: string;
  label: string;
  keys?: string;
  checked?: boolean;
  disabled?: boolean;
  run(): void;
}

export type MenuEntry = MenuItem | 'line';

let close: () => void = () => {};

export function openMenu(anchor: HTMLElement, entries: MenuEntry[]): void {
  close();
  const items = entries.map((entry) =>
    entry === 'line'
      ? el('hr')
      : el(
          'button.menu-item',
          {
            role: entry.checked === undefined ? 'menuitem' : 'menuitemcheckbox',
            'aria-checked': entry.checked,
            disabled: entry.disabled,
            'data-testid': `menu-${entry.id}`,
            onclick: () => {
              close();
              entry.run();
            },
          },
          el('span.menu-check', null, entry.checked ? '✓' : ''),
          el('span.grow', null, entry.label),
          entry.keys ? el('kbd', null, entry.keys) : null,
        ),
  );
  const menu = el('div.menu', { role: 'menu' }, ...items);
  document.body.append(menu);
  const at = anchor.getBoundingClientRect();
  const size = menu.getBoundingClientRect();
  menu.style.left = `${Math.min(at.left, innerWidth - size.width - 4)}px`;
  menu.style.top = `${Math.min(at.bottom + 2, Math.max(4, innerHeight - size.height - 4))}px`;
  anchor.setAttribute('aria-expanded', 'true');
  const outside = (event: Event): void => {
    if (!menu.contains(event.target as Node)) close();
  };
  close = () => {
    menu.remove();
    anchor.setAttribute('aria-expanded', 'false');
    document.removeEventListener('pointerdown', outside, true);
    close = () => {};
  };
  menu.addEventListener('keydown', (event) => walk(event, menu, anchor));
  // The press that opens it must not close it again.
  setTimeout(() => document.addEventListener('pointerdown', outside, true));
  menu.querySelector<HTMLElement>('.menu-item:not([disabled])')?.focus();
}

function walk(event: KeyboardEvent, menu: HTMLElement, anchor: HTMLElement): void {
  const items = [...menu.querySelectorAll<HTMLElement>('.menu-item:not([disabled])')];
  const at = items.indexOf(document.activeElement as HTMLElement);
  if (event.key === 'ArrowDown') items[(at + 1) % items.length]?.focus();
  else if (event.key === 'ArrowUp') items[(at - 1 + items.length) % items.length]?.focus();
  else if (event.key === 'Home') items[0]?.focus();
  else if (event.key === 'End') items[items.length - 1]?.focus();
  else if (event.key === 'ArrowRight' || event.key === 'ArrowLeft') {
    const bar = [...(anchor.parentElement?.querySelectorAll<HTMLElement>('[aria-haspopup]') ?? [])];
    const step = event.key === 'ArrowRight' ? 1 : -1;
    const next = bar[(bar.indexOf(anchor) + step + bar.length) % bar.length];
    if (!next || next === anchor) return;
    close();
    next.focus();
    next.click();
  } else if (event.key === 'Escape' || event.key === 'Tab') {
    close();
    anchor.focus();
  } else return;
  event.preventDefault();
  event.stopPropagation();
}
