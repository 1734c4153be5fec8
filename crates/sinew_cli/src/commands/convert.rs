//! `sinew convert`: any readable format to any writable one.

use super::output::{OutputOptions, find_clip, is_folder, write_character, write_sequence};
use crate::{args::ConvertArgs, console::Console};
use anyhow::{Context, bail, ensure};
use serde_json::json;
use sinew::{
    formats::{Content, GltfFile, gltf, read_any},
    geom::{Character, MeshSequence, Warnings, mesh::RepairParams},
};

pub fn run(args: &ConvertArgs, console: &Console) -> anyhow::Result<()> {
    ensure!(args.scale.is_finite() && args.scale > 0.0, "--scale {} must be positive", args.scale);
    ensure!(args.fps.is_none_or(|fps| fps.is_finite() && fps > 0.0), "--fps must be positive");
    ensure!(args.weld.is_none_or(|w| w.is_finite() && w >= 0.0), "--weld must not be negative");
    let mut warnings = Warnings::default();
    let progress = console.progress(&format!("reading {}", args.input.display()));
    let content = read_any(&args.input, &mut warnings)?;
    let name = args.input.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut n_bytes = 0;
    match content {
        Content::Recording(_) => bail!(
            "{}: a recording of a body is not a character; it can drive one by `sinew puppet`",
            args.input.display()
        ),
        Content::Sequence(folder) => {
            let sequence = folder.read_all(args.fps.unwrap_or(30.0), &mut |share| progress.update(share))?;
            let sequence = sequence.context("stopped")?;
            let sequence = scaled(sequence, args.scale)?;
            n_bytes += write_sequence(&sequence, &name, &args.output, &mut warnings)?;
        }
        Content::Gltf(file) if is_folder(&args.output) => {
            let sequence = scaled(bake(&file, args, &mut warnings)?, args.scale)?;
            n_bytes += write_sequence(&sequence, &name, &args.output, &mut warnings)?;
        }
        other => {
            let character = other.into_character().unwrap_or_default();
            let character = prepared(character, args, &mut warnings)?;
            let options = OutputOptions {
                clip: args.clip.clone(),
                fps: args.fps,
                influences: usize::from(args.influences),
            };
            n_bytes += write_character(&character, &args.output, &options, &mut warnings)?;
        }
    }
    drop(progress);
    console.warn(&args.input, &warnings);
    let written = args.output.display().to_string();
    let value = json!({ "written": written, "bytes": n_bytes, "warnings": warnings.messages });
    console.result(&value, || format!("{written}  {n_bytes} bytes"));
    Ok(())
}

fn prepared(character: Character, args: &ConvertArgs, warnings: &mut Warnings) -> anyhow::Result<Character> {
    let mut character = character;
    if args.repair {
        let params = RepairParams { weld: Some(args.weld.unwrap_or(0.0)), ..RepairParams::default() };
        let (mended, report) = character.repaired(&params)?;
        report.describe(warnings);
        character = mended;
    }
    if args.scale == 1.0 { Ok(character) } else { Ok(character.scaled(args.scale)?) }
}

fn scaled(sequence: MeshSequence, scale: f64) -> anyhow::Result<MeshSequence> {
    if scale == 1.0 {
        return Ok(sequence);
    }
    let rest =
        sequence.rest().with_positions(sequence.rest().positions().iter().map(|p| *p * scale).collect())?;
    let frames =
        sequence.frames().iter().map(|frame| frame.iter().map(|p| *p * scale as f32).collect()).collect();
    Ok(MeshSequence::new(rest, frames, sequence.fps())?)
}

/// Vertices of a clip over time: morph animation as it is keyed, anything else sampled.
fn bake(file: &GltfFile, args: &ConvertArgs, warnings: &mut Warnings) -> anyhow::Result<MeshSequence> {
    let character = &file.character;
    let clip = find_clip(character, args.clip.as_deref())
        .with_context(|| format!("{}: a folder of frames needs an animation", args.input.display()))?;
    if character.skin.is_none() && !character.morphs.is_empty() && args.fps.is_none() && args.clip.is_none() {
        return gltf::morph_sequence(character, None, warnings)
            .map_err(|fault| anyhow::anyhow!("{}: {fault}", args.input.display()));
    }
    let fps = args.fps.unwrap_or(30.0);
    let n_frames = (f64::from(clip.duration_secs()) * fps).round() as usize + 1;
    let frames: Result<Vec<_>, _> =
        (0..n_frames).map(|f| character.positions_at(Some(clip), (f as f64 / fps) as f32)).collect();
    Ok(MeshSequence::new(character.mesh.clone(), frames?, fps)?)
}
