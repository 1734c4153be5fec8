//! Lattices: the cells that carry the elasticity, and the surface embedded in them.

mod build;
mod control;
mod embedding;
mod general;
mod jacobian;
mod locator;
mod made;
mod octree;
mod parts;
mod point;
mod smooth;
mod source;
mod ties;
mod voxels;

pub use build::{Body, LatticeParams, build_body};
pub use control::{ControlLattice, Scheme, Solid};
pub use embedding::Embedding;
pub(crate) use embedding::trilinear;
pub use general::nearest_weights;
pub use locator::Locator;
pub use made::build_made_body;
pub use octree::{Fine, OctreeParams, build_octree_body};
pub use point::BodyPoint;
pub use smooth::SmoothEmbedding;
pub use source::{LatticeSource, near_joints};
pub use ties::Ties;

use crate::{FleshError, element::corner_volumes};
use glam::DVec3;

/// Hexahedral cells over shared nodes.
///
/// Corner `c` of a cell lies at the upper end of axis `k` if bit `k` of `c` is set.
#[derive(Debug, Clone, PartialEq)]
pub struct Lattice {
    nodes: Vec<DVec3>,
    cells: Vec<[u32; 8]>,
    inside: Vec<f64>,
    size: f64,
    is_cubes: bool,
    is_aligned: bool,
    ties: Ties,
}

/// A cell is a cube if its corners are within this share of its side from where those of a cube would be.
const CUBE_TOLERANCE: f64 = 1e-6;

impl Lattice {
    /// Hexahedra made by hand. Cells that all are axis-aligned cubes of one size are found to be, since they are solved
    /// several times as fast.
    ///
    /// # Errors
    /// No cell, an index out of range, a node that is not finite, or a cell that is flat or folded over.
    pub fn new(nodes: Vec<DVec3>, cells: Vec<[u32; 8]>) -> Result<Self, FleshError> {
        if cells.is_empty() {
            return Err(FleshError::NoVolume);
        }
        if let Some(index) = nodes.iter().position(|p| !p.is_finite()) {
            return Err(FleshError::NonFinite { what: "node", index });
        }
        let (mut sizes, mut is_cubes) = (0.0, true);
        let first = (nodes.get(cells[0][0] as usize), nodes.get(cells[0][1] as usize));
        let side = first.0.zip(first.1).map_or(0.0, |(a, b)| a.distance(*b));
        for (cell, corners) in cells.iter().enumerate() {
            if let Some(&node) = corners.iter().find(|&&node| node as usize >= nodes.len()) {
                return Err(FleshError::CellNode { cell, node: node as usize, n_nodes: nodes.len() });
            }
            let at = corners.map(|node| nodes[node as usize]);
            let extent = at[7].distance(at[0]).max(at[6].distance(at[1]));
            let volume = corner_volumes(&at).into_iter().fold(f64::INFINITY, f64::min) / extent.powi(3);
            let is_folded = volume.is_nan() || volume <= 1e-6 || jacobian::least_jacobian(&at) <= 0.0;
            if is_folded {
                return Err(FleshError::FoldedCell { cell, volume });
            }
            sizes += extent / 3f64.sqrt();
            is_cubes &= (0..8).all(|c| {
                let wanted = at[0] + corner_place(c) * side;
                at[c].distance(wanted) <= CUBE_TOLERANCE * side
            });
        }
        let size = if is_cubes { side } else { sizes / cells.len() as f64 };
        let inside = vec![1.0; cells.len()];
        Ok(Self { nodes, cells, inside, size, is_cubes, is_aligned: is_cubes, ties: Ties::default() })
    }

    /// A full box of cubes.
    ///
    /// # Errors
    /// If there are no cells, or their side is not positive.
    pub fn block(n: [usize; 3], size: f64, low: DVec3) -> Result<Self, FleshError> {
        let at = |i: usize, j: usize, k: usize| ((k * (n[1] + 1) + j) * (n[0] + 1) + i) as u32;
        let mut nodes = Vec::new();
        for k in 0..=n[2] {
            for j in 0..=n[1] {
                nodes.extend((0..=n[0]).map(|i| low + size * DVec3::new(i as f64, j as f64, k as f64)));
            }
        }
        let mut cells = Vec::new();
        for k in 0..n[2] {
            for j in 0..n[1] {
                cells.extend(
                    (0..n[0])
                        .map(|i| std::array::from_fn(|c| at(i + (c & 1), j + (c >> 1 & 1), k + (c >> 2)))),
                );
            }
        }
        Self::new(nodes, cells)
    }

    /// Where the nodes are at rest.
    pub fn nodes(&self) -> &[DVec3] {
        &self.nodes
    }

    /// Nodes of each cell's corners.
    pub fn cells(&self) -> &[[u32; 8]] {
        &self.cells
    }

    /// Share of each cell that is filled; never below a twentieth, so that no cell is without stiffness.
    pub fn inside(&self) -> &[f64] {
        &self.inside
    }

    /// Side of a cell; of cells of several sizes, the smallest, of cells made by hand, the mean.
    pub fn size(&self) -> f64 {
        self.size
    }

    /// Whether all cells are axis-aligned cubes of one size.
    pub fn is_cubes(&self) -> bool {
        self.is_cubes
    }

    /// Whether all cells are axis-aligned cubes, of one size or several.
    pub fn is_aligned(&self) -> bool {
        self.is_aligned
    }

    /// Side of a cell that is a cube.
    pub fn cell_size(&self, cell: usize) -> f64 {
        let [a, b] = [0, 1].map(|c| self.nodes[self.cells[cell][c] as usize]);
        if self.is_cubes { self.size } else { a.distance(b) }
    }

    /// Whether some nodes hang between others.
    pub fn has_ties(&self) -> bool {
        !self.ties.is_empty()
    }

    /// Nodes that hang between others, where cells of several sizes meet.
    pub fn ties(&self) -> &Ties {
        &self.ties
    }

    /// Number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Number of cells.
    pub fn n_cells(&self) -> usize {
        self.cells.len()
    }

    /// Corner positions of a cell.
    pub fn corners(&self, cell: usize) -> [DVec3; 8] {
        self.cells[cell].map(|node| self.nodes[node as usize])
    }
}

/// Where a corner of the unit cube lies.
pub(crate) fn corner_place(corner: usize) -> DVec3 {
    DVec3::new((corner & 1) as f64, (corner >> 1 & 1) as f64, (corner >> 2 & 1) as f64)
}
