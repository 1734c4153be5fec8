//! What can be typed.

mod flesh;
mod puppet;
mod scene;

pub use flesh::FleshArgs;
pub use puppet::{CalibrateArgs, PairArgs, PuppetArgs, PuppetCommand};
pub use scene::{HandleArgs, ObstacleArgs};

use crate::commands::muscle::MuscleCommand;
use clap::{
    Args, Parser, Subcommand,
    builder::{PossibleValuesParser, TypedValueParser},
};
use sinew::{
    deform::{
        Frames, Method,
        examples::{Optimiser, Reorder},
    },
    geom::{
        operators::LaplacianKind,
        sample::{PoseSet, Sample},
    },
    skin::{Blending, Grouping, Transforms},
};
use std::{num::NonZeroUsize, path::PathBuf};

/// Turn any mesh into a moving character.
#[derive(Parser)]
#[command(name = "sinew", version, about = "Turn any mesh into a moving character", max_term_width = 100)]
#[command(after_help = "Without a command, the studio opens. Try also:  sinew sample biped -o biped.glb")]
pub struct Cli {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Options of every command.
#[derive(Args)]
pub struct Common {
    /// Print exactly one JSON object as the result
    #[arg(long, global = true)]
    pub json: bool,
    /// Print no progress and no warnings
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Use at most N threads [default: all]
    #[arg(long, global = true, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// Seed of commands that use chance (fit, solve, `--optimiser annealing`); the same seed gives the same result
    #[arg(long, global = true, value_name = "N", default_value_t = 0)]
    pub seed: u64,
}

#[derive(Subcommand)]
pub enum Command {
    /// Tell what is in a file, and what is wrong with it
    Info(InfoArgs),
    /// Convert any readable format to any writable one
    Convert(ConvertArgs),
    /// Make a built-in character or cloth sequence
    Sample(SampleArgs),
    /// Deform a model by moving its handles
    #[command(
        after_help = "moves.json: {\"moves\":[{\"rotate\":{\"main\":\"elbow.L\",\"axis\":[0,0,1],\"degrees\":60}},\n  \
                      {\"translate\":{\"handles\":[\"head\"],\"vector\":[0,0.1,0]}},\n  \
                      {\"twist\":{\"handles\":[\"hand.L\"],\"axis\":[1,0,0],\"degrees\":90,\"over\":[\"forearm.L\"]}}]}\n\
                      Axes are in model space at rest. Without \"handles\", rotate turns main and what moves along.\n\n\
                      frame_ms is the median of five solves (fewer if they take over 2 s together)."
    )]
    Pose(PoseArgs),
    /// Turn a deforming mesh into bones and weights: a small skin that plays everywhere
    #[command(
        after_help = "E_RMS_diag1 is the root mean square error in percent of the diagonal of the rest pose; E_RMS, dE and\n\
                      d_avg are those of Antonopoulos 2010 (eqs. 6.1 to 6.3). They are measured on what was written.\n\n\
                      Affine bones scale and shear, which glTF joints do not: each becomes two joints."
    )]
    Fit(Box<FitArgs>),
    /// Work with handles: the regions by which a surface is moved
    Handles {
        #[command(subcommand)]
        command: HandlesCommand,
    },
    /// Find the blend of example poses that brings handles to targets
    #[command(
        after_help = "The objective is a sum of terms: dtt distance to targets, sow sum of weights, omsow weights \
                            not summing to 1,\ndfe unlike the examples, now many weights, dtl far from the last pose, \
                            neu(N) more than N examples in use.\nExample:  sinew sample biped --poses walk -o \
                            walk.sinew.glb && sinew reach walk.sinew.glb --by foot.L=0,0.1,0.3"
    )]
    Reach(ReachArgs),
    /// Move a character along paths or from example to example
    #[command(
        after_help = "paths.json: {\"walk\":{\"line\":[[0,0],[0,4]],\"feet\":[\"foot.L\",\"foot.R\"]},\
                            \"ground\":{\"hills\":{\"height\":0.3,\"length\":3}}}\n  \
                            or {\"paths\":[{\"handle\":\"hand.L\",\"points\":[[0.3,1.2,0.4],[0.3,1.5,0.4]],\
                            \"seconds\":2,\"pin\":true}]}\nGround: {\"flat\":0}, {\"steps\":{\"rise\":0.15,\
                            \"run\":0.3,\"count\":5}}, hills, {\"field\":{\"cell\":1,\"heights\":[[0,1],[1,0]]}}"
    )]
    Animate(AnimateArgs),
    /// Fit a clip to another body and another ground: feet stand, nothing slides or sinks
    #[command(
        after_help = "Contacts are found in the clip itself, whatever ground it was made on. The body is another \
                      file with the same names\nof joints, or the clip's own with other limbs (--scale). Slopes, \
                      steps and hills are laid out along the way of the clip.\n\nExamples:  sinew refit walk.bvh \
                      --scale legs=0.7 --ground slope:10 -o uphill.bvh\n           sinew refit walk.bvh --skeleton \
                      child.glb --ground steps:0.15,0.3 -o child-on-stairs.glb"
    )]
    Refit(RefitArgs),
    /// Find a pose at which rules hold: contacts, distances, directions, ranges, written as text
    #[command(after_help = "rules: one a line, verb first; docs/rules.md has them all.\n  \
                      plane Floor = through StepMarker normal FloorNormal1 -> FloorNormal2\n  \
                      pin FootR to StepMarker\n  \
                      aim FootR -> MiddleToeR along FloorMarker1 -> FloorMarker2\n  \
                      distance WristL WristR = 35 cm\n  \
                      put FootL on Floor weight 2\n  \
                      range KneeR.rx in 0 .. 150 deg\n  \
                      maximize HeadTop.y priority 2\n\n\
                      Residuals are told in centimetres and degrees, values in metres and degrees. Rules that cannot all\n\
                      hold are no failure: the best compromise is given, and what stands against what.")]
    Solve(SolveArgs),
    /// Give a character elastic flesh that follows its bones over a clip: it sags, jiggles and meets the floor
    #[command(
        after_help = "The surface is filled with cubic cells by itself, open and overlapping ones too. The result is a \
                      sequence of vertices\n(morph targets, or a folder of obj files), or with --fit a skin. Ctrl-C stops \
                      and keeps what is done.\n\nExamples:  sinew flesh biped.glb --clip walk -o soft.glb\n           \
                      sinew flesh cow.glb --stiffness 1e4 --stiffen head=30,ear.L=0.3 --floor 0 -o cow.glb\n           \
                      sinew flesh dog.glb --clip walk --fit 40 -o dog-skin.glb"
    )]
    Flesh(Box<FleshArgs>),
    /// Shape flesh with muscles: bumps, bulges, rings or whole surfaces, driven by joints or curves
    #[command(
        after_help = "A muscle follows one control parameter: a joint (elbow.L.bend, head.ry), or a name of your own.\n\n\
                      Examples:  sinew muscle add biped.glb breath --template bump --vertex 3614 --out 0.02 -o biped.muscles.json\n           \
                      sinew muscle add arm.glb flex --target bent.obj --control elbow.bend -o arm.muscles.json\n           \
                      sinew muscle fit biped.glb --muscles biped.muscles.json --muscle breath --drag 3614+0,0,0.03\n           \
                      sinew muscle drive biped.glb --muscles biped.muscles.json --clip walk --curve breath=0:0,1:1,2:0 -o soft.glb\n           \
                      sinew muscle transfer cat.glb --muscles cat.muscles.json --to lion.obj --features markers.yml -o lion.muscles.json"
    )]
    Muscle {
        #[command(subcommand)]
        command: MuscleCommand,
    },
    /// Move a character by the recording of a body, from a few pairs of poses
    #[command(
        after_help = "Example:  sinew puppet pair --pairs dog.json --source walk.bvh@0 --target dog.glb --name stand\n          \
                      sinew puppet pair --pairs dog.json --source walk.bvh@40 --target dog.glb@walk:0.3 --name step\n          \
                      sinew puppet dog.glb --pairs dog.json --source walk.bvh -o take.glb\n\n\
                      `sinew sample quadruped --puppet -o fox.sinew.glb` has pairs, for which `--source demo` is an actor.\n\
                      Live: `sinew puppet fox.sinew.glb --listen --send 127.0.0.1:39540 -o take.glb`; VMC comes from SlimeVR,\n\
                      XR Animator, VSeeFace, Warudo and others. Packets of other senders, garbage and floods are ignored and counted.\n\n\
                      Each joint of the character follows the limbs of the actor that tell its poses apart; \
                      {\"limbs\":{\"tail.1\":[\"arm.R\"]}}\nin the file of pairs decides otherwise."
    )]
    Puppet(Box<PuppetArgs>),
    /// Open the studio in the browser, on a file or the built-in sample; so does `sinew` alone
    #[cfg(feature = "studio")]
    Studio(StudioArgs),
    /// Measure Sinew beside its peers: `sinew bench` lists what there is, `sinew bench fit --peers` races one
    Bench(BenchArgs),
    /// Print what this program is made of, and under which licences
    Licenses(LicensesArgs),
    /// Print completions for a shell: `source <(sinew completions bash)`
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
}

