//! Fitting all frames of a clip at once: feet planted, no penetration of the ground, joints within ranges, smooth corrections.
//!
//! # Source
//! Space-time constraints after Gleicher, *Retargetting motion to new characters* (1998), and Abdelhay (2008), §5.2
//! (constraints between consecutive poses and on accelerations, as future work). Levenberg–Marquardt as in Nocedal and
//! Wright, *Numerical Optimization*, §10.3; bounds by projection, §16.7.
//! # Symbols
//! `x` corrections [frames × n]; `Σ ‖r‖² = Σ_t ‖(p − p*)/σ‖² + ‖x/σ_b‖² + ‖ẋ/σ_v‖² + ‖ẍ/σ_a‖²` over points, bias, speeds,
//! accelerations
//! # Cost
//! Per iteration: an assembly linear in the number of points, and a factorisation of `7 n³` per frame.
//! # Limits
//! Finds the local minimum near the given motion.

use super::{
    JointFrames,
    banded::BlockBand,
    corrections::{CorrectedJoint, CorrectionKind, Corrections},
    limits::JointSample,
    objective::{Curvature, OBJECTIVE_WEIGHT_PER_METRE},
    rules::{FrameRule, RuleRows},
    touching::{TouchPoint, inside},
};
use crate::{ConstrainError, Screw};
use glam::DVec3;
use sinew_geom::{Pose, Rig, path::PlacedGround};
use std::ops::{ControlFlow, Range};

/// Goal of a point in one frame.
#[derive(Debug, Clone, Copy)]
pub struct PointGoal {
    /// Joint that carries it.
    pub joint: usize,
    /// Place in the joint's frame.
    pub local: DVec3,
    /// Where it should be.
    pub target: DVec3,
    /// Whether it must be there.
    pub is_held: bool,
    /// Compliance relative to other points.
    pub give: f64,
    /// How deep in the ground it may be, because the source is.
    pub depth: f64,
}

/// A problem over all frames.
pub struct ClipProblem<'a> {
    /// The rig.
    pub rig: &'a Rig,
    /// The motion that is corrected.
    pub base: &'a [Pose],
    /// Where its joints are.
    pub worlds: &'a [JointFrames],
    /// The unknowns.
    pub corrections: &'a Corrections,
    /// Goals of points, frame by frame.
    pub goals: &'a [Vec<PointGoal>],
    /// Points of the surface near the ground, frame by frame.
    pub touching: &'a [Vec<TouchPoint>],
    /// What points must not enter; `None` if there is no ground.
    pub site: Option<&'a PlacedGround>,
    /// Rules over frames.
    pub rules: &'a [FrameRule],
    /// Which of them hold, frame by frame.
    pub active: &'a [Vec<usize>],
    /// Segments without jumps.
    pub segments: &'a [Range<usize>],
    /// Frames per second.
    pub fps: f64,
    /// How large the body is, relative to a person's.
    pub unit: f64,
    /// Lower bounds of the corrections, frame after frame.
    pub low: &'a [f64],
    /// Upper bounds.
    pub high: &'a [f64],
    /// Inverse of a typical correction, per degree of freedom.
    pub bias: &'a [f64],
    /// Inverse of a typical acceleration of a correction, per degree of freedom; zeros fit frame by frame.
    pub smooth: &'a [f64],
    /// Inverse of a typical speed of a correction, likewise.
    pub slow: &'a [f64],
}

/// Stiffness of goals: standard deviations, in metres.
#[derive(Debug, Clone, Copy)]
pub struct Stiffness {
    /// Of points that are held.
    pub held: f64,
    /// Of points that are free.
    pub free: f64,
    /// Of points in the ground.
    pub ground: f64,
    /// Maximum number of rounds.
    pub rounds: usize,
}

impl Stiffness {
    /// The same for a body of another size.
    pub fn of_size(&self, unit: f64) -> Self {
        Self { held: self.held * unit, free: self.free * unit, ground: self.ground * unit, ..*self }
    }
}

