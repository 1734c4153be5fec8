//! Derivatives, fits and bad inputs of muscles that are made.

mod fits;
mod surfaces;
mod transfers;
mod unfolds;

use crate::{
    Attachment, FleshParams, FleshSolver, FleshState, Lattice, Material, StepInput, tests::nodes_where,
};
use glam::DVec3;

/// A bar along x, held at both its ends.
pub struct Bar {
    pub lattice: Lattice,
    pub solver: FleshSolver,
    pub state: FleshState,
    pub input: StepInput,
}

pub fn bar() -> Bar {
    let lattice = Lattice::block([10, 4, 4], 0.1, DVec3::new(0.0, -0.2, -0.2)).unwrap();
    let held = nodes_where(&lattice, |p| p.x < 0.05 || p.x > 0.95);
    let attachment = Attachment { held, ..Attachment::default() };
    let params = FleshParams { gravity: DVec3::ZERO, tolerance: 1e-7, ..FleshParams::default() };
    let solver = FleshSolver::new(&lattice, &[Material::default()], &attachment, &params).unwrap();
    let state = FleshState::at_rest(&lattice);
    let input = StepInput::at_rest(&lattice, &attachment);
    Bar { lattice, solver, state, input }
}
