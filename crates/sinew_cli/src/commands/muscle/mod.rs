//! `sinew muscle`: forces that shape flesh.

mod add;
mod fit;
mod list;
mod transfer;

use super::flesh::{self, FleshArgs, read_muscles, typed};
use crate::console::Console;
use anyhow::{Context, bail, ensure};
use clap::{Args, Subcommand};
use glam::DVec3;
use serde_json::{Value, json};
use sinew::{
    flesh::{
        FleshParams, LatticeParams, LatticeSource, Material, SimulationParams,
        muscle::{Control, ControlSource, MuscleSet, MuscleShape},
        muscle_fit::Feature,
    },
    formats::write_atomic,
    geom::Character,
    session::{self, FleshSettings},
};
use std::path::Path;

/// Shape flesh with muscles: bumps, bulges, rings or whole surfaces, driven by joints or curves
#[derive(Args)]
#[command(
    after_help = "A muscle follows one control parameter: a joint (elbow.L.bend, head.ry), or a name of your own.\n\n\
                  Examples:  sinew muscle add biped.glb breath --template bump --vertex 3614 --out 0.02 -o biped.muscles.json\n           \
                  sinew muscle add arm.glb flex --target bent.obj --control elbow.bend -o arm.muscles.json\n           \
                  sinew muscle fit biped.glb --muscles biped.muscles.json --muscle breath --drag 3614+0,0,0.03\n           \
                  sinew muscle drive biped.glb --muscles biped.muscles.json --clip walk --curve breath=0:0,1:1,2:0 -o soft.glb\n           \
                  sinew muscle transfer cat.glb --muscles cat.muscles.json --to lion.obj --features markers.yml -o lion.muscles.json"
)]
pub struct MuscleArgs {
    #[command(subcommand)]
    command: MuscleCommand,
}

#[derive(Subcommand)]
pub enum MuscleCommand {
    /// Add a muscle, or a sample to one: a template placed on the character, or forces fitted to a target shape
    Add(Box<add::MuscleAddArgs>),
    /// Drag points of the skin and fit the parameters of a template to them
    Fit(fit::MuscleFitArgs),
    /// Simulate flesh over a clip with muscles acting on it; takes all options of `sinew flesh`
    Drive(Box<FleshArgs>),
    /// Transfer muscles to another character
    Transfer(transfer::MuscleTransferArgs),
    /// List the muscles of a file
    List(list::MuscleListArgs),
}

/// The body that muscles act on.
#[derive(Args)]
pub struct BodyArgs {
    /// Approximate number of cells
    #[arg(long, value_name = "N", default_value_t = FleshSettings::default().cells)]
    pub cells: usize,
    /// Side of the cells in metres, instead of their number
    #[arg(long, value_name = "METRES", conflicts_with = "cells")]
    pub cell_size: Option<f64>,
    /// Stiffness in pascals [default: in proportion to the size, as in `sinew flesh`]
    #[arg(long, value_name = "PA", allow_hyphen_values = true)]
    pub stiffness: Option<f64>,
    /// Gravity in metres per second squared, downwards
    #[arg(long, value_name = "G", default_value_t = -FleshSettings::default().gravity[1], allow_hyphen_values = true)]
    pub gravity: f64,
}

/// Run a subcommand of `sinew muscle`.
pub fn run(args: &MuscleArgs, console: &Console) -> anyhow::Result<()> {
    match &args.command {
        MuscleCommand::Add(args) => add::run(args, console),
        MuscleCommand::Fit(args) => fit::run(args, console),
        MuscleCommand::Drive(args) => drive(args, console),
        MuscleCommand::Transfer(args) => transfer::run(args, console),
        MuscleCommand::List(args) => list::run(args, console),
    }
}

/// `sinew muscle drive`: `sinew flesh` with muscles.
fn drive(args: &FleshArgs, console: &Console) -> anyhow::Result<()> {
    ensure!(args.muscles.is_some(), "give the muscle file with --muscles FILE; `sinew muscle add` makes one");
    flesh::run(args, console)
}

/// Write a muscle file and return its size in bytes.
pub fn write_muscles(path: &Path, set: &MuscleSet) -> anyhow::Result<u64> {
    let shown = path.display();
    ensure!(
        path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json")),
        "{shown}: the name of a muscle file must end in .json"
    );
    set.check()?;
    let text = serde_json::to_vec(&session::muscles_to_json(set))?;
    write_atomic(path, &text)?;
    Ok(text.len() as u64)
}

