//! Measures of surfaces, implemented independently for the judges.

use glam::DVec3;
use std::collections::{BTreeSet, HashMap};

/// Undirected edges, each once.
pub fn edges(faces: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let sides = faces.iter().flat_map(|f| [[f[0], f[1]], [f[1], f[2]], [f[2], f[0]]]);
    sides.map(|[a, b]| [a.min(b), a.max(b)]).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Length of each edge over its length at rest; edges without length at rest are left out.
pub fn stretches(rest: &[DVec3], posed: &[DVec3], edges: &[[u32; 2]]) -> Vec<f64> {
    let length = |points: &[DVec3], [a, b]: [u32; 2]| points[a as usize].distance(points[b as usize]);
    let size = diagonal(rest);
    let is_long = |edge: &&[u32; 2]| length(rest, **edge) > 1e-6 * size;
    edges.iter().filter(is_long).map(|&edge| length(posed, edge) / length(rest, edge)).collect()
}

/// Volume enclosed by closed surfaces; of open ones, what the formula gives about the middle of the box.
pub fn volume(points: &[DVec3], faces: &[[u32; 3]]) -> f64 {
    let (low, high) = super::draw::bounds(points);
    let middle = (low + high) * 0.5;
    let corner = |v: u32| points[v as usize] - middle;
    faces.iter().map(|f| corner(f[0]).dot(corner(f[1]).cross(corner(f[2]))) / 6.0).sum()
}

/// The diagonal of the box around points.
pub fn diagonal(points: &[DVec3]) -> f64 {
    let (low, high) = super::draw::bounds(points);
    (high - low).length()
}

/// Percentile of some values; 0 if there are none.
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = ((sorted.len().max(1) - 1) as f64 * share).round() as usize;
    sorted.get(at).copied().unwrap_or(0.0)
}

/// For each vertex the first one at the same position: glTF cuts surfaces along seams, which judges close again.
pub fn welded(points: &[DVec3]) -> Vec<u32> {
    let mut first: HashMap<[u64; 3], u32> = HashMap::new();
    let key = |p: &DVec3| p.to_array().map(|x| (x + 0.0).to_bits());
    points.iter().enumerate().map(|(v, p)| *first.entry(key(p)).or_insert(v as u32)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cube_twice_as_large_has_eight_times_the_volume() {
        let corner = |k: u32| DVec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2));
        let points: Vec<DVec3> = (0..8).map(corner).collect();
        let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let faces: Vec<[u32; 3]> =
            quads.iter().flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]).collect();
        let large: Vec<DVec3> = points.iter().map(|p| *p * 2.0).collect();
        assert!((volume(&points, &faces) - 1.0).abs() < 1e-12);
        assert!((volume(&large, &faces) - 8.0).abs() < 1e-12);
        let edges = edges(&faces);
        assert_eq!(edges.len(), 18);
        assert!(stretches(&points, &large, &edges).iter().all(|s| (s - 2.0).abs() < 1e-12));
        assert_eq!(quantile(&[3.0, 1.0, 2.0], 0.5), 2.0);
    }
}
