//! `sinew puppet`: a character moved by the recording of a body.

mod actor;
mod args;
mod listen;
mod pair;
mod perform;

pub use args::PuppetArgs;
use args::{CalibrateArgs, PairArgs, PuppetCommand};

pub use pair::{calibrate as run_calibrate, run as run_pair};

use super::{
    input::{ensure_skeleton, with_path},
    output::{check_name, rate},
};
use crate::console::Console;
use actor::read_actor;
use anyhow::{Context, ensure};
use serde_json::{Value, json};
use sinew::{
    formats::pairs::{PairTarget, read_calibration, read_pairs},
    geom::Warnings,
    puppet::Interpolation,
    session::{ActorSource, Document, Pair, PuppetData, PuppetSettings, has_skeleton, open_file},
};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

/// Run `sinew puppet` or one of its subcommands.
pub fn run(args: &PuppetArgs, console: &Console) -> anyhow::Result<()> {
    match &args.command {
        Some(PuppetCommand::Pair(args)) => run_pair(args, console),
        Some(PuppetCommand::Calibrate(args)) => run_calibrate(args, console),
        None => run_take(args, console),
    }
}

fn run_take(args: &PuppetArgs, console: &Console) -> anyhow::Result<()> {
    let target = args
        .target
        .as_deref()
        .context("give a character to puppeteer, or `sinew puppet pair` to make pairs")?;
    if args.listen.is_some() {
        return run_live(args, target, console);
    }
    let source = args
        .source
        .as_deref()
        .context("give --source MOTION: a recording, a BVH file or an animated GLB; or --listen")?;
    let output = args.output.as_deref().context("give -o FILE to write to")?;
    check_name(output, args.interpolation == Interpolation::Linear)?;
    let mut warnings = Warnings::default();
    let mut actor = read_actor(source, &mut warnings)?;
    let document = open(args, target, console, &mut warnings)?;
    actor.frames.sort_by(|a, b| a.0.total_cmp(&b.0));
    let begun = Instant::now();
    let mut report = perform::perform(&document, &actor, output, console, &mut warnings)
        .map_err(|error| with_path(error, target))?;
    report["seconds"] = json!(begun.elapsed().as_secs_f64());
    report["written"] = json!(output.display().to_string());
    console.warn(target, &warnings);
    report["warnings"] = json!(warnings.messages);
    console.result(&report, || as_text(&report))
}

fn run_live(args: &PuppetArgs, target: &Path, console: &Console) -> anyhow::Result<()> {
    if let Some(output) = &args.output {
        check_name(output, args.interpolation == Interpolation::Linear)?;
    }
    let mut warnings = Warnings::default();
    let document = open(args, target, console, &mut warnings)?;
    let mut report =
        listen::listen(&document, args, console, &mut warnings).map_err(|error| with_path(error, target))?;
    console.warn(target, &warnings);
    report["warnings"] = json!(warnings.messages);
    console.result(&report, || listen::as_text(&report))
}

/// The character with its pairs: those of `--pairs`, or those that the project carries.
fn open(
    args: &PuppetArgs,
    target: &Path,
    console: &Console,
    warnings: &mut Warnings,
) -> anyhow::Result<Document> {
    let mut document = {
        let progress = console.progress(&format!("reading {}", target.display()));
        open_file(target, &mut |share| progress.update(share), warnings)?
    };
    let mut data = match &args.pairs {
        Some(path) => {
            let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
            let data = PuppetData::from_file(read_pairs(&bytes, &path.to_string_lossy())?);
            ensure!(
                !data.pairs.is_empty(),
                "{}: there are no pairs; make one with `sinew puppet pair`, or leave --pairs out",
                path.display()
            );
            data
        }
        None => (*document.puppet).clone(),
    };
    data.settings = settings(args)?;
    let is_of_joints =
        |pair: &Pair| matches!(&pair.pair.target, PairTarget::Joints(joints) if !joints.is_empty());
    let needs_joints = data.pairs.is_empty() || data.pairs.iter().any(|pair| is_of_joints(pair));
    if needs_joints && !has_skeleton(&document.body) {
        let mut body = (*document.body).clone();
        ensure_skeleton(&mut body, target, console, warnings)?;
        document.body = Arc::new(body);
    }
    document.puppet = Arc::new(data);
    Ok(document)
}

fn settings(args: &PuppetArgs) -> anyhow::Result<PuppetSettings> {
    if let Some(smoothing) = args.smoothing {
        ensure!((0.0..=1.0).contains(&smoothing), "--smoothing is {smoothing}; give 0 to 1");
    }
    let defaults = PuppetSettings::default();
    let read = |path: &PathBuf| {
        let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
        anyhow::Ok(read_calibration(&bytes, &path.to_string_lossy())?)
    };
    let calibration = args.calibration.as_ref().map(read).transpose()?;
    let settings = PuppetSettings {
        projection: args.projection.clone(),
        lambda: args.lambda.unwrap_or(defaults.lambda),
        interpolation: args.interpolation.name().to_owned(),
        smoothing: args.smoothing,
        mirror: args.mirror,
        ignored: args.ignore.clone(),
        hold: args.hold,
        limit: args.limit,
        whole_body: args.whole_body,
        travel: !args.in_place,
        feet: !args.no_feet,
        scale: args.scale,
        calibration,
    };
    settings.params(ActorSource::default())?;
    Ok(settings)
}

fn as_text(report: &Value) -> String {
    let x = |key: &str| report[key].as_f64().unwrap_or(f64::NAN);
    let written = report["written"].as_str().unwrap_or_default();
    let mut lines = vec![
        format!("{written}  {} frames at {}, {} bytes", report["frames"], rate(x("fps")), report["bytes"]),
        match report["pairs"].as_u64() {
            Some(0) => "  without pairs: limbs follow the actor's".to_owned(),
            _ => format!("  the actor is {:.1} cm from the pairs' blends", x("residual_cm")),
        },
        format!("  {} frames were not tracked and held", report["held_frames"]),
        format!("  time per frame  {:.1} µs", x("us_per_frame")),
    ];
    if let Some(parts) = report["parts"].as_object().filter(|parts| !parts.is_empty()) {
        let part = |(name, n): (&String, &Value)| format!("{name} {n}");
        lines.push(format!("  joints moved by  {}", parts.iter().map(part).collect::<Vec<_>>().join(", ")));
    }
    lines.join("\n")
}
