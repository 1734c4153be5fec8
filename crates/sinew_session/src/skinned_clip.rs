//! A motion of the surface as a clip of the skeleton: joints that move, and a few morph targets for what they miss.
//!
//! A character without a skeleton gets one of its handles: a joint at the centre of each, and weights between them. A
//! motion that cannot be expressed so is stored as vertices over time.
//!
//! # Source
//! The methods are those of `sinew_skin` and `sinew_deform`; this file defines the error that may be left.

use crate::{
    Document, FleshData, SessionError, has_skeleton,
    limits::check_sequence,
    motion::{FRAME, add_vertex_clip, is_baked, remove_clip, still_joints},
};
use glam::{DAffine3, DVec3, Vec3};
use sinew_deform::{HandleSet, build_skin};
use sinew_geom::{
    Character, Clip, Morph, Pose, Rig, Skin, Transform, Warnings,
    rig::{Interpolation, Keys, MorphTrack},
};
use sinew_skin::{BoneKind, Correctives, FittedSkin, FrameSource, SkinError, SkinFitter};
use std::sync::Arc;

/// How far a clip may be from the surface it was made of: root mean square distance over the diagonal of the body.
pub const MAX_CLIP_ERROR: f64 = 1e-3;
/// Morph targets that a clip may need beside the skeleton.
const MAX_CORRECTIVES: usize = 16;
/// Error that morph targets are found for, so that rounding does not exceed the one that is promised.
const AIMED_SHARE: f64 = 0.6;
/// Frames on which the result is measured.
const MEASURED_FRAMES: usize = 48;
/// Sum of the weights below which a joint moves nothing.
const LEAST_WEIGHT: f32 = 1e-3;

/// How a motion became a clip.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ClipFit {
    /// Joints of the skeleton; 0 if it is a clip of vertices.
    pub joints: usize,
    /// Morph targets it needs.
    pub morphs: usize,
    /// Root mean square distance from the surface, over the diagonal.
    pub error: f64,
}

/// Add vertices over time to a document, as a clip of its skeleton within [`MAX_CLIP_ERROR`]; as vertices where that is not
/// possible.
///
/// # Errors
/// If there are no frames, or a number is not finite.
pub fn add_motion_clip(
    document: &mut Document,
    name: &str,
    fps: f64,
    frames: Vec<Vec<Vec3>>,
) -> Result<ClipFit, SessionError> {
    if frames.len() > 1 {
        let mut after = document.clone();
        if !has_skeleton(&after.body) && !after.handles.is_empty() {
            after = with_handle_skeleton(&after, &mut Warnings::default())?;
        }
        if let Some((body, clip, fit)) = express(&after.body, name, fps, &frames)? {
            after.body = Arc::new(body);
            after.clips.push(Arc::new(clip));
            *document = after;
            return Ok(fit);
        }
    }
    let morphs = frames.len();
    add_vertex_clip(document, name, fps, frames)?;
    Ok(ClipFit { morphs, ..ClipFit::default() })
}

/// Frames in memory.
struct Frames<'a>(&'a [Vec<Vec3>]);

impl FrameSource for Frames<'_> {
    fn n_frames(&self) -> usize {
        self.0.len()
    }

    fn read(&mut self, frame: usize, out: &mut [DVec3]) -> Result<(), SkinError> {
        out.iter_mut().zip(&self.0[frame]).for_each(|(out, p)| *out = p.as_dvec3());
        Ok(())
    }
}

