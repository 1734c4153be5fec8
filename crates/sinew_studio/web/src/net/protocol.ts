// Generated from the types of the server; do not edit. `UPDATE=1 cargo test -p sinew_studio protocol` writes it.
/* eslint-disable */

export type Vec3 = [number, number, number];
export type Point = [number, number];
export type Quat = [number, number, number, number];
export type Limb = 'torso' | 'arm.L' | 'arm.R' | 'leg.L' | 'leg.R';
/** All settings; commands may name some of them. */
export type Edit = Required<EditChange>;
export type Search = Required<SearchChange>;

/** The performance in progress. */
export type Act = {
  /** Frame of the recording; null for a camera. */
  frame: number | null;
  time: number;
  /** The actor's 20 joints; those that are not seen may be null. */
  body: ([number, number, number] | [null, null, null])[] | null;
  /** Which of them are seen. */
  seen: Array<boolean> | null;
  /** A limb that is missing, and the joint of it. */
  missing: [Limb, string] | null;
  weights: Array<number> | null;
  residual: number | null;
  held: boolean;
  /** Why the character does not follow. */
  fault: string | null;
  /** Frames recorded so far. */
  take: number | null;
};

/** The recording of an actor. */
export type Actor = { name: string, frames: number, fps: number, };

/** How a bake went. */
export type Baked = {
  frames: number;
  /** Mean and greatest distance of targets missed, in metres. */
  target_error: [number, number];
  /** The greatest as a share of the body. */
  missed: number;
  /** Joints of the skeleton that the clip moves; 0 if it is a clip of vertices. */
  joints: number;
  /** Morph targets that the clip needs. */
  morphs: number;
  /** Root mean square distance of the clip from the surface as it was solved, as a share of the body. */
  error: number;
};

/** A clip. */
export type Clip = {
  name: string;
  duration: number;
  fps: number;
  /** What made it; null if it came with the file. */
  source: ClipSource | null;
};

/** Contacts of a clip. */
export type ClipContacts = {
  /** The clip, by name. */
  clip: string;
  /** Frames per second in which they count. */
  fps: number;
  /** All of them. */
  contacts: Array<Contact>;
};

/** The ground that a clip was refitted to. */
export type ClipGround = {
  /** The clip, by name. */
  clip: string;
  /** The ground in its own axes. */
  ground: Ground;
  /** Where its origin lies, x and z. */
  origin: [number, number];
  /** Turn about +Y that brings its +Z to where it points, radians. */
  heading: number;
};

/** What made a clip. Clips of the file that was opened have no source. */
export type ClipSource = "take" | "bake" | "refit" | "flesh" | "pose";

/** Something solid. */
export type Collider = { "plane": { point: [number, number, number], normal: [number, number, number], } }
  | { "ball": { center: [number, number, number], radius: number, } }
  | { "rod": { ends: [[number, number, number], [number, number, number]], radius: number, } };

/** One undoable step. Applying it to a state of the document gives the next state. */
export type Command = { "add_handle": { name: string, } }
  | { "remove_handle": { name: string, } }
  | { "rename_handle": { name: string, to: string, } }
  | { "set_center": { name: string, center: [number, number, number], } }
  | { "reset_center": { name: string, } }
  | { "set_secondary": { name: string, secondary: Array<string>, } }
  | { "clear_handles": Record<symbol, never> }
  | { "put_handle": { handle: HandleData, } }
  | { "set_handles": { handles: Array<HandleData>, } }
  | { "paint": { handle: string, op: PaintOp, vertices: Array<number>, weight: number, } }
  | { "set_pose": { moves: Move[], } }
  | { "save_example": { name: string, thumbnail?: string | null, } }
  | { "load_example": { name: string, } }
  | { "rename_example": { name: string, to: string, } }
  | { "remove_example": { name: string, } }
  | { "mirror_example": { name: string, to: string, } }
  | { "reach_pose": { moves: Move[], weights: Array<[string, number]>, } }
  | { "sculpt": { example: string | null, vertices: Array<number>, offsets: Array<number>, } }
  | { "clear_detail": { example: string | null, } }
  | { "set_search": SearchChange }
  | { "set_paths": { paths: Paths, } }
  | { "bake": { clip: string, fps: number, follow: Follow, } }
  | { "rules": RulesChange }
  | { "keep_pose": { clip: string, } }
  | { "refit": { settings: RefitSettings, } }
  | { "put_pair": { pair: unknown, thumbnail?: string | null, } }
  | { "rename_pair": { name: string, to: string, } }
  | { "remove_pair": { name: string, } }
  | { "set_pairs": { pairs: unknown, } }
  | { "set_puppet": { settings: PuppetSettings, } }
  | { "take": { clip: string, take: TakeData, } }
  | { "flesh": FleshChange }
  | { "muscles": MuscleChange }
  | { "add_skeleton": { template?: string | null, } }
  | { "bind_joints": Record<symbol, never> }
  | { "keep_turns": { clip: string, } }
  | { "bake_flesh": { bake: FleshBake, } }
  | { "set_edit": EditChange }
  | { "rename": { name: string, } }
  | { "scale": { factor: number, } }
  | { "turn": { up?: string | null, facing?: string | null, } }
  | { "repair": Record<symbol, never> }
  | { "show_parts": { parts: Array<string>, visible: boolean, } }
  | { "take_skin": { skin: SkinData, } }
  | { "turntable": { settings: TurntableSettings, } }
  | { "walk": { settings: WalkSettings, } }
  | { "rename_clip": { clip: string, to: string, } }
  | { "remove_clip": { clip: string, } };

/** What a command answers: numbers of what was made, or nothing. */
export type CommandReply = Done | Baked | Refitted | FleshBaked | SkeletonReport;

/** Rules that cannot hold together. */
export type ConflictInfo = { lines: Array<number>, ranges: Array<string>, message: string, };

/** When a part of a foot is planted. */
export type Contact = {
  /** Joint that carries the foot. */
  foot: string;
  /** Whether it is the heel; else the ball. */
  heel: boolean;
  /** First and last frame. */
  frames: [number, number];
};

