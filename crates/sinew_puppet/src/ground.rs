//! The character's place while it is puppeteered: travel, heading, and planted feet.
//!
//! # Source
//! Sun (2017), §4.6, extracts the actor's translation and heading, which move the character. Sinew's own, for the
//! contact that §6.2 leaves to future work: the lowest foot of the character is planted as long as it
//! is the lowest; and it leaves the ground when the actor does.

use crate::{Tracked, canonical::TRUNK};
use glam::{DAffine3, DQuat, DVec3};
use sinew_geom::{Pose, Rig, Transform};

/// How the character travels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GroundParams {
    /// Metres of the character per metre of the standard body (1 would be life-size); `None` takes the ratio of
    /// their heights.
    pub scale: Option<f64>,
    /// Whether the character travels (true), or stays where its poses are.
    pub travel: bool,
    /// Whether its feet are planted (true); otherwise it moves as the actor's hips do.
    pub feet: bool,
    /// Whether the source knows how high the actor is (true); landmarks about the hips do not.
    pub jumps: bool,
    /// Height of the actor's ankles when they stand; estimated meanwhile if absent.
    pub floor: Option<f64>,
    /// Whether the character gets as far as the actor (false), rather than as far as its planted feet push it.
    pub carried: bool,
}

impl Default for GroundParams {
    fn default() -> Self {
        Self { scale: None, travel: true, feet: true, jumps: true, floor: None, carried: false }
    }
}

/// Height of the standard body in metres.
pub(crate) const STANDARD_HEIGHT_METRES: f64 = 1.75;
/// Points within this share of the height above the lowest one are feet.
const FOOT_SHARE: f64 = 0.06;
/// A foot must be lower than the planted one by this share of the height to replace it.
const HYSTERESIS_SHARE: f64 = 0.01;
/// Share of the height within which several feet carry a body that does not push itself on.
const SOFT_SHARE: f64 = 0.01;
/// Rise of the actor's feet that counts as a jump, metres: about the accuracy of tracking.
const MIN_JUMP_METRES: f64 = 0.06;
/// Speed at which the estimated floor under the actor may rise, metres per second.
const FLOOR_DRIFT_METRES_PER_SEC: f64 = 0.05;

/// Follows an actor over the ground.
#[derive(Debug, Clone)]
pub struct Footing {
    params: GroundParams,
    feet: Vec<usize>,
    /// Height of the feet's level at rest.
    level: f64,
    height: f64,
    scale: f64,
    start: Option<(DVec3, f64)>,
    floor: f64,
    time: f64,
    /// The planted foot, and where.
    standing: Option<(usize, DVec3)>,
    position: DVec3,
    /// The actor's travel so far.
    moved: DVec3,
}

impl Footing {
    /// A character at rest, by points that move with it, such as its joints. Its feet are the lowest of those that are named,
    /// or of all.
    pub fn new(rest: impl IntoIterator<Item = DVec3>, feet: &[usize], params: GroundParams) -> Self {
        let heights: Vec<f64> = rest.into_iter().map(|point| point.y).collect();
        let can_stand = |point: &usize| feet.is_empty() || feet.contains(point);
        let low = (0..heights.len()).filter(can_stand).map(|k| heights[k]).fold(f64::INFINITY, f64::min);
        let high = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let height = Some(high - low).filter(|h| h.is_finite() && *h > 0.0).unwrap_or(1.0);
        let is_foot = |point: &usize| heights[*point] <= low + FOOT_SHARE * height;
        Self {
            params,
            feet: (0..heights.len()).filter(can_stand).filter(is_foot).collect(),
            level: if low.is_finite() { low } else { 0.0 },
            height,
            scale: params.scale.unwrap_or(height / STANDARD_HEIGHT_METRES),
            start: None,
            floor: f64::INFINITY,
            time: 0.0,
            standing: None,
            position: DVec3::ZERO,
            moved: DVec3::ZERO,
        }
    }

    /// Where the character goes: `world_from_model` while point `k` of it is at `place_of(k)` in the model.
    pub fn step(&mut self, time: f64, tracked: &Tracked, place_of: impl Fn(usize) -> DVec3) -> DAffine3 {
        if !self.params.travel {
            return DAffine3::IDENTITY;
        }
        let place = &tracked.place;
        let unit = if place.trunk > 0.0 { TRUNK / place.trunk } else { 1.0 };
        let (from, heading) = *self.start.get_or_insert((place.position, place.heading));
        let turn = DQuat::from_rotation_y(place.heading - heading);
        let moved = DQuat::from_rotation_y(-heading) * (place.position - from) * unit * self.scale;
        let up = self.rise(time, place.position.y * unit - tracked.pose.depth());
        let feet = self.feet.iter().map(|&j| (j, turn * place_of(j)));
        let lowest = feet.clone().min_by(|a, b| a.1.y.total_cmp(&b.1.y));
        let Some(lowest) = lowest.filter(|_| self.params.feet) else {
            return DAffine3::from_rotation_translation(turn, moved);
        };
        let standing = self.standing.and_then(|(foot, _)| feet.clone().find(|(j, _)| *j == foot));
        let travelled = moved - std::mem::replace(&mut self.moved, moved);
        self.position = match (self.standing, standing) {
            (Some((_, anchor)), Some((_, at))) if up == 0.0 && !self.params.carried => anchor - at,
            // In the air the actor's own travel counts.
            _ => self.position + travelled,
        };
        let is_same = |at: DVec3| at.y <= lowest.1.y + HYSTERESIS_SHARE * self.height;
        // A lower foot is planted where it is now.
        let (foot, at) = standing.filter(|(_, at)| is_same(*at)).unwrap_or(lowest);
        let low = match self.params.carried {
            true => soft_min(feet.map(|(_, at)| at.y), SOFT_SHARE * self.height),
            false => lowest.1.y,
        };
        self.position.y = self.level - low + up * self.scale;
        self.standing = Some((foot, DVec3 { y: 0.0, ..self.position + at }));
        DAffine3::from_rotation_translation(turn, self.position)
    }

    /// How high the actor is above its floor, which is estimated meanwhile.
    fn rise(&mut self, time: f64, lowest: f64) -> f64 {
        let secs = (time - std::mem::replace(&mut self.time, time)).clamp(0.0, 0.1);
        self.floor = (self.floor + FLOOR_DRIFT_METRES_PER_SEC * secs).min(lowest);
        let above = lowest - self.floor - MIN_JUMP_METRES;
        if self.params.jumps && above.is_finite() { above.max(0.0) } else { 0.0 }
    }
}

/// The least, smoothly: within `soft` of each other they count alike.
fn soft_min(values: impl Iterator<Item = f64> + Clone, soft: f64) -> f64 {
    let least = values.clone().fold(f64::INFINITY, f64::min);
    let weigh = |(sum, weights): (f64, f64), x: f64| {
        let weight = ((least - x) / soft).exp();
        (sum + weight * x, weights + weight)
    };
    let (sum, weights) = values.fold((0.0, 0.0), weigh);
    sum / weights
}

/// Move a whole pose: its roots are carried.
pub fn carry(rig: &Rig, pose: &mut Pose, world_from_model: DAffine3) {
    for (joint, local) in rig.joints().iter().zip(&mut pose.locals) {
        if joint.parent.is_none() {
            (*local, _) = Transform::from_affine(world_from_model * local.to_affine());
        }
    }
}
