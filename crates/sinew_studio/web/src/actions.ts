// Everything a user can do by name: menus, buttons, keys and the shortcut sheet are made from these.
import { store } from './app';
import type { Prefs } from './prefs';

export interface Action {
  id: string;
  label: string;
  group: string;
  keys?: Partial<Record<Prefs['keys'] | 'all', string[]>>;
  enabled?(): boolean;
  checked?(): boolean;
  run(): void;
}

const all = new Map<string, Action>();

export function define(...actions: Action[]): void {
  for (const action of actions) all.set(action.id, action);
}

export function action(id: string): Action {
  const found = all.get(id);
  if (!found) throw new Error(`no action ${id}`);
  return found;
}

export const actions = (): Action[] => [...all.values()];

/** Keys of an action under the preset in use. */
export function keysOf(item: Action): string[] {
  return [...(item.keys?.[store.prefs.keys] ?? []), ...(item.keys?.all ?? [])];
}

export function perform(id: string): void {
  const item = action(id);
  if (item.enabled?.() ?? true) item.run();
}

const NAMES: Record<string, string> = {
  ArrowLeft: '←',
  ArrowRight: '→',
  ArrowUp: '↑',
  ArrowDown: '↓',
  Numpad1: 'Num 1',
  Numpad3: 'Num 3',
  Numpad5: 'Num 5',
  Numpad7: 'Num 7',
  NumpadAdd: 'Num +',
  NumpadSubtract: 'Num −',
  NumpadDecimal: 'Num .',
  Escape: 'Esc',
  Delete: 'Del',
};

/** `Ctrl+Numpad1` as people read it. */
export function shownKeys(keys: string): string {
  return keys
    .split('+')
    .map((part) => NAMES[part] ?? part)
    .join(' ');
}

export const firstKeys = (item: Action): string => {
  const [first] = keysOf(item);
  return first === undefined ? '' : shownKeys(first);
};
