// The outliner: the character and its handles.
import { action, firstKeys, perform } from '../actions';
import { store } from '../app';
import { renameHandle } from '../commands/handles';
import type { HandleInfo } from '../net/protocol';
import { formatCount, h, whenChanged } from '../ui/dom';
import { iconButton } from '../ui/fields';
import { icon } from '../ui/icons';

export function buildOutliner(): HTMLElement {
  const list = h('div.rows', {
    role: 'listbox',
    'aria-label': 'Handles',
    'aria-multiselectable': 'true',
    'data-testid': 'handles',
  });
  const count = h('span.dim');
  const filter = h('input.filter', {
    type: 'search',
    placeholder: 'Filter handles',
    'aria-label': 'Filter handles',
    'data-testid': 'handle-filter',
  });
  const tool = (id: string, name: Parameters<typeof icon>[0]): HTMLButtonElement =>
    iconButton(`outliner-${id}`, name, action(id).label, () => perform(id), firstKeys(action(id)));
  const buttons = ['handle-store', 'handle-mirror', 'handle-delete'].map((id, i) =>
    tool(id, (['link', 'mirror', 'trash'] as const)[i]),
  );

  let editing = false;
  const build = whenChanged(() => {
    for (const button of buttons) button.disabled = store.main === null;
    const handles = store.doc?.handles ?? [];
    count.textContent = handles.length > 0 ? String(handles.length) : '';
    const wanted = filter.value.toLowerCase();
    const seen = handles.filter((handle) => handle.name.toLowerCase().includes(wanted));
    const top = list.scrollTop;
    list.replaceChildren(
      ...seen.map((handle) =>
        buildRow(handle, (on) => {
          editing = on;
          show();
        }),
      ),
    );
    if (handles.length === 0) {
      list.append(
        h(
          'div.empty',
          null,
          h('p', null, 'No handles yet. Paint one, or let them be found.'),
          h(
            'button',
            { 'data-testid': 'empty-auto', onclick: () => perform('handle-auto') },
            icon('auto'),
            'Automatic handles…',
          ),
        ),
      );
    }
    list.scrollTop = top;
  });
  // A row being renamed stays as it is; afterwards all are built, since its field is no longer wanted.
  let renames = 0;
  const show = (): void => {
    if (editing) renames++;
    else build([store.doc?.handles, store.selected(), [...store.hidden], store.solo, filter.value, renames]);
  };
  filter.addEventListener('input', show);
  store.on('doc', show);
  store.on('selection', () => {
    show();
    list.querySelector('.main')?.scrollIntoView({ block: 'nearest' });
  });
  return h(
    'section.panel.outliner',
    { 'aria-label': 'Outliner', 'data-testid': 'outliner' },
    h(
      'header',
      null,
      h('h2', null, 'Handles'),
      count,
      h('span.grow'),
      tool('handle-new', 'plus'),
      tool('handle-auto', 'auto'),
      ...buttons,
    ),
    filter,
    list,
  );
}

function buildRow(handle: HandleInfo, editing: (on: boolean) => void): HTMLElement {
  const { name } = handle;
  const isMain = store.main === name;
  const isSecondary = store.secondary.has(name);
  const hidden = store.hidden.has(name);
  const swatch = h('span.swatch');
  swatch.style.backgroundColor = handle.color;
  const label = h(
    'span.name',
    { 'data-tip': handle.secondary.length > 0 ? `Takes ${handle.secondary.length} along` : null },
    name,
  );
  const mark = isMain ? 'main' : isSecondary ? 'also' : '';
  const button = (
    id: string,
    icon: Parameters<typeof iconButton>[1],
    tip: string,
    on: boolean,
    run: () => void,
  ): HTMLButtonElement => {
    const made = iconButton(`${id}-${name}`, icon, tip, (event) => {
      event.stopPropagation();
      run();
    });
    made.classList.toggle('on', on);
    return made;
  };
  const change = (run: () => void) => () => {
    run();
    store.emit('selection', null);
  };
  const row = h(
    'div',
    {
      class: `row-item ${isMain ? 'main' : isSecondary ? 'secondary' : ''} ${hidden ? 'muted' : ''}`,
      role: 'option',
      tabindex: 0,
      'aria-selected': String(isMain || isSecondary),
      'data-testid': `handle-${name}`,
      onclick: (event: MouseEvent) => {
        if (event.shiftKey) store.toggleSecondary(name);
        else if (event.detail < 2) store.selectMain(name, event.altKey);
      },
      ondblclick: () => startRename(row, label, name, editing),
      onkeydown: (event: KeyboardEvent) => {
        if (event.target === row && event.key === 'Enter') store.selectMain(name);
      },
    },
    swatch,
    label,
    h('span.mark', null, mark),
    h('span.count', null, formatCount(handle.vertices)),
    button(
      'solo',
      'solo',
      'Show this one alone',
      store.solo === name,
      change(() => {
        store.solo = store.solo === name ? null : name;
      }),
    ),
    button(
      'hide',
      hidden ? 'eyeOff' : 'eye',
      hidden ? 'Show highlight' : 'Hide highlight',
      hidden,
      change(() => {
        if (!store.hidden.delete(name)) store.hidden.add(name);
      }),
    ),
  );
  return row;
}

function startRename(row: HTMLElement, label: HTMLElement, name: string, editing: (on: boolean) => void): void {
  const input = h('input.rename', { type: 'text', value: name, 'aria-label': 'Name', 'data-testid': 'rename-input' });
  let open = true;
  const close = (keep: boolean): void => {
    if (!open) return;
    open = false;
    editing(false);
    if (keep) void renameHandle(name, input.value.trim());
  };
  input.addEventListener('keydown', (event) => {
    event.stopPropagation();
    if (event.key === 'Enter') close(true);
    if (event.key === 'Escape') close(false);
  });
  input.addEventListener('blur', () => close(true));
  editing(true);
  // Selecting by the first click has built the row anew; edit the one that is there now.
  const target = row.isConnected
    ? label
    : document.querySelector(`[data-testid="${CSS.escape(`handle-${name}`)}"] .name`);
  target?.replaceWith(input);
  input.select();
}
