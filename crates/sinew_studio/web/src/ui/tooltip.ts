// One tooltip for every element with `data-tip`; its second line is the shortcut.
import { el, originOf } from './dom';

const DELAY_MS = 450;

export function mountTooltips(): void {
  const tip = el('div.tooltip', { id: 'tooltip', role: 'tooltip', hidden: true });
  document.body.append(tip);
  let timer = 0;
  let described: HTMLElement | null = null;
  const hide = (): void => {
    clearTimeout(timer);
    tip.hidden = true;
    described?.removeAttribute('aria-describedby');
    described = null;
  };
  const show = (target: HTMLElement): void => {
    target.setAttribute('aria-describedby', tip.id);
    described = target;
    const { keys, tip: text } = target.dataset;
    tip.replaceChildren(text ?? '', ...(keys ? [el('kbd', null, keys)] : []));
    // Inside an open dialog only what is in it can be seen.
    (target.closest('dialog') ?? document.body).append(tip);
    tip.hidden = false;
    const at = target.getBoundingClientRect();
    const size = tip.getBoundingClientRect();
    if (target.closest('.toolbar')) {
      tip.style.left = `${at.right + 6}px`;
      tip.style.top = `${at.top + (at.height - size.height) / 2}px`;
      return;
    }
    const below = at.bottom + 6 + size.height < innerHeight;
    tip.style.left = `${Math.max(4, Math.min(innerWidth - size.width - 4, at.left + at.width / 2 - size.width / 2))}px`;
    tip.style.top = `${below ? at.bottom + 6 : at.top - size.height - 6}px`;
  };
  const showLater = (event: Event): void => {
    hide();
    const origin = originOf(event);
    const target = origin instanceof Element ? origin.closest<HTMLElement>('[data-tip]') : null;
    if (!target) return;
    timer = window.setTimeout(() => {
      if (target.isConnected) show(target);
    }, DELAY_MS);
  };
  // A pointer that rests enters an element when the page changes under it; that must not hide what the keyboard shows.
  let pointer = '';
  const placeOf = (event: PointerEvent): string => `${event.clientX} ${event.clientY}`;
  document.addEventListener('pointerover', (event) => {
    if (event.pointerType !== 'touch' && placeOf(event) !== pointer) showLater(event);
    pointer = placeOf(event);
  });
  document.addEventListener('pointermove', (event) => {
    pointer = placeOf(event);
  });
  // Focus from the keyboard shows them, too.
  document.addEventListener('focusin', (event) => {
    if ((event.target as Element | null)?.matches(':focus-visible')) showLater(event);
  });
  document.addEventListener('focusout', hide);
  document.addEventListener('pointerdown', hide);
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Tab' && !event.key.startsWith('Arrow')) hide();
  });
}
