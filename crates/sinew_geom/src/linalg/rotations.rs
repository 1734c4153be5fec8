//! Best-fitting rotations, many at a time.
//!
//! # Source
//! Müller et al., *A robust method to extract the rotational part of deformations* (2016): each rotation is turned
//! towards the one that maximises `tr(Rᵀ A)`, starting from its current value. Differs: the rotation update is a
//! half-angle quaternion rather than an exponential, and eight lanes are processed in parallel.
//! # Cost
//! About 60 operations per round and rotation. Three rounds suffice if the start is near.
//! # Limits
//! Directions in which `A` is zero keep their rotation, which suits iterations that start from a guess.

use super::{Kernel, dispatch};
use glam::{DMat3, DQuat};
use rayon::prelude::*;

const LANES: usize = 8;
/// Rotations per unit of parallel work.
const CHUNK_ROTATIONS: usize = 256;

/// Turn each rotation `R` towards the best fit of its matrix `A` (largest `tr(Rᵀ A)`), in a number of rounds.
///
/// # Panics
/// If the slices differ in length.
pub fn fit_rotations(matrices: &[DMat3], rotations: &mut [DQuat], rounds: usize) {
    assert_eq!(matrices.len(), rotations.len(), "one rotation per matrix");
    if matrices.len() <= 2 * CHUNK_ROTATIONS {
        return dispatch(Fit { matrices, rotations, rounds });
    }
    matrices.par_chunks(CHUNK_ROTATIONS).zip(rotations.par_chunks_mut(CHUNK_ROTATIONS)).for_each(
        |(matrices, rotations)| {
            dispatch(Fit { matrices, rotations, rounds });
        },
    );
}

struct Fit<'a> {
    matrices: &'a [DMat3],
    rotations: &'a mut [DQuat],
    rounds: usize,
}

type Lane = [f64; LANES];

impl Kernel for Fit<'_> {
    type Output = ();
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        for (matrices, rotations) in self.matrices.chunks(LANES).zip(self.rotations.chunks_mut(LANES)) {
            let mut a = [[0.0; LANES]; 9];
            let mut q = [[0.0; LANES], [0.0; LANES], [0.0; LANES], [1.0; LANES]];
            for (l, (matrix, rotation)) in matrices.iter().zip(rotations.iter()).enumerate() {
                let entries = matrix.to_cols_array();
                (0..9).for_each(|k| a[k][l] = entries[k]);
                let parts = rotation.to_array();
                (0..4).for_each(|k| q[k][l] = parts[k]);
            }
            for _ in 0..self.rounds {
                turn(&a, &mut q);
            }
            for (l, rotation) in rotations.iter_mut().enumerate() {
                *rotation = DQuat::from_xyzw(q[0][l], q[1][l], q[2][l], q[3][l]);
            }
        }
    }
}

/// One round for eight rotations. `a` holds columns.
#[inline(always)]
fn turn(a: &[Lane; 9], q: &mut [Lane; 4]) {
    for l in 0..LANES {
        let (x, y, z, w) = (q[0][l], q[1][l], q[2][l], q[3][l]);
        let r = [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)],
            [2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)],
            [2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)],
        ];
        let (mut ox, mut oy, mut oz, mut trace) = (0.0, 0.0, 0.0, 0.0);
        for c in 0..3 {
            let (u, v) = (r[c], [a[3 * c][l], a[3 * c + 1][l], a[3 * c + 2][l]]);
            ox += u[1] * v[2] - u[2] * v[1];
            oy += u[2] * v[0] - u[0] * v[2];
            oz += u[0] * v[1] - u[1] * v[0];
            trace += u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
        }
        // Half of ω = Σ r × a / |Σ r · a|; a zero matrix turns nothing.
        let scale = 0.5 / (trace.abs() + f64::MIN_POSITIVE * 1e10);
        let (hx, hy, hz) = (ox * scale, oy * scale, oz * scale);
        let nx = x + hx * w + hy * z - hz * y;
        let ny = y + hy * w + hz * x - hx * z;
        let nz = z + hz * w + hx * y - hy * x;
        let nw = w - hx * x - hy * y - hz * z;
        let inverse = 1.0 / (nx * nx + ny * ny + nz * nz + nw * nw).sqrt();
        q[0][l] = nx * inverse;
        q[1][l] = ny * inverse;
        q[2][l] = nz * inverse;
        q[3][l] = nw * inverse;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::polar;
    use glam::DVec3;
    use proptest::prelude::*;

    proptest! {
        /// Stretched rotations are recovered from a start up to a right angle away.
        #[test]
        fn agrees_with_the_polar_decomposition(
            turn in prop::array::uniform3(-1.5..1.5f64),
            stretch in prop::array::uniform3(0.3..2.0f64),
            off in prop::array::uniform3(-0.8..0.8f64),
        ) {
            let rotation = DQuat::from_scaled_axis(DVec3::from_array(turn));
            let shear = DMat3::from_quat(DQuat::from_scaled_axis(DVec3::from_array(off)));
            let a = DMat3::from_quat(rotation) * shear * DMat3::from_diagonal(DVec3::from_array(stretch)) * shear.transpose();
            let start = DQuat::from_scaled_axis(DVec3::from_array(off)) * rotation;
            let mut found = vec![start; 11];
            fit_rotations(&vec![a; 11], &mut found, 60);
            for q in found {
                let best = polar(&a).0;
                prop_assert!((DMat3::from_quat(q) - best).to_cols_array().iter().all(|d| d.abs() < 1e-6));
            }
        }
    }

    #[test]
    fn an_empty_matrix_turns_nothing() {
        let start = DQuat::from_scaled_axis(DVec3::new(0.3, 0.1, -2.0));
        let mut found = [start; 3];
        fit_rotations(&[DMat3::ZERO; 3], &mut found, 5);
        assert!(found.iter().all(|q| q.is_finite() && q.dot(start).abs() > 1.0 - 1e-12));
    }
}
