//! Reading a model that is to be posed, and giving it what it lacks.

use super::output::Origin;
use crate::console::Console;
use anyhow::{Context, anyhow, bail, ensure};
use sinew::{
    formats::{Content, paths::read_ground, read_any, read_cache_over},
    geom::{Character, Warnings, body_map::BodyMap, path::Ground},
    session::{Document, Placement, SkeletonReport, add_skeleton, has_skeleton, with_skeleton},
};
use std::path::Path;

/// Any file; a point cache over the mesh of another file, if one is given.
pub fn read_over(
    path: &Path,
    mesh: Option<&Path>,
    fps: Option<f64>,
    warnings: &mut Warnings,
) -> anyhow::Result<Content> {
    Ok(match mesh {
        Some(mesh) => Content::Model(Box::new(read_cache_over(path, mesh, fps, warnings)?)),
        None => read_any(path, warnings)?,
    })
}

/// A character with a surface, and the file it comes from.
pub fn read_surface(
    path: &Path,
    console: &Console,
    warnings: &mut Warnings,
) -> anyhow::Result<(Character, Origin)> {
    let shown = path.display();
    let _progress = console.progress(&format!("reading {shown}"));
    let content = read_any(path, warnings)?;
    let origin = match &content {
        Content::Gltf(file) => Origin::of(file, path, warnings)?,
        Content::Recording(_) => bail!("{shown}: a recording of a body has no surface; give a mesh"),
        Content::Sequence(_) => {
            bail!("{shown}: a folder of frames is an animation already; give one of its files")
        }
        _ => Origin::default(),
    };
    let character = content.into_character().unwrap_or_default();
    if character.mesh.n_faces() == 0 {
        bail!("{shown}: there are no faces, so there is no surface to pose; give a mesh with faces");
    }
    Ok((character, origin))
}

/// Give a surface without a skeleton one that fits its shape, and say so.
///
/// # Errors
/// If no body is recognised in the surface; what to do is part of the message.
pub fn ensure_skeleton(
    character: &mut Character,
    path: &Path,
    console: &Console,
    warnings: &mut Warnings,
) -> anyhow::Result<Option<SkeletonReport>> {
    if has_skeleton(character) || character.mesh.n_faces() == 0 {
        return Ok(None);
    }
    let shown = path.display();
    let progress = console.progress(&format!("looking for a skeleton in {shown}"));
    let rigged = match character.rig {
        // What moves the whole moves the new skeleton.
        Some(_) => with_skeleton(&Document::new(character.clone()), None)
            .map(|(document, report)| (document.character(), report)),
        None => {
            let mut rigged = character.clone();
            add_skeleton(&mut rigged, None).map(|report| (rigged, report))
        }
    };
    let (rigged, report) = rigged.map_err(|error| with_path(error, path))?;
    drop(progress);
    let advice =
        format!("`sinew rig {shown} --template NAME -o rigged.glb` makes one of a plan that you choose");
    ensure!(
        report.is_body(),
        "{shown}: there is no skeleton in it, and no body was recognised in its shape; {advice}"
    );
    if report.is_guess {
        warnings.push(format!("{}; {advice}", report.text));
    } else {
        console.note(&format!("{shown}: {}", report.text));
    }
    *character = upright(rigged, path, console)?;
    Ok(Some(report))
}

/// The character with +Y up, as glTF has it, if it comes from a file that does not say which axis is up.
fn upright(character: Character, path: &Path, console: &Console) -> anyhow::Result<Character> {
    let is = |extension: &str| path.extension().is_some_and(|e| e.eq_ignore_ascii_case(extension));
    let says = ["glb", "gltf", "vrm", "usd", "usda", "usdc", "usdz"].iter().any(|e| is(e));
    let Some(rig) = character.rig.as_ref().filter(|_| !says) else { return Ok(character) };
    let up = BodyMap::read(rig, &[]).up;
    if up.y > 0.7 {
        return Ok(character);
    }
    console.note(&format!("{}: its up axis is not +Y, so it was turned", path.display()));
    Ok(Placement::new(Some(up), None, 1.0)?.apply(&character)?)
}

/// An error of a part that does not know the file it works on.
pub fn with_path(error: impl Into<anyhow::Error>, path: &Path) -> anyhow::Error {
    anyhow!("{}: {:#}", path.display(), error.into())
}

/// A ground in words, or out of a file; whether it was a file.
pub fn ground_of(text: &str) -> anyhow::Result<(Ground, bool)> {
    if text.ends_with(".json") || Path::new(text).is_file() {
        let bytes = std::fs::read(text).with_context(|| text.to_owned())?;
        return Ok((read_ground(&bytes, text)?, true));
    }
    Ok((text.parse::<Ground>().context("--ground")?, false))
}
