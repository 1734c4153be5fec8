//! Knees and toes bend about one axis: which, and how far.

use super::{
    JointFrames,
    body::{Body, Leg},
    corrections::{CorrectionKind, Corrections},
    feet::Sole,
};
use glam::{DMat3, DVec3};

/// Smallest bend of a knee unless the motion has less, radians.
const MIN_BEND_RADIANS: f64 = 0.05;
/// Largest bend of a knee, radians.
const MAX_BEND_RADIANS: f64 = 2.7;
/// A knee that turns less than this in a whole clip does not determine its axis, radians.
const MIN_TURN_RADIANS: f64 = 0.15;

/// Axis of a knee in its own frame, along which it bends: the axis it rotates about most in the motion, else the sideways direction of the
/// foot.
pub fn axis(leg: &Leg, sole: &Sole, worlds: &[JointFrames]) -> DVec3 {
    let local = |world: &JointFrames| world.rotations[leg.hip].inverse() * world.rotations[leg.knee];
    let reference = local(&worlds[worlds.len() / 2]);
    let mut scatter = DMat3::ZERO;
    let mut farthest: f64 = 0.0;
    for world in worlds {
        let turn = reference.inverse() * local(world);
        let turn = if turn.w < 0.0 { -turn } else { turn }.to_scaled_axis();
        scatter += DMat3::from_cols(turn * turn.x, turn * turn.y, turn * turn.z);
        farthest = farthest.max(turn.length());
    }
    let aside = sideways(leg, sole, worlds);
    let found = if farthest > MIN_TURN_RADIANS { principal(scatter, aside) } else { aside };
    if bends(leg, sole, worlds, found) { found } else { -found }
}

/// Direction to the side of the foot, in the knee's frame.
fn sideways(leg: &Leg, sole: &Sole, worlds: &[JointFrames]) -> DVec3 {
    let side = |w: &JointFrames| {
        w.rotations[leg.knee].inverse() * (w.rotations[leg.ankle] * (sole.frame * DVec3::X))
    };
    worlds.iter().map(side).sum::<DVec3>().try_normalize().unwrap_or(DVec3::X)
}

/// Direction of greatest scatter, by power iteration.
fn principal(scatter: DMat3, start: DVec3) -> DVec3 {
    let mut axis = start;
    for _ in 0..50 {
        axis = (scatter * axis + start * 1e-12).try_normalize().unwrap_or(start);
    }
    axis
}

/// Whether turning about an axis bends the knee more: judged by its current bend, else shins move backwards.
fn bends(leg: &Leg, sole: &Sole, worlds: &[JointFrames], axis: DVec3) -> bool {
    let mut bent = 0.0;
    let mut back = 0.0;
    for w in worlds {
        let thigh = (w.positions[leg.knee] - w.positions[leg.hip]).normalize_or_zero();
        let shin = (w.positions[leg.ankle] - w.positions[leg.knee]).normalize_or_zero();
        let velocity = (w.rotations[leg.knee] * axis).cross(shin);
        bent -= velocity.dot(thigh);
        back -= velocity.dot(w.rotations[leg.ankle] * (sole.frame * DVec3::Z));
    }
    let n = worlds.len() as f64;
    if bent.abs() > 0.02 * n { bent > 0.0 } else { back > 0.0 }
}

/// Axis of toes in their own frame: the side of the sole.
pub fn toe_axis(leg: &Leg, toe: usize, sole: &Sole, worlds: &[JointFrames]) -> DVec3 {
    let side =
        |w: &JointFrames| w.rotations[toe].inverse() * (w.rotations[leg.ankle] * (sole.frame * DVec3::X));
    worlds.iter().map(side).sum::<DVec3>().try_normalize().unwrap_or(DVec3::X)
}

/// Bend of a knee, radians.
fn bend(leg: &Leg, world: &JointFrames) -> f64 {
    let thigh = world.positions[leg.knee] - world.positions[leg.hip];
    let shin = world.positions[leg.ankle] - world.positions[leg.knee];
    if thigh.length() > 0.0 && shin.length() > 0.0 { thigh.angle_between(shin) } else { 0.0 }
}

/// Bounds for hinges of knees: they neither hyperextend nor fold.
pub fn bound(
    body: &Body,
    corrections: &Corrections,
    worlds: &[JointFrames],
    low: &mut [f64],
    high: &mut [f64],
) {
    for leg in &body.legs {
        let is_knee = |free: &&super::corrections::CorrectedJoint| {
            free.joint == leg.knee && matches!(free.kind, CorrectionKind::Hinge(_))
        };
        let Some(free) = corrections.joints.iter().find(is_knee) else { continue };
        let bends: Vec<f64> = worlds.iter().map(|world| bend(leg, world)).collect();
        let least = bends.iter().copied().fold(MIN_BEND_RADIANS, f64::min);
        for (t, bend) in bends.iter().enumerate() {
            let at = t * corrections.n + free.first;
            low[at] = least - bend;
            high[at] = (MAX_BEND_RADIANS - bend).max(0.0);
        }
    }
}
