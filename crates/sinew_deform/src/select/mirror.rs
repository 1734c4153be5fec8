//! The other half of a selection.

use super::{Selector, marked};
use glam::DVec3;
use std::collections::HashMap;

/// A plane `normal · x = offset`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plane {
    /// Direction across the plane; any length above zero.
    pub normal: DVec3,
    /// In units of the normal's length.
    pub offset: f64,
}

impl Default for Plane {
    /// x = 0: between the left and the right of a model that faces +Z.
    fn default() -> Self {
        Self { normal: DVec3::X, offset: 0.0 }
    }
}

impl Plane {
    /// Mirror image of a point.
    pub fn reflect(&self, point: DVec3) -> DVec3 {
        let square = self.normal.length_squared();
        if square == 0.0 {
            return point;
        }
        point - self.normal * (2.0 * (self.normal.dot(point) - self.offset) / square)
    }
}

/// A mirrored selection.
#[derive(Debug, Clone, PartialEq)]
pub struct Mirrored {
    /// Vertices opposite to the selected ones.
    pub vertices: Vec<u32>,
    /// How many selected vertices have none within the tolerance.
    pub n_unpaired: usize,
}

impl Selector<'_> {
    /// For each selected vertex, the vertex nearest to its mirror image, if there is one within `tolerance`
    /// metres; of equally near ones the first. Linear if the tolerance is at most a few edges.
    pub fn mirror(&self, selection: &[u32], plane: &Plane, tolerance: f64) -> Mirrored {
        let positions = self.mesh.positions();
        // Cells as large as the tolerance: every vertex near enough is in a neighbouring cell.
        let cell = tolerance.max(1e-9 * self.mesh.diagonal()).max(f64::MIN_POSITIVE);
        let key = |p: DVec3| (p / cell).floor().as_i64vec3();
        let mut cells: HashMap<_, Vec<u32>> = HashMap::new();
        positions.iter().enumerate().for_each(|(v, &p)| cells.entry(key(p)).or_default().push(v as u32));
        let nearest = |p: DVec3| {
            let around = (0..27).map(|i| key(p) + glam::I64Vec3::new(i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1));
            let near = around.filter_map(|k| cells.get(&k)).flatten();
            near.map(|&v| (positions[v as usize].distance(p), v))
                .filter(|(d, _)| *d <= tolerance)
                .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
        };
        let mut marks = vec![false; positions.len()];
        let mut n_unpaired = 0;
        for &v in selection.iter().filter(|&&v| (v as usize) < positions.len()) {
            match nearest(plane.reflect(positions[v as usize])) {
                Some((_, twin)) => marks[twin as usize] = true,
                None => n_unpaired += 1,
            }
        }
        Mirrored { vertices: marked(&marks), n_unpaired }
    }
}
