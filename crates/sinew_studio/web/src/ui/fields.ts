// Labelled controls of the panels. Each keeps what the user is doing with it until that is done and answered: a value
// that comes with the state meanwhile does not take a slider from under the pointer or a word from under the caret.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { store } from '../app';
import { type Icon, iconView } from './icons';
import { h, part, useRedraw, type View, type Views } from './view';

type Axis = 0 | 1 | 2;

export const AXES: [Axis, string][] = [
  [0, 'X'],
  [1, 'Y'],
  [2, 'Z'],
];

/** What a setter gives back is awaited before the control follows the state again. */
type Answer = unknown;

export function row(label: string, ...controls: Views[]): View {
  return h('div.field', null, h('span', null, label), h('div.controls', null, ...controls));
}

export interface NumberOptions {
  id: string;
  label: string;
  value: number;
  step?: number;
  min?: number;
  max?: number;
  digits?: number;
  class?: string;
  disabled?: boolean;
  set(value: number): Answer;
}

const clamp = (value: number, min = -Infinity, max = Infinity): number => Math.min(max, Math.max(min, value));

/** What is being typed, until it is sent and answered or left as it was. */
function useDraft(): { draft: string | null; type(event: Event): void; send(answer: Answer): void; leave(): void } {
  const [draft, setDraft] = useState<string | null>(null);
  const sent = useRef(0);
  const send = async (answer: Answer): Promise<void> => {
    const mine = ++sent.current;
    await answer;
    if (sent.current !== mine) return;
    sent.current = 0;
    setDraft(null);
  };
  return {
    draft,
    type: (event) => setDraft((event.currentTarget as HTMLInputElement).value),
    send: (answer) => void send(answer),
    leave: () => {
      if (sent.current === 0) setDraft(null);
    },
  };
}

function NumberField({ id, label, value, step, min, max, digits = 3, set, ...rest }: NumberOptions): View {
  const { draft, type, send, leave } = useDraft();
  const change = (event: Event): void => {
    const typed = (event.currentTarget as HTMLInputElement).valueAsNumber;
    send(Number.isFinite(typed) ? set(clamp(typed, min, max)) : undefined);
  };
  return h('input', {
    type: 'number',
    value: draft ?? String(Number(value.toFixed(digits))),
    step: step ?? 'any',
    min,
    max,
    class: rest.class,
    disabled: rest.disabled,
    'aria-label': label,
    'data-testid': id,
    oninput: type,
    onchange: change,
    onblur: leave,
  });
}

/** A number that is sent when it is done: Enter, or leaving the field. */
export function numberField(options: NumberOptions): View {
  return part(NumberField, { ...options, key: options.id });
}

/** Frames per second. */
export function fpsField(options: Pick<NumberOptions, 'id' | 'value' | 'set' | 'class' | 'disabled'>): View {
  return numberField({ ...options, label: 'Frames per second', min: 1, max: 240, step: 1 });
}

/** A length in metres, shown in the preferred unit. */
export function lengthField(options: NumberOptions): View {
  const scale = store.prefs.units === 'cm' ? 100 : 1;
  const { min, max } = options;
  return numberField({
    ...options,
    value: options.value * scale,
    min: min === undefined ? min : min * scale,
    max: max === undefined ? max : max * scale,
    digits: scale === 1 ? 4 : 2,
    set: (value) => options.set(value / scale),
  });
}

export interface TextOptions {
  id: string;
  label: string;
  value: string;
  placeholder?: string;
  tip?: string;
  class?: string;
  set(text: string): Answer;
}

function TextField({ id, label, value, placeholder, tip, set, ...rest }: TextOptions): View {
  const { draft, type, send, leave } = useDraft();
  return h('input', {
    type: 'text',
    value: draft ?? value,
    placeholder,
    spellcheck: false,
    class: rest.class,
    'aria-label': label,
    'data-testid': id,
    'data-tip': tip,
    oninput: type,
    onchange: (event: Event) => send(set((event.currentTarget as HTMLInputElement).value.trim())),
    onblur: leave,
  });
}

