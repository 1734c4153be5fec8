//! Places within hexahedra of any shape: which cell, and where in it.

use crate::lattice::trilinear;
use glam::{DMat3, DVec3};

/// Rounds of Newton's method for the place within a cell.
const MAX_ROUNDS: usize = 25;

/// Cells over nodes that were moved, and their boxes.
#[derive(Debug, Clone)]
pub(super) struct Hexes<'a> {
    nodes: &'a [DVec3],
    cells: &'a [[u32; 8]],
    boxes: Vec<[DVec3; 2]>,
}

impl<'a> Hexes<'a> {
    pub fn new(nodes: &'a [DVec3], cells: &'a [[u32; 8]]) -> Self {
        let around = |cell: &[u32; 8]| {
            let at = cell.map(|n| nodes[n as usize]);
            let low = at.iter().fold(DVec3::INFINITY, |low, p| low.min(*p));
            [low, at.iter().fold(DVec3::NEG_INFINITY, |high, p| high.max(*p))]
        };
        Self { nodes, cells, boxes: cells.iter().map(around).collect() }
    }

    /// The cell a place lies in and the weights of its corners; outside of all cells, the nearest place of one.
    pub fn find(&self, p: DVec3) -> (usize, [f64; 8]) {
        let mut best = (f64::INFINITY, 0, DVec3::splat(0.5));
        let off = |cell: usize| p.distance(p.clamp(self.boxes[cell][0], self.boxes[cell][1]));
        for cell in (0..self.cells.len()).filter(|&cell| off(cell) == 0.0) {
            self.try_cell(cell, p, &mut best);
            if best.0 <= 1e-9 {
                break;
            }
        }
        if best.0.is_infinite() {
            let nearest = (0..self.cells.len()).map(off).fold(f64::INFINITY, f64::min);
            let side = (self.boxes[0][1] - self.boxes[0][0]).max_element();
            for cell in (0..self.cells.len()).filter(|&cell| off(cell) <= nearest + 0.1 * side) {
                self.try_cell(cell, p, &mut best);
            }
        }
        (best.1, trilinear(best.2))
    }

    fn try_cell(&self, cell: usize, p: DVec3, best: &mut (f64, usize, DVec3)) {
        let corners = self.cells[cell].map(|n| self.nodes[n as usize]);
        let local = inverse(&corners, p).clamp(DVec3::ZERO, DVec3::ONE);
        let missed = place(&corners, local).distance(p);
        if missed < best.0 {
            *best = (missed, cell, local);
        }
    }
}

fn place(corners: &[DVec3; 8], local: DVec3) -> DVec3 {
    corners.iter().zip(trilinear(local)).map(|(p, w)| *p * w).sum()
}

/// Where in a cell a place lies, also beyond its faces.
fn inverse(corners: &[DVec3; 8], p: DVec3) -> DVec3 {
    let mut local = DVec3::splat(0.5);
    for _ in 0..MAX_ROUNDS {
        let column = |axis: usize| {
            let (mut low, mut high) = (local, local);
            (low[axis], high[axis]) = (0.0, 1.0);
            place(corners, high) - place(corners, low)
        };
        let jacobian = DMat3::from_cols(column(0), column(1), column(2));
        if jacobian.determinant().abs() < 1e-300 {
            break;
        }
        let step = jacobian.inverse() * (p - place(corners, local));
        local = (local + step.clamp_length_max(1.0)).clamp(DVec3::splat(-1.0), DVec3::splat(2.0));
        if step.length() < 1e-12 {
            break;
        }
    }
    local
}
