//! Points of the body that something pulls at: bones, floors, the user.

use crate::element::Scalar;
use glam::{DMat3, DVec3};

/// A point of a cell with a linear force: it adds `wᵀ A w` to the system and `w f` to its right-hand side.
#[derive(Debug, Clone)]
pub struct PointTerm<T> {
    /// Nodes of its cell.
    pub nodes: [u32; 8],
    /// Their weights at the point.
    pub weights: [T; 8],
    /// Symmetric: xx, yy, zz, xy, xz, yz.
    pub matrix: [T; 6],
}

impl<T: Scalar> PointTerm<T> {
    /// A point of a cell.
    pub fn new(nodes: &[u32; 8], weights: &[f64; 8], matrix: &DMat3) -> Self {
        let at = |i: usize, j: usize| T::of(matrix.col(j)[i]);
        Self {
            nodes: *nodes,
            weights: weights.map(T::of),
            matrix: [at(0, 0), at(1, 1), at(2, 2), at(0, 1), at(0, 2), at(1, 2)],
        }
    }
}

/// A symmetric block (xx, yy, zz, xy, xz, yz) times a vector.
#[inline(always)]
fn times_block<T: Scalar>(m: &[T; 6], p: &[T]) -> [T; 3] {
    let [xx, yy, zz, xy, xz, yz] = *m;
    [xx * p[0] + xy * p[1] + xz * p[2], xy * p[0] + yy * p[1] + yz * p[2], xz * p[0] + yz * p[1] + zz * p[2]]
}

/// `z = D⁻¹ r`, block by block.
pub fn times_blocks<T: Scalar>(inverse: &[[T; 6]], r: &[[T; 4]], z: &mut [[T; 4]]) {
    for ((z, r), m) in z.iter_mut().zip(r).zip(inverse) {
        let [x, y, w] = times_block(m, r);
        *z = [x, y, w, T::ZERO];
    }
}

/// `out += Σ wᵀ A w x`.
pub fn apply_points<T: Scalar>(points: &[PointTerm<T>], x: &[[T; 4]], out: &mut [[T; 4]]) {
    for point in points {
        let mut p = [T::ZERO; 3];
        for (node, w) in point.nodes.iter().zip(point.weights) {
            (0..3).for_each(|k| p[k] += w * x[*node as usize][k]);
        }
        let f = times_block(&point.matrix, &p);
        for (node, w) in point.nodes.iter().zip(point.weights) {
            (0..3).for_each(|k| out[*node as usize][k] += w * f[k]);
        }
    }
}

/// Add a force at a point to its nodes.
pub fn add_points(nodes: &[u32; 8], weights: &[f64; 8], force: DVec3, out: &mut [[f64; 4]]) {
    for (node, w) in nodes.iter().zip(weights) {
        (0..3).for_each(|k| out[*node as usize][k] += w * force[k]);
    }
}
