//! Quality of a pose: the measures by which methods are compared.
//!
//! # Source
//! Spokes-and-rims energy: Chao et al., *A simple geometric model for elastic deformations* (2010). Sections: rigid fit
//! of the vertices of a slice, then the area of the rest. A low energy alone is not a goal: the bar twisted by 180° has
//! the lowest energy when it has lost half of its volume.

use crate::closed::weld;
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
    /// Root mean square, over the area that did not just move rigidly, of how far faces are stretched or compressed: singular
    /// values less one.
    pub distortion: f64,
    /// Faces turned over against the rotation of their surroundings.
    pub flipped: usize,
    /// Where the first of them is.
    pub flipped_at: Option<DVec3>,
    /// Faces that pass through the surface and did not at rest.
    pub self_intersections: usize,
    /// Where the first of them is.
    pub intersects_at: Option<DVec3>,
    /// Widest gap between vertices that lay on each other at rest, as a share of the diagonal.
    pub gap: f64,
    /// Where it is.
    pub gap_at: Option<DVec3>,
}

/// Change of a face below which it moved rigidly.
const RIGID_TOLERANCE: f64 = 1e-4;

/// Height of a face as a share of its longest edge, below which it is rounding, and its change means nothing.
const MIN_HEIGHT_SHARE: f64 = 1e-4;

/// Measure a pose of a mesh. Vertices that lay on each other count as one.
pub fn measure_quality(rest: &Mesh, pose: &[DVec3]) -> Quality {
    let (closed, pose, [gap, at]) = close(rest, pose);
    let rest = closed.as_ref().unwrap_or(rest);
    let Ok(posed) = rest.with_positions(pose.clone()) else {
        let bad = f64::NAN;
        return Quality {
            volume_ratio: bad,
            edge_rms: bad,
            arap_energy: bad,
            distortion: bad,
            flipped: 0,
            flipped_at: None,
            self_intersections: 0,
            intersects_at: None,
            gap: bad,
            gap_at: None,
        };
    };
    let (before, after) = (find_self_intersections(rest), find_self_intersections(&posed));
    let crossing: Vec<usize> = (0..rest.n_faces()).filter(|&f| after[f] && !before[f]).collect();
    let (arap_energy, flipped) = measure_rotations(rest, &pose);
    let volume = compute_volume(rest);
    let place = |face: &usize| posed.corners(*face).iter().sum::<DVec3>() / 3.0;
    let diagonal = rest.diagonal();
    Quality {
        volume_ratio: if volume == 0.0 { 1.0 } else { compute_volume(&posed) / volume },
        edge_rms: measure_edges(rest, &pose),
        arap_energy,
        distortion: measure_distortion(rest, &posed),
        flipped: flipped.len(),
        flipped_at: flipped.first().map(place),
        self_intersections: crossing.len(),
        intersects_at: crossing.first().map(place),
        gap: if diagonal > 0.0 { gap.length() / diagonal } else { 0.0 },
        gap_at: (gap != DVec3::ZERO).then_some(at),
    }
}

/// A mesh whose coincident vertices are one, if there are any, a pose of it, and the widest way between two that were one, with
/// its place.
fn close(rest: &Mesh, pose: &[DVec3]) -> (Option<Mesh>, Vec<DVec3>, [DVec3; 2]) {
    let place = weld(rest.positions());
    let n = place.iter().max().map_or(0, |&last| last as usize + 1);
    if n == rest.n_vertices() || pose.len() != rest.n_vertices() {
        return (None, pose.to_vec(), [DVec3::ZERO; 2]);
    }
    let (mut points, mut sums) = (vec![DVec3::ZERO; n], vec![(DVec3::ZERO, 0.0); n]);
    for ((&at, &p), &q) in place.iter().zip(rest.positions()).zip(pose) {
        points[at as usize] = p;
        let sum = &mut sums[at as usize];
        *sum = (sum.0 + q, sum.1 + 1.0);
    }
    let posed: Vec<DVec3> = sums.iter().map(|(sum, count)| *sum / *count).collect();
    let mut widest = [DVec3::ZERO; 2];
    for (&at, &q) in place.iter().zip(pose) {
        let gap = 2.0 * (q - posed[at as usize]);
        // Less is rounding.
        if gap.length() > widest[0].length().max(1e-12 * q.length()) {
            widest = [gap, q];
        }
    }
    let faces = rest.faces().iter().map(|face| face.map(|v| place[v as usize]));
    let faces = faces.filter(|[a, b, c]| a != b && b != c && c != a).collect();
    match Mesh::new(points, faces) {
        Ok(closed) => (Some(closed), posed, widest),
        Err(_) => (None, pose.to_vec(), widest),
    }
}

