//! `sinew puppet`: a character moved by the recording of a body.

mod actor;
mod handles;
mod pair;
mod rig;

pub use pair::run as run_pair;

use super::{input::with_path, output::check_name};
use crate::{args::PuppetArgs, console::Console};
use actor::{Actor, read_actor};
use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};
use sinew::{
    formats::pairs::{PairFile, PairTarget, read_pairs},
    geom::Warnings,
    puppet::{
        GroundParams, Interpolation, Limb, PerformerParams, Projection, ProjectionParams, PuppeteerParams,
        TrackerParams,
    },
    session::open_file,
};
use std::time::Instant;

pub fn run(args: &PuppetArgs, console: &Console) -> anyhow::Result<()> {
    let target = args
        .target
        .as_deref()
        .context("give a character to puppeteer, or `sinew puppet pair` to make pairs")?;
    let (pairs, source, output) = required(args)?;
    let mut warnings = Warnings::default();
    let bytes = std::fs::read(pairs).with_context(|| pairs.display().to_string())?;
    let file = read_pairs(&bytes, &pairs.to_string_lossy())?;
    ensure!(
        !file.pairs.is_empty(),
        "{}: there are no pairs; make one with `sinew puppet pair`",
        pairs.display()
    );
    let actor = read_actor(source, &mut warnings)?;
    let document = {
        let progress = console.progress(&format!("reading {}", target.display()));
        open_file(target, &mut |share| progress.update(share), &mut warnings)?
    };
    let params = params(args, &actor)?;
    let is_of = |kind: fn(&PairTarget) -> bool| file.pairs.iter().any(|pair| kind(&pair.target));
    let has_examples = is_of(|target| matches!(target, PairTarget::Example(_)));
    // A pose that moves no joint is the one at rest, with or without a skeleton.
    let has_joints = is_of(|target| matches!(target, PairTarget::Joints(joints) if !joints.is_empty()));
    let begun = Instant::now();
    let mut report = match (has_examples, has_joints) {
        (true, true) => bail!(
            "{}: some pairs hold poses of a skeleton, others stored poses of handles; keep them in two files",
            pairs.display()
        ),
        (true, false) => handles::perform(document, &file, &actor, &params, (args, console), &mut warnings),
        (false, _) => rig::perform(&document, &file, &actor, &params, (args, console), &mut warnings),
    }
    .map_err(|error| with_path(error, target))?;
    report["seconds"] = json!(begun.elapsed().as_secs_f64());
    report["written"] = json!(output.display().to_string());
    console.warn(target, &warnings);
    report["warnings"] = json!(warnings.messages);
    console.result(&report, || as_text(&report))
}

fn required(args: &PuppetArgs) -> anyhow::Result<(&std::path::Path, &str, &std::path::Path)> {
    let pairs = args.pairs.as_deref().context("give --pairs FILE; `sinew puppet pair` makes one")?;
    let source =
        args.source.as_deref().context("give --source MOTION: a recording, a BVH file or an animated GLB")?;
    let output = args.output.as_deref().context("give -o FILE to write to")?;
    check_name(output, args.interpolation == Interpolation::Linear)?;
    Ok((pairs, source, output))
}

fn params(args: &PuppetArgs, actor: &Actor) -> anyhow::Result<PerformerParams> {
    let lambda = args.lambda.unwrap_or(Projection::LAMBDA);
    let projection = match args.projection.as_str() {
        "linear" => Projection::Linear,
        "positive" => Projection::Positive,
        _ => Projection::L1(lambda),
    };
    ensure!((0.0..=1.0).contains(&args.smoothing), "--smoothing is {}; give 0 to 1", args.smoothing);
    let ignored = args.ignore.iter().map(|name| limb(name)).collect::<anyhow::Result<Vec<_>>>()?;
    Ok(PerformerParams {
        tracker: TrackerParams {
            smoothing: args.smoothing,
            mirror: args.mirror,
            ignored,
            hold_secs: args.hold,
            ..TrackerParams::default()
        },
        puppeteer: PuppeteerParams {
            projection: ProjectionParams { projection, ..ProjectionParams::default() },
            limit: args.limit,
        },
        interpolation: args.interpolation,
        ground: GroundParams {
            scale: args.scale,
            travel: !args.in_place,
            feet: !args.no_feet,
            jumps: actor.knows_height,
        },
        whole_body: args.whole_body,
        limbs: Vec::new(),
    })
}

fn limb(name: &str) -> anyhow::Result<Limb> {
    let known = Limb::ALL.map(Limb::name).join(", ");
    Limb::from_name(name).with_context(|| format!("{name:?} is no limb; there are: {known}"))
}

/// Joints and limbs that the user put together.
fn limbs_of(file: &PairFile) -> anyhow::Result<Vec<(String, Vec<Limb>)>> {
    let entry = |(joint, limbs): &(String, Vec<String>)| {
        Ok((joint.clone(), limbs.iter().map(|name| limb(name)).collect::<anyhow::Result<Vec<_>>>()?))
    };
    file.limbs.iter().map(entry).collect()
}

/// What is told of the frames of a take.
#[derive(Default)]
struct Tally {
    weights: Vec<Vec<f64>>,
    residual: f64,
    n_held: usize,
    secs: f64,
}

impl Tally {
    fn report(&self, fps: f64) -> Value {
        let n = self.weights.len().max(1) as f64;
        json!({
            "frames": self.weights.len(),
            "fps": fps,
            "us_per_frame": 1e6 * self.secs / n,
            "held_frames": self.n_held,
            "residual_cm": 100.0 * (self.residual / n).sqrt(),
            "weights": self.weights,
        })
    }
}

fn as_text(report: &Value) -> String {
    let x = |key: &str| report[key].as_f64().unwrap_or(f64::NAN);
    let written = report["written"].as_str().unwrap_or_default();
    let mut lines = vec![
        format!(
            "{written}  {} frames at {} a second, {} bytes",
            report["frames"], report["fps"], report["bytes"]
        ),
        format!(
            "  the actor is {:.1} cm from the pairs' blends; {} frames were not tracked and held",
            x("residual_cm"),
            report["held_frames"]
        ),
        format!("  a frame took {:.1} µs", x("us_per_frame")),
    ];
    if let Some(parts) = report["parts"].as_object().filter(|parts| !parts.is_empty()) {
        let part = |(name, n): (&String, &Value)| format!("{name} {n}");
        lines.push(format!("  joints moved by  {}", parts.iter().map(part).collect::<Vec<_>>().join(", ")));
    }
    lines.join("\n")
}
