//! A surface that moves smoothly with a lattice whose dynamics are trilinear.
//!
//! # Source
//! Capell (2004), §5.2.3: the state is displayed with the basis of multi-linear cell averaging, because trilinear
//! deformations have creases between cells. Differs: a point keeps its position in the trilinear cell, and the
//! difference from the smooth basis (near the boundary, which that basis rounds) moves with the deformation gradient
//! there, blended between nodes; so every affine motion of the nodes is that of the surface, and no point has to lie in
//! the rounded lattice.
//! # Symbols
//! `φ` values of the smooth basis at a point; `e = X − Σ φ_i X_i`; `x = Σ φ_i x_i + F e`
//! # Cost
//! new: about a millisecond for each cell that contains points. evaluate: about 60 weights per point.
//! # Limits
//! Values between the nodes of the twice subdivided lattice, which are exact, are interpolated. Only lattices with
//! cells of one size, or made by hand.

use super::{
    Body, Lattice,
    control::{ControlLattice, Row, Scheme, Solid, limit_rows, split_values},
    embedding::trilinear,
    jacobian::jacobian_at,
};
use crate::FleshError;
use glam::{DVec3, Vec3};
use rayon::prelude::*;
use sinew_geom::mesh::Ragged;

/// Times a cell is subdivided.
const N_LEVELS: usize = 2;

/// Weights of the nodes around every point.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SmoothEmbedding {
    starts: Vec<u32>,
    nodes: Vec<u32>,
    weights: Vec<f32>,
    n_nodes: usize,
}

