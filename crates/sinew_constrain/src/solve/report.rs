//! Report on a solution: residuals, remaining degrees of freedom, conflicts.
//!
//! # Source
//! The rank test of SolveSpace (`system.cpp`), for redundant rules and remaining degrees of freedom. Conflicts follow from the
//! least squares themselves: where no step helps, `Jᵀ f = 0`, so that exactly the rows that pull against each other
//! have errors.

use super::{
    solution::{Conflict, Iterations, RuleReport, SolveReport, Stop},
    solver::{SolveParams, Solver},
};
use crate::compile::{Aim, Measure};

/// Rows with a smaller remainder than this share after elimination are linearly dependent.
const DEPENDENT_RATIO: f64 = 1e-7;
/// Residual up to which a rule is reported to hold, metres or tenths of radians.
const HOLDS_METRES: f64 = 1e-4;
/// Distance from a limit that counts as none, metres or radians.
const LIMIT_TOLERANCE: f64 = 1e-6;

/// Maximum number of lines a message lists.
const MAX_LISTED: usize = 8;

impl Solver {
    /// A conflict as a message.
    pub fn describe_conflict(&self, report: &SolveReport, conflict: &Conflict) -> String {
        if let (true, Some(&dof)) = (conflict.is_unbounded, conflict.ranges.first()) {
            let name = self.problem.skeleton.dof_name(dof);
            return format!(
                "this objective has no limit: {name} goes on for ever; bound it with a rule or `range {name} in … .. …`"
            );
        }
        let lines: Vec<String> = conflict.rules[1..]
            .iter()
            .take(MAX_LISTED)
            .map(|&rule| self.problem.rules[rule].span.line.to_string())
            .collect();
        let ranges: Vec<String> =
            conflict.ranges.iter().map(|&dof| self.problem.skeleton.dof_name(dof)).collect();
        let mut others: Vec<String> = Vec::new();
        match lines.len() {
            0 => {}
            1 => others.push(format!("line {}", lines[0])),
            _ => others.push(format!("lines {}", lines.join(", "))),
        }
        match ranges.len() {
            0 => {}
            1 => others.push(format!("the range of {}", ranges[0])),
            _ => others.push(format!("the ranges of {}", ranges.join(", "))),
        }
        let (residual, unit) = report.rules[conflict.rules[0]].in_unit();
        let off = format!("off by {residual:.3} {unit}");
        if others.is_empty() {
            format!("this rule cannot hold ({off}); is its target out of reach?")
        } else {
            format!("this rule conflicts with {} ({off})", others.join(" and "))
        }
    }

    /// Report objectives that have no minimum.
    pub(super) fn report_unbounded(&self, dof: usize, report: &mut SolveReport) {
        let rules = self.problem.rules.iter().enumerate();
        let rules: Vec<usize> =
            rules.filter(|(_, rule)| rule.aim == Aim::Objective).map(|(index, _)| index).collect();
        rules.iter().for_each(|&rule| report.rules[rule].holds = false);
        if report.stop == Stop::Converged {
            report.stop = Stop::Unbounded;
        }
        let residual = report.rules[rules[0]].residual;
        report.conflicts.push(Conflict { rules, ranges: vec![dof], residual, is_unbounded: true });
    }

    pub(super) fn report(
        &mut self,
        values: &[f64],
        start: &[f64],
        stop: Stop,
        iterations: Iterations,
        params: &SolveParams,
    ) -> SolveReport {
        self.system.evaluate(values, &mut self.now.f, &mut self.now.jacobian);
        let rules = self.residuals();
        let off = |row: usize| self.excess(row, self.now.f[row]).abs() / self.system.rows[row].weight;
        let hard = (0..self.now.f.len()).filter(|&row| self.is_hard[row]);
        let residual = hard.clone().map(off).fold(0.0, f64::max);
        let (rank, redundant) = self.rank(&rules);
        let at_limit: Vec<usize> = (0..self.system.dofs.len())
            .filter(|&column| {
                let (value, [low, high]) = (values[self.system.dofs[column]], self.ranges[column]);
                params.ranges && (value <= low + LIMIT_TOLERANCE || value >= high - LIMIT_TOLERANCE)
            })
            .collect();
        let conflicts = if residual < HOLDS_METRES { Vec::new() } else { self.conflicts(&rules, &at_limit) };
        let stop = if stop != Stop::NotFinite && residual < params.tolerance * 10.0 {
            Stop::Converged
        } else {
            stop
        };
        SolveReport {
            stop,
            iterations,
            residual,
            rules,
            n_equations: self.now.f.len(),
            rank: rank.len(),
            free: self.left_free(&rank),
            redundant,
            conflicts,
            at_limit: at_limit.iter().map(|&column| self.system.dofs[column]).collect(),
            distance: self.distance(start),
        }
    }