/** When feet stand in a clip. */
export type ContactTrack = {
  /** The clip, by name. */
  clip: string;
  /** Frames per second in which they count. */
  fps: number;
  /** Number of frames. */
  frames: number;
  /** Joints that carry feet. */
  feet: Array<string>;
  /** All contacts. */
  contacts: Array<Contact>;
  /** Whether the user changed them. */
  edited: boolean;
};

/** What an actor does: a frame of the recording, or what a camera saw. The character follows, and is sent as `act`. */
export type Cue = { "frame": number } | { "camera": Sight };

/** Which shape is shown. */
export type DisplayState = { what: Shown, clip: string | null, time: number, };

/** Nothing to report. */
export type Done = Record<symbol, never>;

/** A document that seems to be in another unit than metres, to have another axis up than +Y, or to face another than +Z. */
export type DoubtsInfo = {
  /** As a question. */
  text: string;
  /** What to scale it by; null if its unit is not in doubt. */
  scale: number | null;
  /** Its axis that seems to be up; null if that is not in doubt. */
  up: string | null;
  /** The axis along which it seems to face; null if that is not in doubt. */
  facing: string | null;
};

/** A file to be fetched. */
export type Download = { url: string, name: string, bytes: number, warnings: Array<string>, };

/** The ground that a clip was refitted to, as it is drawn. */
export type DrawnGround = { clip: string, ground: Relief, };

/** Lines through the points of paths, the walk on the ground with its feet, and the ground itself. */
export type DrawnPaths = {
  curves: Array<Array<[number, number, number]>>;
  line: Array<[number, number, number]>;
  feet: Array<Array<[number, number, number]>>;
  /** Null where it is level at zero. */
  ground: Relief | null;
};

/** Settings to change. */
export type EditChange = {
  method?: string;
  laplacian?: string;
  band?: number;
  frames?: string;
  n_nodes?: number;
  iterations?: number;
  arap_iterations?: number;
  fine_iterations?: number;
  inside?: number;
};

/** A stored pose. */
export type ExampleInfo = {
  name: string;
  /** Address of a small picture. */
  thumbnail: string | null;
  /** Whether it has a detail layer. */
  detail: boolean;
};

/** Format of an exported file. */
export type ExportFormat = "glb" | "obj" | "ply" | "bvh" | "moves" | "handles" | "paths" | "pairs";

/** Choices of an export. */
export type ExportParams = {
  /** Format of the file. */
  format: ExportFormat;
  /** What of the document. */
  what?: ExportWhat;
  /** Of BVH and vertices over time: which clip; the first if absent. */
  clip?: string;
  /** Of vertices over time: whether the pose of the handles is the shape that moves. */
  reshaped?: boolean;
  /** Frames per second of BVH and vertices over time; 30 if absent. */
  fps?: number;
  /** How clips are fitted; if absent, as they were last. */
  fit?: Partial<FitSettings>;
  /** Of characters, poses and skins: only these parts of the surface; all if absent. */
  parts?: Array<string>;
  /** Influences per vertex, 1..=8; 4 if absent. */
  influences?: number;
};

/** What is exported. */
export type ExportWhat = "character" | "posed" | "skin" | "clip" | "fit";

/** A fault of the text. */
export type Fault = {
  line: number;
  column: number;
  /** Letters of the text, as browsers count them. */
  from: number;
  to: number;
  severity: Severity;
  message: string;
};

/** A skin that was fitted, in numbers. */
export type Fit = {
  version: number;
  /** Whether it is of the document as it is now. */
  current: boolean;
  settings: FitSettings;
  /** Whether it was cancelled, and is the best so far. */
  stopped: boolean;
  rounds: number;
  bones: number;
  joints: number;
  frames: number;
  fps: number;
  /** Null if nothing moves. */
  dE: number | null;
  E_RMS: number;
  E_RMS_diag1: number;
  d_avg: number;
  max: number;
  /** Angles between facets in degrees, their mean and what one of a hundred exceeds; percent that are flipped. */
  normals_mean: number;
  normals_p99: number;
  flipped: number;
  /** Largest factor by which an edge of the bind pose differs. */
  bind_max: number;
  per_frame: Array<number>;
  bytes_in: number;
  bytes_out: number;
  keys: number;
  full_keys: number;
  seconds: number;
  /** What is wrong with it, in words. */
  warnings: Array<string>;
};

/** How a fit ended. */
export type FitEnded = {
  /** Whether it was cancelled, and is the best so far. */
  stopped: boolean;
};

/** What a user can choose about a fit. */
export type FitSettings = {
  /** Clips that share the skin, by name; empty means all of the document. */
  clips: Array<string>;
  /** Frames per second; if absent, those of the keys, or 30. */
  fps: number | null;
  /** Whether the pose of the handles is the shape that moves. */
  reshaped: boolean;
  /** Number of bones; if absent, as many as the surface needs and a file smaller than the frames has room for. */
  bones: number | null;
  /** If given, as few bones as bring `E_RMS_diag1` down to so many percent, instead of a number of them. */
  error: number | null;
  /** Most bones per vertex. */
  influences: number;
  /** Whether bones only turn and shift. */
  rigid: boolean;
  /** Whether the rest pose may be corrected. */
  correct_rest: boolean;
  /** Whether all joints hang below one, instead of a tree. */
  flat: boolean;
};

/** Fit a muscle until a vertex is at a place. */
export type FitTouch = { muscle: string, vertex: number, to: [number, number, number], };

/** Flesh of the document. */
export type Flesh = {
  settings: FleshSettings;
  usual_stiffness: number;
  modes: string[];
  painted: boolean;
  /** Whether the skeleton was there already. */
  own_skeleton: boolean;
  /** Whether it was made of the joints placed by the user. */
  bound: boolean;
  /** Whether one of them was moved since. */
  moved: boolean;
  /** Joints placed by the user. */
  sites: Array<JointSite>;
  turned: boolean;
  /** Joints in their pose. */
  joints: Array<FleshJoint>;
};

