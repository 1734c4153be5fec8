//! A solver for one set of rules.
//!
//! # Source
//! Abdelhay (2008), §3.7 and §5.2; the methods are those of `descent`, `objective` and `newton`. After a failure the
//! search restarts from another pose, as §4.3.1 suggests against local minima.
//! # Cost
//! `new`: two evaluations to find independent groups. `solve`: 10 to 150 evaluations and steps of microseconds each.

use super::{
    System,
    groups::{Group, arrange},
    solution::{Iterations, Solution, Stop},
    step::Scratch,
};
use crate::{
    ConstrainError,
    compile::{Aim, Problem},
};

/// How equations are solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// Levenberg–Marquardt within ranges, then the nearest pose.
    #[default]
    Default,
    /// Newton–Raphson with the Moore–Penrose inverse, as in Abdelhay (2008): no ranges, no weights, equations only.
    Newton,
}

/// How to solve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SolveParams {
    /// Which method.
    pub method: Method,
    /// Maximum number of iterations of one descent (default 100).
    pub max_iterations: usize,
    /// Residual up to which equations count as solved, in metres or tenths of radians (default 1e-6).
    pub tolerance: f64,
    /// Keep degrees of freedom within their ranges (default `true`).
    pub ranges: bool,
    /// Of all solutions take the one nearest to the start (default `true`).
    pub nearest: bool,
    /// Restarts after a failure (default 8).
    pub restarts: usize,
    /// Seed of these starts.
    pub seed: u64,
}

impl Default for SolveParams {
    fn default() -> Self {
        Self {
            method: Method::Default,
            max_iterations: 100,
            tolerance: 1e-6,
            ranges: true,
            nearest: true,
            restarts: 8,
            seed: 0,
        }
    }
}

/// Square metres that one square radian counts as when poses are compared: a radian counts as √0.1 m, about a third of a leg.
pub(crate) const SQUARE_METRES_PER_SQUARE_RADIAN: f64 = 0.1;

/// Values and derivatives at a pose.
#[derive(Debug, Clone, Default)]
pub(super) struct Point {
    pub pose: Vec<f64>,
    pub f: Vec<f64>,
    pub jacobian: Vec<f64>,
}

/// Rules on a skeleton, prepared. `new` costs time per rule; `solve` only time per pose, and allocates a little
/// at its end.
#[derive(Debug, Clone)]
pub struct Solver {
    pub(super) problem: Problem,
    pub(super) system: System,
    pub(super) groups: Vec<Group>,
    /// Rows that must hold before anything else is considered.
    pub(super) is_hard: Vec<bool>,
    /// Compliance of other rows, and the level they belong to (2, 3, …), or 1 for soft ones.
    pub(super) softness: Vec<Option<(u32, f64)>>,
    /// Square metres a unit of each column counts as; larger moves more easily.
    pub(super) metric: Vec<f64>,
    /// Range of each column.
    pub(super) ranges: Vec<[f64; 2]>,
    pub(super) is_rotation: Vec<bool>,
    /// Residual that each row keeps while the nearest pose is searched among compromises.
    pub(super) offset: Vec<f64>,
    pub(super) now: Point,
    pub(super) trial: Point,
    pub(super) scratch: StepBuffers,
}

/// Buffers of descents.
#[derive(Debug, Clone, Default)]
pub(super) struct StepBuffers {
    pub step: Scratch,
    pub rows: Vec<u32>,
    pub f: Vec<f64>,
    pub compliance: Vec<f64>,
    pub metric: Vec<f64>,
    pub desired: Vec<f64>,
    pub dx: Vec<f64>,
}

