//! A gait along its way, frame by frame: the trunk is carried over the feet, as low as they need, and the legs are bent to reach
//! them.

use crate::{
    footfall::{Floor, FootPose, Footfall},
    leg::{FREE_REACH, Leg},
    params::GaitParams,
    walker::Walker,
    way::{Way, lift},
};
use glam::{DAffine3, DQuat, DVec2, DVec3};
use sinew_geom::Pose;

/// Deepest that the hips come down so that long steps are within reach, in heights of the hips.
const MAX_DROP: f64 = 0.09;
/// How often strides are shortened by 8 % at most.
const MAX_SHORTENINGS: usize = 8;

/// Take shorter and quicker steps as long as the hips would have to come down too far for the feet to stay.
pub(crate) fn shorten_strides(walker: &mut Walker, params: &GaitParams) {
    const SAMPLES: usize = 24;
    let drop = |walker: &Walker, speed: f64| {
        let way = Way::Steady { speed };
        let params = GaitParams { fps: SAMPLES as f64 / walker.period, ..params.clone() };
        Plan::new(walker, &way, &|_| 0.0, SAMPLES, &params).drops.iter().copied().fold(0.0, f64::max)
    };
    // What it comes down by to stand at all is no fault of its steps.
    let most = drop(walker, 1e-6 * walker.speed) + MAX_DROP * walker.hip_height;
    for _ in 0..MAX_SHORTENINGS {
        if drop(walker, walker.speed) <= most {
            return;
        }
        walker.period *= 0.92;
    }
}

/// A gait along its way.
pub(crate) struct Plan<'a> {
    walker: &'a Walker<'a>,
    fall: Footfall<'a>,
    fps: f64,
    in_place: bool,
    /// How far the hips come down in each frame.
    pub drops: Vec<f64>,
}

impl<'a> Plan<'a> {
    pub fn new(
        walker: &'a Walker<'a>,
        way: &'a Way,
        floor: &'a Floor<'a>,
        frames: usize,
        params: &GaitParams,
    ) -> Self {
        let fall = walker.footfall(way, floor);
        let mut plan =
            Self { walker, fall, fps: params.fps, in_place: params.in_place, drops: vec![0.0; frames + 1] };
        let needed: Vec<f64> = (0..=frames).map(|k| plan.needed_drop(k)).collect();
        let window = (0.12 * walker.period * params.fps).ceil() as usize;
        let is_loop = matches!(way, Way::Steady { .. });
        plan.drops = if walker.is_stiff() { needed } else { envelope(&needed, window, is_loop) };
        plan
    }

    fn time(&self, frame: usize) -> f64 {
        frame as f64 / self.fps
    }

    /// The motion of the body as a whole, and turns of joints against it.
    fn body(&self, frame: usize) -> (DAffine3, Vec<(usize, DQuat)>) {
        let walker = self.walker;
        let time = self.time(frame);
        let (along, share) = self.fall.way.progress(time);
        let (place, heading) = self.fall.way.at(along);
        let (aside, turns) = walker.trunk.turns(walker.gait, &walker.legs, &self.fall, time, share);
        let lead = &walker.legs[0];
        let since = time / self.fall.period - lead.phase - 0.5 * self.fall.duty;
        let bob =
            share * walker.gait.bob(since) * walker.gait.bob_height(walker.legs.len()) * walker.hip_height;
        let (level, pitch) = self.under(along);
        let up = level + bob - self.drops[frame];
        let turn = heading * DQuat::from_rotation_x(-pitch);
        let shift = lift(place, up) + heading * DVec3::X * aside;
        // Slopes tip the body about its hips.
        let middle = DVec3::Y * walker.hip_height;
        (DAffine3::from_rotation_translation(turn, shift + middle - turn * middle), turns)
    }

