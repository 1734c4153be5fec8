//! Opening inverted cells: the shape nearest to a given one in which no corner of a cell is inverted.
//!
//! # Source
//! Garanzha et al., *Foldover-free maps in 50 lines of code* (2021): each corner has a cost for its shape and its
//! volume, both divided by a regularised volume, whose regularisation `ε` ends with the last inversion. Differs:
//! corners of cubes instead of tetrahedra, and nodes are drawn to their original positions. Nodes that bones hold stay.
//! # Symbols
//! `J` a corner's edges, 1 at rest; `D = det J`; `χ = (D + √(ε² + D²)) / 2`; the minimum of
//! `Σ d² + SHAPE_WEIGHT Σ (tr JᵀJ / χ^⅔ + (1 + D²) / χ)`, `d` the displacements of nodes in cells
//! # Cost
//! Some hundred evaluations of all cells, if any is inverted.
//! # Limits
//! Corners between nodes that are held cannot always be opened.

use super::{Bounds, MinimiseParams, minimise};
use crate::{Lattice, element::corner_volumes, statics::free_nodes};
use glam::{DMat3, DVec3};

/// Volume of a corner that counts as open.
const MIN_CORNER_VOLUME: f64 = 0.02;
/// What the shape of a corner costs against a way of one cell.
const SHAPE_WEIGHT: f64 = 0.01;
/// Softness when nothing is folded, and share of the worst fold.
const SOFTNESS: (f64, f64) = (1e-3, 0.2);
/// Softness at most, in units of the last, and that at which cells stay folded.
const MAX_SOFTNESS: (f64, f64) = (0.6, 1e-4);

/// How cells were opened.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Unfolded {
    /// Cells that were folded over, or nearly.
    pub n_folded: usize,
    /// Cells that still are folded over.
    pub n_left: usize,
    /// Least volume of a corner now.
    pub least_volume: f64,
}

/// Move nodes that are not held, which begin at `places`, as near to `goal` as they can be without a cell folded over.
pub(super) fn unfold(lattice: &Lattice, is_held: &[bool], goal: &[DVec3], places: &mut [DVec3]) -> Unfolded {
    let corners = Corners::new(lattice);
    let n_below = |places: &[DVec3], bound: f64| corners.volumes(places).filter(|v| *v <= bound).count();
    let n_folded = n_below(goal, MIN_CORNER_VOLUME);
    if n_folded == 0 {
        places.copy_from_slice(goal);
        return Unfolded {
            least_volume: corners.volumes(goal).fold(f64::INFINITY, f64::min),
            ..Unfolded::default()
        };
    }
    let (rows, n_free) = free_nodes(lattice, is_held);
    let size = lattice.size();
    let at = |x: &[f64]| -> Vec<DVec3> {
        let d = x.as_chunks::<3>().0;
        let way = |row: &Vec<(u32, f64)>| -> DVec3 {
            row.iter().map(|(free, w)| DVec3::from_array(d[*free as usize]) * *w * size).sum()
        };
        goal.iter().zip(&rows).map(|(p, row)| *p + way(row)).collect()
    };
    let params = MinimiseParams { rounds: 60, gain: 1e-6, ..MinimiseParams::default() };
    let mut x = vec![0.0; 3 * n_free];
    for ((row, from), to) in rows.iter().zip(goal).zip(&*places) {
        // Nodes of their own say where free ones begin.
        if let [(free, 1.0)] = row[..] {
            let way = ((*to - *from) / size).to_array();
            x[3 * free as usize..][..3].copy_from_slice(&way);
        }
    }
    let mut soft = f64::INFINITY;
    while soft > MAX_SOFTNESS.1 {
        let worst = corners.volumes(places).fold(0.0, f64::min);
        soft = SOFTNESS.0.hypot(SOFTNESS.1 * worst).min(MAX_SOFTNESS.0 * soft);
        minimise(&mut x, &Bounds::default(), &params, |x, slope| {
            let (shapes, by_place) = corners.shapes(&at(x), soft);
            slope.iter_mut().zip(x).for_each(|(slope, x)| *slope = 2.0 * x);
            for (g, row) in by_place.iter().zip(&rows) {
                for (free, w) in row {
                    (0..3).for_each(|k| slope[3 * *free as usize + k] += g[k] * w * size);
                }
            }
            shapes + x.iter().map(|x| x * x).sum::<f64>()
        });
        places.copy_from_slice(&at(&x));
        if n_below(places, MIN_CORNER_VOLUME) == 0 {
            break;
        }
    }
    let least_volume = corners.volumes(places).fold(f64::INFINITY, f64::min);
    Unfolded { n_folded, n_left: n_below(places, 0.0), least_volume }
}

