//! Force fields as generalized forces on the nodes of a lattice.
//!
//! # Source
//! Capell (2004), eq. 3.6 and §6.2: `Q_i = ∫ f φ_i dV` over the body at rest, by the same points in every cell, so that
//! `Q` is as smooth in the parameters of the template as the template itself. Cells are weighted by the fraction that
//! is filled.
//! # Symbols
//! `φ` shape functions; `λ` nodal vectors that forces are multiplied with
//! # Cost
//! 27 evaluations per cell within reach.
//! # Limits
//! Templates much smaller than a cell may fall between its points.

use super::{Frame, Template};
use crate::{Lattice, lattice::trilinear};
use glam::{DMat3, DVec3};
use std::sync::OnceLock;

/// Gauss's places along each axis of a cell, from 0 to 1, and what they count.
const GAUSS: [(f64, f64); 3] =
    [(0.112_701_665_379_258_3, 5.0 / 18.0), (0.5, 8.0 / 18.0), (0.887_298_334_620_741_7, 5.0 / 18.0)];

/// A template with its guide's frame.
#[derive(Debug, Clone)]
pub(crate) struct Placed<'a> {
    pub template: Template,
    pub params: &'a [f64],
    pub frame: Frame,
}

/// A place within a cell: weights of the corners, place, volume.
struct Place {
    weights: &'static [f64; 8],
    at: DVec3,
    volume: f64,
}

impl Placed<'_> {
    /// Cells its reach may touch, with the corners' places.
    fn cells<'l>(&self, lattice: &'l Lattice) -> impl Iterator<Item = (usize, [DVec3; 8])> + 'l {
        let (center, reach) = (self.frame.center, self.template.reach(self.params));
        let is_near = move |corners: &[DVec3; 8]| {
            let low = corners.iter().fold(DVec3::INFINITY, |low, p| low.min(*p));
            let high = corners.iter().fold(DVec3::NEG_INFINITY, |high, p| high.max(*p));
            center.distance(center.clamp(low, high)) < reach
        };
        (0..lattice.n_cells()).map(|cell| (cell, lattice.corners(cell))).filter(move |(_, c)| is_near(c))
    }

    fn local(&self, x: DVec3) -> DVec3 {
        self.frame.axes.transpose() * (x - self.frame.center)
    }

    /// Add its generalized forces; returns whether any cell is touched.
    pub fn add_forces(&self, lattice: &Lattice, out: &mut [DVec3]) -> bool {
        let mut is_touched = false;
        for (cell, corners) in self.cells(lattice) {
            let share = lattice.inside()[cell];
            for place in places(lattice, &corners) {
                let Some(field) = self.template.unit(self.local(place.at), self.params) else { continue };
                is_touched = true;
                let force = self.frame.axes * field.value * (self.params[0] * place.volume * share);
                for (node, w) in lattice.cells()[cell].iter().zip(place.weights) {
                    out[*node as usize] += force * *w;
                }
            }
        }
        is_touched
    }

    /// `dQ/dη · λ` for the parameters of the template, then those of the guide.
    pub fn slopes(&self, lattice: &Lattice, lambda: &[DVec3]) -> Vec<f64> {
        let n = self.template.parameters().len();
        let mut out = vec![0.0; n + self.frame.moves.len()];
        let amplitude = self.params[0];
        for (cell, corners) in self.cells(lattice) {
            let share = lattice.inside()[cell];
            for place in places(lattice, &corners) {
                let Some(field) = self.template.unit(self.local(place.at), self.params) else { continue };
                let nodes = lattice.cells()[cell].iter().zip(place.weights);
                let at: DVec3 = nodes.map(|(node, w)| lambda[*node as usize] * *w).sum();
                let at = at * (place.volume * share);
                let own = self.frame.axes.transpose() * at;
                out[0] += own.dot(field.value);
                out[1] += amplitude * own.dot(field.by_radius);
                if n > 2 {
                    out[2] += amplitude * own.dot(field.by_ring);
                }
                let force = self.frame.axes * field.value;
                let slope: DMat3 = self.frame.axes * field.slope * self.frame.axes.transpose();
                for (to, [shift, spin]) in out[n..].iter_mut().zip(&self.frame.moves) {
                    // The field turns with its axes, and is read where the place lay before it moved.
                    let back = *shift + spin.cross(place.at - self.frame.center);
                    *to += amplitude * at.dot(spin.cross(force) - slope * back);
                }
            }
        }
        out
    }

    /// How much of the field's strength each cell has, 0 to 1; cells it does not reach are left out.
    pub fn strengths(&self, lattice: &Lattice) -> Vec<(u32, f64)> {
        let reach = self.template.reach(self.params);
        let strength = |corners: &[DVec3; 8]| {
            let middle = corners.iter().sum::<DVec3>() / 8.0;
            let r = middle.distance(self.frame.center) / reach;
            if r < 1.0 { 0.5 + 0.5 * (std::f64::consts::PI * r).cos() } else { 0.0 }
        };
        self.cells(lattice).map(|(cell, corners)| (cell as u32, strength(&corners))).collect()
    }
}

/// A place of the unit cube: where, the weights of its corners there, and its share of the volume.
type Sample = (DVec3, [f64; 8], f64);

/// Places of the unit cube at which fields are read.
fn samples() -> &'static [Sample] {
    static SAMPLES: OnceLock<Vec<Sample>> = OnceLock::new();
    SAMPLES.get_or_init(|| {
        let sample = |k: usize| {
            let [x, y, z] = [GAUSS[k % 3], GAUSS[k / 3 % 3], GAUSS[k / 9]];
            let local = DVec3::new(x.0, y.0, z.0);
            (local, trilinear(local), x.1 * y.1 * z.1)
        };
        (0..27).map(sample).collect()
    })
}

/// The same places in a cell.
fn places<'c>(lattice: &Lattice, corners: &'c [DVec3; 8]) -> impl Iterator<Item = Place> + 'c {
    let (is_cubes, side) = (lattice.is_cubes(), lattice.size());
    samples().iter().map(move |(local, weights, share)| {
        let (at, volume) = if is_cubes {
            (corners[0] + *local * side, side * side * side)
        } else {
            (corners.iter().zip(weights).map(|(p, w)| *p * *w).sum(), volume_at(corners, *local))
        };
        Place { weights, at, volume: volume * share }
    })
}

/// Determinant of the map from the unit cube.
fn volume_at(corners: &[DVec3; 8], local: DVec3) -> f64 {
    let column = |axis: usize| {
        let of = |place: f64| {
            let mut moved = local;
            moved[axis] = place;
            corners.iter().zip(trilinear(moved)).map(|(p, w)| *p * w).sum::<DVec3>()
        };
        of(1.0) - of(0.0)
    };
    DMat3::from_cols(column(0), column(1), column(2)).determinant()
}