/** A line of text that is sent when it is done. */
export function textField(options: TextOptions): View {
  return part(TextField, { ...options, key: options.id });
}

export interface Choice {
  value: string;
  label: string;
}

interface SelectOptions {
  id: string;
  label: string;
  value: string;
  choices: Choice[];
  set(value: string): Answer;
}

function SelectField({ id, label, value, choices, set }: SelectOptions): View {
  const redraw = useRedraw();
  const change = async (event: Event): Promise<void> => {
    await set((event.currentTarget as HTMLSelectElement).value);
    // A choice that was refused, or that is an action, goes back to the value.
    redraw();
  };
  return h(
    'select',
    { value, 'aria-label': label, 'data-testid': id, onchange: change },
    ...choices.map((choice) =>
      h('option', { key: choice.value, value: choice.value, selected: choice.value === value }, choice.label),
    ),
  );
}

export function selectField(
  id: string,
  label: string,
  value: string,
  choices: Choice[],
  set: (value: string) => Answer,
): View {
  return part(SelectField, { key: id, id, label, value, choices, set });
}

export interface SliderOptions {
  id: string;
  label: string;
  value: number;
  min: number;
  max: number;
  step: number;
  tip?: string;
  class?: string;
  disabled?: boolean;
  /** Called for every move; `gesture` is the same from the press to the release, so that all of it is one undo step. */
  set(value: number, gesture: number): Answer;
  /** The slider was released. */
  done?(): void;
}

/** Two pages on one document must not share numbers. */
let nextGesture = 2 ** 30 + Math.floor(Math.random() * 2 ** 29);

/** Numbers for gestures that the server joins into one step. */
export const newGesture = (): number => nextGesture++;

/** A released slider follows the state again as soon as it agrees, or after this time. */
const SETTLE_MS = 500;

/** Arrow keys that follow each other within this time belong to one gesture. */
const KEYS_WITHIN_MS = 1000;

function Slider({ id, label, value, min, max, step, tip, set, done, ...rest }: SliderOptions): View {
  const [held, setHeld] = useState<number | null>(null);
  const gesture = useRef({ number: 0, at: -Infinity, isPressed: false, answer: undefined as Answer });
  const press = (): void => {
    Object.assign(gesture.current, { number: newGesture(), isPressed: true });
  };
  const input = (event: Event): void => {
    const { current } = gesture;
    if (!current.isPressed && event.timeStamp - current.at > KEYS_WITHIN_MS) current.number = newGesture();
    current.at = event.timeStamp;
    const to = (event.currentTarget as HTMLInputElement).valueAsNumber;
    setHeld(to);
    current.answer = set(to, current.number);
  };
  const release = async (): Promise<void> => {
    const { current } = gesture;
    const { at } = current;
    current.isPressed = false;
    done?.();
    await current.answer;
    // The state with the new value may come after the answer; without it the slider goes back.
    setTimeout(() => {
      if (!current.isPressed && current.at === at) setHeld(null);
    }, SETTLE_MS);
  };
  useLayoutEffect(() => {
    if (held !== null && !gesture.current.isPressed && Math.abs(value - held) <= step / 2) setHeld(null);
  }, [held, value]);
  const shown = held ?? value;
  const share = (clamp(shown, min, max) - min) / Math.max(max - min, 1e-9);
  return h('input', {
    type: 'range',
    min,
    max,
    step,
    value: String(shown),
    class: rest.class,
    disabled: rest.disabled,
    style: { '--share': String(share) },
    'aria-label': label,
    'data-testid': id,
    'data-tip': tip,
    onpointerdown: press,
    oninput: input,
    onchange: release,
  });
}

export function slider(options: SliderOptions): View {
  return part(Slider, { ...options, key: options.id });
}

