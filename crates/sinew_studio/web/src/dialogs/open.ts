// The open dialog: folders of the server's root.
import { ask, store } from '../app';
import type { Folder } from '../net/protocol';
import { openDialog } from '../ui/dialog';
import { formatBytes, h } from '../ui/dom';
import { icon } from '../ui/icons';
import { chooseFiles, showActor } from './drop';

/** A mesh, a character or a motion to work on. */
export function openFiles(): void {
  browse('Open', (path) => void ask({ type: 'open', path }), [
    ['open-local', 'Files…', () => chooseFiles()],
    ['open-local-folder', 'Folder of frames…', () => chooseFiles(true)],
  ]);
}

/** A recording of a body to be followed. */
export function openActor(): void {
  browse('Open a recording', (path) => void ask({ type: 'actor', path }).then(showActor), [
    ['open-local', 'Files…', () => chooseFiles(false, 'actor')],
  ]);
}

function browse(title: string, open: (path: string) => void, others: [string, string, () => void][]): void {
  const path = h('div.path', { 'data-testid': 'open-path' });
  const list = h('div.files', { role: 'listbox', 'aria-label': 'Files', 'data-testid': 'open-list' });
  let picked: string | null = null;
  const openPicked = (): boolean => {
    if (picked === null) return false;
    open(picked);
    return true;
  };
  const source = ([id, label, choose]: [string, string, () => void]): HTMLElement =>
    h(
      'button',
      {
        type: 'button',
        'data-testid': id,
        onclick: () => {
          dialog.close();
          choose();
        },
      },
      label,
    );
  const dialog = openDialog(
    'open',
    title,
    [
      path,
      list,
      h(
        'div.sources',
        null,
        h('p.note.grow', null, 'From elsewhere, or dropped anywhere on the page:'),
        ...others.map(source),
      ),
    ],
    [
      { label: 'Cancel' },
      { label: 'Open', primary: true, run: openPicked },
    ],
  );

  const pick = (path: string) => (el: HTMLElement) => {
    picked = path;
    for (const other of list.children) other.setAttribute('aria-selected', String(other === el));
  };
  const openNow = (): void => {
    if (openPicked()) dialog.close();
  };
  const entry = (
    name: string,
    isFolder: boolean,
    detail: string,
    choose: (el: HTMLElement) => void,
    enter: () => void,
    label = name,
  ): HTMLElement => {
    const el = h(
      'button.file',
      {
        type: 'button',
        role: 'option',
        'data-testid': `file-${name}`,
        onclick: () => choose(el),
        ondblclick: enter,
      },
      icon(name === '..' ? 'up' : isFolder ? 'folder' : 'file'),
      h('span.grow', null, label),
      h('span.dim', null, detail),
    );
    return el;
  };

  const show = async (folder?: string): Promise<void> => {
    const found = await ask<Folder>({ type: 'list', folder });
    if (!found) return;
    picked = null;
    path.textContent = found.folder;
    const go = (to: string) => () => void show(to);
    list.replaceChildren(
      ...(found.parent === null ? [] : [entry('..', true, '', go(found.parent), () => {})]),
      // A folder of numbered meshes is something to open itself, as well as a place to look into.
      ...(found.frames > 1 && others.length > 1
        ? [entry('.', true, `${found.frames} frames`, pick(found.folder), openNow, 'This folder as a sequence')]
        : []),
      ...found.entries.map((item) =>
        item.is_folder
          ? entry(item.name, true, '', go(item.path), () => {})
          : entry(item.name, false, formatBytes(item.bytes), pick(item.path), openNow),
      ),
    );
    if (list.children.length === 0) list.append(h('p.note', null, 'Nothing here that can be opened.'));
  };
  path.textContent = store.welcome?.root ?? '';
  void show();
}
