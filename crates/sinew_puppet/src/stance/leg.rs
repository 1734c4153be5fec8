//! A leg of the character: where its foot stands, and how it is bent to stay there.

use super::SOFT;
use crate::{body::BodyJoint as B, figure::smooth};
use glam::{DAffine3, DQuat, DVec3};
use sinew_geom::{
    body_map::{BodyClass, BodyMap, Part},
    rig::Side,
};

/// Seconds within which a foot that is put down stops, and comes to the ground.
const STOP_SECS: f64 = 0.03;
const SETTLE_SECS: f64 = 0.06;
/// How fast a lifted foot comes to where it would be: a critically damped spring, per second.
const SPRING: f64 = 14.0;
/// A foot that stands further from its pose than this share of the leg is dragged along.
const MAX_PULL: f64 = 0.3;
/// Furthest that the hips come down for a leg, as a share of its length.
const MAX_DROP: f64 = 0.15;
/// Sine of the angle of a knee from which on it is bent.
const CLEARLY_BENT: f64 = 0.1;
/// Shares of its length up to which a leg is stretched exactly, and which it never exceeds: of people, and of animals, whose legs
/// are bent when they stand.
const PERSON_REACHES: [f64; 2] = [0.992, 0.998];
const ANIMAL_REACHES: [f64; 2] = [0.94, 0.99];

/// A leg of the character.
#[derive(Debug, Clone)]
pub(super) struct Leg {
    pub hip: usize,
    pub knee: usize,
    pub ankle: usize,
    /// Joints that move with the ankle, itself among them.
    pub foot: Vec<usize>,
    /// Joints that move with the knee but not with the ankle.
    pub shin: Vec<usize>,
    /// Joints that move with the hip but not with the knee.
    pub thigh: Vec<usize>,
    /// From the ankle to the toe, in the space of the ankle.
    pub toe: DVec3,
    /// Height of ankle and toe above the ground at rest.
    pub clearance: [f64; 2],
    /// Axis of the knee at rest, in the space of the hip.
    pub axis: DVec3,
    pub length: f64,
    /// Where the ankle is at rest, and how far the toe is from it along the ground.
    pub rest: DVec3,
    pub flat: f64,
    pub has_toe: bool,
    reaches: [f64; 2],
    /// Height of the lowest joint of the foot at rest.
    pub lowest: f64,
    /// The foot of the actor that carries it, and the arm that must hang for it.
    pub actor_foot: usize,
    pub actor_arm: Option<usize>,
    /// Which point stands (0 ankle, 1 toe), and where.
    pub planted: Option<(usize, DVec3)>,
    /// From where the pose has the foot to where it is shown, and how that changes per second.
    pub offset: DVec3,
    pub speed: DVec3,
    /// Where the foot was shown last: the point that stands, or the ankle.
    pub shown: Option<[DVec3; 2]>,
    /// How the point that stands still moves on.
    pub rolling: DVec3,
}

impl Leg {
    /// Ankle and toe.
    pub fn points(&self, world: &[DAffine3]) -> [DVec3; 2] {
        [world[self.ankle].translation, world[self.ankle].transform_point3(self.toe)]
    }

    /// Where the foot is shown: at its anchor if a point of it is down, else back to its pose; never below the ground.
    pub fn follow(&mut self, down: Option<usize>, points: &[DVec3; 2], secs: f64, up: DVec3, level: f64) {
        let flat = |v: DVec3| v - v.dot(up) * up;
        let anchor = down.map(|k| match self.planted {
            Some((same, anchor)) if same == k => (k, anchor),
            // It stops from the speed it has, not at once.
            _ => {
                let before = self.shown.filter(|_| secs > 0.0);
                let speed = before.map_or(DVec3::ZERO, |shown| (points[k] + self.offset - shown[k]) / secs);
                self.rolling = flat(speed);
                (k, points[k] + self.offset)
            }
        });
        self.planted = anchor.map(|(k, at)| {
            let away = flat(at - points[k]);
            (k, points[k] + away.clamp_length_max(MAX_PULL * self.length) + (at - points[k] - away))
        });
        let before = self.offset;
        match &mut self.planted {
            Some((k, at)) => {
                *at += self.rolling * secs;
                self.rolling *= (-secs / STOP_SECS).exp();
                let wanted = level + self.clearance[*k] - points[*k].dot(up);
                let height = self.offset.dot(up);
                // What begins on the ground is there at once.
                let share = if self.shown.is_some() { 1.0 - (-secs / SETTLE_SECS).exp() } else { 1.0 };
                self.offset = flat(*at - points[*k]) + (height + share * (wanted - height)) * up;
                self.speed = if secs > 0.0 { (self.offset - before) / secs } else { DVec3::ZERO };
            }
            None => {
                // Exact over any time: (o + (v + ω o) t) exp(−ω t).
                let drift = self.speed + SPRING * self.offset;
                let decay = (-SPRING * secs).exp();
                self.offset = (self.offset + drift * secs) * decay;
                self.speed = drift * decay - SPRING * self.offset;
            }
        }
        let below = |k: usize| level + self.clearance[k] - (points[k] + self.offset).dot(up);
        self.offset += below(0).max(below(1)).max(0.0) * up;
        self.shown = Some(points.map(|p| p + self.offset));
    }

