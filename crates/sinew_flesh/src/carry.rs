//! Rigid jumps: when whatever holds a body is suddenly elsewhere, the body is moved along with it.
//!
//! # Source
//! The rigid motion that fits the held points best (the problem of Horn 1987, solved here by polar decomposition). A
//! solver cannot follow motions by more than a fraction of the body's own size in one step; so flesh is moved along
//! rigidly, keeping its velocities, and the remainder of the motion is simulated. Where single nodes still move that
//! far (a joint that flips), flesh follows within the step, but such a step passes on no momentum, because the jump is
//! not a physical motion.

use crate::{FleshState, StepInput, body::ElasticBody};
use glam::{DMat3, DQuat, DVec3};
use sinew_geom::linalg::polar;

/// Mean way of what is held, in diagonals of the lattice, from which on flesh is carried along.
const JUMP_DIAGONALS: f64 = 0.25;

/// Whether some held node goes farther in a step than a body can follow.
pub(crate) fn is_jerked(body: &ElasticBody, state: &FleshState, input: &StepInput) -> bool {
    let [low, high] = sinew_geom::mesh::bounds(body.lattice.nodes());
    let limit = JUMP_DIAGONALS * low.distance(high);
    let ways = body.attachment.held.iter().zip(&input.held);
    ways.into_iter().any(|(&node, target)| state.positions[node as usize].distance(*target) > limit)
}

/// The state carried along, if what holds the body jumped.
pub(crate) fn carry(body: &ElasticBody, state: &FleshState, input: &StepInput) -> Option<FleshState> {
    let held = body.attachment.held.iter().map(|&node| state.positions[node as usize]);
    let anchors = body.attachment.anchors.iter().map(|a| a.point.evaluate(&body.lattice, &state.positions));
    let from: Vec<DVec3> = held.chain(anchors).collect();
    let to: Vec<DVec3> = input.held.iter().chain(&input.anchors).copied().collect();
    let [low, high] = sinew_geom::mesh::bounds(body.lattice.nodes());
    let way = from.iter().zip(&to).map(|(a, b)| a.distance(*b)).sum::<f64>() / from.len().max(1) as f64;
    if from.is_empty() || from.len() != to.len() || way.is_nan() || way <= JUMP_DIAGONALS * low.distance(high)
    {
        return None;
    }
    let middle = |list: &[DVec3]| list.iter().sum::<DVec3>() / list.len() as f64;
    let (a, b) = (middle(&from), middle(&to));
    let mut product = DMat3::ZERO;
    for (from, to) in from.iter().zip(&to) {
        let (p, q) = (*from - a, *to - b);
        product += DMat3::from_cols(q * p.x, q * p.y, q * p.z);
    }
    // A point or a line of held nodes does not determine the rotation about it.
    let is_full =
        product.determinant().abs() > 1e-9 * product.x_axis.length().max(product.y_axis.length()).powi(3);
    let turn = if is_full { DQuat::from_mat3(&polar(&product).0).normalize() } else { DQuat::IDENTITY };
    let mut moved = state.clone();
    moved.positions.iter_mut().for_each(|p| *p = b + turn * (*p - a));
    moved.velocities.iter_mut().for_each(|v| *v = turn * *v);
    moved.rotations.iter_mut().for_each(|q| *q = turn * *q);
    Some(moved)
}
