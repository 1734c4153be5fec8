//! `sinew walk`: a gait for a body of 2 to 8 legs.

use super::{
    input::{ensure_skeleton, ground_of, read_surface, with_path},
    output::{OutputOptions, check_name, free_name, write_character},
};
use crate::console::{Console, Unusable};
use clap::Args;
use serde_json::json;
use sinew::{
    formats::paths::GroundData,
    gait::Gait,
    geom::Warnings,
    session::{DEFAULT_FPS, Document, WalkNumbers, WalkSettings, add_walk},
};
use std::path::PathBuf;

/// Make a character walk, run, trot or gallop along a line: feet stay planted
#[derive(Args)]
#[command(
    after_help = "Step length follows from leg length. Without --line, the clip is a loop of at least two strides. A mesh \
                  without a skeleton is given one as by `sinew rig`.\n\nExamples:  sinew walk fox.glb -o \
                  walking.glb\n           sinew walk horse.glb --gait gallop --in-place -o gallop.glb\n           \
                  sinew walk scan.obj --line 0,3,2,5 --ground steps:0.15,0.3 -o stairs.glb"
)]
pub struct WalkArgs {
    /// Character or mesh
    pub model: PathBuf,
    /// Points to walk along, in metres from its position: left, ahead, left, ahead, …
    #[arg(long, value_name = "X,Z,…", value_delimiter = ',', allow_hyphen_values = true)]
    pub line: Vec<f64>,
    /// Metres per second [default: from leg length and gait]
    #[arg(long)]
    pub speed: Option<f64>,
    /// Gait [default: chosen by --speed; walk if none is given]
    #[arg(long, value_parser = Gait::ALL.map(Gait::name))]
    pub gait: Option<String>,
    /// Ground ahead of the character, in metres: flat, slope:DEGREES, steps:RISE,RUN, hills, hills:HEIGHT,LENGTH, or a file
    /// with a height field
    #[arg(long, value_name = "GROUND", allow_hyphen_values = true)]
    pub ground: Option<String>,
    /// Stay in place, for engines that move the character
    #[arg(long)]
    pub in_place: bool,
    /// Name of the clip to write [default: the gait]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Frames per second
    #[arg(long, default_value_t = DEFAULT_FPS)]
    pub fps: f64,
    /// Metres per unit of the model [default: guessed from its size]
    #[arg(long, value_name = "METRES")]
    pub unit: Option<f64>,
    /// File to write (glb, bvh)
    #[arg(long, short)]
    pub output: PathBuf,
}

pub fn run(args: &WalkArgs, console: &Console) -> anyhow::Result<()> {
    check_name(&args.output, false)?;
    anyhow::ensure!(args.line.len().is_multiple_of(2), "--line: give pairs of numbers, such as 0,3,2,5");
    let mut warnings = Warnings::default();
    let (mut character, origin) = read_surface(&args.model, console, &mut warnings)?;
    ensure_skeleton(&mut character, &args.model, console, &mut warnings)?;
    let name = args.name.as_deref().or(args.gait.as_deref()).unwrap_or(Gait::Walk.name());
    let ground = args.ground.as_deref().map(ground_of).transpose()?;
    let settings = WalkSettings {
        clip: free_name(&character, name, "gait"),
        gait: args.gait.clone(),
        speed: args.speed,
        line: args.line.chunks(2).map(|pair| [pair[0], pair[1]]).collect(),
        ground: ground.map(|(ground, _)| GroundData::from(&ground)),
        in_place: args.in_place,
        fps: args.fps,
        unit: args.unit,
    };
    let (document, numbers) = {
        let _progress = console.progress("walking");
        add_walk(&Document::new(character), &settings).map_err(|error| with_path(error, &args.model))?
    };
    let mut character = document.character();
    // What was made comes first.
    character.clips.rotate_right(1);
    let clip = Some(settings.clip.clone());
    let options = OutputOptions { clip, fps: Some(args.fps), influences: 4, origin };
    let bytes = write_character(&character, &args.output, &options, &mut warnings)?;
    console.warn(&args.model, &warnings);
    let mut value = json!(numbers);
    let faults = value.as_object_mut().and_then(|value| value.remove("faults"));
    value["damage"] = json!(faults);
    value["clip"] = json!(settings.clip);
    value["written"] = json!(args.output.display().to_string());
    value["bytes"] = json!(bytes);
    value["warnings"] = json!(warnings.messages);
    console.result(&value, || as_text(&numbers, args, bytes))?;
    match numbers.faults.as_slice() {
        [] => Ok(()),
        faults => {
            Err(Unusable(format!("{}; look at the result before you use it", faults.join("; "))).into())
        }
    }
}

fn as_text(numbers: &WalkNumbers, args: &WalkArgs, bytes: u64) -> String {
    format!(
        "{}  {} on {} legs at {:.2} m/s, strides of {:.2} m in {:.2} s; feet slide {:.1} cm/s at most and are lifted {:.1} cm or \
         more, {:.1} cm below the ground at most; {bytes} bytes",
        args.output.display(),
        numbers.gait,
        numbers.legs,
        numbers.speed,
        numbers.stride,
        numbers.stride_seconds,
        numbers.slide_cm_s,
        numbers.lift_cm,
        numbers.sink_cm,
    )
}
