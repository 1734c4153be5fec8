//! Copying a motion onto another body: what turned each limb of the source out of its reference pose turns that of the target.
//!
//! # Source
//! Sinew's own. The rotation of a limb relative to a pose in which the limbs of both bodies correspond does not depend on how
//! either rests, on the axes of its joints or on how they are named.
//! # Symbols
//! `R(t)` rotation of a joint in the world; `R₀` in the reference pose: `R_target = R_source R₀_source⁻¹ R₀_target`

use super::{
    JointFrames,
    body::Body,
    counterparts::{MappedRig, are_people, counterparts, is_same_skeleton, without_counterpart},
    facing::Facing,
};
use crate::ConstrainError;
use glam::{DQuat, DVec3};
use sinew_geom::{
    DofKind, Joint, Pose, Rig, Transform, Warnings,
    body_map::{Part, ReferenceStance},
};

/// Mapping of motions from one rig to another.
#[derive(Debug, Clone)]
pub struct Retarget<'a> {
    source: &'a Rig,
    target: &'a Rig,
    /// Joint of the source for each joint of the target.
    from: Vec<Option<usize>>,
    /// `source joint ← target joint` in the reference pose, for each joint of the target.
    turns: Vec<DQuat>,
    pelvis: usize,
    /// Ratio of leg lengths.
    scale: f64,
    /// Whether translations and scales of joints are copied: those of another skeleton mean nothing.
    is_same: bool,
}

/// Soles that differ by less are alike, and by more are no soles.
const MIN_TILT_RADIANS: f64 = 0.05;
const MAX_TILT_RADIANS: f64 = 1.6;

