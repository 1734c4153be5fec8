//! Vertices over time as a clip: every frame that differs is a morph target, as glTF plays mesh sequences.

use crate::{Fault, Place};
use glam::Vec3;
use sinew_geom::{
    Character, Clip, Morph,
    rig::{Interpolation, Keys, MorphTrack},
};

/// Most bytes of positions that a clip may have.
pub(crate) const MAX_BYTES: u64 = 1 << 30;

/// Refuse more frames than fit in memory, before any is read.
///
/// # Errors
/// If there are too many.
pub(crate) fn check_size(n_frames: u64, n_vertices: u64) -> Result<(), Fault> {
    let n_bytes = n_frames.saturating_mul(n_vertices).saturating_mul(12);
    // A weight for every morph at every frame.
    let weights = n_frames.saturating_mul(n_frames).saturating_mul(4);
    if n_bytes.max(weights) <= MAX_BYTES {
        return Ok(());
    }
    let cause = format!("{n_frames} frames of {n_vertices} vertices are more than a clip may have");
    Err(Fault::new(Place::Whole, cause).with_remedy("export fewer frames, or a coarser mesh"))
}

/// Give a character a clip of frames. `times` rise; they are counted from the first. What does not move has no clip.
///
/// # Errors
/// If a frame has another number of vertices, a coordinate is not finite, or the times do not rise.
pub(crate) fn add_frames(
    character: &mut Character,
    name: &str,
    times: &[f64],
    frames: Vec<Vec<Vec3>>,
) -> Result<(), Fault> {
    let fault = |cause: String| Fault::new(Place::Whole, cause).with_remedy("export the animation again");
    let rest: Vec<Vec3> = character.mesh.positions().iter().map(|p| p.as_vec3()).collect();
    let first = character.morphs.len();
    let mut target_of: Vec<Option<usize>> = Vec::with_capacity(frames.len());
    let mut before: Option<Vec<Vec3>> = None;
    for (index, mut frame) in frames.into_iter().enumerate() {
        if frame.len() != rest.len() {
            return Err(fault(format!(
                "frame {index} has {} vertices instead of {}",
                frame.len(),
                rest.len()
            )));
        }
        if let Some(vertex) = frame.iter().position(|p| !p.is_finite()) {
            return Err(fault(format!("vertex {vertex} of frame {index} is not finite")));
        }
        let same = before.as_ref().is_some_and(|before| *before == frame);
        let target = match (same, frame == rest) {
            (true, _) => target_of.last().copied().flatten(),
            (_, true) => None,
            _ => Some(character.morphs.len()),
        };
        if !same {
            before = Some(frame.clone());
        }
        if target == Some(character.morphs.len()) {
            frame.iter_mut().zip(&rest).for_each(|(p, rest)| *p -= *rest);
            let name = format!("frame {index}");
            character.morphs.push(Morph { name, offsets: frame, default_weight: 0.0 });
        }
        target_of.push(target);
    }
    let morphs = first..character.morphs.len();
    if morphs.is_empty() {
        return Ok(());
    }
    let start = times.first().copied().unwrap_or(0.0);
    let times = times.iter().map(|time| (time - start) as f32).collect();
    let mut weights = vec![0.0; morphs.len() * target_of.len()];
    for (row, target) in weights.chunks_exact_mut(morphs.len()).zip(target_of) {
        target.into_iter().for_each(|target| row[target - first] = 1.0);
    }
    let keys = Keys::new(times, weights, Interpolation::Linear, morphs.len());
    let keys = keys.map_err(|error| fault(error.to_string()))?;
    let track = MorphTrack { morphs, keys };
    character.clips.push(Clip { name: name.to_owned(), joints: Vec::new(), morphs: vec![track] });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gltf::morph_sequence;
    use glam::DVec3;
    use sinew_geom::{Mesh, Warnings};

    #[test]
    fn frames_are_played_as_they_were_given() {
        let rest = vec![DVec3::ZERO, DVec3::X, DVec3::Y];
        let mesh = Mesh::new(rest.clone(), vec![[0, 1, 2]]).unwrap();
        let frame = |by: f32| rest.iter().map(|p| p.as_vec3() + Vec3::splat(by)).collect::<Vec<_>>();
        let frames: Vec<Vec<Vec3>> = [0.0, 1.0, 1.0, 3.0, 0.0].map(frame).into();
        let mut character = Character { mesh, ..Character::default() };
        let times = [2.0, 2.5, 3.0, 3.5, 4.0];
        add_frames(&mut character, "wave", &times, frames.clone()).unwrap();
        assert_eq!(character.morphs.len(), 2, "equal frames share a target");
        let played = morph_sequence(&character, None, &mut Warnings::default()).unwrap();
        assert_eq!((played.frames(), played.fps()), (frames.as_slice(), 2.0));
        assert!(add_frames(&mut character, "wave", &[0.0, 0.0], vec![frame(1.0), frame(2.0)]).is_err());
        assert!(add_frames(&mut character, "wave", &[0.0], vec![frame(f32::NAN)]).is_err());
        assert!(check_size(1 << 40, 1 << 40).is_err());
    }

    #[test]
    fn what_rests_has_no_clip() {
        let mesh = Mesh::new(vec![DVec3::ZERO; 3], vec![[0, 1, 2]]).unwrap();
        let mut character = Character { mesh, ..Character::default() };
        add_frames(&mut character, "still", &[0.0, 1.0], vec![vec![Vec3::ZERO; 3]; 2]).unwrap();
        assert!(character.clips.is_empty() && character.morphs.is_empty());
    }
}
