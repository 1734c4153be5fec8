//! The reference pose: a pose in which the limbs of two bodies correspond, whatever their rest poses are.
//!
//! A motion is carried from one body to another by what it turns each limb to from there. People stand with their legs down
//! and their arms out (or down, beside animals, whose front legs they are); other bodies stand as they were read.
//!
//! # Symbols
//! `R₀` rotation of a joint in the pose the map was read from; `S` swing of its limb into the reference pose; `R = S R₀`
//! # Limits
//! How far a straight limb is twisted about itself is taken from the pose the map was read from.

use super::{BodyClass, BodyMap, Part};
use crate::{Rig, rig::Side};
use glam::{DMat3, DQuat, DVec3};

/// Where the arms of people are in the reference pose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReferenceStance {
    /// To the sides: between people.
    ArmsOut,
    /// Down: between people and animals.
    ArmsDown,
}

/// A trunk that leans by less at rest is upright: where joints lie in a body is a matter of its maker.
const UPRIGHT_COSINE: f64 = 0.94;

impl BodyMap {
    /// `world ← body`: x to its left, y up, z forward.
    pub fn basis(&self) -> DQuat {
        let left = self.up.cross(self.forward).normalize_or(self.up.any_orthonormal_vector());
        DQuat::from_mat3(&DMat3::from_cols(left, self.up, left.cross(self.up))).normalize()
    }

    /// Rotations of all joints in the reference pose, in the space of the skeleton.
    pub fn reference(&self, rig: &Rig, stance: ReferenceStance) -> Vec<DQuat> {
        let mut world = Vec::new();
        if rig.forward(&self.pose, &mut world).is_err() {
            world = rig.rest_world();
        }
        let read: Vec<DQuat> =
            world.iter().map(|joint| joint.to_scale_rotation_translation().1.normalize()).collect();
        if self.class != BodyClass::Biped {
            return read;
        }
        let trunk = self.trunk_swing();
        let mut swings: Vec<DQuat> = Vec::with_capacity(rig.n_joints());
        for joint in 0..rig.n_joints() {
            let above = rig.joints()[joint].parent.map_or(DQuat::IDENTITY, |parent| swings[parent]);
            swings.push(self.swing(rig, joint, above, (trunk, stance)));
        }
        swings.into_iter().zip(read).map(|(swing, read)| (swing * read).normalize()).collect()
    }

    /// What brings a trunk that bends or lies upright; nothing for one that stands.
    fn trunk_swing(&self) -> DQuat {
        let middle = |part: Part| {
            let [left, right] = [Side::Left, Side::Right].map(|side| self.find(part, side));
            Some(0.5 * (self.places[left?] + self.places[right?]))
        };
        let trunk = middle(Part::Thigh).zip(middle(Part::UpperArm)).map(|(low, high)| high - low);
        match trunk.and_then(DVec3::try_normalize) {
            Some(trunk) if trunk.dot(self.up) < UPRIGHT_COSINE => DQuat::from_rotation_arc(trunk, self.up),
            _ => DQuat::IDENTITY,
        }
    }

    fn swing(
        &self,
        rig: &Rig,
        joint: usize,
        above: DQuat,
        (trunk, stance): (DQuat, ReferenceStance),
    ) -> DQuat {
        let JointSide { part, aside } = self.side_of(joint);
        let out = match stance {
            ReferenceStance::ArmsOut => aside,
            ReferenceStance::ArmsDown => -self.up,
        };
        let along = |next: &[Part], wanted: DVec3| match self.bone(rig, joint, next) {
            Some(bone) if wanted != DVec3::ZERO => DQuat::from_rotation_arc(above * bone, wanted) * above,
            _ => above,
        };
        match part {
            Part::Hips
            | Part::Spine
            | Part::Chest
            | Part::Neck
            | Part::Head
            | Part::Shoulder
            | Part::HipBone => trunk,
            Part::UpperArm => along(&[Part::Forearm, Part::Hand], out),
            Part::Forearm => along(&[Part::Hand], out),
            Part::Thigh => along(&[Part::Shin, Part::Foot], -self.up),
            Part::Shin => along(&[Part::Foot], -self.up),
            Part::Foot => self.foot_swing(rig, joint),
            Part::Root => DQuat::IDENTITY,
            _ => above,
        }
    }