/** What is baked. */
export type FleshBake = {
  /** The clip the bones follow; if absent, they stand as they are turned. */
  clip: string | null;
  /** Name of the result; a clip of that name that was baked before is exchanged. */
  to: string;
  /** Frames per second; those of the clip if absent. */
  fps: number | null;
  /** Seconds; those of the clip if absent. */
  seconds: number | null;
};

/** How a bake went. */
export type FleshBaked = {
  frames: number;
  fps: number;
  cells: number;
  dof: number;
  steps: number;
  /** Steps that were not solved to the tolerance. */
  unsolved: number;
  residual_max: number;
  /** Times that bones jumped and flesh was carried along. */
  jumps: number;
  uncovered: number;
  seconds: number;
  warnings: Array<string>;
};

/** One change of the flesh. */
export type FleshChange = { "settings": { settings: FleshSettings, } }
  | { "paint": { vertices: Array<number>, factors: Array<number>, } }
  | { "clear_paint": Record<symbol, never> }
  | { "joint": { joint: JointSite, } }
  | { "rename_joint": { name: string, to: string, } }
  | { "remove_joint": { name: string, } }
  | { "turn": { joint: string, rotation: [number, number, number, number], } }
  | { "reset_turns": Record<symbol, never> };

/** A joint as it is seen. */
export type FleshJoint = {
  /** Its name. */
  name: string;
  /** The joint it hangs on. */
  parent: number | null;
  /** Where it is in the pose. */
  position: [number, number, number];
  /** How it is turned from rest. */
  turn: [number, number, number, number];
};

/** Settings of flesh; see [`BakeParams`] for what they mean. */
export type FleshSettings = {
  /** About how many cells. */
  cells: number;
  /** Young's modulus in pascals; in proportion to the size of the body if absent. */
  stiffness: number | null;
  /** Poisson's ratio. */
  poisson: number;
  /** Kilograms per cubic metre. */
  density: number;
  /** Damping of changes of shape, in seconds. */
  damping: number;
  /** `predicted`, `neohookean` and so on. */
  mode: string;
  /** Thickness of bones, as a share of the way to the surface. */
  bone_radius: number;
  /** Metres per second squared. */
  gravity: [number, number, number];
  /** Longest step in seconds. */
  step: number;
  /** Height of the floor, if there is one. A body without bones always rests on one below it. */
  floor: number | null;
  /** Coulomb's coefficient of everything solid. */
  friction: number;
  /** Other obstacles. */
  colliders: Array<Collider>;
};

/** What the pointer does to the flesh while it drags. */
export type FleshTouch = { "grab": Grab | null }
  | { "turn": { /** Its name. */ joint: string, /** How it was turned. */ from: [number, number, number, number], /** The axis. */ axis: [number, number, number], /** The angle. */ degrees: number, } }
  | { "joint": { /** Where it is now. */ joint: JointSite, } }
  | { "fit": FitTouch };

/** How the simulation goes. */
export type Fleshed = {
  on: boolean;
  paused: boolean;
  /** Why it stopped by itself. */
  fault: string | null;
  status: LiveStatus | null;
};

/** What is in a folder. */
export type Folder = {
  folder: string;
  /** Null for the root. */
  parent: string | null;
  entries: Array<FolderEntry>;
  /** Frames of a sequence that the folder itself is, which can be opened; 0 if it is none. */
  frames: number;
};

/** A file or a folder. */
export type FolderEntry = { name: string, path: string, is_folder: boolean, bytes: number, };

/** What a body follows. */
export type Follow = "paths" | "keyframes";

/** The same text, formatted. */
export type FormattedRules = { text: string, };

/** What was found. */
export type FoundHandles = { handles: number, warnings: Array<string>, };

/** Where the surface is held. */
export type Grab = { vertex: number, to: [number, number, number], };

/** Ground in its serial form, see [`Ground`]. */
export type Ground = { "flat": number }
  | { "slope": number }
  | { "steps": { rise: number, run: number, start: number, count: number, } }
  | { "hills": { height: number, length: number, } }
  | { "field": { origin: [number, number], cell: number, heights: Array<Array<number>>, } };

/** A handle in its serial form. */
export type HandleData = {
  name: string;
  vertices: Array<number>;
  weights: Array<number>;
  center: [number, number, number];
  secondary: Array<string>;
};

/** A handle. */
export type HandleInfo = {
  name: string;
  /** How many. */
  vertices: number;
  /** What it turns about, at rest. */
  center: [number, number, number];
  /** Middle of its vertices at rest: what targets and paths are for. */
  middle: [number, number, number];
  /** Handles that move along. */
  secondary: Array<string>;
  /** `#rrggbb`. */
  color: string;
};

/** A handle and the points it goes through. */
export type HandlePath = {
  /** Its name. */
  handle: string;
  /** Points in order. */
  points: Array<[number, number, number]>;
  /** Time of each point, in seconds; by length if absent. */
  times?: Array<number>;
  /** Total duration, without times. */
  seconds?: number;
  /** Whether the handle must be there. */
  pin?: boolean;
  /** Whether it may carry the body. */
  carries?: boolean;
};

/** The end of the history. */
export type HistoryTail = {
  /** Number of the oldest step that is known. */
  first: number;
  /** How many of the known steps stay. */
  keep: number;
  /** What follows them. */
  steps: Array<string>;
  /** The present step, counted from `first`. */
  at: number;
};

/** How far a job is; the last message about it has `done`. */
export type Job = {
  /** Number by which it is cancelled. */
  job: number;
  /** What kind of work it is. */
  kind: JobKind;
  /** What is being done, for people. */
  title: string;
  /** Share done, 0..1; null if that is not known. */
  share: number | null;
  /** What it has come to, such as the error of a fit. */
  note?: string;
  /** Whether it has ended. */
  done: boolean;
  /** Why it failed; absent if it did not, or was cancelled. */
  error?: string;
};

