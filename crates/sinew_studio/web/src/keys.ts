// The keyboard: an event becomes the name of a key, and that the action it is bound to.
import { actions, keysOf } from './actions';
import type { ToolManager } from './tools/manager';
import { isTyping, originOf } from './ui/dom';

/** `Ctrl+Shift+Z`, `Numpad1`, `?`; Command counts as Ctrl. */
export function keyName(event: KeyboardEvent): string {
  const isLetter = /^[a-z]$/i.test(event.key);
  let name = event.key;
  if (event.code.startsWith('Numpad')) name = event.code;
  else if (event.key === ' ') name = 'Space';
  else if (isLetter) name = event.key.toUpperCase();
  // With Alt some systems write other characters; the code of the key still identifies it.
  else if (event.altKey && /^(Key|Digit)/.test(event.code)) name = event.code.replace(/^(Key|Digit)/, '');
  const parts = [];
  if (event.ctrlKey || event.metaKey) parts.push('Ctrl');
  if (event.altKey) parts.push('Alt');
  // Characters such as ? have Shift in them already.
  if (event.shiftKey && (isLetter || name.length > 1 || event.altKey)) parts.push('Shift');
  return [...parts, name].join('+');
}

export function listenToKeys(tools: ToolManager): void {
  // A button that was clicked gives up the focus, so that Space plays and does not press it again.
  document.addEventListener('click', (event) => {
    const button = (event.target as Element | null)?.closest('button');
    if (event.detail > 0 && button && button === document.activeElement && !button.closest('dialog')) button.blur();
  });
  window.addEventListener('keydown', (event) => {
    if (document.querySelector('dialog[open]') || isTyping(originOf(event))) return;
    if (tools.modal.key(event)) {
      event.preventDefault();
      return;
    }
    if (event.key === 'Escape' && tools.cancel()) return;
    const name = keyName(event);
    // A button reached by keyboard is pressed by Space and Enter; arrows move a slider.
    if (event.target instanceof HTMLButtonElement && (name === 'Space' || name === 'Enter')) return;
    if (event.target instanceof HTMLInputElement && name.startsWith('Arrow')) return;
    const found = actions().find((item) => keysOf(item).includes(name) && (item.enabled?.() ?? true));
    if (!found) return;
    event.preventDefault();
    found.run();
  });
}
