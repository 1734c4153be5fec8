// Types of what page and server say to each other: PROTOCOL.md in TypeScript.

export type Vec3 = [number, number, number];
export type Point = [number, number];

export interface HandleInfo {
  name: string;
  vertices: number;
  center: Vec3;
  /** Middle of its vertices at rest: what targets and paths are for. */
  middle: Vec3;
  secondary: string[];
  color: string;
}

export interface Clip {
  name: string;
  duration: number;
  fps: number;
}

export interface MaterialInfo {
  name: string;
  color: [number, number, number, number];
  image: string | null;
  metallic: number;
  roughness: number;
  double_sided: boolean;
}

export interface Job {
  job: number;
  title: string;
  share: number | null;
  /** What it has come to, such as the error of a fit. */
  note?: string;
  done: boolean;
  error?: string;
}

export type Shown = 'rest' | 'posed' | 'clip' | 'ruled' | 'jointed';

export interface Edit {
  method: string;
  laplacian: string;
  band: number;
  frames: string;
  n_nodes: number;
  iterations: number;
  arap_iterations: number;
  smoothness: number;
  inside: number;
}

export interface Search {
  /** Empty: the default. */
  objective: string;
  optimiser: string;
  reorder: string;
  in_order: boolean;
  limits: [number, number];
  /** 0: none. */
  local: number;
  residual: boolean;
}

export interface ReachTarget {
  handle: string;
  position: Vec3;
  pin: boolean;
  /** Where the handle is. */
  at: Vec3;
  distance: number;
}

export interface Reach {
  targets: ReachTarget[];
  pin_others: boolean;
  /** One for each example, in order. */
  weights: number[];
  terms: [string, number][];
  objective: string;
  energy: number;
  evaluations: number;
  ms: number;
  reached: boolean;
  /** Share of the body by which the worst target is missed. */
  missed: number;
}

/** What the hand wishes while it reaches. */
export interface ReachWish {
  targets: { handle: string; position?: Vec3 | null; pin?: boolean }[];
  pin_others?: boolean;
  anew?: boolean;
  weights?: [string, number][];
}

export interface HandlePath {
  handle: string;
  points: Vec3[];
  times?: number[];
  seconds?: number;
  pin?: boolean;
  carries?: boolean;
}

export interface Walk {
  line: Point[];
  feet: [string, string];
  stride: number;
  seconds: number;
  lift: number;
  stance: number;
}

export type Ground =
  | { flat: number }
  | { slope: number }
  | { steps: { rise: number; run: number; start: number; count: number } }
  | { hills: { height: number; length: number } }
  | { field: { origin: Point; cell: number; heights: number[][] } };

/** As in paths.json. */
export interface Paths {
  paths?: HandlePath[];
  walk?: Walk;
  way?: { points: Vec3[]; times?: number[]; seconds?: number };
  ground?: Ground;
  keyframes?: { examples: string[]; seconds: number };
}

export interface DrawnPaths {
  curves: Vec3[][];
  line: Vec3[];
  feet: Vec3[][];
  ground: { origin: Point; cell: number; heights: number[][] } | null;
}

export type Follow = 'paths' | 'keyframes';
export type SculptOp = 'push' | 'pull' | 'smooth';

export interface Baked {
  frames: number;
  target_error: [number, number];
  missed: number;
}

export interface Marker {
  name: string;
  position: Vec3;
}

export interface RulePlane {
  name: string;
  point: Vec3;
  normal: Vec3;
}

/** When a part of a foot stands: first and last frame. */
export interface Contact {
  foot: string;
  heel: boolean;
  frames: [number, number];
}

/** Rules of the document, and what surrounds its skeleton. */
export interface Rules {
  text: string;
  markers: Marker[];
  planes: RulePlane[];
  start?: { clip: string; time: number };
  contacts: { clip: string; fps: number; contacts: Contact[] }[];
}

export interface Fault {
  line: number;
  column: number;
  /** Letters of the text, as browsers count them. */
  from: number;
  to: number;
  severity: 'error' | 'warning' | 'note';
  message: string;
}

