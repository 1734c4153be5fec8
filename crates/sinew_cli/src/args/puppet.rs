//! What can be typed after `sinew puppet`.

use clap::{
    Args, Subcommand,
    builder::{PossibleValuesParser, TypedValueParser},
};
use sinew::puppet::{Interpolation, Projection};
use std::path::PathBuf;

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct PuppetArgs {
    #[command(subcommand)]
    pub command: Option<PuppetCommand>,
    /// Character to move: one with a skeleton, or a project with handles and stored poses
    pub target: Option<PathBuf>,
    /// Pairs of poses, as `sinew puppet pair` makes them; those of the project if absent
    #[arg(long, value_name = "FILE")]
    pub pairs: Option<PathBuf>,
    /// The actor: a Kinect or landmark recording, a BVH file or an animated GLB; FILE@CLIP chooses a clip; `demo` is our own
    #[arg(long, value_name = "MOTION")]
    pub source: Option<String>,
    /// Follow a performer live instead: VMC over UDP, at this address and port [default: 127.0.0.1:39539]
    #[arg(long, value_name = "ADDR:PORT", num_args = 0..=1, default_missing_value = "", conflicts_with = "source")]
    pub listen: Option<String>,
    /// Listen to this performer only; else to the first who is heard
    #[arg(long, value_name = "ADDR[:PORT]", requires = "listen")]
    pub from: Option<String>,
    /// Send the character on as VMC while it performs
    #[arg(long, value_name = "ADDR:PORT", requires = "listen")]
    pub send: Option<String>,
    /// End after so many seconds; else Ctrl-C does
    #[arg(long, value_name = "N", requires = "listen")]
    pub seconds: Option<f64>,
    /// How a pose becomes weights: linear shakes, positive never goes beyond the pairs, l1 is between, radial goes by likeness
    #[arg(long, default_value = "l1", value_parser = Projection::NAMES)]
    pub projection: String,
    /// Price of negative weights for l1: 0 is linear, a large one positive [default: 0.02]
    #[arg(long, value_name = "L")]
    pub lambda: Option<f64>,
    /// How poses of a skeleton are blended: by the turns of joints (fk), or their matrices, as vertices (linear)
    #[arg(long, default_value = "fk", value_parser = interpolation_parser())]
    pub interpolation: Interpolation,
    /// 0 leaves the recording as it is, 1 makes it slow and smooth
    #[arg(long, value_name = "S", default_value_t = 0.4)]
    pub smoothing: f64,
    /// Exchange left and right, as in a mirror
    #[arg(long)]
    pub mirror: bool,
    /// Limbs not to listen to: torso, arm.L, arm.R, leg.L, leg.R
    #[arg(long, value_name = "LIMB", value_delimiter = ',')]
    pub ignore: Vec<String>,
    /// Seconds after which a body that stays lost begins to stand
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    pub hold: f64,
    /// What is known of camera and actor, as `sinew puppet calibrate` writes it
    #[arg(long, value_name = "FILE")]
    pub calibration: Option<PathBuf>,
    /// How far beyond the pairs it may go: the most that negative weights sum to
    #[arg(long, value_name = "L", default_value_t = 0.5)]
    pub limit: f64,
    /// Project the body as a whole, as the thesis does, instead of limb by limb
    #[arg(long)]
    pub whole_body: bool,
    /// Metres of the character for a metre of the actor [default: the ratio of their heights]
    #[arg(long, value_name = "X")]
    pub scale: Option<f64>,
    /// Do not travel with the actor
    #[arg(long)]
    pub in_place: bool,
    /// Travel as the actor's hips do, whatever the feet of the character touch
    #[arg(long)]
    pub no_feet: bool,
    /// File to write: the character with the take as a clip (glb), its skeleton (bvh)
    #[arg(long, short)]
    pub output: Option<PathBuf>,
}

#[derive(Subcommand)]
pub enum PuppetCommand {
    /// Pair a pose of the actor with one of the character
    Pair(PairArgs),
    /// Learn a tilted camera and the actor's size from a frame in which the actor stands straight
    Calibrate(CalibrateArgs),
}

#[derive(Args)]
pub struct CalibrateArgs {
    /// The actor standing straight: a frame of a recording or motion, counted from 0
    #[arg(long, value_name = "FILE@FRAME")]
    pub source: String,
    /// File to write, for `sinew puppet --calibration`
    #[arg(long, short)]
    pub output: PathBuf,
}

#[derive(Args)]
pub struct PairArgs {
    /// File of pairs to add to; it is made if need be
    #[arg(long, value_name = "FILE")]
    pub pairs: PathBuf,
    /// The actor's pose: a frame of a recording or motion, counted from 0
    #[arg(long, value_name = "FILE@FRAME")]
    pub source: String,
    /// The character's pose: at rest (FILE), a frame at 30 a second (FILE@12), a moment of a clip (FILE@walk:0.4) or a
    /// stored pose of its handles (FILE@wave)
    #[arg(long, value_name = "FILE@POSE")]
    pub target: String,
    /// Name of the pair; one of that name is replaced
    #[arg(long)]
    pub name: Option<String>,
}

/// Names of the interpolations, for errors, help and completions.
fn interpolation_parser() -> impl TypedValueParser<Value = Interpolation> {
    PossibleValuesParser::new(Interpolation::ALL.map(Interpolation::name))
        .try_map(|name| Interpolation::from_name(&name).ok_or("there is no such way"))
}