    /// Fold the leg as at rest, at its hip, with the foot turned from rest.
    pub fn unfold(&self, rest: &[DAffine3], carrier: Option<usize>, foot: DQuat, world: &mut [DAffine3]) {
        let Some(carrier) = carrier else { return };
        let moved = world[carrier] * rest[carrier].inverse();
        self.thigh.iter().chain(&self.shin).for_each(|&k| world[k] = moved * rest[k]);
        let ankle = moved.transform_point3(self.rest);
        let turned = DAffine3::from_rotation_translation(foot, ankle - foot * self.rest);
        self.foot.iter().for_each(|&k| world[k] = turned * rest[k]);
    }

    /// A distance from the hip that the leg can bridge: animals do not stretch their legs, or the knee would snap.
    fn within_reach(&self, distance: f64) -> f64 {
        let [free, most] = self.reaches.map(|share| share * self.length);
        if distance <= free {
            distance
        } else {
            free + (most - free) * ((distance - free) / (most - free)).tanh()
        }
    }

    /// How far the hip must come down for the leg to reach the ankle.
    pub fn missing_reach(&self, ankle: DVec3, hip: DVec3, up: DVec3) -> f64 {
        let away = hip - ankle;
        let height = away.dot(up);
        let side = (away - height * up).length_squared();
        let reach = self.reaches[0] * self.length;
        let least = 0.3 * reach;
        let (missing, soft) = (height - (reach * reach - side).max(least * least).sqrt(), SOFT * self.length);
        // Zero well within reach, what is missing well beyond it, smooth between.
        let ease = (missing + (missing * missing + soft * soft).sqrt()) / 2.0;
        let ease =
            if missing < -3.0 * soft { 0.0 } else { ease * smooth((missing + 3.0 * soft) / (3.0 * soft)) };
        let most = MAX_DROP * self.length;
        most * (ease / most).tanh()
    }

    /// The axis about which the knee bends: that of its joint while the leg is nearly straight, else across its plane.
    fn knee_axis(&self, upper: DVec3, lower: DVec3, hip: &DAffine3) -> DVec3 {
        let bend = upper.cross(lower);
        let joint = hip.transform_vector3(self.axis).normalize_or_zero();
        let straight = (joint - joint.dot(upper) * upper).normalize_or_zero();
        let plane = if bend.dot(straight) > 0.0 { bend.normalize_or_zero() } else { DVec3::ZERO };
        let share = smooth((bend.length() - 0.25) / 0.35);
        (share * plane + (1.0 - share) * straight)
            .try_normalize()
            .or_else(|| bend.try_normalize())
            .unwrap_or_else(|| upper.any_orthonormal_vector())
    }

    /// Bend the knee and turn the leg so that the ankle comes to a place, as near as the leg is long; the foot keeps its
    /// direction.
    pub fn reach(&self, target: DVec3, world: &mut [DAffine3]) {
        let [hip, knee, ankle] = [self.hip, self.knee, self.ankle].map(|k| world[k].translation);
        if target.distance(ankle) < 1e-9 * self.length {
            return;
        }
        let (upper, lower) = (knee - hip, ankle - knee);
        let (a, b) = (upper.length(), lower.length());
        if a <= 1e-9 * self.length || b <= 1e-9 * self.length {
            return;
        }
        let far = self.within_reach(target.distance(hip)).max(1.02 * (a - b).abs().max(0.05 * (a + b)));
        let axis = self.knee_axis(upper / a, lower / b, &world[self.hip]);
        // What of the shin lies along the axis stays there.
        let across = lower.reject_from(axis).length().max(1e-9 * self.length);
        let after = ((far * far - a * a - b * b) / (2.0 * a * across)).clamp(-1.0, 1.0).acos();
        // A leg that is bent the wrong way, as tracked ones sometimes are, counts as less than straight.
        let before = upper.cross(lower).dot(axis).atan2(upper.dot(lower));
        let bending = DQuat::from_axis_angle(axis, after - before);
        let (from, to) = (knee + bending * lower - hip, target - hip);
        let (Some(from), Some(to)) = (from.try_normalize(), to.try_normalize()) else { return };
        let swing = DQuat::from_rotation_arc(from, to);
        let about = |at: DVec3, turn: DQuat| DAffine3::from_rotation_translation(turn, at - turn * at);
        let thigh = about(hip, swing);
        let shin = thigh * about(knee, bending);
        let foot = DAffine3::from_translation(shin.transform_point3(ankle) - ankle);
        for (joints, moved) in [(&self.thigh, thigh), (&self.shin, shin), (&self.foot, foot)] {
            joints.iter().for_each(|&k| world[k] = moved * world[k]);
        }
    }
}