#[derive(Args)]
pub struct BenchArgs {
    /// Areas, each with its options behind it [default: list them]
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "AREA")]
    pub words: Vec<String>,
}

#[derive(Args)]
pub struct LicensesArgs {
    /// One part only, such as serde [default: all]
    pub name: Option<String>,
}

#[cfg(feature = "studio")]
#[derive(Args, Default)]
pub struct StudioArgs {
    /// Project, character, mesh or folder of frames to open [default: the built-in sample]
    pub file: Option<PathBuf>,
    /// Port on this machine [default: any free one]
    #[arg(long, value_name = "P", default_value_t = 0)]
    pub port: u16,
    /// Print the address, and do not open the browser
    #[arg(long)]
    pub no_open: bool,
    /// Let others on the network in, who need a launch link
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<std::net::IpAddr>,
    /// Folder that the studio may open from and save to [default: that of FILE, else the present one]
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
}

#[derive(Args)]
pub struct InfoArgs {
    /// Meshes (obj, ply, stl, off, mesh), characters (glb, gltf, vrm), motions (bvh, vrma), recordings (txt,
    /// json), or folders of numbered meshes
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
}

#[derive(Args)]
pub struct ConvertArgs {
    /// File or folder to read
    pub input: PathBuf,
    /// File to write (glb, obj, ply, bvh), or a folder for a sequence of obj files
    pub output: PathBuf,
    /// Mend the mesh: merge coincident vertices, drop degenerate and duplicate faces, orient, split
    /// non-manifold places
    #[arg(long)]
    pub repair: bool,
    /// With --repair, merge vertices closer than this many metres, not only coincident ones
    #[arg(long, value_name = "METRES", requires = "repair")]
    pub weld: Option<f64>,
    /// Multiply all lengths, for example 0.01 for centimetres
    #[arg(long, default_value_t = 1.0)]
    pub scale: f64,
    /// Turn handles into bones with at most 4 weights a vertex, for tools that know skeletons only
    #[arg(long)]
    pub as_skin: bool,
    /// Which clip to write as BVH or as a sequence [default: the first]
    #[arg(long)]
    pub clip: Option<String>,
    /// Frames per second of sequences and BVH [default: as the input, else 30]
    #[arg(long)]
    pub fps: Option<f64>,
    /// Influences a vertex, up to 8; more than 4 are ignored by many players
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=8))]
    pub influences: u8,
}

