//! Where the actor's feet put those of the character, without pairs.
//!
//! # Source
//! Sinew's own. Ankles and toes are carried from the ground of the actor to that of the character by one similarity, whose scale is
//! that of the legs, as the hips are. So what stands in the source stands, without any decision on when a foot is down, and
//! nothing accelerates more than in the source. Feet of other lengths roll over their own toes. Front legs follow the foot
//! across, which together is a trot, as long as the arm hangs; an arm that is raised lifts its leg.
//! # Symbols
//! Places of the actor are given from below the middle of its hips, x to its left, y up from its floor, z ahead, at the size of the
//! character.

use super::{LEG_METRES, Last, leg::Leg};
use crate::{
    BodyPlacement, BodyPose, CanonicalPose,
    figure::{foot_pitch, smooth},
};
use glam::{DQuat, DVec3};

/// Downward pitch of a foot beyond standing, in radians, from which on it rolls over its toes.
const ROLLS: f64 = 0.3;
/// Height of the hips above the ankles when an actor stands, in lengths of its legs.
const STANDING: f64 = 0.985;

/// The lower body of the actor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Guide {
    /// Height of the middle of its hips above the ankles of somebody who stands.
    pub hips: f64,
    /// Ankle and toe of each foot; heights are above where they are when the foot stands flat.
    feet: [[DVec3; 2]; 2],
    /// Half the distance of its hips.
    half_width: f64,
    /// Length of its foot along the ground.
    foot: f64,
    /// How steeply each foot goes down, beyond one that stands.
    pitch: [f64; 2],
}

impl Guide {
    /// Of an actor whose every joint is measured.
    pub fn exact(body: &BodyPose, place: &BodyPlacement, last: &Last, scale: f64, slope: f64) -> Self {
        let hips = body.joints[12].midpoint(body.joints[16]);
        let origin = DVec3 { y: last.floor, ..hips };
        let turn = DQuat::from_rotation_y(-place.heading);
        let at = |k: usize| turn * (body.joints[k] - origin) * scale;
        Self::new(hips.y - last.floor, scale, slope, &at)
    }

    /// Of an actor who is seen by a camera, by its smoothed pose; `hips` is how high they are in the world.
    pub fn seen(pose: &CanonicalPose, hips: f64, last: &Last, (scale, unit): (f64, f64), slope: f64) -> Self {
        let middle = pose.joint(12).midpoint(pose.joint(16));
        let height = (hips - last.floor) * scale;
        let at = |k: usize| (pose.joint(k) - middle) * unit + DVec3::Y * height;
        Self::new(hips - last.floor, scale, slope, &at)
    }

    fn new(hips: f64, scale: f64, slope: f64, at: &dyn Fn(usize) -> DVec3) -> Self {
        let feet = [14, 18].map(|ankle| [at(ankle), at(ankle + 1)]);
        let length = feet.iter().map(|[ankle, toe]| ankle.distance(*toe)).sum::<f64>() / 2.0;
        let level = |[ankle, toe]: [DVec3; 2]| [ankle, toe + length * slope.sin() * DVec3::Y];
        Self {
            hips: hips * scale,
            feet: feet.map(level),
            half_width: 0.5 * at(12).distance(at(16)),
            foot: length * slope.cos(),
            pitch: feet.map(|[ankle, toe]| foot_pitch(toe - ankle, slope)),
        }
    }

    /// How much higher the hips are than those of an actor who stands.
    pub fn rise(&self, leg_length: f64) -> f64 {
        self.hips - STANDING * leg_length
    }

    /// How much steeper a foot goes down than one that stands, in radians.
    pub fn pitch(&self, foot: usize) -> f64 {
        self.pitch[foot]
    }

    /// From where a leg of the character stands at rest to where its ankle belongs, in the axes of the standard body; without the
    /// place at rest, from below its hips. `toe` leads from its ankle to its toe, and is level for `flat` when it stands.
    pub fn ankle(&self, leg: &Leg, from_rest: bool, toe: DVec3, flat: f64) -> DVec3 {
        let k = leg.actor_foot;
        let side = if from_rest { [self.half_width, -self.half_width][k] } else { 0.0 };
        let [ankle, tip] = self.feet[k].map(|place| place - side * DVec3::X);
        if !leg.has_toe {
            return ankle;
        }
        // Feet that point down, as hooves do, say nothing of the way ahead.
        let level = DVec3 { y: 0.0, ..toe };
        let share = smooth((level.length() / toe.length().max(1e-12) - 0.3) / 0.4);
        let share = if level.z > 0.0 { share } else { 0.0 };
        let ahead = DVec3::Z.lerp(level.normalize_or(DVec3::Z), share).normalize_or(DVec3::Z);
        // The toe of the flat foot lies `clearance` lower than the ankle.
        let drop = (leg.clearance[0] - leg.clearance[1]) * DVec3::Y;
        let over_toe = tip + (flat - self.foot) * ahead - drop - toe;
        ankle.lerp(over_toe, smooth(self.pitch[k] / ROLLS))
    }
}

/// Metres of the character for one of the standard body, by their legs.
pub(super) fn unit(leg_length: f64) -> f64 {
    leg_length / LEG_METRES
}