/// Greatest change of a correction per round: radians, or metres of a body as large as a person.
const MAX_STEP: f64 = 0.6;
/// A round that gains less than this share is the last of its stage.
const MIN_GAIN: f64 = 5e-3;

/// Buffers of the solver.
pub struct ClipSolver {
    band: BlockBand,
    gradient: Vec<f64>,
    step: Vec<f64>,
    world: JointFrames,
    screws: Vec<Screw>,
    columns: Vec<(usize, DVec3)>,
    /// Equations of each rule that has some.
    rows: Vec<Option<RuleRows>>,
    curvature: Curvature,
    /// Part of the cost that comes from objectives, which may be negative.
    objective_cost: f64,
    /// Of each rule that is a limit: its joint in the last frames, the newest first.
    moments: Vec<Vec<JointSample>>,
}

impl ClipSolver {
    /// Room for a problem.
    pub fn new(problem: &ClipProblem) -> Self {
        let (n_frames, n) = (problem.base.len(), problem.corrections.n);
        Self {
            band: BlockBand::new(n_frames, n),
            gradient: vec![0.0; n_frames * n],
            step: vec![0.0; n_frames * n],
            world: JointFrames::default(),
            screws: Vec::new(),
            columns: Vec::new(),
            rows: problem.rules.iter().map(|rule| rule.rows(problem.corrections)).collect(),
            curvature: Curvature::default(),
            objective_cost: 0.0,
            moments: Vec::new(),
        }
    }

