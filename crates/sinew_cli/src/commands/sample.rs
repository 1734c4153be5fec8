//! `sinew sample`: a built-in character or sequence.

use super::output::{OutputOptions, check_name, write_character, write_sequence};
use crate::{args::SampleArgs, console::Console};
use anyhow::Context;
use serde_json::{Map, Value, json};
use sinew::geom::{
    MeshSequence, Surface, Warnings,
    sample::{build_character, build_sequence},
};

pub fn run(args: &SampleArgs, console: &Console) -> anyhow::Result<()> {
    let sample = args.name;
    check_name(&args.output, sample.is_sequence())?;
    let mut warnings = Warnings::default();
    let progress = console.progress(&format!("growing {}", sample.name()));
    let (mut report, n_bytes) = if sample.is_sequence() {
        let sequence = build_sequence(sample, args.vertices, &mut |share| progress.update(share))?;
        let plain = Surface::default();
        let n_bytes = write_sequence(&sequence, &plain, sample.name(), &args.output, &mut warnings)?;
        (describe_sequence(&sequence), n_bytes)
    } else {
        let character = build_character(sample, args.vertices)?;
        let options = OutputOptions { clip: None, fps: None, influences: 4, extensions: Map::new() };
        let n_bytes = write_character(&character, &args.output, &options, &mut warnings)?;
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
