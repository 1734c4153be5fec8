//! Residual motion beyond the span of the examples: small motions of handles that bring them to their targets.
//!
//! # Source
//! The motion of least effort that meets linearised targets (Whitney 1969, damped as in Wampler 1986), with the screws
//! of the handles as degrees of freedom.
//! # Symbols
//! `ρ` screws, `D` effort of each, `J` derivative of grips by screws; `ρ = D⁻¹ Jᵀ (J D⁻¹ Jᵀ + λ)⁻¹ (r + J ρ)`

use super::super::{
    blend::{Places, Slopes},
    energy::Target,
    screw::Screw,
    space::PoseSpace,
};
use super::Residual;
use glam::DVec3;
use sinew_geom::linalg::solve_definite;

/// Largest turn of a handle beyond the examples, radians.
const MAX_TURN: f64 = 0.6;
/// Largest shift of a handle beyond the examples, in units.
const MAX_SHIFT: f64 = 0.5;
/// Shifting by a unit costs as much as turning by this angle: limbs bend rather than stretch.
const SHIFT_EFFORT: f64 = 8.0;
/// Rounds of linearising.
const MAX_ROUNDS: usize = 12;
/// A target nearer than this, in units, counts as reached.
const REACHED_DISTANCE: f64 = 1e-9;

/// Screws on top of a blend that bring the handles to their targets, or as near as small motions can.
pub fn reach(space: &PoseSpace, weights: &[f64], targets: &[Target], last: Option<&Residual>) -> Vec<Screw> {
    let n = space.n_handles();
    let rest = vec![Screw::default(); n];
    // Of two solutions, the one of the last frame is continued, so that the motion does not jump.
    let mut screws =
        last.filter(|last| last.0.len() == n).map_or_else(|| rest.clone(), |last| last.0.clone());
    if targets.is_empty() {
        return rest;
    }
    // Pinned handles come last and therefore win where not all targets can be met.
    let mut effort = vec![1.0; n];
    let (mut places, mut slopes) = (Places::new(n), Slopes::default());
    for _ in 0..MAX_ROUNDS {
        space.place_with_slopes(weights, &screws, &space.tree.order, &mut places, &mut slopes);
        let missed: Vec<DVec3> = targets.iter().map(|t| t.position - places.grip[t.handle]).collect();
        if missed.iter().all(|r| r.length() < REACHED_DISTANCE * space.unit) && within(space, &screws) {
            break;
        }
        let rows = rows(space, targets, &places, &slopes);
        let Some(next) = least_effort(space, targets, &rows, &missed, &screws, &effort) else { break };
        screws = next;
        for (screw, effort) in screws.iter_mut().zip(&mut effort) {
            if clamp(screw, space.unit) {
                // A screw at its limit becomes stiff, so that others take over.
                *effort *= 4.0;
            }
        }
    }
    screws
}

/// Derivative of one target's grip by the turn and the speed of one handle that carries it.
struct Row {
    target: usize,
    handle: usize,
    by_turn: [DVec3; 3],
    by_speed: [DVec3; 3],
}

fn rows(space: &PoseSpace, targets: &[Target], places: &Places, slopes: &Slopes) -> Vec<Row> {
    let mut rows = Vec::new();
    for (at, target) in targets.iter().enumerate() {
        let grip = places.grip[target.handle];
        for h in std::iter::successors(Some(target.handle), |&h| space.tree.parent[h]) {
            let [v, by_turn] = slopes.by_screw[h];
            let arm = grip - places.pivot[h];
            let axes = [DVec3::X, DVec3::Y, DVec3::Z];
            rows.push(Row {
                target: at,
                handle: h,
                by_turn: axes.map(|axis| by_turn * axis + (v * axis).cross(arm)),
                by_speed: axes.map(|axis| v * axis),
            });
        }
    }
    rows
}

fn least_effort(
    space: &PoseSpace,
    targets: &[Target],
    rows: &[Row],
    missed: &[DVec3],
    screws: &[Screw],
    effort: &[f64],
) -> Option<Vec<Screw>> {
    let (m, unit) = (3 * targets.len(), space.unit);
    let mut matrix = vec![0.0; m * m];
    let mut wanted: Vec<f64> = missed.iter().flat_map(|r| (*r / unit).to_array()).collect();
    let costs = |h: usize| [effort[h], effort[h] * (SHIFT_EFFORT / unit).powi(2)];
    for a in rows {
        let [turn_cost, shift_cost] = costs(a.handle);
        let now = &screws[a.handle];
        let carried: DVec3 = (0..3).map(|k| a.by_turn[k] * now.turn[k] + a.by_speed[k] * now.speed[k]).sum();
        (0..3).for_each(|i| wanted[3 * a.target + i] += carried[i] / unit);
        for b in rows.iter().filter(|b| b.handle == a.handle) {
            for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
                let turns: f64 = (0..3).map(|k| a.by_turn[k][i] * b.by_turn[k][j]).sum();
                let shifts: f64 = (0..3).map(|k| a.by_speed[k][i] * b.by_speed[k][j]).sum();
                matrix[(3 * a.target + i) * m + 3 * b.target + j] +=
                    (turns / turn_cost + shifts / shift_cost) / (unit * unit);
            }
        }
    }
    // Softness keeps the system solvable where targets conflict; pinned ones have hardly any.
    for (at, target) in targets.iter().enumerate() {
        let softness = if target.is_pinned { 1e-12 } else { 1e-9 };
        (0..3).for_each(|i| matrix[(3 * at + i) * m + 3 * at + i] += softness);
    }
    solve_definite(&mut matrix, &mut wanted, m)?;
    let mut next = vec![Screw::default(); screws.len()];
    for row in rows {
        let [turn_cost, shift_cost] = costs(row.handle);
        let y =
            DVec3::new(wanted[3 * row.target], wanted[3 * row.target + 1], wanted[3 * row.target + 2]) / unit;
        let screw = &mut next[row.handle];
        screw.turn += DVec3::from_array(row.by_turn.map(|j| j.dot(y))) / turn_cost;
        screw.speed += DVec3::from_array(row.by_speed.map(|j| j.dot(y))) / shift_cost;
    }
    Some(next)
}

/// Limit a screw. Returns whether it was too large.
fn clamp(screw: &mut Screw, unit: f64) -> bool {
    let (turn, speed) = (screw.turn.length(), screw.speed.length());
    screw.turn = screw.turn.clamp_length_max(MAX_TURN);
    screw.speed = screw.speed.clamp_length_max(MAX_SHIFT * unit);
    turn > MAX_TURN || speed > MAX_SHIFT * unit
}

fn within(space: &PoseSpace, screws: &[Screw]) -> bool {
    screws.iter().all(|s| s.turn.length() <= MAX_TURN && s.speed.length() <= MAX_SHIFT * space.unit)
}
