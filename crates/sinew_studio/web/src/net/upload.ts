// Files dropped onto the page: collected (folders too), sent, then opened.
import { address } from './address';

export interface Dropped {
  /** Path within the drop, with `/`. */
  name: string;
  file: File;
}

const READABLE = [
  'sinew.glb',
  'glb',
  'gltf',
  'vrm',
  'fbx',
  'usdz',
  'usdc',
  'usda',
  'usd',
  'abc',
  'pc2',
  'mdd',
  'obj',
  'ply',
  'stl',
  'off',
  'bvh',
];

/** The file of a drop that is opened; the others lie beside it (textures, buffers). */
export function mainFile(files: Dropped[]): Dropped | undefined {
  const rank = (f: Dropped): number => {
    const at = READABLE.findIndex((end) => f.name.toLowerCase().endsWith(`.${end}`));
    return at < 0 ? READABLE.length : at;
  };
  // Without a known ending the server still reports what is wrong with it.
  return [...files].sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name))[0];
}

const FRAMES = ['obj', 'ply', 'stl', 'off'];

/** What is opened: a folder of several meshes is a sequence, and is opened by its own name. */
export function mainName(files: Dropped[], main: Dropped): string {
  const ending = main.name.toLowerCase().split('.').pop() ?? '';
  const slash = main.name.lastIndexOf('/');
  if (slash < 0 || !FRAMES.includes(ending)) return main.name;
  const folder = main.name.slice(0, slash);
  const alike = files.filter(({ name }) => name.startsWith(`${folder}/`) && name.toLowerCase().endsWith(`.${ending}`));
  return alike.length > 1 ? folder : main.name;
}

export async function collect(data: DataTransfer): Promise<Dropped[]> {
  // Entries must be asked for before the first await; the list is emptied after the event.
  const entries = [...data.items].map((item) => item.webkitGetAsEntry()).filter((e) => e !== null);
  if (entries.length === 0) return [...data.files].map((file) => ({ name: file.name, file }));
  const found: Dropped[] = [];
  for (const entry of entries) await walk(entry, '', found);
  return found;
}

async function walk(entry: FileSystemEntry, path: string, found: Dropped[]): Promise<void> {
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    found.push({ name: path + entry.name, file });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  // A reader gives its entries in batches, an empty one last.
  for (;;) {
    const batch = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (batch.length === 0) return;
    for (const child of batch) await walk(child, `${path}${entry.name}/`, found);
  }
}

export interface Upload {
  done: Promise<void>;
  abort(): void;
}

/** Post one file; XMLHttpRequest because fetch reports no progress. */
export function post(drop: string, item: Dropped, progress: (sent: number) => void): Upload {
  const request = new XMLHttpRequest();
  const done = new Promise<void>((resolve, reject) => {
    request.open('POST', address(`/upload?drop=${drop}&name=${encodeURIComponent(item.name)}`));
    request.upload.onprogress = (event) => progress(event.loaded);
    request.onload = () => {
      if (request.status < 300) resolve();
      else if (request.status === 413) reject(new Error(tooLarge(item.name, null)));
      else reject(new Error(request.responseText || `${item.name} was refused (${request.status})`));
    };
    request.onerror = () =>
      reject(new Error(`${item.name} could not be sent: the connection was lost. Drop it again.`));
    request.onabort = () => reject(new DOMException('stopped', 'AbortError'));
    request.send(item.file);
  });
  return { done, abort: () => request.abort() };
}

export function tooLarge(name: string, limit: number | null): string {
  const most =
    limit === null ? 'too large for this server' : `larger than the ${Math.floor(limit / 1e6)} MB that can be dropped`;
  return `${name} is ${most}. Put it into the folder of the open dialog, or start \`sinew studio FILE\` with it.`;
}
