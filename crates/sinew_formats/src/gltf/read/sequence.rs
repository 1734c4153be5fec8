//! Morph-target animation to a mesh sequence.

use super::read_gltf;
use crate::side_files::SideFiles;
use crate::{Fault, FormatError, Place};
use glam::Vec3;
use sinew_geom::{Character, Clip, MeshSequence, Warnings};

/// Largest sequence, in bytes of positions.
const MAX_BYTES: f64 = (1u64 << 30) as f64;
/// Frame rate if there is only one key.
const DEFAULT_FPS: f64 = 30.0;

/// Read the first morph animation of a glTF file as a mesh sequence.
///
/// Frames are at multiples of `1 / fps` from the first key to the last; without `fps`, the most common distance of
/// the keys is used, so that every key is a frame where keys are regular.
///
/// # Errors
/// As [`read_gltf`], and if the file has no morph animation.
pub fn read_morph_sequence(
    bytes: &[u8],
    side: SideFiles,
    name: &str,
    fps: Option<f64>,
    warnings: &mut Warnings,
) -> Result<MeshSequence, FormatError> {
    let file = read_gltf(bytes, side, name, warnings)?;
    morph_sequence(&file.character, fps, warnings).map_err(|fault| FormatError::faults(name, vec![fault]))
}

/// The morph animation of a character as a mesh sequence, as [`read_morph_sequence`] does.
///
/// # Errors
/// If no clip has morph weights, the frame rate is unusable, or the sequence would be too large.
pub fn morph_sequence(
    character: &Character,
    fps: Option<f64>,
    warnings: &mut Warnings,
) -> Result<MeshSequence, Fault> {
    let fault = |cause: String| Fault::new(Place::Whole, cause);
    let clip = character.clips.iter().find(|clip| !clip.morphs.is_empty()).ok_or_else(|| {
        fault("there is no animation of morph targets".to_owned())
            .with_remedy("use a file whose animation has `weights`, or a folder of meshes")
    })?;
    if !clip.joints.is_empty() {
        warnings.push("the clip also moves joints; only its morph targets were taken");
    }
    let times = clip.morphs.iter().map(|track| track.keys.times());
    let start = times.clone().filter_map(|times| times.first()).copied().fold(f32::INFINITY, f32::min);
    let end = times.filter_map(|times| times.last()).copied().fold(f32::NEG_INFINITY, f32::max);
    let fps = fps.or_else(|| clip.morph_rate()).unwrap_or(DEFAULT_FPS);
    // Rounding may shorten the last frame slightly.
    let n_frames = ((f64::from(end) - f64::from(start)) * fps + 1e-3).floor() + 1.0;
    let n_bytes = n_frames * 12.0 * character.mesh.n_vertices().max(1) as f64;
    // Compared before it becomes an integer, which would wrap or saturate; NaN is refused, too.
    if !(0.0..=MAX_BYTES).contains(&n_bytes) {
        return Err(fault(format!("{n_frames} frames are too many")).with_remedy("give a lower frame rate"));
    }
    let n_frames = n_frames as u64;
    let time = |frame: u64| (f64::from(start) + frame as f64 / fps) as f32;
    let frames = (0..n_frames).map(|frame| morphed(character, clip, time(frame))).collect();
    MeshSequence::new(character.mesh.clone(), frames, fps).map_err(|error| fault(error.to_string()))
}

fn morphed(character: &Character, clip: &Clip, time: f32) -> Vec<Vec3> {
    let mut weights: Vec<f32> = character.morphs.iter().map(|morph| morph.default_weight).collect();
    clip.sample_morphs(time, &mut weights);
    let mut positions: Vec<Vec3> = character.mesh.positions().iter().map(|p| p.as_vec3()).collect();
    for (morph, weight) in character.morphs.iter().zip(weights).filter(|(_, weight)| *weight != 0.0) {
        positions.iter_mut().zip(&morph.offsets).for_each(|(p, offset)| *p += weight * *offset);
    }
    positions
}
