// The sheet of shortcuts, made from the actions themselves.
import { actions, keysOf, shownKeys } from '../actions';
import { store } from '../app';
import { CAPABILITIES } from '../capabilities';
import { openDialog } from '../ui/dialog';
import { h, type View } from '../ui/view';

const MOUSE: Record<'blender' | 'industry', [string, string][]> = {
  blender: [
    ['Orbit', 'Middle button, or left on empty space'],
    ['Pan', 'Shift middle, or right button'],
    ['Zoom', 'Wheel, Ctrl middle'],
  ],
  industry: [
    ['Orbit', 'Alt left, or left on empty space'],
    ['Pan', 'Alt middle, or right button'],
    ['Zoom', 'Wheel, Alt right'],
  ],
};

const table = (title: string, rows: [string, string[]][]): View =>
  h(
    'section',
    null,
    h('h3', null, title),
    h(
      'dl',
      null,
      ...rows.flatMap(([label, keys]) => [
        h('dt', null, label),
        h('dd', null, ...keys.map((key) => h('kbd', null, key))),
      ]),
    ),
  );

export function openShortcuts(): void {
  const groups = new Map<string, [string, string[]][]>();
  for (const item of actions()) {
    const keys = keysOf(item);
    if (keys.length === 0) continue;
    const rows = groups.get(item.group) ?? [];
    groups.set(item.group, rows);
    rows.push([item.label, keys.slice(0, 2).map(shownKeys)]);
  }
  const wrap = (rows: [string, string][]): [string, string[]][] => rows.map(([label, how]) => [label, [how]]);
  openDialog('shortcuts', 'Keyboard and mouse', () =>
    h(
      'div.sheet',
      null,
      table('Mouse', wrap(MOUSE[store.prefs.keys])),
      ...CAPABILITIES.flatMap(({ mouse }) => (mouse ? [table(mouse[0], wrap(mouse[1]))] : [])),
      table('While moving (G, R)', [
        ['Lock an axis, twice: local', ['X', 'Y', 'Z']],
        ['Type an amount', ['0–9', '-']],
        ['Confirm', ['Enter', 'Click']],
        ['Cancel', ['Esc', 'Right click']],
        ['Snap to 5°', ['Ctrl']],
      ]),
      ...[...groups].map(([title, rows]) => table(title, rows)),
    ),
  );
}
