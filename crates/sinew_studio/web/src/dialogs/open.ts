// The open dialog: folders of the server's root.
import { ask, store } from '../app';
import type { Folder } from '../net/protocol';
import { openDialog } from '../ui/dialog';
import { formatBytes, h } from '../ui/dom';
import { icon } from '../ui/icons';
import { chooseFiles } from './drop';

export function openFiles(): void {
  const path = h('div.path', { 'data-testid': 'open-path' });
  const list = h('div.files', { role: 'listbox', 'aria-label': 'Files', 'data-testid': 'open-list' });
  let picked: string | null = null;
  const openPicked = (): boolean => {
    if (picked === null) return false;
    void ask({ type: 'open', path: picked });
    return true;
  };
  const source = (id: string, label: string, folder: boolean): HTMLElement =>
    h(
      'button',
      {
        type: 'button',
        'data-testid': id,
        onclick: () => {
          dialog.close();
          chooseFiles(folder);
        },
      },
      label,
    );
  const dialog = openDialog(
    'open',
    'Open',
    [
      path,
      list,
      h(
        'div.sources',
        null,
        h('p.note.grow', null, 'From elsewhere, or dropped anywhere on the page:'),
        source('open-local', 'Files…', false),
        source('open-local-folder', 'Folder of frames…', true),
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
      ...(found.frames > 1
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
