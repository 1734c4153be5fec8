//! The body within a skeleton: which joints of a rig are those of a person.
//!
//! Names of CMU, Mixamo, Bandai-Namco, DAZ, VRM, Unity and Blender skeletons are understood. What a skeleton lacks at
//! its ends (hands, toes, the middle of the shoulders) is estimated.

use crate::{
    BodyPose, PuppetError,
    body::{BodyJoint, N_JOINTS},
};
use glam::{DAffine3, DVec3};
use sinew_geom::{
    GeomError, Pose, Rig,
    body_map::{BodyClass, BodyMap, Part},
    rig::{BodyPart, PartNames, Side},
};

/// Joints of a body in a rig.
#[derive(Debug, Clone, PartialEq)]
pub struct RigBody {
    /// Joint of the rig for each joint of the body.
    found: [Option<usize>; N_JOINTS],
}

/// Which part of a person each joint of the body is; of pairs, the left one.
const PARTS: [(BodyJoint, BodyPart); 12] = [
    (BodyJoint::HipCenter, BodyPart::Hips),
    (BodyJoint::Spine, BodyPart::Spine),
    (BodyJoint::ShoulderCenter, BodyPart::Neck),
    (BodyJoint::Head, BodyPart::Head),
    (BodyJoint::ShoulderLeft, BodyPart::UpperArm),
    (BodyJoint::ElbowLeft, BodyPart::Forearm),
    (BodyJoint::WristLeft, BodyPart::Hand),
    (BodyJoint::HandLeft, BodyPart::Fingers),
    (BodyJoint::HipLeft, BodyPart::Thigh),
    (BodyJoint::KneeLeft, BodyPart::Shin),
    (BodyJoint::AnkleLeft, BodyPart::Foot),
    (BodyJoint::FootLeft, BodyPart::Toes),
];

impl RigBody {
    /// Find the body in a rig: by the names of a person's joints, else by the body map.
    ///
    /// # Errors
    /// If hips, head, arms or legs are missing: the first that is.
    pub fn find(rig: &Rig) -> Result<Self, PuppetError> {
        Self::by_names(rig).or_else(|error| Self::by_map(rig, &BodyMap::read(rig, &[])).ok_or(error))
    }

    fn by_map(rig: &Rig, map: &BodyMap) -> Option<Self> {
        let mut found = [None; N_JOINTS];
        for (k, part) in [(0, Part::Hips), (1, Part::Spine), (2, Part::Neck), (3, Part::Head)] {
            found[k] = map.find(part, Side::Middle);
        }
        let limbs = [
            Part::UpperArm,
            Part::Forearm,
            Part::Hand,
            Part::Finger,
            Part::Thigh,
            Part::Shin,
            Part::Foot,
            Part::Toe,
        ];
        for (k, part) in limbs.into_iter().enumerate() {
            let left = 4 + k + if k >= 4 { 4 } else { 0 };
            found[left] = map.find(part, Side::Left);
            found[left + 4] = map.find(part, Side::Right);
        }
        let body = Self { found };
        (map.class == BodyClass::Biped && body.check(rig).is_ok()).then_some(body)
    }

    /// Downward slope of the feet when the body stands, in radians: none if the rig has no toes, as they are guessed to be level
    /// then.
    pub fn foot_slope(&self, map: &BodyMap) -> Option<f64> {
        if [14, 18].iter().any(|&ankle| self.found[ankle + 1].is_none()) {
            return Some(0.0);
        }
        let slope = |ankle: usize| {
            let along = map.places[self.found[ankle + 1]?] - map.places[self.found[ankle]?];
            Some(-along.try_normalize()?.dot(map.up).clamp(-1.0, 1.0).asin())
        };
        Some(0.5 * (slope(14)? + slope(18)?)).filter(|slope| slope.abs() < 1.3)
    }

    fn by_names(rig: &Rig) -> Result<Self, PuppetError> {
        let names = PartNames::new(rig);
        let mut found = [None; N_JOINTS];
        for (joint, part) in PARTS {
            let k = joint as usize;
            if k < 4 {
                found[k] = names.find(part, Side::Middle);
            } else {
                found[k] = names.find(part, Side::Left);
                found[k + 4] = names.find(part, Side::Right);
            }
        }
        let body = Self { found };
        body.check(rig)?;
        Ok(body)
    }

    fn check(&self, rig: &Rig) -> Result<(), PuppetError> {
        use BodyJoint::{
            AnkleLeft, AnkleRight, ElbowLeft, ElbowRight, Head, HipCenter, HipLeft, HipRight, KneeLeft,
            KneeRight, ShoulderLeft, ShoulderRight, WristLeft, WristRight,
        };
        let needed = [
            (HipCenter, "hips"),
            (Head, "head"),
            (ShoulderLeft, "left upper arm"),
            (ElbowLeft, "left forearm"),
            (WristLeft, "left hand"),
            (ShoulderRight, "right upper arm"),
            (ElbowRight, "right forearm"),
            (WristRight, "right hand"),
            (HipLeft, "left thigh"),
            (KneeLeft, "left shin"),
            (AnkleLeft, "left foot"),
            (HipRight, "right thigh"),
            (KneeRight, "right shin"),
            (AnkleRight, "right foot"),
        ];
        let missing = needed.into_iter().find(|(joint, _)| self.found[*joint as usize].is_none());
        missing.map_or(Ok(()), |(_, missing)| {
            let names: Vec<&str> = rig.joints().iter().map(|joint| joint.name.as_str()).take(12).collect();
            Err(PuppetError::NoBody { missing, known: names.join(", ") })
        })
    }

    /// The joint of the rig for one of the body.
    pub fn joint(&self, joint: BodyJoint) -> Option<usize> {
        self.found[joint as usize]
    }

    /// The body in a pose of the rig.
    ///
    /// # Errors
    /// A pose of another rig.
    pub fn pose(&self, rig: &Rig, pose: &Pose, world: &mut Vec<DAffine3>) -> Result<BodyPose, GeomError> {
        rig.forward(pose, world)?;
        let mut joints = [DVec3::ZERO; N_JOINTS];
        for (joint, found) in joints.iter_mut().zip(&self.found) {
            *joint = found.map_or(DVec3::NAN, |k| world[k].translation);
        }
        self.complete(&mut joints);
        Ok(BodyPose::new(joints))
    }

    /// Estimate joints that the rig does not have.
    fn complete(&self, joints: &mut [DVec3; N_JOINTS]) {
        let mid = |a: DVec3, b: DVec3| 0.5 * (a + b);
        // Hips of a skeleton lie at the pelvis, those of Kinect between the legs.
        joints[0] = mid(joints[12], joints[16]);
        if self.found[2].is_none() {
            joints[2] = mid(joints[4], joints[8]);
        }
        // The spine of Kinect begins a little above the hips; those of skeletons anywhere.
        joints[1] = joints[0].lerp(joints[2], 0.14);
        for side in [0, 4] {
            let [elbow, wrist, hand] = [5, 6, 7].map(|k| k + side);
            if self.found[hand].is_none() {
                joints[hand] = joints[wrist] + 0.3 * (joints[wrist] - joints[elbow]);
            }
            let [ankle, foot] = [14, 15].map(|k| k + side);
            if self.found[foot].is_none() {
                let left = (joints[12] - joints[16]).normalize_or_zero();
                let shin = joints[ankle].distance(joints[13 + side]);
                joints[foot] = joints[ankle] + 0.25 * shin * left.cross(DVec3::Y);
            }
        }
    }
}
