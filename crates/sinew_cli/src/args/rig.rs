//! What can be typed after `sinew rig`.

use super::FleshArgs;
use clap::{
    Args, Subcommand,
    builder::{PossibleValuesParser, TypedValueParser},
};
use sinew::flesh::rig::Template;
use std::path::PathBuf;

#[derive(Subcommand)]
pub enum RigCommand {
    /// Add a rig, or a sample to one: a template placed on the character, or forces that make it look like a target
    Add(Box<RigAddArgs>),
    /// Drag points of the skin; the parameters of a template follow
    Fit(RigFitArgs),
    /// Flesh over a clip with rigs acting on it; all options of `sinew flesh`
    Drive(Box<FleshArgs>),
    /// Carry rigs over to another character
    Transfer(RigTransferArgs),
    /// Tell what rigs a file has
    List(RigListArgs),
}

/// The body rigs act on.
#[derive(Args)]
pub struct BodyArgs {
    /// About how many cells of flesh
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub cells: usize,
    /// Instead of a number of cells: their side in metres
    #[arg(long, value_name = "METRES", conflicts_with = "cells")]
    pub cell_size: Option<f64>,
    /// Stiffness in pascals [default: in proportion to the size, as of `sinew flesh`]
    #[arg(long, value_name = "PA", allow_hyphen_values = true)]
    pub stiffness: Option<f64>,
    /// Metres a second squared, downwards
    #[arg(long, value_name = "G", default_value_t = 9.81, allow_hyphen_values = true)]
    pub gravity: f64,
}

#[derive(Args)]
pub struct RigAddArgs {
    /// Character with a skin (glb, vrm)
    pub character: PathBuf,
    /// Name of the rig
    pub name: String,
    /// Control parameter it follows: JOINT.bend, JOINT.rx, .ry, .rz, or a name of your own [default: that of the rig]
    #[arg(long, value_name = "CONTROL")]
    pub control: Option<String>,
    /// Value of the control parameter at which it acts as given (degrees for joints) [default: 1, or that of the pose]
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    pub at: Option<f64>,
    /// Force field to place
    #[arg(long, value_parser = template_parser(), required_unless_present = "target", conflicts_with = "target")]
    pub template: Option<Template>,
    /// Place it on the skin, at a vertex
    #[arg(long, value_name = "V", conflicts_with_all = ["bone", "place"])]
    pub vertex: Option<usize>,
    /// Place it on the bone of a joint
    #[arg(long, value_name = "JOINT", conflicts_with = "place")]
    pub bone: Option<String>,
    /// Place it anywhere
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true)]
    pub place: Option<String>,
    /// Radius of the template in metres [default: a tenth of the diagonal]
    #[arg(long, value_name = "METRES", allow_hyphen_values = true)]
    pub radius: Option<f64>,
    /// Radius of the ring of a torus [default: its radius]
    #[arg(long, value_name = "METRES", allow_hyphen_values = true)]
    pub ring: Option<f64>,
    /// Strength in newtons a cubic metre; else as strong as --out wants it
    #[arg(long, value_name = "A", allow_hyphen_values = true, conflicts_with = "out")]
    pub amplitude: Option<f64>,
    /// How far the skin is to come out, in metres [default: a fiftieth of the diagonal]
    #[arg(long, value_name = "METRES", allow_hyphen_values = true)]
    pub out: Option<f64>,
    /// On a bone: share of its length
    #[arg(long, value_name = "SHARE", default_value_t = 0.5, allow_hyphen_values = true)]
    pub slide: f64,
    /// On a bone: metres away from it
    #[arg(long, value_name = "METRES", default_value_t = 0.0, allow_hyphen_values = true)]
    pub orbit: f64,
    /// On the skin: metres out of it; inwards is negative [default: half the radius inwards]
    #[arg(long, value_name = "METRES", allow_hyphen_values = true)]
    pub depth: Option<f64>,
    /// Degrees around bone or normal
    #[arg(long, value_name = "DEGREES", default_value_t = 0.0, allow_hyphen_values = true)]
    pub spin: f64,
    /// Surface that the character is to look like
    #[arg(long, value_name = "MESH")]
    pub target: Option<PathBuf>,
    /// Pairs of vertices, character:target, by which the pose is found (json, yml, corr) [default: every vertex, if they
    /// correspond]
    #[arg(long, value_name = "FILE", requires = "target")]
    pub features: Option<PathBuf>,
    /// Stay in the rest pose
    #[arg(long, requires = "target", conflicts_with = "features")]
    pub no_pose: bool,
    /// Match the nearest places instead of vertices of the same number
    #[arg(long, requires = "target")]
    pub closest: bool,
    /// Match only vertices that mostly follow these joints
    #[arg(long, value_name = "JOINT,…", value_delimiter = ',', requires = "target")]
    pub lasso: Vec<String>,
    /// How much smoothness of the deformation counts
    #[arg(long, value_name = "W", default_value_t = 0.03, requires = "target", allow_hyphen_values = true)]
    pub smooth: f64,
    /// Halve cells where the surface is still far from the target, so many times at most; the file then keeps the cells
    #[arg(long, value_name = "LEVELS", requires = "target")]
    pub adapt: Option<usize>,
    /// Metres from the target beyond which cells are halved [default: 0.1 % of the diagonal]
    #[arg(long, value_name = "METRES", requires = "adapt", allow_hyphen_values = true)]
    pub within: Option<f64>,
    /// Flesh where it acts fully is so many times as stiff, as that of a tense muscle
    #[arg(long, value_name = "FACTOR", allow_hyphen_values = true)]
    pub stiffen: Option<f64>,
    #[command(flatten)]
    pub body: BodyArgs,
    /// File to write, or to add to (json)
    #[arg(long, short)]
    pub output: PathBuf,
}

