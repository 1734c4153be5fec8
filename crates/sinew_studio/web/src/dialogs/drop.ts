// Files dropped anywhere: checked, sent with progress, opened.
import { ask, store } from '../app';
import { showActor } from '../capabilities/puppet/open';
import { unlessDirty } from '../commands/file';
import { collect, type Dropped, mainFile, mainName, post, tooLarge, type Upload } from '../net/upload';
import { el } from '../ui/dom';
import { toast } from '../ui/toast';

/** Jobs of the page itself have numbers the server never gives. */
let nextJob = -1;

export function listenToDrops(): void {
  const veil = el(
    'div.drop-veil',
    { hidden: true, 'data-testid': 'drop-veil' },
    el('p', null, 'Drop a mesh, a character or a motion to open it'),
  );
  document.body.append(veil);
  const isFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') ?? false;
  window.addEventListener('dragover', (event) => {
    if (!isFiles(event)) return;
    event.preventDefault();
    veil.hidden = false;
  });
  window.addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) veil.hidden = true;
  });
  window.addEventListener('drop', (event) => {
    veil.hidden = true;
    if (!isFiles(event) || !event.dataTransfer) return;
    event.preventDefault();
    const onActor = event.target instanceof Element && event.target.closest('.actor-view, .puppet') !== null;
    void collect(event.dataTransfer).then((files) => {
      // What is only a motion, or is dropped where the actor is, moves the character instead of replacing it.
      if (onActor || files.every(({ name }) => MOTION.test(name))) void sendFiles(files, 'actor');
      else unlessDirty(() => void sendFiles(files));
    });
  });
}

/** Files that hold a body and no surface. */
const MOTION = /\.(bvh|txt|json)$/i;

/** Files of this computer, or all of a folder, by the browser's own dialog. */
export function chooseFiles(folder = false, as: 'document' | 'actor' = 'document'): void {
  const input = el('input', { type: 'file', multiple: true, 'data-testid': 'file-input' });
  input.webkitdirectory = folder;
  input.addEventListener(
    'change',
    () =>
      void sendFiles(
        [...(input.files ?? [])].map((file) => ({ name: file.webkitRelativePath || file.name, file })),
        as,
      ),
  );
  input.click();
}

export async function sendFiles(files: Dropped[], as: 'document' | 'actor' = 'document'): Promise<void> {
  const main = mainFile(files);
  if (!main) return;
  const limit = store.welcome?.max_upload ?? Infinity;
  const large = files.find((item) => item.file.size > limit);
  if (large) {
    toast('error', tooLarge(large.name, limit));
    return;
  }
  const drop = String(1 + Math.floor(Math.random() * 2 ** 30));
  const job = nextJob--;
  const total = files.reduce((sum, item) => sum + item.file.size, 0) || 1;
  let before = 0;
  let current: Upload | null = null;
  let stopped = false;
  const kind = as === 'actor' ? 'actor' : 'open';
  const stop = (): void => {
    stopped = true;
    current?.abort();
  };
  const report = (sent: number): void =>
    store.setJob({ job, kind, title: `Uploading ${main.name}`, share: (before + sent) / total, done: false, stop });
  try {
    for (const item of files) {
      if (stopped) return;
      report(0);
      current = post(drop, item, report);
      await current.done;
      before += item.file.size;
    }
    const name = mainName(files, main);
    if (as === 'actor') await showActor(await ask({ type: 'actor_upload', drop, name }));
    else await ask({ type: 'open_upload', drop, name });
  } catch (error) {
    if (!stopped) toast('error', (error as Error).message);
  } finally {
    store.setJob({ job, kind, title: '', share: 1, done: true });
  }
}
