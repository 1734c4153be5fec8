//! Outside judges of the files that commands write: the Khronos validator and Blender.

use super::Folder;
use glam::Vec3;
use serde_json::json;
use sinew_outside::{tool, workspace};
use std::{path::Path, process::Command};

/// The validator finds neither errors nor warnings.
pub fn validate(glb: &str) {
    if tool("npm/node_modules/gltf-validator").is_none() {
        return;
    }
    let script = workspace().join("tests/judges/validate.mjs");
    let checked = Command::new("node").arg(script).arg(glb).output().unwrap();
    let reported = [checked.stdout, checked.stderr].concat();
    assert!(checked.status.success(), "{glb}: {}", String::from_utf8_lossy(&reported));
}

/// Vertices of a GLB as Blender evaluates them at moments of a clip, one moment after the other.
pub fn in_blender(folder: &Folder, glb: &str, clip: &str, times: &[f64]) -> Option<Vec<Vec3>> {
    let python = tool("bpy/bin/python")?;
    let out = folder.at("blender.bin");
    let jobs = json!([{ "file": glb, "clip": clip, "times": times, "out": out }]).to_string();
    let jobs = folder.write("jobs.json", &jobs);
    let script = workspace().join("tests/judges/blender.py");
    let played = Command::new(python).arg(script).arg(jobs).output().unwrap();
    assert!(played.status.success(), "{}", String::from_utf8_lossy(&played.stderr));
    let bytes = std::fs::read(&out).unwrap();
    let floats: Vec<f32> = bytes.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
    Some(floats.as_chunks::<3>().0.iter().map(|p| Vec3::from_array(*p)).collect())
}

/// Largest distance from some points to the nearest of others. Blender cuts surfaces at materials, so that its vertices come
/// in another order.
pub fn farthest(points: &[Vec3], others: &[Vec3]) -> f32 {
    let nearest = |p: &Vec3| others.iter().map(|q| p.distance_squared(*q)).fold(f32::INFINITY, f32::min);
    points.iter().map(nearest).fold(0.0, f32::max).sqrt()
}

/// A GLB passes the validator and plays in Blender as it does here.
pub fn judge_clip(folder: &Folder, glb: &str, times: &[f64]) {
    validate(glb);
    let read = sinew::formats::read_any(Path::new(glb), &mut sinew::geom::Warnings::default()).unwrap();
    let character = read.into_character().unwrap();
    let clip = &character.clips[0];
    let Some(theirs) = in_blender(folder, glb, &clip.name, times) else { return };
    for (time, theirs) in times.iter().zip(theirs.chunks_exact(theirs.len() / times.len())) {
        let ours = character.positions_at(Some(clip), *time as f32).unwrap();
        let off = farthest(theirs, &ours);
        assert!(
            off < 2e-4 * character.mesh.diagonal() as f32,
            "{glb} at {time} s: Blender is off by {off} m"
        );
    }
}
