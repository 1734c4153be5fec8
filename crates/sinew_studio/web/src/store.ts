// What the page knows: the server's document, and what is this tab's own (selection, tool, look).
import { Emitter } from './emitter';
import type { Doc, HandleInfo, Job, PaintOp, RegionMode, SculptOp, Shown, Welcome } from './net/protocol';
import type { Link } from './net/socket';
import { loadPrefs, savePrefs, type Prefs } from './prefs';

export type ToolId =
  | 'select'
  | 'box'
  | 'lasso'
  | 'paint'
  | 'erase'
  | 'drag'
  | 'rotate'
  | 'translate'
  | 'twist'
  | 'centre'
  | 'reach'
  | 'sculpt'
  | 'path'
  | 'rules'
  | 'flesh'
  | 'stiffen'
  | 'joint'
  | 'rig';
export type Look = 'shaded' | 'matcap' | 'handles' | 'textured' | 'stress';

/** Tools that work on the surface at rest; the others on it as posed. */
export const REST_TOOLS: ReadonlySet<ToolId> = new Set<ToolId>(['box', 'lasso', 'paint', 'erase', 'centre']);

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
  /** The camera moved; `true` if by the hand of the user. */
  camera: boolean;
  /** Only the search in progress changed: many times a second. */
  reach: null;
  /** Another tab is in front. */
  tab: string;
  /** Only the performance in progress changed: many times a second. */
  act: null;
  /** Only how the simulation of flesh goes changed: some times a second. */
  fleshed: null;
  /** A gesture ended that changed a pose or a handle. */
  gesture: 'pose' | 'paint' | 'centre';
}

export interface ToolOptions {
  mode: RegionMode;
  op: PaintOp | 'new';
  weight: number;
  brushPx: number;
  singleFaces: boolean;
  twistAxis: 'limb' | 'x' | 'y' | 'z';
  space: 'world' | 'local';
  sculptOp: SculptOp;
  sculptStrength: number;
  /** The stored pose that is sculpted; null for the present one only. */
  sculptExample: string | null;
  /** Which path is drawn: the walk, or the number of a handle's path. */
  path: 'walk' | number;
  pinOthers: boolean;
  /** What a hand on the flesh does. */
  fleshOp: 'grab' | 'push';
  /** How much stiffer the brush makes flesh. */
  stiffFactor: number;
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
  readonly options: ToolOptions = {
    mode: 'facing',
    op: 'add',
    weight: this.prefs.brushWeight,
    brushPx: this.prefs.brushPx,
    singleFaces: false,
    twistAxis: 'limb',
    space: 'world',
    sculptOp: 'pull',
    sculptStrength: 0.5,
    sculptExample: null,
    path: 'walk',
    pinOthers: false,
    fleshOp: 'grab',
    stiffFactor: 5,
  };
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

  /** A name no handle has yet. */
  freeName(stem: string): string {
    const taken = new Set(this.doc?.handles.map((h) => h.name));
    for (let i = 1; ; i++) if (!taken.has(`${stem}.${i}`)) return `${stem}.${i}`;
  }
}
