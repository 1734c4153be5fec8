//! Positions within hexahedra of any shape.
//!
//! # Source
//! Newton's method on the trilinear map, started at the centre of the cell.

use super::{corner_place, embedding::trilinear, jacobian::jacobian_at};
use glam::DVec3;

/// Newton steps at most; well-shaped cells need four.
const MAX_NEWTON_STEPS: usize = 30;

/// Where a trilinear map sends a place of the unit cube.
pub fn map(corners: &[DVec3; 8], at: DVec3) -> DVec3 {
    corners.iter().zip(trilinear(at)).map(|(p, w)| *p * w).sum()
}

/// The place of the unit cube that is sent to `p`; none if Newton's method leaves the cell's neighbourhood.
pub fn place_in(corners: &[DVec3; 8], p: DVec3) -> Option<DVec3> {
    let extent = corners[0].distance_squared(corners[7]).max(corners[1].distance_squared(corners[6])).sqrt();
    let mut at = DVec3::splat(0.5);
    for _ in 0..MAX_NEWTON_STEPS {
        let off = p - map(corners, at);
        if off.length() <= 1e-12 * extent {
            return Some(at);
        }
        let step = jacobian_at(corners, at).inverse() * off;
        if !step.is_finite() {
            return None;
        }
        at += step.clamp_length_max(1.0);
        if at.abs().max_element() > 4.0 {
            return None;
        }
        if step.length() <= 1e-12 {
            return Some(at);
        }
    }
    let off = p - map(corners, at);
    (off.length() <= 1e-9 * extent).then_some(at)
}

/// Whether a place lies in the unit cube, give or take rounding.
pub fn is_within(at: DVec3) -> bool {
    at.cmpge(DVec3::splat(-1e-9)).all() && at.cmple(DVec3::splat(1.0 + 1e-9)).all()
}

/// The place of a cell nearest to a point outside, and how far it is: by projected gradient steps.
pub fn nearest_place(corners: &[DVec3; 8], p: DVec3) -> (DVec3, f64) {
    let mut at = DVec3::splat(0.5);
    for _ in 0..MAX_NEWTON_STEPS {
        let off = p - map(corners, at);
        let step = jacobian_at(corners, at).inverse() * off;
        let next = if step.is_finite() { (at + step).clamp(DVec3::ZERO, DVec3::ONE) } else { at };
        // Along the faces that were met, go on downhill.
        let slope = jacobian_at(corners, next).transpose() * (p - map(corners, next));
        let length = jacobian_at(corners, next).x_axis.length_squared().max(1e-300) * 4.0;
        let slid = (next + slope / length).clamp(DVec3::ZERO, DVec3::ONE);
        if slid.distance(at) < 1e-9 {
            at = slid;
            break;
        }
        at = slid;
    }
    (at, p.distance(map(corners, at)))
}

/// Weights of the corners at a point that may lie outside: those of `at`, and on from there along straight lines. They sum
/// to one and give the point itself.
pub fn weights_beyond(corners: &[DVec3; 8], at: DVec3, p: DVec3) -> [f64; 8] {
    let beyond = jacobian_at(corners, at).inverse() * (p - map(corners, at));
    let (base, beyond) = (trilinear(at), if beyond.is_finite() { beyond } else { DVec3::ZERO });
    std::array::from_fn(|c| {
        let slope = |axis: usize| {
            let others = (0..3).filter(|k| *k != axis);
            let side = corner_place(c);
            let along: f64 = others.map(|k| if side[k] > 0.5 { at[k] } else { 1.0 - at[k] }).product();
            if side[axis] > 0.5 { along } else { -along }
        };
        base[c] + (0..3).map(|axis| slope(axis) * beyond[axis]).sum::<f64>()
    })
}

/// Weights of the corners of a cube at a point that may lie outside it.
pub fn nearest_weights(lattice: &super::Lattice, cell: usize, p: DVec3) -> [f64; 8] {
    let corners = lattice.corners(cell);
    let at = ((p - corners[0]) / lattice.cell_size(cell)).clamp(DVec3::ZERO, DVec3::ONE);
    weights_beyond(&corners, at, p)
}
