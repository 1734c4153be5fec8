//! `sinew reach`: the blend of example poses whose handles come nearest to their targets.

use super::examples::SearchArgs;
use super::{
    examples::{Body, open, params},
    input::with_path,
    output::{Origin, OutputOptions, check_name, write_character},
};
use crate::console::Console;
use anyhow::{Context, ensure};
use clap::Args;
use glam::DVec3;
use serde_json::{Map, Value, json};
use sinew::{
    deform::examples::{Objective, SearchParams, SearchResult, Start, Target},
    geom::{Character, Surface, Warnings},
    session::REACHED_SHARE,
};
use std::{path::PathBuf, time::Instant};

/// Find the blend of example poses that brings handles to targets
#[derive(Args)]
#[command(after_help = "The objective is a sum of terms, each with an optional factor:\n  \
                        target             reach the targets\n  \
                        small-weights      keep weights small\n  \
                        sum-to-one         let weights sum to 1\n  \
                        like-examples      look like an example\n  \
                        single-example     prefer one example to two\n  \
                        last-pose          stay near the last pose\n  \
                        few-examples(N)    use at most N examples\n\
                        The abbreviations of Hansen (2006) are understood as well.\nExample:  sinew sample biped --poses walk -o \
                        walk.sinew.glb && sinew reach walk.sinew.glb --by foot.L=0,0.1,0.3")]
pub struct ReachArgs {
    /// Project with handles and example poses
    pub project: PathBuf,
    /// Handle and target position of its centre, in metres: hand.L=0.3,1.2,0.4
    #[arg(long, value_name = "NAME=X,Y,Z", allow_hyphen_values = true, required_unless_present = "by")]
    pub to: Vec<String>,
    /// The same, relative to its rest position
    #[arg(long, value_name = "NAME=X,Y,Z", allow_hyphen_values = true)]
    pub by: Vec<String>,
    /// Handle that must stay at its rest position
    #[arg(long, value_name = "NAME")]
    pub pin: Vec<String>,
    #[command(flatten)]
    pub search: SearchArgs,
    /// File to write the posed surface to (glb, obj, ply)
    #[arg(long, short)]
    pub output: Option<PathBuf>,
}

/// Rounds after which a local search has converged.
const MAX_ROUNDS: usize = 200;

pub fn run(args: &ReachArgs, console: &Console) -> anyhow::Result<()> {
    let seed = console.seed;
    if let Some(path) = &args.output {
        check_name(path, false)?;
    }
    let mut warnings = Warnings::default();
    let body = open(&args.project, args.search.poses, console, &mut warnings)?;
    let targets = targets(&body, args)?;
    let params = SearchParams {
        rounds: MAX_ROUNDS,
        multi_start: true,
        ..params(&args.search, Objective::default(), seed)?
    };
    let start = Start { grips: Some(body.space.rest_grips()), ..Start::default() };
    let begun = Instant::now();
    let found =
        body.space.search(&targets, &params, &start).map_err(|error| with_path(error, &args.project))?;
    let ms = begun.elapsed().as_secs_f64() * 1e3;
    let mut report = describe(&body, &found, &targets, &params, ms);
    if !report["reached"].as_bool().unwrap_or(false) {
        let missed = 100.0 * found.target_errors(&targets)[1] / (10.0 * body.space.unit());
        warnings.push(format!(
            "the targets are out of reach: this is the nearest pose, and it misses by up to {missed:.1} % of the body"
        ));
    }
    if let Some(path) = &args.output {
        let editor = body.editor(console, &mut warnings)?;
        let mut positions = body.document.mesh().positions().to_vec();
        let detail = body.space.detail(&found.weights);
        let pose = body.space.pose_of(&found, &params);
        editor.solve_with_detail(&pose, &body.rest_normals(), detail.as_deref(), &mut positions)?;
        let origin = Origin::of_document(&body.document);
        let mesh = body.document.mesh().with_positions(positions)?;
        let surface = Surface { normals: None, ..body.document.body.surface.clone() };
        let posed = match origin.is_kept_in(path) {
            true => Character { mesh, surface, ..body.document.character() },
            false => Character { name: body.document.name.clone(), mesh, surface, ..Character::default() },
        };
        let options = OutputOptions { clip: None, fps: None, influences: 4, origin };
        report["bytes"] = json!(write_character(&posed, path, &options, &mut warnings)?);
        report["written"] = json!(path.display().to_string());
    }
    console.warn(&args.project, &warnings);
    report["warnings"] = json!(warnings.messages);
    console.result(&report, || as_text(&report))
}

