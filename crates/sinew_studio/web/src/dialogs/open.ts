// The open dialog: folders below the server's root.
import { useLayoutEffect, useState } from 'preact/hooks';
import { ask, store } from '../app';
import type { Folder } from '../net/protocol';
import { openDialog } from '../ui/dialog';
import { button, note } from '../ui/fields';
import { formatBytes } from '../ui/format';
import { iconView } from '../ui/icons';
import { h, part, type View } from '../ui/view';
import { chooseFiles } from './drop';

/** Other places to open from: id, label, what it does. */
type Source = [string, string, () => void];

/** A mesh, a character or a motion to work on. */
export function openFiles(): void {
  browse('Open', (path) => void ask({ type: 'open', path }), [
    ['open-local', 'Files…', () => chooseFiles()],
    ['open-local-folder', 'Folder of frames…', () => chooseFiles(true)],
  ]);
}

export function browse(title: string, open: (path: string) => void, sources: Source[]): void {
  let picked: string | null = null;
  const openPicked = (): boolean => {
    if (picked === null) return false;
    open(picked);
    return true;
  };
  const pick = (path: string | null): void => {
    picked = path;
  };
  const enter = (): void => {
    if (openPicked()) dialog.close();
  };
  const source = ([id, label, choose]: Source): View =>
    button(id, label, () => {
      dialog.close();
      choose();
    });
  const dialog = openDialog(
    'open',
    title,
    () => [
      part(Files, { key: 'files', pick, enter, hasSequences: sources.length > 1 }),
      h(
        'div.sources',
        { key: 'sources' },
        h('p.note.grow', null, 'From elsewhere, or dropped anywhere on the page:'),
        ...sources.map(source),
      ),
    ],
    [{ label: 'Cancel' }, { label: 'Open', primary: true, run: openPicked }],
  );
}

interface FilesProps {
  pick(path: string | null): void;
  enter(): void;
  hasSequences: boolean;
}

interface Entry {
  name: string;
  label?: string;
  isFolder: boolean;
  detail: string;
  /** What is opened; absent if a click leads to another folder. */
  path?: string;
  folder?: string;
}

function Files({ pick, enter, hasSequences }: FilesProps): View[] {
  const [found, setFound] = useState<Folder | null>(null);
  const [chosen, setChosen] = useState<string | null>(null);
  const show = async (folder?: string): Promise<void> => {
    const answer = await ask<Folder>({ type: 'list', folder });
    if (!answer) return;
    choose(null);
    setFound(answer);
  };
  const choose = (path: string | null): void => {
    pick(path);
    setChosen(path);
  };
  useLayoutEffect(() => void show(), []);
  const entries = found ? entriesOf(found, hasSequences) : [];
  return [
    h('div.path', { key: 'path', 'data-testid': 'open-path' }, found?.folder ?? store.welcome?.root ?? ''),
    h(
      'div.files',
      { key: 'list', role: 'listbox', 'aria-label': 'Files', 'data-testid': 'open-list' },
      ...entries.map((entry) =>
        h(
          'button.file',
          {
            key: `${found?.folder}\n${entry.name}`,
            type: 'button',
            role: 'option',
            'aria-selected': String(entry.path !== undefined && entry.path === chosen),
            'data-testid': `file-${entry.name}`,
            onclick: () => (entry.path === undefined ? void show(entry.folder) : choose(entry.path)),
            ondblclick: () => entry.path !== undefined && enter(),
          },
          iconView(entry.name === '..' ? 'up' : entry.isFolder ? 'folder' : 'file'),
          h('span.grow', null, entry.label ?? entry.name),
          h('span.dim', null, entry.detail),
        ),
      ),
      found !== null && entries.length === 0 && note('Nothing here that can be opened.'),
    ),
  ];
}

function entriesOf({ folder, parent, frames, entries }: Folder, hasSequences: boolean): Entry[] {
  return [
    ...(parent === null ? [] : [{ name: '..', isFolder: true, detail: '', folder: parent }]),
    // A folder of numbered meshes can itself be opened, as well as looked into.
    ...(frames > 1 && hasSequences
      ? [{ name: '.', label: 'This folder as a sequence', isFolder: true, detail: `${frames} frames`, path: folder }]
      : []),
    ...entries.map((item) =>
      item.is_folder
        ? { name: item.name, isFolder: true, detail: '', folder: item.path }
        : { name: item.name, isFolder: false, detail: formatBytes(item.bytes), path: item.path },
    ),
  ];
}
