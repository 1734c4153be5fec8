//! Stiffness matrices of cells at rest.

use crate::{
    FleshError, Lattice, Material,
    element::{ElementKind, Stiffness, stiffness},
};

/// Stiffness of every cell: shared where cells are alike but for a factor.
#[derive(Debug)]
pub(crate) struct CellStiffness {
    matrices: Vec<Box<Stiffness>>,
    of_cell: Vec<(u32, f64)>,
}

impl CellStiffness {
    pub fn new(lattice: &Lattice, materials: &[Material], kind: ElementKind) -> Result<Self, FleshError> {
        let mut made = Self { matrices: Vec::new(), of_cell: Vec::new() };
        let mut ratios: Vec<f64> = Vec::new();
        let unit_size = lattice.cell_size(0);
        for cell in 0..lattice.n_cells() {
            let material = &materials[cell];
            let known = ratios.iter().position(|&ratio| lattice.is_aligned() && ratio == material.poisson);
            let at = match known {
                Some(at) => at,
                None => {
                    let unit = Material { young: 1.0, ..*material };
                    let like = if lattice.is_aligned() { 0 } else { cell };
                    made.matrices.push(stiffness(&lattice.corners(like), &unit, kind)?);
                    ratios.push(material.poisson);
                    ratios.len() - 1
                }
            };
            // Stiffness of cubes is in proportion to their side.
            let scale = if lattice.is_aligned() { lattice.cell_size(cell) / unit_size } else { 1.0 };
            made.of_cell.push((at as u32, material.young * lattice.inside()[cell] * scale));
        }
        Ok(made)
    }

    /// Unscaled stiffness of a cell, and its factor.
    pub fn of(&self, cell: usize) -> (&Stiffness, f64) {
        let (at, factor) = self.of_cell[cell];
        (&self.matrices[at as usize], factor)
    }
}
