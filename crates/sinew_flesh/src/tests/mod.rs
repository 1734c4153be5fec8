//! Closed forms, invariants and regressions.

mod abuse;
mod beams;
mod bends;
mod contacts;
mod dynamics;
mod elements;
mod follows;
mod handles;
mod hands;
mod lattices;
mod octrees;
mod twists;

use crate::{Attachment, FleshParams, FleshSolver, FleshState, Lattice, Material, StepInput};
use glam::DVec3;

/// Numbers that look random and are always the same.
pub fn noise(seed: usize) -> f64 {
    ((seed as f64 * 12.9898).sin() * 43_758.545_3).fract()
}

pub fn noise3(seed: usize) -> DVec3 {
    DVec3::new(noise(3 * seed), noise(3 * seed + 1), noise(3 * seed + 2))
}

/// Nodes of a lattice for which something holds.
pub fn nodes_where(lattice: &Lattice, test: impl Fn(DVec3) -> bool) -> Vec<u32> {
    (0..lattice.n_nodes() as u32).filter(|&node| test(lattice.nodes()[node as usize])).collect()
}

/// A lattice and what is needed to move it.
pub struct Rigged {
    pub solver: FleshSolver,
    pub state: FleshState,
    pub input: StepInput,
}

impl Rigged {
    pub fn new(lattice: &Lattice, material: &Material, held: Vec<u32>, params: &FleshParams) -> Self {
        let attachment = Attachment { held, ..Attachment::default() };
        Self {
            solver: FleshSolver::new(lattice, &[*material], &attachment, params).unwrap(),
            state: FleshState::at_rest(lattice),
            input: StepInput::at_rest(lattice, &attachment),
        }
    }

    pub fn step(&mut self, secs: f64) -> crate::StepReport {
        self.solver.step(&mut self.state, &self.input, secs).unwrap()
    }

    /// Long steps, in which inertia counts for nothing, until nothing moves any more.
    pub fn settle(&mut self, rounds: usize) {
        for _ in 0..rounds {
            self.state.velocities.fill(DVec3::ZERO);
            let report = self.step(1e3);
            assert!(report.converged, "{report:?}");
            let moved = self.state.velocities.iter().map(|v| v.length() * 1e3).fold(0.0, f64::max);
            if moved < 1e-9 * self.solver.lattice().size() {
                return;
            }
        }
    }
}
