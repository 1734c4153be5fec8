//! Regions of similar deformation.
//!
//! # Source
//! Antonopoulos (2010), §3.4.4: k-means (algorithm 3.3, eqs. 3.22–3.23), hierarchical k-means (algorithm 3.4, eq.
//! 3.24), variational region growing (algorithm 3.5, eqs. 3.27–3.28; after Cohen-Steiner, Alliez and Desbrun 2004).
//! Differs: k-means starts from p-centers instead of random facets; region growing stops when no label changes, because
//! the criterion printed in line 5 of algorithm 3.5 stops while the error is still large. Components that no seed
//! reaches across an edge join the region of the nearest facet, so that every facet has one.
//! # Symbols
//! `D_i` mean deformation of facet `i` (eq. 3.21); `R_j` region
//! # Cost
//! k-means: facets × clusters per round. Region growing: facets × log per round.

use super::centers::{find_centers, nearest_to};
use glam::DVec3;
use std::{cmp::Ordering, collections::BinaryHeap};

/// Largest number of rounds of any of the methods.
const MAX_ROUNDS: usize = 50;
/// Clusters of the first level for one of the second.
const FIRST_LEVEL_RATIO: usize = 8;

/// How facets are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Grouping {
    /// By deformation alone; clusters are scattered.
    KMeans,
    /// By deformation first, then by position.
    HierarchicalKMeans,
    /// Grown over common edges: connected, and as many as requested. Antonopoulos found this kind best.
    #[default]
    RegionGrowing,
}

impl Grouping {
    /// All methods.
    pub const ALL: [Self; 3] = [Self::KMeans, Self::HierarchicalKMeans, Self::RegionGrowing];

    /// Name for users.
    pub fn name(self) -> &'static str {
        match self {
            Self::KMeans => "kmeans",
            Self::HierarchicalKMeans => "hierarchical",
            Self::RegionGrowing => "growing",
        }
    }

    /// The method with a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Facets to be grouped.
pub(crate) struct Facets<'a> {
    /// Deformation of each.
    pub deformation: &'a [f64],
    /// Centroid of each, at rest.
    pub centroids: &'a [DVec3],
    /// Facets across the edges of each.
    pub neighbors: &'a [Vec<u32>],
}

/// Region of each facet, numbered from zero without gaps; at most `k` of them.
pub(crate) fn group_facets(facets: &Facets, k: usize, grouping: Grouping, seed: u64) -> Vec<u16> {
    if facets.deformation.is_empty() {
        return Vec::new();
    }
    let k = k.clamp(1, facets.deformation.len());
    let labels = match grouping {
        Grouping::KMeans => {
            let points: Vec<DVec3> = facets.deformation.iter().map(|&d| DVec3::new(d, 0.0, 0.0)).collect();
            k_means(&points, k, seed)
        }
        Grouping::HierarchicalKMeans => hierarchical(facets, k, seed),
        Grouping::RegionGrowing => grow(facets, k, seed),
    };
    without_gaps(labels)
}

/// k-means of points (alg. 3.3).
pub(crate) fn k_means(points: &[DVec3], k: usize, seed: u64) -> Vec<u16> {
    let start = find_centers(points, k, seed);
    let mut centers: Vec<DVec3> = start.centers.iter().map(|&at| points[at as usize]).collect();
    let mut labels = start.labels;
    for _ in 0..MAX_ROUNDS {
        let mut sums = vec![(DVec3::ZERO, 0.0); centers.len()];
        for (p, &label) in points.iter().zip(&labels) {
            sums[label as usize].0 += *p;
            sums[label as usize].1 += 1.0;
        }
        // eq. 3.23; a cluster that lost all its points stays where it is.
        for (center, (sum, n)) in centers.iter_mut().zip(&sums) {
            *center = if *n > 0.0 { *sum / *n } else { *center };
        }
        let next: Vec<u16> = points.iter().map(|p| nearest_to(&centers, *p) as u16).collect();
        if next == labels {
            break;
        }
        labels = next;
    }
    labels
}

/// Deformation first; then the centres of those clusters by their position (alg. 3.4).
fn hierarchical(facets: &Facets, k: usize, seed: u64) -> Vec<u16> {
    let first_k = (FIRST_LEVEL_RATIO * k).min(facets.deformation.len());
    // Position and deformation on one scale, so that clusters of the first level have a position at all.
    let [low, high] = sinew_geom::mesh::bounds(facets.centroids);
    let (least, most) = range(facets.deformation);
    let scale = low.distance(high) / (most - least).max(f64::MIN_POSITIVE);
    let points: Vec<DVec3> = facets
        .deformation
        .iter()
        .zip(facets.centroids)
        .map(|(d, c)| DVec3::new((d - least) * scale, (*c - low).length(), 0.0))
        .collect();
    let first = k_means(&points, first_k, seed);
    let mut sums = vec![(DVec3::ZERO, 0.0f64); first_k];
    for (c, &label) in facets.centroids.iter().zip(&first) {
        sums[label as usize].0 += *c;
        sums[label as usize].1 += 1.0;
    }
    let places: Vec<DVec3> = sums.iter().map(|(sum, n)| *sum / n.max(1.0)).collect();
    let second = k_means(&places, k, seed);
    // eq. 3.24
    first.iter().map(|&label| second[label as usize]).collect()
}

fn range(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| (low.min(x), high.max(x)))
}

/// A facet that could join a region, and how badly it fits.
struct Offer {
    error: f64,
    facet: u32,
    region: u16,
}