/** What the rules come to. */
export interface Ruled {
  /** Whether the pose is that of the last text without errors. */
  stale: boolean;
  diagnostics: Fault[];
  solved: {
    converged: boolean;
    stop: string;
    rules: { line: number; residual: number; unit: string; holds: boolean; objective: boolean; soft: boolean }[];
    conflicts: { lines: number[]; ranges: string[]; message: string }[];
    redundant: number[];
    dof: number;
    dof_left: number;
    free: string[];
    at_limit: string[];
    ms: number;
  } | null;
  /** `word` is the name as rules write it. */
  joints: { name: string; word: string; parent: number | null; position: Vec3 }[];
  /** Where rules would have joints. */
  marks: { line: number; joint: number; holds: boolean; from: Vec3; to: Vec3 }[];
}

export type RulesChange =
  | { text: { text: string } }
  | { marker: { name: string; position: Vec3 } }
  | { plane: { name: string; point: Vec3; normal: Vec3 } }
  | { rename: { name: string; to: string } }
  | { remove: { name: string } }
  | { start: { start: { clip: string; time: number } | null } }
  | { contacts: { clip: string; fps: number; contacts: Contact[] | null } };

export interface RefitSettings {
  clip: string;
  to: string;
  ground: Ground | null;
  along_way: boolean;
  rules: boolean;
  legs: number;
  arms: number;
}

export interface Refitted {
  frames: number;
  fps: number;
  slide_cm_s: number;
  drift_cm: number;
  penetration_cm: number;
  jerk_ratio: number;
  limit_violations: number;
  rule_violation_cm: number;
  limit_excess_percent: number;
  copied_slide_cm_s: number;
  copied_penetration_cm: number;
  warnings: string[];
}

export interface ContactTrack {
  clip: string;
  fps: number;
  frames: number;
  feet: string[];
  contacts: Contact[];
  edited: boolean;
}

/** How clips are fitted; what is absent is the server's default. */
export interface FitSettings {
  clips: string[];
  fps: number | null;
  reshaped: boolean;
  bones: number;
  error: number | null;
  influences: number;
  rigid: boolean;
  correct_rest: boolean;
}

/** A skin that was fitted, in numbers. */
export interface Fit {
  version: number;
  /** Whether it is of the document as it is now. */
  current: boolean;
  settings: FitSettings;
  stopped: boolean;
  rounds: number;
  bones: number;
  joints: number;
  frames: number;
  fps: number;
  dE: number | null;
  E_RMS: number;
  E_RMS_diag1: number;
  d_avg: number;
  max: number;
  per_frame: number[];
  bytes_in: number;
  bytes_out: number;
  keys: number;
  full_keys: number;
  seconds: number;
}

export type Limb = 'torso' | 'arm.L' | 'arm.R' | 'leg.L' | 'leg.R';

/** How a body moves the character. */
export interface PuppetSettings {
  projection: string;
  lambda: number;
  interpolation: 'fk' | 'linear';
  smoothing: number;
  mirror: boolean;
  ignored: Limb[];
  hold: number;
  limit: number;
  whole_body: boolean;
  travel: boolean;
  feet: boolean;
  scale: number | null;
  /** What brings the body upright, and the length of its trunk. */
  calibration: [[number, number, number, number], number] | null;
}

export interface PairInfo {
  name: string;
  thumbnail: string | null;
  target: { example: string } | { joints: number };
  /** The actor's 20 joints. */
  body: Vec3[];
}

/** Which pose of the character is paired. */
export type PairTarget = 'rest' | 'posed' | { example: string } | { clip: [string, number] };

/** The performance in progress. */
export interface Act {
  frame: number | null;
  time: number;
  /** The actor's 20 joints, and which of them are seen; numbers that are none are null. */
  body: (Vec3 | [null, null, null])[] | null;
  seen: boolean[] | null;
  /** A limb that is missed, and the joint of it. */
  missing: [Limb, string] | null;
  weights: number[] | null;
  residual: number | null;
  held: boolean;
  /** Why the character does not follow. */
  fault: string | null;
  /** Frames recorded so far. */
  take: number | null;
}

/** What the page says of its actor. */
export type Cue =
  | { frame: number }
  | { camera: { time: number; world: number[][] | null; image: number[][] | null; aspect: number } };

export type Quat = [number, number, number, number];

