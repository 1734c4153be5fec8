//! Where each foot is at each moment: footprints along the way, and the swing from one to the next.
//!
//! A foot stands for a share of the cycle, the duty factor, and its footprint lies where it is neutral to the body halfway
//! through. So the same rule makes it start, stop and turn: where the body does not move, footprints coincide and no foot is
//! lifted.

use crate::{ease, leg::Leg, way::Way};
use glam::{DAffine3, DQuat, DVec2, DVec3};

/// Height of the ground over the place of the body, in units of the body.
pub(crate) type Floor<'a> = dyn Fn(DVec2) -> f64 + 'a;

/// Time and size of steps.
pub(crate) struct Footfall<'a> {
    pub way: &'a Way,
    pub floor: &'a Floor<'a>,
    /// Seconds of a cycle.
    pub period: f64,
    pub duty: f64,
    pub stride: f64,
    /// Height to which feet are lifted.
    pub lift: f64,
    /// Pitch of level feet when they land on the heel and leave over the toes, in radians.
    pub pitches: [f64; 2],
}

/// Share of the stance after which the heel rises, and until which the toes come down.
const HEEL_OFF: f64 = 0.55;
const TOES_DOWN: f64 = 0.22;
/// Share of the swing that a foot rises before it moves on, and comes down after.
const LAG: f64 = 0.06;
/// Share of the swing in which a foot comes up, and in which it comes down.
const RISE: f64 = 0.25;
/// A step of this share of a stride is a whole one.
const WHOLE_STEP: f64 = 0.6;
/// A step of the inverse share of a whole one is lifted as high.
const SHORT_STEPS: f64 = 16.0;
/// Steepest ground that feet lie flat on, as a sine.
const MAX_SLOPE_SINE: f64 = 0.55;

/// A foot at a moment, as a motion from the base pose.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FootPose {
    pub moved: DAffine3,
    /// How toes are turned: level while they stand.
    pub toes: DQuat,
    pub is_planted: bool,
    /// How high everything is above the ground at least.
    pub clear: f64,
}

#[derive(Debug, Clone, Copy)]
struct Print {
    spot: DVec3,
    turn: DQuat,
}

impl Footfall<'_> {
    /// Cycles since a leg landed for the first time, and the share of the current one.
    pub fn count(&self, leg: &Leg, time: f64) -> (f64, f64) {
        // Frames often fall on the very moment of landing: rounding must not decide.
        let cycles = time / self.period - leg.phase + 1e-9;
        (cycles.floor(), cycles - cycles.floor())
    }

    /// The foot of a leg at a time.
    pub fn foot(&self, leg: &Leg, time: f64) -> FootPose {
        let (k, share) = self.count(leg, time);
        let [before, here, next] = [k - 1.0, k, k + 1.0].map(|k| self.print(leg, k));
        let stepped = |a: Print, b: Print| (a.spot.distance(b.spot) / (WHOLE_STEP * self.stride)).min(1.0);
        let (came, goes) = (stepped(before, here), stepped(here, next));
        let [land, off] = if leg.foot.is_some() { self.pitches } else { [0.0; 2] };
        let axis = DVec3::Y.cross(DVec3::Z);
        if share < self.duty {
            let u = share / self.duty;
            let rises = ((u - HEEL_OFF) / (1.0 - HEEL_OFF)).max(0.0);
            let pitch = goes * off * rises * rises - came * land * (1.0 - ease(u / TOES_DOWN));
            let toes = here.turn * DQuat::from_axis_angle(axis, pitch.min(0.0));
            return FootPose {
                moved: here.motion(leg) * leg.sole.roll(pitch),
                toes,
                is_planted: true,
                clear: 0.0,
            };
        }
        let v = (share - self.duty) / (1.0 - self.duty);
        let (print, clear) = self.swing(here, next, v, goes);
        let speed = 2.0 / (1.0 - HEEL_OFF) * (1.0 - self.duty) / self.duty;
        let pitch = hermite([goes * off, -goes * land], [goes * off * speed, 0.0], v);
        let toes = print.turn * DQuat::from_axis_angle(axis, pitch.min(0.0) + pitch.max(0.0) * ease(v / 0.5));
        FootPose { moved: print.motion(leg) * leg.sole.roll(pitch), toes, is_planted: false, clear }
    }

    /// The footprint of a leg in a cycle.
    fn print(&self, leg: &Leg, cycle: f64) -> Print {
        let middle = (cycle + leg.phase + 0.5 * self.duty) * self.period;
        let (place, heading) = self.way.at(self.way.progress(middle).0);
        let neutral = leg.sole.origin() + leg.shift;
        let away = heading * DVec3 { y: 0.0, ..neutral };
        let spot = place + DVec2::new(away.x, away.z);
        let turn = if leg.foot.is_some() { self.slope(spot) * heading } else { heading };
        Print { spot: DVec3::new(spot.x, (self.floor)(spot), spot.y), turn }
    }

    /// What lays a level foot flat on the ground.
    fn slope(&self, spot: DVec2) -> DQuat {
        let step = 0.02 * self.stride;
        let rise = |d: DVec2| ((self.floor)(spot + d) - (self.floor)(spot - d)) / (2.0 * step);
        let normal = DVec3::new(-rise(DVec2::X * step), 1.0, -rise(DVec2::Y * step)).normalize();
        // Beside a riser the ground is a tread, not a wall.
        if 1.0 - normal.y * normal.y > MAX_SLOPE_SINE * MAX_SLOPE_SINE {
            DQuat::IDENTITY
        } else {
            DQuat::from_rotation_arc(DVec3::Y, normal)
        }
    }

    /// Between two footprints, above all ground on the way, and how far above.
    fn swing(&self, from: Print, to: Print, v: f64, share: f64) -> (Print, f64) {
        let moves_on = |v: f64| {
            let t = ((v - LAG) / (1.0 - 2.0 * LAG)).clamp(0.0, 1.0);
            t * t * (3.0 - 2.0 * t)
        };
        let at = |v: f64| from.spot.lerp(to.spot, moves_on(v));
        let above = |k: usize| {
            let spot = at(k as f64 / 12.0);
            (self.floor)(DVec2::new(spot.x, spot.z)) - spot.y
        };
        let obstacle = (1..12).map(above).fold(0.0, f64::max);
        // Up before it moves on, down after.
        let arch = ease(v / RISE) * ease((1.0 - v) / RISE);
        let plateau = 1.0 - (2.0 * v - 1.0).powi(4);
        // Short steps are lifted as high as long ones; where nothing moves, nothing is.
        let clear = (SHORT_STEPS * share).min(1.0) * self.lift * arch;
        let up = clear + obstacle * plateau;
        let print = Print { spot: at(v) + up * DVec3::Y, turn: from.turn.slerp(to.turn, moves_on(v)) };
        (print, clear)
    }
}

impl Print {
    /// From the base pose of a foot to where it is printed.
    fn motion(&self, leg: &Leg) -> DAffine3 {
        DAffine3::from_rotation_translation(self.turn, self.spot - self.turn * leg.sole.origin())
    }
}

/// The cubic between two values with given slopes.
fn hermite([a, b]: [f64; 2], [da, db]: [f64; 2], t: f64) -> f64 {
    let (t2, t3) = (t * t, t * t * t);
    a * (2.0 * t3 - 3.0 * t2 + 1.0) + da * (t3 - 2.0 * t2 + t) + b * (3.0 * t2 - 2.0 * t3) + db * (t3 - t2)
}
