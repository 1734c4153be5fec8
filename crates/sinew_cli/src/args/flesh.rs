//! What can be typed after `sinew flesh`.

use super::scene::{HandleArgs, ObstacleArgs};
use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use sinew::flesh::{ElementKind, Mode, Scheme};
use std::path::PathBuf;

#[derive(Args)]
pub struct FleshArgs {
    /// Character with a skin (glb, vrm); a mesh without bones falls freely
    pub character: PathBuf,
    /// Which clip to follow [default: the first]
    #[arg(long, value_name = "NAME")]
    pub clip: Option<String>,
    /// Seconds to simulate [default: as long as the clip, or 2 without one]
    #[arg(long, value_name = "S", allow_hyphen_values = true)]
    pub seconds: Option<f64>,
    /// About how many cells of flesh
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub cells: usize,
    /// Instead of a number of cells: their side in metres
    #[arg(long, value_name = "METRES", conflicts_with = "cells")]
    pub cell_size: Option<f64>,
    /// Cells of several sizes: small around joints and in thin limbs, inside doubled up to this often
    #[arg(long, value_name = "DOUBLINGS", num_args = 0..=1, default_missing_value = "1")]
    pub refine: Option<usize>,
    /// Cells that change meanwhile: halved where flesh is strained by more than this, joined where by less than 0.4 of it;
    /// --cells are the smallest [default: 0.1 if no number is given]
    #[arg(
        long,
        value_name = "STRAIN",
        num_args = 0..=1,
        default_missing_value = "0.1",
        allow_negative_numbers = true,
        conflicts_with_all = ["refine", "lattice", "smooth", "muscles", "belts", "moves"]
    )]
    pub adaptive: Option<f64>,
    /// A lattice made by hand instead: MEDIT .mesh of hexahedra, tetrahedra and prisms; its ridges and corners stay sharp
    #[arg(long, value_name = "FILE", conflicts_with_all = ["cells", "cell_size", "refine"])]
    pub lattice: Option<PathBuf>,
    /// Subdivide that lattice so often
    #[arg(long, value_name = "TIMES", default_value_t = 0, requires = "lattice")]
    pub subdivide: usize,
    /// How it is subdivided
    #[arg(long, default_value = "trilinear", requires = "lattice", value_parser = scheme_parser())]
    pub scheme: Scheme,
    /// Smooth the surface between cells (MLCA), so that coarse cells leave no creases
    #[arg(long, conflicts_with = "refine")]
    pub smooth: bool,
    /// Stiffness (Young's modulus) in pascals, the same everywhere: fat 5e3, muscle 3e4, a firm body 3e5 [default: 3e4 for a
    /// body of 1.7 m, in proportion to its size, and stiffer where the clip would bend thin parts too far]
    #[arg(long, value_name = "PA", allow_hyphen_values = true)]
    pub stiffness: Option<f64>,
    /// Treat the clip as a loop, also if its last pose is not exactly its first: flesh repeats itself too
    #[arg(long = "loop")]
    pub looped: bool,
    /// How soft flesh is, relative to the default: 0.1 is nearly rigid, 4 is jelly. Not with --stiffness
    #[arg(
        long,
        value_name = "FACTOR",
        default_value_t = 1.0,
        conflicts_with = "stiffness",
        allow_hyphen_values = true
    )]
    pub softness: f64,
    /// Flesh around joints, stiffer or softer by a factor: head=20,ear.L=0.3
    #[arg(long, value_name = "JOINT=FACTOR,…", value_delimiter = ',')]
    pub stiffen: Vec<String>,
    /// Stiffness painted on the surface: a JSON array with a factor for each vertex, 0.001 to 1000 (1 changes nothing)
    #[arg(long, value_name = "FILE")]
    pub paint: Option<std::path::PathBuf>,
    /// Poisson's ratio: how flesh bulges when pressed; close to 0.5 keeps its volume
    #[arg(long, value_name = "NU", default_value_t = 0.45, allow_hyphen_values = true)]
    pub poisson: f64,
    /// Kilograms a cubic metre
    #[arg(long, value_name = "RHO", default_value_t = 1000.0, allow_hyphen_values = true)]
    pub density: f64,
    /// How strain is measured when flesh bends far
    #[arg(long, default_value = "predicted", value_parser = mode_parser())]
    pub mode: Mode,
    /// Functions of a cell: incompatible bends rightly, trilinear is the thesis's
    #[arg(long, default_value = "incompatible", value_parser = element_parser())]
    pub element: ElementKind,
    /// Metres a second squared, downwards
    #[arg(long, value_name = "G", default_value_t = 9.81, allow_hyphen_values = true)]
    pub gravity: f64,
    /// Damping of jiggling, in seconds: 0 swings long, 0.1 hardly
    #[arg(long, value_name = "S", default_value_t = 0.01, allow_hyphen_values = true)]
    pub damping: f64,
    #[command(flatten)]
    pub obstacles: ObstacleArgs,
    #[command(flatten)]
    pub by_handles: HandleArgs,
    /// Thickness of bones, as a share of the way to the surface
    #[arg(long, value_name = "SHARE", default_value_t = 0.4, allow_hyphen_values = true)]
    pub bone_radius: f64,
    /// Frames a second of the result [default: those of the clip, else 30]
    #[arg(long, allow_hyphen_values = true)]
    pub fps: Option<f64>,
    /// Longest step in seconds
    #[arg(long, value_name = "S", default_value_t = 0.01, allow_hyphen_values = true)]
    pub step: f64,
    /// Relative residual at which a step counts as solved
    #[arg(long, value_name = "T", default_value_t = 1e-3, allow_hyphen_values = true)]
    pub tolerance: f64,
    /// Begin undeformed instead of hanging as gravity has it
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
    /// A ring of the surface that only bones move: a joint, a place along its bone, a factor that tightens it
    #[arg(long = "belt", value_name = "JOINT[:PLACE[:FACTOR]]")]
    pub belts: Vec<String>,
    /// Write a skin of so many bones, fitted to the result, instead of morph targets
    #[arg(long, value_name = "BONES")]
    pub fit: Option<usize>,
    /// File to write (glb), or a folder of obj files
    #[arg(long, short)]
    pub output: PathBuf,
}

/// Names of the modes, for errors, help and completions.
fn mode_parser() -> impl TypedValueParser<Value = Mode> {
    PossibleValuesParser::new(Mode::ALL.map(Mode::name))
        .try_map(|name| Mode::from_name(&name).ok_or("there is no such mode"))
}

/// Names of the ways to subdivide, for errors, help and completions.
fn scheme_parser() -> impl TypedValueParser<Value = Scheme> {
    PossibleValuesParser::new(Scheme::ALL.map(Scheme::name))
        .try_map(|name| Scheme::from_name(&name).ok_or("there is no such scheme"))
}

/// Names of the kinds of cells, for errors, help and completions.
fn element_parser() -> impl TypedValueParser<Value = ElementKind> {
    PossibleValuesParser::new(ElementKind::ALL.map(ElementKind::name))
        .try_map(|name| ElementKind::from_name(&name).ok_or("there is no such kind"))
}