/// Singular values less one, over the area that changed.
fn measure_distortion(rest: &Mesh, posed: &Mesh) -> f64 {
    let (mut sum, mut area) = (0.0, 0.0);
    for face in 0..rest.n_faces() {
        let (from, to) = (flat(rest.corners(face)), flat(posed.corners(face)));
        let double = from[0] * from[2];
        if double.is_nan() || double <= MIN_HEIGHT_SHARE * longest_squared(from) {
            continue;
        }
        // The map between two flat triangles, `[x, p, q]` for corners 0, (x, 0), (p, q), is triangular.
        let a = to[0] / from[0];
        let (b, d) = ((to[1] - a * from[1]) / from[2], to[2] / from[2]);
        let (total, det) = (a * a + b * b + d * d, a * d);
        let (plus, minus) = ((total + 2.0 * det).max(0.0).sqrt(), (total - 2.0 * det).max(0.0).sqrt());
        let change = (0.5 * (plus + minus) - 1.0).powi(2) + (0.5 * (plus - minus) - 1.0).powi(2);
        if change > RIGID_TOLERANCE * RIGID_TOLERANCE {
            sum += double * change;
            area += double;
        }
    }
    if area > 0.0 { (sum / area).sqrt() } else { 0.0 }
}

/// A triangle in its plane: corners 0, (x, 0) and (p, q) as `[x, p, q]`.
fn flat([a, b, c]: [DVec3; 3]) -> [f64; 3] {
    let (u, v) = (b - a, c - a);
    let x = u.length();
    let p = if x > 0.0 { u.dot(v) / x } else { 0.0 };
    // A difference of squares would leave a height of 1e-8 to corners on a line.
    let q = if x > 0.0 { u.cross(v).length() / x } else { 0.0 };
    [x, p, q]
}

/// The square of the longest edge of a triangle in its plane.
fn longest_squared([x, p, q]: [f64; 3]) -> f64 {
    (x * x).max(p * p + q * q).max((p - x).powi(2) + q * q)
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

/// Energy over area, and the faces turned over.
fn measure_rotations(rest: &Mesh, pose: &[DVec3]) -> (f64, Vec<usize>) {
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
    // Faces without area have no side.
    let tiny = 1e-10 * rest.diagonal() * rest.diagonal();
    let (mut energy, mut area, mut flipped) = (0.0, 0.0, Vec::new());
    for (face, corners) in rest.faces().iter().enumerate() {
        let (e, d, c) = (edges_of(face, rest.positions()), edges_of(face, pose), cotangents[face]);
        let around = corners.map(|v| rotations[v as usize]);
        for r in around {
            energy += (0..3).map(|k| c[k] * (d[k] - r * e[k]).length_squared()).sum::<f64>() / 3.0;
        }
        let (normal, posed) = (e[0].cross(e[1]), d[0].cross(d[1]));
        area += normal.length() / 2.0;
        if normal.length() <= tiny {
            continue;
        }
        let mean = polar(&((around[0] + around[1] + around[2]) * (1.0 / 3.0))).0;
        if (mean * normal).dot(posed) < 0.0 {
            flipped.push(face);
        }
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
        assert!((q.distortion - 0.02f64.sqrt()).abs() < 1e-9, "{q:?}");
        // Each triangle has cotangent energy ½ Σ cot |e|² 0.01 = 2 · area · 0.01.
        assert!((q.arap_energy - 0.02).abs() < 1e-9, "{q:?}");
    }

    #[test]
    fn an_open_seam_and_a_turned_face_are_found() {
        // Two triangles with their own copies of the edge they share.
        let points = [[0, 0], [1, 0], [0, 1], [1, 0], [1, 1], [0, 1]];
        let positions = points.map(|[x, y]| DVec3::new(f64::from(x), f64::from(y), 0.0)).to_vec();
        let mesh = Mesh::new(positions.clone(), vec![[0, 1, 2], [3, 4, 5]]).unwrap();
        assert_eq!(measure_quality(&mesh, &positions).gap, 0.0);
        let mut apart = positions.clone();
        (3..6).for_each(|v| apart[v] += DVec3::Z * 0.2);
        let q = measure_quality(&mesh, &apart);
        assert!((q.gap - 0.2 / 2f64.sqrt()).abs() < 1e-9 && q.gap_at.is_some(), "{q:?}");
    }

    #[test]
    fn a_face_without_height_does_not_count_when_it_bends() {
        let (a, along) = (DVec3::new(0.1, 0.2, 0.3), DVec3::new(0.3, 0.7, 0.1));
        let across = along.any_orthonormal_vector();
        let points = [a, a + along / 3.0, a + along, a + across].map(|p| p.as_vec3().as_dvec3()).to_vec();
        // The last face fills a seam: its corners are on a line, as far as single precision goes.
        let mesh = Mesh::new(points.clone(), vec![[0, 1, 3], [1, 2, 3], [2, 1, 0]]).unwrap();
        let mut bent = points;
        bent[1] += 0.01 * across;
        let q = measure_quality(&mesh, &bent);
        assert!(q.distortion > 1e-3 && q.distortion < 0.05, "{q:?}");
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
