// One tooltip for every element with `data-tip`; its second line is the shortcut.
import { h } from './dom';

const DELAY_MS = 450;

export function mountTooltips(): void {
  const tip = h('div.tooltip', { role: 'tooltip', hidden: true });
  document.body.append(tip);
  let timer = 0;
  const hide = (): void => {
    clearTimeout(timer);
    tip.hidden = true;
  };
  const show = (el: HTMLElement): void => {
    const keys = el.dataset.keys;
    tip.replaceChildren(el.dataset.tip ?? '', ...(keys ? [h('kbd', null, keys)] : []));
    // Inside an open dialog only what is in it can be seen.
    (el.closest('dialog') ?? document.body).append(tip);
    tip.hidden = false;
    const at = el.getBoundingClientRect();
    const size = tip.getBoundingClientRect();
    if (el.closest('.toolbar')) {
      tip.style.left = `${at.right + 6}px`;
      tip.style.top = `${at.top + (at.height - size.height) / 2}px`;
      return;
    }
    const below = at.bottom + 6 + size.height < innerHeight;
    tip.style.left = `${Math.max(4, Math.min(innerWidth - size.width - 4, at.left + at.width / 2 - size.width / 2))}px`;
    tip.style.top = `${below ? at.bottom + 6 : at.top - size.height - 6}px`;
  };
  document.addEventListener('pointerover', (event) => {
    hide();
    const el = (event.target as Element | null)?.closest<HTMLElement>('[data-tip]');
    if (el && event.pointerType !== 'touch')
      timer = window.setTimeout(() => {
        if (el.isConnected) show(el);
      }, DELAY_MS);
  });
  document.addEventListener('pointerdown', hide);
  document.addEventListener('keydown', hide);
}
