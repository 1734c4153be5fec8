//! A lattice around any surface, built automatically.
//!
//! # Source
//! Winding numbers decide what is inside, so that open, overlapping and scattered surfaces work (Barill et al. 2018).
//! Capell's lattices were built by hand, in several hours (Capell (2004), §5.4). The fraction of a cell that is inside
//! is estimated at 64 points; Capell (2004), §4.4, names such a weighting as an improvement.
//! # Cost
//! One winding number for each cube of the bounding box, 64 for each that the surface touches. Trials for the size that
//! gives the requested number of cells share one coarse table of what is inside.

use super::{
    BodyPoint, Embedding, Lattice, Ties,
    parts::Copies,
    voxels::{FULL, Grid},
};
use crate::FleshError;
use glam::DVec3;
use rayon::prelude::*;
use sinew_geom::{Mesh, measure, query::SurfaceTree};

/// How fine a lattice is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LatticeParams {
    /// About how many cells. Default 1000.
    pub cells: usize,
    /// Side of a cell in metres, instead of a number of cells.
    pub size: Option<f64>,
}

impl Default for LatticeParams {
    fn default() -> Self {
        Self { cells: 1000, size: None }
    }
}

/// A surface and the lattice that carries it.
#[derive(Debug, Clone)]
pub struct Body {
    /// The cells.
    pub lattice: Lattice,
    /// Every vertex of the surface in its cell.
    pub embedding: Embedding,
    /// Vertices that lie in no cell (those of no face may); they follow the nearest cell.
    pub uncovered: Vec<u32>,
    /// Cells that share their cube with another part of the body.
    pub n_split: usize,
}

impl Body {
    /// A vertex as a point of the body.
    pub(crate) fn point(&self, vertex: usize) -> BodyPoint {
        let weights = self.embedding.weights(vertex).map(f64::from);
        BodyPoint { cell: self.embedding.cell(vertex) as u32, weights }
    }
}

/// Cells of which no more are made.
const MAX_CELLS: usize = 200_000;
/// Cubes of the bounding box of which no more are looked at.
const MAX_CUBES: usize = 8_000_000;
/// Trials for the size that gives the number of cells asked for.
const MAX_TRIALS: usize = 8;
/// Cells filled less than this count as filled this much, so that no node is without mass and stiffness.
pub(super) const LEAST_INSIDE: f64 = 0.05;

/// Fill a surface with cells and embed it in them.
///
/// # Errors
/// A mesh without faces, extent or inside; parameters out of range.
pub fn build_body(mesh: &Mesh, params: &LatticeParams) -> Result<Body, FleshError> {
    let (tree, bounds) = survey(mesh)?;
    let size = size_of(mesh, &tree, bounds, params)?;
    fill(mesh, &tree, &Cubes::new(mesh, &tree, bounds, size)?)
}

/// What every lattice starts from.
pub(super) fn survey(mesh: &Mesh) -> Result<(SurfaceTree, [DVec3; 2]), FleshError> {
    if mesh.n_faces() == 0 {
        return Err(FleshError::NoFaces);
    }
    if mesh.diagonal() == 0.0 {
        return Err(FleshError::NoExtent);
    }
    Ok((SurfaceTree::new(mesh), face_bounds(mesh)))
}

/// Side of the cells, as given or for the requested number of cells.
pub(super) fn size_of(
    mesh: &Mesh,
    tree: &SurfaceTree,
    bounds: [DVec3; 2],
    params: &LatticeParams,
) -> Result<f64, FleshError> {
    match params.size {
        Some(size) if size > 0.0 && size.is_finite() => Ok(size),
        Some(value) => {
            Err(FleshError::Parameter { name: "cell size", value, expected: "it must be positive" })
        }
        None => choose_size(mesh, tree, bounds, params.cells),
    }
}

/// The cubes of one size.
pub(super) struct Cubes {
    pub(super) grid: Grid,
    touched: Vec<bool>,
    occupied: Vec<bool>,
}

