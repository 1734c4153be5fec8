// Dialogs on the platform's own element, which brings focus, Escape and the backdrop.
import { render } from 'preact';
import { el } from './dom';
import { iconElement } from './icons';
import { h, part, type Views } from './view';

export interface DialogButton {
  label: string;
  primary?: boolean;
  /** Return false to stay open. */
  run?(): unknown;
}

export interface DialogHandle {
  element: HTMLDialogElement;
  close(): void;
}

/** Opened by the mouse, a dialog gives the keys back to the page when it closes, not to the button. */
let lastInput: 'pointer' | 'key' = 'pointer';
addEventListener(
  'pointerdown',
  () => {
    lastInput = 'pointer';
  },
  true,
);
addEventListener(
  'keydown',
  () => {
    lastInput = 'key';
  },
  true,
);

const slug = (label: string): string =>
  label
    .toLowerCase()
    .replace(/[^a-z]+/g, '-')
    .replace(/-$/, '');

/** `body` draws what is in it, again after every change of a control. */
export function openDialog(id: string, title: string, body: () => Views, buttons: DialogButton[] = []): DialogHandle {
  const element = el('dialog', { class: `dialog ${id}`, 'data-testid': `dialog-${id}`, 'aria-label': title });
  const close = (): void => element.close();
  const press = async (button: DialogButton): Promise<void> => {
    if ((await button.run?.()) !== false) close();
  };
  const content = el('div.dialog-body');
  const closeButton = el(
    'button.ghost',
    { type: 'button', onclick: close, 'aria-label': 'Close', 'data-testid': 'dialog-close' },
    iconElement('close'),
  );
  const footer = el('footer', null, ...buttons.map((button) => buttonElement(button, () => void press(button))));
  const header = el('header', null, el('h2', null, title), closeButton);
  element.append(el('form', { method: 'dialog' }, header, content, buttons.length > 0 && footer));
  const draw = (): void => render(part(body as (props: object) => Views, {}), content);
  draw();
  content.addEventListener('change', draw);
  const byPointer = lastInput === 'pointer';
  element.addEventListener('close', () => {
    render(null, content);
    element.remove();
    if (byPointer) (document.activeElement as HTMLElement | null)?.blur();
  });
  document.body.append(element);
  element.showModal();
  // Not the cross, which the browser would choose.
  const first = '[autofocus], .dialog-body :is(input, select, button), button.primary';
  (element.querySelector<HTMLElement>(first) ?? element).focus();
  return { element, close };
}

function buttonElement({ label, primary }: DialogButton, press: () => void): HTMLElement {
  return el(
    'button',
    {
      type: primary ? 'submit' : 'button',
      class: primary ? 'primary' : '',
      'data-testid': `dialog-${slug(label)}`,
      onclick: (event: Event) => {
        event.preventDefault();
        press();
      },
    },
    label,
  );
}

/** Ask for one line of text. */
export function askText(id: string, title: string, label: string, value: string, done: (text: string) => void): void {
  let text = value;
  const input = h('input', {
    type: 'text',
    defaultValue: value,
    autofocus: true,
    'data-testid': `${id}-input`,
    'aria-label': label,
    oninput: ({ currentTarget }: Event) => {
      text = (currentTarget as HTMLInputElement).value;
    },
  });
  const accept = (): boolean => {
    if (text.trim() === '') return false;
    done(text.trim());
    return true;
  };
  const { element } = openDialog(id, title, () => h('label.field', null, h('span', null, label), input), [
    { label: 'Cancel' },
    { label: 'OK', primary: true, run: accept },
  ]);
  element.querySelector('input')?.select();
}

/** Ask before something is lost. */
export function confirmLoss(title: string, text: string, label: string, run: () => void): void {
  openDialog('confirm', title, () => h('p', null, text), [{ label: 'Cancel' }, { label, primary: true, run }]);
}