export type Collider =
  | { plane: { point: Vec3; normal: Vec3 } }
  | { ball: { center: Vec3; radius: number } }
  | { rod: { ends: [Vec3, Vec3]; radius: number } };

export interface FleshSettings {
  cells: number;
  /** Null: in proportion to the size of the body. */
  stiffness: number | null;
  poisson: number;
  density: number;
  damping: number;
  mode: string;
  bone_radius: number;
  gravity: Vec3;
  step: number;
  floor: number | null;
  friction: number;
  colliders: Collider[];
}

/** A joint put by hand. */
export interface JointSite {
  name: string;
  parent: string | null;
  position: Vec3;
}

/** A joint in its pose. */
export interface FleshJoint {
  name: string;
  parent: number | null;
  position: Vec3;
  turn: Quat;
}

export interface Flesh {
  settings: FleshSettings;
  usual_stiffness: number;
  modes: string[];
  painted: boolean;
  /** Whether the skeleton was there already. */
  own_skeleton: boolean;
  /** Whether it was made of the joints put by hand. */
  bound: boolean;
  /** Whether one of them was moved since. */
  moved: boolean;
  sites: JointSite[];
  turned: boolean;
  joints: FleshJoint[];
}

export interface RigControl {
  name: string;
  /** The angle of a joint it follows; null if it is free. */
  follows: string | null;
  range: [number, number];
  value: number;
}

/** A rig in what is shown. Angles are radians. */
export interface ShownRig {
  name: string;
  control: string;
  at: number;
  template: string | null;
  guide: string | null;
  parameters: [string, number][];
  samples: number[];
  stiffen: number;
  center: Vec3 | null;
  reach: number;
}

export interface Rigs {
  controls: RigControl[];
  rigs: ShownRig[];
  curves: { clip: string; control: string; keys: [number, number][] }[];
}

export type RigChange =
  | { set: { rigs: unknown } }
  | { add: { rigs: unknown } }
  | { remove: { rig: string } }
  | { record: { rig: string; at: number; eta: number[] } }
  | { forget: { rig: string; at: number } }
  | { stiffen: { rig: string; factor: number } }
  | { value: { control: string; value: number } }
  | { key: { clip: string; control: string; time: number; value: number | null } };

/** How the simulation goes. */
export interface Fleshed {
  on: boolean;
  paused: boolean;
  fault: string | null;
  status: {
    cells: number;
    dof: number;
    uncovered: number[];
    n_uncovered: number;
    step_ms: number;
    speed: number;
    unsolved: number;
    warnings: string[];
  } | null;
}

export type FleshChange =
  | { settings: { settings: FleshSettings } }
  | { clear_paint: Record<string, never> }
  | { joint: { joint: JointSite } }
  | { rename_joint: { name: string; to: string } }
  | { remove_joint: { name: string } }
  | { turn: { joint: string; rotation: Quat } }
  | { reset_turns: Record<string, never> };

/** What a hand does to the flesh while it drags. */
export type FleshTouch =
  | { grab: { vertex: number; to: Vec3 } | null }
  | { turn: { joint: string; from: Quat; axis: Vec3; degrees: number } }
  | { joint: { joint: JointSite } }
  | { fit: { rig: string; vertex: number; to: Vec3 } };

export interface FleshBaked {
  frames: number;
  fps: number;
  cells: number;
  dof: number;
  steps: number;
  unsolved: number;
  residual_max: number;
  jumps: number;
  uncovered: number;
  seconds: number;
  warnings: string[];
}

export interface Recovery {
  recovery: string;
  title: string;
  age_secs: number;
}

