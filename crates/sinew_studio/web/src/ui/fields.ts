// Labelled controls of the panels.
import { store } from '../app';
import { h } from './dom';
import { icon, type IconName } from './icons';

type Axis = 0 | 1 | 2;

export const AXES: [Axis, string][] = [
  [0, 'X'],
  [1, 'Y'],
  [2, 'Z'],
];

export function row(label: string, ...controls: Node[]): HTMLElement {
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
  set(value: number): void;
}

/** A number that is sent when it is done: Enter, or leaving the field. */
export function numberField(options: NumberOptions): HTMLInputElement {
  const shown = (value: number): string => String(Number(value.toFixed(options.digits ?? 3)));
  const input = h('input', {
    type: 'number',
    value: shown(options.value),
    step: options.step ?? 'any',
    min: options.min,
    max: options.max,
    'aria-label': options.label,
    'data-testid': options.id,
  });
  input.addEventListener('change', () => {
    const value = input.valueAsNumber;
    const low = options.min ?? -Infinity;
    const high = options.max ?? Infinity;
    if (Number.isFinite(value)) options.set(Math.min(high, Math.max(low, value)));
    else input.value = shown(options.value);
  });
  return input;
}

/** A length in metres, shown in the preferred unit. */
export function lengthField(options: NumberOptions): HTMLInputElement {
  const scale = store.prefs.units === 'cm' ? 100 : 1;
  return numberField({
    ...options,
    value: options.value * scale,
    digits: scale === 1 ? 4 : 2,
    set: (value) => options.set(value / scale),
  });
}

export interface Choice {
  value: string;
  label: string;
}

export function selectField(
  id: string,
  label: string,
  value: string,
  choices: Choice[],
  set: (value: string) => void,
): HTMLSelectElement {
  const select = h(
    'select',
    { 'aria-label': label, 'data-testid': id },
    ...choices.map((choice) => h('option', { value: choice.value, selected: choice.value === value }, choice.label)),
  );
  select.addEventListener('change', () => set(select.value));
  return select;
}

export interface SliderOptions {
  id: string;
  label: string;
  value: number;
  min: number;
  max: number;
  step: number;
  tip?: string;
  set(value: number): void;
}

export function slider(options: SliderOptions): HTMLInputElement {
  const input = h('input', {
    type: 'range',
    min: options.min,
    max: options.max,
    step: options.step,
    value: options.value,
    'aria-label': options.label,
    'data-testid': options.id,
    'data-tip': options.tip,
  });
  const fill = (): void =>
    input.style.setProperty('--share', String((input.valueAsNumber - options.min) / (options.max - options.min)));
  fill();
  input.addEventListener('input', () => {
    fill();
    options.set(input.valueAsNumber);
  });
  return input;
}

export function checkbox(id: string, label: string, checked: boolean, set: (on: boolean) => void): HTMLLabelElement {
  const input = h('input', { type: 'checkbox', checked, 'data-testid': id });
  input.addEventListener('change', () => set(input.checked));
  return h('label.check', null, input, label);
}

export interface Segment<T extends string> {
  value: T;
  label: string;
  tip?: string;
  icon?: IconName;
}

/** One of a few, side by side. */
export function segments<T extends string>(
  id: string,
  label: string,
  value: T,
  choices: Segment<T>[],
  set: (value: T) => void,
): HTMLElement {
  return h(
    'div.segments',
    { role: 'radiogroup', 'aria-label': label, 'data-testid': id },
    ...choices.map((choice) =>
      h(
        'button',
        {
          type: 'button',
          role: 'radio',
          'aria-checked': String(choice.value === value),
          'aria-label': choice.label,
          'data-tip': choice.tip ?? null,
          'data-testid': `${id}-${choice.value}`,
          onclick: () => set(choice.value),
        },
        choice.icon ? icon(choice.icon) : choice.label,
      ),
    ),
  );
}

export function iconButton(
  id: string,
  name: IconName,
  tip: string,
  run: (event: MouseEvent) => void,
  keys = '',
): HTMLButtonElement {
  return h(
    'button.icon-button',
    { type: 'button', 'data-testid': id, 'data-tip': tip, 'data-keys': keys || null, 'aria-label': tip, onclick: run },
    icon(name),
  );
}
