//! What a solver of one step is given, and what it returns.

use crate::{
    FleshState, StepInput,
    body::ElasticBody,
    loads::Loads,
    system::{Nodes, Outcome, PinRow, solve_with_multipliers},
};
use glam::DVec3;

/// One step of a body: what an engine is given to solve.
#[derive(Clone, Copy)]
pub(crate) struct StepContext<'a> {
    pub body: &'a ElasticBody,
    pub state: &'a FleshState,
    pub input: &'a StepInput,
    pub loads: &'a Loads,
    pub secs: f64,
}

/// What an engine found.
#[derive(Debug, Default)]
pub(crate) struct SolveResult {
    pub outcome: Outcome,
    /// Whether a factorisation was used.
    pub direct: bool,
    /// Multipliers of the independent pins, if requested.
    pub multipliers: Vec<DVec3>,
}

impl SolveResult {
    pub fn iterated(outcome: Outcome) -> Self {
        Self { outcome, ..Self::default() }
    }

    /// One solve after another.
    pub fn add(&mut self, other: Self) {
        self.outcome.iterations += other.outcome.iterations;
        self.outcome.residual = self.outcome.residual.max(other.outcome.residual);
        self.outcome.converged &= other.outcome.converged;
        self.direct |= other.direct;
        self.multipliers = other.multipliers;
    }
}

/// Solve `A x = r` with pins held by multipliers; `x` is added to.
pub(crate) fn hold_by_multipliers(
    mut apply: impl FnMut(&[[f64; 4]], &mut [[f64; 4]]),
    inverse: &[[f64; 6]],
    body: &ElasticBody,
    loads: &Loads,
    (r, x): (&Nodes<f64>, &mut Nodes<f64>),
) -> SolveResult {
    let rows: Vec<PinRow> = loads.pins.rows.iter().map(|(_, row)| row.clone()).collect();
    let ties = body.lattice.ties();
    // Tᵀ A T, where nodes hang between others.
    let tied = |x: &[[f64; 4]], out: &mut [[f64; 4]]| {
        let mut all = x.to_vec();
        ties.spread(&mut all);
        apply(&all, out);
        ties.gather(out);
    };
    let mut r = r.clone();
    ties.gather(&mut r);
    let mut delta = vec![[0.0; 4]; r.len()];
    let goal = (body.params.tolerance, 20 * body.iteration_limit());
    let (outcome, multipliers) = solve_with_multipliers(tied, inverse, &rows, (&r, &mut delta), goal);
    // The last digits of C x = 0, which the residual leaves open.
    loads.pins.project(&mut delta);
    x.iter_mut().zip(&delta).for_each(|(x, d)| (0..3).for_each(|k| x[k] += d[k]));
    SolveResult { multipliers, ..SolveResult::iterated(outcome) }
}