/** What kind of work a job is. */
export type JobKind = "open"
  | "save"
  | "export"
  | "handles"
  | "prepare"
  | "command"
  | "bake"
  | "refit"
  | "fit"
  | "take_fit"
  | "actor"
  | "perform"
  | "flesh"
  | "muscles"
  | "bake_flesh";

/** A joint placed by the user. */
export type JointSite = {
  /** Unique name. */
  name: string;
  /** The joint it hangs on. */
  parent: string | null;
  /** Where it is, at rest. */
  position: [number, number, number];
};

/** Examples one after another. */
export type Keyframes = {
  /** Their names. */
  examples: Array<string>;
  /** Seconds from one to the next. */
  seconds: number;
};

/** Words of the language of rules. */
export type LanguageInfo = { verbs: Array<Verb>, functions: string[], suffixes: string[], units: string[], };

/** How urgent a notice is. */
export type Level = "info" | "warning" | "error";

/** Numbers of the simulation; of vertices in no cell at most 200, and how many there are. */
export type LiveStatus = {
  n_uncovered: number;
  /** Cells of the lattice. */
  cells: number;
  /** Degrees of freedom. */
  dof: number;
  /** Vertices that lie in no cell. */
  uncovered: Array<number>;
  /** Milliseconds per step. */
  step_ms: number;
  /** Simulated seconds per second. */
  speed: number;
  /** Steps that were not solved to the tolerance. */
  unsolved: number;
  /** What was found on the way. */
  warnings: Array<string>;
};

/** A named point. */
export type Marker = { name: string, position: [number, number, number], };

/** The twin of a handle. */
export type MirroredHandle = { handle: string, };

/** A move of handles, as in moves.json. */
export type Move = { "rotate": Rotate } | { "translate": Translate } | { "twist": Twist };

/** The end of the moves. */
export type MovesTail = {
  /** How many of the known moves stay. */
  keep: number;
  /** What follows them. */
  moves: Array<Move>;
};

/** One change of the muscles. Angles are radians, as in the library; the value `muscles` has the format of a muscle file. The names of older journals, `rigs` and `rig`, are read as well. */
export type MuscleChange = { "set": { muscles: unknown, } }
  | { "add": { muscles: unknown, } }
  | { "remove": { muscle: string, } }
  | { "record": { muscle: string, at: number, eta: Array<number>, } }
  | { "forget": { muscle: string, at: number, } }
  | { "stiffen": { muscle: string, factor: number, } }
  | { "value": { control: string, value: number, } }
  | { "key": { clip: string, control: string, time: number, value: number | null, } };

/** A control parameter. */
export type MuscleControl = {
  name: string;
  /** The angle of a joint it follows; null if it is free. */
  follows: string | null;
  range: [number, number];
  value: number;
};

/** A control parameter over a clip. */
export type MuscleCurve = {
  /** The clip, by name. */
  clip: string;
  /** The control parameter. */
  control: string;
  /** Seconds and values, by rising time. */
  keys: Array<[number, number]>;
};

/** Muscles in what is shown. */
export type Muscles = { controls: Array<MuscleControl>, muscles: Array<ShownMuscle>, curves: Array<MuscleCurve>, };

/** A joint that was put. */
export type NewJoint = { name: string, position: [number, number, number], };

/** Something every page should show. */
export type Notice = {
  /** How urgent it is. */
  level: Level;
  /** For people. */
  text: string;
};

/** What was opened. */
export type Opened = {
  /** How many warnings there are. */
  warnings: number;
};

/** What was found in a recording. */
export type OpenedActor = { warnings: Array<string>, };

/** How painted vertices meet those a handle has. */
export type PaintOp = "add" | "remove" | "replace";

/** Two poses that belong together. */
export type PairInfo = {
  name: string;
  /** Address of a small picture. */
  thumbnail: string | null;
  target: PairedWith;
  /** The actor's 20 joints. */
  body: Array<[number, number, number]>;
};

/** Which pose of the character is paired. */
export type PairTarget = "rest" | "posed" | { "example": string } | { "clip": [string, number] };

/** The pose of the character: a stored one, or one of some joints. */
export type PairedWith = { "example": string } | { "joints": number };

/** A part of the surface. */
export type PartInfo = { name: string, faces: number, visible: boolean, };

/** A file of paths as it is written, before it is checked: what documents store and users edit. */
export type Paths = {
  /** Handles with their paths. */
  paths?: Array<HandlePath>;
  /** A walk along a line, by two feet. */
  walk?: Walk;
  /** The path of the body, if it should face along it. */
  way?: Way;
  /** The ground below. */
  ground?: Ground;
  /** Examples one after another, instead of paths. */
  keyframes?: Keyframes;
};

/** A take that became a clip. */
export type Performed = {
  frames: number;
  /** Frames of the actor that were not trusted. */
  held: number;
  /** Root mean square distance of the actor from the pairs' blends, in metres of the standard body. */
  residual: number;
};

/** A place on the surface. */
export type Picked = {
  /** The handle it belongs to. */
  handle: string | null;
  vertex: number;
  face: number;
  position: [number, number, number];
  distance: number;
};

/** A place on the ground. */
export type PickedGround = { position: [number, number, number], };

/** A muscle that was placed. */
export type PlacedMuscle = { name: string, };

/** Pairs of poses, and how they are used. */
export type Puppet = { pairs: Array<PairInfo>, settings: PuppetSettings, projections: string[], };

/** Settings of a performance; see the fields of [`PerformerParams`] for what they mean. */
export type PuppetSettings = {
  /** `linear`, `positive`, `l1` or `radial`. */
  projection: string;
  /** Price of negative weights for `l1`. */
  lambda: number;
  /** `fk` or `linear`. */
  interpolation: 'fk' | 'linear';
  /** 0 leaves the body as it comes, 1 makes it slow and smooth; if absent, what cameras see is smoothed. */
  smoothing: number | null;
  /** Whether left and right are exchanged. */
  mirror: boolean;
  /** Names of limbs that are not listened to. */
  ignored: Limb[];
  /** Seconds until a body whose tracking was lost returns to rest. */
  hold: number;
  /** The most that negative weights sum to. */
  limit: number;
  /** Whether the body is projected as a whole. */
  whole_body: boolean;
  /** Whether the character travels with the actor. */
  travel: boolean;
  /** Whether its feet are planted. */
  feet: boolean;
  /** Metres of the character for one of the actor; the ratio of their heights if absent. */
  scale: number | null;
  /** What is known of camera and actor: a rotation (x, y, z, w) that brings the body upright, and the trunk's length. */
  calibration: [[number, number, number, number], number] | null;
};

