//! Objectives of a clip, minimised or maximised by a linear term in every frame.
//!
//! # Source
//! A linear term beside the squares of `solve`: at the minimum, it balances the gradient of the squares, `κ ∇f = −½ ∇ Σ ‖r‖²`.
//! The second derivative of a point on a chain of joints with respect to two of their rotations is `a × v`, where `a`
//! is the axis of the upper joint and `v` the velocity that the lower joint gives the point (Featherstone, *Rigid Body
//! Dynamics Algorithms*, 2008, ch. 2).
//! # Symbols
//! `f` quantity to minimise; `κ` its weight; `H` second derivatives of `f`, made diagonally dominant
//! # Limits
//! In `H`, though not in the gradient, `f` is treated as linear in the points, and named degrees of freedom as linear in
//! the corrections.

use super::{corrections::Corrections, rules::RuleRows};
use crate::{Screw, equations::RowSink};
use glam::DVec3;

/// Weight of an objective per metre, which `weight` multiplies: a hanging arm is raised to within a fortieth of its length,
/// and rules are violated by a third of a millimetre, or by three centimetres if they are soft by one centimetre.
pub(super) const OBJECTIVE_WEIGHT_PER_METRE: f64 = 300.0;

/// Value, slope and curvature of an objective in one frame.
#[derive(Debug, Clone, Default)]
pub(super) struct Curvature {
    value: f64,
    slope: Vec<f64>,
    /// Symmetric, of all degrees of freedom.
    curve: Vec<f64>,
}

impl Curvature {
    /// Compute them for the sum of a rule's rows; returns that sum.
    pub fn compute(&mut self, rows: &RuleRows, corrections: &Corrections, screws: &[Screw]) -> f64 {
        self.value = 0.0;
        self.slope.clear();
        self.slope.resize(corrections.n, 0.0);
        self.curve.clear();
        self.curve.resize(corrections.n * corrections.n, 0.0);
        let mut sink = CurvatureRows { rows, corrections, screws, out: self };
        rows.equations.blocks.iter().for_each(|block| rows.equations.write(block, &rows.state, &mut sink));
        self.value
    }

    /// Add them, times `strength`, to a gradient and to the lower triangle of its matrix.
    pub fn add(&self, strength: f64, block: &mut [f64], gradient: &mut [f64]) {
        let n = gradient.len();
        for i in 0..n {
            gradient[i] += strength * self.slope[i];
            let line = &self.curve[i * n..(i + 1) * n];
            for j in 0..i {
                block[i * n + j] += strength * line[j];
            }
            // A step needs a positive definite matrix: diagonal dominance makes it so.
            let others = line.iter().map(|x| x.abs()).sum::<f64>() - line[i].abs();
            block[i * n + i] += strength * line[i].max(others);
        }
    }
}

struct CurvatureRows<'a> {
    rows: &'a RuleRows,
    corrections: &'a Corrections,
    screws: &'a [Screw],
    out: &'a mut Curvature,
}

impl CurvatureRows<'_> {
    fn add_arrow(&mut self, arrow: usize, gradient: DVec3) {
        let n = self.corrections.n;
        let columns = || self.rows.columns.of_arrow(arrow).map(|(column, v)| (self.rows.used[column], v));
        for (i, velocity) in columns() {
            self.out.slope[i] += gradient.dot(velocity);
            let lever = gradient.cross(self.screws[i].angular);
            for (j, lower) in columns().filter(|(j, _)| self.corrections.is_above(i, *j)) {
                // gradient · (a × v)
                let bend = lever.dot(lower);
                self.out.curve[i * n + j] += bend;
                if i != j {
                    self.out.curve[j * n + i] += bend;
                }
            }
        }
    }
}

impl RowSink for CurvatureRows<'_> {
    fn expression(
        &mut self,
        value: f64,
        by_arrow: impl Iterator<Item = (usize, DVec3)>,
        by_dof: impl Iterator<Item = (usize, f64)>,
    ) {
        self.out.value += value;
        by_arrow.for_each(|(arrow, gradient)| self.add_arrow(arrow, gradient));
        for (dof, derivative) in by_dof {
            for &(column, slope) in self.rows.columns.of_dof(dof) {
                self.out.slope[self.rows.used[column as usize]] += derivative * slope;
            }
        }
    }
}
