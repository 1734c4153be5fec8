//! Where a surface passes through itself.
//!
//! # Source
//! Segment against triangle after Möller and Trumbore (1997). What counts as an intersection follows MeshLab's
//! selection of self-intersecting faces, so that numbers can be compared: faces that share an edge never count, faces
//! that share a corner count if the edge opposite to it passes through the other.
//! # Cost
//! One traversal of the box hierarchy per face, on all threads.
//! # Limits
//! Faces that overlap within one plane are not found.

use super::SurfaceTree;
use crate::Mesh;
use glam::{DVec3, Vec3};
use rayon::prelude::*;

/// Volume spanned by a segment and a face, over their lengths, below which they count as parallel.
const PARALLEL_TOLERANCE: f64 = 1e-9;

/// Which faces pass through another face of the mesh.
pub fn find_self_intersections(mesh: &Mesh) -> Vec<bool> {
    let tree = SurfaceTree::new(mesh);
    (0..mesh.n_faces()).into_par_iter().map(|face| tree.meets_another(mesh.faces(), face)).collect()
}

impl SurfaceTree {
    fn meets_another(&self, faces: &[[u32; 3]], face: usize) -> bool {
        let triangle = &self.triangles[face];
        let low = triangle[0].min(triangle[1]).min(triangle[2]);
        let high = triangle[0].max(triangle[1]).max(triangle[2]);
        let mut stack = vec![0usize];
        while let Some(node) = stack.pop() {
            let node = &self.bvh.nodes[node];
            let aabb = node.aabb();
            let (from, to) = (Vec3::from(aabb.min).as_dvec3(), Vec3::from(aabb.max).as_dvec3());
            if !(from.cmple(high).all() && to.cmpge(low).all()) {
                continue;
            }
            let first = node.first_index as usize;
            if !node.is_leaf() {
                stack.extend([first, first + 1]);
                continue;
            }
            for &other in &self.bvh.primitive_indices[first..first + node.prim_count as usize] {
                let other = other as usize;
                if other != face && meet((&faces[face], triangle), (&faces[other], &self.triangles[other])) {
                    return true;
                }
            }
        }
        false
    }
}

type Face<'a> = (&'a [u32; 3], &'a [DVec3; 3]);

fn meet(a: Face, b: Face) -> bool {
    let shared = |i: usize| b.0.contains(&a.0[i]);
    match (0..3).filter(|&i| shared(i)).count() {
        0 => (0..3).any(|i| crosses(a.1[i], a.1[(i + 1) % 3], b.1) || crosses(b.1[i], b.1[(i + 1) % 3], a.1)),
        1 => {
            let i = (0..3).find(|&i| shared(i)).unwrap_or(0);
            let j = (0..3).find(|&j| b.0[j] == a.0[i]).unwrap_or(0);
            crosses(a.1[(i + 1) % 3], a.1[(i + 2) % 3], b.1)
                || crosses(b.1[(j + 1) % 3], b.1[(j + 2) % 3], a.1)
        }
        2 => false,
        _ => true,
    }
}

/// Whether the segment from `p` to `q` passes through a triangle.
fn crosses(p: DVec3, q: DVec3, &[a, b, c]: &[DVec3; 3]) -> bool {
    let (ab, ac, direction) = (b - a, c - a, q - p);
    let h = direction.cross(ac);
    let det = ab.dot(h);
    // Nearly parallel segments meet flat neighbours only by rounding.
    if det.abs() <= PARALLEL_TOLERANCE * ab.length() * ac.length() * direction.length() {
        return false;
    }
    let s = p - a;
    let u = s.dot(h) / det;
    let k = s.cross(ab);
    let v = direction.dot(k) / det;
    let t = ac.dot(k) / det;
    u >= 0.0 && v >= 0.0 && u + v <= 1.0 && (0.0..=1.0).contains(&t)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tetrahedron and a copy of it, shifted.
    fn two_tetrahedra(shift: DVec3) -> Mesh {
        let corners = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
        let faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
        let positions = corners.iter().copied().chain(corners.map(|p| p + shift)).collect();
        let all = faces.into_iter().chain(faces.map(|f| f.map(|v| v + 4))).collect();
        Mesh::new(positions, all).unwrap()
    }

    #[test]
    fn solids_apart_do_not_meet_and_overlapping_ones_do() {
        let apart = find_self_intersections(&two_tetrahedra(DVec3::splat(2.0)));
        assert!(apart.iter().all(|meets| !meets));
        // The corner of the copy passes through the slanted face: its three faces and that one meet.
        let poked = find_self_intersections(&two_tetrahedra(DVec3::splat(0.3)));
        assert_eq!(poked, [false, false, false, true, true, true, true, false]);
    }

    #[test]
    fn neighbours_count_only_if_they_pass_through() {
        // Two faces that share corner 0 of a fan; the second is bent through the first.
        let flat = vec![DVec3::ZERO, DVec3::X, DVec3::Y, -DVec3::X, -DVec3::Y];
        let faces = vec![[0, 1, 2], [0, 3, 4]];
        assert!(!find_self_intersections(&Mesh::new(flat.clone(), faces.clone()).unwrap())[0]);
        let mut bent = flat;
        (bent[3], bent[4]) = (DVec3::new(0.2, 0.2, 1.0), DVec3::new(0.2, 0.2, -1.0));
        assert_eq!(find_self_intersections(&Mesh::new(bent, faces).unwrap()), [true, true]);
    }
}
