//! Objectives: the minimum of a sum while the other rules hold.
//!
//! # Source
//! Hestenes (1969) and Powell (1969): augmented Lagrangian, with multipliers updated after every accepted Newton step;
//! Rockafellar's form for inequalities. Abdelhay (2008), §5.2, asks for objectives.
//! # Symbols
//! `φ` sum to minimise; `y` multipliers, `ρ` penalty: `φ + Σ (max(0, y + ρ f)² − y²) / 2ρ`, without the maximum for
//! equations. Its Hessian is `ρ Jᵀ J` plus that of `φ + Σ (y + ρ f) f`, which is computed by differences of gradients.
//! # Cost
//! Per iteration: one evaluation per degree of freedom and one dense factorisation.

use super::{
    newton::solve_dense,
    solver::{SolveParams, Solver},
};
use crate::compile::Aim;

/// Penalty per square metre.
const PENALTY_PER_SQUARE_METRE: f64 = 1e3;
/// Steps, in radians or in metres, at which the descent stops.
const MIN_STEP: f64 = 1e-8;
const MAX_ITERATIONS: usize = 200;
/// Difference for second derivatives.
const DIFFERENCE_STEP: f64 = 1e-6;
/// No joint turns further than this in one step.
const MAX_TURN_RADIANS: f64 = 0.3;

/// An objective that moves a joint further than this many metres, or radians, has no minimum.
const MAX_METRES: f64 = 1e4;
const MAX_RADIANS: f64 = 4.0 * std::f64::consts::PI;

/// A row that must hold, the value it is held at, and its multiplier.
struct HeldRow {
    row: usize,
    at: f64,
    is_one_sided: bool,
    multiplier: f64,
}

impl HeldRow {
    /// `y + ρ f`, zero for an inactive inequality.
    fn force(&self, f: f64) -> f64 {
        let force = self.multiplier + PENALTY_PER_SQUARE_METRE * (f - self.at);
        if self.is_one_sided { force.max(0.0) } else { force }
    }
}

impl Solver {
    /// Minimise the objectives from the current pose, at which the rules hold. Returns the number of
    /// iterations and, if there is no minimum, a degree of freedom that goes on without limit; then the pose stays.
    pub(super) fn minimise_objective(&mut self, params: &SolveParams) -> (usize, Option<usize>) {
        let before = self.now.clone();
        let mut held = self.held_rows();
        let (mut damping, mut iterations) = (1e-3, 0);
        while iterations < MAX_ITERATIONS {
            iterations += 1;
            let gradient = self.gradient(&held, &self.now.f.clone());
            let hessian = self.hessian(&held, &gradient);
            match self.descend(&mut held, &gradient, &hessian, &mut damping, params.ranges) {
                Some(moved) if moved > MIN_STEP => {}
                _ => break,
            }
            if let Some(dof) = self.runaway(&before.pose) {
                self.now = before;
                return (iterations, Some(dof));
            }
        }
        self.settle(before, params);
        (iterations, None)
    }

    /// The degree of freedom that is too far from another pose to be near a minimum, if any.
    fn runaway(&self, from: &[f64]) -> Option<usize> {
        let is_far = |&(column, &dof): &(usize, &usize)| {
            let limit = if self.is_rotation[column] { MAX_RADIANS } else { MAX_METRES };
            let way = (self.now.pose[dof] - from[dof]).abs();
            way > limit || way.is_nan()
        };
        self.system.dofs.iter().enumerate().find(is_far).map(|(_, &dof)| dof)
    }

    /// The first step that improves, with increasing damping; its length, or `None` if there is none.
    fn descend(
        &mut self,
        held: &mut [HeldRow],
        gradient: &[f64],
        hessian: &[f64],
        damping: &mut f64,
        ranges: bool,
    ) -> Option<f64> {
        let (old, value) = (self.now.clone(), self.lagrangian(held));
        while *damping < 1e8 {
            if let Some(step) = self.newton_step(hessian, gradient, *damping, ranges) {
                let turns = (0..step.len()).filter(|&c| self.is_rotation[c]);
                let longest = turns.fold(0.0f64, |most, c| most.max(step[c].abs()));
                let share = if longest > MAX_TURN_RADIANS { MAX_TURN_RADIANS / longest } else { 1.0 };
                self.move_by(&step, share, ranges);
                if self.lagrangian(held) < value - 1e-15 * value.abs() {
                    self.update_multipliers(held, &old, &step, share);
                    *damping = (*damping * 0.2).max(1e-9);
                    return Some(share * step.iter().fold(0.0f64, |most, x| most.max(x.abs())));
                }
                self.now.pose.copy_from_slice(&old.pose);
            }
            *damping *= 4.0;
        }
        self.now = old;
        None
    }

    /// Multipliers of the linearised rows at the end of the step. The curvature of the rows
    /// must not enter.
    fn update_multipliers(&self, held: &mut [HeldRow], old: &super::solver::Point, step: &[f64], share: f64) {
        for row in held {
            let line = &old.jacobian[row.row * self.system.stride..];
            let change: f64 = line.iter().zip(step).map(|(j, x)| j * x).sum();
            row.multiplier = row.force(old.f[row.row] + share * change);
        }
    }

    /// Project back onto the rules; if that fails, return to the start.
    fn settle(&mut self, before: super::solver::Point, params: &SolveParams) {
        self.trial.pose.copy_from_slice(&self.now.pose);
        let was_solved = self.is_all_solved(&before.f, params.tolerance);
        let (stop, _) = self.feasible(params);
        if was_solved && stop != super::Stop::Converged {
            self.now = before;
        }
    }