/** A pose that is being reached for. */
export type Reach = {
  targets: Array<ReachTarget>;
  pin_others: boolean;
  /** One for each example, in order. */
  weights: Array<number>;
  /** Value of each term of the objective. */
  terms: [string, number][];
  objective: string;
  energy: number;
  evaluations: number;
  ms: number;
  reached: boolean;
  /** Share of the body by which the worst target is missed. */
  missed: number;
};

/** Reach for targets: the examples are searched, or with `weights` blended without a search. What is found is shown to all pages as `reach` and in frames, and is not done until it is accepted. */
export type ReachGoal = {
  /** All targets there are. */
  targets: Array<TargetGoal>;
  /** Whether all handles stay where they are that are not in the chain of a target. */
  pin_others?: boolean;
  /** Whether to look for the best pose anywhere, rather than near the present one. */
  multi_start?: boolean;
  /** Weights by name of example, set by the user: the pose is their blend, and nothing is searched. */
  weights?: Array<[string, number]>;
};

/** Where a handle should be. */
export type ReachTarget = {
  handle: string;
  position: [number, number, number];
  /** Where the handle is. */
  at: [number, number, number];
  pin: boolean;
  distance: number;
};

/** Unsaved work: of a session that ended badly, or of a document that was closed. */
export type Recovery = {
  recovery: string;
  title: string;
  age_secs: number;
  /** Bytes on disk. */
  bytes: number;
  /** Whether the user closed the document without saving; such work is listed, not offered. */
  closed: boolean;
};

/** What copying angles alone would give. */
export type RefitCopied = { slide_cm_s: number, penetration_cm: number, };

/** The ground of a refitted clip. */
export type RefitGround = {
  /** Null if the clip's is not level or nobody stands. */
  clip_height_cm: number | null;
  height_cm: number | null;
  origin: [number, number];
  heading_deg: number;
};

/** When a hand supports the body: first and last frames. */
export type RefitHand = { hand: string, frames: [number, number], };

/** What a user can choose about refitting a clip. */
export type RefitSettings = {
  /** The clip, by name. */
  clip: string;
  /** Name of the result; a clip of that name is exchanged. */
  to: string;
  /** Another ground; that of the clip if absent. */
  ground: Ground | null;
  /** Whether the ground lies along the way of the clip, rather than along +Z. */
  along_way: boolean;
  /** Whether the rules of the document hold in it. */
  rules: boolean;
  /** Length of the legs, relative to what it was. */
  legs: number;
  /** Length of the arms. */
  arms: number;
};

/** When a foot stands: first and last frames. */
export type RefitStance = {
  /** Which leg. */
  foot: number;
  frames: [number, number];
  heel: [number, number] | null;
  ball: [number, number] | null;
};

/** How a refit became, for showing. */
export type Refitted = {
  frames: number;
  fps: number;
  slide_cm_s: number;
  drift_cm: number;
  /** Mean distance of planted feet from the ground. */
  height_error_cm: number;
  penetration_cm: number;
  jerk_ratio: number;
  /** How much further a joint moves in a frame than in the clip, at worst. */
  jump_cm: number;
  /** How deep the surface is in the ground, beyond the clip's own. */
  surface_depth_cm: number;
  /** How far limbs point elsewhere than the clip's on average; null where bodies cannot be compared. */
  direction_deg: number | null;
  /** How much the feet of the clip slide. */
  clip_slide_cm_s: number;
  limit_violations: number;
  /** Rules that do not hold. */
  broken_rules: number;
  rule_violation_cm: number;
  /** By how much a limit of speed or acceleration is exceeded at worst. */
  limit_excess_percent: number;
  rounds: number;
  /** Length of the legs relative to those of the clip. */
  scale: number;
  /** Frames at which the clip jumps and was cut. */
  cuts: Array<number>;
  contacts: Array<RefitStance>;
  hands: Array<RefitHand>;
  ground: RefitGround;
  /** What copying angles alone would give. */
  copied: RefitCopied;
  /** Why the result should not be used; empty with rules, which may ask for what the clip does not do. */
  damage: Array<string>;
  warnings: Array<string>;
};

/** A part of the surface. `grow` and `shrink` are of the handle itself, by rings of faces. */
export type Region = { "box": { /** How it is seen. */ view: ViewMatrix, /** One corner. */ from: [number, number], /** The opposite corner. */ to: [number, number], /** What of it is meant. */ mode: RegionMode, } }
  | { "lasso": { /** How it is seen. */ view: ViewMatrix, /** The line. */ points: Array<[number, number]>, /** What of it is meant. */ mode: RegionMode, } }
  | { "brush": { /** How it is seen. */ view: ViewMatrix, /** Where the brush was. */ at: Array<[number, number]>, /** Metres; 0 for single faces. */ radius: number, } }
  | { "vertices": Array<number> }
  | { "grow": number }
  | { "shrink": number };

/** What of a box or lasso is meant. */
export type RegionMode = "all" | "facing" | "around";

/** Heights on a grid. */
export type Relief = { origin: [number, number], cell: number, heights: Array<Array<number>>, };

/** Turn a handle and those that follow it about its centre. Without `handles`: it and its stored secondary ones. */
export type Rotate = { main: string, handles: Array<string>, axis: [number, number, number], degrees: number, };

/** How well a rule holds. */
export type RuleInfo = {
  line: number;
  residual: number;
  unit: string;
  holds: boolean;
  /** Whether it is to be as small as possible. */
  objective: boolean;
  soft: boolean;
};