#[derive(Args)]
pub struct SampleArgs {
    /// Which one
    #[arg(value_parser = sample_parser())]
    pub name: Sample,
    /// About how many vertices, 1000 to 1000000
    #[arg(long, short = 'n', default_value_t = 5_000, value_name = "N")]
    pub vertices: usize,
    /// Example poses to put in: first, walk, limbs (biped), jump (sack); the file is a project then
    #[arg(long, value_name = "SET", value_parser = poses_parser())]
    pub poses: Option<PoseSet>,
    /// Put in pairs of poses and a demonstration of puppetry (quadruped, octopus, sack, bar); the file is a project then
    #[arg(long, conflicts_with = "poses")]
    pub puppet: bool,
    /// File to write (glb, obj, ply), or a folder for a sequence of obj files
    #[arg(long, short)]
    pub output: PathBuf,
}

/// How example poses are searched.
#[derive(Args)]
pub struct SearchArgs {
    /// Search method: ours, or one of the thesis
    #[arg(long, default_value = "newton", value_parser = optimiser_parser())]
    pub optimiser: Optimiser,
    /// What makes a pose good, such as "dtt+0.2omsow+0.3dfe" [default: dtt+0.2omsow, with +0.1dtl for motion]
    #[arg(long, value_name = "TERMS")]
    pub objective: Option<String>,
    /// In which order examples are tried
    #[arg(long, default_value = "none", value_parser = reorder_parser())]
    pub reorder: Reorder,
    /// Load examples one after the other, as in the thesis, so that their order matters
    #[arg(long)]
    pub in_order: bool,
    /// Least and greatest weight [default: 0..1]
    #[arg(long, value_name = "LOW..HIGH", allow_hyphen_values = true)]
    pub limits: Option<String>,
    /// How far a weight may move in a frame
    #[arg(long, value_name = "W")]
    pub local: Option<f64>,
    /// Stay within what the examples span, rather than let handles move a little further to reach their targets
    #[arg(long)]
    pub examples_only: bool,
    /// Use a built-in set of poses rather than those of the project
    #[arg(long, value_name = "SET", value_parser = poses_parser())]
    pub poses: Option<PoseSet>,
}

