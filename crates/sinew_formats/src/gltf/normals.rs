//! Smooth vertex normals.

use glam::Vec3;

/// Area-weighted mean of the face normals at each vertex; zero where there is no face with area.
pub(super) fn smooth_normals(positions: &[Vec3], faces: impl Iterator<Item = [u32; 3]>) -> Vec<Vec3> {
    let mut normals = vec![Vec3::ZERO; positions.len()];
    for face in faces {
        let [a, b, c] = face.map(|vertex| positions[vertex as usize]);
        let normal = (b - a).cross(c - a);
        face.iter().for_each(|&vertex| normals[vertex as usize] += normal);
    }
    normals.iter().map(|normal| normal.normalize_or_zero()).collect()
}
