// The bar at the top: menus, undo and redo, what is open, theme and help.
import { action, firstKeys, perform } from '../actions';
import { run, store } from '../app';
import { askText } from '../ui/dialog';
import { h } from '../ui/dom';
import { iconButton } from '../ui/fields';
import { openMenu, type MenuEntry } from '../ui/menu';

const MENUS: [string, string[]][] = [
  ['File', ['new', 'open', '-', 'save', 'save-as', '-', 'export', '-', 'preferences']],
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
  ['Help', ['shortcuts', 'tour', '-', 'licenses']],
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
  const menus = MENUS.map(([title, ids]) => {
    const button = h(
      'button.menu-button',
      {
        role: 'menuitem',
        'aria-haspopup': 'menu',
        'aria-expanded': 'false',
        'data-testid': `menubar-${title.toLowerCase()}`,
        onclick: () => openMenu(button, entries(ids)),
        // As in every menu bar: once one is open, passing over another opens that.
        onpointerenter: () => {
          if (document.querySelector('.menu')) openMenu(button, entries(ids));
        },
      },
      title,
    );
    return button;
  });
  const undo = iconButton('undo', 'undo', 'Undo', () => perform('undo'), firstKeys(action('undo')));
  const redo = iconButton('redo', 'redo', 'Redo', () => perform('redo'), firstKeys(action('redo')));
  const dirty = h('span.dirty', { 'data-testid': 'dirty', 'data-tip': 'Not saved', hidden: true }, '●');
  const name = h('button.doc-name', {
    'data-testid': 'doc-name',
    'data-tip': 'Rename the character',
    onclick: () =>
      askText(
        'rename-doc',
        'Rename character',
        'Name',
        store.doc?.name ?? '',
        (to) => void run({ rename: { name: to } }),
      ),
  });
  const path = h('span.doc-path', { 'data-testid': 'doc-path' });
  store.on('doc', (doc) => {
    undo.disabled = !action('undo').enabled!();
    redo.disabled = !action('redo').enabled!();
    dirty.hidden = !doc.dirty;
    name.textContent = doc.name;
    path.textContent = doc.path ?? 'not saved yet';
    document.title = `${doc.dirty ? '• ' : ''}${doc.name} – Sinew`;
  });
  return h(
    'header.topbar',
    { 'data-testid': 'topbar' },
    h('span.brand', { 'aria-hidden': 'true' }, 'Sinew'),
    h('nav', { role: 'menubar' }, ...menus),
    h('span.divider'),
    undo,
    redo,
    h('div.doc', null, name, dirty, path),
    iconButton('save-button', 'save', 'Save', () => perform('save'), firstKeys(action('save'))),
    iconButton('export-button', 'export', 'Export…', () => perform('export'), firstKeys(action('export'))),
    h('span.divider'),
    iconButton('theme', 'sun', 'Light or dark', () => perform('theme')),
    iconButton('help', 'help', 'Keyboard shortcuts', () => perform('shortcuts'), '?'),
  );
}
