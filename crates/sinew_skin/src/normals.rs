//! Angles between the facets of what is wanted and of what is found: what shading shows.
//!
//! # Limits
//! Facets far smaller than the others of their frame do not count, because they are invisible. Quantiles are exact to a
//! hundredth of a degree.

use glam::DVec3;
use sinew_geom::Mesh;

/// Facets smaller than this share of the mean of their frame do not count.
const MIN_AREA_SHARE: f64 = 0.01;
/// Bins per degree.
const BINS_PER_DEGREE: f64 = 100.0;

/// Sums of angles over frames.
pub(crate) struct NormalSums {
    faces: Vec<[u32; 3]>,
    bins: Vec<u64>,
    sum: f64,
    n: u64,
    flipped: u64,
    /// Per vertex the sum of the angles of its facets, and their number.
    per_vertex: Vec<(f64, u32)>,
}

/// Angles of facets, in degrees.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NormalErrors {
    /// Mean over facets and frames.
    pub mean: f64,
    /// Exceeded by one of a hundred.
    pub p99: f64,
    /// Percent of facets that point backwards.
    pub flipped: f64,
    /// Mean around each vertex.
    pub per_vertex: Vec<f32>,
}

impl NormalSums {
    pub fn new(mesh: &Mesh) -> Self {
        let bins = vec![0; (180.0 * BINS_PER_DEGREE) as usize + 1];
        let per_vertex = vec![(0.0, 0); mesh.n_vertices()];
        Self { faces: mesh.faces().to_vec(), bins, sum: 0.0, n: 0, flipped: 0, per_vertex }
    }

    /// Add a frame.
    pub fn add(&mut self, wanted: &[DVec3], found: &[DVec3]) {
        let normal = |points: &[DVec3], face: &[u32; 3]| {
            let [a, b, c] = face.map(|v| points[v as usize]);
            (b - a).cross(c - a)
        };
        let total: f64 = self.faces.iter().map(|face| normal(wanted, face).length()).sum();
        let small = MIN_AREA_SHARE * total / self.faces.len().max(1) as f64;
        for face in &self.faces {
            let (a, b) = (normal(wanted, face), normal(found, face));
            if a.length() <= small {
                continue;
            }
            let angle = if b.length() > 0.0 { a.angle_between(b).to_degrees() } else { 90.0 };
            self.sum += angle;
            self.n += 1;
            self.flipped += u64::from(angle > 90.0);
            self.bins[(angle * BINS_PER_DEGREE) as usize] += 1;
            for &v in face {
                let (sum, n) = &mut self.per_vertex[v as usize];
                (*sum, *n) = (*sum + angle, *n + 1);
            }
        }
    }

    pub fn finish(self) -> NormalErrors {
        let n = self.n.max(1) as f64;
        let mut left = (0.99 * self.n as f64).ceil() as u64;
        let bin = self.bins.iter().position(|&count| {
            left = left.saturating_sub(count);
            left == 0
        });
        let mean = |&(sum, n): &(f64, u32)| (sum / f64::from(n.max(1))) as f32;
        NormalErrors {
            mean: self.sum / n,
            p99: bin.filter(|_| self.n > 0).map_or(0.0, |bin| (bin as f64 + 0.5) / BINS_PER_DEGREE),
            flipped: 100.0 * self.flipped as f64 / n,
            per_vertex: self.per_vertex.iter().map(mean).collect(),
        }
    }
}

/// Factor of an edge that has no length left: a number, which JSON can hold.
const MOST_STRETCH: f64 = 1e6;

/// By which factor edges of a bind pose are longer or shorter than those of the rest pose: exceeded by one of a hundred, and
/// the largest. Edges far shorter than the others do not count; those that collapse count as `MOST_STRETCH`.
pub fn compute_bind_stretch(rest: &Mesh, bind: &[DVec3]) -> [f64; 2] {
    let points = rest.positions();
    let lengths = |points: &[DVec3]| -> Vec<f64> {
        let edges = rest.faces().iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
        edges.map(|[a, b]| points[a as usize].distance(points[b as usize])).collect()
    };
    let (before, after) = (lengths(points), lengths(bind));
    let mean = before.iter().sum::<f64>() / before.len().max(1) as f64;
    let mut factors: Vec<f64> = before
        .iter()
        .zip(&after)
        .filter(|(before, _)| **before > 0.1 * mean)
        .map(|(before, after)| (after / before).max(before / after).min(MOST_STRETCH))
        .collect();
    factors.sort_by(f64::total_cmp);
    let at = |share: f64| factors.get((share * factors.len().saturating_sub(1) as f64) as usize);
    [0.99, 1.0].map(|share| at(share).copied().unwrap_or(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaning_and_flipped_facets_are_counted() {
        let square = vec![DVec3::ZERO, DVec3::X, DVec3::X + DVec3::Y, DVec3::Y];
        let mesh = Mesh::new(square.clone(), vec![[0, 1, 2], [0, 2, 3]]).unwrap();
        let mut sums = NormalSums::new(&mesh);
        sums.add(&square, &square);
        let leaning: Vec<DVec3> = square.iter().map(|p| DVec3::new(p.x, p.y, p.x)).collect();
        sums.add(&square, &leaning);
        let mirrored: Vec<DVec3> = square.iter().map(|p| DVec3::new(-p.x, p.y, p.z)).collect();
        sums.add(&square, &mirrored);
        let found = sums.finish();
        assert!((found.mean - 75.0).abs() < 1e-9 && (found.flipped - 100.0 / 3.0).abs() < 1e-9, "{found:?}");
        assert!((found.p99 - 180.0).abs() < 0.02 && (found.per_vertex[0] - 75.0).abs() < 1e-4);
    }

    #[test]
    fn a_torn_bind_pose_is_seen() {
        let square = vec![DVec3::ZERO, DVec3::X, DVec3::X + DVec3::Y, DVec3::Y];
        let mesh = Mesh::new(square.clone(), vec![[0, 1, 2], [0, 2, 3]]).unwrap();
        assert_eq!(compute_bind_stretch(&mesh, &square), [1.0, 1.0]);
        let torn: Vec<DVec3> = square.iter().map(|p| DVec3::new(3.0 * p.x, p.y, p.z)).collect();
        assert!((compute_bind_stretch(&mesh, &torn)[1] - 3.0).abs() < 1e-12);
        let collapsed = [DVec3::ZERO; 4];
        assert_eq!(compute_bind_stretch(&mesh, &collapsed), [MOST_STRETCH; 2]);
    }
}
