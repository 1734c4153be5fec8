//! Descents: to a pose at which the rules hold, and from there to the pose nearest to the start.
//!
//! # Source
//! Levenberg (1944) and Marquardt (1963), with damping proportional to the residual (Yamashita and Fukushima 2001) and
//! ranges by an active set inside the step. Abdelhay (2008) asks for a proper stopping test (§3.7) and for ranges of
//! the variables (§5.2), and adjusts a given pose rather than finding any (§3.2). Groups of equations are
//! independent: each has its own damping, and all are evaluated together.
//! # Symbols
//! `λ` damping of a group, `c` its sum of squares; `ε` compliance of rows that must hold, reduced in stages; `μ`
//! damping of the pull towards the start.

use super::{
    solution::Stop,
    solver::{Point, SolveParams, Solver},
    step::LinearStep,
};
use crate::compile::Aim;

/// Rounds in which degrees of freedom are held at their limits and inequalities join, in one step.
const MAX_ACTIVE_SET_PASSES: usize = 6;
/// No joint turns further than this in one step, in radians.
const MAX_TURN_RADIANS: f64 = 0.5;
/// Distance from a limit at which a value counts as at the limit.
const LIMIT_TOLERANCE: f64 = 1e-12;
/// Compliance that keeps redundant rows from making a step singular, in square metres.
const MIN_COMPLIANCE: f64 = 1e-10;
/// Compliances of rows that must hold, in metres, from coarse to fine.
const STAGE_METRES: [f64; 4] = [1e-2, 1e-3, 1e-4, 1e-5];
/// The finest compliances of rules of priorities 2, 3, …; each is too soft to affect the one before.
const PRIORITY_METRES: [f64; 3] = [1e-3, 1e-1, 1.0];
/// Iterations of one stage.
const STAGE_ITERATIONS: usize = 60;

/// Progress of one group.
#[derive(Clone, Copy)]
struct Progress {
    damping: f64,
    merit: f64,
    stop: Option<Stop>,
}

/// What a step is to do.
#[derive(Clone, Copy)]
enum StepGoal<'a> {
    /// Solve the rows that must hold, with a compliance.
    Hold(f64),
    /// Stay near a start; compliance of rows that must hold, and damping.
    Near { start: &'a [f64], stage: f64, damping: f64 },
}

impl Solver {
    /// From the present pose to one at which all rows that must hold do, within ranges.
    pub(super) fn feasible(&mut self, params: &SolveParams) -> (Stop, usize) {
        self.begin(params.ranges);
        let mut progress: Vec<Progress> = (0..self.groups.len())
            .map(|group| Progress { damping: 1e-2, merit: self.sum_of_squares(group, &self.now), stop: None })
            .collect();
        let mut iterations = 0;
        loop {
            let mut is_open = false;
            for group in 0..self.groups.len() {
                if progress[group].stop.is_none() && self.is_solved(group, params.tolerance) {
                    progress[group].stop = Some(Stop::Converged);
                }
                if progress[group].stop.is_none() {
                    let Progress { damping, merit, .. } = progress[group];
                    self.step(group, StepGoal::Hold(damping * merit + MIN_COMPLIANCE), params.ranges);
                    is_open = true;
                }
            }
            if !is_open {
                break;
            }
            if iterations == params.max_iterations {
                progress.iter_mut().for_each(|p| _ = p.stop.get_or_insert(Stop::IterationLimit));
                break;
            }
            iterations += 1;
            self.system.evaluate(&self.trial.pose, &mut self.trial.f, &mut self.trial.jacobian);
            self.accept(&mut progress, |solver, group, progress| {
                let merit = solver.sum_of_squares(group, &solver.trial);
                if merit < progress.merit * (1.0 - 1e-10) {
                    progress.merit = merit;
                    progress.damping = (progress.damping * 0.2).max(1e-9);
                    return true;
                }
                progress.damping *= 8.0;
                if !merit.is_finite() && progress.damping > 1e6 {
                    progress.stop = Some(Stop::NotFinite);
                } else if progress.damping > 1e8 {
                    progress.stop = Some(Stop::Stalled);
                }
                false
            });
        }
        (self.overall(progress.iter().filter_map(|p| p.stop), params.tolerance), iterations)
    }