    /// Feet stay as level as they were read and point forward.
    fn foot_swing(&self, rig: &Rig, joint: usize) -> DQuat {
        let flat = |v: DVec3| v - self.up * self.up.dot(v);
        let Some(bone) = self.bone(rig, joint, &[Part::Toe]) else { return DQuat::IDENTITY };
        let level = flat(bone);
        // A foot that points down has no heading.
        if level.length() < 0.3 {
            return DQuat::IDENTITY;
        }
        let angle = level.cross(self.forward).dot(self.up).atan2(level.dot(self.forward));
        DQuat::from_axis_angle(self.up, angle)
    }

    fn side_of(&self, joint: usize) -> JointSide {
        let meaning = &self.joints[joint];
        let left = self.up.cross(self.forward);
        let aside = match meaning.side {
            Side::Left => left,
            Side::Right => -left,
            Side::Middle => DVec3::ZERO,
        };
        JointSide { part: meaning.part, aside }
    }

    /// Unit vector from a joint to the next of its limb, in the pose the map was read from: to the first joint below of one of
    /// these parts, else to its farthest child.
    fn bone(&self, rig: &Rig, joint: usize, next: &[Part]) -> Option<DVec3> {
        let way = |end: usize| (self.places[end] - self.places[joint]).try_normalize();
        let is_below = |mut at: usize| {
            while let Some(parent) = rig.joints()[at].parent.filter(|_| at != joint) {
                at = parent;
            }
            at == joint
        };
        let below: Vec<usize> = (joint + 1..rig.n_joints()).filter(|&k| is_below(k)).collect();
        let side = self.joints[joint].side;
        let of = |part: &Part| {
            below.iter().copied().find(|&k| self.joints[k].part == *part && self.joints[k].side == side)
        };
        let far = |k: &usize| self.places[*k].distance(self.places[joint]);
        let children = || below.iter().copied().filter(|&k| rig.joints()[k].parent == Some(joint));
        let named = next.iter().find_map(of).and_then(way);
        named.or_else(|| children().max_by(|a, b| far(a).total_cmp(&far(b))).and_then(way))
    }
}

struct JointSide {
    part: Part,
    /// Unit vector to its side; zero in the middle.
    aside: DVec3,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Sample, build_character};

    fn dir(map: &BodyMap, rig: &Rig, from: usize, to: usize, reference: &[DQuat]) -> DVec3 {
        let read = rig.rest_world();
        let bone = read[from].inverse().transform_point3(map.places[to]);
        (reference[from] * bone).normalize()
    }

    /// Whatever the rest pose, arms and legs point the same way in the reference pose.
    #[test]
    fn limbs_correspond_whatever_the_rest_pose_is() {
        let rig = build_character(Sample::Biped, 1000).unwrap().rig.unwrap();
        let mut joints = rig.joints().to_vec();
        for (name, angle) in [("upper_arm", 0.6), ("thigh", -0.3), ("shin", 0.2)] {
            for joint in joints.iter_mut().filter(|joint| joint.name.contains(name)) {
                joint.rest.rotation *= DQuat::from_rotation_z(angle) * DQuat::from_rotation_x(angle);
            }
        }
        let bent = Rig::new(joints).unwrap();
        for rig in [&rig, &bent] {
            let map = BodyMap::read(rig, &[]);
            for (stance, arm) in
                [(ReferenceStance::ArmsOut, DVec3::X), (ReferenceStance::ArmsDown, DVec3::NEG_Y)]
            {
                let reference = map.reference(rig, stance);
                let find = |part| map.find(part, Side::Left).unwrap();
                let of = |a, b| dir(&map, rig, find(a), find(b), &reference);
                assert!(of(Part::UpperArm, Part::Forearm).distance(arm) < 1e-9);
                assert!(of(Part::Forearm, Part::Hand).distance(arm) < 1e-9);
                assert!(of(Part::Thigh, Part::Shin).distance(DVec3::NEG_Y) < 1e-9);
                assert!(of(Part::Shin, Part::Foot).distance(DVec3::NEG_Y) < 1e-9);
            }
        }
    }
}
