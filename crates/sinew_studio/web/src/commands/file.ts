// File commands: new, open, save, export.
import type { Action } from '../actions';
import { ask, socket, store } from '../app';
import { openExport } from '../capabilities/export/form';
import { openFiles } from '../dialogs/open';
import { openSample } from '../dialogs/sample';
import { address } from '../net/address';
import type { Recovery } from '../net/protocol';
import { Refused } from '../net/socket';
import { askText, confirmLoss, openDialog } from '../ui/dialog';
import { button, note } from '../ui/fields';
import { formatBytes } from '../ui/format';
import { type Toast, toast } from '../ui/toast';
import { h, type View } from '../ui/view';

export function fileCommands(): Action[] {
  return [
    { id: 'new', label: 'New from sample…', group: 'File', run: () => unlessDirty(openSample) },
    { id: 'open', label: 'Open…', group: 'File', keys: { all: ['Ctrl+O'] }, run: () => unlessDirty(openFiles) },
    { id: 'save', label: 'Save', group: 'File', keys: { all: ['Ctrl+S'] }, run: () => void save() },
    { id: 'save-as', label: 'Save as…', group: 'File', keys: { all: ['Ctrl+Shift+S'] }, run: () => saveAs() },
    {
      id: 'export',
      label: 'Export…',
      group: 'File',
      keys: { all: ['Ctrl+E'] },
      enabled: () => store.doc !== null,
      run: () => openExport(),
    },
    {
      id: 'unsaved',
      label: 'Unsaved work…',
      group: 'File',
      enabled: () => (store.doc?.recoveries.length ?? 0) > 0,
      run: openUnsaved,
    },
  ];
}

/** What replaces the document asks first if there is unsaved work. */
export function unlessDirty(run: () => void): void {
  if (!store.doc?.dirty) return run();
  const text = `${store.doc.name} has changes that are not saved. “Unsaved work” in the File menu keeps them until you discard them.`;
  openDialog('confirm', 'Unsaved changes', () => h('p', null, text), [
    { label: 'Cancel' },
    { label: 'Continue without saving', run },
    { label: 'Save', primary: true, run: () => void save(undefined, false, run) },
  ]);
}

/** Save, then go on. Where it was never saved, the user is asked for a place, and may stop there. */
async function save(path?: string, overwrite = false, then?: () => void): Promise<void> {
  try {
    const saved = await socket.ask<{ path: string; bytes: number }>({ type: 'save', path, overwrite });
    toast('info', `Saved ${saved.path} (${formatBytes(saved.bytes)})`);
    then?.();
  } catch (error) {
    if (error instanceof Refused && error.needsPath) saveAs(then);
    else if (error instanceof Refused && error.exists)
      confirmLoss(
        'Replace the file?',
        `${path} already exists. Its contents will be lost.`,
        'Replace',
        () => void save(path, true, then),
      );
    else toast('error', (error as Error).message);
  }
}

function saveAs(then?: () => void): void {
  const name = (store.doc?.name ?? 'character').replace(/\.(sinew\.)?glb$/, '');
  const root = store.welcome?.root ?? '';
  const path = store.doc?.path ?? `${root}${root.endsWith('/') || root === '' ? '' : '/'}${name}.sinew.glb`;
  askText('save-as', 'Save as', 'File', path, (text) => {
    void save(text.endsWith('.sinew.glb') ? text : `${text.replace(/\.glb$/, '')}.sinew.glb`, false, then);
  });
}

/** Unsaved work, the newest first. */
const unsaved = (): Recovery[] => [...(store.doc?.recoveries ?? [])].sort((a, b) => a.age_secs - b.age_secs);

/** All unsaved work, to be restored or discarded one by one. */
function openUnsaved(): void {
  const item = ({ recovery, title, age_secs, bytes, closed }: Recovery): View =>
    h(
      'div.row.unsaved-item',
      { key: recovery, 'data-testid': 'unsaved-item' },
      h('img.unsaved-picture', { src: address(`/recovery/${recovery}`), alt: '', loading: 'lazy', decoding: 'async' }),
      h('strong.grow', null, title),
      h('span.dim', null, `${closed ? 'closed' : 'lost'} ${age(age_secs)} ago, ${formatBytes(bytes)}`),
      button('unsaved-restore', 'Restore', () => {
        dialog.close();
        unlessDirty(() => void ask({ type: 'recover', recovery }));
      }),
      button('unsaved-discard', 'Discard', () => {
        dialog.close();
        void ask({ type: 'discard', recovery });
      }),
    );
  const text = 'Unsaved work is stored here until you discard it; beyond 4 GB the oldest is removed.';
  const dialog = openDialog('unsaved', 'Unsaved work', () => [note(text), ...unsaved().map(item)]);
}

/** Offer work that was lost, the newest first and one at a time; withdraw it when another tab has answered. */
export function recover(): void {
  const found = unsaved().filter(({ closed }) => !closed);
  if (offer && !found.some((item) => item.recovery === offer?.recovery)) offer.toast.close();
  if (offer?.toast.isOpen) return;
  const next = found.find((item) => !offered.has(item.recovery));
  if (!next) return;
  const { recovery, title, age_secs } = next;
  offered.add(recovery);
  const text = `Unsaved work of ${title} was found, ${age(age_secs)} old.`;
  offer = {
    recovery,
    toast: toast('warning', text, [
      { label: 'Restore', run: () => void ask({ type: 'recover', recovery }) },
      { label: 'Discard', run: () => void ask({ type: 'discard', recovery }) },
    ]),
  };
}

const offered = new Set<string>();
let offer: { recovery: string; toast: Toast } | null = null;

function age(secs: number): string {
  if (secs < 90) return `${Math.round(secs)} s`;
  if (secs < 5400) return `${Math.round(secs / 60)} min`;
  return secs < 129600 ? `${Math.round(secs / 3600)} h` : `${Math.round(secs / 86400)} days`;
}
