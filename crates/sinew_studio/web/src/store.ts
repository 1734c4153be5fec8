// The state of the page: the server's document, and what belongs to this tab (selection, tool, look).
import { Emitter } from './emitter';
import type { Doc, HandleInfo, Job, Shown, Welcome } from './net/protocol';
import type { Link } from './net/socket';
import { loadPrefs, type Prefs, savePrefs } from './prefs';

/** Tools are named by the capabilities that bring them. */
export type ToolId = string;
export type Look = 'shaded' | 'matcap' | 'handles' | 'textured' | 'stress';

export interface Topics {
  welcome: Welcome;
  doc: Doc;
  link: Link;
  selection: null;
  tool: ToolId;
  view: null;
  jobs: null;
  prefs: Prefs;
  /** Another shape is asked for. */
  show: Shown;
  /** Another document is there. */
  opened: null;
  /** New vertices are in the buffers. */
  frame: null;
  /** The camera moved; `true` if the user moved it. */
  camera: boolean;
  /** Only the search in progress changed: many times per second. */
  reach: null;
  /** Another workspace is in front, or another panel of it. */
  panel: string;
  /** Only the performance in progress changed: many times per second. */
  act: null;
  /** Only how the simulation of flesh goes changed: some times per second. */
  fleshed: null;
  /** A gesture ended that changed a pose or a handle. */
  gesture: 'pose' | 'paint' | 'centre';
}

/** What brushes of all capabilities share. */
export interface ToolOptions {
  brushPx: number;
  strength: number;
}

export class Store extends Emitter<Topics> {
  doc: Doc | null = null;
  welcome: Welcome | null = null;
  link: Link = 'connecting';
  readonly prefs: Prefs = loadPrefs();

  main: string | null = null;
  readonly secondary = new Set<string>();
  readonly hidden = new Set<string>();
  solo: string | null = null;

  tool: ToolId = 'drag';
  readonly options: ToolOptions = { brushPx: this.prefs.brushPx, strength: 0.5 };
  look: Look = this.prefs.lookOf as Look;
  wireframe = false;
  xray = 1;
  ghost = false;
  grid = true;
  centres = true;

  readonly jobs = new Map<number, Job & { stop?: () => void }>();

  setDoc(doc: Doc): void {
    this.doc = doc;
    const names = new Set(doc.handles.map((h) => h.name));
    const before = this.selected().join('\n');
    if (this.main !== null && !names.has(this.main)) {
      this.main = null;
      this.secondary.clear();
    }
    for (const set of [this.secondary, this.hidden]) for (const name of set) if (!names.has(name)) set.delete(name);
    if (this.solo !== null && !names.has(this.solo)) this.solo = null;
    this.emit('doc', doc);
    if (this.selected().join('\n') !== before) this.emit('selection', null);
  }

  handle(name: string | null): HandleInfo | undefined {
    return this.doc?.handles.find((h) => h.name === name);
  }

  /** Main first, then the secondary ones. */
  selected(): string[] {
    return this.main === null ? [] : [this.main, ...this.secondary];
  }

  /** Make a handle the main one, with its stored secondary ones unless `alone`. */
  selectMain(name: string | null, alone = false): void {
    this.main = name;
    this.secondary.clear();
    if (name !== null && !alone) for (const other of this.handle(name)?.secondary ?? []) this.secondary.add(other);
    this.emit('selection', null);
  }

  toggleSecondary(name: string): void {
    if (this.main === null) return this.selectMain(name);
    if (name !== this.main && !this.secondary.delete(name)) this.secondary.add(name);
    this.emit('selection', null);
  }

  setTool(tool: ToolId): void {
    this.tool = tool;
    this.emit('tool', tool);
  }

  setView(change: Partial<Pick<Store, 'look' | 'wireframe' | 'xray' | 'ghost' | 'grid' | 'centres'>>): void {
    Object.assign(this, change);
    if (change.look) this.setPrefs({ lookOf: change.look });
    this.emit('view', null);
  }

  setOptions(change: Partial<ToolOptions>): void {
    Object.assign(this.options, change);
    this.emit('tool', this.tool);
  }

  setPrefs(change: Partial<Prefs>): void {
    Object.assign(this.prefs, change);
    savePrefs(this.prefs);
    this.emit('prefs', this.prefs);
  }

  setJob(job: Job & { stop?: () => void }): void {
    if (job.done) this.jobs.delete(job.job);
    else this.jobs.set(job.job, job);
    this.emit('jobs', null);
  }
}