/// A grid around a box, if it has not too many cubes.
fn grid_around(bounds: [DVec3; 2], size: f64) -> Result<Grid, FleshError> {
    let about: f64 = ((bounds[1] - bounds[0]) / size + 1.0).element_product();
    if about.is_nan() || about > MAX_CUBES as f64 {
        let actual = about.min(1e18) as usize;
        return Err(FleshError::TooManyCells { size, actual, limit: MAX_CUBES });
    }
    Ok(Grid::around(bounds, size))
}

/// What is inside, roughly: the middles of the cubes of a grid.
struct Table {
    grid: Grid,
    is_inside: Vec<bool>,
}

impl Table {
    fn new(tree: &SurfaceTree, grid: Grid) -> Self {
        let is_inside = grid.occupied(tree, &vec![false; grid.len()]);
        Self { grid, is_inside }
    }

    /// About how many cubes of another size belong to a body: those that are touched, and those whose middle is inside.
    fn count_at(&self, mesh: &Mesh, bounds: [DVec3; 2], size: f64) -> Result<usize, FleshError> {
        let grid = grid_around(bounds, size)?;
        let is_inside = |cube: usize| {
            let middle = grid.corner(grid.at(cube)) + size / 2.0;
            self.is_inside[self.grid.index(self.grid.place(middle))]
        };
        let touched = grid.touched(mesh);
        Ok((0..grid.len()).filter(|&cube| touched[cube] || is_inside(cube)).count())
    }
}

impl Cubes {
    pub(super) fn new(
        mesh: &Mesh,
        tree: &SurfaceTree,
        bounds: [DVec3; 2],
        size: f64,
    ) -> Result<Self, FleshError> {
        let grid = grid_around(bounds, size)?;
        let touched = grid.touched(mesh);
        let occupied = grid.occupied(tree, &touched);
        let n_occupied = occupied.iter().filter(|o| **o).count();
        if n_occupied > MAX_CELLS {
            return Err(FleshError::TooManyCells { size, actual: n_occupied, limit: MAX_CELLS });
        }
        Ok(Self { grid, touched, occupied })
    }

    /// A cell for each part in each cube.
    pub(super) fn copies(&self, tree: &SurfaceTree) -> Result<Copies, FleshError> {
        let bits_of = |cube: usize| match (self.occupied[cube], self.touched[cube]) {
            (false, _) => 0,
            (true, false) => FULL,
            (true, true) => self.grid.inside_bits(tree, cube),
        };
        let bits: Vec<u64> = (0..self.grid.len()).into_par_iter().map(bits_of).collect();
        if bits.iter().all(|b| *b == 0) {
            return Err(FleshError::NoVolume);
        }
        Ok(Copies::new(&bits, &self.occupied))
    }
}

/// Box of the vertices that faces use.
fn face_bounds(mesh: &Mesh) -> [DVec3; 2] {
    let used = mesh.faces().iter().flatten().map(|&v| mesh.positions()[v as usize]);
    used.fold([DVec3::INFINITY, DVec3::NEG_INFINITY], |[low, high], p| [low.min(p), high.max(p)])
}

/// The side at which there are about `wanted` cells: counts grow with a power of it between two and three.
fn choose_size(
    mesh: &Mesh,
    tree: &SurfaceTree,
    bounds: [DVec3; 2],
    wanted: usize,
) -> Result<f64, FleshError> {
    if wanted == 0 || wanted > MAX_CELLS {
        let expected = "it must lie between 1 and 200000";
        return Err(FleshError::Parameter { name: "number of cells", value: wanted as f64, expected });
    }
    let extent = bounds[1] - bounds[0];
    // A flat box still has its area.
    let padded = extent.max(DVec3::splat(extent.max_element() / 20.0));
    let mut size = (padded.element_product() / (3.0 * wanted as f64)).cbrt();
    let table = Table::new(tree, grid_around(bounds, size)?);
    let mut best = (f64::INFINITY, size);
    for _ in 0..MAX_TRIALS {
        let n = table.count_at(mesh, bounds, size)?.max(1);
        let ratio = n as f64 / wanted as f64;
        if ratio.ln().abs() < best.0 {
            best = (ratio.ln().abs(), size);
        }
        if best.0 < 0.02 {
            break;
        }
        size *= ratio.powf(1.0 / 2.5);
    }
    Ok(best.1)
}