/// The character with the morph targets of a clip that shows these frames, and the clip; `None` if they cannot be shown
/// within the error.
fn express(
    body: &Character,
    name: &str,
    fps: f64,
    frames: &[Vec<Vec3>],
) -> Result<Option<(Character, Clip, ClipFit)>, SessionError> {
    let (Some(rig), Some(skin)) = (&body.rig, &body.skin) else { return Ok(None) };
    let Some(bones) = bones_of(rig, skin) else { return Ok(None) };
    let fitter = SkinFitter::new(&body.mesh, &mut Frames(frames))?;
    let given = FittedSkin {
        rest: body.mesh.positions().to_vec(),
        n_bones: skin.slots.len(),
        influences: skin.influences(),
        indices: skin.indices().to_vec(),
        weights: skin.weights().to_vec(),
        transforms: Vec::new(),
    };
    let fitted = fitter.fit_bones(&given, BoneKind::Rigid)?;
    let poses: Vec<Pose> =
        (0..frames.len()).map(|frame| pose_of(rig, skin, &bones, fitted.frame(frame))).collect();
    let mut clip = Clip::from_poses(name, rig, &poses, fps)?;
    // Joints that rest say so: players that hold what another clip did would leave them there.
    let moved: Vec<usize> = clip.joints.iter().map(|track| track.joint).collect();
    clip.joints.extend(still_joints(rig)?.into_iter().filter(|track| !moved.contains(&track.joint)));
    let correctives = fitter.correctives(&fitted, AIMED_SHARE * MAX_CLIP_ERROR, MAX_CORRECTIVES)?;
    let Some(correctives) = correctives else {
        let error = measure(body, &clip, fps, frames)?;
        let fit = ClipFit { joints: rig.n_joints(), morphs: 0, error };
        return Ok((error <= MAX_CLIP_ERROR).then(|| (body.clone(), clip, fit)));
    };
    let morphs = 1 + correctives.offsets.len();
    if morphs >= frames.len() {
        return Ok(None);
    }
    // Rounded ones take a third of the bytes.
    for is_rounded in [true, false] {
        let (mut made, mut clip) = (body.clone(), clip.clone());
        add_correctives(&mut made, &mut clip, &correctives, fps, is_rounded)?;
        let error = measure(&made, &clip, fps, frames)?;
        if error <= MAX_CLIP_ERROR {
            return Ok(Some((made, clip, ClipFit { joints: rig.n_joints(), morphs, error })));
        }
    }
    Ok(None)
}

/// The slot that moves each joint; none for joints that move nothing. `None` if a joint is bound twice.
fn bones_of(rig: &Rig, skin: &Skin) -> Option<Vec<Option<usize>>> {
    let mut sums = vec![0.0; skin.slots.len()];
    for (slot, weight) in skin.indices().iter().zip(skin.weights()) {
        sums[usize::from(*slot)] += weight;
    }
    let mut bones = vec![None; rig.n_joints()];
    for (slot, of) in skin.slots.iter().enumerate().filter(|(slot, _)| sums[*slot] > LEAST_WEIGHT) {
        if of.joint >= bones.len() || bones[of.joint].replace(slot).is_some() {
            return None;
        }
    }
    Some(bones)
}

/// The pose in which joints are where the bones took them. Joints that move nothing rest on their parents.
fn pose_of(rig: &Rig, skin: &Skin, bones: &[Option<usize>], transforms: &[DAffine3]) -> Pose {
    let mut world: Vec<DAffine3> = Vec::with_capacity(rig.n_joints());
    let mut locals = Vec::with_capacity(rig.n_joints());
    for (joint, bone) in rig.joints().iter().zip(bones) {
        let parent = joint.parent.map_or(DAffine3::IDENTITY, |parent| world[parent]);
        let local = match bone {
            None => joint.rest,
            Some(slot) => {
                let there = transforms[*slot] * skin.slots[*slot].inverse_bind.inverse();
                Transform { scale: joint.rest.scale, ..Transform::from_affine(parent.inverse() * there).0 }
            }
        };
        world.push(parent * local.to_affine());
        locals.push(local);
    }
    Pose { locals }
}

