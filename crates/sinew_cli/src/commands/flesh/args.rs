//! Arguments of `sinew flesh`.

use crate::commands::{
    names::one_of,
    scene::{HandleArgs, ObstacleArgs},
};
use clap::Args;
use sinew::{
    flesh::{ElementKind, FleshParams, Mode, Scheme},
    session::{FleshExtras, FleshSettings},
};
use std::path::PathBuf;

/// Give a character elastic flesh that follows its bones over a clip: it sags, jiggles and collides
#[derive(Args)]
#[command(
    after_help = "The surface is filled with cubic cells automatically, even if it is open or overlaps itself. The result is a \
                  sequence of vertices (morph targets, or a folder of obj files), or with --fit a skin. Ctrl-C stops \
                  and writes the frames done so far.\n\nExamples:  sinew flesh biped.glb --clip walk -o soft.glb\n           \
                  sinew flesh cow.glb --stiffness 1e4 --stiffen head=30,ear.L=0.3 --floor 0 -o cow.glb\n           \
                  sinew flesh dog.glb --clip walk --fit 40 -o dog-skin.glb"
)]
pub struct FleshArgs {
    /// Character with a skin (glb, vrm); a mesh without bones falls as far as the obstacles, or rests on the ground below it
    pub character: PathBuf,
    /// Clip to read [default: the first]
    #[arg(long, value_name = "NAME")]
    pub clip: Option<String>,
    /// Seconds to simulate [default: as long as the clip, or 2 without one]
    #[arg(long, value_name = "S", allow_hyphen_values = true)]
    pub seconds: Option<f64>,
    /// Approximate number of cells
    #[arg(long, value_name = "N", default_value_t = FleshSettings::default().cells)]
    pub cells: usize,
    /// Side of the cells in metres, instead of their number
    #[arg(long, value_name = "METRES", conflicts_with = "cells")]
    pub cell_size: Option<f64>,
    /// Use cells of several sizes: small around joints and in thin limbs, doubled in size inside up to this many times
    #[arg(long, value_name = "DOUBLINGS", num_args = 0..=1, default_missing_value = "1")]
    pub refine: Option<usize>,
    /// Adapt cells during the simulation: split cells where the strain exceeds this, merge them below 0.4 times it; --cells
    /// sets the smallest [default: 0.1 if no number is given]
    #[arg(
        long,
        value_name = "STRAIN",
        num_args = 0..=1,
        default_missing_value = "0.1",
        allow_negative_numbers = true,
        conflicts_with_all = ["refine", "lattice", "smooth", "muscles", "belts", "moves"]
    )]
    pub adaptive: Option<f64>,
    /// Use a given lattice: MEDIT .mesh of hexahedra, tetrahedra and prisms; its ridges and corners stay sharp
    #[arg(long, value_name = "FILE", conflicts_with_all = ["cells", "cell_size", "refine"])]
    pub lattice: Option<PathBuf>,
    /// Number of subdivisions of that lattice
    #[arg(long, value_name = "TIMES", default_value_t = 0, requires = "lattice")]
    pub subdivide: usize,
    /// Subdivision scheme
    #[arg(long, default_value = "trilinear", requires = "lattice", value_parser = one_of(Scheme::ALL, Scheme::name))]
    pub scheme: Scheme,
    /// Smooth the surface between cells (MLCA), so that coarse cells leave no creases
    #[arg(long, conflicts_with = "refine")]
    pub smooth: bool,
    /// Stiffness (Young's modulus) in pascals, the same everywhere: fat 5e3, muscle 3e4, a firm body 3e5 [default: 3e4 for a
    /// body of 1.7 m, in proportion to its size, and stiffer where the clip would bend thin parts too far]
    #[arg(long, value_name = "PA", allow_hyphen_values = true)]
    pub stiffness: Option<f64>,
    /// Treat the clip as a loop, even if its last pose is not exactly its first, so that the flesh loops as well
    #[arg(long = "loop")]
    pub looped: bool,
    /// How soft flesh is, relative to the default: 0.1 is nearly rigid, 4 is jelly. Not with --stiffness
    #[arg(
        long,
        value_name = "FACTOR",
        default_value_t = FleshExtras::default().softness,
        conflicts_with = "stiffness",
        allow_hyphen_values = true
    )]
    pub softness: f64,
    /// Stiffness factors of flesh around joints: head=20,ear.L=0.3
    #[arg(long, value_name = "JOINT=FACTOR,…", value_delimiter = ',')]
    pub stiffen: Vec<String>,
    /// Stiffness painted on the surface: a JSON array with one factor per vertex, 0.001 to 1000 (1 changes nothing)
    #[arg(long, value_name = "FILE")]
    pub paint: Option<std::path::PathBuf>,
    /// Poisson's ratio: how flesh bulges when pressed; close to 0.5 keeps its volume
    #[arg(long, value_name = "NU", default_value_t = FleshSettings::default().poisson, allow_hyphen_values = true)]
    pub poisson: f64,
    /// Density in kilograms per cubic metre
    #[arg(long, value_name = "RHO", default_value_t = FleshSettings::default().density, allow_hyphen_values = true)]
    pub density: f64,
    /// Strain model for large deformations
    #[arg(long, default_value = FleshParams::default().mode.name(), value_parser = one_of(Mode::ALL, Mode::name))]
    pub mode: Mode,
    /// Element type; trilinear locks in bending
    #[arg(long, default_value = FleshParams::default().element.name(), value_parser = one_of(ElementKind::ALL, ElementKind::name))]
    pub element: ElementKind,
    /// Gravity in metres per second squared, downwards
    #[arg(long, value_name = "G", default_value_t = -FleshSettings::default().gravity[1], allow_hyphen_values = true)]
    pub gravity: f64,
    /// Damping in seconds: 0 oscillates for a long time, 0.1 hardly at all
    #[arg(long, value_name = "S", default_value_t = FleshSettings::default().damping, allow_hyphen_values = true)]
    pub damping: f64,
    #[command(flatten)]
    pub obstacles: ObstacleArgs,
    #[command(flatten)]
    pub by_handles: HandleArgs,
    /// Thickness of bones, as a fraction of the distance to the surface
    #[arg(long, value_name = "SHARE", default_value_t = FleshSettings::default().bone_radius, allow_hyphen_values = true)]
    pub bone_radius: f64,
    /// Frames per second of the result [default: those of the clip, else 30]
    #[arg(long, allow_hyphen_values = true)]
    pub fps: Option<f64>,
    /// Longest time step in seconds
    #[arg(long, value_name = "S", default_value_t = FleshSettings::default().step, allow_hyphen_values = true)]
    pub step: f64,
    /// Relative residual at which a step is solved
    #[arg(long, value_name = "T", default_value_t = FleshExtras::default().tolerance, allow_hyphen_values = true)]
    pub tolerance: f64,
    /// Skip settling under gravity
    #[arg(long)]
    pub no_settle: bool,
    /// Muscle file that shapes the flesh, as written by `sinew muscle add`
    #[arg(long, value_name = "FILE", alias = "rigs")]
    pub muscles: Option<PathBuf>,
    /// Values of control parameters: smile=1,breath=0.5 (degrees where they follow a joint)
    #[arg(
        long,
        value_name = "CONTROL=VALUE,…",
        value_delimiter = ',',
        requires = "muscles",
        allow_hyphen_values = true
    )]
    pub set: Vec<String>,
    /// A control parameter over time, as seconds and values: smile=0:0,1:1,2:0
    #[arg(long = "curve", value_name = "CONTROL=S:VALUE,…", requires = "muscles")]
    pub curves: Vec<String>,
    /// Ring of the surface that only bones move: a joint, a position along its bone, and a tightening factor
    #[arg(long = "belt", value_name = "JOINT[:PLACE[:FACTOR]]")]
    pub belts: Vec<String>,
    /// Fit a skin with this many bones to the result and write it instead of morph targets
    #[arg(long, value_name = "BONES")]
    pub fit: Option<usize>,
    /// File to write (glb), or a folder of obj files
    #[arg(long, short)]
    pub output: PathBuf,
}
