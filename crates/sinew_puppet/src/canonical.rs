//! A pose without the person: position, heading and body size are removed.
//!
//! # Source
//! Sun (2017), §4.3 and §4.6: global translation, and one angle of global rotation. Differs: the heading comes from
//! hips and shoulders together, which a bent spine does not change, instead of the spine; and the pose is rebuilt with
//! the bones of one standard body, so that it depends on directions alone and a pair made by one person serves another.

use crate::{
    BodyPose,
    body::{BodyJoint, N_JOINTS},
};
use glam::{DQuat, DVec3};

/// Numbers of a pose.
pub(crate) const N_NUMBERS: usize = 3 * N_JOINTS;

/// A pose of the standard body about its hips, looking along +Z: x, y, z of each joint in metres.
#[derive(Debug, Clone, PartialEq)]
pub struct CanonicalPose {
    /// The numbers that are projected.
    pub numbers: [f64; N_NUMBERS],
}

/// What was removed from a pose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BodyPlacement {
    /// Middle of the hips, in metres.
    pub position: DVec3,
    /// Heading in radians: 0 is +Z, π/2 is +X.
    pub heading: f64,
    /// Length of the trunk, in metres.
    pub trunk: f64,
}

/// Parent of each joint and length of the bone to it, in metres: an adult of 1.75 m.
pub(crate) const BONES: [(usize, f64); N_JOINTS] = [
    (0, 0.0),
    (0, 0.07),
    (1, 0.43),
    (2, 0.21),
    (2, 0.18),
    (4, 0.28),
    (5, 0.25),
    (6, 0.08),
    (2, 0.18),
    (8, 0.28),
    (9, 0.25),
    (10, 0.08),
    (0, 0.09),
    (12, 0.43),
    (13, 0.41),
    (14, 0.10),
    (0, 0.09),
    (16, 0.43),
    (17, 0.41),
    (18, 0.10),
];

/// Length of the trunk of the standard body.
pub(crate) const TRUNK: f64 = BONES[1].1 + BONES[2].1;

/// Bones shorter than this share of the trunk have no direction.
const MIN_BONE_SHARE: f64 = 1e-3;

impl CanonicalPose {
    /// Split a pose into canonical pose and placement. Joints that were not seen are taken as they are.
    pub fn of(body: &BodyPose) -> (Self, BodyPlacement) {
        let place = BodyPlacement::of(body);
        let turned_back = DQuat::from_rotation_y(-place.heading);
        let rest = Self::rest();
        let mut joints = [DVec3::ZERO; N_JOINTS];
        for (k, &(parent, length)) in BONES.iter().enumerate().skip(1) {
            let bone = turned_back * (body.joints[k] - body.joints[parent]);
            let along = match bone.length() > MIN_BONE_SHARE * place.trunk {
                true => bone.normalize(),
                false => (rest.joint(k) - rest.joint(parent)).normalize(),
            };
            joints[k] = joints[parent] + length * along;
        }
        (Self::from_joints(&joints), place)
    }

    /// Standing, with the arms at the sides: the pose of a body that is not tracked.
    pub fn rest() -> Self {
        let mut joints = [DVec3::ZERO; N_JOINTS];
        for (k, &(parent, length)) in BONES.iter().enumerate().skip(1) {
            let side = if (4..8).contains(&k) || (12..16).contains(&k) { 1.0 } else { -1.0 };
            let along = match k {
                1..4 => DVec3::Y,
                4 | 8 => DVec3::new(side, -0.15, 0.0),
                12 | 16 => DVec3::new(side, -0.3, 0.0),
                15 | 19 => DVec3::new(0.2 * side, -0.4, 1.0),
                5..12 => DVec3::new(0.15 * side, -1.0, 0.05),
                _ => DVec3::new(0.03 * side, -1.0, 0.0),
            };
            joints[k] = joints[parent] + length * along.normalize();
        }
        Self::from_joints(&joints)
    }

    /// Position of a joint about the hips.
    pub fn joint(&self, k: usize) -> DVec3 {
        DVec3::from_slice(&self.numbers[3 * k..])
    }

    pub(crate) fn from_joints(joints: &[DVec3; N_JOINTS]) -> Self {
        let mut numbers = [0.0; N_NUMBERS];
        for (numbers, joint) in numbers.chunks_exact_mut(3).zip(joints) {
            joint.write_to_slice(numbers);
        }
        Self { numbers }
    }

    /// Linear interpolation to another pose.
    pub fn lerp(&self, other: &Self, share: f64) -> Self {
        // Exact at both ends.
        let numbers = std::array::from_fn(|k| (1.0 - share) * self.numbers[k] + share * other.numbers[k]);
        Self { numbers }
    }

    /// Height of the hips above the lowest joint, in metres of the standard body.
    pub(crate) fn depth(&self) -> f64 {
        (0..N_JOINTS).map(|k| -self.joint(k).y).fold(0.0, f64::max)
    }
}

impl BodyPlacement {
    fn of(body: &BodyPose) -> Self {
        use BodyJoint::{HipCenter, HipLeft, HipRight, ShoulderCenter, ShoulderLeft, ShoulderRight, Spine};
        let across = |left, right| body.at(left) - body.at(right);
        let left = across(HipLeft, HipRight).normalize_or_zero()
            + across(ShoulderLeft, ShoulderRight).normalize_or_zero();
        let ahead = left.cross(DVec3::Y);
        // A body that lies on its side has no heading.
        let heading = if ahead.length() > 1e-6 { ahead.x.atan2(ahead.z) } else { 0.0 };
        let trunk =
            body.at(HipCenter).distance(body.at(Spine)) + body.at(Spine).distance(body.at(ShoulderCenter));
        Self { position: body.at(HipCenter), heading, trunk }
    }
}
