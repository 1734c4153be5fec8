//! Arguments of `sinew solve`.

use clap::Args;
use std::path::PathBuf;

/// Find a pose in which rules hold: contacts, distances, directions, ranges, written as text
#[derive(Args)]
#[command(after_help = "Rules: one per line, verb first; docs/rules.md lists them all.\n  \
                  plane Floor = through StepMarker normal FloorNormal1 -> FloorNormal2\n  \
                  pin FootR to StepMarker\n  \
                  aim FootR -> MiddleToeR along FloorMarker1 -> FloorMarker2\n  \
                  distance WristL WristR = 35 cm\n  \
                  put FootL on Floor weight 2\n  \
                  range KneeR.rx in 0 .. 150 deg\n  \
                  maximize HeadTop.y priority 2\n\n\
                  Residuals are in centimetres and degrees, values in metres and degrees. If not all rules can \
                  hold, the best compromise is returned, with the rules that conflict.")]
pub struct SolveArgs {
    /// File of rules
    pub rules: PathBuf,
    /// Skeleton to pose (json, bvh, glb); a mesh without one is given one as by `sinew rig` [default: the one the rules name]
    #[arg(long, value_name = "FILE")]
    pub skeleton: Option<PathBuf>,
    /// Named set of degrees of freedom of a json skeleton
    #[arg(long, value_name = "NAME")]
    pub variant: Option<String>,
    /// Start pose: frame N of a clip (FILE@N, or @N of the skeleton's own), or a named pose of a json skeleton
    /// [default: the rest pose]
    #[arg(long, value_name = "FILE@FRAME")]
    pub pose: Option<String>,
    /// Ground that rules refer to as `Ground`: flat, slope:10, steps:0.15,0.3, hills, or a file with a height field [default: none]
    #[arg(long, value_name = "GROUND")]
    pub ground: Option<String>,
    /// Solver: the default one, or Newton-Raphson with the Moore-Penrose inverse as in Abdelhay (2008) (equations only, no ranges)
    #[arg(long, default_value = "default", value_parser = ["default", "newton"])]
    pub solver: String,
    /// Solve the equations as written, without rewriting them into better conditioned ones
    #[arg(long)]
    pub as_written: bool,
    /// Let joints leave their ranges
    #[arg(long)]
    pub no_ranges: bool,
    /// Accept any pose in which the rules hold instead of the one nearest to the start
    #[arg(long)]
    pub any: bool,
    /// Print the equations, their derivatives, and what was rewritten and why
    #[arg(long)]
    pub explain: bool,
    /// Format the rules and exit (to standard output, or to the file of -o)
    #[arg(long)]
    pub format: bool,
    /// File to write the pose to (glb, bvh, json)
    #[arg(long, short)]
    pub output: Option<PathBuf>,
}