#[derive(Args)]
pub struct ReachArgs {
    /// Project with handles and example poses
    pub project: PathBuf,
    /// A handle and the place for the middle of it, in metres: hand.L=0.3,1.2,0.4
    #[arg(long, value_name = "NAME=X,Y,Z", allow_hyphen_values = true, required_unless_present = "by")]
    pub to: Vec<String>,
    /// The same, counted from where it is at rest
    #[arg(long, value_name = "NAME=X,Y,Z", allow_hyphen_values = true)]
    pub by: Vec<String>,
    /// A handle that must stay where it is at rest
    #[arg(long, value_name = "NAME")]
    pub pin: Vec<String>,
    #[command(flatten)]
    pub search: SearchArgs,
    /// File to write the posed surface to (glb, obj, ply)
    #[arg(long, short)]
    pub output: Option<PathBuf>,
}

#[derive(Args)]
pub struct AnimateArgs {
    /// Project with handles and example poses
    pub project: PathBuf,
    /// Paths, walk and ground (paths.json)
    #[arg(long, value_name = "FILE", required_unless_present = "keyframes", conflicts_with = "keyframes")]
    pub paths: Option<PathBuf>,
    /// Examples to go through, one after the other
    #[arg(long, value_name = "NAME,NAME,…")]
    pub keyframes: Option<String>,
    /// Of keyframes: seconds from one to the next
    #[arg(long, value_name = "S", default_value_t = 0.5)]
    pub seconds: f64,
    /// Frames a second
    #[arg(long, default_value_t = 30.0)]
    pub fps: f64,
    #[command(flatten)]
    pub search: SearchArgs,
    /// File to write (glb), or a folder of obj files
    #[arg(long, short)]
    pub output: PathBuf,
}

#[derive(Args)]
pub struct RefitArgs {
    /// Clip to fit (bvh, glb)
    pub clip: PathBuf,
    /// Body to fit it to (glb, bvh, skeleton json), with the clip's names of joints [default: the clip's own]
    #[arg(long, value_name = "FILE")]
    pub skeleton: Option<PathBuf>,
    /// Lengths of that body: all, legs, feet, arms or a joint's name, and a factor
    #[arg(long, value_name = "PART=FACTOR,…", value_delimiter = ',')]
    pub scale: Vec<String>,
    /// Rules that hold over its frames, such as `distance LeftHand RightHand >= 20 cm`
    #[arg(long, value_name = "FILE")]
    pub rules: Option<PathBuf>,
    /// Ground in metres: flat, slope:DEGREES, steps:RISE,RUN, hills, hills:HEIGHT,LENGTH, or a file with a height field
    #[arg(long, value_name = "GROUND", default_value = "flat", allow_hyphen_values = true)]
    pub ground: String,
    /// Whether the ground is laid along the clip's way or along +Z of the world [default: way; world for files]
    #[arg(long, value_name = "WHAT", value_parser = ["way", "world"])]
    pub ground_along: Option<String>,
    /// Joints that carry feet [default: found by their names]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub feet: Vec<String>,
    /// Which clip of the file [default: the first]
    #[arg(long, value_name = "CLIP")]
    pub name: Option<String>,
    /// Frames a second of the result [default: those of the clip]
    #[arg(long)]
    pub fps: Option<f64>,
    /// Metres a unit of a BVH clip [default: guessed from the length of its legs]
    #[arg(long, value_name = "METRES")]
    pub unit: Option<f64>,
    /// Fit every frame on its own, for comparison: it jerks
    #[arg(long)]
    pub frame_by_frame: bool,
    /// File to write (bvh, glb)
    #[arg(long, short)]
    pub output: PathBuf,
}

