//! `sinew rig`: a skeleton and weights for any mesh.

use super::{
    input::{read_surface, with_path},
    output::{Origin, OutputOptions, write_character},
};
use crate::console::Console;
use anyhow::bail;
use clap::{Args, builder::PossibleValuesParser};
use serde_json::{Value, json};
use sinew::{
    geom::{
        Character, Warnings,
        body_map::{BodyClass, BodyMap},
    },
    rig::{NamePreset, RigParams, RigReport, build_rig, build_skin},
};
use std::{fmt::Write, path::PathBuf};

/// Give a mesh a skeleton with names and weights
#[derive(Args)]
#[command(
    after_help = "All parts of the model are treated as one body. Unit, up axis and facing are found from the shape. The best \
                  fitting template is used and its confidence is reported; --template overrides it.\n\n\
                  Example:  sinew rig bull.obj -o bull.glb"
)]
pub struct RigArgs {
    /// Mesh, or a character whose skeleton is to be replaced
    pub model: PathBuf,
    /// Body plan to use [default: the one that fits best]
    #[arg(long, value_name = "NAME", value_parser = template_names())]
    pub template: Option<String>,
    /// Keep the skeleton and clips of the model; only recompute its weights
    #[arg(long, conflicts_with_all = ["template", "names"])]
    pub keep_skeleton: bool,
    /// Name the joints of a humanoid as this program does [default: hips, upper_arm.L and so on]
    #[arg(long, value_name = "PROGRAM", value_parser = preset_names())]
    pub names: Option<String>,
    /// Character to write (glb)
    #[arg(long, short)]
    pub output: PathBuf,
}

fn template_names() -> PossibleValuesParser {
    PossibleValuesParser::new(BodyClass::ALL.map(BodyClass::name))
}

fn preset_names() -> PossibleValuesParser {
    PossibleValuesParser::new(NamePreset::ALL.map(NamePreset::name))
}

/// Rig a model and write it as a character.
pub fn run(args: &RigArgs, console: &Console) -> anyhow::Result<()> {
    if !args.output.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("glb")) {
        bail!("{}: a rigged character is written as .glb; name it so", args.output.display());
    }
    let mut warnings = Warnings::default();
    let (mut character, origin) = read_surface(&args.model, console, &mut warnings)?;
    if args.keep_skeleton {
        return bind_again(args, character, origin, warnings, console);
    }
    let template = args.template.as_deref().and_then(BodyClass::from_name);
    let progress = console.progress("rigging");
    let built = build_rig(&character.mesh, &RigParams { template });
    drop(progress);
    let built = built.map_err(|error| with_path(error, &args.model))?;
    if let Some(old) = &character.rig {
        warnings.push(format!("the skeleton of {} joints that the model had is replaced", old.n_joints()));
    }
    if !character.clips.is_empty() {
        warnings.push(format!("{} clips of the old skeleton are left out", character.clips.len()));
        character.clips.clear();
    }
    let mut report = describe(&built.report);
    let mut rig = built.rig;
    if let Some(preset) = args.names.as_deref().and_then(NamePreset::from_name) {
        let n_kept;
        (rig, n_kept) = preset.rename(&rig)?;
        if n_kept > 0 {
            warnings.push(format!("{} has no names for {n_kept} joints; they keep theirs", preset.name()));
        }
    }
    report["joints"] = json!(rig.joints().iter().map(|joint| joint.name.as_str()).collect::<Vec<_>>());
    // Metres for one unit of the file, as the size of such a body suggests.
    report["unit"] = json!(BodyMap::read(&rig, &[]).metres_per_unit.unwrap_or(1.0));
    (character.rig, character.skin) = (Some(rig), Some(built.skin));
    let options = OutputOptions { clip: None, fps: None, influences: 4, origin };
    let n_bytes = write_character(&character, &args.output, &options, &mut warnings)?;
    console.warn(&args.model, &warnings);
    report["written"] = json!(args.output.display().to_string());
    report["bytes"] = json!(n_bytes);
    report["warnings"] = json!(warnings.messages);
    console.result(&report, || as_text(&report, &built.report))
}

/// New weights on the skeleton that the model has.
fn bind_again(
    args: &RigArgs,
    mut character: Character,
    origin: Origin,
    mut warnings: Warnings,
    console: &Console,
) -> anyhow::Result<()> {
    let Some(rig) = &character.rig else {
        bail!("{}: there is no skeleton to keep; leave out --keep-skeleton to get one", args.model.display());
    };
    let progress = console.progress("binding");
    let skin = build_skin(&character.mesh, rig, character.skin.as_ref());
    drop(progress);
    let n_joints = rig.n_joints();
    character.skin = Some(skin.map_err(|error| with_path(error, &args.model))?);
    let options = OutputOptions { clip: None, fps: None, influences: 4, origin };
    let n_bytes = write_character(&character, &args.output, &options, &mut warnings)?;
    console.warn(&args.model, &warnings);
    let written = args.output.display().to_string();
    let report =
        json!({ "written": written, "bytes": n_bytes, "joints": n_joints, "warnings": warnings.messages });
    console.result(&report, || format!("{written}  weights of {n_joints} joints, at most 4 per vertex\n"))
}

fn describe(report: &RigReport) -> Value {
    let doubts = |doubts: &[(&'static str, f64)]| -> Vec<Value> {
        doubts.iter().map(|(reason, penalty)| json!({ "reason": reason, "penalty": penalty })).collect()
    };
    let alternatives: Vec<Value> = report
        .alternatives
        .iter()
        .map(|other| json!({ "class": other.class.name(), "cost": other.cost, "doubts": doubts(&other.doubts) }))
        .collect();
    json!({
        "class": report.class.name(),
        "confidence": report.confidence,
        "up": report.up.to_array(),
        "facing": report.forward.to_array(),
        "limbs": report.notes,
        "alternatives": alternatives,
    })
}

fn as_text(report: &Value, rigged: &RigReport) -> String {
    let n_joints = report["joints"].as_array().map_or(0, Vec::len);
    let mut text = format!(
        "{}  {}, {n_joints} joints, confidence {:.0} %\n",
        report["written"].as_str().unwrap_or_default(),
        rigged.class.description(),
        100.0 * rigged.confidence,
    );
    for note in &rigged.notes {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {note}");
    }
    if rigged.is_guess() {
        let other = rigged.alternatives.iter().find(|other| other.class != rigged.class);
        let name = other.map_or("biped", |other| other.class.name());
        let _ = writeln!(text, "  This is a guess. If it is wrong, choose a plan, such as --template {name}");
    }
    text
}
