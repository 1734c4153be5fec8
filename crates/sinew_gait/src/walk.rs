//! A gait from beginning to end: how fast and how long, where the trunk is carried, and how the legs are bent to their feet.

use crate::{
    FootReport, Gait, GaitError, GaitReport,
    base::Base,
    find_legs::find_legs,
    footfall::{Floor, FootPose, Footfall},
    leg::{FREE_REACH, Leg},
    measure::measure,
    trunk::Trunk,
    way::{Way, lift},
};
use glam::{DAffine3, DQuat, DVec2, DVec3};
use sinew_geom::{Character, Clip, Pose, Rig, path::Ground};

/// What is asked for. All lengths are metres.
#[derive(Debug, Clone, PartialEq)]
pub struct GaitParams {
    /// Name of the clip.
    pub name: String,
    /// The gait; by the speed if absent.
    pub gait: Option<Gait>,
    /// Metres per second; what suits the body and its gait if absent.
    pub speed: Option<f64>,
    /// Points to go along, from where it stands: to its left, and ahead. A steady gait that can be repeated if empty.
    pub line: Vec<[f64; 2]>,
    /// What it goes over.
    pub ground: Ground,
    /// Stay on the spot, as on a treadmill: for engines that move the body themselves.
    pub in_place: bool,
    /// Frames per second.
    pub fps: f64,
    /// Metres per unit of the character; guessed by its size if absent.
    pub unit: Option<f64>,
}

impl Default for GaitParams {
    fn default() -> Self {
        Self {
            name: "walk".into(),
            gait: None,
            speed: None,
            line: Vec::new(),
            ground: Ground::default(),
            in_place: false,
            fps: 30.0,
            unit: None,
        }
    }
}

/// A gait.
#[derive(Debug, Clone)]
pub struct Gaited {
    /// The clip.
    pub clip: Clip,
    /// What it does, measured on the character that plays it.
    pub report: GaitReport,
}

const GRAVITY: f64 = 9.81;
/// Deepest that the hips come down so that long steps are within reach, in heights of the hips.
const MAX_DROP: f64 = 0.09;
/// Least travel of a steady gait in heights of the body, and least number of strides.
const LEAST_TRAVEL: f64 = 1.5;
const LEAST_STRIDES: f64 = 2.0;
/// How often strides are shortened by 8 % at most.
const MAX_SHORTENINGS: usize = 8;
/// Longest clip, in frames.
const MAX_FRAMES: f64 = 200_000.0;

/// Make a character with a skeleton walk.
///
/// # Errors
/// A body without 2 to 8 legs, or numbers outside their range.
pub fn make_gait(character: &Character, rig: &Rig, params: &GaitParams) -> Result<Gaited, GaitError> {
    check(params)?;
    let mut base = Base::new(character, rig)?;
    let unit = params.unit.unwrap_or_else(|| guess_unit(&base));
    let legs = find_legs(&mut base);
    let mut walker = Walker::new(base, legs, unit, params)?;
    walker.shorten_strides(params);
    let floor = |place: DVec2| params.ground.height(place.x * unit, place.y * unit) / unit;
    let (way, seconds) = walker.way(params)?;
    if seconds * params.fps > MAX_FRAMES {
        return Err(refuse("line", format!("of {seconds:.0} s"), "a clip may have 200000 frames at most"));
    }
    let frames = (seconds * params.fps).round().max(1.0) as usize;
    let plan = Plan::new(&walker, &way, &floor, frames, params);
    let poses: Vec<Pose> = (0..=frames).map(|k| plan.pose(k)).collect();
    let clip = Clip::from_poses(&params.name, rig, &poses, params.fps)?;
    let feet = (0..walker.legs.len()).map(|leg| plan.planted(leg)).collect::<Vec<_>>();
    let report = measure(character, &walker, &clip, &feet, &floor, params)?;
    Ok(Gaited { clip, report })
}