#[derive(Args)]
pub struct RigFitArgs {
    /// Character with a skin (glb, vrm)
    pub character: PathBuf,
    /// Rigs, as `sinew rig add` writes them
    #[arg(long, value_name = "FILE")]
    pub rigs: PathBuf,
    /// Which rig to fit
    #[arg(long, value_name = "NAME")]
    pub rig: String,
    /// A vertex and where it is to go: 812=0.1,1.2,0.3, or by how much: 812+0,0,0.03
    #[arg(long, value_name = "V=X,Y,Z", required = true)]
    pub drag: Vec<String>,
    /// Value of the control parameter to record it at (degrees for joints) [default: the highest that is recorded]
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    pub at: Option<f64>,
    /// Parameters that stay as they are
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub keep: Vec<String>,
    #[command(flatten)]
    pub body: BodyArgs,
    /// File to write [default: the one that was read]
    #[arg(long, short)]
    pub output: Option<PathBuf>,
}

#[derive(Args)]
pub struct RigTransferArgs {
    /// Character that has the rigs
    pub source: PathBuf,
    /// Its rigs
    #[arg(long, value_name = "FILE")]
    pub rigs: PathBuf,
    /// Character that is to get them; without a skeleton it gets that of the source too
    #[arg(long, value_name = "FILE")]
    pub to: PathBuf,
    /// Pairs of vertices, source:target, that mean the same (json, yml, corr)
    #[arg(long, value_name = "FILE")]
    pub features: Option<PathBuf>,
    /// Joints of other names that mean the same: arm_l=LeftArm
    #[arg(long, value_name = "SOURCE=TARGET,…", value_delimiter = ',')]
    pub pair: Vec<String>,
    /// Write the target with the skeleton it got (glb)
    #[arg(long, value_name = "FILE")]
    pub character: Option<PathBuf>,
    #[command(flatten)]
    pub body: BodyArgs,
    /// File to write (json)
    #[arg(long, short)]
    pub output: PathBuf,
}

#[derive(Args)]
pub struct RigListArgs {
    /// Rigs, as `sinew rig add` writes them
    pub rigs: PathBuf,
}

/// Names of the templates, for errors, help and completions.
fn template_parser() -> impl TypedValueParser<Value = Template> {
    PossibleValuesParser::new(Template::ALL.map(Template::name))
        .try_map(|name| Template::from_name(&name).ok_or("there is no such template"))
}
