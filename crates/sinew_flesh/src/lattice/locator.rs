//! Which cells a place lies in.

use super::{
    Lattice,
    general::{is_within, nearest_place, place_in, weights_beyond},
};
use crate::{BodyPoint, lattice::embedding::trilinear};
use glam::DVec3;
use std::collections::BTreeMap;

/// Cells of a lattice by their place: by the cube they are, or by the cubes that their boxes reach.
#[derive(Debug, Clone)]
pub struct Locator {
    low: DVec3,
    size: f64,
    is_cubes: bool,
    corners: Vec<[DVec3; 8]>,
    cells: BTreeMap<[i32; 3], Vec<u32>>,
}

impl Locator {
    /// Sort the cells of a lattice.
    pub fn new(lattice: &Lattice) -> Self {
        let corners: Vec<[DVec3; 8]> = (0..lattice.n_cells()).map(|cell| lattice.corners(cell)).collect();
        let mut locator = Self {
            low: corners[0][0],
            size: lattice.size(),
            is_cubes: lattice.is_cubes(),
            corners,
            cells: BTreeMap::new(),
        };
        for cell in 0..lattice.n_cells() {
            let [low, high] = locator.reach(cell);
            for x in low[0]..=high[0] {
                for y in low[1]..=high[1] {
                    for z in low[2]..=high[2] {
                        locator.cells.entry([x, y, z]).or_default().push(cell as u32);
                    }
                }
            }
        }
        locator
    }

    /// The first and last cube of a cell's box.
    fn reach(&self, cell: usize) -> [[i32; 3]; 2] {
        let corners = &self.corners[cell];
        if self.is_cubes {
            return [((corners[0] - self.low) / self.size).round().as_ivec3().to_array(); 2];
        }
        sinew_geom::mesh::bounds(corners).map(|p| self.cube(p))
    }

    fn cube(&self, p: DVec3) -> [i32; 3] {
        ((p - self.low) / self.size).floor().as_ivec3().to_array()
    }

    /// The cells at a place: none outside, several where parts share a cube.
    pub fn cells_at(&self, p: DVec3) -> Vec<u32> {
        let near = self.cells.get(&self.cube(p)).map_or(&[][..], Vec::as_slice);
        let holds =
            |cell: &u32| self.is_cubes || place_in(&self.corners[*cell as usize], p).is_some_and(is_within);
        near.iter().copied().filter(holds).collect()
    }

    /// A place within a cell.
    pub fn point(&self, lattice: &Lattice, cell: u32, p: DVec3) -> BodyPoint {
        let corners = lattice.corners(cell as usize);
        let local = match self.is_cubes {
            true => Some((p - corners[0]) / self.size),
            false => place_in(&corners, p),
        };
        let beyond = || {
            let (at, _) = nearest_place(&corners, p);
            weights_beyond(&corners, at, p)
        };
        BodyPoint { cell, weights: local.map_or_else(beyond, trilinear) }
    }

    /// The cell nearest to a place that may lie outside all of them.
    pub fn nearest(&self, p: DVec3) -> BodyPoint {
        let box_distance = |cell: usize| {
            let [low, high] = sinew_geom::mesh::bounds(&self.corners[cell]);
            p.distance(p.clamp(low, high))
        };
        let mut best = (f64::INFINITY, 0, DVec3::ZERO);
        let mut order: Vec<(f64, usize)> = (0..self.corners.len()).map(|c| (box_distance(c), c)).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (lower, cell) in order {
            if lower > best.0 {
                break;
            }
            let (at, distance) = nearest_place(&self.corners[cell], p);
            if distance < best.0 {
                best = (distance, cell, at);
            }
        }
        BodyPoint { cell: best.1 as u32, weights: weights_beyond(&self.corners[best.1], best.2, p) }
    }
}
