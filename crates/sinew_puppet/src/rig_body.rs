//! The body within a skeleton: which joints of a rig are those of a person (S1).
//!
//! Names of CMU, Mixamo, Bandai-Namco, DAZ, VRM, Unity and Blender skeletons are understood. What a skeleton lacks at
//! its ends (hands, toes, the middle of the shoulders) is put where it would be.

use crate::{
    BodyPose, PuppetError,
    body::{BodyJoint, N_JOINTS},
};
use glam::{DAffine3, DVec3};
use sinew_geom::{GeomError, Pose, Rig};

/// Where the joints of a body are in a rig.
#[derive(Debug, Clone, PartialEq)]
pub struct RigBody {
    /// Joint of the rig for each joint of the body.
    found: [Option<usize>; N_JOINTS],
}

/// A side of the body, or its middle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
    Middle,
}

/// Names for the joints of the body, without their side, best first. What is missing at the end of a limb is guessed.
const NAMES: [(BodyJoint, &[&str]); 12] = [
    (BodyJoint::HipCenter, &["hips", "pelvis", "hip", "root"]),
    (BodyJoint::Spine, &["spine", "lowerback", "abdomen", "spine1", "chest"]),
    (BodyJoint::ShoulderCenter, &["neck", "neck1", "upperchest"]),
    (BodyJoint::Head, &["head"]),
    (BodyJoint::ShoulderLeft, &["upperarm", "arm", "shldr", "shoulder"]),
    (BodyJoint::ElbowLeft, &["forearm", "lowerarm", "elbow"]),
    (BodyJoint::WristLeft, &["hand", "wrist"]),
    (BodyJoint::HandLeft, &["middle1", "mid1", "middleproximal", "handmiddle1", "handindex1", "fingerbase"]),
    (BodyJoint::HipLeft, &["upleg", "upperleg", "thigh", "hip"]),
    (BodyJoint::KneeLeft, &["lowerleg", "leg", "shin", "calf", "knee"]),
    (BodyJoint::AnkleLeft, &["foot", "ankle"]),
    (BodyJoint::FootLeft, &["toebase", "toes", "toe", "ball"]),
];

impl RigBody {
    /// Find the body in a rig.
    ///
    /// # Errors
    /// If hips, head, arms or legs are missing: the first that is.
    pub fn find(rig: &Rig) -> Result<Self, PuppetError> {
        let names: Vec<(Side, String)> = rig.joints().iter().map(|joint| take_apart(&joint.name)).collect();
        let find = |side: Side, known: &[&str]| {
            known.iter().find_map(|&name| names.iter().position(|(s, found)| *s == side && found == name))
        };
        let mut found = [None; N_JOINTS];
        for (joint, known) in NAMES {
            let k = joint as usize;
            if k < 4 {
                found[k] = find(Side::Middle, known);
            } else {
                found[k] = find(Side::Left, known);
                found[k + 4] = find(Side::Right, known);
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

    /// Put joints that the rig does not have where they would be.
    fn complete(&self, joints: &mut [DVec3; N_JOINTS]) {
        let mid = |a: DVec3, b: DVec3| 0.5 * (a + b);
        // Hips of a skeleton lie at the pelvis, those of Kinect between the legs.
        joints[0] = mid(joints[12], joints[16]);
        if self.found[2].is_none() {
            joints[2] = mid(joints[4], joints[8]);
        }
        // Spines of skeletons begin anywhere; that of Kinect a little above the hips.
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

/// A name without its side: `mixamorig:LeftUpLeg` is the left `upleg`, `upper_arm.R` the right `upperarm`.
fn take_apart(name: &str) -> (Side, String) {
    let name = name.rsplit([':', '|']).next().unwrap_or(name);
    let words = words(name);
    let side_of = |word: &str| match word {
        "l" | "left" => Some(Side::Left),
        "r" | "right" => Some(Side::Right),
        _ => None,
    };
    let side = words.iter().find_map(|word| side_of(word)).unwrap_or(Side::Middle);
    (side, words.into_iter().filter(|word| side_of(word).is_none()).collect())
}

/// Words of a name in small letters, split at punctuation and at capitals: `lForeArm` is l, fore, arm.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut was_small = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && was_small) {
            words.push(String::new());
        }
        if let (true, Some(word)) = (c.is_alphanumeric(), words.last_mut()) {
            word.extend(c.to_lowercase());
        }
        was_small = c.is_lowercase();
    }
    // `LHipJoint` and `RThumb`: one capital before another begins a word of its own.
    if let Some((first, rest)) = name.split_at_checked(1)
        && ["L", "R"].contains(&first)
        && rest.starts_with(char::is_uppercase)
    {
        return [vec![first.to_lowercase()], self::words(rest)].concat();
    }
    words.retain(|word| !word.is_empty());
    words
}
