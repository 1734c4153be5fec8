//! Points of a body.

use crate::{FleshError, Lattice};
use glam::DVec3;

/// A point of the body: a cell and the weights of its corners.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BodyPoint {
    /// The cell.
    pub cell: u32,
    /// Weights of its corners, which sum to one.
    pub weights: [f64; 8],
}

impl BodyPoint {
    pub(crate) fn check(&self, lattice: &Lattice, what: &'static str) -> Result<(), FleshError> {
        let (index, len) = (self.cell as usize, lattice.n_cells());
        if index < len { Ok(()) } else { Err(FleshError::OutOfLattice { what, index, len }) }
    }

    /// Where it is, or how fast, when the nodes are.
    pub fn evaluate(&self, lattice: &Lattice, nodes: &[DVec3]) -> DVec3 {
        let corners = &lattice.cells()[self.cell as usize];
        corners.iter().zip(self.weights).map(|(node, w)| nodes[*node as usize] * w).sum()
    }
}
