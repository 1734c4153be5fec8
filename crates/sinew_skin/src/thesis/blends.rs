//! Weights by distance, and weights that spread over the surface.
//!
//! # Source
//! Antonopoulos (2010): distance weights with the P-factor (§3.4.3, eqs. 3.15–3.16), convolution (§3.4.4, eqs.
//! 3.34–3.35). Differs: eq. 3.35 divides by the size of the star alone although the vertex itself is counted, which the
//! normalisation corrects; and only the strongest influences are kept, because players accept no more.
//! # Symbols
//! `r_b` reach of joint `b`; `P` factor

use super::centers::Clusters;
use crate::state::Influences;
use glam::DVec3;
use sinew_geom::mesh::Ragged;

/// How weights are found from proxy joints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Blending {
    /// By distance, within the reach of each joint.
    #[default]
    Distance,
    /// By distance within a region, then spread from vertex to vertex.
    Convolution,
}

impl Blending {
    /// Both kinds.
    pub const ALL: [Self; 2] = [Self::Distance, Self::Convolution];

    /// Name for users.
    pub fn name(self) -> &'static str {
        match self {
            Self::Distance => "distance",
            Self::Convolution => "convolution",
        }
    }

    /// The kind with a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Weights of all joints on a vertex, those that are not zero.
pub(crate) type Row = Vec<(u16, f64)>;

/// Weights within the reach of the joints (eqs. 3.15–3.16).
pub(crate) fn by_distance(joints: &Clusters, rest: &[DVec3], p_factor: f64) -> Vec<Row> {
    let radii = joints.radii(rest);
    let places: Vec<DVec3> = joints.centers.iter().map(|&v| rest[v as usize]).collect();
    let row = |(vertex, p): (usize, &DVec3)| {
        let mut row: Row = Vec::new();
        for (joint, place) in places.iter().enumerate() {
            let reach = radii[joint] * p_factor;
            let w = 1.0 - p.distance(*place) / reach.max(f64::MIN_POSITIVE);
            if w > 0.0 {
                row.push((joint as u16, w));
            }
        }
        if row.is_empty() {
            row.push((joints.labels[vertex], 1.0));
        }
        normalised(row)
    };
    rest.iter().enumerate().map(row).collect()
}

/// Weights of the joints of a vertex's own region, by distance, spread over stars in some passes (eq. 3.35).
pub(crate) fn by_convolution(
    joints: &Clusters,
    rest: &[DVec3],
    vertex_regions: &[u16],
    neighbors: &Ragged,
    passes: usize,
) -> Vec<Row> {
    let n_regions = vertex_regions.iter().map(|&r| r as usize + 1).max().unwrap_or(0);
    let mut of_region: Vec<Vec<u16>> = vec![Vec::new(); n_regions];
    for (joint, &vertex) in joints.centers.iter().enumerate() {
        of_region[vertex_regions[vertex as usize] as usize].push(joint as u16);
    }
    let start = |(vertex, p): (usize, &DVec3)| {
        let own = &of_region[vertex_regions[vertex] as usize];
        let distance = |joint: u16| p.distance(rest[joints.centers[joint as usize] as usize]);
        let furthest = own.iter().map(|&joint| distance(joint)).fold(0.0, f64::max);
        let row: Row =
            own.iter().map(|&joint| (joint, 1.0 - distance(joint) / (1.05 * furthest + 1e-300))).collect();
        if row.is_empty() { vec![(joints.labels[vertex], 1.0)] } else { normalised(row) }
    };
    let mut rows: Vec<Row> = rest.iter().enumerate().map(start).collect();
    let mut sums = vec![0.0; joints.centers.len()];
    for _ in 0..passes {
        let smooth = |vertex: usize| {
            let mut touched: Vec<u16> = Vec::new();
            let star = neighbors.row(vertex).iter().map(|&v| v as usize);
            for (joint, w) in star.chain([vertex]).flat_map(|v| rows[v].iter().copied()) {
                if sums[joint as usize] == 0.0 {
                    touched.push(joint);
                }
                sums[joint as usize] += w;
            }
            touched.sort_unstable();
            let row =
                touched.iter().map(|&joint| (joint, std::mem::take(&mut sums[joint as usize]))).collect();
            normalised(row)
        };
        rows = (0..rest.len()).map(smooth).collect();
    }
    rows
}

fn normalised(mut row: Row) -> Row {
    let sum: f64 = row.iter().map(|(_, w)| w).sum();
    row.iter_mut().for_each(|(_, w)| *w /= sum);
    row
}

/// Keep only the strongest, as players require.
pub(crate) fn strongest(rows: &[Row], k: usize) -> Influences {
    let mut influences = Influences::hard(&vec![0; rows.len()], k);
    for (vertex, row) in rows.iter().enumerate() {
        let mut row = row.clone();
        row.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        row.truncate(k);
        influences.counts[vertex] = row.len() as u8;
        for (at, (joint, w)) in normalised(row).into_iter().enumerate() {
            influences.slots[vertex * k + at] = joint;
            influences.weights[vertex * k + at] = w as f32;
        }
    }
    influences
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_weights_are_those_of_the_thesis() {
        // Joints at 0 and 4 on a line, reach 2 and 2 times the factor 1.6.
        let rest: Vec<DVec3> = [0.0, 1.0, 2.0, 3.0, 4.0].map(|x| DVec3::X * x).to_vec();
        let joints = Clusters { centers: vec![0, 4], labels: vec![0, 0, 0, 1, 1] };
        let rows = by_distance(&joints, &rest, 1.6);
        // r = [3.2, 1.6]: vertex 3 gets 1 − 3/3.2 and 1 − 1/1.6.
        let (a, b) = (1.0 - 3.0 / 3.2, 1.0 - 1.0 / 1.6);
        assert_eq!(rows[3].len(), 2);
        assert!((rows[3][0].1 - a / (a + b)).abs() < 1e-12 && (rows[3][1].1 - b / (a + b)).abs() < 1e-12);
        assert_eq!(rows[0], [(0, 1.0)]);
    }

    #[test]
    fn convolution_spreads_across_borders_and_stays_convex() {
        let rest: Vec<DVec3> = (0..6).map(|x| DVec3::X * f64::from(x)).collect();
        let joints = Clusters { centers: vec![1, 4], labels: vec![0, 0, 0, 1, 1, 1] };
        let neighbors = Ragged::from_pairs(6, || (0..5u32).flat_map(|v| [(v, v + 1), (v + 1, v)]));
        let regions = [0, 0, 0, 1, 1, 1];
        let before = by_convolution(&joints, &rest, &regions, &neighbors, 0);
        assert!(before.iter().all(|row| row.len() == 1));
        let after = by_convolution(&joints, &rest, &regions, &neighbors, 2);
        // One pass: a third of vertex 2 comes from across the border. Two: mean of 1, 2/3, 1/3.
        assert!((after[2][0].1 - 2.0 / 3.0).abs() < 1e-12, "{after:?}");
        assert_eq!(after[0], [(0, 1.0)]);
        assert!(after.iter().all(|row| (row.iter().map(|(_, w)| w).sum::<f64>() - 1.0).abs() < 1e-12));
        let kept = strongest(&after, 1);
        assert!(kept.counts.iter().all(|&n| n == 1) && kept.slots[2] == 0);
    }
}