#[derive(Args)]
pub struct SolveArgs {
    /// Rules, as text
    pub rules: PathBuf,
    /// Skeleton to pose (json, bvh, glb) [default: the one the rules name]
    #[arg(long, value_name = "FILE")]
    pub skeleton: Option<PathBuf>,
    /// Of a json skeleton: another choice of degrees of freedom it offers
    #[arg(long, value_name = "NAME")]
    pub variant: Option<String>,
    /// Where to begin: frame N of a clip (FILE@N, or @N of the skeleton's own), or a named pose of a json skeleton
    /// [default: the pose at rest]
    #[arg(long, value_name = "FILE@FRAME")]
    pub pose: Option<String>,
    /// What rules call `Ground`: flat, slope:10, steps:0.15,0.3, hills, or a file of a ground [default: none]
    #[arg(long, value_name = "GROUND")]
    pub ground: Option<String>,
    /// How to solve: ours, or the thesis's Newton-Raphson with the Moore-Penrose inverse (no ranges, equations only)
    #[arg(long, default_value = "default", value_parser = ["default", "newton"])]
    pub solver: String,
    /// Solve equations as they are written, rather than better ones with the same solutions
    #[arg(long)]
    pub as_written: bool,
    /// Let joints leave their ranges
    #[arg(long)]
    pub no_ranges: bool,
    /// Take any pose at which the rules hold, rather than the one nearest to the start
    #[arg(long)]
    pub any: bool,
    /// Print the equations, their derivatives, and what was rewritten and why
    #[arg(long)]
    pub explain: bool,
    /// Only write the rules evenly, to standard output or to -o
    #[arg(long)]
    pub format: bool,
    /// File to write the pose to (glb, bvh, json)
    #[arg(long, short)]
    pub output: Option<PathBuf>,
}

#[derive(Args)]
pub struct PoseArgs {
    /// Mesh or character to pose
    pub model: PathBuf,
    /// Handles (handles.json) [default: those the model carries, else found as by `handles auto`]
    #[arg(long, value_name = "FILE")]
    pub handles: Option<PathBuf>,
    /// What to do with them (moves.json)
    #[arg(long, value_name = "FILE")]
    pub moves: PathBuf,
    /// How the soft surface between the handles follows
    #[arg(long, default_value = "guided", value_parser = method_parser())]
    pub method: Method,
    /// Of lipman: which differentials of the surface are kept
    #[arg(long, default_value = "cotangent", value_parser = laplacian_parser())]
    pub laplacian: LaplacianKind,
    /// Of lipman: rings of handle vertices that enter the system
    #[arg(long, value_name = "RINGS", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..))]
    pub band: u8,
    /// Of lipman: where the rotation of details is read: a smooth solution (the thesis), one without rotation
    /// (as Blender), or averaged normals
    #[arg(long, default_value = "smooth", value_parser = frames_parser())]
    pub frames: Frames,
    /// Refine the posed surface at full resolution, so many times; 1 is what suits the guided method
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=1000))]
    pub refine: u16,
    /// File to write (glb, obj, ply)
    #[arg(long, short)]
    pub output: PathBuf,
}

