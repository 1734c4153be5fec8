//! Which cubes a place lies in.

use super::{Lattice, embedding::trilinear};
use crate::BodyPoint;
use glam::{DVec3, IVec3};
use std::collections::BTreeMap;

/// Cells of a lattice of cubes by their place.
#[derive(Debug, Clone)]
pub struct Locator {
    low: DVec3,
    size: f64,
    cells: BTreeMap<[i32; 3], Vec<u32>>,
}

impl Locator {
    /// Sort the cells of a lattice of cubes.
    pub fn new(lattice: &Lattice) -> Self {
        let (low, size) = (lattice.corners(0)[0], lattice.size());
        let mut cells: BTreeMap<[i32; 3], Vec<u32>> = BTreeMap::new();
        for cell in 0..lattice.n_cells() {
            let at = ((lattice.corners(cell)[0] - low) / size).round().as_ivec3();
            cells.entry(at.to_array()).or_default().push(cell as u32);
        }
        Self { low, size, cells }
    }

    /// The cells at a place: none outside, several where parts share a cube.
    pub fn cells_at(&self, p: DVec3) -> &[u32] {
        let at: IVec3 = ((p - self.low) / self.size).floor().as_ivec3();
        self.cells.get(&at.to_array()).map_or(&[], Vec::as_slice)
    }

    /// A place within a cell.
    pub fn point(&self, lattice: &Lattice, cell: u32, p: DVec3) -> BodyPoint {
        let local = (p - lattice.corners(cell as usize)[0]) / self.size;
        BodyPoint { cell, weights: trilinear(local) }
    }
}