/** Where a rule would have a joint. */
export type RuleMark = {
  line: number;
  joint: number;
  holds: boolean;
  from: [number, number, number];
  to: [number, number, number];
};

/** A named plane; its normal points out of what is solid. */
export type RulePlane = { name: string, point: [number, number, number], normal: [number, number, number], };

/** Result of solving the rules. */
export type Ruled = {
  /** Whether the text has errors, and the pose is that of the last text without. */
  stale: boolean;
  diagnostics: Array<Fault>;
  solved: SolvedInfo | null;
  joints: Array<RuledJoint>;
  /** Where rules would have joints. */
  marks: Array<RuleMark>;
};

/** A joint of the pose. */
export type RuledJoint = {
  name: string;
  /** The name as rules write it. */
  word: string;
  parent: number | null;
  position: [number, number, number];
};

/** Rules and what belongs to them, as files and pages have them. */
export type Rules = {
  /** The rules, one per line. */
  text: string;
  /** Named points. */
  markers: Array<Marker>;
  /** Named planes. */
  planes: Array<RulePlane>;
  /** Pose to begin with; rest if there is none. */
  start?: StartData;
  /** Contacts of clips that the user changed. */
  contacts: Array<ClipContacts>;
  /** Grounds that clips were refitted to. */
  grounds: Array<ClipGround>;
};

/** One change of the rules. */
export type RulesChange = { "text": { text: string, } }
  | { "marker": { name: string, position: [number, number, number], } }
  | { "plane": { name: string, point: [number, number, number], normal: [number, number, number], } }
  | { "rename": { name: string, to: string, } }
  | { "remove": { name: string, } }
  | { "start": { start: StartData | null, } }
  | { "contacts": { clip: string, fps: number, contacts: Array<Contact> | null, } };

/** What was saved. */
export type Saved = { path: string, bytes: number, };

/** What a sculpting brush does. */
export type SculptOp = "push" | "pull" | "smooth";

/** Choices to change; what is absent stays. */
export type SearchChange = {
  /** As text; empty for the default. */
  objective?: string;
  /** By name. */
  optimiser?: string;
  /** By name. */
  reorder?: string;
  /** The order of Hansen (2006). */
  in_order?: boolean;
  /** Least and greatest weight. */
  limits?: [number, number];
  /** Local limit; 0 for none. */
  local?: number;
  /** Residual motion. */
  residual?: boolean;
};

/** Names of what can be chosen of the search. */
export type SearchNames = {
  optimisers: string[];
  orders: string[];
  terms: Array<TermInfo>;
  /** The default while the pointer drags targets. */
  objective: string;
  /** The default of motions. */
  objective_of_motion: string;
};

/** How bad a fault is. */
export type Severity = "error" | "warning" | "note";

/** Which shape is shown. */
export type Shown = "rest" | "posed" | "clip" | "ruled" | "jointed";

/** A muscle as it is shown. */
export type ShownMuscle = {
  /** Its name. */
  name: string;
  /** The control parameter it follows, and what that is now. */
  control: string;
  /** What that is now. */
  at: number;
  /** The template; `None` for a muscle made from a surface. */
  template: string | null;
  /** What it is placed by. */
  guide: string | null;
  /** Names of its parameters, and their values now. */
  parameters: Array<[string, number]>;
  /** Values of the control parameter at which something is recorded. */
  samples: Array<number>;
  /** How many times as stiff flesh is where it acts fully. */
  stiffen: number;
  /** Middle of its template, at rest. */
  center: [number, number, number] | null;
  /** How far it reaches. */
  reach: number;
};

/** Landmarks of one picture; none if no body was found. */
export type Sight = {
  /** Seconds. */
  time: number;
  /** 33 landmarks in metres about the hips, y down, and how sure each is. */
  world: number[][] | null;
  /** Shares of the picture, y down. */
  image: number[][] | null;
  /** Width of the picture for a height of one. */
  aspect: number;
};

/** What a character was taken for when it got its skeleton. */
export type SkeletonReport = {
  /** The plan of the body, as `sinew rig --template` names it. */
  class: string;
  /** 0 (a guess) to 1 (certain). */
  confidence: number;
  /** Joints of the skeleton. */
  joints: number;
  /** Whether the confidence is so low that the user should look at the result. */
  is_guess: boolean;
  /** All of it in one sentence. */
  text: string;
};

/** Bones, weights, rest pose and clips. */
export type SkinData = {
  /** How many bones were fitted, for the history. */
  bones: number;
  /** A GLB file of the character, without its look. */
  file: string;
};

/** How solving went. */
export type SolvedInfo = {
  converged: boolean;
  stop: string;
  rules: Array<RuleInfo>;
  conflicts: Array<ConflictInfo>;
  /** Lines that follow from others. */
  redundant: Array<number>;
  dof: number;
  dof_left: number;
  /** Names of degrees of freedom that are left. */
  free: Array<string>;
  at_limit: Array<string>;
  ms: number;
};

/** A moment of a clip. */
export type StartData = { clip: string, time: number, };

/** What an actor did, to be performed. */
export type TakeData = {
  /** Frames per second of the clip. */
  fps: number;
  /** Whether the source knows how high the actor is. */
  knows_height: boolean;
  /** Whether every joint was measured, as in motion files. */
  is_exact: boolean;
  /** Downward slope of the feet when they stand, in radians. */
  foot_slope: number | null;
  /** Times and joints as 32-bit floats; joints that were not seen are no numbers. */
  frames: string;
};

/** A target as the user puts it. */
export type TargetGoal = {
  /** Name of the handle. */
  handle: string;
  /** Where its middle should be; where it is at present if absent. */
  position?: [number, number, number] | null;
  /** Whether it must be there. */
  pin?: boolean;
};

/** A term of an objective. */
export type TermInfo = {
  name: string;
  meaning: string;
  /** Its default factor. */
  factor: number;
};

/** Shift handles. */
export type Translate = { handles: Array<string>, vector: [number, number, number], };

/** What a user can choose about a turntable. */
export type TurntableSettings = {
  /** Name of the clip. */
  clip: string;
  /** Duration of the turn in seconds. */
  seconds: number;
};