impl Solver {
    /// Prepare a problem: plan its kinematics, equations and independent groups.
    pub fn new(problem: Problem) -> Self {
        let mut system = System::new(&problem);
        let groups = arrange(&mut system, &problem.skeleton);
        let of = |row: &super::system::RowInfo| &problem.rules[row.rule];
        let is_hard = system.rows.iter().map(|row| {
            let rule = of(row);
            rule.aim != Aim::Objective && rule.soft.is_none() && rule.priority == 1
        });
        let is_hard: Vec<bool> = is_hard.collect();
        let softness = system.rows.iter().map(|row| {
            let rule = of(row);
            match (rule.aim, rule.soft, rule.priority) {
                (Aim::Objective, ..) | (_, None, 1) => None,
                (_, Some(soft), _) => Some((1, (soft * rule.scale * rule.weight).powi(2))),
                (_, None, level) => Some((level, 0.0)),
            }
        });
        let softness = softness.collect();
        let dofs = system.dofs.iter().map(|&dof| (dof, problem.skeleton.dofs()[dof]));
        let (mut metric, mut ranges, mut is_rotation) = (Vec::new(), Vec::new(), Vec::new());
        for (index, dof) in dofs {
            metric.push(
                if dof.is_rotation() { 1.0 } else { SQUARE_METRES_PER_SQUARE_RADIAN } / problem.keep[index],
            );
            ranges.push(dof.range);
            is_rotation.push(dof.is_rotation());
        }
        let point = Point {
            pose: problem.skeleton.rest_values(),
            f: vec![0.0; system.n_rows()],
            jacobian: vec![0.0; system.n_rows() * system.stride],
        };
        let scratch = StepBuffers::default();
        let offset = vec![0.0; system.n_rows()];
        let (now, trial) = (point.clone(), point);
        Self {
            problem,
            system,
            groups,
            is_hard,
            softness,
            metric,
            ranges,
            is_rotation,
            offset,
            now,
            trial,
            scratch,
        }
    }

    /// What is solved.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Number of independent groups of equations.
    pub fn n_groups(&self) -> usize {
        self.groups.len()
    }

    /// Bytes of memory that solving touches.
    pub fn n_bytes(&self) -> usize {
        let matrices = 8 * (self.now.jacobian.len() + self.now.f.len() + self.now.pose.len());
        let scratch = 8 * 16 * (16 + self.system.dofs.len());
        self.system.n_bytes() + 2 * matrices + scratch + 41 * self.metric.len()
    }

    /// Values of all equations at a pose and their derivatives, row after row in the order of the text, with a derivative
    /// for each degree of freedom of the skeleton.
    ///
    /// # Errors
    /// A pose of the wrong length, or with values that are not finite.
    pub fn evaluate(&mut self, values: &[f64]) -> Result<(Vec<f64>, Vec<f64>), ConstrainError> {
        self.problem.skeleton.check_values(values)?;
        self.evaluate_in_place(values);
        let n = values.len();
        let mut jacobian = vec![0.0; n * self.now.f.len()];
        let mut f = vec![0.0; self.now.f.len()];
        for (row, of) in self.system.rows.iter().enumerate() {
            f[of.index] = self.now.f[row];
            for (column, &dof) in self.system.dofs.iter().enumerate() {
                jacobian[of.index * n + dof] = self.now.jacobian[row * self.system.stride + column];
            }
        }
        Ok((f, jacobian))
    }

    /// The same into internal buffers, without checks: the work of one iteration.
    pub fn evaluate_in_place(&mut self, values: &[f64]) {
        self.now.pose.copy_from_slice(values);
        self.system.evaluate(&self.now.pose, &mut self.now.f, &mut self.now.jacobian);
    }

    /// Find a pose at which the rules hold, near a start.
    ///
    /// # Errors
    /// A start of the wrong length, or with values that are not finite. Rules that cannot all hold are no error: the
    /// best compromise is returned, and the report says so.
    pub fn solve(&mut self, start: &[f64], params: &SolveParams) -> Result<Solution, ConstrainError> {
        self.problem.skeleton.check_values(start)?;
        let (stop, mut iterations) = match params.method {
            Method::Newton => self.newton(start, params),
            Method::Default => self.find(start, params),
        };
        let mut unbounded = None;
        if params.method == Method::Default {
            if params.nearest {
                iterations.nearest = self.nearest(start, params, stop == Stop::Converged);
            }
            if self.system.rows.iter().any(|row| row.aim == Aim::Objective) {
                (iterations.objective, unbounded) = self.minimise_objective(params);
            }
        }
        let values = self.now.pose.clone();
        let mut report = self.report(&values, start, stop, iterations, params);
        if let Some(dof) = unbounded {
            self.report_unbounded(dof, &mut report);
        }
        Ok(Solution { values, report })
    }