    /// Height of the ground under the body, and its slope for bodies along the ground; both evened out over their length.
    fn under(&self, along: f64) -> (f64, f64) {
        let walker = self.walker;
        let ends = walker.legs.iter().map(|leg| leg.points[0].z);
        let (back, front) = ends.fold((0.0f64, 0.0f64), |(b, f), z| (b.min(z), f.max(z)));
        let height = |at: f64| (self.fall.floor)(self.fall.way.at(at).0);
        let window = 0.35 * self.fall.stride;
        let smooth = |at: f64| (-4..=4).map(|k| height(at + window * f64::from(k) / 4.0)).sum::<f64>() / 9.0;
        let long = front - back;
        if long < 0.3 * walker.hip_height {
            return (smooth(along), 0.0);
        }
        let (low, high) = (smooth(along + back), smooth(along + front));
        (0.5 * (low + high), (high - low).atan2(long))
    }

    /// How far the hips must come down for all feet that stand to be within reach.
    fn needed_drop(&self, frame: usize) -> f64 {
        let (moved, _) = self.moved(frame, false);
        let mut drop = if self.walker.is_stiff() { f64::NEG_INFINITY } else { 0.0 };
        for (k, leg) in self.walker.legs.iter().enumerate() {
            let foot = self.fall.foot(leg, self.time(frame));
            if !foot.is_planted {
                continue;
            }
            if leg.is_stiff() {
                let carried =
                    self.walker.base.hangs_on[leg.chain[0]].map_or(DAffine3::IDENTITY, |on| moved[on]);
                let joints = self.joints(leg, &foot, &carried, foot.moved.transform_point3(leg.tip));
                drop = drop.max(-self.depth(k, &foot, &joints));
                continue;
            }
            let carried = self.walker.base.hangs_on[leg.chain[0]].map_or(DAffine3::IDENTITY, |on| moved[on]);
            let away = carried.transform_point3(leg.points[0]) - foot.moved.transform_point3(leg.tip);
            let reach = FREE_REACH * leg.length();
            let side = (DVec3 { y: 0.0, ..away }).length().min(reach);
            drop = drop.max(away.y - (reach * reach - side * side).sqrt());
        }
        if drop.is_finite() { drop } else { 0.0 }
    }

