//! A surface in a lattice made by hand.
//!
//! # Source
//! Capell (2004), §4.1: the lattice contains the surface and must not overlap itself; §4.4: only what lies inside the
//! surface counts, here as a fraction of 64 points in each cell.
//! # Cost
//! 64 winding numbers per cell and one Newton iteration per vertex.

use super::{
    Body, ControlLattice, Embedding, Lattice, Locator,
    control::Solid,
    general::{map, place_in},
    jacobian::jacobian_at,
    voxels::{SAMPLES, is_inside, sample_place},
};
use crate::FleshError;
use glam::DVec3;
use rayon::prelude::*;
use sinew_geom::{Mesh, query::SurfaceTree};

/// Share of the vertices that may lie outside before the lattice counts as made for something else.
const MOST_OUTSIDE: f64 = 0.5;
/// Places along an axis at which a cell is asked whether it lies in another.
const PROBES: [f64; 3] = [0.15, 0.5, 0.85];
/// How deep a probe must lie in another cell, in cells, to count as overlapping.
const MIN_OVERLAP_CELLS: f64 = 0.02;

/// Embed a surface in a lattice made by hand; cells other than hexahedra are split once.
///
/// # Errors
/// Cells that overlap each other, a lattice of which most of the surface lies outside, a surface without an inside.
pub fn build_made_body(mesh: &Mesh, control: &ControlLattice) -> Result<Body, FleshError> {
    if mesh.n_faces() == 0 {
        return Err(FleshError::NoFaces);
    }
    let mut lattice = control.to_lattice()?;
    let locator = Locator::new(&lattice);
    check_overlaps(control, &lattice, &locator)?;
    let points: Vec<(crate::BodyPoint, bool)> = mesh
        .positions()
        .par_iter()
        .map(|&p| match locator.cells_at(p).first() {
            Some(&cell) => (locator.point(&lattice, cell, p), true),
            None => (locator.nearest(p), false),
        })
        .collect();
    let uncovered: Vec<u32> = (0..points.len()).filter(|&v| !points[v].1).map(|v| v as u32).collect();
    if uncovered.len() as f64 > MOST_OUTSIDE * points.len() as f64 {
        let show = |[low, high]: [DVec3; 2]| format!("{low:.3} to {high:.3}");
        return Err(FleshError::LatticeElsewhere {
            count: uncovered.len(),
            n_vertices: points.len(),
            first: mesh.positions()[uncovered[0] as usize],
            lattice: show(sinew_geom::mesh::bounds(lattice.nodes())),
            surface: show(mesh.bounds()),
        });
    }
    lattice.inside = shares(mesh, &lattice)?;
    let embedding = Embedding::from_points(points.iter().map(|(point, _)| *point));
    Ok(Body { lattice, embedding, uncovered, n_split: 0 })
}

/// How much of each cell lies inside the surface: places count by the volume around them.
fn shares(mesh: &Mesh, lattice: &Lattice) -> Result<Vec<f64>, FleshError> {
    let tree = SurfaceTree::new(mesh);
    let share = |cell: usize| {
        let corners = lattice.corners(cell);
        let (mut all, mut inside) = (0.0, 0.0);
        for at in (0..64).map(|sample| (sample_place(sample) + 0.5) / SAMPLES as f64) {
            let volume = jacobian_at(&corners, at).determinant();
            all += volume;
            inside += if is_inside(&tree, map(&corners, at)) { volume } else { 0.0 };
        }
        inside / all
    };
    let shares: Vec<f64> = (0..lattice.n_cells()).into_par_iter().map(share).collect();
    if shares.iter().all(|share| *share == 0.0) {
        return Err(FleshError::NoVolume);
    }
    Ok(shares.iter().map(|share| share.max(super::build::LEAST_INSIDE)).collect())
}

/// Places inside a cell that lie in another as well.
fn check_overlaps(control: &ControlLattice, lattice: &Lattice, locator: &Locator) -> Result<(), FleshError> {
    let overlaps = |cell: usize| {
        let corners = lattice.corners(cell);
        for k in 0..27 {
            let p = map(&corners, DVec3::new(PROBES[k % 3], PROBES[k / 3 % 3], PROBES[k / 9]));
            for other in locator.cells_at(p) {
                let deep = |at: DVec3| at.min_element().min(1.0 - at.max_element()) > MIN_OVERLAP_CELLS;
                if other as usize > cell && place_in(&lattice.corners(other as usize), p).is_some_and(deep) {
                    return Some((cell, other as usize, p));
                }
            }
        }
        None
    };
    // Cells of a split solid never overlap each other, so that pairs of cells are pairs of solids.
    let Some((a, b, at)) = (0..lattice.n_cells()).into_par_iter().find_map_first(overlaps) else {
        return Ok(());
    };
    let is_split = lattice.n_cells() != control.cells().len();
    let owner = |cell: usize| {
        let mut left = cell;
        let holds = |solid: &&Solid| {
            let n = if is_split { solid.nodes().len() } else { 1 };
            let found = left < n;
            left = left.saturating_sub(n);
            found
        };
        let solid = control.cells().iter().find(holds);
        let at = control
            .cells()
            .iter()
            .position(|s| solid.is_some_and(|solid| std::ptr::eq(s, solid)))
            .unwrap_or(0);
        let name = control.cells()[at].name();
        let number = control.cells()[..=at].iter().filter(|other| other.name() == name).count();
        format!("{name} {number}")
    };
    Err(FleshError::OverlappingCells { first: owner(a), second: owner(b), at })
}
