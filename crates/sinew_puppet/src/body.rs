//! One body for every source: the 20 joints of the first Kinect.
//!
//! Metres, +Y up, right-handed; a body that faces +Z has its left at +X.

use crate::PuppetError;
use glam::DVec3;
use sinew_geom::{BodyFrame, BodyLayout, BodyRecording};

/// A joint of the body, in the order of [`BodyLayout::Kinect20`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BodyJoint {
    HipCenter,
    Spine,
    ShoulderCenter,
    Head,
    ShoulderLeft,
    ElbowLeft,
    WristLeft,
    HandLeft,
    ShoulderRight,
    ElbowRight,
    WristRight,
    HandRight,
    HipLeft,
    KneeLeft,
    AnkleLeft,
    FootLeft,
    HipRight,
    KneeRight,
    AnkleRight,
    FootRight,
}

/// Joints of a body.
pub(crate) const N_JOINTS: usize = 20;

/// A part of the body that can be lost, ignored or projected separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Limb {
    Torso,
    ArmLeft,
    ArmRight,
    LegLeft,
    LegRight,
}

impl Limb {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Torso, Self::ArmLeft, Self::ArmRight, Self::LegLeft, Self::LegRight];

    /// Name used on the command line and in files.
    pub fn name(self) -> &'static str {
        ["torso", "arm.L", "arm.R", "leg.L", "leg.R"][self as usize]
    }

    /// Limb of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|limb| limb.name() == name)
    }

    /// Its joints: four that follow each other.
    pub(crate) fn joints(self) -> std::ops::Range<usize> {
        let first = 4 * self as usize;
        first..first + 4
    }
}

/// Positions of the joints of a body at one time.
#[derive(Debug, Clone, PartialEq)]
pub struct BodyPose {
    /// Positions.
    pub joints: [DVec3; N_JOINTS],
    /// Which of them were tracked.
    pub seen: [bool; N_JOINTS],
}

/// Confidence below which a landmark counts as not seen.
const MIN_CONFIDENCE: f32 = 0.5;

/// Trunks shorter than this share of the picture's height do not determine a size.
const MIN_TRUNK_SHARE: f64 = 0.02;
/// Maximum height of the picture, metres.
const MAX_PICTURE_METRES: f64 = 10.0;

impl BodyPose {
    /// Joints that were all seen.
    pub fn new(joints: [DVec3; N_JOINTS]) -> Self {
        Self { joints, seen: [true; N_JOINTS] }
    }

    /// Position of a joint.
    pub fn at(&self, joint: BodyJoint) -> DVec3 {
        self.joints[joint as usize]
    }

    /// Name of the first joint that was not seen or is not finite.
    pub fn first_missing(&self) -> Option<&'static str> {
        let is_missing = |k: &usize| !self.seen[*k] || !self.joints[*k].is_finite();
        (0..N_JOINTS).find(is_missing).map(|k| BodyLayout::Kinect20.names()[k])
    }

    /// The first limb that is missed, with the joint of it that was not seen; except limbs for which `is_ignored` holds.
    pub fn missing_limb(&self, is_ignored: &dyn Fn(Limb) -> bool) -> Option<(Limb, &'static str)> {
        let is_missing = |k: &usize| !self.seen[*k] || !self.joints[*k].is_finite();
        let missing =
            |limb: Limb| limb.joints().find(is_missing).map(|k| (limb, BodyLayout::Kinect20.names()[k]));
        Limb::ALL.into_iter().filter(|limb| !is_ignored(*limb)).find_map(missing)
    }

    /// The body in a picture of a camera: 33 landmarks of MediaPipe about the hips (metres, y down) with their
    /// confidence, and where they are in the picture (shares of it, y down). What lies outside the picture was guessed. The
    /// picture also gives the position of the hips, in metres by the length of the trunk in it; not how far away.
    ///
    /// # Errors
    /// Another number of landmarks.
    pub fn from_camera(
        world: Option<&[[f64; 4]]>,
        image: Option<&[[f64; 2]]>,
        aspect: f64,
    ) -> Result<Self, PuppetError> {
        let Some(world) = world else {
            return Ok(Self { joints: [DVec3::NAN; N_JOINTS], seen: [false; N_JOINTS] });
        };
        let expected = BodyLayout::MediaPipe33.names().len();
        for actual in [Some(world.len()), image.map(<[_]>::len)].into_iter().flatten() {
            if actual != expected {
                let value = actual.to_string();
                return Err(PuppetError::Parameter { name: "landmarks", value, expected: "there are 33" });
            }
        }
        let is_inside = |k: usize| image.is_none_or(|image| image[k].iter().all(|x| (0.0..=1.0).contains(x)));
        let frame = BodyFrame {
            time_secs: 0.0,
            points: world.iter().map(|p| DVec3::new(p[0], p[1], p[2]).as_vec3()).collect(),
            confidence: (0..expected).map(|k| if is_inside(k) { world[k][3] as f32 } else { 0.0 }).collect(),
        };
        let mut body = from_landmarks(&frame);
        if let Some(image) = image {
            let middle = |a: usize, b: usize| {
                let at = |k: usize| DVec3::new(image[k][0] * aspect, 1.0 - image[k][1], 0.0);
                at(a).midpoint(at(b))
            };
            let (hips, shoulders) = (middle(23, 24), middle(11, 12));
            let trunk = body.at(BodyJoint::ShoulderCenter) - body.at(BodyJoint::HipCenter);
            let (seen, real) = (hips.distance(shoulders), trunk.truncate().length());
            let metres = if seen > MIN_TRUNK_SHARE { (real / seen).min(MAX_PICTURE_METRES) } else { 0.0 };
            let hips = DVec3::new(hips.x - 0.5 * aspect, hips.y, 0.0) * metres;
            body.joints.iter_mut().for_each(|joint| *joint += hips);
        }
        Ok(body)
    }

    /// The body seen in a mirror: left and right swapped.
    pub fn mirrored(&self) -> Self {
        let other = |k: usize| match k {
            0..4 => k,
            4..8 | 12..16 => k + 4,
            _ => k - 4,
        };
        let flip = |p: DVec3| DVec3::new(-p.x, p.y, p.z);
        Self {
            joints: std::array::from_fn(|k| flip(self.joints[other(k)])),
            seen: std::array::from_fn(|k| self.seen[other(k)]),
        }
    }

    /// The body of a frame of a recording.
    ///
    /// # Errors
    /// A layout without depth.
    pub fn from_frame(layout: BodyLayout, frame: &BodyFrame) -> Result<Self, PuppetError> {
        match layout {
            BodyLayout::Kinect20 => Ok(from_kinect(frame)),
            BodyLayout::MediaPipe33 => Ok(from_landmarks(frame)),
            BodyLayout::Coco17 => Err(PuppetError::Flat { layout: "COCO".into() }),
        }
    }

    /// All bodies of a recording with their times in seconds.
    ///
    /// # Errors
    /// As [`BodyPose::from_frame`].
    pub fn from_recording(recording: &BodyRecording) -> Result<Vec<(f64, Self)>, PuppetError> {
        let pose = |frame: &BodyFrame| Ok((frame.time_secs, Self::from_frame(recording.layout, frame)?));
        recording.frames.iter().map(pose).collect()
    }
}