    /// Lower the sum of squares from `x` on; returns the number of rounds.
    ///
    /// # Errors
    /// If it is cancelled or numbers overflow.
    pub fn solve(
        &mut self,
        problem: &ClipProblem,
        stage: &Stiffness,
        x: &mut Vec<f64>,
        progress: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Result<usize, ConstrainError> {
        let mut damping = 1e-4;
        let mut cost = self.assemble(problem, stage, x);
        for round in 0..stage.rounds {
            if progress(round).is_break() {
                return Err(ConstrainError::Cancelled);
            }
            self.damp(problem, x, damping);
            let is_sound = self.band.factor().is_ok();
            self.step.copy_from_slice(&self.gradient);
            self.band.solve(&mut self.step);
            let longest = longest(problem, &self.step);
            if !(is_sound && longest.is_finite()) {
                damping = (damping * 100.0).max(1e-6);
                if damping > 1e6 {
                    return Err(ConstrainError::Overflow);
                }
                cost = self.assemble(problem, stage, x);
                continue;
            }
            let share = (MAX_STEP / longest).min(1.0);
            let moved: Vec<f64> = (0..x.len())
                .map(|i| (x[i] - share * self.step[i]).clamp(problem.low[i], problem.high[i]))
                .collect();
            let squares = cost - self.objective_cost;
            let next = self.assemble(problem, stage, &moved);
            if next.is_finite() && next <= cost {
                // The gain is a share of the squares alone: objectives have no zero.
                let gain = (cost - next) / squares.max(1e-12);
                *x = moved;
                cost = next;
                damping = (damping * 0.2).max(1e-9);
                if gain < MIN_GAIN && share == 1.0 {
                    return Ok(round + 1);
                }
            } else {
                damping *= 20.0;
                if longest < 1e-7 || damping > 1e6 {
                    return Ok(round + 1);
                }
                cost = self.assemble(problem, stage, x);
            }
        }
        Ok(stage.rounds)
    }

    /// Fix corrections that would leave their bounds, damp the rest.
    fn damp(&mut self, problem: &ClipProblem, x: &[f64], damping: f64) {
        let n = problem.corrections.n;
        for t in 0..problem.base.len() {
            for d in 0..n {
                let i = t * n + d;
                let pushes = (x[i] <= problem.low[i] && self.gradient[i] > 0.0)
                    || (x[i] >= problem.high[i] && self.gradient[i] < 0.0);
                let block = self.band.diagonal(t);
                block[d * n + d] *= 1.0 + damping;
                if pushes {
                    // Stiff enough not to move.
                    block[d * n + d] += 1e14;
                    self.gradient[i] = 0.0;
                }
            }
        }
    }

    /// Sum of squares with its gradient and matrix.
    fn assemble(&mut self, problem: &ClipProblem, stage: &Stiffness, x: &[f64]) -> f64 {
        let n = problem.corrections.n;
        self.band.clear();
        self.gradient.fill(0.0);
        self.objective_cost = 0.0;
        self.moments = vec![Vec::new(); problem.rules.len()];
        let mut cost = 0.0;
        for t in 0..problem.base.len() {
            cost += self.add_frame(problem, stage, t, &x[t * n..][..n]);
            cost += self.add_limits(problem, t);
        }
        cost + self.add_speeds(problem, x) + self.add_smoothness(problem, x)
    }

    fn add_frame(&mut self, problem: &ClipProblem, stage: &Stiffness, t: usize, x: &[f64]) -> f64 {
        let n = problem.corrections.n;
        self.world.clone_from(&problem.worlds[t]);
        problem.corrections.forward(problem.rig, &problem.base[t], x, &mut self.world, &mut self.screws);
        let mut cost = 0.0;
        for goal in &problem.goals[t] {
            let place = self.world.point(goal.joint, goal.local);
            problem.corrections.columns(goal.joint, place, (&self.world, &self.screws), &mut self.columns);
            let sigma = if goal.is_held { stage.held } else { stage.free };
            cost += self.add_point(t, n, place - goal.target, 1.0 / (sigma * goal.give));
            if let Some((depth, push)) =
                problem.site.filter(|_| !goal.is_held).and_then(|s| inside(s, place, goal.depth))
            {
                cost += self.add_push(t, n, depth, push, 1.0 / stage.ground);
            }
        }
        for point in problem.site.map_or(&[][..], |_| &problem.touching[t]) {
            let place = self.world.point(point.joint, point.local);
            if let Some((depth, push)) = problem.site.and_then(|site| inside(site, place, point.depth)) {
                let at = (&self.world, self.screws.as_slice());
                problem.corrections.columns(point.joint, place, at, &mut self.columns);
                cost += self.add_push(t, n, depth, push, 1.0 / stage.ground);
            }
        }
        for &rule in &problem.active[t] {
            cost += self.add_rule(problem, t, rule);
        }
        let (block, gradient) = (self.band.diagonal(t), &mut self.gradient[t * n..][..n]);
        for d in 0..n {
            let w = problem.bias[d] * problem.bias[d];
            block[d * n + d] += w;
            gradient[d] += w * x[d];
            cost += w * x[d] * x[d];
        }
        cost
    }

    /// A point with a goal: `w² JᵀJ` and `w² Jᵀr`.
    fn add_point(&mut self, t: usize, n: usize, off: DVec3, weight: f64) -> f64 {
        let w = weight * weight;
        let (block, gradient) = (self.band.diagonal(t), &mut self.gradient[t * n..][..n]);
        for (k, &(i, a)) in self.columns.iter().enumerate() {
            gradient[i] += w * a.dot(off);
            for &(j, b) in &self.columns[..=k] {
                block[i * n + j] += w * a.dot(b);
            }
        }
        w * off.length_squared()
    }

    /// A point in the ground, pushed along a direction.
    fn add_push(&mut self, t: usize, n: usize, depth: f64, push: DVec3, weight: f64) -> f64 {
        let w = weight * weight;
        let (block, gradient) = (self.band.diagonal(t), &mut self.gradient[t * n..][..n]);
        for (k, &(i, a)) in self.columns.iter().enumerate() {
            let a = a.dot(push);
            gradient[i] -= w * a * depth;
            for &(j, b) in &self.columns[..=k] {
                block[i * n + j] += w * a * b.dot(push);
            }
        }
        w * depth * depth
    }

    /// Rows of a rule, or the slope and curvature of an objective.
    fn add_rule(&mut self, problem: &ClipProblem, t: usize, rule: usize) -> f64 {
        let Some(rows) = &mut self.rows[rule] else { return 0.0 };
        let rule = &problem.rules[rule];
        let n = problem.corrections.n;
        rows.update(&self.world, &self.screws);
        let (block, gradient) = (self.band.diagonal(t), &mut self.gradient[t * n..][..n]);
        if !rule.is_objective() {
            rows.compute();
            return rows.add(rule.factor(t), block, gradient);
        }
        let strength = OBJECTIVE_WEIGHT_PER_METRE * rule.share(t);
        let value = self.curvature.compute(rows, problem.corrections, &self.screws);
        self.curvature.add(strength, block, gradient);
        self.objective_cost += 2.0 * strength * value;
        2.0 * strength * value
    }

    /// Limits of speed, as far as the frames before belong to the same segment.
    fn add_limits(&mut self, problem: &ClipProblem, t: usize) -> f64 {
        let mut cost = 0.0;
        for &rule in &problem.active[t] {
            let Some(limit) = problem.rules[rule].limit() else { continue };
            let place = self.world.positions[limit.joint];
            problem.corrections.columns(limit.joint, place, (&self.world, &self.screws), &mut self.columns);
            let moments = &mut self.moments[rule];
            let is_cut = problem.segments.iter().any(|segment| segment.start == t);
            if is_cut || moments.first().is_some_and(|last| last.frame + 1 != t) {
                moments.clear();
            }
            moments.insert(0, JointSample { frame: t, place, columns: self.columns.clone() });
            moments.truncate(limit.n_frames());
            if moments.len() == limit.n_frames() {
                let share = problem.rules[rule].share(t);
                let n = problem.corrections.n;
                cost += limit.add(problem.fps, moments, share, n, &mut self.band, &mut self.gradient);
            }
        }
        cost
    }

    /// First differences of the corrections, within segments.
    fn add_speeds(&mut self, problem: &ClipProblem, x: &[f64]) -> f64 {
        let n = problem.corrections.n;
        let mut cost = 0.0;
        for t in problem.segments.iter().flat_map(|segment| segment.start + 1..segment.end) {
            for d in 0..n {
                let w = (problem.fps * problem.slow[d]).powi(2);
                let change = x[t * n + d] - x[(t - 1) * n + d];
                cost += w * change * change;
                for (at, sign) in [(t, 1.0), (t - 1, -1.0)] {
                    self.gradient[at * n + d] += sign * w * change;
                    self.band.diagonal(at)[d * n + d] += w;
                }
                self.band.below(t)[d * n + d] -= w;
            }
        }
        cost
    }

    /// Second differences of the corrections, within segments.
    fn add_smoothness(&mut self, problem: &ClipProblem, x: &[f64]) -> f64 {
        let n = problem.corrections.n;
        let mut cost = 0.0;
        let rate = problem.fps * problem.fps;
        for segment in problem.segments {
            for t in segment.start + 2..segment.end {
                for d in 0..n {
                    let w = (rate * problem.smooth[d]).powi(2);
                    let at = |lag: usize| (t - lag) * n + d;
                    let bend = x[at(0)] - 2.0 * x[at(1)] + x[at(2)];
                    cost += w * bend * bend;
                    for (lag, c) in [(0, 1.0), (1, -2.0), (2, 1.0)] {
                        self.gradient[at(lag)] += w * c * bend;
                        self.band.diagonal(t - lag)[d * n + d] += w * c * c;
                    }
                    self.band.below(t)[d * n + d] -= 2.0 * w;
                    self.band.below(t - 1)[d * n + d] -= 2.0 * w;
                    self.band.two_below(t)[d * n + d] += w;
                }
            }
        }
        cost
    }
}

/// The longest change of a correction, radians or sizes of the body.
fn longest(problem: &ClipProblem, step: &[f64]) -> f64 {
    let corrections = problem.corrections;
    let of_joint = |row: &[f64], free: &CorrectedJoint| {
        let size = if free.kind == CorrectionKind::Shift { problem.unit } else { 1.0 };
        row[free.first..free.first + free.n].iter().fold(0.0f64, |worst, s| worst.max(s.abs())) / size
    };
    let of_frame =
        |row: &[f64]| corrections.joints.iter().map(|free| of_joint(row, free)).fold(0.0, f64::max);
    step.chunks_exact(corrections.n.max(1)).map(of_frame).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests;
