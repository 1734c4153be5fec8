//! Proxy joints spread evenly over the surface.
//!
//! # Source
//! Antonopoulos (2010), §3.4.3, algorithm 3.2 (p-center clustering): each new centre is the vertex furthest from the
//! centre of its cluster, and takes all vertices nearer to it. Differs: the first centre is the vertex nearest to the
//! middle, or one chosen by the seed, where Antonopoulos draws at random.
//! # Cost
//! One pass over the vertices per centre.

use glam::DVec3;

/// Centres among points, and the cluster of every point.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Clusters {
    /// A point of each cluster.
    pub centers: Vec<u32>,
    pub labels: Vec<u16>,
}

impl Clusters {
    /// Distance of each centre from the furthest point of its cluster (`max d_ib` of eq. 3.15).
    pub fn radii(&self, points: &[DVec3]) -> Vec<f64> {
        let mut radii = vec![0.0f64; self.centers.len()];
        for (p, &label) in points.iter().zip(&self.labels) {
            let center = points[self.centers[label as usize] as usize];
            let radius = &mut radii[label as usize];
            *radius = radius.max(p.distance(center));
        }
        radii
    }
}

/// `k` different centres among points; fewer if there are fewer points.
pub(crate) fn find_centers(points: &[DVec3], k: usize, seed: u64) -> Clusters {
    let k = k.min(points.len());
    let mut nearest = vec![f64::INFINITY; points.len()];
    let mut labels = vec![0u16; points.len()];
    let mut centers = Vec::with_capacity(k);
    let mut next = first(points, seed);
    for label in 0..k {
        centers.push(next as u32);
        let center = points[next];
        for (at, p) in points.iter().enumerate() {
            let distance = p.distance_squared(center);
            if distance < nearest[at] {
                (nearest[at], labels[at]) = (distance, label as u16);
            }
        }
        // Never chosen again, even among points at the same place.
        (nearest[next], labels[next]) = (f64::NEG_INFINITY, label as u16);
        next = (0..points.len()).fold(0, |best, at| if nearest[at] > nearest[best] { at } else { best });
    }
    Clusters { centers, labels }
}

fn first(points: &[DVec3], seed: u64) -> usize {
    if seed != 0 {
        return (seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 17) as usize % points.len().max(1);
    }
    nearest_to(points, crate::tracks::mean(points))
}

/// The point nearest to a place.
pub(crate) fn nearest_to(points: &[DVec3], place: DVec3) -> usize {
    let nearer = |best: usize, at: usize| {
        if points[at].distance_squared(place) < points[best].distance_squared(place) { at } else { best }
    };
    (0..points.len()).fold(0, nearer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_new_center_is_the_furthest_vertex() {
        let line: Vec<DVec3> = (0..=10).map(|x| DVec3::X * f64::from(x)).collect();
        let found = find_centers(&line, 3, 0);
        assert_eq!(found.centers, [5, 0, 10]);
        assert_eq!(found.labels, [1, 1, 1, 0, 0, 0, 0, 0, 2, 2, 2]);
        assert_eq!(found.radii(&line), [2.0, 2.0, 2.0]);
        assert_eq!(find_centers(&[DVec3::ONE; 4], 9, 0).centers.len(), 4);
    }
}
