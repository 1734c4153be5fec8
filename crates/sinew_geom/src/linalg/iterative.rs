//! Iterative least squares: LSQR.
//!
//! # Source
//! Paige and Saunders, *LSQR: an algorithm for sparse linear equations and sparse least squares* (1982), algorithm 1
//! with their stopping rules 1 and 2.
//! # Cost
//! Two sparse products per iteration.

use super::{SparseMatrix, dot};
use crate::GeomError;

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IterationParams {
    /// Stop when the residual falls below this fraction of the right-hand side. Default 1e-10.
    pub tolerance: f64,
    /// Give up after this many iterations. Default 10,000.
    pub max_iterations: usize,
}

impl Default for IterationParams {
    fn default() -> Self {
        Self { tolerance: 1e-10, max_iterations: 10_000 }
    }
}

/// Report of an iteration. The last iterate is returned even if it did not converge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IterationReport {
    /// Whether the tolerance was reached.
    pub converged: bool,
    /// Iterations done.
    pub iterations: usize,
    /// The smaller of `‖b − A x‖ / ‖b‖` and `‖Aᵀ r‖ / (‖A‖ ‖r‖)`.
    pub residual: f64,
}

fn check(what: &'static str, expected: usize, actual: usize) -> Result<(), GeomError> {
    if expected == actual { Ok(()) } else { Err(GeomError::Length { what, expected, actual }) }
}

/// Least squares: minimise `‖A x − b‖² + damping² ‖x‖²` for any matrix, from zero. Among several minimisers
/// the shortest is found.
///
/// # Errors
/// Lengths that do not fit, or a right-hand side that is not finite.
pub fn lsqr(
    a: &SparseMatrix,
    b: &[f64],
    damping: f64,
    params: &IterationParams,
) -> Result<(Vec<f64>, IterationReport), GeomError> {
    check("right-hand side", a.n_rows(), b.len())?;
    finite(b)?;
    let at = a.transpose();
    let (m, n) = (a.n_rows(), a.n_cols());
    let mut x = vec![0.0; n];
    let (mut u, mut beta) = normalised(b.to_vec());
    let scale = beta;
    let mut v = vec![0.0; n];
    at.mul_vec(&u, &mut v);
    let mut alpha;
    (v, alpha) = normalised(v);
    let mut w = v.clone();
    let (mut phi_bar, mut rho_bar) = (beta, alpha);
    // Frobenius norm of [A; damping·I], built up as the bidiagonalisation proceeds.
    let mut norm_squared = alpha * alpha;
    let (mut av, mut atu) = (vec![0.0; m], vec![0.0; n]);
    let mut damped = 0.0f64;
    if scale == 0.0 || alpha == 0.0 {
        return Ok((x, IterationReport { converged: true, iterations: 0, residual: 0.0 }));
    }
    for iterations in 1..=params.max_iterations {
        // Bidiagonalisation: β u = A v − α u, α v = Aᵀ u − β v.
        a.mul_vec(&v, &mut av);
        (u, beta) = normalised(av.iter().zip(&u).map(|(av, u)| av - alpha * u).collect());
        norm_squared += beta * beta + damping * damping;
        at.mul_vec(&u, &mut atu);
        (v, alpha) = normalised(atu.iter().zip(&v).map(|(atu, v)| atu - beta * v).collect());
        norm_squared += alpha * alpha;
        // Plane rotations that eliminate the damping, then the subdiagonal.
        let rho_damped = rho_bar.hypot(damping);
        let psi = damping / rho_damped * phi_bar;
        damped = damped.hypot(psi);
        phi_bar *= rho_bar / rho_damped;
        let rho = rho_damped.hypot(beta);
        let (c, s) = (rho_damped / rho, beta / rho);
        let theta = s * alpha;
        rho_bar = -c * alpha;
        let phi = c * phi_bar;
        phi_bar *= s;
        for i in 0..n {
            x[i] += phi / rho * w[i];
            w[i] = v[i] - theta / rho * w[i];
        }
        let residual_norm = phi_bar.hypot(damped);
        let gradient = (phi_bar * alpha * c).abs();
        let relative = (residual_norm / scale)
            .min(gradient / (norm_squared.sqrt() * residual_norm.max(f64::MIN_POSITIVE)));
        let converged = relative <= params.tolerance || alpha == 0.0 || beta == 0.0;
        if converged || iterations == params.max_iterations {
            return Ok((x, IterationReport { converged, iterations, residual: relative }));
        }
    }
    Ok((x, IterationReport { converged: false, iterations: 0, residual: 1.0 }))
}

fn finite(b: &[f64]) -> Result<(), GeomError> {
    match b.iter().position(|x| !x.is_finite()) {
        Some(index) => Err(GeomError::NonFinite { what: "right-hand side", index }),
        None => Ok(()),
    }
}

fn normalised(mut v: Vec<f64>) -> (Vec<f64>, f64) {
    let length = dot(&v, &v).sqrt();
    if length > 0.0 {
        v.iter_mut().for_each(|x| *x /= length);
    }
    (v, length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Cholesky;
    use proptest::prelude::*;

    proptest! {
        /// It agrees with the direct solver on the (damped) normal equations of a random tall matrix.
        #[test]
        fn agrees_with_cholesky(
            entries in prop::collection::vec((0u32..20, 0u32..8, -1.0..1.0f64), 30..100),
            b in prop::collection::vec(-1.0..1.0f64, 20),
        ) {
            let a = SparseMatrix::from_triplets(20, 8, entries);
            let damping = 0.3;
            let normal = a.gram().add_diagonal(&[damping * damping; 8]);
            let mut atb = vec![0.0; 8];
            a.transpose().mul_vec(&b, &mut atb);
            let mut exact: Vec<[f64; 1]> = atb.iter().map(|&x| [x]).collect();
            Cholesky::<f64>::new(&normal).unwrap().solve(&mut exact).unwrap();
            let params = IterationParams { tolerance: 1e-13, ..Default::default() };
            let (x, report) = lsqr(&a, &b, damping, &params).unwrap();
            prop_assert!(report.converged);
            for i in 0..8 {
                prop_assert!((x[i] - exact[i][0]).abs() < 1e-8, "lsqr {} {}", x[i], exact[i][0]);
            }
        }
    }

    #[test]
    fn lsqr_finds_the_shortest_of_many_solutions() {
        // One equation x + 2y = 5: the nearest point to the origin is (1, 2).
        let a = SparseMatrix::from_triplets(1, 2, [(0, 0, 1.0), (0, 1, 2.0)]);
        let (x, _) = lsqr(&a, &[5.0], 0.0, &IterationParams::default()).unwrap();
        assert!((x[0] - 1.0).abs() < 1e-12 && (x[1] - 2.0).abs() < 1e-12);
    }

    #[test]
    fn stopping_early_is_reported() {
        let a = SparseMatrix::from_triplets(
            3,
            3,
            [(0, 0, 1.0), (1, 1, 50.0), (2, 2, 9.0), (0, 1, 1.0), (1, 0, 1.0)],
        );
        let params = IterationParams { max_iterations: 1, ..Default::default() };
        let (_, report) = lsqr(&a, &[1.0, 2.0, 3.0], 0.0, &params).unwrap();
        assert!(!report.converged && report.residual > 1e-10);
    }
}
