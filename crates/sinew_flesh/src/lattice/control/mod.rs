//! Control lattices: hexahedra, tetrahedra and prisms made by hand, checked and subdivided.
//!
//! # Source
//! Capell (2004), §4.1 and appendix B: cells with three edges at each corner, so that one subdivision leaves only
//! hexahedra.
//! # Limits
//! Pyramids, which have four edges at the apex, are not such cells.

mod limit;
mod rules;
mod topology;

pub use limit::limit_rows;
pub use rules::{Row, Scheme, split, split_values};

use super::{Lattice, jacobian::least_jacobian};
use crate::FleshError;
use glam::DVec3;

/// A cell by its nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Solid {
    /// A corner, and three others that follow each other counterclockwise as seen from outside, from the first.
    Tetrahedron([u32; 4]),
    /// A triangle, counterclockwise as seen from the other, and that other in the same order.
    Prism([u32; 6]),
    /// Corner `c` lies at the upper end of axis `k` if bit `k` of `c` is set.
    Hexahedron([u32; 8]),
}

impl Solid {
    /// Its nodes.
    pub fn nodes(&self) -> &[u32] {
        match self {
            Self::Tetrahedron(nodes) => nodes,
            Self::Prism(nodes) => nodes,
            Self::Hexahedron(nodes) => nodes,
        }
    }

    /// What it is called.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Tetrahedron(_) => "tetrahedron",
            Self::Prism(_) => "prism",
            Self::Hexahedron(_) => "hexahedron",
        }
    }

    /// Faces, by places in [`Self::nodes`], in order around.
    pub(crate) fn faces(&self) -> &'static [&'static [usize]] {
        match self {
            Self::Tetrahedron(_) => &[&[0, 1, 2], &[0, 1, 3], &[0, 2, 3], &[1, 2, 3]],
            Self::Prism(_) => &[&[0, 1, 2], &[3, 4, 5], &[0, 1, 4, 3], &[1, 2, 5, 4], &[2, 0, 3, 5]],
            Self::Hexahedron(_) => {
                &[&[0, 1, 3, 2], &[4, 5, 7, 6], &[0, 1, 5, 4], &[2, 3, 7, 6], &[0, 2, 6, 4], &[1, 3, 7, 5]]
            }
        }
    }

    /// The three neighbours of each corner along edges, such that edges to them are a right-handed frame.
    pub(crate) fn spokes(&self) -> &'static [[usize; 3]] {
        match self {
            Self::Tetrahedron(_) => &[[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]],
            Self::Prism(_) => &[[1, 2, 3], [2, 0, 4], [0, 1, 5], [5, 4, 0], [3, 5, 1], [4, 3, 2]],
            Self::Hexahedron(_) => {
                &[[1, 2, 4], [3, 0, 5], [0, 3, 6], [2, 1, 7], [6, 5, 0], [4, 7, 1], [7, 4, 2], [5, 6, 3]]
            }
        }
    }
}

/// Cells of several kinds over shared nodes, with features that stay sharp when they are subdivided.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ControlLattice {
    nodes: Vec<DVec3>,
    cells: Vec<Solid>,
    creases: Vec<[u32; 2]>,
    corners: Vec<u32>,
}

/// Bad cells of which no more are named.
const MAX_NAMED_CELLS: usize = 8;

impl ControlLattice {
    /// Check and keep. `creases` are edges that stay sharp, `corners` nodes that stay where they are.
    ///
    /// # Errors
    /// No cell, a node that does not exist or is not finite, and all cells that are flat or folded over anywhere.
    pub fn new(nodes: Vec<DVec3>, cells: Vec<Solid>) -> Result<Self, FleshError> {
        if cells.is_empty() {
            return Err(FleshError::NoCells);
        }
        if let Some(index) = nodes.iter().position(|p| !p.is_finite()) {
            return Err(FleshError::NonFinite { what: "node", index });
        }
        for (cell, solid) in cells.iter().enumerate() {
            if let Some(&node) = solid.nodes().iter().find(|&&node| node as usize >= nodes.len()) {
                return Err(FleshError::CellNode { cell, node: node as usize, n_nodes: nodes.len() });
            }
        }
        let lattice = Self { nodes, cells, creases: Vec::new(), corners: Vec::new() };
        lattice.check_folds()?;
        Ok(lattice)
    }