#[derive(Args)]
pub struct FitArgs {
    /// Folders of numbered meshes, or glb files whose animation is taken; several share their bones and weights, and
    /// each becomes a clip
    #[arg(required = true)]
    pub sequences: Vec<PathBuf>,
    /// Number of bones [default: 50]
    #[arg(long, value_name = "K", conflicts_with = "error")]
    pub bones: Option<usize>,
    /// Instead of a number of bones: as few as reach this error, such as 0.1% of the diagonal (E_RMS_diag1)
    #[arg(long, value_name = "PERCENT", value_parser = percent_parser)]
    pub error: Option<f64>,
    /// Bones a vertex follows at most; more than 4 are ignored by many players
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=8))]
    pub influences: u8,
    /// What a bone may do: affine is smaller in error, rigid in bytes
    #[arg(long, default_value = "affine", value_parser = transforms_parser())]
    pub transforms: Transforms,
    /// Keep the rest pose as it is given
    #[arg(long)]
    pub keep_rest: bool,
    /// Rounds of refinement at most
    #[arg(long, value_name = "N", default_value_t = 80, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub rounds: u16,
    /// Try several starts, keep the best and refine it to the end; about three times as slow
    #[arg(long)]
    pub thorough: bool,
    /// Stop refining after so many seconds and keep the best so far
    #[arg(long, value_name = "S")]
    pub seconds: Option<f64>,
    /// Proxy joints as Antonopoulos 2010 places them: more where more deforms, or evenly; needs no other option
    #[arg(long, value_name = "WHERE", value_parser = ["deform", "pcenter"])]
    pub joints: Option<String>,
    /// Weights as Antonopoulos 2010 finds them from proxy joints
    #[arg(long, value_name = "HOW", value_parser = blending_parser())]
    pub weights: Option<Blending>,
    /// With --joints deform: how facets are grouped [default: growing]
    #[arg(long, value_name = "HOW", value_parser = grouping_parser(), requires = "joints")]
    pub grouping: Option<Grouping>,
    /// With --joints: how transforms are found [default: direct]
    #[arg(long, value_name = "HOW", value_parser = ["direct", "lsqr"], requires = "joints")]
    pub transforms_by: Option<String>,
    /// With --joints: enlargement of a joint's reach [default: 1.6]
    #[arg(long, value_name = "P", requires = "joints")]
    pub p_factor: Option<f64>,
    /// With --weights convolution: passes [default: 5]
    #[arg(long, value_name = "N", requires = "joints")]
    pub passes: Option<u16>,
    /// With --joints deform: regions of like deformation [default: 20]
    #[arg(long, value_name = "N", requires = "joints")]
    pub regions: Option<u16>,
    /// With --joints: correct the weights after the transforms are found
    #[arg(long, requires = "joints")]
    pub correct_weights: bool,
    /// Fit the bones to a sequence with this share of its vertices removed
    #[arg(long, value_name = "SHARE", conflicts_with = "error")]
    pub decimate: Option<f64>,
    /// With --decimate: where merged vertices lie [default: second]
    #[arg(long, value_name = "WHERE", value_parser = ["second", "optimal"], requires = "decimate")]
    pub merge: Option<String>,
    /// With --decimate and --joints deform: one queue of contractions, or one a region [default: global]
    #[arg(long, value_name = "WHICH", value_parser = ["global", "regions"], requires = "decimate")]
    pub queue: Option<String>,
    /// Add so many displacements of the rest pose as morph targets (EigenSkin)
    #[arg(long, value_name = "F", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=1000))]
    pub eigenskin: u16,
    /// Hold only about N vertices of the sequence in memory and read its frames three times; the rest pose is kept
    #[arg(long, value_name = "N", conflicts_with_all = ["error", "decimate", "joints", "weights", "report"])]
    pub sample: Option<usize>,
    /// Write a page that shows the errors on the surface (html)
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Frames per second [default: as the input, else 30]
    #[arg(long)]
    pub fps: Option<f64>,
    /// How far leaving out keys may move a vertex, in percent of the diagonal [default: a tenth of the error]
    #[arg(long, value_name = "PERCENT", value_parser = percent_parser)]
    pub key_tolerance: Option<f64>,
    /// Weights in 16 bits, normals in 8
    #[arg(long)]
    pub quantize: bool,
    /// File to write (glb)
    #[arg(long, short)]
    pub output: PathBuf,
}