    /// Only the first part of [`Solver::solve`]: some pose within ranges at which the rules hold. Fast, for dragging.
    ///
    /// # Errors
    /// As for [`Solver::solve`].
    pub fn solve_feasible(
        &mut self,
        start: &[f64],
        params: &SolveParams,
        values: &mut [f64],
    ) -> Result<(Stop, usize), ConstrainError> {
        self.problem.skeleton.check_values(start)?;
        self.now.pose.copy_from_slice(start);
        let (stop, iterations) = self.feasible(params);
        values.copy_from_slice(&self.now.pose);
        Ok((stop, iterations))
    }

    /// Descend from the start; if that fails, from random starts near it.
    fn find(&mut self, start: &[f64], params: &SolveParams) -> (Stop, Iterations) {
        self.now.pose.copy_from_slice(start);
        let (stop, mut n) = self.feasible(params);
        if stop == Stop::Converged {
            return (stop, Iterations { feasible: n, ..Default::default() });
        }
        let (mut best, mut best_stop, mut best_cost) = (self.now.pose.clone(), stop, self.cost());
        let mut random = Random(params.seed ^ 0x5DEE_CE66_D1CE_4E5B);
        let mut restarts = 0;
        let mut best_distance = f64::INFINITY;
        for _ in 0..params.restarts {
            restarts += 1;
            self.now.pose.copy_from_slice(start);
            for (column, &dof) in self.system.dofs.iter().enumerate() {
                let x = random.next();
                let [low, high] = self.ranges[column];
                let reach = if self.is_rotation[column] { 1.0 } else { 0.3 };
                let (low, high) = (low.max(start[dof] - reach), high.min(start[dof] + reach));
                self.now.pose[dof] = if low < high { low + x * (high - low) } else { start[dof] };
            }
            let (stop, more) = self.feasible(params);
            n += more;
            let (cost, distance) = (self.cost(), self.distance(start));
            let is_better = match (stop == Stop::Converged, best_stop == Stop::Converged) {
                (true, true) => distance < best_distance,
                (true, false) => true,
                (false, true) => false,
                (false, false) => cost < 0.99 * best_cost,
            };
            if is_better {
                best.copy_from_slice(&self.now.pose);
                (best_stop, best_cost, best_distance) = (stop, cost, distance);
            }
        }
        self.now.pose.copy_from_slice(&best);
        self.system.evaluate(&self.now.pose, &mut self.now.f, &mut self.now.jacobian);
        (best_stop, Iterations { feasible: n, restarts, ..Default::default() })
    }

    /// Distance of the current pose from another.
    pub(super) fn distance(&self, from: &[f64]) -> f64 {
        let columns = self.system.dofs.iter().zip(&self.metric);
        columns.map(|(&d, w)| (self.now.pose[d] - from[d]).powi(2) / w).sum::<f64>().sqrt()
    }

    /// Sum of squares of the rows that must hold.
    pub(super) fn cost(&self) -> f64 {
        self.now
            .f
            .iter()
            .enumerate()
            .filter(|(row, _)| self.is_hard[*row])
            .map(|(row, f)| self.excess(row, *f).powi(2))
            .sum()
    }

    /// Violation of a row: inequalities are violated in one direction only.
    #[inline(always)]
    pub(super) fn excess(&self, row: usize, f: f64) -> f64 {
        if self.system.rows[row].aim == Aim::AtMostZero { f.max(0.0) } else { f }
    }
}

/// Numbers from 0 to 1, the same on every machine (Steele's SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}