impl Ord for Offer {
    /// Smallest error first; facet and region break ties, so that results do not depend on anything else.
    fn cmp(&self, other: &Self) -> Ordering {
        other
            .error
            .total_cmp(&self.error)
            .then(other.facet.cmp(&self.facet))
            .then(other.region.cmp(&self.region))
    }
}

impl PartialOrd for Offer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Offer {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Offer {}

/// Variational region growing (alg. 3.5).
fn grow(facets: &Facets, k: usize, seed: u64) -> Vec<u16> {
    let mut seeds = find_centers(facets.centroids, k, seed).centers;
    let mut means: Vec<f64> = seeds.iter().map(|&facet| facets.deformation[facet as usize]).collect();
    let mut labels: Vec<u16> = Vec::new();
    for _ in 0..MAX_ROUNDS {
        let next = flood(facets, &seeds, &means);
        let still = next == labels;
        labels = next;
        if still {
            break;
        }
        // eq. 3.28, and the facet nearest to the mean becomes the seed.
        let mut sums = vec![(0.0, 0.0); seeds.len()];
        for (d, &label) in facets.deformation.iter().zip(&labels) {
            sums[label as usize].0 += d;
            sums[label as usize].1 += 1.0;
        }
        means = sums.iter().map(|(sum, n): &(f64, f64)| sum / n.max(1.0)).collect();
        let mut best = vec![f64::INFINITY; seeds.len()];
        for (facet, (d, &label)) in facets.deformation.iter().zip(&labels).enumerate() {
            let off = (d - means[label as usize]).abs();
            if off < best[label as usize] {
                best[label as usize] = off;
                seeds[label as usize] = facet as u32;
            }
        }
    }
    labels
}

/// Regions grown from their seeds, the best fitting facet first (eq. 3.27).
fn flood(facets: &Facets, seeds: &[u32], means: &[f64]) -> Vec<u16> {
    const NONE: u16 = u16::MAX;
    let mut labels = vec![NONE; facets.deformation.len()];
    let mut queue = BinaryHeap::new();
    let offer = |queue: &mut BinaryHeap<Offer>, facet: u32, region: u16, labels: &[u16]| {
        for &next in &facets.neighbors[facet as usize] {
            if labels[next as usize] == NONE {
                let error = (facets.deformation[next as usize] - means[region as usize]).powi(2);
                queue.push(Offer { error, facet: next, region });
            }
        }
    };
    seeds.iter().enumerate().for_each(|(region, &facet)| labels[facet as usize] = region as u16);
    seeds.iter().enumerate().for_each(|(region, &facet)| offer(&mut queue, facet, region as u16, &labels));
    while let Some(best) = queue.pop() {
        if labels[best.facet as usize] == NONE {
            labels[best.facet as usize] = best.region;
            offer(&mut queue, best.facet, best.region, &labels);
        }
    }
    // Loose parts without a seed.
    let places: Vec<DVec3> = seeds.iter().map(|&facet| facets.centroids[facet as usize]).collect();
    for (label, c) in labels.iter_mut().zip(facets.centroids).filter(|(label, _)| **label == NONE) {
        *label = nearest_to(&places, *c) as u16;
    }
    labels
}

fn without_gaps(labels: Vec<u16>) -> Vec<u16> {
    let mut new = vec![u16::MAX; labels.iter().map(|&l| l as usize + 1).max().unwrap_or(0)];
    let mut n = 0;
    let mut renamed = |label: u16| {
        if new[label as usize] == u16::MAX {
            new[label as usize] = n;
            n += 1;
        }
        new[label as usize]
    };
    labels.into_iter().map(&mut renamed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A strip of facets: little, strongly and little deformed.
    fn strip() -> (Vec<f64>, Vec<DVec3>, Vec<Vec<u32>>) {
        let n = 30u32;
        let deformation =
            (0..n).map(|i| if (10..20).contains(&i) { 5.0 } else { 1.0 } + 0.001 * f64::from(i));
        let centroids = (0..n).map(|i| DVec3::X * f64::from(i)).collect();
        let neighbors =
            (0..n).map(|i| [i.checked_sub(1), (i + 1 < n).then_some(i + 1)].into_iter().flatten().collect());
        (deformation.collect(), centroids, neighbors.collect())
    }

    #[test]
    fn regions_are_connected_and_kmeans_scattered() {
        let (deformation, centroids, neighbors) = strip();
        let facets = Facets { deformation: &deformation, centroids: &centroids, neighbors: &neighbors };
        let grown = group_facets(&facets, 3, Grouping::RegionGrowing, 0);
        let expected: Vec<u16> = (0..30).map(|i| i / 10).collect();
        assert_eq!(grown, expected);
        let kmeans = group_facets(&facets, 2, Grouping::KMeans, 0);
        assert!(
            kmeans[0] == kmeans[29] && kmeans[0] != kmeans[15],
            "deformation alone joins the ends: {kmeans:?}"
        );
        for grouping in Grouping::ALL {
            let labels = group_facets(&facets, 4, grouping, 0);
            let n = labels.iter().max().unwrap() + 1;
            assert!((1..=4).contains(&n) && (0..n).all(|l| labels.contains(&l)), "{grouping:?} {labels:?}");
        }
    }

    #[test]
    fn loose_parts_get_a_region() {
        let (deformation, centroids, _) = strip();
        let alone = vec![Vec::new(); 30];
        let facets = Facets { deformation: &deformation, centroids: &centroids, neighbors: &alone };
        assert_eq!(group_facets(&facets, 3, Grouping::RegionGrowing, 0).len(), 30);
    }
}