/// Metres per unit: one, unless that makes it larger than any animal or smaller than a cat; then the power of ten that makes it
/// about as tall as people are.
fn guess_unit(base: &Base) -> f64 {
    let height = base.height();
    if (0.2..=20.0).contains(&height) || height <= 0.0 {
        return 1.0;
    }
    let known = base.map.metres_per_unit.filter(|unit| (0.2..=20.0).contains(&(height * unit)));
    known.unwrap_or_else(|| 10f64.powf((0.5 - height.log10()).floor()))
}

fn refuse(name: &'static str, value: String, expected: &'static str) -> GaitError {
    GaitError::Value { name, value, expected }
}

fn check(params: &GaitParams) -> Result<(), GaitError> {
    let is_positive = |x: f64| x.is_finite() && x > 0.0;
    if let Some(speed) = params.speed.filter(|&speed| !is_positive(speed)) {
        return Err(refuse("speed", speed.to_string(), "it must be above 0"));
    }
    if !(1.0..=1000.0).contains(&params.fps) {
        return Err(refuse("frames per second", params.fps.to_string(), "give 1 to 1000"));
    }
    if let Some(unit) = params.unit.filter(|&unit| !is_positive(unit)) {
        return Err(refuse("unit", unit.to_string(), "it must be above 0"));
    }
    Ok(params.ground.check()?)
}

/// A body that knows how it walks.
pub(crate) struct Walker<'a> {
    pub base: Base<'a>,
    pub legs: Vec<Leg>,
    trunk: Trunk,
    /// The joint that carries everything; without one, all roots do.
    carrier: Option<usize>,
    pub gait: Gait,
    /// Mean height of the hips, speed, seconds of a cycle, share on the ground; in units of the body.
    pub hip_height: f64,
    pub speed: f64,
    pub period: f64,
    duty: f64,
    /// Metres per unit.
    pub unit: f64,
}

impl<'a> Walker<'a> {
    fn new(base: Base<'a>, mut legs: Vec<Leg>, unit: f64, params: &GaitParams) -> Result<Self, GaitError> {
        let n = legs.len();
        if !(2..=8).contains(&n) {
            let found = match n {
                0 => "no leg was".to_owned(),
                1 => "one leg was".to_owned(),
                n => format!("{n} legs were"),
            };
            return Err(GaitError::NoLegs { found });
        }
        let hip_height = legs.iter().map(|leg| leg.points[0].y).sum::<f64>() / n as f64;
        let gravity = GRAVITY / unit;
        let froude_of = |speed: f64| speed * speed / (gravity * hip_height);
        let asked = params.speed.map(|speed| speed / unit);
        let gait = params
            .gait
            .or_else(|| asked.map(|speed| Gait::at_speed(n, froude_of(speed))))
            .unwrap_or(Gait::Walk);
        let speed = asked.unwrap_or_else(|| (gait.froude() * gravity * hip_height).sqrt());
        let froude = froude_of(speed);
        let stride = Gait::stride(froude) * hip_height;
        let is_stiff = legs.iter().all(Leg::is_stiff);
        let n_pairs = n.div_ceil(2);
        let mut seen = [0, 0];
        for leg in &mut legs {
            let side = usize::from(leg.is_right);
            leg.phase = gait.phase(seen[side].min(n_pairs - 1), n_pairs, leg.is_right);
            seen[side] += 1;
        }
        Ok(Self {
            trunk: Trunk::new(&base, &legs),
            carrier: carrier(&base),
            base,
            legs,
            gait,
            hip_height,
            speed,
            period: stride / speed,
            duty: if is_stiff { 0.5 } else { gait.duty(froude) },
            unit,
        })
    }

    /// Whether no leg can fold, so that the body goes up and down over them.
    fn is_stiff(&self) -> bool {
        self.legs.iter().all(Leg::is_stiff)
    }

    /// Where it goes, and for how many seconds. The cycle of a steady gait becomes a whole number of frames.
    fn way(&mut self, params: &GaitParams) -> Result<(Way, f64), GaitError> {
        if params.line.is_empty() {
            self.period = (self.period * params.fps).round().max(2.0) / params.fps;
            let travel = LEAST_TRAVEL * self.base.height() / (self.speed * self.period);
            let strides = travel.ceil().clamp(LEAST_STRIDES, 40.0);
            return Ok((Way::Steady { speed: self.speed }, strides * self.period));
        }
        let line: Vec<[f64; 2]> = params.line.iter().map(|p| p.map(|x| x / self.unit)).collect();
        // A line begins where the body stands.
        let line = if line[0] == [0.0; 2] { line } else { [vec![[0.0; 2]], line].concat() };
        let way = Way::along(&line, self.speed, self.period, 0.3 * self.hip_height)?;
        let seconds = way.duration().unwrap_or(self.period) + 0.5 * self.period;
        Ok((way, seconds))
    }

