//! What solving gives: a pose, how it was found, and how well the rules hold.

use crate::compile::Quantity;

/// A pose and what is known of it.
#[derive(Debug, Clone)]
pub struct Solution {
    /// One value per degree of freedom.
    pub values: Vec<f64>,
    /// How it was found, and how well the rules hold.
    pub report: SolveReport,
}

/// How a descent ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// All rules hold.
    Converged,
    /// No step improves it: the rules contradict each other, or the start is in a local minimum.
    Stalled,
    /// It oscillates between the same poses.
    Oscillating,
    /// It was still improving.
    IterationLimit,
    /// A value became infinite or NaN.
    NotFinite,
    /// All rules hold, but the objective has no minimum: the pose is the one before it was minimised.
    Unbounded,
}

impl Stop {
    /// As a word for files and scripts.
    pub fn name(self) -> &'static str {
        match self {
            Self::Converged => "converged",
            Self::Stalled => "stalled",
            Self::Oscillating => "oscillating",
            Self::IterationLimit => "iteration-limit",
            Self::NotFinite => "not-finite",
            Self::Unbounded => "unbounded",
        }
    }
}

/// Iterations of each part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Iterations {
    /// Until the rules held, restarts included.
    pub feasible: usize,
    /// Restarts.
    pub restarts: usize,
    /// Towards the start.
    pub nearest: usize,
    /// Of the objective.
    pub objective: usize,
}

/// Report on a solution.
#[derive(Debug, Clone, PartialEq)]
pub struct SolveReport {
    /// How solving ended.
    pub stop: Stop,
    /// Iterations of each part.
    pub iterations: Iterations,
    /// Largest residual of the rules that must hold: metres, or tenths of radians.
    pub residual: f64,
    /// Every rule's residual.
    pub rules: Vec<RuleReport>,
    /// Number of equations, those of inequalities and soft rules included.
    pub n_equations: usize,
    /// Independent equations among those that hold the pose now.
    pub rank: usize,
    /// Degrees of freedom that the rules leave free; their number is the number of degrees of freedom minus the rank.
    pub free: Vec<usize>,
    /// Rules that follow from others, by index.
    pub redundant: Vec<usize>,
    /// Rules that cannot hold together.
    pub conflicts: Vec<Conflict>,
    /// Degrees of freedom at a limit of their range.
    pub at_limit: Vec<usize>,
    /// How far the pose is from the start, in radians; a metre counts as √10.
    pub distance: f64,
}

/// How well a rule holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RuleReport {
    /// Metres, radians or another quantity; for an objective, its value.
    pub residual: f64,
    /// What it measures.
    pub quantity: Quantity,
    /// Whether the residual is within the tolerance.
    pub holds: bool,
}

/// Rules that pull against each other, or against a range.
#[derive(Debug, Clone, PartialEq)]
pub struct Conflict {
    /// Rules that are off, by index, worst first.
    pub rules: Vec<usize>,
    /// Degrees of freedom whose ranges conflict.
    pub ranges: Vec<usize>,
    /// Residual of the worst.
    pub residual: f64,
    /// Whether the rules are objectives without a minimum; `ranges` then names what goes on without limit.
    pub is_unbounded: bool,
}

impl RuleReport {
    /// The residual in centimetres or degrees, and the unit.
    pub fn in_unit(&self) -> (f64, &'static str) {
        match self.quantity {
            Quantity::Length => (100.0 * self.residual, "cm"),
            Quantity::Angle => (self.residual.to_degrees(), "deg"),
            Quantity::Other => (self.residual, ""),
        }
    }
}