export interface Doc {
  /** Which document it is, counted from the start of the server. */
  document: number;
  name: string;
  path: string | null;
  dirty: boolean;
  vertices: number;
  faces: number;
  joints: number;
  bounds: [Vec3, Vec3];
  revision: number;
  handles: HandleInfo[];
  n_moves: number;
  moves: Move[];
  /** Whether the present pose has a detail layer. */
  detail: boolean;
  examples: { name: string; thumbnail: string | null; detail: boolean }[];
  /** How examples are searched, what motions follow, and how that is drawn. */
  search: Search;
  paths: Paths;
  drawn: DrawnPaths;
  /** A pose that is being reached for. */
  reach: Reach | null;
  rules: Rules;
  /** Grounds that clips were refitted to. */
  grounds: { clip: string; ground: NonNullable<DrawnPaths['ground']> }[];
  /** Null until somebody looks. */
  ruled: Ruled | null;
  puppet: { pairs: PairInfo[]; settings: PuppetSettings; projections: string[] };
  /** The recording of an actor. */
  actor: { name: string; frames: number; fps: number } | null;
  act: Act | null;
  flesh: Flesh;
  rigs: Rigs;
  fleshed: Fleshed;
  clips: Clip[];
  materials: MaterialInfo[];
  edit: Edit;
  display: { what: Shown; clip: string | null; time: number };
  stress: boolean;
  refine: boolean;
  /** Whether the fit is sent with each frame. */
  compare: boolean;
  /** Whether the cells of flesh are sent with each frame. */
  cells: boolean;
  fit: Fit | null;
  /** `first` is the number of the first of `steps`, `at` counts from there. */
  history: { first: number; steps: string[]; at: number };
  jobs: Job[];
  recoveries: Recovery[];
  prepare_ms: number;
  warnings: string[];
}

/** What changed of the document. Of moves and steps, `keep` of those the page has stay, the given ones follow. */
export type DocChange = Partial<Omit<Doc, 'moves' | 'history'>> & {
  moves?: { keep: number; moves: Move[] };
  history?: { first: number; keep: number; steps: string[]; at: number };
};

export interface Welcome {
  version: string;
  session: string;
  root: string;
  samples: string[];
  methods: string[];
  laplacians: string[];
  frames: string[];
  search: {
    optimisers: string[];
    orders: string[];
    terms: { name: string; meaning: string; factor: number }[];
    objective: string;
    objective_of_motion: string;
  };
  /** Words of the language of rules. */
  language: {
    verbs: { name: string; meaning: string; example: string }[];
    functions: string[];
    suffixes: string[];
    units: string[];
  };
  max_upload: number;
}

export type Level = 'info' | 'warning' | 'error';

export interface Download {
  url: string;
  name: string;
  bytes: number;
  warnings: string[];
}

export type Incoming =
  | ({ type: 'welcome' } & Welcome)
  | ({ type: 'state' } & DocChange)
  | { type: 'reply'; id: number; ok?: unknown; error?: string; needs_path?: boolean; exists?: boolean }
  | ({ type: 'job' } & Job)
  | { type: 'notice'; level: Level; text: string };

export type Move =
  | { rotate: { main: string; handles: string[]; axis: Vec3; degrees: number } }
  | { translate: { handles: string[]; vector: Vec3 } }
  | { twist: { handles: string[]; axis: Vec3; degrees: number; over: string[] } };

/** What a gesture streams: a move, where to reach, where a marker is, what an actor does, or a hand on the flesh. */
export type Gestured = Move | { reach: ReachWish } | { rules: RulesChange } | { puppet: Cue } | { flesh: FleshTouch };

export type RegionMode = 'all' | 'facing' | 'around';

export type Region =
  | { box: { view: number[]; from: Point; to: Point; mode: RegionMode } }
  | { lasso: { view: number[]; points: Point[]; mode: RegionMode } }
  | { brush: { view: number[]; at: Point[]; radius: number } }
  | { vertices: number[] }
  | { grow: number }
  | { shrink: number };

export type PaintOp = 'add' | 'remove' | 'replace';

export type Command =
  | { add_handle: { name: string } }
  | { remove_handle: { name: string } }
  | { rename_handle: { name: string; to: string } }
  | { set_center: { name: string; center: Vec3 } }
  | { set_secondary: { name: string; secondary: string[] } }
  | { clear_handles: Record<string, never> }
  | { set_pose: { moves: Move[] } }
  | { save_example: { name: string; thumbnail: string } }
  | { load_example: { name: string } }
  | { rename_example: { name: string; to: string } }
  | { remove_example: { name: string } }
  | { mirror_example: { name: string; to: string } }
  | { clear_detail: { example: string | null } }
  | { set_search: Partial<Search> }
  | { set_paths: { paths: Paths } }
  | { bake: { clip: string; fps: number; follow: Follow } }
  | { rules: RulesChange }
  | { keep_pose: { clip: string } }
  | { refit: { settings: RefitSettings } }
  | { rename_pair: { name: string; to: string } }
  | { remove_pair: { name: string } }
  | { set_pairs: { pairs: unknown } }
  | { set_puppet: { settings: PuppetSettings } }
  | { flesh: FleshChange }
  | { rigs: RigChange }
  | { bind_joints: Record<string, never> }
  | { keep_turns: { clip: string } }
  | { bake_flesh: { bake: { clip: string | null; to: string; fps: number | null; seconds: number | null } } }
  | { set_edit: Partial<Edit> }
  | { rename: { name: string } }
  | { scale: { factor: number } }
  | { repair: Record<string, never> }
  | { rename_clip: { clip: string; to: string } }
  | { remove_clip: { clip: string } };