#[derive(Subcommand)]
pub enum HandlesCommand {
    /// Find handles: of the bones if there is a skin, else of the shape
    Auto(HandlesAutoArgs),
}

#[derive(Args)]
pub struct HandlesAutoArgs {
    /// Mesh or character
    pub model: PathBuf,
    /// About how many, up to 1000 [default: as many as the shape suggests]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub count: Option<u16>,
    /// Use the shape alone even if there is a skin
    #[arg(long)]
    pub from_shape: bool,
    /// File to write: handles alone (json), or the character with them (glb)
    #[arg(long, short)]
    pub output: PathBuf,
}

/// A positive number, with or without a percent sign.
fn percent_parser(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim();
    match number.parse::<f64>() {
        Ok(percent) if percent.is_finite() && percent > 0.0 => Ok(percent),
        _ => Err("give a positive number of percents, such as 0.1%".to_owned()),
    }
}

/// Names of the weights of Antonopoulos (2010), for errors, help and completions.
fn blending_parser() -> impl TypedValueParser<Value = Blending> {
    PossibleValuesParser::new(Blending::ALL.map(Blending::name))
        .try_map(|name| Blending::from_name(&name).ok_or("there is no such kind"))
}

/// Names of the ways to group facets, for errors, help and completions.
fn grouping_parser() -> impl TypedValueParser<Value = Grouping> {
    PossibleValuesParser::new(Grouping::ALL.map(Grouping::name))
        .try_map(|name| Grouping::from_name(&name).ok_or("there is no such way"))
}

/// Names of what bones may do, for errors, help and completions.
fn transforms_parser() -> impl TypedValueParser<Value = Transforms> {
    PossibleValuesParser::new(Transforms::ALL.map(Transforms::name))
        .try_map(|name| Transforms::from_name(&name).ok_or("there is no such kind"))
}

/// Names of the Laplacians, for errors, help and completions.
fn laplacian_parser() -> impl TypedValueParser<Value = LaplacianKind> {
    PossibleValuesParser::new(LaplacianKind::ALL.map(LaplacianKind::name))
        .try_map(|name| LaplacianKind::from_name(&name).ok_or("there is no such Laplacian"))
}

/// Names of the sources of rotations, for errors, help and completions.
fn frames_parser() -> impl TypedValueParser<Value = Frames> {
    PossibleValuesParser::new(Frames::ALL.map(Frames::name))
        .try_map(|name| Frames::from_name(&name).ok_or("there is no such choice"))
}

/// Names of the methods, for errors, help and completions.
fn method_parser() -> impl TypedValueParser<Value = Method> {
    PossibleValuesParser::new(Method::ALL.map(Method::name))
        .try_map(|name| Method::from_name(&name).ok_or("there is no such method"))
}

/// Names of the samples, for errors, help and completions.
fn sample_parser() -> impl TypedValueParser<Value = Sample> {
    PossibleValuesParser::new(Sample::ALL.map(Sample::name))
        .try_map(|name| Sample::from_name(&name).ok_or("there is no such sample"))
}

/// Names of the sets of poses, for errors, help and completions.
fn poses_parser() -> impl TypedValueParser<Value = PoseSet> {
    PossibleValuesParser::new(PoseSet::ALL.map(PoseSet::name))
        .try_map(|name| PoseSet::from_name(&name).ok_or("there is no such set"))
}

/// Names of the optimisers, for errors, help and completions.
fn optimiser_parser() -> impl TypedValueParser<Value = Optimiser> {
    PossibleValuesParser::new(Optimiser::ALL.map(Optimiser::name))
        .try_map(|name| Optimiser::from_name(&name).ok_or("there is no such optimiser"))
}

/// Names of the orders, for errors, help and completions.
fn reorder_parser() -> impl TypedValueParser<Value = Reorder> {
    PossibleValuesParser::new(Reorder::ALL.map(Reorder::name))
        .try_map(|name| Reorder::from_name(&name).ok_or("there is no such order"))
}