/// What is simulated while muscles are made.
pub fn body_params(
    args: &BodyArgs,
    character: &Character,
    set: Option<&MuscleSet>,
) -> anyhow::Result<SimulationParams> {
    ensure!(args.gravity.is_finite(), "--gravity must be finite");
    let usual = || FleshSettings::usual_stiffness(&character.mesh);
    let (size, source) = match set.and_then(MuscleSet::lattice).filter(|_| args.cell_size.is_none()) {
        Some((size, source)) => (Some(size), source),
        None => (args.cell_size, LatticeSource::Cubes),
    };
    Ok(SimulationParams {
        lattice: LatticeParams { cells: args.cells, size },
        source,
        material: Material { young: args.stiffness.unwrap_or_else(usual), ..Material::default() },
        flesh: FleshParams { gravity: DVec3::new(0.0, -args.gravity, 0.0), ..FleshParams::default() },
        ..SimulationParams::default()
    })
}

/// What was typed, of radians.
pub fn shown(control: &Control, value: f64) -> f64 {
    if control.source == ControlSource::Free { value } else { value.to_degrees() }
}

/// `x,y,z`.
pub fn vector(text: &str, what: &str) -> anyhow::Result<DVec3> {
    let parts: Vec<f64> = text.split(',').map_while(|part| part.trim().parse().ok()).collect();
    match parts.as_slice() {
        [x, y, z] if text.split(',').count() == 3 && parts.iter().all(|x: &f64| x.is_finite()) => {
            Ok(DVec3::new(*x, *y, *z))
        }
        _ => bail!("{what} {text:?}: give three numbers, such as 0,1.2,0.1"),
    }
}

/// Pairs of vertices: `{"features":[[1,2],…]}`, or lines with `1:2` or `1,2` as markers and `.corr` files have them.
pub fn read_features(path: &Path) -> anyhow::Result<Vec<Feature>> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).with_context(|| shown.to_string())?;
    let features = if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json")) {
        let value: Value =
            serde_json::from_str(&text).map_err(|e| anyhow::anyhow!("{shown}:{}: {e}", e.line()))?;
        let list = value.get("features").unwrap_or(&value);
        serde_json::from_value(list.clone())
            .map_err(|_| anyhow::anyhow!("{shown}: expected {{\"features\":[[1,2],…]}}, pairs of vertices"))?
    } else {
        text.lines().filter_map(feature).collect::<Vec<_>>()
    };
    ensure!(
        !features.is_empty(),
        "{shown}: there are no features; give pairs of vertices, such as 12:40, one per line"
    );
    Ok(features)
}

/// `- "2653:1316"  #left paw`, `2957,451`.
fn feature(line: &str) -> Option<Feature> {
    let line = line.split('#').next()?.trim().trim_start_matches('-').trim().trim_matches('"');
    let (a, b) = line.split_once([':', ','])?;
    Some((a.trim().parse().ok()?, b.trim().parse().ok()?))
}

/// Description of a muscle, for results.
pub fn describe(set: &MuscleSet, at: usize) -> Value {
    let muscle = &set.muscles[at];
    let control = set.controls.iter().find(|control| control.name == muscle.control);
    let of = |value: f64| control.map_or(value, |control| shown(control, value));
    let mut value = json!({
        "name": muscle.name,
        "control": muscle.control,
        "follows": control.and_then(|control| control.source.text()),
        "samples": muscle.sampled_at().into_iter().map(of).collect::<Vec<f64>>(),
        "stiffen": muscle.stiffen,
        "posed_joints": muscle.pose.len(),
    });
    match &muscle.shape {
        MuscleShape::Template { template, guide, samples } => {
            value["kind"] = json!(template.name());
            value["guide"] = json!(guide.name());
            if let Some((_, eta)) = samples.list().last() {
                let names = muscle.parameters();
                value["parameters"] =
                    names.iter().zip(eta).map(|(n, x)| ((*n).to_owned(), json!(x))).collect();
            }
        }
        MuscleShape::Surface { cell_size, levels, samples } => {
            value["kind"] = json!("surface");
            value["cell_size"] = json!(cell_size);
            value["adapted"] = json!(!levels.is_empty());
            value["nodes"] = json!(samples.first().map_or(0, |(_, forces)| forces.len()));
        }
    }
    value
}

/// The error for `sinew rig add` and the like, which older versions had in place of `sinew muscle add`.
pub fn renamed_from_rig(words: &[String]) -> Option<String> {
    const VERBS: [&str; 5] = ["add", "fit", "drive", "transfer", "list"];
    let verb =
        words.windows(2).find(|pair| pair[0] == "rig" && VERBS.contains(&pair[1].as_str()))?[1].as_str();
    Some(format!(
        "`sinew rig {verb}` is now `sinew muscle {verb}`, with --muscles FILE in place of --rigs FILE"
    ))
}