/** Twist handles about an axis, spread over others. */
export type Twist = { handles: Array<string>, axis: [number, number, number], degrees: number, over: Array<string>, };

/** A verb of the language of rules. */
export type Verb = { name: string, meaning: string, example: string, };

/** `clip_from_model`: 16 numbers, column by column. */
export type ViewMatrix = number[];

/** A walk along a line on the ground. */
export type Walk = {
  /** Points x, z. */
  line: Array<[number, number]>;
  /** Names of the left and the right foot. */
  feet: [string, string];
  /** Distance between two footprints of the same foot; in proportion to the body if absent. */
  stride?: number;
  /** Time between two footprints of the same foot. */
  seconds: number;
  /** How high a foot is lifted; in proportion to the body if absent. */
  lift?: number;
  /** Share of the time that a foot is planted. */
  stance: number;
};

/** What a user can choose about a gait. */
export type WalkSettings = {
  /** Name of the clip. */
  clip: string;
  /** walk, run, trot, pace or gallop; by the speed if absent. */
  gait: string | null;
  /** Metres per second; what suits the body if absent. */
  speed: number | null;
  /** Points to go along, in metres from where the body is: to its left, and ahead. Steady steps that can be repeated if empty. */
  line: Array<[number, number]>;
  /** What it goes over; level ground if absent. */
  ground: Ground | null;
  /** Whether it stays on the spot. */
  in_place: boolean;
  /** Frames per second. */
  fps: number;
  /** Metres per unit of the character; guessed from its size if absent. */
  unit: number | null;
};

/** What a gait does, for showing. */
export type Walked = {
  gait: string;
  /** What the body was taken for. */
  body: string;
  legs: number;
  speed: number;
  stride: number;
  stride_seconds: number;
  /** Height of the hips in metres. */
  leg: number;
  /** Of all feet, at worst. */
  slide_cm_s: number;
  lift_cm: number;
  sink_cm: number;
  /** The same in per cent of the height of the body. */
  sink_percent: number;
  feet: Array<WalkedFoot>;
  /** What is wrong with it, in words. */
  faults: Array<string>;
};

/** What a foot does while it stands and while it is lifted. */
export type WalkedFoot = { joint: string, slide_cm_s: number, lift_cm: number, };

/** The path of a body. */
export type Way = {
  /** Points in order. */
  points: Array<[number, number, number]>;
  /** Time of each point. */
  times?: Array<number>;
  /** Total duration, without times. */
  seconds?: number;
};

/** What a gesture streams. */
export type Gestured =
  | { rotate: Rotate }
  | { translate: Translate }
  | { twist: Twist }
  | { reach: ReachGoal }
  | { rules: RulesChange }
  | { puppet: Cue }
  | { flesh: FleshTouch };

/** What a page may ask for; `id` is added when an answer is wanted. */
export type Outgoing =
  | ({ type: 'ack' } & { 
/**
 * Number of the frame.
 */
frame: number, })
  | { type: 'drag'; drag: number; move: Gestured; end?: boolean }
  | ({ type: 'sample' } & { name: string, vertices: number, })
  | ({ type: 'list' } & {
  /** The root if absent. */
  folder?: string;
})
  | ({ type: 'open' } & { path: string, })
  | ({ type: 'open_upload' } & {
  /** The `D` of `/upload`. */
  drop: string;
  name: string;
})
  | ({ type: 'save' } & { path?: string, overwrite?: boolean, })
  | ({ type: 'export' } & ExportParams)
  | ({ type: 'recover' } & { recovery: string, })
  | ({ type: 'discard' } & { recovery: string, })
  | ({ type: 'do' } & { command: Command, stroke?: number, })
  | { type: 'undo' }
  | { type: 'redo' }
  | ({ type: 'jump' } & { step: number, })
  | ({ type: 'cancel_drag' } & { drag: number, })
  | ({ type: 'cancel' } & { job: number, })
  | ({ type: 'display' } & {
  what: Shown;
  /** Of `clip`: its name. */
  clip?: string;
  /** Of `clip`: seconds. */
  time?: number;
})
  | ({ type: 'stress' } & { on: boolean, })
  | ({ type: 'refine' } & { on: boolean, })
  | ({ type: 'pick' } & { view: ViewMatrix, at: [number, number], })
  | ({ type: 'paint' } & {
  handle: string;
  op: PaintOp;
  region: Region;
  /** 1 if absent. */
  weight?: number;
  stroke?: number;
})
  | ({ type: 'mirror_handle' } & { handle: string, })
  | ({ type: 'auto_handles' } & {
  /** How many; chosen if absent. */
  count?: number;
  /** Whether the skeleton is ignored. */
  from_shape?: boolean;
})
  | ({ type: 'default_center' } & { handle: string, })
  | ({ type: 'reach_end' } & { accept: boolean, })
  | ({ type: 'sculpt' } & {
  /** The stored pose that the present one is. */
  example: string | null;
  op: SculptOp;
  view: ViewMatrix;
  at: Array<[number, number]>;
  radius: number;
  /** 0..1. */
  strength: number;
  stroke?: number;
})
  | ({ type: 'pick_ground' } & { view: ViewMatrix, at: [number, number], })
  | ({ type: 'format_rules' } & { text: string, })
  | ({ type: 'walk' } & {
  /** Any of them. */
  settings: Partial<WalkSettings>;
})
  | ({ type: 'contacts' } & { clip: string, })
  | ({ type: 'fit' } & {
  /** Any of them. */
  settings: Partial<FitSettings>;
})
  | { type: 'take_fit' }
  | ({ type: 'compare' } & { on: boolean, })
  | ({ type: 'actor' } & { path: string, })
  | ({ type: 'actor_upload' } & {
  /** The `D` of `/upload`. */
  drop: string;
  name: string;
})
  | ({ type: 'puppet_demo' } & {
  /** The sample. */
  name: string;
})
  | { type: 'act_end' }
  | ({ type: 'pairing' } & { on: boolean, })
  | ({ type: 'pair' } & { name: string, target: PairTarget, })
  | ({ type: 'calibrate' } & { on: boolean, })
  | { type: 'take_begin' }
  | ({ type: 'take_end' } & { clip: string | null, })
  | ({ type: 'perform_all' } & { clip: string, })
  | ({ type: 'flesh_live' } & { on: boolean, })
  | ({ type: 'flesh_pause' } & { on: boolean, })
  | { type: 'flesh_reset' }
  | ({ type: 'flesh_push' } & { vertex: number, direction: [number, number, number], })
  | ({ type: 'flesh_cells' } & { on: boolean, })
  | ({ type: 'paint_stiffness' } & {
  /** 1 takes paint away. */
  factor: number;
  /** 0..1. */
  strength: number;
  view: ViewMatrix;
  at: Array<[number, number]>;
  radius: number;
  stroke?: number;
})
  | ({ type: 'put_joint' } & {
  view: ViewMatrix;
  at: [number, number];
  /** The joint it hangs on. */
  parent: string | null;
})
  | ({ type: 'muscle_place' } & {
  /** `bump`, `bulge`, `radial` or `torus`. */
  template: string;
  /** `skin`, `bone` or `free`. */
  guide: string;
  view: ViewMatrix;
  at: [number, number];
});

