//! `sinew muscle fit`: drag points of the skin, and a template follows.

use super::{BodyArgs, body_params, describe, read_muscles, shown, typed, vector, write_muscles};
use crate::{
    commands::input::{read_surface, with_path},
    console::Console,
};
use anyhow::{Context, bail};
use clap::Args;
use glam::DVec3;
use serde_json::json;
use sinew::{
    flesh::{
        muscle::{MuscleEvaluator, MuscleShape},
        muscle_fit::{PosedBody, TemplateFit, TemplateFitParams, TemplateFitter},
    },
    geom::Warnings,
};
use std::path::PathBuf;
use std::time::Instant;

/// Rounds in which the linear fit learns where the simulated body really comes to rest.
const MAX_ROUNDS: usize = 4;

#[derive(Args)]
pub struct MuscleFitArgs {
    /// Character with a skin (glb, vrm)
    pub character: PathBuf,
    /// Muscle file, as written by `sinew muscle add`
    #[arg(long, value_name = "FILE", alias = "rigs")]
    pub muscles: PathBuf,
    /// Which muscle to fit
    #[arg(long, value_name = "NAME", alias = "rig")]
    pub muscle: String,
    /// Vertex and target position: 812=0.1,1.2,0.3, or offset: 812+0,0,0.03
    #[arg(long, value_name = "V=X,Y,Z", required = true)]
    pub drag: Vec<String>,
    /// Value of the control parameter for this sample (degrees for joints) [default: the highest one recorded]
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    pub at: Option<f64>,
    /// Parameters that must not change
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub keep: Vec<String>,
    #[command(flatten)]
    pub body: BodyArgs,
    /// File to write [default: FILE of --muscles]
    #[arg(long, short)]
    pub output: Option<PathBuf>,
}

pub fn run(args: &MuscleFitArgs, console: &Console) -> anyhow::Result<()> {
    let mut warnings = Warnings::default();
    let mut set = read_muscles(&args.muscles)?;
    let at = set.muscle(&args.muscle).map_err(|e| with_path(e, &args.muscles))?;
    let MuscleShape::Template { template, guide, samples } = set.muscles[at].shape.clone() else {
        bail!("the muscle {:?} is made from a surface; only templates can be dragged", args.muscle);
    };
    let (character, _) = read_surface(&args.character, console, &mut warnings)?;
    let params = body_params(&args.body, &character, Some(&set))?;
    let mut posed = {
        let _progress = console.progress("filling with flesh");
        PosedBody::new(&character, &params, &mut warnings).map_err(|e| with_path(e, &args.character))?
    };
    let control = set.controls[set.control(&set.muscles[at].control)?].clone();
    let last = samples.list().last().map_or(1.0, |(at, _)| *at);
    let gamma = args.at.map_or(last, |value| typed(&control, value));
    let mut eta = samples.at(gamma);
    let (mut points, mut targets, mut base) = (Vec::new(), Vec::new(), Vec::new());
    for text in &args.drag {
        let (vertex, place, is_way) = drag(text)?;
        let point = posed.point(vertex).with_context(|| format!("--drag {text}"))?;
        base.push(posed.place(&point));
        targets.push(if is_way { posed.place(&point) + place } else { place });
        points.push(point);
    }
    let names = set.muscles[at].parameters();
    if let Some(unknown) = args.keep.iter().find(|name| !names.contains(&name.as_str())) {
        bail!("--keep: there is no parameter {unknown:?}; there are: {}", names.join(", "));
    }
    let weight = |(i, name): (usize, &&str)| match args.keep.iter().any(|kept| kept == name) {
        true => f64::INFINITY,
        false if i == 0 => 0.0,
        false => 0.05,
    };
    let keep = names.iter().enumerate().map(weight).collect();
    let params = TemplateFitParams { keep: Some(keep), ..TemplateFitParams::default() };
    let start = Instant::now();
    let statics = posed.statics()?;
    let lattice = posed.body().lattice.clone();
    let fitter = TemplateFitter::new(&statics, &lattice, (template, &guide), &points, posed.rotations())?;
    let prepare_ms = start.elapsed().as_secs_f64() * 1e3;
    let (mut found, mut fit_ms, mut distance): (Option<TemplateFit>, f64, f64) = (None, 0.0, f64::INFINITY);
    for round in 0..MAX_ROUNDS {
        let start = Instant::now();
        let fit = fitter.fit(&eta, &base, &targets, &params).map_err(|e| with_path(e, &args.muscles))?;
        if round == 0 {
            fit_ms = start.elapsed().as_secs_f64() * 1e3;
        }
        let mut trial = set.clone();
        if let MuscleShape::Template { samples, .. } = &mut trial.muscles[at].shape {
            samples.record(gamma, fit.eta.clone());
        }
        let mut forces = Vec::new();
        trial.muscles = vec![trial.muscles[at].clone()];
        let theta =
            trial.theta(Some((posed.rig(), posed.pose())), |name| (name == control.name).then_some(gamma))?;
        MuscleEvaluator::new(&trial, &lattice)?.forces(&lattice, &theta, posed.rotations(), &mut forces)?;
        posed.push(forces)?;
        let reached: Vec<DVec3> = points.iter().map(|point| posed.place(point)).collect();
        let squares: f64 = reached.iter().zip(&targets).map(|(a, b)| a.distance_squared(*b)).sum();
        let off = (squares / points.len() as f64).sqrt();
        if off >= distance {
            break;
        }
        distance = off;
        let moved = fitter.moved(&fit.eta);
        base = reached.iter().zip(&moved).map(|(r, m)| *r - *m).collect();
        eta.clone_from(&fit.eta);
        found = Some(fit);
    }
    let found = found.context("nothing was fitted")?;
    if let MuscleShape::Template { samples, .. } = &mut set.muscles[at].shape {
        samples.record(gamma, found.eta.clone());
    }
    let output = args.output.as_ref().unwrap_or(&args.muscles);
    let bytes = write_muscles(output, &set)?;
    let mut report = describe(&set, at);
    report["at"] = json!(shown(&control, gamma));
    report["distance"] = json!(distance);
    report["rounds"] = json!(found.report.rounds);
    report["prepare_ms"] = json!(prepare_ms);
    report["fit_ms"] = json!(fit_ms);
    report["written"] = json!(output.display().to_string());
    report["bytes"] = json!(bytes);
    report["warnings"] = json!(warnings.messages);
    console.warn(&args.character, &warnings);
    console.result(&report, || {
        format!(
            "{}  {} fitted in {fit_ms:.1} ms, {:.2} mm from where it was dragged to\n  {}\n",
            output.display(),
            args.muscle,
            distance * 1e3,
            report["parameters"]
        )
    })
}

/// `812=x,y,z` or `812+x,y,z`: vertex, place or way, and which of them.
fn drag(text: &str) -> anyhow::Result<(usize, DVec3, bool)> {
    let at =
        text.find(['=', '+']).with_context(|| format!("--drag {text:?}: give 812=X,Y,Z or 812+X,Y,Z"))?;
    let vertex = text[..at]
        .trim()
        .parse()
        .with_context(|| format!("--drag {text:?}: {:?} is not a vertex", &text[..at]))?;
    Ok((vertex, vector(&text[at + 1..], "--drag")?, text.as_bytes()[at] == b'+'))
}
