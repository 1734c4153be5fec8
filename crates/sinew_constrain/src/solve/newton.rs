//! Newton–Raphson with the Moore–Penrose inverse, as in Abdelhay (2008).
//!
//! # Source
//! Abdelhay (2008), §3.7: Newton–Raphson with the Moore–Penrose inverse, steps 1 to 10. Differs: step 7 is printed as
//! `DX ← GIM · CS` instead of `−GIM · F(CS)`, and step 10 stops only after a fixed number of iterations; here the
//! iteration also stops when the equations hold, when nothing moves, and when it oscillates (§4.3.1, figure
//! 26).
//! # Limits
//! No ranges, weights, priorities or inequalities, as in the original.

use super::{
    solution::{Iterations, Stop},
    solver::{SolveParams, Solver},
};
use crate::compile::Aim;
use sinew_geom::linalg::{factor_rows, solve_lower, solve_upper, symmetric_eigen};

/// As in Abdelhay (2008), a centimetre counts as much as a radian; in square metres.
const SQUARE_RADIANS_PER_SQUARE_METRE: f64 = 1e-4;
/// Singular values below this share of the largest count as zero.
const MIN_SINGULAR_RATIO: f64 = 1e-7;
/// Sums of squares that repeat within this ratio oscillate.
const SAME_COST_RATIO: f64 = 0.01;

impl Solver {
    pub(super) fn newton(&mut self, start: &[f64], params: &SolveParams) -> (Stop, Iterations) {
        self.now.pose.copy_from_slice(start);
        let rows: Vec<usize> = (0..self.system.n_rows())
            .filter(|&row| self.is_hard[row] && self.system.rows[row].aim == Aim::Zero)
            .collect();
        let mut costs: Vec<f64> = Vec::new();
        let mut n = 0;
        let stop = loop {
            self.system.evaluate(&self.now.pose, &mut self.now.f, &mut self.now.jacobian);
            let largest = rows.iter().fold(0.0f64, |most, &row| most.max(self.now.f[row].abs()));
            costs.push(rows.iter().map(|&row| self.now.f[row].powi(2)).sum());
            if !costs[n].is_finite() {
                break Stop::NotFinite;
            }
            if largest < params.tolerance {
                break Stop::Converged;
            }
            if oscillates(&costs) {
                break Stop::Oscillating;
            }
            if n == params.max_iterations {
                break Stop::IterationLimit;
            }
            let step = self.pseudo_inverse_step(&rows);
            let mut longest: f64 = 0.0;
            for (&dof, dx) in self.system.dofs.iter().zip(&step) {
                self.now.pose[dof] += dx;
                longest = longest.max(dx.abs());
            }
            n += 1;
            if longest < 1e-14 {
                break Stop::Stalled;
            }
        };
        if stop == Stop::NotFinite {
            self.now.pose.copy_from_slice(start);
        }
        (stop, Iterations { feasible: n, ..Default::default() })
    }

    /// `−J⁺ f`: the shortest of the steps that come nearest.
    fn pseudo_inverse_step(&self, rows: &[usize]) -> Vec<f64> {
        let (m, n) = (rows.len(), self.system.dofs.len());
        let root = |column: usize| {
            if self.is_rotation[column] { 1.0 } else { SQUARE_RADIANS_PER_SQUARE_METRE.sqrt() }
        };
        let at = |i: usize, c: usize| self.now.jacobian[rows[i] * self.system.stride + c] * root(c);
        let f: Vec<f64> = rows.iter().map(|&row| -self.now.f[row]).collect();
        // J⁺ = Jᵀ (J Jᵀ)⁺ = (Jᵀ J)⁺ Jᵀ, using the smaller matrix.
        let mut step = if m <= n {
            let mut square = vec![0.0; m * m];
            for i in 0..m {
                for l in 0..=i {
                    let sum = (0..n).map(|c| at(i, c) * at(l, c)).sum();
                    (square[i * m + l], square[l * m + i]) = (sum, sum);
                }
            }
            let y = pseudo_solve(square, m, &f);
            (0..n).map(|c| (0..m).map(|i| at(i, c) * y[i]).sum()).collect::<Vec<f64>>()
        } else {
            let mut square = vec![0.0; n * n];
            for c in 0..n {
                for l in 0..=c {
                    let sum = (0..m).map(|i| at(i, c) * at(i, l)).sum();
                    (square[c * n + l], square[l * n + c]) = (sum, sum);
                }
            }
            let right: Vec<f64> = (0..n).map(|c| (0..m).map(|i| at(i, c) * f[i]).sum()).collect();
            pseudo_solve(square, n, &right)
        };
        step.iter_mut().enumerate().for_each(|(c, x)| *x *= root(c));
        step
    }
}

fn oscillates(costs: &[f64]) -> bool {
    let [.., a, b, c, d, e] = costs else { return false };
    let is_same = |x: f64, y: f64| (x - y).abs() < SAME_COST_RATIO * x.max(y);
    is_same(*a, *c) && is_same(*c, *e) && is_same(*b, *d) && !is_same(*d, *e)
}

/// Product of the Moore–Penrose inverse of a symmetric positive semidefinite matrix with a vector.
fn pseudo_solve(matrix: Vec<f64>, n: usize, right: &[f64]) -> Vec<f64> {
    let (values, vectors) = symmetric_eigen(&matrix, n);
    let largest = values.iter().fold(0.0f64, |most, x| most.max(*x));
    let mut result = vec![0.0; n];
    for (k, value) in values
        .iter()
        .enumerate()
        .filter(|(_, value)| **value > MIN_SINGULAR_RATIO * MIN_SINGULAR_RATIO * largest)
    {
        let share = (0..n).map(|i| vectors[k * n + i] * right[i]).sum::<f64>() / value;
        (0..n).for_each(|i| result[i] += share * vectors[k * n + i]);
    }
    result
}

/// Solve a positive definite system; `false` if it is not.
pub(super) fn solve_dense(matrix: &mut [f64], n: usize, right: &mut [f64]) -> bool {
    // Compiled without fused multiply-add: these systems are few.
    if factor_rows::<false, 8>(matrix, n).is_err() {
        return false;
    }
    solve_lower::<false, 8>(matrix, right);
    solve_upper::<false>(matrix, right);
    true
}
