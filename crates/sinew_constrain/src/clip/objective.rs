//! Objectives of a clip, minimised or maximised as a constant pull in every frame.
//!
//! # Source
//! A linear term beside the squares of `solve`: at the minimum, the pull balances what it bends, `κ ∇f = −½ ∇ Σ ‖r‖²`.
//! The second derivative of a point on a chain of joints with respect to two of their rotations is `a × v`, where `a`
//! is the axis of the upper joint and `v` the velocity that the lower joint gives the point (Featherstone, *Rigid Body
//! Dynamics Algorithms*, 2008, ch. 2).
//! # Symbols
//! `f` quantity to minimise; `κ` strength of its pull; `H` second derivatives of `f`, made diagonally dominant
//! # Limits
//! In `H`, though not in the gradient, `f` is treated as linear in the points.

use super::{
    World,
    freedom::{Axes, Freedoms},
};
use crate::pulls::Row;
use glam::DVec3;

/// Strength of a pull a metre, which `weight` multiplies: an arm that hung is raised to all but a fortieth of its length, and
/// rules are moved by a third of a millimetre, or by three centimetres where they are soft by one.
pub(super) const PULL: f64 = 300.0;

/// Slope and curvature of what is pulled, in one frame.
#[derive(Debug, Clone, Default)]
pub(super) struct Bend {
    slope: Vec<f64>,
    /// Symmetric, of all degrees of freedom.
    curve: Vec<f64>,
    columns: Vec<(usize, DVec3)>,
    turns: Vec<DVec3>,
}

impl Bend {
    /// Take slope and curvature of the sum of rows; returns that sum.
    pub fn compute(&mut self, rows: &[Row], (freedoms, world, axes): (&Freedoms, &World, &Axes)) -> f64 {
        let n = freedoms.n;
        self.slope.clear();
        self.slope.resize(n, 0.0);
        self.curve.clear();
        self.curve.resize(n * n, 0.0);
        for &(joint, point, direction) in rows.iter().flat_map(|row| &row.pulls) {
            freedoms.columns(joint, point, world, axes, &mut self.columns);
            freedoms.turns(joint, axes, &mut self.turns);
            for (upper, &(i, velocity)) in self.columns.iter().enumerate() {
                self.slope[i] += velocity.dot(direction);
                let lever = direction.cross(self.turns[upper]);
                for &(j, lower) in &self.columns[upper..] {
                    // direction · (a × v)
                    let bend = lever.dot(lower);
                    self.curve[i * n + j] += bend;
                    if i != j {
                        self.curve[j * n + i] += bend;
                    }
                }
            }
        }
        rows.iter().map(|row| row.residual).sum()
    }

    /// Add them, so many times, to a gradient and to the lower triangle of its matrix.
    pub fn add(&self, strength: f64, block: &mut [f64], gradient: &mut [f64]) {
        let n = gradient.len();
        for i in 0..n {
            gradient[i] += strength * self.slope[i];
            let line = &self.curve[i * n..(i + 1) * n];
            for j in 0..i {
                block[i * n + j] += strength * line[j];
            }
            // A step needs a matrix that is positive: a diagonal that outweighs its row makes it so.
            let others = line.iter().map(|x| x.abs()).sum::<f64>() - line[i].abs();
            block[i * n + i] += strength * line[i].max(others);
        }
    }
}
