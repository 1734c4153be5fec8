//! Calibration from one frame of a standing actor: the tilt of the camera and the length of the trunk.

use crate::{
    BodyPose, PuppetError,
    body::{BodyJoint, N_JOINTS},
};
use glam::{DQuat, DVec3};

/// Tilt of the camera and size of the actor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// Brings the actor upright.
    pub upright: DQuat,
    /// Length of the actor's trunk, in metres: steadier than what is seen frame by frame.
    pub trunk: f64,
}

/// Tilt beyond which the pose cannot be a standing one, radians.
const MAX_TILT_RADIANS: f64 = 0.8;

impl Calibration {
    /// From an actor who stands straight.
    ///
    /// # Errors
    /// A body that was not fully tracked, or that does not stand.
    pub fn of_standing(body: &BodyPose) -> Result<Self, PuppetError> {
        if let Some(joint) = body.first_missing() {
            return Err(PuppetError::Calibration { cause: format!("{joint} was not seen") });
        }
        let feet = body.at(BodyJoint::AnkleLeft).midpoint(body.at(BodyJoint::AnkleRight));
        let up = (body.at(BodyJoint::ShoulderCenter) - feet).normalize_or_zero();
        let trunk = body.at(BodyJoint::HipCenter).distance(body.at(BodyJoint::Spine))
            + body.at(BodyJoint::Spine).distance(body.at(BodyJoint::ShoulderCenter));
        if up == DVec3::ZERO || up.angle_between(DVec3::Y) > MAX_TILT_RADIANS || trunk <= 0.0 {
            return Err(PuppetError::Calibration { cause: "the body lies or bends".into() });
        }
        Ok(Self { upright: DQuat::from_rotation_arc(up, DVec3::Y), trunk })
    }

    /// The body as an upright camera would see it.
    pub fn apply(&self, body: &BodyPose) -> BodyPose {
        let joints: [DVec3; N_JOINTS] = body.joints.map(|joint| self.upright * joint);
        BodyPose { joints, seen: body.seen }
    }
}