    /// How far the lowest point of a leg is below where it may be.
    fn depth(&self, leg: usize, foot: &FootPose, joints: &[(usize, DAffine3)]) -> f64 {
        let below = |(point, joint): &(DVec3, usize)| {
            let moved = joints.iter().find(|(k, _)| k == joint);
            let at = moved.map_or(*point, |(_, moved)| moved.transform_point3(*point));
            (self.fall.floor)(DVec2::new(at.x, at.z)) + foot.clear - at.y
        };
        self.walker.legs[leg].surface.iter().map(below).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The motion of every joint from the base pose, and the feet.
    fn moved(&self, frame: usize, with_legs: bool) -> (Vec<DAffine3>, Vec<FootPose>) {
        let base = &self.walker.base;
        let (body, turns) = self.body(frame);
        let (_, body_turn, _) = body.to_scale_rotation_translation();
        let mut turn_of: Vec<Option<DQuat>> = vec![None; base.places.len()];
        turns.iter().for_each(|&(joint, turn)| turn_of[joint] = Some(body_turn * turn));
        let is_above = |joint: usize| {
            self.walker.carrier.is_some_and(|carrier| joint != carrier && base.below(joint)[carrier])
        };
        let feet: Vec<FootPose> =
            self.walker.legs.iter().map(|leg| self.fall.foot(leg, self.time(frame))).collect();
        let mut moved = vec![DAffine3::IDENTITY; base.places.len()];
        let mut is_set = vec![false; base.places.len()];
        for &k in &base.order {
            if is_set[k] {
                continue;
            }
            let carried = match base.hangs_on[k] {
                _ if self.walker.carrier == Some(k) => body,
                Some(on) => moved[on],
                None if is_above(k) => DAffine3::IDENTITY,
                None => body,
            };
            let leg = self.walker.legs.iter().position(|leg| with_legs && leg.chain[0] == k);
            moved[k] = match turn_of[k] {
                Some(turn) => {
                    let at = base.places[k];
                    DAffine3::from_rotation_translation(turn, carried.transform_point3(at) - turn * at)
                }
                None => carried,
            };
            if let Some(leg) = leg {
                for (joint, motion) in self.bend(leg, &feet[leg], &carried) {
                    moved[joint] = motion;
                    is_set[joint] = true;
                }
            }
        }
        (moved, feet)
    }

    /// Joints of a leg that reaches its foot, with nothing below the ground.
    fn bend(&self, index: usize, foot: &FootPose, carried: &DAffine3) -> Vec<(usize, DAffine3)> {
        let leg = &self.walker.legs[index];
        let target = foot.moved.transform_point3(leg.tip);
        if leg.is_stiff() {
            // It cannot fold, so the whole of it is lifted.
            let raised = DAffine3::from_translation(foot.clear * DVec3::Y);
            let joints = self.joints(leg, foot, carried, target - foot.clear * DVec3::Y);
            return joints.into_iter().map(|(k, moved)| (k, raised * moved)).collect();
        }
        let mut up = 0.0;
        let mut found = Vec::new();
        for _ in 0..3 {
            found = self.joints(leg, foot, carried, target + up * DVec3::Y);
            let depth = self.depth(index, foot, &found);
            // What ends in a point stands on whatever is lowest; a foot only must not sink.
            let is_point = leg.foot.is_none() && foot.is_planted;
            if !depth.is_finite() || (depth <= 0.0 && !is_point) {
                break;
            }
            up += depth;
        }
        found
    }

    fn joints(
        &self,
        leg: &Leg,
        foot: &FootPose,
        carried: &DAffine3,
        target: DVec3,
    ) -> Vec<(usize, DAffine3)> {
        let chain = leg.reach(carried, target);
        let tip = chain.last().map_or(target, |last| last.transform_point3(leg.tip));
        let mut joints: Vec<(usize, DAffine3)> = leg.chain.iter().copied().zip(chain).collect();
        if let Some(ankle) = leg.foot {
            let turn = foot.moved.to_scale_rotation_translation().1;
            let moved = DAffine3::from_rotation_translation(turn, tip - turn * leg.tip);
            joints.push((ankle, moved));
            for &toe in &leg.toes {
                let at = self.walker.base.places[toe];
                let moved = DAffine3::from_rotation_translation(
                    foot.toes,
                    moved.transform_point3(at) - foot.toes * at,
                );
                joints.push((toe, moved));
            }
        }
        joints
    }

    /// The pose of a frame.
    pub fn pose(&self, frame: usize) -> Pose {
        let (mut moved, _) = self.moved(frame, true);
        if self.in_place {
            let (place, heading) = self.fall.way.at(self.fall.way.progress(self.time(frame)).0);
            let back = DAffine3::from_rotation_translation(heading, lift(place, 0.0)).inverse();
            moved.iter_mut().for_each(|joint| *joint = back * *joint);
        }
        let base = &self.walker.base;
        base.pose(&base.world(&moved))
    }
}

/// The smallest smooth curve above values: nothing changes faster than over a window.
fn envelope(values: &[f64], window: usize, is_loop: bool) -> Vec<f64> {
    let n = values.len();
    // The last frame of a loop is the first.
    let wrap = |k: isize| match is_loop && n > 1 {
        true => k.rem_euclid(n as isize - 1) as usize,
        false => k.clamp(0, n as isize - 1) as usize,
    };
    let around = |k: usize, w: usize| (-(w as isize)..=w as isize).map(move |d| wrap(k as isize + d));
    let most: Vec<f64> =
        (0..n).map(|k| around(k, window).map(|k| values[k]).fold(f64::NEG_INFINITY, f64::max)).collect();
    // Two means of half the window keep above what the largest reached.
    let half = window / 2;
    let mean = |from: &[f64]| -> Vec<f64> {
        (0..n).map(|k| around(k, half).map(|k| from[k]).sum::<f64>() / (2 * half + 1) as f64).collect()
    };
    mean(&mean(&most))
}