    /// Along poses at which the rules hold to the one nearest to `start`; soft rules and later priorities enter here.
    pub(super) fn nearest(&mut self, start: &[f64], params: &SolveParams, is_feasible: bool) -> usize {
        let before = self.now.pose.clone();
        self.begin(params.ranges);
        let cost = self.cost();
        // Rules that cannot hold keep their residual, so that the nearest among the best compromises is found.
        for row in 0..self.now.f.len() {
            let is_off = !is_feasible && self.is_hard[row];
            self.offset[row] = if is_off { self.excess(row, self.now.f[row]) } else { 0.0 };
        }
        let mut iterations = 0;
        for stage in STAGE_METRES {
            let mut progress: Vec<Progress> = (0..self.groups.len())
                .map(|group| Progress {
                    damping: 1e-3,
                    merit: self.merit(group, &self.now, start, stage),
                    stop: None,
                })
                .collect();
            for _ in 0..STAGE_ITERATIONS {
                for group in 0..self.groups.len() {
                    if progress[group].stop.is_none() {
                        self.step(
                            group,
                            StepGoal::Near { start, stage, damping: progress[group].damping },
                            params.ranges,
                        );
                    }
                }
                if progress.iter().all(|p| p.stop.is_some()) {
                    break;
                }
                iterations += 1;
                self.system.evaluate(&self.trial.pose, &mut self.trial.f, &mut self.trial.jacobian);
                self.accept(&mut progress, |solver, group, progress| {
                    let merit = solver.merit(group, &solver.trial, start, stage);
                    if merit < progress.merit {
                        if progress.merit - merit < 1e-6 * progress.merit {
                            progress.stop = Some(Stop::Converged);
                        }
                        progress.merit = merit;
                        progress.damping = (progress.damping * 0.2).max(1e-9);
                        return true;
                    }
                    progress.damping = (progress.damping * 5.0).max(1e-4);
                    if progress.damping > 1e6 {
                        progress.stop = Some(Stop::Stalled);
                    }
                    false
                });
            }
        }
        self.offset.fill(0.0);
        let is_worse = if is_feasible {
            let (stop, more) = self.feasible(params);
            iterations += more;
            stop != Stop::Converged
        } else {
            self.cost() > cost * (1.0 + 1e-6)
        };
        // A nearer pose at which the rules no longer hold is rejected.
        if is_worse {
            self.now.pose.copy_from_slice(&before);
            self.system.evaluate(&self.now.pose, &mut self.now.f, &mut self.now.jacobian);
        }
        iterations
    }

    fn begin(&mut self, ranges: bool) {
        if ranges {
            for (&dof, [low, high]) in self.system.dofs.iter().zip(&self.ranges) {
                self.now.pose[dof] = self.now.pose[dof].max(*low).min(*high);
            }
        }
        self.trial.pose.copy_from_slice(&self.now.pose);
        self.system.evaluate(&self.now.pose, &mut self.now.f, &mut self.now.jacobian);
    }

    /// Accept the trial of each open group that improved.
    fn accept(
        &mut self,
        progress: &mut [Progress],
        mut judge: impl FnMut(&Self, usize, &mut Progress) -> bool,
    ) {
        let mut is_better = Vec::with_capacity(progress.len());
        for (group, progress) in progress.iter_mut().enumerate() {
            is_better.push(progress.stop.is_some() || judge(self, group, progress));
        }
        if is_better.iter().all(|better| *better) {
            // Groups that had stopped are the same in both.
            std::mem::swap(&mut self.now, &mut self.trial);
            self.trial.pose.copy_from_slice(&self.now.pose);
            return;
        }
        for group in (0..progress.len()).filter(|&group| is_better[group]) {
            let (rows, columns) = (self.groups[group].rows.clone(), self.groups[group].columns.clone());
            let wide = rows.start * self.system.stride..rows.end * self.system.stride;
            self.now.f[rows.clone()].copy_from_slice(&self.trial.f[rows]);
            self.now.jacobian[wide.clone()].copy_from_slice(&self.trial.jacobian[wide]);
            for &dof in &self.system.dofs[columns] {
                self.now.pose[dof] = self.trial.pose[dof];
            }
        }
        self.trial.pose.copy_from_slice(&self.now.pose);
    }