/** What is answered to each. */
export interface Replies {
  sample: Done;
  list: Folder;
  open: Opened;
  open_upload: Opened;
  save: Saved;
  export: Download;
  recover: Done;
  discard: Done;
  do: CommandReply;
  undo: Done;
  redo: Done;
  jump: Done;
  cancel_drag: Done;
  cancel: Done;
  display: Done;
  stress: Done;
  refine: Done;
  pick: Picked | null;
  paint: Done;
  mirror_handle: MirroredHandle;
  auto_handles: FoundHandles;
  default_center: Done;
  reach_end: Done;
  sculpt: Done;
  pick_ground: PickedGround | null;
  format_rules: FormattedRules;
  walk: Walked;
  contacts: ContactTrack;
  fit: FitEnded;
  take_fit: Done;
  compare: Done;
  actor: OpenedActor;
  actor_upload: OpenedActor;
  puppet_demo: OpenedActor;
  act_end: Done;
  pairing: Done;
  pair: Done;
  calibrate: Done;
  take_begin: Done;
  take_end: Performed | null;
  perform_all: Performed;
  flesh_live: Done;
  flesh_pause: Done;
  flesh_reset: Done;
  flesh_push: Done;
  flesh_cells: Done;
  paint_stiffness: Done;
  put_joint: NewJoint | null;
  muscle_place: PlacedMuscle | null;
}

/** Keys of the `welcome` message. */
export type Welcome = {
  version: string;
  /** Changes when the server was restarted. */
  session: string;
  /** Folder of the open dialog. */
  root: string;
  samples: string[];
  /** Bytes of a file that may be dropped on the page. */
  max_upload: number;
} & { methods: string[], laplacians: string[], frames: string[], } & { search: SearchNames, } & { language: LanguageInfo, } & { fit_defaults: FitSettings, } & { turntable_defaults: TurntableSettings, };

/** All keys of the `state` message; a message has those whose part changed. */
export type State = {
  name: string;
  /** Null if it has not been saved. */
  path: string | null;
  dirty: boolean;
  /** Why unsaved work is not safe on disk at present; null if it is. */
  unprotected: string | null;
  /** Which document it is, counted from the start of the server. */
  document: number;
} & { jobs: Array<Job>, recoveries: Array<Recovery>, prepare_ms: number, } & { warnings: Array<string>, } & { history: HistoryTail, } & {
  vertices: number;
  faces: number;
  /** Joints of the skeleton. */
  joints: number;
  /** Least and greatest coordinates. */
  bounds: [[number, number, number], [number, number, number]];
  /** What seems to be wrong with its unit or its up axis; null if nothing. */
  doubts: DoubtsInfo | null;
  /** What can be shown, hidden and exported by itself. */
  parts: Array<PartInfo>;
  /** Which geometry frames belong to. */
  revision: number;
  /** Where its materials are; another address for other ones. */
  appearance: string;
} & {
  display: DisplayState;
  /** Whether stretch is sent with each frame. */
  stress: boolean;
  /** Whether poses are refined while idle. */
  refine: boolean;
  /** Whether the fit is sent with each frame. */
  compare: boolean;
  /** Whether the cells of flesh are sent with each frame. */
  cells: boolean;
} & { handles: Array<HandleInfo>, } & {
  n_moves: number;
  moves: MovesTail;
  /** Whether the pose has a detail layer. */
  detail: boolean;
} & { edit: Edit, } & { examples: Array<ExampleInfo>, } & {
  /** Null if nothing is reached for. */
  reach: Reach | null;
} & { clips: Array<Clip>, } & {
  search: Search;
  /** As in paths.json. */
  paths: Paths;
  drawn: DrawnPaths;
} & { rules: Rules, grounds: Array<DrawnGround>, } & {
  /** Null until a page asks for it. */
  ruled: Ruled | null;
} & {
  /** Null if there is none. */
  fit: Fit | null;
} & { puppet: Puppet, } & {
  /** Null if there is none. */
  actor: Actor | null;
} & {
  /** Null if there is none. */
  act: Act | null;
} & { flesh: Flesh, } & { fleshed: Fleshed, } & { muscles: Muscles, };

/** What changed of the document. */
export type DocChange = Partial<State>;

/** The document as a page knows it: of moves and steps, which come in part, all of them. */
export type Doc = Omit<State, 'moves' | 'history'> & {
  moves: Move[];
  history: { first: number; steps: string[]; at: number };
};

export type Incoming =
  | ({ type: 'welcome' } & Welcome)
  | ({ type: 'state' } & DocChange)
  | { type: 'reply'; id: number; ok?: unknown; error?: string; needs_path?: boolean; exists?: boolean }
  | ({ type: 'job' } & Job)
  | ({ type: 'notice' } & Notice);
