//! `sinew convert`: any readable format to any writable one.

use super::output::{
    OutputOptions, check_name, find_clip, is_folder, write_character, write_frames, write_sequence,
};
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
    let is_sequence = matches!(content, Content::Sequence(_));
    let bakes = matches!(content, Content::Gltf(_)) && is_folder(&args.output);
    check_name(&args.output, is_sequence || bakes)?;
    told_unused(args, &content, &mut warnings);
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
            n_bytes += bake(&file, args, &mut warnings)?;
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
    console.result(&value, || format!("{written}  {n_bytes} bytes"))
}

fn prepared(character: Character, args: &ConvertArgs, warnings: &mut Warnings) -> anyhow::Result<Character> {
    let mut character = character;
    if args.repair {
        let params = RepairParams { weld: Some(args.weld.unwrap_or(0.0)), ..RepairParams::default() };
        let (mended, report) = character.repaired(&params)?;
        report.describe(warnings);
        let (before, after) = (character.mesh.n_faces(), mended.mesh.n_faces());
        ensure!(
            before == 0 || after > 0,
            "{}: no face has any area, so nothing is left to write",
            args.input.display()
        );
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

/// Vertices of a clip over time, frame by frame into a folder: morph animation as it is keyed, anything else
/// sampled. Returns the number of bytes.
fn bake(file: &GltfFile, args: &ConvertArgs, warnings: &mut Warnings) -> anyhow::Result<u64> {
    let character = &file.character;
    let clip = find_clip(character, args.clip.as_deref())
        .with_context(|| format!("{}: a folder of frames needs an animation", args.input.display()))?;
    if character.skin.is_none() && !character.morphs.is_empty() && args.fps.is_none() && args.clip.is_none() {
        let sequence = gltf::morph_sequence(character, None, warnings)
            .map_err(|fault| anyhow::anyhow!("{}: {fault}", args.input.display()))?;
        let sequence = scaled(sequence, args.scale)?;
        return write_frames(&args.output, sequence.n_frames(), |frame| Ok(sequence.mesh(frame)?));
    }
    let fps = args.fps.unwrap_or(30.0);
    let n_frames = (f64::from(clip.duration_secs()) * fps).round() as usize + 1;
    write_frames(&args.output, n_frames, |frame| {
        let positions = character.positions_at(Some(clip), (frame as f64 / fps) as f32)?;
        let scaled = positions.iter().map(|p| p.as_dvec3() * args.scale).collect();
        Ok(character.mesh.with_positions(scaled)?)
    })
}

/// Say which options this kind of conversion does not use.
fn told_unused(args: &ConvertArgs, content: &Content, warnings: &mut Warnings) {
    let (sequence, bakes) = (matches!(content, Content::Sequence(_)), is_folder(&args.output));
    let to_bvh = args.output.extension().is_some_and(|e| e.eq_ignore_ascii_case("bvh"));
    let unused = [
        (args.repair && (sequence || bakes), "--repair"),
        (args.clip.is_some() && (sequence || !(bakes || to_bvh)), "--clip"),
        (args.fps.is_some() && !(sequence || bakes || to_bvh), "--fps"),
    ];
    for (_, option) in unused.iter().filter(|(unused, _)| *unused) {
        warnings.push(format!("{option} has no effect on this conversion"));
    }
}
