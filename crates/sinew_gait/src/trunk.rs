//! What is not a leg: hips, spine, head, arms and tails swing along.
//!
//! # Symbols
//! `q` of a leg: 1 when its foot lands ahead, −1 when it is farthest behind, a cosine between

use crate::{base::Base, footfall::Footfall, gait::Gait, leg::Leg};
use glam::{DQuat, DVec3};
use sinew_geom::{
    body_map::{BodyClass, Part},
    rig::Side,
};
use std::f64::consts::TAU;

/// Largest angle by which arms are held off the body, in radians.
const MAX_ARMS_OFF: f64 = 0.7;

/// Turns of joints against the body, of one moment.
pub(crate) type Turns = Vec<(usize, DQuat)>;

pub(crate) struct Trunk {
    hips: Option<usize>,
    spine: Vec<usize>,
    neck: Vec<usize>,
    tail: Vec<usize>,
    arms: Vec<Arm>,
    /// The leg that decides for each pair of legs: of the hips, and of the chest.
    lead: [usize; 2],
    is_upright: bool,
}

struct Arm {
    upper: usize,
    forearm: Option<usize>,
    /// 1 for the left and −1 for the right.
    sign: f64,
    /// How far it is held off the body, and how far the elbow is bent, when it hangs.
    off: f64,
    bend: f64,
}

/// How much of everything there is.
struct Style {
    yaw: f64,
    roll: f64,
    lean: f64,
    counter: f64,
    arms: f64,
    elbows: f64,
    nod: f64,
    tail: f64,
    flex: f64,
}

impl Trunk {
    pub fn new(base: &Base, legs: &[Leg]) -> Self {
        let all = |part: Part| base.map.find_all(part, Side::Middle).collect::<Vec<usize>>();
        let is_upright = base.map.class == BodyClass::Biped;
        let mut spine = [all(Part::Spine), all(Part::Chest)].concat();
        spine.sort_unstable();
        let mut arms = Vec::new();
        for (side, sign) in [(Side::Left, 1.0), (Side::Right, -1.0)] {
            if let Some(arm) = base.map.find(Part::UpperArm, side).filter(|_| is_upright) {
                let forearm = base.map.find(Part::Forearm, side);
                let (off, bend) = (arms_off(base, arm, sign), elbow_bend(base, forearm));
                arms.push(Arm { upper: arm, forearm, sign, off, bend });
            }
        }
        let left = |is_front: bool| legs.iter().position(|leg| !leg.is_right && leg.is_front == is_front);
        let hind = left(false).unwrap_or(0);
        Self {
            hips: base.map.find(Part::Hips, Side::Middle),
            spine,
            neck: [all(Part::Neck), all(Part::Head)].concat(),
            tail: all(Part::Tail),
            arms,
            lead: [hind, left(true).unwrap_or(hind)],
            is_upright,
        }
    }

    fn style(&self, gait: Gait, n_legs: usize) -> Style {
        let still = Style {
            yaw: 0.0,
            roll: 0.0,
            lean: 0.0,
            counter: 0.0,
            arms: 0.0,
            elbows: 0.0,
            nod: 0.0,
            tail: 0.1,
            flex: 0.0,
        };
        match (gait, n_legs) {
            (Gait::Run | Gait::Gallop, 2) => {
                Style { yaw: 0.14, roll: 0.05, lean: 0.14, counter: 0.16, arms: 0.6, elbows: 1.1, ..still }
            }
            (_, 2) => {
                Style { yaw: 0.1, roll: 0.05, lean: 0.03, counter: 0.09, arms: 0.38, elbows: 0.2, ..still }
            }
            (Gait::Gallop, 4) => Style { nod: 0.08, flex: 0.16, tail: 0.12, ..still },
            (Gait::Trot | Gait::Pace, 4) => Style { yaw: 0.03, nod: 0.03, tail: 0.12, ..still },
            (_, 4) => Style { yaw: 0.06, roll: 0.02, nod: 0.06, counter: 0.03, tail: 0.14, ..still },
            _ => still,
        }
    }