    fn residuals(&self) -> Vec<RuleReport> {
        let mut squares = vec![0.0; self.problem.rules.len()];
        for (row, of) in self.system.rows.iter().enumerate() {
            let f = self.excess(row, self.now.f[row]);
            // Objectives have a sign and one row.
            if of.aim == Aim::Objective { squares[of.rule] = f } else { squares[of.rule] += f * f }
        }
        let report = |(rule, sum): (&crate::compile::Rule, &f64)| {
            let unit = rule.scale * rule.weight;
            if rule.aim == Aim::Objective {
                let sign = if rule.form == crate::language::FormId::Maximize { -1.0 } else { 1.0 };
                return RuleReport { residual: sign * sum / unit, quantity: rule.quantity, holds: true };
            }
            let norm = sum.sqrt() / unit;
            let residual = match rule.measure {
                Measure::Norm => norm,
                Measure::Chord => 2.0 * (0.5 * norm).min(1.0).asin(),
                Measure::Sine => norm.min(1.0).asin(),
            };
            RuleReport { residual, quantity: rule.quantity, holds: sum.sqrt() / rule.weight < HOLDS_METRES }
        };
        self.problem.rules.iter().zip(&squares).map(report).collect()
    }

    /// Pivot columns of the rows that hold the pose, and rules whose rows all follow from those before.
    fn rank(&self, rules: &[RuleReport]) -> (Vec<usize>, Vec<usize>) {
        let n = self.system.dofs.len();
        let mut basis: Vec<(usize, Vec<f64>)> = Vec::new();
        let mut is_new = vec![None; self.problem.rules.len()];
        let mut order: Vec<usize> = (0..self.now.f.len()).collect();
        order.sort_by_key(|&row| self.system.rows[row].rule);
        for row in order {
            let of = self.system.rows[row];
            let is_pressed = of.aim == Aim::Zero || (of.aim == Aim::AtMostZero && self.now.f[row] > -1e-7);
            if !self.is_hard[row] || !is_pressed || basis.len() == n {
                continue;
            }
            let start = row * self.system.stride;
            let mut line: Vec<f64> =
                (0..n).map(|c| self.now.jacobian[start + c] * self.metric[c].sqrt()).collect();
            let size = line.iter().map(|x| x * x).sum::<f64>().sqrt();
            for (pivot, of) in &basis {
                let factor = line[*pivot] / of[*pivot];
                line.iter_mut().zip(of).for_each(|(x, y)| *x -= factor * y);
            }
            let (pivot, largest) = line
                .iter()
                .enumerate()
                .fold((0, 0.0), |best, (c, x)| if x.abs() > best.1 { (c, x.abs()) } else { best });
            let is_independent = size > 0.0 && largest > DEPENDENT_RATIO * size;
            let seen = is_new[of.rule].get_or_insert(false);
            *seen |= is_independent;
            if is_independent {
                basis.push((pivot, line));
            }
        }
        let redundant = (0..is_new.len())
            .filter(|&rule| {
                is_new[rule] == Some(false) && rules[rule].holds && self.problem.rules[rule].aim == Aim::Zero
            })
            .collect();
        (basis.iter().map(|(pivot, _)| *pivot).collect(), redundant)
    }

    fn left_free(&self, pivots: &[usize]) -> Vec<usize> {
        let mut is_free = vec![true; self.problem.skeleton.n_dofs()];
        pivots.iter().for_each(|&column| is_free[self.system.dofs[column]] = false);
        (0..is_free.len()).filter(|&dof| is_free[dof]).collect()
    }

    fn conflicts(&self, rules: &[RuleReport], at_limit: &[usize]) -> Vec<Conflict> {
        let mut conflicts = Vec::new();
        let n_rows = self.now.f.len();
        let grouped = self.groups.iter().map(|group| group.rows.clone().collect::<Vec<_>>());
        // Rows that nothing moves are each a conflict of their own.
        let alone = (0..n_rows)
            .filter(|row| self.groups.iter().all(|group| !group.rows.contains(row)))
            .map(|row| vec![row]);
        for rows in grouped.chain(alone) {
            let mut off: Vec<usize> = Vec::new();
            for &row in &rows {
                let rule = self.system.rows[row].rule;
                if self.is_hard[row] && !rules[rule].holds && !off.contains(&rule) {
                    off.push(rule);
                }
            }
            if off.is_empty() {
                continue;
            }
            off.sort_by(|&a, &b| rules[b].residual.total_cmp(&rules[a].residual));
            let ranges =
                at_limit.iter().copied().filter(|&column| self.presses(column, &rows)).collect::<Vec<_>>();
            conflicts.push(Conflict {
                residual: rules[off[0]].residual,
                is_unbounded: false,
                rules: off,
                ranges: ranges.iter().map(|&column| self.system.dofs[column]).collect(),
            });
        }
        conflicts
    }

    /// Whether these rows would improve if a column at its limit could move on.
    fn presses(&self, column: usize, rows: &[usize]) -> bool {
        let slope: f64 = rows
            .iter()
            .filter(|&&row| self.is_hard[row])
            .map(|&row| {
                self.now.jacobian[row * self.system.stride + column] * self.excess(row, self.now.f[row])
            })
            .sum();
        let value = self.now.pose[self.system.dofs[column]];
        let [low, high] = self.ranges[column];
        let limit = 1e-3 * rows.iter().map(|&row| self.excess(row, self.now.f[row]).powi(2)).sum::<f64>();
        (value <= low + LIMIT_TOLERANCE && slope > limit)
            || (value >= high - LIMIT_TOLERANCE && slope < -limit)
    }
}