fn targets(body: &Body, args: &ReachArgs) -> anyhow::Result<Vec<Target>> {
    let mut targets: Vec<Target> = Vec::new();
    let mut add = |target: Target| -> anyhow::Result<()> {
        let is_new = targets.iter().all(|other| other.handle != target.handle);
        ensure!(is_new, "a handle has two targets; give each one");
        targets.push(target);
        Ok(())
    };
    for (text, is_relative) in args.to.iter().map(|t| (t, false)).chain(args.by.iter().map(|t| (t, true))) {
        let (name, place) = text.split_once('=').with_context(|| usage(text))?;
        let numbers: Option<Vec<f64>> = place.split(',').map(|x| x.trim().parse().ok()).collect();
        let numbers: [f64; 3] = numbers.and_then(|list| list.try_into().ok()).with_context(|| usage(text))?;
        let handle = find(body, args, name)?;
        let base = if is_relative { body.space.rest_grips()[handle] } else { DVec3::ZERO };
        add(Target { handle, position: base + DVec3::from_array(numbers), is_pinned: false })?;
    }
    for name in &args.pin {
        let handle = find(body, args, name)?;
        add(Target { handle, position: body.space.rest_grips()[handle], is_pinned: true })?;
    }
    Ok(targets)
}

fn find(body: &Body, args: &ReachArgs, name: &str) -> anyhow::Result<usize> {
    body.space.find_handle(name.trim()).map_err(|error| with_path(error, &args.project))
}

fn usage(text: &str) -> String {
    format!("{text:?} is not a target; write it as hand.L=0.3,1.2,0.4")
}

fn describe(body: &Body, found: &SearchResult, targets: &[Target], params: &SearchParams, ms: f64) -> Value {
    let weights: Map<String, Value> =
        body.space.example_names().zip(&found.weights).map(|(name, w)| (name.to_owned(), json!(w))).collect();
    let terms: Map<String, Value> =
        found.terms.iter().map(|(term, value)| (term.name().to_owned(), json!(value))).collect();
    let [mean, most] = found.target_errors(targets);
    json!({
        "weights": weights,
        "energy": found.energy,
        "terms": terms,
        "evaluations": found.evaluations,
        "target_error": mean,
        "target_error_max": most,
        "reached": most <= REACHED_SHARE * 10.0 * body.space.unit(),
        "ms": ms,
        "optimiser": params.optimiser.name(),
        "objective": params.objective.to_string(),
    })
}

fn as_text(report: &Value) -> String {
    let x = |key: &str| report[key].as_f64().unwrap_or(f64::NAN);
    let pairs = |key: &str| {
        let object = report[key].as_object().into_iter().flatten();
        object.map(|(name, value)| (name.clone(), value.as_f64().unwrap_or(0.0))).collect::<Vec<_>>()
    };
    let mut lines: Vec<String> = Vec::new();
    if let Some(path) = report["written"].as_str() {
        lines.push(format!("{path}  {} bytes", report["bytes"]));
    }
    let mut weights = pairs("weights");
    weights.sort_by(|a, b| b.1.total_cmp(&a.1));
    for (name, weight) in weights.iter().filter(|(_, weight)| weight.abs() > 5e-4) {
        lines.push(format!("  {weight:6.3}  {name}"));
    }
    if weights.iter().all(|(_, weight)| weight.abs() <= 5e-4) {
        lines.push("  no example is used: the pose is the one at rest".into());
    }
    let terms: Vec<String> =
        pairs("terms").iter().map(|(name, value)| format!("{name} {value:.4}")).collect();
    lines.push(format!("  energy       {:.4} ({})", x("energy"), terms.join(", ")));
    lines.push(format!(
        "  targets off  {:.4} m on average, {:.4} m at most",
        x("target_error"),
        x("target_error_max")
    ));
    lines.push(format!(
        "  found in     {:.3} ms, {} evaluations, {}",
        x("ms"),
        report["evaluations"],
        report["optimiser"].as_str().unwrap_or_default()
    ));
    lines.join("\n")
}