/// Legs of a body: those that the actor's legs move and, of four, those that its arms do. An arm swings with the other leg.
pub(super) fn legs(map: &BodyMap, rest: &[DAffine3], hangs_on: &[Option<usize>]) -> Vec<Leg> {
    let mut legs = Vec::new();
    for (side, k) in [(Side::Left, 0), (Side::Right, 1)] {
        legs.extend(leg(map, rest, hangs_on, [Part::Thigh, Part::Shin, Part::Foot], side, k, None));
        if map.class == BodyClass::Quadruped {
            let arm = B::ShoulderLeft as usize + 4 * k;
            legs.extend(leg(
                map,
                rest,
                hangs_on,
                [Part::UpperArm, Part::Forearm, Part::Hand],
                side,
                1 - k,
                Some(arm),
            ));
        }
    }
    legs
}

fn leg(
    map: &BodyMap,
    rest: &[DAffine3],
    hangs_on: &[Option<usize>],
    parts: [Part; 3],
    side: Side,
    actor_foot: usize,
    actor_arm: Option<usize>,
) -> Option<Leg> {
    let [hip, knee] = [parts[0], parts[1]].map(|part| map.find(part, side));
    let (hip, knee) = (hip?, knee?);
    let on = |joint: usize| {
        let mut found = vec![false; hangs_on.len()];
        found[joint] = true;
        // What hangs on a joint may come before it in the list.
        for _ in 0..hangs_on.len().min(64) {
            let more: Vec<usize> =
                (0..found.len()).filter(|&k| !found[k] && hangs_on[k].is_some_and(|on| found[on])).collect();
            if more.is_empty() {
                break;
            }
            more.into_iter().for_each(|k| found[k] = true);
        }
        found
    };
    let (on_hip, on_knee) = (on(hip), on(knee));
    let at = |k: usize| rest[k].translation;
    let height = |k: &usize| at(*k).dot(map.up);
    let below = |a: &usize, b: &usize| height(a).total_cmp(&height(b));
    let is_part = |k: &usize| map.joints[*k].part == parts[2] && map.joints[*k].side == side && on_knee[*k];
    let is_next = |k: &usize| hangs_on[*k] == Some(knee) && at(*k).distance(at(knee)) > 1e-9;
    let ankle = (0..rest.len()).find(is_part).or_else(|| (0..rest.len()).filter(is_next).min_by(below))?;
    let on_ankle = on(ankle);
    let length = at(hip).distance(at(knee)) + at(knee).distance(at(ankle));
    // The ball of the foot, over which it rolls, as the actor's toe joint is.
    let is_toe = |k: &usize| on_ankle[*k] && *k != ankle && at(*k).distance(at(ankle)) > 1e-9;
    let ball = (0..rest.len()).filter(is_toe).find(|&k| map.joints[k].part == Part::Toe);
    let toe =
        ball.or_else(|| (0..rest.len()).filter(is_toe).min_by(below)).filter(|k| height(k) < height(&ankle));
    let has_toe = toe.is_some();
    let toe = toe.map_or(at(ankle) + 0.12 * length * map.forward, at);
    let lowest = (0..rest.len()).filter(|&k| on_ankle[k]).map(|k| height(&k)).fold(height(&ankle), f64::min);
    let bend = (at(knee) - at(hip)).cross(at(ankle) - at(knee)).normalize_or_zero();
    // A knee that is bent at rest shows how; of a straight one the map knows.
    let sine = (at(knee) - at(hip)).normalize_or_zero().cross((at(ankle) - at(knee)).normalize_or_zero());
    let is_bent = sine.length() > CLEARLY_BENT && map.class != BodyClass::Biped;
    let axis = map.joints[knee].hinge.filter(|_| !is_bent).map_or(bend, |hinge| hinge.axis);
    let which = |a: &[bool], b: &[bool]| (0..rest.len()).filter(|&k| a[k] && !b[k]).collect::<Vec<usize>>();
    Some(Leg {
        thigh: which(&on_hip, &on_knee),
        shin: which(&on_knee, &on_ankle),
        foot: which(&on_ankle, &vec![false; rest.len()]),
        toe: rest[ankle].inverse().transform_point3(toe),
        axis: rest[hip].inverse().transform_vector3(axis),
        clearance: [0.0; 2],
        rest: at(ankle),
        has_toe,
        reaches: if map.class == BodyClass::Biped { PERSON_REACHES } else { ANIMAL_REACHES },
        lowest,
        flat: (toe - at(ankle)).reject_from(map.up).length(),
        hip,
        knee,
        ankle,
        length,
        actor_foot,
        actor_arm,
        planted: None,
        offset: DVec3::ZERO,
        speed: DVec3::ZERO,
        shown: None,
        rolling: DVec3::ZERO,
    })
}