export interface Picked {
  handle: string | null;
  vertex: number;
  face: number;
  position: Vec3;
  distance: number;
}

export interface Folder {
  folder: string;
  parent: string | null;
  entries: { name: string; path: string; is_folder: boolean; bytes: number }[];
  /** Frames of a sequence that the folder itself is; 0 if it is none. */
  frames: number;
}

export type ExportFormat = 'glb' | 'obj' | 'ply' | 'bvh' | 'moves' | 'handles' | 'paths' | 'pairs';
export type ExportWhat = 'character' | 'posed' | 'skin' | 'clip' | 'fit';

/** What the page may ask for; `id` is added when an answer is wanted. */
export type Outgoing =
  | { type: 'ack'; frame: number }
  | { type: 'do'; command: Command; stroke?: number }
  | { type: 'undo' | 'redo' }
  | { type: 'jump'; step: number }
  | { type: 'drag'; drag: number; move: Gestured; end?: boolean }
  | { type: 'reach_end'; accept: boolean }
  | {
      type: 'sculpt';
      example: string | null;
      op: SculptOp;
      view: number[];
      at: Point[];
      radius: number;
      strength: number;
      stroke: number;
    }
  | { type: 'pick_ground'; view: number[]; at: Point }
  | { type: 'cancel_drag'; drag: number }
  | { type: 'paint'; handle: string; op: PaintOp; region: Region; weight?: number; stroke?: number }
  | { type: 'mirror_handle'; handle: string }
  | { type: 'auto_handles'; count?: number; from_shape?: boolean }
  | { type: 'default_center'; handle: string }
  | { type: 'pick'; view: number[]; at: Point }
  | { type: 'display'; what: Shown; clip?: string; time?: number }
  | { type: 'stress' | 'refine' | 'compare'; on: boolean }
  | { type: 'fit'; settings: Partial<FitSettings> }
  | { type: 'format_rules'; text: string }
  | { type: 'contacts'; clip: string }
  | { type: 'take_fit' | 'act_end' | 'take_begin' }
  | { type: 'actor'; path: string }
  | { type: 'actor_upload'; drop: string; name: string }
  | { type: 'puppet_demo'; name: string }
  | { type: 'pairing' | 'calibrate'; on: boolean }
  | { type: 'pair'; name: string; target: PairTarget }
  | { type: 'take_end'; clip: string | null }
  | { type: 'perform_all'; clip: string }
  | { type: 'flesh_live' | 'flesh_pause' | 'flesh_cells'; on: boolean }
  | { type: 'flesh_reset' }
  | { type: 'flesh_push'; vertex: number; direction: Vec3 }
  | { type: 'paint_stiffness'; factor: number; strength: number; view: number[]; at: Point[]; radius: number; stroke: number }
  | { type: 'rig_place'; template: string; guide: string; view: number[]; at: Point }
  | { type: 'put_joint'; view: number[]; at: Point; parent: string | null }
  | { type: 'sample'; name: string; vertices: number }
  | { type: 'list'; folder?: string }
  | { type: 'open'; path: string }
  | { type: 'open_upload'; drop: string; name: string }
  | { type: 'save'; path?: string; overwrite?: boolean }
  | {
      type: 'export';
      format: ExportFormat;
      what: ExportWhat;
      clip?: string;
      fps?: number;
      influences?: number;
      fit?: Partial<FitSettings>;
    }
  | { type: 'recover' | 'discard'; recovery: string }
  | { type: 'cancel'; job: number };
