//! How many proxy joints a region gets, and where.
//!
//! # Source
//! Antonopoulos (2010), §3.4.4, eqs. 3.29–3.33: deformation indicator, participation factor, shares; joints spread over
//! a region by k-means of its vertices, a single one at the vertex nearest to the centroid. Differs: joints that eq.
//! 3.32 leaves over are distributed over the regions in as many rounds as needed, and no region gets more joints than
//! it has vertices.
//! # Symbols
//! `dI_j` deformation indicator, `a_j` share of the area, `FP_j = dI_j a_j`

use super::{
    centers::{Clusters, nearest_to},
    regions::k_means,
};
use glam::DVec3;

/// Share of a region's facets, the most deformed, that represent it.
const TOP_FACET_SHARE: f64 = 0.01;

/// One region, as its shares are computed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Region {
    /// `dI_j`, 0..=1 (eq. 3.29).
    pub indicator: f64,
    /// Mean of the most deformed facets.
    pub top: f64,
    /// Share of the area of the mesh.
    pub area: f64,
    /// Its vertices; a vertex on a border belongs to the region of its lowest face.
    pub vertices: Vec<u32>,
}

/// Describe regions of facets.
pub(crate) fn describe_regions(
    labels: &[u16],
    deformation: &[f64],
    areas: &[f64],
    vertex_regions: &[u16],
) -> Vec<Region> {
    let n = labels.iter().map(|&l| l as usize + 1).max().unwrap_or(0);
    let mut values = vec![Vec::new(); n];
    let mut area = vec![0.0; n];
    for ((&label, &d), &a) in labels.iter().zip(deformation).zip(areas) {
        values[label as usize].push(d);
        area[label as usize] += a;
    }
    let total: f64 = area.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let top: Vec<f64> = values
        .into_iter()
        .map(|mut values| {
            values.sort_by(|a: &f64, b| b.total_cmp(a));
            let n = ((TOP_FACET_SHARE * values.len() as f64).ceil() as usize).max(1);
            values.iter().take(n).sum::<f64>() / n as f64
        })
        .collect();
    let (low, high) = deformation.iter().fold((f64::INFINITY, 0.0f64), |(l, h), &d| (l.min(d), h.max(d)));
    let regions = top.iter().zip(&area).map(|(&top, &area)| Region {
        // eq. 3.30
        indicator: if high > low { (top - low) / (high - low) } else { 1.0 },
        top,
        area: area / total,
        vertices: Vec::new(),
    });
    let mut regions: Vec<Region> = regions.collect();
    for (vertex, &region) in vertex_regions.iter().enumerate() {
        if let Some(region) = regions.get_mut(region as usize) {
            region.vertices.push(vertex as u32);
        }
    }
    regions
}

/// Joints of each region: one each, then by participation factor (eqs. 3.31–3.32). They sum to `n` if there are as many
/// vertices.
pub(crate) fn share_joints(regions: &[Region], n: usize) -> Vec<usize> {
    let sizes: Vec<usize> = regions.iter().map(|region| region.vertices.len()).collect();
    let mut order: Vec<usize> = (0..regions.len()).collect();
    order.sort_by(|&a, &b| regions[b].indicator.total_cmp(&regions[a].indicator).then(a.cmp(&b)));
    let mut shares = vec![0; regions.len()];
    let mut left = n.min(sizes.iter().sum());
    for &region in order.iter().filter(|&&region| sizes[region] > 0) {
        let one = 1.min(left);
        shares[region] = one;
        left -= one;
    }
    let factors: Vec<f64> = regions.iter().map(|region| region.indicator * region.area).collect();
    let total: f64 = factors.iter().sum();
    let spare = left;
    for &region in &order {
        let part = if total > 0.0 { (spare as f64 * factors[region] / total).floor() as usize } else { 0 };
        let part = part.min(left).min(sizes[region] - shares[region]);
        shares[region] += part;
        left -= part;
    }
    while left > 0 {
        for &region in &order {
            if left > 0 && shares[region] < sizes[region] {
                shares[region] += 1;
                left -= 1;
            }
        }
    }
    shares
}

/// Spread the joints of each region over its vertices.
pub(crate) fn spread_joints(regions: &[Region], shares: &[usize], rest: &[DVec3], seed: u64) -> Clusters {
    let mut clusters = Clusters { centers: Vec::new(), labels: vec![0; rest.len()] };
    for (region, &share) in regions.iter().zip(shares).filter(|(_, share)| **share > 0) {
        let points: Vec<DVec3> = region.vertices.iter().map(|&v| rest[v as usize]).collect();
        let labels = if share == 1 { vec![0; points.len()] } else { k_means(&points, share, seed) };
        let first = clusters.centers.len() as u16;
        let mut taken = vec![false; points.len()];
        for joint in 0..share {
            let own: Vec<usize> = (0..points.len()).filter(|&at| labels[at] as usize == joint).collect();
            let free: Vec<usize> = match own.iter().copied().filter(|&at| !taken[at]).collect::<Vec<_>>() {
                // A cluster that k-means emptied takes a vertex that is no joint yet.
                none if none.is_empty() => (0..points.len()).filter(|&at| !taken[at]).collect(),
                some => some,
            };
            let places: Vec<DVec3> = free.iter().map(|&at| points[at]).collect();
            let centroid = match own.is_empty() {
                true => places[0],
                // eq. 3.33
                false => own.iter().map(|&at| points[at]).sum::<DVec3>() / own.len() as f64,
            };
            let at = free[nearest_to(&places, centroid)];
            taken[at] = true;
            clusters.centers.push(region.vertices[at]);
        }
        for (&vertex, &label) in region.vertices.iter().zip(&labels) {
            clusters.labels[vertex as usize] = first + label;
        }
    }
    clusters
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(indicator: f64, area: f64, vertices: std::ops::Range<u32>) -> Region {
        Region { indicator, top: indicator, area, vertices: vertices.collect() }
    }

    #[test]
    fn shares_follow_deformation_and_area() {
        // Of ten joints three are given one per region; seven are shared as 0.5 · 0.2 : 1 · 0.2 : 0.1 · 0.6.
        let regions = [region(0.5, 0.2, 0..50), region(1.0, 0.2, 50..100), region(0.1, 0.6, 100..200)];
        let shares = share_joints(&regions, 10);
        assert_eq!(shares, [3, 5, 2]);
        assert_eq!(share_joints(&regions, 2), [1, 1, 0], "the most deformed first");
        let small = [region(1.0, 0.9, 0..2), region(0.0, 0.1, 2..12)];
        assert_eq!(share_joints(&small, 8), [2, 6], "no more than vertices");
        assert_eq!(share_joints(&small, 100).iter().sum::<usize>(), 12);
    }

    #[test]
    fn joints_are_different_vertices_of_their_region() {
        let rest: Vec<DVec3> = (0..20).map(|x| DVec3::X * f64::from(x / 2)).collect();
        let regions = [region(1.0, 0.5, 0..10), region(0.5, 0.5, 10..20)];
        let clusters = spread_joints(&regions, &[4, 10], &rest, 0);
        let mut centers = clusters.centers.clone();
        centers.sort_unstable();
        centers.dedup();
        assert_eq!(centers.len(), 14);
        assert!(clusters.centers[..4].iter().all(|&v| v < 10));
        let one = spread_joints(&[region(1.0, 1.0, 0..20)], &[1], &rest, 0);
        assert!((rest[one.centers[0] as usize].x - 4.5).abs() <= 0.5);
    }
}