    /// The same with edges that stay sharp and nodes that stay where they are.
    ///
    /// # Errors
    /// A node that does not exist.
    pub fn with_features(mut self, creases: Vec<[u32; 2]>, corners: Vec<u32>) -> Result<Self, FleshError> {
        let len = self.nodes.len();
        if let Some(&node) = creases.iter().flatten().chain(&corners).find(|&&node| node as usize >= len) {
            return Err(FleshError::OutOfLattice { what: "sharp node", index: node as usize, len });
        }
        (self.creases, self.corners) = (creases, corners);
        Ok(self)
    }

    pub(crate) fn of_hexahedra(nodes: Vec<DVec3>, cells: Vec<Solid>) -> Self {
        Self { nodes, cells, creases: Vec::new(), corners: Vec::new() }
    }

    /// Cells that are folded over are named as `kind number`, counted from 1 as files do.
    fn check_folds(&self) -> Result<(), FleshError> {
        let is_folded = |solid: &Solid| {
            let at: Vec<DVec3> = solid.nodes().iter().map(|&node| self.nodes[node as usize]).collect();
            corner_cells(solid, &at).iter().any(|hexahedron| least_jacobian(hexahedron) <= 0.0)
        };
        let folded: Vec<usize> = (0..self.cells.len()).filter(|&cell| is_folded(&self.cells[cell])).collect();
        if folded.is_empty() {
            return Ok(());
        }
        let name = |&cell: &usize| {
            let kind = self.cells[cell].name();
            let number = self.cells[..=cell].iter().filter(|other| other.name() == kind).count();
            format!("{kind} {number}")
        };
        let mut names: Vec<String> = folded.iter().take(MAX_NAMED_CELLS).map(name).collect();
        if folded.len() > MAX_NAMED_CELLS {
            names.push("…".into());
        }
        Err(FleshError::FoldedCells {
            count: folded.len(),
            n_cells: self.cells.len(),
            names: names.join(", "),
        })
    }

    /// Where the nodes are.
    pub fn nodes(&self) -> &[DVec3] {
        &self.nodes
    }

    /// The cells.
    pub fn cells(&self) -> &[Solid] {
        &self.cells
    }

    /// Edges that stay sharp.
    pub fn creases(&self) -> &[[u32; 2]] {
        &self.creases
    }

    /// Nodes that stay where they are.
    pub fn corners(&self) -> &[u32] {
        &self.corners
    }

    /// Subdivide once.
    pub fn subdivide(&self, scheme: Scheme) -> Self {
        let (mut refined, rows) = split(self, scheme);
        refined.nodes =
            rows.iter().map(|row| row.iter().map(|&(n, w)| self.nodes[n as usize] * w).sum()).collect();
        refined
    }

    /// As hexahedra to simulate: as they are, or split once if there are other cells among them.
    ///
    /// # Errors
    /// Cells so flat that they cannot be simulated.
    pub fn to_lattice(&self) -> Result<Lattice, FleshError> {
        let hexahedra = |cells: &[Solid]| -> Option<Vec<[u32; 8]>> {
            let one = |solid: &Solid| if let Solid::Hexahedron(nodes) = solid { Some(*nodes) } else { None };
            cells.iter().map(one).collect()
        };
        if let Some(cells) = hexahedra(&self.cells) {
            return Lattice::new(self.nodes.clone(), cells);
        }
        let split = self.subdivide(Scheme::Trilinear);
        let cells = hexahedra(&split.cells).unwrap_or_default();
        Lattice::new(split.nodes, cells)
    }
}

/// The hexahedra a cell is split into, one a corner; a hexahedron itself stays whole.
fn corner_cells(solid: &Solid, at: &[DVec3]) -> Vec<[DVec3; 8]> {
    if let (Solid::Hexahedron(_), Ok(corners)) = (solid, <[DVec3; 8]>::try_from(at)) {
        return vec![corners];
    }
    let middle = |places: &[usize]| places.iter().map(|&k| at[k]).sum::<DVec3>() / places.len() as f64;
    let all: Vec<usize> = (0..at.len()).collect();
    let face = |corner: usize, a: usize, b: usize| {
        let found = solid.faces().iter().find(|f| [corner, a, b].iter().all(|k| f.contains(k)));
        found.map_or(at[corner], |f| middle(f))
    };
    let one = |(corner, [a, b, c]): (usize, &[usize; 3])| {
        [
            at[corner],
            middle(&[corner, *a]),
            middle(&[corner, *b]),
            face(corner, *a, *b),
            middle(&[corner, *c]),
            face(corner, *a, *c),
            face(corner, *b, *c),
            middle(&all),
        ]
    };
    solid.spokes().iter().enumerate().map(one).collect()
}

#[cfg(test)]
mod tests;
