//! Ground that rises and falls.
//!
//! # Source
//! Heights on a grid, two triangles per square; the distance is measured along the normal of the triangle above or
//! below the point, which is exact on flat ground and accurate enough for contact on gentle slopes.

use crate::FleshError;
use glam::{DVec2, DVec3};
use sinew_geom::{Mesh, query::SurfaceTree};

/// Heights over a rectangle of the ground.
#[derive(Debug, Clone, PartialEq)]
pub struct Terrain {
    low: DVec2,
    size: DVec2,
    n: [usize; 2],
    heights: Vec<f64>,
}

/// Squares along each side of a terrain made from a mesh.
const SQUARES_PER_SIDE: usize = 128;

impl Terrain {
    /// Heights at `n[0] × n[1]` places, those along x first, from `low` to `high` in x and z. `NAN` is a hole.
    ///
    /// # Errors
    /// Fewer than two places along an axis, another number of heights, a rectangle without area, infinite heights.
    pub fn new(low: DVec2, high: DVec2, n: [usize; 2], heights: Vec<f64>) -> Result<Self, FleshError> {
        if n[0] < 2 || n[1] < 2 {
            let (name, value) = ("heights along a side", n[0].min(n[1]) as f64);
            return Err(FleshError::Parameter { name, value, expected: "there must be 2 or more" });
        }
        let (expected, actual) = (n[0] * n[1], heights.len());
        if expected != actual {
            return Err(FleshError::Length { what: "heights", expected, actual });
        }
        if let Some(index) = heights.iter().position(|h| h.is_infinite()) {
            return Err(FleshError::NonFinite { what: "height", index });
        }
        let extent = high - low;
        if !(extent.is_finite() && extent.min_element() > 0.0) {
            let (name, value) = ("side of a terrain", extent.min_element());
            return Err(FleshError::Parameter { name, value, expected: "it must be positive" });
        }
        let size = extent / DVec2::new((n[0] - 1) as f64, (n[1] - 1) as f64);
        Ok(Self { low, size, n, heights })
    }

    /// The upper side of a mesh, seen from above on a grid.
    ///
    /// # Errors
    /// A mesh without faces or seen from its edge.
    pub fn from_mesh(mesh: &Mesh) -> Result<Self, FleshError> {
        if mesh.n_faces() == 0 {
            return Err(FleshError::NoFaces);
        }
        let [low, high] = mesh.bounds();
        let n = [SQUARES_PER_SIDE + 1; 2];
        let tree = SurfaceTree::new(mesh);
        let top = high.y + 1e-3 * mesh.diagonal() + 1e-9;
        // Rays within a hair of the rim, so that rounding does not miss it.
        let at = |k: usize, low: f64, high: f64| {
            low + (high - low) * (k as f64 / SQUARES_PER_SIDE as f64).clamp(1e-6, 1.0 - 1e-6)
        };
        let height = |k: usize| {
            let from = DVec3::new(at(k % n[0], low.x, high.x), top, at(k / n[0], low.z, high.z));
            tree.first_hit(from, DVec3::NEG_Y).map_or(f64::NAN, |hit| top - hit.t)
        };
        let heights = (0..n[0] * n[1]).map(height).collect();
        Self::new(DVec2::new(low.x, low.z), DVec2::new(high.x, high.z), n, heights)
    }

    /// Signed distance and normal; far away where there is no ground.
    pub fn distance(&self, p: DVec3) -> (f64, DVec3) {
        let place = (DVec2::new(p.x, p.z) - self.low) / self.size;
        let last = DVec2::new((self.n[0] - 1) as f64, (self.n[1] - 1) as f64);
        if !(place.cmpge(DVec2::ZERO).all() && place.cmple(last).all()) {
            return (f64::INFINITY, DVec3::Y);
        }
        let square = place.floor().min(last - 1.0);
        let (i, j, f) = (square.x as usize, square.y as usize, place - square);
        let at = |i: usize, j: usize| self.heights[j * self.n[0] + i];
        let (base, slope) = if f.x + f.y <= 1.0 {
            (at(i, j), DVec2::new(at(i + 1, j) - at(i, j), at(i, j + 1) - at(i, j)))
        } else {
            let far = at(i + 1, j + 1);
            let slope = DVec2::new(far - at(i, j + 1), far - at(i + 1, j));
            (far - slope.x - slope.y, slope)
        };
        let height = base + slope.dot(f);
        if height.is_nan() {
            return (f64::INFINITY, DVec3::Y);
        }
        let slope = slope / self.size;
        let normal = DVec3::new(-slope.x, 1.0, -slope.y).normalize();
        ((p.y - height) * normal.y, normal)
    }
}
