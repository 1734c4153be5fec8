//! What one look at a standing actor tells of camera and actor: which way is up, and how long the trunk is.

use crate::{
    BodyPose, PuppetError,
    body::{BodyJoint, N_JOINTS},
};
use glam::{DQuat, DVec3};

/// A camera that was tilted, and an actor of a certain size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// Brings the actor upright.
    pub upright: DQuat,
    /// Length of the actor's trunk, in metres: steadier than what is seen frame by frame.
    pub trunk: f64,
}

/// Radians beyond which nobody stands: then the pose was a wrong one.
const MOST_TILT: f64 = 0.8;

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
        if up == DVec3::ZERO || up.angle_between(DVec3::Y) > MOST_TILT || trunk <= 0.0 {
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