fn fill(mesh: &Mesh, tree: &SurfaceTree, cubes: &Cubes) -> Result<Body, FleshError> {
    let grid = &cubes.grid;
    let copies = cubes.copies(tree)?;
    let (cell_of, uncovered) = assign(mesh, grid, &copies);
    let (cells, n_nodes) = copies.join(grid, mesh, &cell_of);
    let mut nodes = vec![DVec3::ZERO; n_nodes];
    for (cell, corners) in cells.iter().enumerate() {
        let low = grid.corner(grid.at(copies.cube[cell] as usize));
        for (c, &node) in corners.iter().enumerate() {
            nodes[node as usize] = low + grid.size * super::corner_place(c);
        }
    }
    let inside = copies.bits.iter().map(|b| (f64::from(b.count_ones()) / 64.0).max(LEAST_INSIDE)).collect();
    let n_split = copies.cube.windows(2).filter(|pair| pair[0] == pair[1]).count();
    let lattice = Lattice {
        nodes,
        cells,
        inside,
        size: grid.size,
        is_cubes: true,
        is_aligned: true,
        ties: Ties::default(),
    };
    let embedding = embed(mesh, grid, &copies, &cell_of);
    Ok(Body { lattice, embedding, uncovered, n_split })
}

/// The cell of every vertex; vertices in no cell get none and are listed.
pub(super) fn assign(mesh: &Mesh, grid: &Grid, copies: &Copies) -> (Vec<Option<usize>>, Vec<u32>) {
    let mut normals = measure::compute_vertex_normals(mesh.positions(), mesh.faces());
    if measure::compute_volume(mesh) < 0.0 {
        normals.iter_mut().for_each(|n| *n = -*n);
    }
    let is_in_grid = |p: DVec3| grid.contains(((p - grid.low) / grid.size).floor().as_ivec3());
    let cell = |(&p, &n): (&DVec3, &DVec3)| if is_in_grid(p) { copies.find(grid, p, n) } else { None };
    let cells: Vec<Option<usize>> = mesh.positions().iter().zip(&normals).map(cell).collect();
    let uncovered = (0..cells.len()).filter(|&v| cells[v].is_none()).map(|v| v as u32).collect();
    (cells, uncovered)
}

fn embed(mesh: &Mesh, grid: &Grid, copies: &Copies, cell_of: &[Option<usize>]) -> Embedding {
    let corner = |cell: usize| grid.corner(grid.at(copies.cube[cell] as usize));
    let cells = or_nearest(mesh, grid, copies, cell_of);
    let point = |(&p, cell): (&DVec3, usize)| (cell, (p - corner(cell)) / grid.size);
    Embedding::from_cells(mesh.positions().iter().zip(cells).map(point))
}

/// The cell of every vertex, of those in none the nearest.
pub(super) fn or_nearest(mesh: &Mesh, grid: &Grid, copies: &Copies, cell_of: &[Option<usize>]) -> Vec<usize> {
    let middle = |cell: usize| grid.corner(grid.at(copies.cube[cell] as usize)) + grid.size / 2.0;
    let one = |(&p, cell): (&DVec3, &Option<usize>)| {
        let distance = |cell: &usize| middle(*cell).distance_squared(p);
        let nearest = || (0..copies.cube.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)));
        cell.or_else(nearest).unwrap_or(0)
    };
    mesh.positions().iter().zip(cell_of).map(one).collect()
}