    fn sum_of_squares(&self, group: usize, at: &Point) -> f64 {
        let rows = self.groups[group].rows.clone();
        rows.filter(|&row| self.is_hard[row]).map(|row| self.excess(row, at.f[row]).powi(2)).sum()
    }

    fn merit(&self, group: usize, at: &Point, start: &[f64], stage: f64) -> f64 {
        let mut sum = 0.0;
        for row in self.groups[group].rows.clone() {
            sum += (self.excess(row, at.f[row]) - self.offset[row]).powi(2) / self.compliance(row, stage);
        }
        for column in self.groups[group].columns.clone() {
            let dof = self.system.dofs[column];
            sum += (at.pose[dof] - start[dof]).powi(2) / self.metric[column];
        }
        sum
    }

    /// Squared tolerance of a row at a stage.
    fn compliance(&self, row: usize, stage: f64) -> f64 {
        match self.softness[row] {
            None => stage * stage,
            Some((1, soft)) => soft,
            Some((level, _)) => {
                let finest = PRIORITY_METRES[(level as usize - 2).min(PRIORITY_METRES.len() - 1)];
                finest.max(stage).powi(2)
            }
        }
    }

    fn is_solved(&self, group: usize, tolerance: f64) -> bool {
        let rows = self.groups[group].rows.clone();
        rows.filter(|&row| self.is_hard[row])
            .all(|row| self.excess(row, self.now.f[row]).abs() < tolerance * self.system.rows[row].weight)
    }

    /// Write the next trial of a group.
    #[inline]
    fn step(&mut self, group: usize, goal: StepGoal<'_>, ranges: bool) {
        let columns = self.groups[group].columns.clone();
        let mut work = std::mem::take(&mut self.scratch);
        self.choose_rows(group, goal, &mut work);
        work.metric.clear();
        work.desired.clear();
        for column in columns.clone() {
            match goal {
                StepGoal::Hold(_) => work.metric.push(self.metric[column]),
                StepGoal::Near { start, damping, .. } => {
                    let dof = self.system.dofs[column];
                    work.metric.push(self.metric[column] / (1.0 + damping));
                    work.desired.push((start[dof] - self.now.pose[dof]) / (1.0 + damping));
                }
            }
        }
        work.dx.resize(columns.len(), 0.0);
        for _ in 0..MAX_ACTIVE_SET_PASSES {
            let linear = LinearStep {
                jacobian: &self.now.jacobian,
                stride: self.system.stride,
                columns: [columns.start, columns.len()],
                rows: &work.rows,
                f: &work.f,
                compliance: &work.compliance,
                metric: &work.metric,
                desired: matches!(goal, StepGoal::Near { .. }).then_some(&work.desired),
            };
            if !linear.solve(&mut work.step, &mut work.dx) {
                work.dx.fill(0.0);
            }
            let is_held = ranges && self.hold_at_limits(columns.start, &mut work);
            let has_joined = self.join_inequalities(group, goal, &mut work);
            if !is_held && !has_joined {
                break;
            }
        }
        let rotations = work.dx.iter().zip(&self.is_rotation[columns.clone()]).filter(|(_, is)| **is);
        let longest = rotations.fold(0.0f64, |most, (dx, _)| most.max(dx.abs()));
        let share = if longest > MAX_TURN_RADIANS { MAX_TURN_RADIANS / longest } else { 1.0 };
        for (column, dx) in columns.zip(&work.dx) {
            let dof = self.system.dofs[column];
            let mut value = self.now.pose[dof] + share * dx;
            if ranges {
                let [low, high] = self.ranges[column];
                value = value.max(low).min(high);
            }
            self.trial.pose[dof] = value;
        }
        self.scratch = work;
    }

