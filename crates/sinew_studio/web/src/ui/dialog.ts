// Dialogs on the platform's own element, which brings focus, Escape and the backdrop.
import { h } from './dom';
import { icon } from './icons';

export interface DialogButton {
  label: string;
  primary?: boolean;
  /** Return false to stay open. */
  run?(): boolean | void | Promise<boolean | void>;
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

export function openDialog(id: string, title: string, body: Node[], buttons: DialogButton[] = []): DialogHandle {
  const element = h('dialog', { class: `dialog ${id}`, 'data-testid': `dialog-${id}`, 'aria-label': title });
  const close = (): void => element.close();
  const press = async (button: DialogButton): Promise<void> => {
    if ((await button.run?.()) !== false) close();
  };
  const form = h(
    'form',
    { method: 'dialog' },
    h(
      'header',
      null,
      h('h2', null, title),
      h(
        'button.ghost',
        { type: 'button', onclick: close, 'aria-label': 'Close', 'data-testid': 'dialog-close' },
        icon('close'),
      ),
    ),
    h('div.dialog-body', null, ...body),
    buttons.length > 0 &&
      h(
        'footer',
        null,
        ...buttons.map((button) =>
          h(
            'button',
            {
              type: button.primary ? 'submit' : 'button',
              class: button.primary ? 'primary' : '',
              'data-testid': `dialog-${slug(button.label)}`,
              onclick: (event: Event) => {
                event.preventDefault();
                void press(button);
              },
            },
            button.label,
          ),
        ),
      ),
  );
  element.append(form);
  const byPointer = lastInput === 'pointer';
  element.addEventListener('close', () => {
    element.remove();
    if (byPointer) (document.activeElement as HTMLElement | null)?.blur();
  });
  document.body.append(element);
  element.showModal();
  // Not the cross, which the browser would choose.
  (
    element.querySelector<HTMLElement>('[autofocus], .dialog-body :is(input, select, button), button.primary') ??
    element
  ).focus();
  return { element, close };
}

/** Ask for one line of text. */
export function askText(id: string, title: string, label: string, value: string, done: (text: string) => void): void {
  const input = h('input', { type: 'text', value, autofocus: true, 'data-testid': `${id}-input`, 'aria-label': label });
  openDialog(
    id,
    title,
    [h('label.field', null, h('span', null, label), input)],
    [
      { label: 'Cancel' },
      {
        label: 'OK',
        primary: true,
        run: () => {
          if (input.value.trim() === '') return false;
          done(input.value.trim());
          return true;
        },
      },
    ],
  );
  input.select();
}

/** Ask before something is lost. */
export function confirmLoss(title: string, text: string, label: string, run: () => void): void {
  openDialog('confirm', title, [h('p', null, text)], [{ label: 'Cancel' }, { label, primary: true, run }]);
}
