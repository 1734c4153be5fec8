// What the server sends, and where it goes.
import { listen, socket, stats, store } from './app';
import { askAboutPlacement } from './capabilities/document/placement';
import { recover } from './commands/file';
import { decode } from './net/decode';
import type { Doc, DocChange, Incoming, Job } from './net/protocol';
import { PoseGesture } from './tools/gesture';
import { formatBytes, formatCount } from './ui/format';
import { toast } from './ui/toast';
import type { Viewport } from './view/viewport';

/** Number of vertices from which on the cost is reported. */
const LARGE = 200_000;
/** Quantised position and normal. */
const BYTES_PER_VERTEX = 8;

export function receive(viewport: Viewport): void {
  listen({
    link: (link) => {
      store.link = link;
      store.emit('link', link);
    },
    message: (message) => take(message, viewport),
    binary: (buffer) => takeBinary(buffer, viewport),
  });
}

function takeBinary(buffer: ArrayBuffer, viewport: Viewport): void {
  const start = performance.now();
  const packet = decode(buffer);
  if (!packet) return;
  let taken: ReturnType<Viewport['take']>;
  try {
    taken = viewport.take(packet);
  } finally {
    // Whatever became of it: without this the server would soon send nothing more.
    socket.send({ type: 'ack', frame: packet.frame });
  }
  stats.bytes += buffer.byteLength;
  stats.frames++;
  if (taken === 'stale') stats.dropped++;
  else stats.solveMs = packet.solveMs;
  if (taken === 'geometry') {
    stats.geometries++;
    stats.geometryMs = performance.now() - start;
    if (packet.n >= LARGE) reportCost(packet.n, buffer.byteLength);
  }
  if (packet.drag !== 0) PoseGesture.seen(packet.drag, packet.solveMs, start);
  if (taken !== 'stale') store.emit('frame', null);
}

/** Report that a large mesh makes the page slow. */
function reportCost(n: number, bytes: number): void {
  const perFrame = n * BYTES_PER_VERTEX;
  toast(
    'info',
    `${formatCount(n)} vertices: ${formatBytes(bytes)} received, ready after ${stats.geometryMs.toFixed(0)} ms. ` +
      `Moving all of them sends ${formatBytes(perFrame)} per frame.`,
  );
}

function take(message: Incoming, viewport: Viewport): void {
  switch (message.type) {
    case 'welcome': {
      const before = store.welcome;
      store.welcome = message;
      if (before && before.session !== message.session) {
        toast('warning', 'The server restarted; unsaved work may be recoverable.');
        viewport.frameNext();
        store.jobs.clear();
        store.emit('jobs', null);
      }
      store.emit('welcome', message);
      return;
    }
    case 'state': {
      // While an actor performs, its body comes with every frame.
      if (store.doc && message.act !== undefined && Object.keys(message).length === 2) {
        store.doc.act = message.act ?? null;
        store.emit('act', null);
        return;
      }
      // While flesh is simulated, how that goes comes some times per second.
      if (store.doc && message.fleshed !== undefined && Object.keys(message).length === 2) {
        store.doc.fleshed = message.fleshed;
        store.emit('fleshed', null);
        return;
      }
      // While a target is dragged, weights come with every frame; nothing else needs to be looked through for them.
      const isReach = message.reach !== undefined && Object.keys(message).length === 2;
      if (store.doc && isReach) {
        store.doc.reach = message.reach ?? null;
        store.emit('reach', null);
        return;
      }
      const doc = changed(store.doc, message);
      // Scaling and repairing give the mesh a new revision too, but are steps of the same document.
      const other = store.doc !== null && store.doc.document !== doc.document;
      if (other) {
        viewport.frameNext();
        store.selectMain(null);
      }
      store.setDoc(doc);
      if (other) store.emit('opened', null);
      if (message.reach !== undefined) store.emit('reach', null);
      if (message.act !== undefined) store.emit('act', null);
      if (message.fleshed !== undefined) store.emit('fleshed', null);
      if (message.jobs) takeJobs(message.jobs);
      recover();
      askAboutPlacement();
      return;
    }
    case 'job':
      return takeJob(message);
    case 'notice':
      void toast(message.level, message.text);
      return;
    default:
      return;
  }
}

/** The document with what changed. The first message after the welcome has everything. */
function changed(before: Doc | null, { history, moves, ...rest }: DocChange): Doc {
  const doc = { ...before, ...rest } as Doc;
  if (moves) doc.moves = [...(before?.moves ?? []).slice(0, moves.keep), ...moves.moves];
  if (history) {
    const gone = history.first - (before?.history.first ?? history.first);
    const kept = (before?.history.steps ?? []).slice(gone, gone + history.keep);
    doc.history = { first: history.first, steps: [...kept, ...history.steps], at: history.at };
  }
  return doc;
}

/** Jobs of the state are all there are; those of the page itself have negative numbers. */
function takeJobs(jobs: Job[]): void {
  const running = new Set(jobs.map(({ job }) => job));
  for (const job of [...store.jobs.keys()]) if (job > 0 && !running.has(job)) store.jobs.delete(job);
  for (const job of jobs) store.jobs.set(job.job, job);
  store.emit('jobs', null);
}

function takeJob(job: Job): void {
  store.setJob(job);
  if (job.done && job.error) toast('error', job.error);
}