    /// Rows of a group that count now: equations, and inequalities that are broken.
    #[inline]
    fn choose_rows(&self, group: usize, goal: StepGoal<'_>, work: &mut super::solver::StepBuffers) {
        work.rows.clear();
        work.f.clear();
        work.compliance.clear();
        for row in self.groups[group].rows.clone() {
            let f = self.now.f[row];
            if self.system.rows[row].aim == Aim::Zero || f > 0.0 {
                self.push_row(row, goal, work);
            }
        }
    }

    #[inline(always)]
    fn push_row(&self, row: usize, goal: StepGoal<'_>, work: &mut super::solver::StepBuffers) {
        let compliance = match goal {
            StepGoal::Hold(_) if !self.is_hard[row] => return,
            StepGoal::Hold(compliance) => compliance,
            StepGoal::Near { stage, .. } => self.compliance(row, stage),
        };
        work.rows.push(row as u32);
        work.f.push(self.now.f[row] - self.offset[row]);
        work.compliance.push(compliance);
    }

    /// Fix columns that are at a limit and would go beyond it.
    #[inline]
    fn hold_at_limits(&self, first: usize, work: &mut super::solver::StepBuffers) -> bool {
        let mut is_new = false;
        for (i, dx) in work.dx.iter().enumerate() {
            let column = first + i;
            let value = self.now.pose[self.system.dofs[column]];
            let [low, high] = self.ranges[column];
            let leaves = (value <= low + LIMIT_TOLERANCE && *dx < 0.0)
                || (value >= high - LIMIT_TOLERANCE && *dx > 0.0);
            if leaves && work.metric[i] > 0.0 {
                work.metric[i] = 0.0;
                if let Some(desired) = work.desired.get_mut(i) {
                    *desired = 0.0;
                }
                is_new = true;
            }
        }
        is_new
    }

    /// Inequalities that hold now but would be broken by the step take part in it.
    #[inline]
    fn join_inequalities(
        &self,
        group: usize,
        goal: StepGoal<'_>,
        work: &mut super::solver::StepBuffers,
    ) -> bool {
        let columns = self.groups[group].columns.clone();
        let mut is_new = false;
        for row in self.groups[group].rows.clone() {
            if self.system.rows[row].aim != Aim::AtMostZero || work.rows.contains(&(row as u32)) {
                continue;
            }
            let start = row * self.system.stride;
            let line = &self.now.jacobian[start + columns.start..start + columns.end];
            let reached = self.now.f[row] + line.iter().zip(&work.dx).map(|(j, dx)| j * dx).sum::<f64>();
            if reached > 1e-12 {
                let n = work.rows.len();
                self.push_row(row, goal, work);
                is_new |= work.rows.len() > n;
            }
        }
        is_new
    }

    /// The worst result of all groups; rows that nothing can move count too.
    fn overall(&self, stops: impl Iterator<Item = Stop>, tolerance: f64) -> Stop {
        let rank = |stop: &Stop| match stop {
            Stop::Converged => 0,
            Stop::IterationLimit => 1,
            Stop::Oscillating => 2,
            Stop::Stalled => 3,
            Stop::NotFinite | Stop::Unbounded => 4,
        };
        let worst = stops.max_by_key(rank).unwrap_or(Stop::Converged);
        let is_off = |row: usize| {
            let holds = self.excess(row, self.now.f[row]).abs() < tolerance * self.system.rows[row].weight;
            self.is_hard[row] && !holds
        };
        let is_grouped = |row: usize| self.groups.iter().any(|group| group.rows.contains(&row));
        let is_stuck = (0..self.now.f.len()).any(|row| !is_grouped(row) && is_off(row));
        if is_stuck && worst == Stop::Converged { Stop::Stalled } else { worst }
    }
}
