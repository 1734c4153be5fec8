//! `sinew walk`: a gait for a body of 2 to 8 legs.

use super::{
    input::{ensure_skeleton, ground_of, read_surface, with_path},
    output::{OutputOptions, check_name, free_name, write_character},
};
use crate::console::{Console, Unusable};
use anyhow::Context;
use clap::Args;
use serde_json::{Value, json};
use sinew::{
    gait::{Gait, GaitParams, GaitReport, make_gait},
    geom::Warnings,
    session::DEFAULT_FPS,
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
    let gait = args.gait.as_deref().map(str::parse::<Gait>).transpose()?;
    let params = GaitParams {
        name: free_name(
            &character,
            args.name.as_deref().unwrap_or(gait.unwrap_or(Gait::Walk).name()),
            "gait",
        ),
        gait,
        speed: args.speed,
        line: args.line.chunks(2).map(|pair| [pair[0], pair[1]]).collect(),
        ground: args
            .ground
            .as_deref()
            .map(ground_of)
            .transpose()?
            .map_or_else(Default::default, |(ground, _)| ground),
        in_place: args.in_place,
        fps: args.fps,
        unit: args.unit,
    };
    let rig = character.rig.clone().context("there is no skeleton")?;
    let made = {
        let _progress = console.progress("walking");
        make_gait(&character, &rig, &params).map_err(|error| with_path(error, &args.model))?
    };
    character.clips.insert(0, made.clip);
    let options =
        OutputOptions { clip: Some(params.name.clone()), fps: Some(args.fps), influences: 4, origin };
    let bytes = write_character(&character, &args.output, &options, &mut warnings)?;
    console.warn(&args.model, &warnings);
    let faults = made.report.faults();
    let mut value = report(&made.report);
    value["clip"] = json!(params.name);
    value["damage"] = json!(faults);
    value["written"] = json!(args.output.display().to_string());
    value["bytes"] = json!(bytes);
    value["warnings"] = json!(warnings.messages);
    console.result(&value, || as_text(&made.report, args, bytes))?;
    match faults.is_empty() {
        true => Ok(()),
        false => Err(Unusable(format!("{}; look at the result before you use it", faults.join("; "))).into()),
    }
}

fn report(report: &GaitReport) -> Value {
    let foot = |foot: &sinew::gait::FootReport| json!({ "joint": foot.name, "slide_cm_s": 100.0 * foot.slide, "lift_cm": 100.0 * foot.lift });
    json!({
        "gait": report.gait.name(),
        "body": report.class.name(),
        "speed": report.speed,
        "stride": report.stride,
        "stride_seconds": report.stride_secs,
        "leg": report.leg,
        "sink_cm": 100.0 * report.sink,
        "feet": report.feet.iter().map(foot).collect::<Vec<_>>(),
    })
}

fn as_text(report: &GaitReport, args: &WalkArgs, bytes: u64) -> String {
    let slide = report.feet.iter().map(|foot| foot.slide).fold(0.0, f64::max);
    let lift = report.feet.iter().map(|foot| foot.lift).fold(f64::INFINITY, f64::min);
    format!(
        "{}  {} on {} legs at {:.2} m/s, strides of {:.2} m in {:.2} s; feet slide {:.1} cm/s at most and are lifted {:.1} cm or \
         more, {:.1} cm below the ground at most; {bytes} bytes",
        args.output.display(),
        report.gait.name(),
        report.feet.len(),
        report.speed,
        report.stride,
        report.stride_secs,
        100.0 * slide,
        100.0 * lift,
        100.0 * report.sink,
    )
}