    /// Sideways shift of the body over the foot that carries it, in its units, and turns of joints. `share` is the speed as a
    /// share of the full one.
    pub fn turns(&self, gait: Gait, legs: &[Leg], fall: &Footfall, time: f64, share: f64) -> (f64, Turns) {
        let style = self.style(gait, legs.len());
        // Zero in the middle of the stance of a leg.
        let since = |leg: usize| TAU * (time / fall.period - legs[leg].phase - 0.5 * fall.duty);
        let [hind, front] = self.lead.map(since);
        let [swing, swing_front] = [hind, front].map(|since| -share * since.sin());
        let carries = share * hind.cos();
        let flex = DQuat::from_rotation_x(share * style.flex * hind.sin());
        // A leg that is ahead on the left takes the hips along, and the chest turns the other way.
        let pelvis =
            DQuat::from_rotation_y(-style.yaw * swing) * DQuat::from_rotation_z(style.roll * carries) * flex;
        let counter = if self.is_upright { style.counter * swing } else { -style.counter * swing_front };
        let chest =
            DQuat::from_rotation_x(share * style.lean) * DQuat::from_rotation_y(counter) * flex.inverse();
        let head = DQuat::from_rotation_x(share * (style.nod * (2.0 * front).cos() + 0.5 * style.lean));
        let mut turns: Turns = Vec::new();
        turns.extend(self.hips.map(|hips| (hips, pelvis)));
        for (joints, from, to) in [(&self.spine, pelvis, chest), (&self.neck, chest, head)] {
            for (k, &joint) in joints.iter().enumerate() {
                turns.push((joint, from.slerp(to, (k + 1) as f64 / joints.len() as f64)));
            }
        }
        for (k, &joint) in self.tail.iter().enumerate() {
            let along = (k + 1) as f64 / self.tail.len() as f64;
            let sway = share * style.tail * along * (hind - 1.5 * along).sin();
            turns.push((joint, pelvis * DQuat::from_rotation_y(sway)));
        }
        for arm in &self.arms {
            // Each arm swings with the leg of the other side, those of runners more to the back.
            let ahead = -arm.sign * swing;
            let angle = style.arms * ahead - 0.2 * share * style.elbows;
            let upper = chest * DQuat::from_rotation_x(-angle) * DQuat::from_rotation_z(arm.sign * arm.off);
            turns.push((arm.upper, upper));
            let elbow = arm.bend + style.elbows * (share + 0.4 * ahead);
            turns.extend(arm.forearm.map(|forearm| (forearm, upper * DQuat::from_rotation_x(-elbow))));
        }
        (0.25 * stance_width(legs, self.lead[0]) * carries, turns)
    }
}

/// How far a foot stands from the middle.
fn stance_width(legs: &[Leg], lead: usize) -> f64 {
    if legs.len() > 4 { 0.0 } else { (legs[lead].sole.origin() + legs[lead].shift).x.abs() }
}

/// How far arms must be held off so that they do not go through the body.
fn arms_off(base: &Base, arm: usize, sign: f64) -> f64 {
    let shoulder = base.places[arm];
    let is_arm = base.below(arm);
    let hand =
        (0..is_arm.len()).filter(|&k| is_arm[k]).map(|k| base.places[k].y).fold(f64::INFINITY, f64::min);
    let long = shoulder.y - hand;
    let is_body =
        |k: usize| matches!(base.map.joints[k].part, Part::Hips | Part::Spine | Part::Chest | Part::Thigh);
    // Half the thickness of the arm, about its bone which hangs down.
    let arms = base.surface.iter().filter(|(p, k)| is_arm[*k] && p.y < shoulder.y - 0.3 * long);
    let (sum, n) = arms.fold((0.0, 0), |(sum, n), (p, _)| (sum + (p.x - shoulder.x).abs(), n + 1));
    let thick = if n > 0 { sum / f64::from(n) } else { 0.05 * long };
    let needed = |p: DVec3| (sign * (p.x - shoulder.x) + thick).atan2(shoulder.y - p.y);
    let beside = base.surface.iter().filter(|(p, k)| {
        is_body(*k) && p.y < shoulder.y - 0.35 * long && p.y > hand && (p.z - shoulder.z).abs() < 0.25 * long
    });
    let mut angles: Vec<f64> = beside.map(|(p, _)| needed(*p)).collect();
    angles.sort_by(f64::total_cmp);
    // A few vertices may be anything.
    let most = angles.get(angles.len() * 49 / 50).copied().unwrap_or(0.1);
    most.clamp(0.08, MAX_ARMS_OFF)
}

/// How far elbows are bent so that long arms do not reach the ground.
fn elbow_bend(base: &Base, forearm: Option<usize>) -> f64 {
    const LEAST: f64 = 0.12;
    let Some(forearm) = forearm else { return LEAST };
    let below = base.below(forearm);
    let at = base.places[forearm];
    let points = base.surface.iter().filter(|(_, k)| below[*k]).map(|(p, _)| *p - at);
    let points: Vec<DVec3> =
        points.chain((0..below.len()).filter(|&k| below[k]).map(|k| base.places[k] - at)).collect();
    let limit = 0.07 * base.height();
    let lowest = |angle: f64| {
        let turn = DQuat::from_rotation_x(-angle);
        points.iter().map(|p| (turn * *p + at).y).fold(f64::INFINITY, f64::min)
    };
    (0..20).map(|k| LEAST + 0.1 * f64::from(k)).find(|&angle| lowest(angle) > limit).unwrap_or(2.0)
}