    fn footfall<'b>(&self, way: &'b Way, floor: &'b Floor<'b>) -> Footfall<'b> {
        let n = self.legs.len();
        let reach = self.hip_height;
        let lift = match (self.gait, n) {
            (Gait::Walk, ..=3) => 0.08,
            (Gait::Walk, 4) => 0.12,
            (_, ..=4) => 0.16,
            _ => 0.22,
        };
        // Short legs under a tall body are lifted more, so that one sees it.
        let lift = (lift * reach).max((0.03 * self.base.height()).min(0.2 * reach));
        let pitches = match (self.gait, n) {
            (Gait::Walk, 2) => [0.24, 0.75],
            (_, 2) => [0.05, 0.9],
            _ => [0.0, 0.6],
        };
        // Large feet on short legs are put down flat.
        let long = self.legs.iter().map(|leg| leg.sole.length()).fold(0.0, f64::max);
        let flat = (0.32 * self.hip_height / long.max(1e-9)).min(1.0);
        let pitches = pitches.map(|pitch| pitch * flat);
        Footfall {
            way,
            floor,
            period: self.period,
            duty: self.duty,
            stride: way.speed() * self.period,
            lift,
            pitches,
        }
    }

    /// Take shorter and quicker steps as long as the hips would have to come down too far for the feet to stay.
    fn shorten_strides(&mut self, params: &GaitParams) {
        const SAMPLES: usize = 24;
        let drop = |walker: &Self, speed: f64| {
            let way = Way::Steady { speed };
            let params = GaitParams { fps: SAMPLES as f64 / walker.period, ..params.clone() };
            Plan::new(walker, &way, &|_| 0.0, SAMPLES, &params).drops.iter().copied().fold(0.0, f64::max)
        };
        // What it comes down by to stand at all is no fault of its steps.
        let most = drop(self, 1e-6 * self.speed) + MAX_DROP * self.hip_height;
        for _ in 0..MAX_SHORTENINGS {
            if drop(self, self.speed) <= most {
                return;
            }
            self.period *= 0.92;
        }
    }
}

/// The deepest joint on which everything hangs that moves.
fn carrier(base: &Base) -> Option<usize> {
    let moves: Vec<usize> = (0..base.hangs_on.len()).filter(|&k| !base.map.joints[k].is_structural).collect();
    let carries = |&&joint: &&usize| {
        let below = base.below(joint);
        moves.iter().all(|&k| below[k])
    };
    base.order.iter().rev().find(carries).copied()
}

/// A gait along its way.
pub(crate) struct Plan<'a> {
    walker: &'a Walker<'a>,
    fall: Footfall<'a>,
    fps: f64,
    in_place: bool,
    /// How far the hips come down in each frame.
    drops: Vec<f64>,
}

impl<'a> Plan<'a> {
    fn new(
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

    /// In which frames a leg stands.
    fn planted(&self, leg: usize) -> Vec<bool> {
        let leg = &self.walker.legs[leg];
        (0..self.drops.len()).map(|k| self.fall.count(leg, self.time(k)).1 < self.fall.duty).collect()
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
    fn pose(&self, frame: usize) -> Pose {
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

impl GaitReport {
    pub(crate) fn of(walker: &Walker, feet: Vec<FootReport>, speed: f64, sink: f64) -> Self {
        Self {
            gait: walker.gait,
            class: walker.base.map.class,
            speed,
            asked_speed: walker.speed * walker.unit,
            stride: walker.speed * walker.period * walker.unit,
            stride_secs: walker.period,
            leg: walker.hip_height * walker.unit,
            height: walker.base.height() * walker.unit,
            sink,
            feet,
        }
    }
}
