//! Lowering the pelvis where legs would be too short to reach their footprints, early enough to be smooth.
//!
//! # Source
//! Kovar, Schreiner and Gleicher (2002), §3.3, move the root so that legs reach and smooth what that changes. Differs: a leg may
//! be as straight as the source's is in that frame, so that nothing changes on the source's own body.

use super::{
    body::Leg,
    plan::{BodyMotion, MotionPlan},
};
use std::ops::Range;

/// A leg that the source bends more than this, as a share of its length, may be straightened to it.
const STRAIGHT: f64 = 0.985;
/// Greatest lowering, in leg lengths.
const MAX_LOWERING: f64 = 0.15;
/// Seconds before and after over which the pelvis is lowered.
const LOWER_SECS: f64 = 0.2;

/// Lower the pelvis of a plan where it must be.
pub fn lower(
    plan: &mut MotionPlan,
    source: &BodyMotion,
    copy: &BodyMotion,
    segments: &[Range<usize>],
    fps: f64,
) {
    let reach = (LOWER_SECS * fps).round() as usize;
    for segment in segments {
        let needs: Vec<f64> = segment.clone().map(|t| need(plan, source, copy, t)).collect();
        let around = |k: usize| k.saturating_sub(reach)..(k + reach + 1).min(needs.len());
        let most: Vec<f64> =
            (0..needs.len()).map(|k| needs[around(k)].iter().copied().fold(0.0, f64::max)).collect();
        for (k, t) in segment.clone().enumerate() {
            let window = around(k);
            plan.pelvis[t].y -= most[window.clone()].iter().sum::<f64>() / window.len() as f64;
        }
    }
}

/// How much lower the pelvis must be in a frame for all legs to reach their goals.
fn need(plan: &MotionPlan, source: &BodyMotion, copy: &BodyMotion, t: usize) -> f64 {
    let (world, own) = (&copy.worlds[t], &source.worlds[t]);
    let of_leg = |(k, leg): (usize, &Leg)| {
        let goal = &plan.feet[k][t];
        let hip = plan.pelvis[t] + world.positions[leg.hip] - world.positions[copy.body.pelvis];
        let way = hip - (goal.ball - goal.rotation * copy.soles[k].ball);
        let theirs = &source.body.legs[k];
        let straight = own.positions[theirs.hip].distance(own.positions[theirs.ankle])
            / length(theirs, &own.positions).max(1e-9);
        let most = straight.max(STRAIGHT) * length(leg, &world.positions);
        let aside = way.x.hypot(way.z).min(0.95 * most);
        (way.y - (most * most - aside * aside).sqrt()).clamp(0.0, MAX_LOWERING * most)
    };
    copy.body.legs.iter().enumerate().map(of_leg).fold(0.0, f64::max)
}

/// Length of thigh and shin.
fn length(leg: &Leg, positions: &[glam::DVec3]) -> f64 {
    positions[leg.hip].distance(positions[leg.knee]) + positions[leg.knee].distance(positions[leg.ankle])
}