interface CheckOptions {
  id: string;
  label: string;
  checked: boolean;
  set(on: boolean): Answer;
}

function Checkbox({ id, label, checked, set }: CheckOptions): View {
  const redraw = useRedraw();
  const change = async (event: Event): Promise<void> => {
    await set((event.currentTarget as HTMLInputElement).checked);
    redraw();
  };
  return h('label.check', null, h('input', { type: 'checkbox', checked, 'data-testid': id, onchange: change }), label);
}

export function checkbox(id: string, label: string, checked: boolean, set: (on: boolean) => Answer): View {
  return part(Checkbox, { key: id, id, label, checked, set });
}

export interface Segment<T extends string> {
  value: T;
  label: string;
  tip?: string;
  icon?: Icon;
}

/** Arrow keys go around in a group of buttons of which only one is in the order of Tab. */
export function walkGroup(event: KeyboardEvent, choose?: (button: HTMLElement) => void): void {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  const group = event.currentTarget as HTMLElement;
  const buttons = [...group.querySelectorAll<HTMLElement>('button:not(:disabled)')];
  const at = buttons.indexOf(event.target as HTMLElement);
  const edge = { Home: 0, End: buttons.length - 1 }[event.key];
  if (at < 0 || (step === undefined && edge === undefined)) return;
  event.preventDefault();
  event.stopPropagation();
  const next = buttons[edge ?? (at + step! + buttons.length) % buttons.length];
  next.focus();
  (choose ?? ((button) => button.click()))(next);
}

/** One of a few, side by side. */
export function segments<T extends string>(
  id: string,
  label: string,
  value: T,
  choices: Segment<T>[],
  set: (value: T) => Answer,
): View {
  const known = choices.some((choice) => choice.value === value);
  return h(
    'div.segments',
    {
      key: id,
      role: 'radiogroup',
      'aria-label': label,
      'data-testid': id,
      onkeydown: (event: KeyboardEvent) => walkGroup(event),
    },
    ...choices.map((choice, i) =>
      h(
        'button',
        {
          key: choice.value,
          type: 'button',
          role: 'radio',
          tabIndex: choice.value === value || (!known && i === 0) ? 0 : -1,
          'aria-checked': String(choice.value === value),
          'aria-label': choice.label,
          'data-tip': choice.tip,
          'data-testid': `${id}-${choice.value}`,
          onclick: () => void set(choice.value),
        },
        choice.icon ? iconView(choice.icon) : choice.label,
      ),
    ),
  );
}

interface IconButtonOptions {
  keys?: string;
  pressed?: boolean;
  disabled?: boolean;
  class?: string;
}

export function iconButton(
  id: string,
  name: Icon,
  tip: string,
  run: (event: MouseEvent) => void,
  { keys, pressed, disabled, class: given }: IconButtonOptions = {},
): View {
  return h(
    'button.icon-button',
    {
      key: id,
      type: 'button',
      class: given,
      disabled,
      'data-testid': id,
      'data-tip': tip,
      'data-keys': keys || undefined,
      'aria-label': tip,
      'aria-pressed': pressed === undefined ? undefined : String(pressed),
      onclick: run,
    },
    iconView(name),
  );
}

/** A button with text and a tooltip. */
export function button(
  id: string,
  label: Views,
  run: () => void,
  attrs: { class?: string; tip?: string; keys?: string; disabled?: boolean; pressed?: boolean; icon?: Icon } = {},
): View {
  return h(
    'button',
    {
      key: id,
      type: 'button',
      class: attrs.class,
      disabled: attrs.disabled,
      'data-testid': id,
      'data-tip': attrs.tip,
      'data-keys': attrs.keys || undefined,
      'aria-pressed': attrs.pressed === undefined ? undefined : String(attrs.pressed),
      onclick: run,
    },
    attrs.icon && iconView(attrs.icon),
    label,
  );
}

export const note = (text: Views, id?: string): View => h('p.note', { 'data-testid': id }, text);
