//! Quality of a pose: the measures by which methods are compared.
//!
//! # Source
//! Spokes-and-rims energy: Chao et al., *A simple geometric model for elastic deformations* (2010). Sections: rigid fit
//! of the vertices of a slice, then the area of the rest. A low energy alone is not a goal: the bar twisted by 180° has
//! the lowest energy when it has lost half of its volume.

use glam::{DMat3, DVec3};
use sinew_geom::{
    Mesh,
    linalg::polar,
    measure::compute_volume,
    mesh::{Adjacency, EdgeTable},
    operators::half_cotangents,
    query::find_self_intersections,
};

/// Measures of one pose relative to the rest shape.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quality {
    /// Volume over volume at rest; 1 for an open mesh without volume.
    pub volume_ratio: f64,
    /// Root mean square of the relative changes of edge lengths.
    pub edge_rms: f64,
    /// Spokes-and-rims energy over area.
    pub arap_energy: f64,
    /// Faces turned over against the rotation of their surroundings.
    pub flipped: usize,
    /// Faces that pass through the surface, beyond those that do at rest.
    pub self_intersections: isize,
}

/// Measure a pose of a mesh.
pub fn measure_quality(rest: &Mesh, pose: &[DVec3]) -> Quality {
    let Ok(posed) = rest.with_positions(pose.to_vec()) else {
        let bad = f64::NAN;
        return Quality {
            volume_ratio: bad,
            edge_rms: bad,
            arap_energy: bad,
            flipped: 0,
            self_intersections: 0,
        };
    };
    let count = |mesh: &Mesh| find_self_intersections(mesh).iter().filter(|meets| **meets).count() as isize;
    let (arap_energy, flipped) = measure_rotations(rest, pose);
    let volume = compute_volume(rest);
    Quality {
        volume_ratio: if volume == 0.0 { 1.0 } else { compute_volume(&posed) / volume },
        edge_rms: measure_edges(rest, pose),
        arap_energy,
        flipped,
        self_intersections: count(&posed) - count(rest),
    }
}

fn measure_edges(rest: &Mesh, pose: &[DVec3]) -> f64 {
    let edges = EdgeTable::from_triangles(rest.n_vertices(), rest.faces());
    let (mut sum, mut count) = (0.0, 0usize);
    for &[a, b] in edges.vertices() {
        let (a, b) = (a as usize, b as usize);
        let length = rest.positions()[a].distance(rest.positions()[b]);
        if length > 0.0 {
            sum += (pose[a].distance(pose[b]) / length - 1.0).powi(2);
            count += 1;
        }
    }
    (sum / count.max(1) as f64).sqrt()
}

/// Energy over area, and the number of faces turned over.
fn measure_rotations(rest: &Mesh, pose: &[DVec3]) -> (f64, usize) {
    let adjacency = Adjacency::new(rest);
    let edges_of = |face: usize, points: &[DVec3]| {
        let [a, b, c] = rest.faces()[face].map(|v| points[v as usize]);
        [c - b, a - c, b - a]
    };
    let cotangents: Vec<[f64; 3]> = (0..rest.n_faces()).map(|f| half_cotangents(rest.corners(f))).collect();
    let covariance = |face: usize| {
        let (e, d, c) = (edges_of(face, rest.positions()), edges_of(face, pose), cotangents[face]);
        (0..3).fold(DMat3::ZERO, |sum, k| sum + outer(d[k] * c[k], e[k]))
    };
    let covariances: Vec<DMat3> = (0..rest.n_faces()).map(covariance).collect();
    let rotations: Vec<DMat3> = adjacency
        .vertex_faces
        .rows()
        .map(|faces| polar(&faces.iter().map(|&f| covariances[f as usize]).sum()).0)
        .collect();
    let (mut energy, mut area, mut flipped) = (0.0, 0.0, 0);
    for (face, corners) in rest.faces().iter().enumerate() {
        let (e, d, c) = (edges_of(face, rest.positions()), edges_of(face, pose), cotangents[face]);
        let around = corners.map(|v| rotations[v as usize]);
        for r in around {
            energy += (0..3).map(|k| c[k] * (d[k] - r * e[k]).length_squared()).sum::<f64>() / 3.0;
        }
        let (normal, posed) = (e[0].cross(e[1]), d[0].cross(d[1]));
        area += normal.length() / 2.0;
        let mean = polar(&((around[0] + around[1] + around[2]) * (1.0 / 3.0))).0;
        flipped += usize::from((mean * normal).dot(posed) < 0.0);
    }
    (if area > 0.0 { energy / area } else { 0.0 }, flipped)
}

fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// A slice of a limb across an axis: how it turned and what is left of its area.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Section {
    /// Middle of the slice along the axis, at rest.
    pub place: f64,
    /// Turn about the axis, radians.
    pub twist: f64,
    /// Area over area at rest.
    pub area_ratio: f64,
}

/// Cut the vertices into slices across a coordinate axis (0, 1, 2) between two places.
pub fn measure_sections(
    rest: &[DVec3],
    pose: &[DVec3],
    axis: usize,
    range: [f64; 2],
    n_slices: usize,
) -> Vec<Section> {
    let [low, high] = range;
    let width = (high - low) / n_slices as f64;
    let slice = |k: usize| {
        let (from, to) = (low + width * k as f64, low + width * (k + 1) as f64);
        let members: Vec<usize> =
            (0..rest.len()).filter(|&i| rest[i][axis] >= from && rest[i][axis] < to).collect();
        (members.len() >= 6).then(|| measure_section(rest, pose, axis, &members, (from + to) / 2.0))
    };
    (0..n_slices).filter_map(slice).collect()
}

fn measure_section(rest: &[DVec3], pose: &[DVec3], axis: usize, members: &[usize], place: f64) -> Section {
    let mean = |points: &[DVec3]| members.iter().map(|&i| points[i]).sum::<DVec3>() / members.len() as f64;
    let (center, moved) = (mean(rest), mean(pose));
    let pairs: Vec<(DVec3, DVec3)> = members.iter().map(|&i| (rest[i] - center, pose[i] - moved)).collect();
    let rotation = polar(&pairs.iter().map(|&(a, b)| outer(b, a)).sum()).0;
    let [u, v] = [(axis + 1) % 3, (axis + 2) % 3];
    // The planar map that fits best, after turning back: q ≈ G a, by normal equations.
    let (mut gram, mut cross) = ([[0.0; 2]; 2], [[0.0; 2]; 2]);
    for (a, b) in &pairs {
        let q = rotation.transpose() * *b;
        let (a, q) = ([a[u], a[v]], [q[u], q[v]]);
        for i in 0..2 {
            for j in 0..2 {
                gram[i][j] += a[i] * a[j];
                cross[i][j] += q[i] * a[j];
            }
        }
    }
    let det = |m: [[f64; 2]; 2]| m[0][0] * m[1][1] - m[0][1] * m[1][0];
    let along = |m: DMat3, i: usize, j: usize| m.col(j)[i];
    Section {
        place,
        twist: along(rotation, v, u).atan2(along(rotation, u, u)),
        area_ratio: (det(cross) / det(gram)).abs(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;
    use sinew_geom::sample::{Sample, build_character};

    #[test]
    fn a_rigid_motion_costs_nothing_and_a_scale_what_it_must() {
        let mesh = build_character(Sample::Bar, 1000).unwrap().mesh;
        let turn = DQuat::from_scaled_axis(DVec3::new(0.3, -2.0, 0.4));
        let moved: Vec<DVec3> = mesh.positions().iter().map(|p| turn * *p + DVec3::X).collect();
        let q = measure_quality(&mesh, &moved);
        assert!(
            (q.volume_ratio - 1.0).abs() < 1e-9 && q.edge_rms < 1e-9 && q.arap_energy.abs() < 1e-9,
            "{q:?}"
        );
        assert_eq!((q.flipped, q.self_intersections), (0, 0));
        let grown: Vec<DVec3> = mesh.positions().iter().map(|p| *p * 1.1).collect();
        let q = measure_quality(&mesh, &grown);
        assert!((q.volume_ratio - 1.331).abs() < 1e-9 && (q.edge_rms - 0.1).abs() < 1e-9, "{q:?}");
        // Each triangle has cotangent energy ½ Σ cot |e|² 0.01 = 2 · area · 0.01.
        assert!((q.arap_energy - 0.02).abs() < 1e-9, "{q:?}");
    }

    #[test]
    fn sections_see_twist_and_shrinking() {
        let mesh = build_character(Sample::Bar, 2000).unwrap().mesh;
        let [low, high] = mesh.bounds();
        let axis = (0..3).max_by(|&a, &b| (high - low)[a].total_cmp(&(high - low)[b])).unwrap();
        let line = DVec3::AXES[axis];
        let pose: Vec<DVec3> = mesh
            .positions()
            .iter()
            .map(|p| DQuat::from_axis_angle(line, 0.7) * (*p + (line * p.dot(line) - *p) * 0.5))
            .collect();
        for section in measure_sections(mesh.positions(), &pose, axis, [low[axis], high[axis]], 10) {
            assert!(
                (section.twist - 0.7).abs() < 1e-6 && (section.area_ratio - 0.25).abs() < 1e-6,
                "{section:?}"
            );
        }
    }
}