/// The camera's left is the actor's right, and it faces +Z: seen from the actor, x and z change sign.
fn from_kinect(frame: &BodyFrame) -> BodyPose {
    let point = |k: usize| {
        let p = frame.points[k].as_dvec3();
        DVec3::new(-p.x, p.y, -p.z)
    };
    // Zeros mark what was not found: as a position always, as a confidence only of joints that the camera tracks itself.
    let is_there = |k: usize| frame.points[k] != glam::Vec3::ZERO;
    let is_found = |k: usize| is_there(k) && frame.confidence[k] > 0.0;
    let seen = |k: usize| {
        // What it infers of shoulders and hips moves with the trunk.
        if INFERRED.iter().any(|joint| *joint as usize == k) {
            return is_there(k);
        }
        let by = DERIVED.iter().find(|(joint, _)| *joint as usize == k).map(|(_, by)| by);
        is_found(k)
            || by.is_some_and(|by| {
                is_there(k) && by.iter().all(|joint| is_found(*joint as usize) || INFERRED.contains(joint))
            })
    };
    BodyPose { joints: std::array::from_fn(point), seen: std::array::from_fn(seen) }
}

/// Joints whose places are good enough where the camera infers them.
const INFERRED: [BodyJoint; 4] =
    [BodyJoint::ShoulderLeft, BodyJoint::ShoulderRight, BodyJoint::HipLeft, BodyJoint::HipRight];
/// Joints that Kinect derives from others: they have the confidence of those.
const DERIVED: [(BodyJoint, &[BodyJoint]); 5] = [
    (BodyJoint::HipCenter, &[BodyJoint::HipLeft, BodyJoint::HipRight]),
    (BodyJoint::Spine, &[BodyJoint::HipLeft, BodyJoint::HipRight]),
    (BodyJoint::ShoulderCenter, &[BodyJoint::ShoulderLeft, BodyJoint::ShoulderRight]),
    (BodyJoint::FootLeft, &[BodyJoint::AnkleLeft]),
    (BodyJoint::FootRight, &[BodyJoint::AnkleRight]),
];

/// MediaPipe's world landmarks: metres about the hips, y down, z away from the camera.
fn from_landmarks(frame: &BodyFrame) -> BodyPose {
    let point = |k: usize| {
        let p = frame.points[k].as_dvec3();
        DVec3::new(p.x, -p.y, -p.z)
    };
    let (mut joints, mut seen) = ([DVec3::ZERO; N_JOINTS], [false; N_JOINTS]);
    for (k, weights) in LANDMARKS.iter().enumerate() {
        joints[k] = weights.iter().map(|&(landmark, weight)| weight * point(landmark)).sum();
        seen[k] = weights.iter().all(|&(landmark, _)| frame.confidence[landmark] >= MIN_CONFIDENCE);
    }
    BodyPose { joints, seen }
}

/// Which landmarks make a joint, with weights.
const LANDMARKS: [&[(usize, f64)]; N_JOINTS] = [
    &[(23, 0.5), (24, 0.5)],
    &[(23, 0.35), (24, 0.35), (11, 0.15), (12, 0.15)],
    &[(11, 0.5), (12, 0.5)],
    &[(7, 0.5), (8, 0.5)],
    &[(11, 1.0)],
    &[(13, 1.0)],
    &[(15, 1.0)],
    &[(17, 0.5), (19, 0.5)],
    &[(12, 1.0)],
    &[(14, 1.0)],
    &[(16, 1.0)],
    &[(18, 0.5), (20, 0.5)],
    &[(23, 1.0)],
    &[(25, 1.0)],
    &[(27, 1.0)],
    &[(31, 1.0)],
    &[(24, 1.0)],
    &[(26, 1.0)],
    &[(28, 1.0)],
    &[(32, 1.0)],
];
