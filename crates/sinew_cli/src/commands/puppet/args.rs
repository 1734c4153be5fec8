//! Arguments of `sinew puppet`.

use crate::commands::names::one_of;
use clap::{Args, Subcommand};
use sinew::{
    puppet::{Interpolation, Projection},
    session::PuppetSettings,
};
use std::path::PathBuf;

/// Drive a character with a recording of an actor, or live
#[derive(Args)]
#[command(after_help = "Examples:  sinew puppet soldier.glb --source walk.bvh -o take.glb\n           \
                  sinew puppet pair --pairs dog.json --source walk.bvh@0 --target dog.glb --name stand\n           \
                  sinew puppet pair --pairs dog.json --source walk.bvh@40 --target dog.glb@walk:0.3 --name step\n           \
                  sinew puppet dog.glb --pairs dog.json --source walk.bvh -o take.glb\n\n\
                  A skeleton with arms and legs needs no pairs: people do what the actor does, animals walk on the actor's legs and \
                  arms. Pose pairs replace this. `sinew sample quadruped --puppet -o fox.sinew.glb` comes with pairs that suit \
                  `--source demo`.\n\n\
                  Live: `sinew puppet fox.sinew.glb --listen --send 127.0.0.1:39540 -o take.glb`. SlimeVR, XR Animator, VSeeFace, \
                  Warudo and others send VMC. Packets from other senders and invalid packets are ignored and counted.\n\n\
                  Each joint of the character follows the limbs of the actor that distinguish its poses; \
                  {\"limbs\":{\"tail.1\":[\"arm.R\"]}} in the pairs file overrides this.")]
#[command(args_conflicts_with_subcommands = true)]
pub struct PuppetArgs {
    #[command(subcommand)]
    pub command: Option<PuppetCommand>,
    /// Character to move: one with a skeleton, or a project with handles and stored poses
    pub target: Option<PathBuf>,
    /// Pose pairs, as written by `sinew puppet pair` [default: those of the project; without any, limbs follow the actor's]
    #[arg(long, value_name = "FILE")]
    pub pairs: Option<PathBuf>,
    /// The actor: a Kinect or landmark recording, a BVH file or an animated GLB; FILE@CLIP chooses a clip; `demo` is a built-in actor
    #[arg(long, value_name = "MOTION")]
    pub source: Option<String>,
    /// Follow a performer live: VMC over UDP at this address and port [default: 127.0.0.1:39539]
    #[arg(long, value_name = "ADDR:PORT", num_args = 0..=1, default_missing_value = "", conflicts_with = "source")]
    pub listen: Option<String>,
    /// Listen to this sender only [default: the first that sends]
    #[arg(long, value_name = "ADDR[:PORT]", requires = "listen")]
    pub from: Option<String>,
    /// Send the moving character as VMC
    #[arg(long, value_name = "ADDR:PORT", requires = "listen")]
    pub send: Option<String>,
    /// Stop after this many seconds [default: at Ctrl-C]
    #[arg(long, value_name = "S", requires = "listen")]
    pub seconds: Option<f64>,
    /// How a pose becomes weights: linear (jittery), positive (never beyond the pairs), l1 (between the two), radial (by similarity)
    #[arg(long, default_value_t = PuppetSettings::default().projection, value_parser = Projection::NAMES)]
    pub projection: String,
    /// Penalty of negative weights for l1: 0 gives linear, large values positive [default: 0.02]
    #[arg(long, value_name = "L")]
    pub lambda: Option<f64>,
    /// How poses are blended: by joint rotations (fk) or by matrices (linear)
    #[arg(long, default_value = "fk", value_parser = one_of(Interpolation::ALL, Interpolation::name))]
    pub interpolation: Interpolation,
    /// Smoothing: 0 none, 1 strongest (and slow) [default: 0.4 for cameras, none for motion files]
    #[arg(long, value_name = "S")]
    pub smoothing: Option<f64>,
    /// Mirror left and right
    #[arg(long)]
    pub mirror: bool,
    /// Limbs to ignore: torso, arm.L, arm.R, leg.L, leg.R
    #[arg(long, value_name = "LIMB", value_delimiter = ',')]
    pub ignore: Vec<String>,
    /// Seconds until the character returns to rest after tracking is lost
    #[arg(long, value_name = "SECONDS", default_value_t = PuppetSettings::default().hold)]
    pub hold: f64,
    /// Calibration of camera and actor, as written by `sinew puppet calibrate`
    #[arg(long, value_name = "FILE")]
    pub calibration: Option<PathBuf>,
    /// Limit of extrapolation beyond the pairs: largest sum of negative weights
    #[arg(long, value_name = "L", default_value_t = PuppetSettings::default().limit)]
    pub limit: f64,
    /// Project the whole body at once instead of limb by limb
    #[arg(long)]
    pub whole_body: bool,
    /// Metres of the character per metre of the actor [default: the ratio of their heights]
    #[arg(long, value_name = "X")]
    pub scale: Option<f64>,
    /// Do not travel with the actor
    #[arg(long)]
    pub in_place: bool,
    /// Follow the travel of the actor's hips without planting the feet
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
    /// Calibrate a tilted camera and the actor's size from a frame in which the actor stands straight
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
    /// File of pairs to add to; created if it does not exist
    #[arg(long, value_name = "FILE")]
    pub pairs: PathBuf,
    /// The actor's pose: a frame of a recording or motion, counted from 0
    #[arg(long, value_name = "FILE@FRAME")]
    pub source: String,
    /// The character's pose: at rest (FILE), a frame at 30 fps (FILE@12), a moment of a clip (FILE@walk:0.4) or a
    /// stored pose of its handles (FILE@wave)
    #[arg(long, value_name = "FILE@POSE")]
    pub target: String,
    /// Name of the pair; an existing pair of that name is replaced
    #[arg(long)]
    pub name: Option<String>,
}
