//! A surface that moves along with the cells it lies in.
//!
//! # Source
//! Capell (2004), §4.1 and §4.6: every vertex stores the values of the basis functions at its position; here those of
//! the trilinear basis.

use crate::{BodyPoint, FleshError, Lattice};
use glam::{DVec3, Vec3};

/// For every point, the cell it lies in and the weights of the cell's eight corners.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Embedding {
    cells: Vec<u32>,
    weights: Vec<[f32; 8]>,
}

impl Embedding {
    /// Points by their cells and their places within them, 0 to 1 along each axis.
    pub fn from_cells(points: impl IntoIterator<Item = (usize, DVec3)>) -> Self {
        let mut embedding = Self::default();
        points.into_iter().for_each(|(cell, local)| embedding.push(cell as u32, local));
        embedding
    }

    /// Points by their cells and the weights of the corners.
    pub fn from_points(points: impl IntoIterator<Item = BodyPoint>) -> Self {
        let mut embedding = Self::default();
        for point in points {
            embedding.cells.push(point.cell);
            embedding.weights.push(point.weights.map(|w| w as f32));
        }
        embedding
    }

    fn push(&mut self, cell: u32, local: DVec3) {
        self.cells.push(cell);
        self.weights.push(trilinear(local).map(|w| w as f32));
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// The cell a point lies in.
    pub fn cell(&self, point: usize) -> usize {
        self.cells[point] as usize
    }

    /// Weights of the corners of its cell; they sum to one.
    pub fn weights(&self, point: usize) -> &[f32; 8] {
        &self.weights[point]
    }

    /// Where the points are when the nodes are at `nodes`.
    ///
    /// # Errors
    /// If the lengths do not fit, or a cell is not in the lattice.
    pub fn evaluate(&self, lattice: &Lattice, nodes: &[DVec3], out: &mut [Vec3]) -> Result<(), FleshError> {
        if nodes.len() != lattice.n_nodes() {
            return Err(FleshError::Length {
                what: "nodes",
                expected: lattice.n_nodes(),
                actual: nodes.len(),
            });
        }
        if out.len() != self.len() {
            return Err(FleshError::Length { what: "points", expected: self.len(), actual: out.len() });
        }
        if let Some(&index) = self.cells.iter().find(|&&cell| cell as usize >= lattice.n_cells()) {
            let (what, index, len) = ("cell of a point", index as usize, lattice.n_cells());
            return Err(FleshError::OutOfLattice { what, index, len });
        }
        for ((out, &cell), weights) in out.iter_mut().zip(&self.cells).zip(&self.weights) {
            let corners = &lattice.cells()[cell as usize];
            let sum = |sum: DVec3, c: usize| sum + nodes[corners[c] as usize] * f64::from(weights[c]);
            *out = (0..8).fold(DVec3::ZERO, sum).as_vec3();
        }
        Ok(())
    }
}

/// Values of the eight trilinear functions at a place of the unit cube.
pub(crate) fn trilinear(local: DVec3) -> [f64; 8] {
    std::array::from_fn(|c| (0..3).map(|k| if c >> k & 1 == 1 { local[k] } else { 1.0 - local[k] }).product())
}
