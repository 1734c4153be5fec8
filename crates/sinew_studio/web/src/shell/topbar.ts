// The bar at the top: menus, undo and redo, what is open, theme and help.
import { action, firstKeys, perform } from '../actions';
import { run, store } from '../app';
import { askText } from '../ui/dialog';
import { el } from '../ui/dom';
import { iconButton, walkGroup } from '../ui/fields';
import { type MenuEntry, openMenu } from '../ui/menu';
import { h, mounted, part, useTopics, type View } from '../ui/view';
import { WorkspaceTabs } from './workspaces';

const MENUS: [string, string[]][] = [
  ['File', ['new', 'open', '-', 'save', 'save-as', 'unsaved', '-', 'export', '-', 'preferences']],
  ['Edit', ['undo', 'redo', '-', 'select-all', 'select-none']],
  [
    'View',
    [
      'frame-selected',
      'frame-all',
      '-',
      'view-front',
      'view-back',
      'view-right',
      'view-left',
      'view-top',
      'view-bottom',
      'orthographic',
      '-',
      'look-shaded',
      'look-matcap',
      'look-handles',
      'look-textured',
      'look-stress',
      '-',
      'wireframe',
      'xray',
      'ghost',
      'grid',
      'centres',
    ],
  ],
  [
    'Handles',
    [
      'handle-new',
      'handle-auto',
      '-',
      'handle-rename',
      'handle-mirror',
      'handle-grow',
      'handle-shrink',
      'handle-store',
      'handle-centre',
      '-',
      'handle-hide',
      'handle-show-all',
      '-',
      'handle-delete',
      'handle-clear',
    ],
  ],
  [
    'Pose',
    [
      'move',
      'turn',
      '-',
      'pose-save',
      'pose-reset',
      '-',
      'tool-reach',
      'tool-path',
      'tool-sculpt',
      '-',
      'refine',
      '-',
      'show-rest',
      'show-posed',
      '-',
      'play',
      'frame-next',
      'frame-previous',
      'clip-start',
    ],
  ],
  ['Help', ['shortcuts', 'tour', '-', 'other-browser', '-', 'licenses']],
];

function entries(ids: string[]): MenuEntry[] {
  return ids.map((id) => {
    if (id === '-') return 'line';
    const item = action(id);
    return {
      id,
      label: item.label,
      keys: firstKeys(item),
      checked: item.checked?.(),
      disabled: !(item.enabled?.() ?? true),
      run: item.run,
    };
  });
}

export function buildTopbar(): HTMLElement {
  store.on('doc', (doc) => {
    document.title = `${doc.dirty ? '• ' : ''}${doc.name} – Sinew`;
  });
  return mounted(el('header.topbar', { 'data-testid': 'topbar' }), Topbar);
}

function Topbar(): View[] {
  useTopics(store, 'doc', 'prefs');
  const button = (id: string, icon: 'undo' | 'redo' | 'save' | 'export', command: string, label: string): View => {
    const item = action(command);
    return iconButton(id, icon, label, () => perform(command), {
      keys: firstKeys(item),
      disabled: !(item.enabled?.() ?? true),
    });
  };
  return [
    h('span.brand', { key: 'brand', 'aria-hidden': 'true' }, 'Sinew'),
    h(
      'nav',
      { key: 'menus', role: 'menubar', onkeydown: (event: KeyboardEvent) => walkGroup(event, () => {}) },
      ...MENUS.map(([title, ids], i) => menuButton(title, ids, i === 0)),
    ),
    part(WorkspaceTabs, { key: 'workspaces' }),
    h('span.divider', { key: 'divider' }),
    button('undo', 'undo', 'undo', 'Undo'),
    button('redo', 'redo', 'redo', 'Redo'),
    documentName(),
    button('save-button', 'save', 'save', 'Save'),
    button('export-button', 'export', 'export', 'Export…'),
    h('span.divider', { key: 'divider 2' }),
    iconButton('theme', 'sun', 'Switch theme', () => perform('theme')),
    iconButton('help', 'help', 'Keyboard shortcuts', () => perform('shortcuts'), { keys: '?' }),
  ];
}

function menuButton(title: string, ids: string[], isFirst: boolean): View {
  const open = (event: Event): void => openMenu(event.currentTarget as HTMLElement, entries(ids));
  return h(
    'button.menu-button',
    {
      key: title,
      type: 'button',
      role: 'menuitem',
      tabIndex: isFirst ? 0 : -1,
      'aria-haspopup': 'menu',
      'data-testid': `menubar-${title.toLowerCase()}`,
      onclick: open,
      onkeydown: (event: KeyboardEvent) => {
        if (event.key !== 'ArrowDown') return;
        open(event);
        // Else the bar would go on to its next menu.
        event.preventDefault();
        event.stopPropagation();
      },
      // As in every menu bar: once one is open, passing over another opens that.
      onpointerenter: (event: Event) => {
        if (document.querySelector('.menu')) open(event);
      },
    },
    title,
  );
}

function documentName(): View {
  const { doc } = store;
  const rename = (): void =>
    askText('rename-doc', 'Rename character', 'Name', doc?.name ?? '', (to) => void run({ rename: { name: to } }));
  return h(
    'div.doc',
    { key: 'doc' },
    h(
      'button.doc-name',
      { type: 'button', 'data-testid': 'doc-name', 'data-tip': 'Rename the character', onclick: rename },
      doc?.name ?? '',
    ),
    h('span.dirty', { 'data-testid': 'dirty', 'data-tip': 'Not saved', hidden: !doc?.dirty }, '●'),
    doc?.unprotected != null &&
      h(
        'button.unprotected',
        {
          key: 'unprotected',
          type: 'button',
          'data-testid': 'unprotected',
          'data-tip': doc.unprotected,
          onclick: () => perform('save'),
        },
        'Unsaved work is at risk',
      ),
    h('span.doc-path', { 'data-testid': 'doc-path' }, doc?.path ?? 'not saved yet'),
  );
}