/// Morph targets for what the skeleton misses, and their weights in the clip.
fn add_correctives(
    body: &mut Character,
    clip: &mut Clip,
    correctives: &Correctives,
    fps: f64,
    is_rounded: bool,
) -> Result<(), SessionError> {
    let Correctives { constant, offsets, weights } = correctives;
    let first = body.morphs.len();
    let mut factors = Vec::new();
    for (at, offsets) in std::iter::once(constant).chain(offsets).enumerate() {
        let name = format!("{FRAME}{}/{at}", clip.name);
        let morph = Morph { name, offsets: offsets.clone(), default_weight: 0.0 };
        let (morph, factor) = if is_rounded { morph.rounded() } else { (morph, 1.0) };
        body.morphs.push(morph);
        factors.push(factor);
    }
    let morphs = first..body.morphs.len();
    let times = (0..weights.len()).map(|frame| (frame as f64 / fps) as f32).collect();
    let scaled = |frame: &Vec<f32>| {
        let weights = std::iter::once(1.0).chain(frame.iter().copied());
        weights.zip(&factors).map(|(weight, factor)| weight * factor).collect::<Vec<_>>()
    };
    let keys =
        Keys::new(times, weights.iter().flat_map(scaled).collect(), Interpolation::Linear, morphs.len())?;
    clip.morphs.push(MorphTrack { morphs, keys });
    Ok(())
}

/// Root mean square distance of a clip from the frames it was made of, over the diagonal, as a player shows it.
fn measure(body: &Character, clip: &Clip, fps: f64, frames: &[Vec<Vec3>]) -> Result<f64, SessionError> {
    let (mut sum, mut count) = (0.0, 0);
    for frame in (0..frames.len()).step_by(frames.len().div_ceil(MEASURED_FRAMES)) {
        let shown = body.positions_at(Some(clip), (frame as f64 / fps) as f32)?;
        sum += shown.iter().zip(&frames[frame]).map(|(a, b)| f64::from(a.distance_squared(*b))).sum::<f64>();
        count += shown.len();
    }
    Ok((sum / count.max(1) as f64).sqrt() / body.mesh.diagonal().max(f64::MIN_POSITIVE))
}

/// The document with a skeleton of its handles, which moves in its clips as the surface did.
///
/// # Errors
/// If there are no handles, a soft piece cannot be solved, or a clip is too long.
pub fn with_handle_skeleton(document: &Document, warnings: &mut Warnings) -> Result<Document, SessionError> {
    let set = HandleSet::new(document.mesh(), &document.plain_handles(), warnings)?;
    let (rig, skin) = build_skin(document.mesh(), &set, warnings)?;
    let body = Character { rig: Some(rig), skin: Some(skin.rounded()), ..(*document.body).clone() };
    let flesh = FleshData { bound: true, turns: Vec::new(), ..(*document.flesh).clone() };
    let mut after = Document { body: Arc::new(body), flesh: Arc::new(flesh), ..document.clone() };
    carry_clips(document, &mut after)?;
    Ok(after)
}

/// Let another skeleton of the same body move in the clips as the surface did. Clips that move only morph targets of the file
/// itself stay as they are.
///
/// # Errors
/// If a clip has more frames than fit.
pub(crate) fn carry_clips(from: &Document, to: &mut Document) -> Result<(), SessionError> {
    for clip in from.clips.iter().filter(|clip| !clip.joints.is_empty() || is_baked(from, clip)) {
        let fps = clip.morph_rate().unwrap_or_else(|| clip.joint_rate());
        let n_frames = (f64::from(clip.duration_secs()) * fps).round() + 1.0;
        check_sequence(n_frames, from.mesh().n_vertices())?;
        let shape = |frame: usize| from.body.positions_at(Some(clip), (frame as f64 / fps) as f32);
        let frames = (0..n_frames as usize).map(shape).collect::<Result<Vec<_>, _>>()?;
        remove_clip(to, &clip.name)?;
        add_motion_clip(to, &clip.name, fps, frames)?;
    }
    Ok(())
}