impl SmoothEmbedding {
    /// Weights of points that are embedded in a body at `rest`.
    ///
    /// # Errors
    /// Another number of points; a lattice of cells of several sizes.
    pub fn new(body: &Body, rest: &[DVec3]) -> Result<Self, FleshError> {
        let (lattice, embedding) = (&body.lattice, &body.embedding);
        if rest.len() != embedding.len() {
            return Err(FleshError::Length { what: "points", expected: embedding.len(), actual: rest.len() });
        }
        if lattice.has_ties() {
            return Err(FleshError::SeveralSizes);
        }
        let pairs = || {
            let cells = lattice.cells().iter().enumerate();
            cells.flat_map(|(cell, nodes)| nodes.map(|node| (node, cell as u32)))
        };
        let around = Ragged::from_pairs(lattice.n_nodes(), pairs);
        let points = Ragged::from_pairs(lattice.n_cells(), || {
            (0..embedding.len()).map(|point| (embedding.cell(point) as u32, point as u32))
        });
        let used: Vec<usize> = (0..lattice.n_cells()).filter(|&cell| !points.row(cell).is_empty()).collect();
        let of_cell = |&cell: &usize| -> Vec<(u32, Row)> {
            let patch = Patch::new(lattice, &around, cell);
            let row = |&point: &u32| {
                let weights = embedding.weights(point as usize);
                // The place is linear in the weights of the corners.
                let along = |k: usize| {
                    (0..8).map(|c| f64::from(weights[c]) * f64::from(c as u32 >> k & 1)).sum::<f64>()
                };
                let at = DVec3::new(along(0), along(1), along(2)).clamp(DVec3::ZERO, DVec3::ONE);
                (point, patch.row(at, rest[point as usize]))
            };
            points.row(cell).iter().map(row).collect()
        };
        let mut rows: Vec<(u32, Row)> = used.par_iter().flat_map_iter(of_cell).collect();
        rows.sort_by_key(|(point, _)| *point);
        let mut smooth = Self { starts: vec![0], n_nodes: lattice.n_nodes(), ..Self::default() };
        for (_, row) in rows {
            smooth.nodes.extend(row.iter().map(|(node, _)| *node));
            smooth.weights.extend(row.iter().map(|(_, w)| *w as f32));
            smooth.starts.push(smooth.nodes.len() as u32);
        }
        Ok(smooth)
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Nodes and weights of a point; the weights sum to one.
    pub fn row(&self, point: usize) -> (&[u32], &[f32]) {
        let range = self.starts[point] as usize..self.starts[point + 1] as usize;
        (&self.nodes[range.clone()], &self.weights[range])
    }

    /// Where the points are when the nodes are at `nodes`.
    ///
    /// # Errors
    /// If the lengths do not fit.
    pub fn evaluate(&self, nodes: &[DVec3], out: &mut [Vec3]) -> Result<(), FleshError> {
        let fits = |what, expected: usize, actual: usize| {
            if expected == actual { Ok(()) } else { Err(FleshError::Length { what, expected, actual }) }
        };
        fits("nodes", self.n_nodes, nodes.len())?;
        fits("points", self.len(), out.len())?;
        out.par_iter_mut().with_min_len(1000).enumerate().for_each(|(point, out)| {
            let (at, weights) = self.row(point);
            let sum: DVec3 =
                at.iter().zip(weights).map(|(&node, &w)| nodes[node as usize] * f64::from(w)).sum();
            *out = sum.as_vec3();
        });
        Ok(())
    }
}

/// A cell and those around it, with the smooth basis within the cell.
struct Patch {
    /// Nodes of the lattice.
    nodes: Vec<u32>,
    /// Where they are.
    places: Vec<DVec3>,
    /// Corners of the cell itself, counted within the patch.
    own: [usize; 8],
    /// Finest cells within the cell, by the places of the corners they came from, with rows at their corners.
    finest: Vec<[Vec<f64>; 8]>,
    /// For each corner of the cell, weights of nodes whose sum of products with places is the deformation gradient.
    gradients: [Vec<(usize, DVec3)>; 8],
}

impl Patch {
    fn new(lattice: &Lattice, around: &Ragged, cell: usize) -> Self {
        let center = lattice.cells()[cell];
        let mut cells: Vec<[u32; 8]> = center
            .iter()
            .flat_map(|&node| around.row(node as usize))
            .map(|&other| lattice.cells()[other as usize])
            .filter(|other| *other != center)
            .collect();
        cells.sort_unstable();
        // Copies of a cube that are joined at all corners are one cell here.
        cells.dedup();
        cells.insert(0, center);
        let mut nodes: Vec<u32> = cells.iter().flatten().copied().collect();
        nodes.sort_unstable();
        nodes.dedup();
        let number = |node: u32| nodes.binary_search(&node).unwrap_or(0);
        let places: Vec<DVec3> = nodes.iter().map(|&node| lattice.nodes()[node as usize]).collect();
        let local: Vec<[usize; 8]> = cells.iter().map(|cell| cell.map(number)).collect();
        let gradients = gradients(&places, &local);
        let solids = local.iter().map(|cell| Solid::Hexahedron(cell.map(|node| node as u32))).collect();
        let control = ControlLattice::of_hexahedra(places.clone(), solids);
        let finest = refine(control, nodes.len());
        Self { own: local[0], nodes, places, finest, gradients }
    }

