//! Copying a motion onto another body: joints are matched by name, or by the name that another tool gives to the
//! same body part; angles are kept and the path is scaled.

use super::{
    JointFrames,
    body::{Body, ancestry, plain},
};
use crate::ConstrainError;
use glam::{DQuat, DVec3};
use sinew_geom::{
    DofKind, Joint, Pose, Rig, Transform, Warnings,
    rig::{BodyPart, PartNames, Side},
};

/// Mapping of motions from one rig to another.
#[derive(Debug, Clone)]
pub struct Retarget<'a> {
    source: &'a Rig,
    target: &'a Rig,
    /// Joint of the source for each joint of the target.
    from: Vec<Option<usize>>,
    /// `target joint ← source joint`: difference of the rest poses, for each joint of the target.
    turns: Vec<DQuat>,
    pelvis: usize,
    /// Ratio of leg lengths.
    scale: f64,
}

/// Bones whose directions at rest differ by more are aligned, radians.
const SAME_DIRECTION_RADIANS: f64 = 1e-3;

impl<'a> Retarget<'a> {
    /// Match the joints of two rigs by their names.
    ///
    /// # Errors
    /// If the legs of the target are missing in the source, or have other names.
    pub fn new(
        (source, source_body): (&'a Rig, &Body),
        (target, target_body): (&'a Rig, &Body),
        warnings: &mut Warnings,
    ) -> Result<Self, ConstrainError> {
        let from = counterparts(source, target);
        let n_found = from.iter().flatten().count();
        if n_found == 0 {
            return Err(ConstrainError::Unmatched {
                joint: target.joints().first().map_or(String::new(), |joint| joint.name.clone()),
            });
        }
        for leg in &target_body.legs {
            for joint in [leg.hip, leg.knee, leg.ankle] {
                if from[joint].is_none() {
                    return Err(ConstrainError::Unmatched { joint: target.joints()[joint].name.clone() });
                }
            }
        }
        if from[target_body.pelvis].is_none() {
            return Err(ConstrainError::Unmatched {
                joint: target.joints()[target_body.pelvis].name.clone(),
            });
        }
        let still: Vec<&str> = target
            .joints()
            .iter()
            .zip(&from)
            .filter(|(_, f)| f.is_none())
            .map(|(j, _)| j.name.as_str())
            .collect();
        if !still.is_empty() {
            let shown = still.iter().take(5).copied().collect::<Vec<_>>().join(", ");
            warnings.push(format!(
                "{} joints have no counterpart in the clip and stay at rest: {shown}",
                still.len()
            ));
        }
        let scale = target_body.leg_length(target) / source_body.leg_length(source);
        if !(scale.is_finite() && scale > 0.0) {
            return Err(ConstrainError::NoLength);
        }
        let turns = rest_turns(source, (target, target_body), &from);
        Ok(Self { source, target, from, turns, pelvis: target_body.pelvis, scale })
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

    /// A pose of the target: world orientations copied, the pelvis at `place`. Angles are kept within the ranges of
    /// the target's joints.
    pub fn pose(&self, pose: &Pose, world: &JointFrames, place: DVec3) -> Pose {
        let mut out = self.target.rest_pose();
        let mut reached = JointFrames::default();
        for (joint, at) in self.target.joints().iter().enumerate() {
            let above = at.parent.map_or(DQuat::IDENTITY, |parent| reached.rotations[parent]);
            let local = &mut out.locals[joint];
            if let Some(from) = self.from[joint] {
                local.rotation = (above.inverse() * world.rotations[from] * self.turns[joint]).normalize();
                self.shift(joint, from, &pose.locals[from], local);
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
        if moved.length() > 1e-4 * (source.translation.length() + 1e-2) {
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

/// Joint of the source for each joint of the target: of the same name, else the same part of a person.
fn counterparts(source: &Rig, target: &Rig) -> Vec<Option<usize>> {
    let by_name = |joint: &Joint| {
        let near = || source.joints().iter().position(|other| plain(&other.name) == plain(&joint.name));
        source.find(&joint.name).or_else(near)
    };
    let mut from: Vec<Option<usize>> = target.joints().iter().map(by_name).collect();
    let (names, other_names) = (PartNames::new(target), PartNames::new(source));
    for part in BodyPart::ALL {
        for side in [Side::Left, Side::Middle, Side::Right] {
            if let (Some(joint), Some(other)) = (names.find(part, side), other_names.find(part, side)) {
                let is_taken = from.contains(&Some(other));
                from[joint] = from[joint].or_else(|| Some(other).filter(|_| !is_taken));
            }
        }
    }
    match_spines((source, &other_names), (target, &names), &mut from);
    from
}

/// Joints between hips and head follow those of the other spine that are as far up; spines have any number of them.
fn match_spines(
    (source, of_source): (&Rig, &PartNames),
    (target, of_target): (&Rig, &PartNames),
    from: &mut [Option<usize>],
) {
    let chain = |rig: &Rig, names: &PartNames| -> Option<Vec<usize>> {
        let (hips, head) =
            (names.find(BodyPart::Hips, Side::Middle)?, names.find(BodyPart::Head, Side::Middle)?);
        let mut between: Vec<usize> =
            ancestry(rig, head).skip(1).take_while(|&joint| joint != hips).collect();
        between.reverse();
        ancestry(rig, head).any(|joint| joint == hips).then_some(between)
    };
    let (Some(own), Some(others)) = (chain(target, of_target), chain(source, of_source)) else { return };
    let is_known = own.iter().all(|&joint| from[joint].is_some());
    if others.is_empty() || is_known {
        return;
    }
    for (k, &joint) in own.iter().enumerate() {
        let share = (k as f64 + 0.5) / own.len() as f64;
        let at = ((share * others.len() as f64) as usize).min(others.len() - 1);
        from[joint] = Some(others[at]);
    }
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

/// For each joint of the target, `source joint ← target joint` at rest, after bones were aligned.
fn rest_turns(source: &Rig, (target, body): (&Rig, &Body), from: &[Option<usize>]) -> Vec<DQuat> {
    let (source_world, target_world) =
        (JointFrames::of(source, &source.rest_pose()), JointFrames::of(target, &target.rest_pose()));
    // Feet are compared by their soles, not by their bones.
    let is_foot = |joint: usize| body.legs.iter().any(|leg| leg.ankle == joint || leg.toe == Some(joint));
    let along = |joint: usize| {
        if is_foot(joint) {
            return None;
        }
        // The bone to the first matched child, if it is the only one.
        let matched = |&j: &usize| target.joints()[j].parent == Some(joint) && from[j].is_some();
        let mut children = (0..target.n_joints()).filter(matched);
        let child = children.next().filter(|_| children.next().is_none())?;
        let (a, b) = (from[joint]?, from[child]?);
        let wanted = source_world.positions[b] - source_world.positions[a];
        let given = target_world.positions[child] - target_world.positions[joint];
        let both = wanted.try_normalize().zip(given.try_normalize());
        both.filter(|(wanted, given)| wanted.distance(*given) > SAME_DIRECTION_RADIANS)
    };
    (0..target.n_joints())
        .map(|joint| {
            let Some(from) = from[joint] else { return DQuat::IDENTITY };
            let swing = along(joint).map_or(DQuat::IDENTITY, |(w, g)| DQuat::from_rotation_arc(g, w));
            source_world.rotations[from].inverse() * swing * target_world.rotations[joint]
        })
        .collect()
}