pub(super) struct Corners<'a> {
    cells: &'a [[u32; 8]],
    /// Volume of each cell at rest.
    sizes: Vec<f64>,
}

impl<'a> Corners<'a> {
    pub fn new(lattice: &'a Lattice) -> Self {
        let (cells, rest) = (lattice.cells(), lattice.nodes());
        let size = |cell: &[u32; 8]| corner_volumes(&cell.map(|n| rest[n as usize]))[0];
        Self { cells, sizes: cells.iter().map(size).collect() }
    }

    /// Least volume at a corner of each cell.
    fn volumes(&self, places: &[DVec3]) -> impl Iterator<Item = f64> {
        self.cells.iter().zip(&self.sizes).map(|(cell, size)| {
            let at = cell.map(|n| places[n as usize]);
            corner_volumes(&at).into_iter().fold(f64::INFINITY, f64::min) / size
        })
    }

    /// What corners pay, and the derivative by the places of nodes.
    pub fn shapes(&self, places: &[DVec3], soft: f64) -> (f64, Vec<DVec3>) {
        let (mut value, mut slope) = (0.0, vec![DVec3::ZERO; places.len()]);
        for (cell, size) in self.cells.iter().zip(&self.sizes) {
            let at = cell.map(|n| places[n as usize]);
            let unit = size.cbrt().recip();
            for c in 0..8 {
                let j = edges(&at, c) * unit;
                let (x, y, z) = (j.x_axis, j.y_axis, j.z_axis);
                let cofactor = DMat3::from_cols(y.cross(z), z.cross(x), x.cross(y));
                let d = x.dot(cofactor.x_axis);
                let root = soft.hypot(d);
                // Without the cancellation that the sum of a negative volume and its root has.
                let chi = if d >= 0.0 { 0.5 * (d + root) } else { 0.5 * soft * soft / (root - d) };
                let rise = 0.5 * (1.0 + d / root);
                let spread = chi.cbrt().powi(-2);
                let shape = (x.length_squared() + y.length_squared() + z.length_squared()) * spread;
                let volume = (1.0 + d * d) / chi;
                value += SHAPE_WEIGHT * (shape + volume);
                let by_volume = (2.0 * d - volume * rise - shape * rise * 2.0 / 3.0) / chi;
                let by_edges = (j * (2.0 * spread) + cofactor * by_volume) * (SHAPE_WEIGHT * unit);
                for axis in 0..3 {
                    let one = by_edges.col(axis) * side(c, axis);
                    slope[cell[c ^ 1 << axis] as usize] += one;
                    slope[cell[c] as usize] -= one;
                }
            }
        }
        (value, slope)
    }
}

fn side(c: usize, axis: usize) -> f64 {
    if c >> axis & 1 == 1 { -1.0 } else { 1.0 }
}

/// Edges of a corner along the axes.
fn edges(at: &[DVec3; 8], c: usize) -> DMat3 {
    let edge = |axis: usize| (at[c ^ 1 << axis] - at[c]) * side(c, axis);
    DMat3::from_cols(edge(0), edge(1), edge(2))
}
