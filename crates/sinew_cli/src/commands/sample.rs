//! `sinew sample`: a built-in character or sequence.

use super::{
    names::one_of,
    output::{Origin, OutputOptions, check_name, write_character, write_sequence},
};
use crate::console::Console;
use anyhow::{Context, ensure};
use clap::Args;
use serde_json::{Value, json};
use sinew::{
    formats::write_atomic,
    geom::{
        Character, MeshSequence, Surface, Warnings,
        sample::{PoseSet, Sample, build_character, build_sequence},
    },
    session::{Document, TakeData, add_demo, demo_actor, perform_take, sample_poses, write_project},
};
use std::ops::ControlFlow;
use std::path::PathBuf;

/// Make a built-in character or cloth sequence
#[derive(Args)]
pub struct SampleArgs {
    /// Name of the sample
    #[arg(value_parser = one_of(Sample::ALL, Sample::name))]
    pub name: Sample,
    /// About how many vertices, 1000 to 1000000
    #[arg(long, short = 'n', default_value_t = 5_000, value_name = "N")]
    pub vertices: usize,
    /// Add example poses: first, walk, limbs (biped), jump (sack); the file is then a project
    #[arg(long, value_name = "SET", value_parser = one_of(PoseSet::ALL, PoseSet::name))]
    pub poses: Option<PoseSet>,
    /// Add pose pairs and a puppetry demo (quadruped, octopus, sack, bar); the file is then a project
    #[arg(long, conflicts_with = "poses")]
    pub puppet: bool,
    /// File to write (glb, obj, ply), or a folder for a sequence of obj files
    #[arg(long, short)]
    pub output: PathBuf,
}

pub fn run(args: &SampleArgs, console: &Console) -> anyhow::Result<()> {
    let sample = args.name;
    check_name(&args.output, sample.is_sequence())?;
    if let Some(set) = args.poses {
        let (wanted, shown) = (set.sample().name(), args.output.display());
        ensure!(set.sample() == sample, "the poses {:?} are those of the {wanted}", set.name());
        let is_glb = args.output.extension().is_some_and(|e| e.eq_ignore_ascii_case("glb"));
        ensure!(is_glb, "{shown}: poses are saved in a project; name it NAME.sinew.glb");
    }
    if args.puppet {
        let shown = args.output.display();
        let is_glb = args.output.extension().is_some_and(|e| e.eq_ignore_ascii_case("glb"));
        ensure!(is_glb, "{shown}: pairs are saved in a project; name it NAME.sinew.glb");
    }
    let mut warnings = Warnings::default();
    let progress = console.progress(&format!("growing {}", sample.name()));
    let (mut report, n_bytes) = if sample.is_sequence() {
        let sequence = build_sequence(sample, args.vertices, &mut |share| progress.update(share))?;
        let plain = Surface::default();
        let n_bytes = write_sequence(&sequence, &plain, sample.name(), &args.output, &mut warnings)?;
        (describe_sequence(&sequence), n_bytes)
    } else {
        let character = build_character(sample, args.vertices)?;
        let n_bytes = match args.poses {
            _ if args.puppet => write_with_pairs(&character, args, &mut warnings)?,
            Some(set) => write_with_poses(&character, set, args, &mut warnings)?,
            None => {
                let options =
                    OutputOptions { clip: None, fps: None, influences: 4, origin: Origin::default() };
                write_character(&character, &args.output, &options, &mut warnings)?
            }
        };
        let rig = character.rig.as_ref().context("samples have a skeleton")?;
        let clips: Vec<&str> = character.clips.iter().map(|c| c.name.as_str()).collect();
        let handles: Vec<&str> = character.handles.iter().map(|h| h.name.as_str()).collect();
        let report = json!({
            "vertices": character.mesh.n_vertices(),
            "faces": character.mesh.n_faces(),
            "joints": rig.n_joints(),
            "clips": clips,
            "handles": handles,
        });
        (report, n_bytes)
    };
    drop(progress);
    console.warn(&args.output, &warnings);
    report["written"] = json!(args.output.display().to_string());
    report["bytes"] = json!(n_bytes);
    report["warnings"] = json!(warnings.messages);
    console.result(&report, || as_text(&report))
}

/// A project with pairs of poses for the actor of the demonstration, and with what it does as a clip.
fn write_with_pairs(
    character: &Character,
    args: &SampleArgs,
    warnings: &mut Warnings,
) -> anyhow::Result<u64> {
    let mut document = Document::new(character.clone());
    let name = args.name.name();
    ensure!(
        add_demo(&mut document, args.name)?,
        "there are no pairs for the {name}; choose the quadruped, octopus, sack or bar"
    );
    let take = TakeData::new(&demo_actor());
    let (document, _) = perform_take(&document, "demo", &take, &|_| ControlFlow::Continue(()))?;
    let bytes = write_project(&document, warnings)?;
    write_atomic(&args.output, &bytes)?;
    Ok(bytes.len() as u64)
}

/// A project with example poses.
fn write_with_poses(
    character: &Character,
    set: PoseSet,
    args: &SampleArgs,
    warnings: &mut Warnings,
) -> anyhow::Result<u64> {
    let mut document = Document::new(character.clone());
    document.examples = sample_poses(set)?;
    let bytes = write_project(&document, warnings)?;
    write_atomic(&args.output, &bytes)?;
    Ok(bytes.len() as u64)
}

fn describe_sequence(sequence: &MeshSequence) -> Value {
    json!({
        "vertices": sequence.rest().n_vertices(),
        "faces": sequence.rest().n_faces(),
        "joints": 0,
        "frames": sequence.n_frames(),
        "fps": sequence.fps(),
    })
}

fn as_text(report: &Value) -> String {
    let n = |key: &str| report[key].as_u64().unwrap_or(0);
    let moves = match report.get("frames") {
        Some(frames) => format!("{frames} frames"),
        None => format!("{} joints", n("joints")),
    };
    let (file, v, f) = (report["written"].as_str().unwrap_or(""), n("vertices"), n("faces"));
    format!("{file}  {v} vertices, {f} faces, {moves}, {} bytes", n("bytes"))
}