impl<'a> Retarget<'a> {
    /// Match the joints of two rigs, turned as `facing` says.
    ///
    /// # Errors
    /// If no limb of the target has a counterpart in the source, or legs have no length.
    pub fn new(
        (source, source_body): (&MappedRig<'a>, &Body),
        (target, target_body): (&MappedRig<'a>, &Body),
        facing: &Facing,
        warnings: &mut Warnings,
    ) -> Result<Self, ConstrainError> {
        let mut from = counterparts(source, target);
        if let Some(joint) = unmatched(source, target, &from) {
            return Err(ConstrainError::Unmatched { joint: target.rig.joints()[joint].name.clone() });
        }
        from[target_body.pelvis].get_or_insert(source_body.pelvis);
        let still = without_counterpart(target, &from);
        if !still.is_empty() {
            let shown = still.iter().take(5).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = if still.len() > 5 { ", …" } else { "" };
            warnings.push(format!(
                "{} joints have no counterpart in the clip and stay at rest: {shown}{more}",
                still.len()
            ));
        }
        let scale = target_body.leg_length(target.rig) / source_body.leg_length(source.rig);
        if !(scale.is_finite() && scale > 0.0) {
            return Err(ConstrainError::NoLength);
        }
        let people = are_people(source.map, target.map);
        let stance = if people { ReferenceStance::ArmsOut } else { ReferenceStance::ArmsDown };
        let (theirs, ours) =
            (source.map.reference(source.rig, stance), target.map.reference(target.rig, stance));
        let turns = (0..target.rig.n_joints())
            .map(|joint| {
                let turn = |other: usize| {
                    (facing.references[0] * theirs[other]).inverse() * (facing.references[1] * ours[joint])
                };
                from[joint].map_or(DQuat::IDENTITY, turn)
            })
            .collect();
        let is_same = is_same_skeleton(source.rig, target.rig);
        let (source, target, pelvis) = (source.rig, target.rig, target_body.pelvis);
        Ok(Self { source, target, from, turns, pelvis, scale, is_same })
    }

    /// Turn a foot of the target so that its sole is level where the source's is: `source` and `target` are the normals of the
    /// ground in the frames of both joints. Where joints of feet lie in a shoe is a matter of its maker.
    pub fn level(&mut self, joint: usize, source: DVec3, target: DVec3) {
        let tilt = DQuat::from_rotation_arc((self.turns[joint] * target).normalize(), source.normalize());
        let angle = tilt.w.abs().min(1.0).acos() * 2.0;
        if !self.is_same && (MIN_TILT_RADIANS..MAX_TILT_RADIANS).contains(&angle) {
            self.turns[joint] = tilt * self.turns[joint];
        }
    }

    /// Ratio of leg lengths, target to source.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// Joint of the source that a joint of the target follows.
    pub fn source_of(&self, joint: usize) -> Option<usize> {
        self.from[joint]
    }

    /// Rotation that brings a vector of a source joint's frame into that of the target's.
    pub fn turn(&self, joint: usize) -> DQuat {
        self.turns[joint].inverse()
    }

    /// A pose of the target: limbs turned as the source's, the pelvis at `place`. Angles are kept within the ranges of
    /// the target's joints.
    pub fn pose(&self, pose: &Pose, world: &JointFrames, place: DVec3) -> Pose {
        let mut out = self.target.rest_pose();
        let mut reached = JointFrames::default();
        for (joint, at) in self.target.joints().iter().enumerate() {
            let above = at.parent.map_or(DQuat::IDENTITY, |parent| reached.rotations[parent]);
            let local = &mut out.locals[joint];
            if let Some(from) = self.from[joint] {
                local.rotation = (above.inverse() * world.rotations[from] * self.turns[joint]).normalize();
                if self.is_same {
                    self.shift(joint, from, &pose.locals[from], local);
                }
            }
            if joint == self.pelvis {
                local.translation = match at.parent {
                    Some(p) => above.inverse() * (place - reached.positions[p]) / reached.scale(p),
                    None => place,
                };
            }
            keep_ranges(at, local, joint == self.pelvis);
            reached.push(at.parent, local);
        }
        out
    }

    /// Displacement of a joint from its rest, scaled by the length of its bone.
    fn shift(&self, joint: usize, from: usize, local: &Transform, out: &mut Transform) {
        let (source, target) = (&self.source.joints()[from].rest, &self.target.joints()[joint].rest);
        let moved = local.translation - source.translation;
        if moved.length() > 1e-7 * (source.translation.length() + 1e-2) {
            let ratio = match source.translation.length() {
                length if length > 1e-6 && target.translation.length() > 1e-6 => {
                    target.translation.length() / length
                }
                _ => self.scale,
            };
            out.translation = target.translation + moved * ratio;
        }
        out.scale = target.scale * local.scale / source.scale;
    }
}

/// A joint of the target that shows that the bodies have nothing in common: the first if none follows any, or a limb if both
/// have limbs and none follows any.
fn unmatched(source: &MappedRig, target: &MappedRig, from: &[Option<usize>]) -> Option<usize> {
    let is_limb =
        |part: Part| matches!(part, Part::Thigh | Part::Shin | Part::UpperArm | Part::Forearm | Part::Leg);
    let limbs = |body: &MappedRig| -> Vec<usize> {
        (0..body.rig.n_joints()).filter(|&k| is_limb(body.map.joints[k].part)).collect()
    };
    let ours = limbs(target);
    if from.iter().all(Option::is_none) {
        return Some(0);
    }
    let is_strange = !limbs(source).is_empty() && ours.iter().all(|&k| from[k].is_none());
    ours.first().copied().filter(|_| is_strange)
}

impl JointFrames {
    fn push(&mut self, parent: Option<usize>, local: &Transform) {
        let (position, rotation, scale) = match parent {
            Some(p) => (
                self.point(p, self.scale(p) * local.translation),
                self.rotations[p] * local.rotation,
                self.scale(p) * local.scale.x,
            ),
            None => (local.translation, local.rotation, local.scale.x),
        };
        self.positions.push(position);
        self.rotations.push(rotation);
        self.scales.push(DVec3::splat(scale));
    }
}

/// Bring a local transform to the nearest values within the ranges of its joint. A joint whose degrees of freedom include no
/// rotation, or not all of them, keeps its rotation.
fn keep_ranges(joint: &Joint, local: &mut Transform, is_pelvis: bool) {
    let is_limited = |range: [f64; 2]| range[0].is_finite() || range[1].is_finite();
    if is_pelvis || !joint.dofs.iter().any(|dof| dof.kind >= DofKind::Rx && is_limited(dof.range)) {
        return;
    }
    let mut values = joint.values_at(local);
    for (value, dof) in values.iter_mut().zip(&joint.dofs) {
        *value = value.clamp(dof.range[0], dof.range[1]);
    }
    local.rotation = joint.local_at(&values).rotation;
}
