//! A skinned character with limbs of other lengths: its surface is stretched along the bones.
//!
//! # Source
//! Sinew's own: whatever a joint carries is stretched along the bone up to the next joint and translated beyond it; the
//! skin's own weights blend the pieces as they blend poses.

use super::{Body, JointFrames, scale_limbs};
use crate::ConstrainError;
use glam::{DAffine3, DVec3};
use sinew_geom::{
    Character, Clip, Rig,
    rig::{Keys, SkinSlot},
};

/// Factors nearer to one than this change nothing.
const MIN_FACTOR_CHANGE: f64 = 1e-9;

/// What happens to points in the frame of a joint.
enum Stretch {
    None,
    /// Along a unit vector up to the end of the bone, by a factor.
    Along(DVec3, f64, f64),
    /// In all directions, where several bones begin.
    Even(f64),
}

impl Stretch {
    fn of(rig: &Rig, scaled: &Rig, joint: usize) -> Self {
        let children = (0..rig.n_joints()).filter(|&j| rig.joints()[j].parent == Some(joint));
        let mut bones = children.filter_map(|j| {
            let (old, new) = (rig.joints()[j].rest.translation, scaled.joints()[j].rest.translation);
            let factor = new.length() / old.length();
            (factor.is_finite() && (factor - 1.0).abs() > MIN_FACTOR_CHANGE).then_some((old, factor))
        });
        match (bones.next(), bones.next()) {
            (None, _) => Self::None,
            (Some((bone, factor)), None) => Self::Along(bone.normalize(), bone.length(), factor),
            (Some((_, factor)), Some(_)) => Self::Even(factor),
        }
    }

    fn apply(&self, p: DVec3) -> DVec3 {
        match self {
            Self::None => p,
            Self::Along(axis, length, factor) => {
                p + *axis * ((factor - 1.0) * axis.dot(p).clamp(0.0, *length))
            }
            Self::Even(factor) => p * *factor,
        }
    }
}

/// The character with limbs scaled as [`scale_limbs`] does, at the same height above the ground. Its clips are
/// copied: translations of joints are scaled with their bones.
///
/// # Errors
/// As for [`scale_limbs`], or if skin and mesh do not fit each other.
pub fn stretch_limbs(character: &Character, parts: &[(String, f64)]) -> Result<Character, ConstrainError> {
    let rig = character.rig.as_ref().filter(|rig| rig.n_joints() > 0).ok_or(ConstrainError::NoJoints)?;
    let body = Body::find(rig, &[])?;
    let scaled = standing(rig, &body, scale_limbs(rig, &body, parts)?)?;
    let mut result = character.clone();
    if let Some(skin) = &mut result.skin {
        let (old, new) = (rig.rest_world(), scaled.rest_world());
        let stretches: Vec<Stretch> =
            (0..rig.n_joints()).map(|joint| Stretch::of(rig, &scaled, joint)).collect();
        let rest = character.positions_at(None, 0.0)?;
        let place = |(vertex, at): (usize, &glam::Vec3)| {
            let at = at.as_dvec3();
            let moved = |(slot, weight): (u16, f32)| {
                let joint = skin.slots[usize::from(slot)].joint;
                let local = old[joint].inverse().transform_point3(at);
                new[joint].transform_point3(stretches[joint].apply(local)) * f64::from(weight)
            };
            skin.vertex(vertex).map(moved).sum::<DVec3>()
        };
        let positions = rest.iter().enumerate().map(place).collect();
        for slot in &mut skin.slots {
            let inverse_bind: DAffine3 = new[slot.joint].inverse();
            *slot = SkinSlot { inverse_bind, ..*slot };
        }
        result.mesh = character.mesh.with_positions(positions)?;
        result.surface.normals = None;
    }
    let ratio = body.leg_length(&scaled) / body.leg_length(rig);
    result.clips = character
        .clips
        .iter()
        .map(|clip| carried(clip, rig, &scaled, (&body, ratio)))
        .collect::<Result<_, _>>()?;
    for handle in &mut result.handles {
        handle.center = moved_with(&character.mesh, &result.mesh, handle.center);
    }
    result.rig = Some(scaled);
    Ok(result)
}

/// Raised or lowered so that its feet are as high as before.
fn standing(rig: &Rig, body: &Body, scaled: Rig) -> Result<Rig, ConstrainError> {
    let (old, new) = (JointFrames::of(rig, &rig.rest_pose()), JointFrames::of(&scaled, &scaled.rest_pose()));
    let sunk = |ankle: usize| old.positions[ankle].y - new.positions[ankle].y;
    let shift = body.legs.iter().map(|leg| sunk(leg.ankle)).sum::<f64>() / body.legs.len().max(1) as f64;
    let mut joints = scaled.joints().to_vec();
    joints
        .iter_mut()
        .filter(|joint| joint.parent.is_none())
        .for_each(|root| root.rest.translation.y += shift);
    Ok(Rig::new(joints)?)
}

/// A clip on the scaled rig: translations of joints are scaled with their bones, those of the pelvis with the legs.
fn carried(
    clip: &Clip,
    rig: &Rig,
    scaled: &Rig,
    (body, ratio): (&Body, f64),
) -> Result<Clip, ConstrainError> {
    let mut clip = clip.clone();
    for track in &mut clip.joints {
        let (Some(old), Some(new)) = (rig.joints().get(track.joint), scaled.joints().get(track.joint)) else {
            continue;
        };
        let is_way = track.joint == body.pelvis || old.parent.is_none();
        let factor =
            if is_way { ratio } else { new.rest.translation.length() / old.rest.translation.length() };
        if let Some(keys) = track.translation.as_mut().filter(|_| factor.is_finite()) {
            let values = keys.values().iter().map(|v| *v * factor as f32).collect();
            *keys = Keys::new(keys.times().to_vec(), values, keys.interpolation(), 1)?;
        }
    }
    Ok(clip)
}

/// A point that follows the nearest vertex.
fn moved_with(before: &sinew_geom::Mesh, after: &sinew_geom::Mesh, place: DVec3) -> DVec3 {
    let far = |v: &usize| before.positions()[*v].distance_squared(place);
    let nearest = (0..before.n_vertices()).min_by(|a, b| far(a).total_cmp(&far(b)));
    nearest.map_or(place, |v| place + after.positions()[v] - before.positions()[v])
}