    /// Weights at a place of the cell, for a point that is at `rest`.
    fn row(&self, at: DVec3, rest: DVec3) -> Row {
        let mut weights = vec![0.0; self.nodes.len()];
        let (cell, within) = descend(at);
        for (row, w) in self.finest[cell].iter().zip(trilinear(within)) {
            weights.iter_mut().zip(row).for_each(|(to, x)| *to += w * x);
        }
        let smooth: DVec3 = weights.iter().zip(&self.places).map(|(w, p)| *p * *w).sum();
        let missed = rest - smooth;
        for (gradient, w) in self.gradients.iter().zip(trilinear(at)) {
            gradient.iter().for_each(|(node, g)| weights[*node] += w * g.dot(missed));
        }
        debug_assert!(self.own.iter().all(|&node| node < weights.len()));
        let all = self.nodes.iter().zip(&weights).filter(|(_, w)| w.abs() > 1e-12);
        all.map(|(&node, &w)| (node, w)).collect()
    }
}

/// The finest cell a place lies in, and where in it. Axes of finer cells lead away from the corner they are at.
fn descend(mut at: DVec3) -> (usize, DVec3) {
    let spokes = Solid::Hexahedron([0; 8]).spokes();
    let mut cell = 0;
    for _ in 0..N_LEVELS {
        let place: usize = (0..3).map(|k| usize::from(at[k] > 0.5) << k).sum();
        let along = |k: usize| {
            let axis = (spokes[place][k] ^ place).trailing_zeros() as usize;
            2.0 * if place >> axis & 1 == 1 { 1.0 - at[axis] } else { at[axis] }
        };
        at = DVec3::new(along(0), along(1), along(2));
        cell = 8 * cell + place;
    }
    (cell, at)
}

/// Split the first cell of a patch, always with the cells around it, and give the limits at the corners of its parts.
fn refine(mut control: ControlLattice, n: usize) -> Vec<[Vec<f64>; 8]> {
    let mut basis: Vec<Vec<f64>> = (0..n)
        .map(|node| {
            let mut row = vec![0.0; n];
            row[node] = 1.0;
            row
        })
        .collect();
    let mut n_own = 1;
    for _ in 0..N_LEVELS {
        let (refined, values) = split_values(&control, &basis);
        n_own *= 8;
        let (next, kept) = restrict(&refined, n_own);
        basis = kept.iter().map(|&node| values[node as usize].clone()).collect();
        control = next;
    }
    let own: Vec<[u32; 8]> = control.cells()[..n_own]
        .iter()
        .map(|cell| if let Solid::Hexahedron(nodes) = cell { *nodes } else { [0; 8] })
        .collect();
    let mut corners: Vec<u32> = own.iter().flatten().copied().collect();
    corners.sort_unstable();
    corners.dedup();
    let limits: Vec<Vec<f64>> = limit_rows(&control, &corners, Scheme::CellAveraging)
        .iter()
        .map(|row| combine(row, &basis, n))
        .collect();
    let limit = |node: u32| limits[corners.binary_search(&node).unwrap_or(0)].clone();
    own.iter().map(|cell| cell.map(limit)).collect()
}

/// The first `n_own` cells and those that touch them, with the nodes they have.
fn restrict(lattice: &ControlLattice, n_own: usize) -> (ControlLattice, Vec<u32>) {
    let mut is_near = vec![false; lattice.nodes().len()];
    lattice.cells()[..n_own].iter().flat_map(Solid::nodes).for_each(|&node| is_near[node as usize] = true);
    let keeps = |cell: &&Solid| cell.nodes().iter().any(|&node| is_near[node as usize]);
    let kept: Vec<Solid> = lattice.cells().iter().filter(keeps).copied().collect();
    let mut nodes: Vec<u32> = kept.iter().flat_map(|cell| cell.nodes().to_vec()).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let number = |node: u32| nodes.binary_search(&node).unwrap_or(0) as u32;
    let renumber = |cell: &Solid| match cell {
        Solid::Hexahedron(corners) => Solid::Hexahedron(corners.map(number)),
        other => *other,
    };
    let cells = kept.iter().map(renumber).collect();
    (ControlLattice::of_hexahedra(vec![DVec3::ZERO; nodes.len()], cells), nodes)
}

fn combine(row: &Row, basis: &[Vec<f64>], n: usize) -> Vec<f64> {
    let mut out = vec![0.0; n];
    for &(node, w) in row {
        out.iter_mut().zip(&basis[node as usize]).for_each(|(to, x)| *to += w * x);
    }
    out
}

/// Deformation gradients at the corners of the first cell: means of those in the middles of the cells around them.
fn gradients(places: &[DVec3], cells: &[[usize; 8]]) -> [Vec<(usize, DVec3)>; 8] {
    let middle = DVec3::splat(0.5);
    let of_cell = |cell: &[usize; 8]| -> [DVec3; 8] {
        let to_body = jacobian_at(&cell.map(|node| places[node]), middle).inverse().transpose();
        std::array::from_fn(|c| to_body * ((super::corner_place(c) - middle) * 0.5))
    };
    let all: Vec<[DVec3; 8]> = cells.iter().map(of_cell).collect();
    std::array::from_fn(|corner| {
        let holds = |cell: &[usize; 8]| cell.contains(&cells[0][corner]);
        let n = cells.iter().filter(|cell| holds(cell)).count() as f64;
        let around = cells.iter().zip(&all).filter(|(cell, _)| holds(cell));
        around.flat_map(|(cell, g)| cell.iter().copied().zip(g.map(|g| g / n))).collect()
    })
}
