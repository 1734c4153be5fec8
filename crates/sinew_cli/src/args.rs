//! What can be typed.

use clap::{
    Args, Parser, Subcommand,
    builder::{PossibleValuesParser, TypedValueParser},
};
use sinew::geom::sample::Sample;
use std::{num::NonZeroUsize, path::PathBuf};

/// Turn any mesh into a moving character.
#[derive(Parser)]
#[command(name = "sinew", version, about = "Turn any mesh into a moving character", max_term_width = 100)]
#[command(
    after_help = "Try:  sinew sample biped -o biped.glb   then open biped.glb in Blender or any glTF viewer"
)]
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
    /// Seed of commands that use chance (none of today's do); the same seed gives the same result
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
    /// Print completions for a shell: `source <(sinew completions bash)`
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
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
    /// File to write (glb, obj, ply), or a folder for a sequence of obj files
    #[arg(long, short)]
    pub output: PathBuf,
}

/// Names of the samples, for errors, help and completions.
fn sample_parser() -> impl TypedValueParser<Value = Sample> {
    PossibleValuesParser::new(Sample::ALL.map(Sample::name))
        .try_map(|name| Sample::from_name(&name).ok_or("there is no such sample"))
}
