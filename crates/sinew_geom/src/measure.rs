//! Lengths, areas, volume and normals.

use crate::Mesh;
use glam::DVec3;

/// Largest of some errors, 0 if there are none. Unlike a fold by `f64::max`, a NaN wins: it must not
/// be mistaken for a small error.
pub fn largest_error(errors: impl IntoIterator<Item = f64>) -> f64 {
    errors.into_iter().fold(0.0, |worst, x| if x > worst || x.is_nan() { x } else { worst })
}

/// Area of every face.
pub fn compute_face_areas(mesh: &Mesh) -> Vec<f64> {
    (0..mesh.n_faces()).map(|face| area_vector(mesh.corners(face)).length()).collect()
}

/// Area of the whole surface.
pub fn compute_area(mesh: &Mesh) -> f64 {
    compute_face_areas(mesh).iter().sum()
}

/// Signed volume by the divergence theorem: exact for a closed surface, positive if it is oriented outward;
/// for an open one, the volume of the cone from the bounding box's centre.
pub fn compute_volume(mesh: &Mesh) -> f64 {
    let [low, high] = mesh.bounds();
    let center = (low + high) / 2.0;
    let cone = |face| {
        let [a, b, c] = mesh.corners(face).map(|p| p - center);
        a.dot(b.cross(c)) / 6.0
    };
    (0..mesh.n_faces()).map(cone).sum()
}

/// Unit normal of every vertex, faces weighted by their angle at it (Thürmer and Wüthrich 1998), which
/// does not depend on how a flat region is cut into triangles. Zero where there is no face with area.
pub fn compute_vertex_normals(positions: &[DVec3], faces: &[[u32; 3]]) -> Vec<DVec3> {
    let mut normals = vec![DVec3::ZERO; positions.len()];
    for face in faces {
        let corners = face.map(|v| positions[v as usize]);
        let normal = area_vector(corners).normalize_or_zero();
        for k in 0..3 {
            let (to_next, to_last) = (corners[(k + 1) % 3] - corners[k], corners[(k + 2) % 3] - corners[k]);
            // The half-angle form is accurate for needles, where arccos is not.
            let angle = to_next.cross(to_last).length().atan2(to_next.dot(to_last));
            normals[face[k] as usize] += angle * normal;
        }
    }
    normals.iter_mut().for_each(|n| *n = n.normalize_or_zero());
    normals
}

/// Normal of a triangle whose length is its area.
pub(crate) fn area_vector([a, b, c]: [DVec3; 3]) -> DVec3 {
    (b - a).cross(c - a) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Warnings, mesh::tests::cube};

    #[test]
    fn an_error_that_is_not_a_number_wins() {
        assert_eq!(largest_error([0.1, 0.3, 0.2]), 0.3);
        assert_eq!(largest_error([]), 0.0);
        assert!(largest_error([0.1, f64::NAN, 0.2]).is_nan());
    }

    #[test]
    fn the_unit_cube_measures_as_it_should() {
        let (mesh, _) = cube().triangulate(&mut Warnings::default());
        assert!((compute_area(&mesh) - 6.0).abs() < 1e-12);
        assert!((compute_volume(&mesh) - 1.0).abs() < 1e-12);
        // Angle weights make the corner normals exact diagonals however the quads were cut.
        for (p, n) in mesh.positions().iter().zip(compute_vertex_normals(mesh.positions(), mesh.faces())) {
            assert!(n.distance((*p - DVec3::splat(0.5)).normalize()) < 1e-12);
        }
    }
}