    fn is_all_solved(&self, f: &[f64], tolerance: f64) -> bool {
        f.iter()
            .enumerate()
            .filter(|(row, _)| self.is_hard[*row])
            .all(|(row, f)| self.excess(row, *f).abs() < tolerance * self.system.rows[row].weight)
    }

    fn held_rows(&self) -> Vec<HeldRow> {
        let mut held = Vec::new();
        for (row, of) in self.system.rows.iter().enumerate() {
            let is_level = matches!(self.softness[row], Some((2.., _)));
            if of.aim == Aim::Objective || !(self.is_hard[row] || is_level) {
                continue;
            }
            // Rules that could not hold are held at the residual they reached.
            let f = self.excess(row, self.now.f[row]);
            let at = if is_level { f } else { 0.0 };
            held.push(HeldRow { row, at, is_one_sided: of.aim == Aim::AtMostZero, multiplier: 0.0 });
        }
        held
    }

    fn lagrangian(&self, held: &[HeldRow]) -> f64 {
        let rows = self.system.rows.iter().zip(&self.now.f);
        let sum: f64 = rows.filter(|(row, _)| row.aim == Aim::Objective).map(|(_, f)| f).sum();
        let penalty = |row: &HeldRow| {
            (row.force(self.now.f[row.row]).powi(2) - row.multiplier.powi(2))
                / (2.0 * PENALTY_PER_SQUARE_METRE)
        };
        sum + held.iter().map(penalty).sum::<f64>()
    }

    /// Gradient by columns with forces taken at `f`.
    fn gradient(&self, held: &[HeldRow], f: &[f64]) -> Vec<f64> {
        let (n, stride) = (self.system.dofs.len(), self.system.stride);
        let mut gradient = vec![0.0; n];
        let mut add = |row: usize, factor: f64| {
            let line = &self.now.jacobian[row * stride..row * stride + n];
            gradient.iter_mut().zip(line).for_each(|(g, j)| *g += factor * j);
        };
        (0..self.system.n_rows())
            .filter(|&row| self.system.rows[row].aim == Aim::Objective)
            .for_each(|row| add(row, 1.0));
        for row in held {
            let force = row.force(f[row.row]);
            if force != 0.0 {
                add(row.row, force);
            }
        }
        gradient
    }

    fn hessian(&mut self, held: &[HeldRow], gradient: &[f64]) -> Vec<f64> {
        let (n, stride) = (self.system.dofs.len(), self.system.stride);
        let now = self.now.clone();
        let mut hessian = vec![0.0; n * n];
        for c in 0..n {
            let dof = self.system.dofs[c];
            self.now.pose[dof] = now.pose[dof] + DIFFERENCE_STEP;
            self.system.evaluate(&self.now.pose, &mut self.now.f, &mut self.now.jacobian);
            self.now.pose[dof] = now.pose[dof];
            let nudged = self.gradient(held, &now.f);
            (0..n).for_each(|l| hessian[c * n + l] = (nudged[l] - gradient[l]) / DIFFERENCE_STEP);
        }
        self.now = now;
        for c in 0..n {
            for l in 0..c {
                let mean = 0.5 * (hessian[c * n + l] + hessian[l * n + c]);
                (hessian[c * n + l], hessian[l * n + c]) = (mean, mean);
            }
        }
        for row in held.iter().filter(|row| row.force(self.now.f[row.row]) != 0.0 || !row.is_one_sided) {
            let line = &self.now.jacobian[row.row * stride..row.row * stride + n];
            for c in 0..n {
                for l in 0..n {
                    hessian[c * n + l] += PENALTY_PER_SQUARE_METRE * line[c] * line[l];
                }
            }
        }
        hessian
    }

    /// Newton step that stays within ranges: columns that would leave their range are fixed at the limit, and the
    /// others are solved again. `None` if the matrix is not positive definite yet.
    fn newton_step(&self, hessian: &[f64], gradient: &[f64], damping: f64, ranges: bool) -> Option<Vec<f64>> {
        let n = gradient.len();
        let mut held: Vec<Option<f64>> = vec![None; n];
        loop {
            let mut matrix = hessian.to_vec();
            let mut step: Vec<f64> = gradient.iter().map(|g| -g).collect();
            (0..n).for_each(|c| matrix[c * n + c] += damping / self.metric[c]);
            for (c, at) in held.iter().enumerate().filter_map(|(c, at)| Some((c, (*at)?))) {
                for l in 0..n {
                    step[l] -= matrix[l * n + c] * at;
                    (matrix[c * n + l], matrix[l * n + c]) = (0.0, 0.0);
                }
                matrix[c * n + c] = 1.0;
            }
            held.iter().enumerate().for_each(|(c, at)| step[c] = at.unwrap_or(step[c]));
            if !solve_dense(&mut matrix, n, &mut step) {
                return None;
            }
            let mut is_new = false;
            for c in (0..n).filter(|_| ranges) {
                let value = self.now.pose[self.system.dofs[c]];
                let [low, high] = self.ranges[c];
                let room = step[c].clamp(low - value, (high - value).max(low - value));
                if held[c].is_none() && (room - step[c]).abs() > 1e-12 {
                    held[c] = Some(room);
                    is_new = true;
                }
            }
            if !is_new {
                return Some(step);
            }
        }
    }

    fn move_by(&mut self, step: &[f64], share: f64, ranges: bool) {
        for (c, &dof) in self.system.dofs.iter().enumerate() {
            let value = self.now.pose[dof] + share * step[c];
            let [low, high] = self.ranges[c];
            self.now.pose[dof] = if ranges { value.max(low).min(high) } else { value };
        }
        self.system.evaluate(&self.now.pose, &mut self.now.f, &mut self.now.jacobian);
    }
}
