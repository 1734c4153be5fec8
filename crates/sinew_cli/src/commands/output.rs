//! Writing a result in the format its name asks for.

use anyhow::{Context, bail, ensure};
use sinew::{
    formats::{bvh, gltf, obj, ply, write_atomic},
    geom::{Character, MeshSequence, Warnings},
};
use std::path::Path;

/// How to write.
pub struct OutputOptions {
    pub clip: Option<String>,
    pub fps: Option<f64>,
    pub influences: usize,
}

/// Whether a path names a folder rather than a file.
pub fn is_folder(path: &Path) -> bool {
    path.is_dir() || path.extension().is_none()
}

fn extension(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}

/// Write a character; returns the number of bytes.
pub fn write_character(
    character: &Character,
    path: &Path,
    options: &OutputOptions,
    warnings: &mut Warnings,
) -> anyhow::Result<u64> {
    let bytes = match extension(path).as_str() {
        "glb" => {
            let glb = gltf::GlbOptions { max_influences: options.influences, ..Default::default() };
            gltf::write_glb(character, &glb, warnings)?
        }
        "obj" | "ply" => {
            ensure!(character.mesh.n_vertices() > 0, "{}: there is no mesh to write", path.display());
            told_lost(character, warnings);
            if extension(path) == "obj" {
                return Ok(obj::write_obj_file(path, character)?);
            }
            ply::write_ply(character)
        }
        "bvh" => write_bvh(character, options, warnings)?,
        "gltf" => bail!("{}: glTF is written as one binary file; name it .glb", path.display()),
        other => bail!("{}: `.{other}` cannot be written; writable are glb, obj, ply, bvh", path.display()),
    };
    write_atomic(path, &bytes)?;
    Ok(bytes.len() as u64)
}

fn told_lost(character: &Character, warnings: &mut Warnings) {
    let lost = [
        (character.rig.is_some(), "skeleton and skin"),
        (!character.clips.is_empty(), "animations"),
        (!character.morphs.is_empty(), "morph targets"),
        (!character.handles.is_empty(), "handles"),
    ];
    let lost: Vec<&str> = lost.iter().filter(|(has, _)| *has).map(|(_, what)| *what).collect();
    if !lost.is_empty() {
        warnings.push(format!(
            "this format holds a surface only; left out: {}. Write .glb to keep them",
            lost.join(", ")
        ));
    }
}

fn write_bvh(
    character: &Character,
    options: &OutputOptions,
    warnings: &mut Warnings,
) -> anyhow::Result<Vec<u8>> {
    let rig = character.rig.as_ref().context("there is no skeleton to write as BVH")?;
    let clip = find_clip(character, options.clip.as_deref())?;
    let fps = options.fps.unwrap_or_else(|| key_rate(clip));
    Ok(bvh::write_bvh(rig, clip, fps, warnings)?)
}

/// The named clip, or the first.
pub fn find_clip<'a>(character: &'a Character, name: Option<&str>) -> anyhow::Result<&'a sinew::geom::Clip> {
    let names = || character.clips.iter().map(|c| c.name.as_str()).collect::<Vec<_>>().join(", ");
    match name {
        Some(name) => character
            .clips
            .iter()
            .find(|clip| clip.name == name)
            .with_context(|| format!("there is no clip {name:?}; there are: {}", names())),
        None => character.clips.first().context("there is no animation to write"),
    }
}

/// Frame rate of a clip's own keys, if they are even; else 30.
fn key_rate(clip: &sinew::geom::Clip) -> f64 {
    let times = clip.joints.iter().filter_map(|t| t.rotation.as_ref().map(|k| k.times()));
    match times.max_by_key(|t| t.len()) {
        Some(times) if times.len() > 1 => {
            let rate = f64::from((times.len() - 1) as f32 / (times[times.len() - 1] - times[0]));
            if rate.is_finite() && (1.0..=1000.0).contains(&rate) { rate } else { 30.0 }
        }
        _ => 30.0,
    }
}

/// Write a sequence: a GLB of morph targets, or a folder of OBJ files; returns the number of bytes.
pub fn write_sequence(
    sequence: &MeshSequence,
    name: &str,
    path: &Path,
    warnings: &mut Warnings,
) -> anyhow::Result<u64> {
    if extension(path) == "glb" {
        let bytes = gltf::write_sequence_glb(sequence, name, warnings)?;
        write_atomic(path, &bytes)?;
        return Ok(bytes.len() as u64);
    }
    ensure!(
        is_folder(path),
        "{}: a sequence is written as one .glb or as a folder of .obj files (a name without an ending)",
        path.display()
    );
    std::fs::create_dir_all(path)
        .with_context(|| format!("{}: the folder cannot be made", path.display()))?;
    let mut n_bytes = 0;
    for frame in 0..sequence.n_frames() {
        let character = Character { mesh: sequence.mesh(frame)?, ..Character::default() };
        let bytes = obj::write_obj(&character);
        write_atomic(&path.join(format!("frame_{frame:04}.obj")), &bytes)?;
        n_bytes += bytes.len() as u64;
    }
    Ok(n_bytes)
}
