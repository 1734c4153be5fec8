// The list of handles.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { action, firstKeys, perform } from '../../actions';
import { store } from '../../app';
import type { HandleInfo } from '../../net/protocol';
import { iconButton } from '../../ui/fields';
import { formatCount } from '../../ui/format';
import { type Icon, iconView } from '../../ui/icons';
import { h, part, useTopics, type View } from '../../ui/view';
import { renameHandle } from './commands';

const tool = (id: string, icon: Icon, disabled = false): View =>
  iconButton(`outliner-${id}`, icon, action(id).label, () => perform(id), { keys: firstKeys(action(id)), disabled });

export function Outliner(): View {
  useTopics(store, 'doc', 'selection', 'prefs');
  const [filter, setFilter] = useState('');
  const [renamed, setRenamed] = useState<string | null>(null);
  const list = useRef<HTMLElement>(null);
  const { main } = store;
  useLayoutEffect(() => list.current?.querySelector('.main')?.scrollIntoView({ block: 'nearest' }), [main]);
  const handles = store.doc?.handles ?? [];
  const seen = handles.filter((handle) => handle.name.toLowerCase().includes(filter.toLowerCase()));
  return h(
    'section.panel.outliner',
    { 'aria-label': 'Outliner', 'data-testid': 'outliner' },
    h(
      'header',
      null,
      h('h2', null, 'Handles'),
      h('span.dim', null, handles.length > 0 ? String(handles.length) : ''),
      h('span.grow'),
      tool('handle-new', 'plus'),
      tool('handle-auto', 'auto'),
      tool('handle-store', 'link', main === null),
      tool('handle-mirror', 'mirror', main === null),
      tool('handle-delete', 'trash', main === null),
    ),
    h('input.filter', {
      type: 'search',
      placeholder: 'Filter handles',
      'aria-label': 'Filter handles',
      'data-testid': 'handle-filter',
      value: filter,
      oninput: ({ currentTarget }: Event) => setFilter((currentTarget as HTMLInputElement).value),
    }),
    h(
      'div.rows',
      {
        ref: list,
        role: 'listbox',
        'aria-label': 'Handles',
        'aria-multiselectable': 'true',
        'data-testid': 'handles',
        onkeydown: walkRows,
      },
      ...seen.map((handle, i) =>
        part(Row, {
          key: handle.name,
          handle,
          isFirst: i === 0,
          isRenamed: handle.name === renamed,
          rename: (on: boolean) => setRenamed(on ? handle.name : null),
        }),
      ),
      handles.length === 0 && empty(),
    ),
  );
}

/** Arrow keys go through the list. */
function walkRows(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const rows = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('.row-item')];
  const at = rows.indexOf(event.target as HTMLElement);
  if (step === undefined || at < 0) return;
  event.preventDefault();
  event.stopPropagation();
  rows[at + step]?.focus();
}

function empty(): View {
  return h(
    'div.empty',
    null,
    h('p', null, 'No handles yet. Paint one, or find them automatically.'),
    h(
      'button',
      { type: 'button', 'data-testid': 'empty-auto', onclick: () => perform('handle-auto') },
      iconView('auto'),
      'Automatic handles…',
    ),
  );
}

interface RowProps {
  handle: HandleInfo;
  isFirst: boolean;
  isRenamed: boolean;
  rename(on: boolean): void;
}

function Row({ handle, isFirst, isRenamed, rename }: RowProps): View {
  const { name } = handle;
  const isMain = store.main === name;
  const isSecondary = store.secondary.has(name);
  const hidden = store.hidden.has(name);
  const toggle = (id: string, icon: Icon, tip: string, on: boolean, change: () => void): View =>
    iconButton(
      `${id}-${name}`,
      icon,
      tip,
      (event) => {
        event.stopPropagation();
        change();
        store.emit('selection', null);
      },
      { class: on ? 'on' : '' },
    );
  return h(
    'div.row-item',
    {
      class: `${isMain ? 'main' : isSecondary ? 'secondary' : ''} ${hidden ? 'muted' : ''}`,
      role: 'option',
      tabIndex: isMain || (store.main === null && isFirst) ? 0 : -1,
      'aria-selected': String(isMain || isSecondary),
      'data-testid': `handle-${name}`,
      onclick: (event: MouseEvent) => {
        if (event.shiftKey) store.toggleSecondary(name);
        else if (event.detail < 2) store.selectMain(name, event.altKey);
      },
      ondblclick: () => rename(true),
      onkeydown: (event: KeyboardEvent) => {
        if (event.target === event.currentTarget && event.key === 'Enter') store.selectMain(name);
      },
    },
    h('span.swatch', { style: { backgroundColor: handle.color } }),
    isRenamed ? part(Rename, { name, close: () => rename(false) }) : nameOf(handle),
    h('span.mark', null, isMain ? 'main' : isSecondary ? 'secondary' : ''),
    h('span.count', null, formatCount(handle.vertices)),
    toggle('solo', 'solo', 'Show this handle only', store.solo === name, () => {
      store.solo = store.solo === name ? null : name;
    }),
    toggle('hide', hidden ? 'eyeOff' : 'eye', hidden ? 'Show highlight' : 'Hide highlight', hidden, () => {
      if (!store.hidden.delete(name)) store.hidden.add(name);
    }),
  );
}

const nameOf = ({ name, secondary }: HandleInfo): View =>
  h('span.name', { 'data-tip': secondary.length > 0 ? `Secondary handles: ${secondary.length}` : undefined }, name);

function Rename({ name, close }: { name: string; close(): void }): View {
  const input = useRef<HTMLInputElement>(null);
  const open = useRef(true);
  useLayoutEffect(() => input.current?.select(), []);
  const end = (to: string | null): void => {
    if (!open.current) return;
    open.current = false;
    close();
    if (to !== null) void renameHandle(name, to);
  };
  return h('input.rename', {
    ref: input,
    type: 'text',
    defaultValue: name,
    'aria-label': 'Name',
    'data-testid': 'rename-input',
    onclick: (event: Event) => event.stopPropagation(),
    onblur: () => end(input.current!.value.trim()),
    onkeydown: (event: KeyboardEvent) => {
      event.stopPropagation();
      if (event.key === 'Enter') end(input.current!.value.trim());
      if (event.key === 'Escape') end(null);
    },
  });
}
