//! Closest points and ray hits.
//!
//! # Source
//! The hierarchy is built by `obvhs` (PLOC with reinsertion) in `f32` around the mesh's centre, its boxes rounded
//! outward; distances and hits are then computed in `f64`. Closest point on a triangle: Ericson, *Real-Time Collision
//! Detection* (2005), §5.1.5. Ray and triangle: Möller and Trumbore (1997).
//! # Cost
//! new: `O(n log n)`. Queries: logarithmic for well-shaped surfaces.

use crate::Mesh;
use glam::{DMat3, DVec3, Vec3};
use obvhs::{
    BvhBuildParams,
    aabb::Aabb,
    bvh2::{Bvh2, builder::build_bvh2},
};
use std::time::Duration;

/// A point on a surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SurfacePoint {
    /// Its face.
    pub face: u32,
    /// Weights of the face's corners; they sum to one.
    pub barycentric: [f64; 3],
    /// Its position.
    pub position: DVec3,
    /// Distance from the query point.
    pub distance: f64,
}

/// Where a ray meets a surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RayHit {
    /// The face hit.
    pub face: u32,
    /// Weights of the face's corners.
    pub barycentric: [f64; 3],
    /// Distance along the ray, in units of its direction.
    pub t: f64,
    /// Whether the ray meets the face's outer side.
    pub front: bool,
}

/// Expansion of a node's triangles, for winding numbers of far points.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Moments {
    pub center: DVec3,
    pub radius: f64,
    /// Sum of area vectors.
    pub dipole: DVec3,
    /// Sum of (centroid − center) ⊗ area vector; columns belong to components of the area vector.
    pub gradient: DMat3,
    /// Per component of the area vector, sum of it times (x − center) ⊗ (x − center).
    pub second: [DMat3; 3],
}

/// A hierarchy of boxes over the faces of a mesh, which it copies.
#[derive(Clone)]
pub struct SurfaceTree {
    pub(super) bvh: Bvh2,
    /// Corners of each face, relative to `center`.
    pub(super) triangles: Vec<[DVec3; 3]>,
    pub(super) center: DVec3,
    pub(super) moments: Vec<Moments>,
}

impl std::fmt::Debug for SurfaceTree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SurfaceTree").field("n_faces", &self.triangles.len()).finish_non_exhaustive()
    }
}

impl SurfaceTree {
    /// Build the hierarchy. An empty mesh is allowed: nothing is near or hit.
    pub fn new(mesh: &Mesh) -> Self {
        let [low, high] = mesh.bounds();
        let center = (low + high) / 2.0;
        let triangles: Vec<[DVec3; 3]> =
            (0..mesh.n_faces()).map(|face| mesh.corners(face).map(|p| p - center)).collect();
        let boxes: Vec<Aabb> = triangles.iter().map(outer_box).collect();
        let bvh = build_bvh2(&boxes, BvhBuildParams::medium_build(), &mut Duration::default());
        let mut tree = Self { bvh, triangles, center, moments: Vec::new() };
        tree.moments = tree.compute_moments();
        tree
    }

    /// The point on the surface nearest to a point; `None` for an empty mesh, or a point that is not
    /// finite or farther than 1e150.
    pub fn closest_point(&self, point: DVec3) -> Option<SurfacePoint> {
        let p = point - self.center;
        if self.triangles.is_empty() || !p.is_finite() {
            return None;
        }
        let mut best = (f64::INFINITY, u32::MAX, [0.0; 3]);
        let mut stack = vec![(0usize, self.box_distance(0, p))];
        while let Some((node, reach)) = stack.pop() {
            if reach > best.0 {
                continue;
            }
            let node = &self.bvh.nodes[node];
            let first = node.first_index as usize;
            if node.is_leaf() {
                for &face in &self.bvh.primitive_indices[first..first + node.prim_count as usize] {
                    let triangle = &self.triangles[face as usize];
                    let weights = closest_weights(triangle, p);
                    let distance = at(triangle, weights).distance_squared(p);
                    // Of several nearest faces the first in the mesh is chosen, whatever the shape of the tree.
                    if distance < best.0 || (distance == best.0 && face < best.1) {
                        best = (distance, face, weights);
                    }
                }
            } else {
                let mut children = [first, first + 1].map(|child| (child, self.box_distance(child, p)));
                if children[0].1 < children[1].1 {
                    children.swap(0, 1);
                }
                stack.extend(children);
            }
        }
        let (distance, face, barycentric) = best;
        if face == u32::MAX {
            // The point is so far away that squared distances overflow.
            return None;
        }
        let position = at(&self.triangles[face as usize], barycentric) + self.center;
        Some(SurfacePoint { face, barycentric, position, distance: distance.sqrt() })
    }

    /// The first hit of a ray.
    pub fn first_hit(&self, origin: DVec3, direction: DVec3) -> Option<RayHit> {
        let mut best: Option<RayHit> = None;
        self.walk_ray(origin, direction, |hit, limit| {
            if best.is_none_or(|b| (hit.t, hit.face) < (b.t, b.face)) {
                *limit = hit.t;
                best = Some(hit);
            }
        });
        best
    }

    /// All hits of a ray, nearest first. A ray through an edge meets both faces.
    pub fn all_hits(&self, origin: DVec3, direction: DVec3) -> Vec<RayHit> {
        let mut hits = Vec::new();
        self.walk_ray(origin, direction, |hit, _| hits.push(hit));
        hits.sort_by(|a, b| a.t.total_cmp(&b.t).then(a.face.cmp(&b.face)));
        hits
    }

    fn walk_ray(&self, origin: DVec3, direction: DVec3, mut visit: impl FnMut(RayHit, &mut f64)) {
        let origin = origin - self.center;
        if self.triangles.is_empty()
            || !origin.is_finite()
            || !direction.is_finite()
            || direction == DVec3::ZERO
        {
            return;
        }
        let mut limit = f64::INFINITY;
        let mut stack = vec![0usize];
        while let Some(node) = stack.pop() {
            let node = &self.bvh.nodes[node];
            if !hits_box(node.aabb(), origin, direction, limit) {
                continue;
            }
            let first = node.first_index as usize;
            if node.is_leaf() {
                for &face in &self.bvh.primitive_indices[first..first + node.prim_count as usize] {
                    if let Some(hit) = hit_triangle(&self.triangles[face as usize], face, origin, direction) {
                        visit(hit, &mut limit);
                    }
                }
            } else {
                stack.extend([first, first + 1]);
            }
        }
    }

    /// Squared distance to a node's box.
    fn box_distance(&self, node: usize, p: DVec3) -> f64 {
        let aabb = self.bvh.nodes[node].aabb();
        let (low, high) = (Vec3::from(aabb.min).as_dvec3(), Vec3::from(aabb.max).as_dvec3());
        p.distance_squared(p.clamp(low, high))
    }
}

/// A box in `f32` that contains the triangle.
fn outer_box(triangle: &[DVec3; 3]) -> Aabb {
    let low = triangle[0].min(triangle[1]).min(triangle[2]);
    let high = triangle[0].max(triangle[1]).max(triangle[2]);
    let down = |x: f64| (x as f32).next_down();
    let up = |x: f64| (x as f32).next_up();
    Aabb {
        min: Vec3::new(down(low.x), down(low.y), down(low.z)).into(),
        max: Vec3::new(up(high.x), up(high.y), up(high.z)).into(),
    }
}

fn at(t: &[DVec3; 3], w: [f64; 3]) -> DVec3 {
    t[0] * w[0] + t[1] * w[1] + t[2] * w[2]
}

/// Below this fraction of the squared product of two sides the area of a triangle is rounding noise, and so are the
/// signs that say on which side of an edge a point is.
const MIN_RELATIVE_AREA: f64 = 1e-12;

/// Barycentric weights of the point of a triangle nearest to `p`.
fn closest_weights(triangle: &[DVec3; 3], p: DVec3) -> [f64; 3] {
    let &[a, b, c] = triangle;
    let (ab, ac, ap) = (b - a, c - a, p - a);
    if ab.cross(ac).length_squared() <= MIN_RELATIVE_AREA * ab.length_squared() * ac.length_squared() {
        return closest_on_edges(triangle, p);
    }
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return [0.0, 1.0, 0.0];
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let v = ratio(d1, d1 - d3);
        return [1.0 - v, v, 0.0];
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return [0.0, 0.0, 1.0];
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let w = ratio(d2, d2 - d6);
        return [1.0 - w, 0.0, w];
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        let w = ratio(d4 - d3, (d4 - d3) + (d5 - d6));
        return [0.0, 1.0 - w, w];
    }
    let sum = va + vb + vc;
    [va / sum, vb / sum, vc / sum]
}

/// The same for a triangle without area, which is only its edges.
fn closest_on_edges(triangle: &[DVec3; 3], p: DVec3) -> [f64; 3] {
    let candidates = [(0, 1), (1, 2), (2, 0)].map(|(i, j)| {
        let edge = triangle[j] - triangle[i];
        let share = ratio((p - triangle[i]).dot(edge), edge.length_squared()).clamp(0.0, 1.0);
        let mut weights = [0.0; 3];
        (weights[i], weights[j]) = (1.0 - share, share);
        weights
    });
    let distance = |w: &[f64; 3]| at(triangle, *w).distance_squared(p);
    candidates.into_iter().min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or([1.0, 0.0, 0.0])
}

/// Fraction along an edge; an edge without length gives its start.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

fn hits_box(aabb: &Aabb, origin: DVec3, direction: DVec3, limit: f64) -> bool {
    let (low, high) = (Vec3::from(aabb.min).as_dvec3(), Vec3::from(aabb.max).as_dvec3());
    let (mut near, mut far) = (0.0f64, limit);
    for k in 0..3 {
        if direction[k] == 0.0 {
            if origin[k] < low[k] || origin[k] > high[k] {
                return false;
            }
            continue;
        }
        let (t0, t1) = ((low[k] - origin[k]) / direction[k], (high[k] - origin[k]) / direction[k]);
        near = near.max(t0.min(t1));
        far = far.min(t0.max(t1));
    }
    near <= far
}

fn hit_triangle(&[a, b, c]: &[DVec3; 3], face: u32, origin: DVec3, direction: DVec3) -> Option<RayHit> {
    let (ab, ac) = (b - a, c - a);
    let h = direction.cross(ac);
    let determinant = ab.dot(h);
    if determinant == 0.0 {
        return None;
    }
    let s = origin - a;
    let u = s.dot(h) / determinant;
    let q = s.cross(ab);
    let v = direction.dot(q) / determinant;
    let t = ac.dot(q) / determinant;
    // A small tolerance lets no ray pass between neighbouring faces.
    let slack = -1e-12;
    let inside = u >= slack && v >= slack && u + v <= 1.0 - slack && t >= 0.0 && t.is_finite();
    inside.then_some(RayHit { face, barycentric: [1.0 - u - v, u, v], t, front: determinant > 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Warnings, mesh::tests::cube};
    use proptest::prelude::*;

    fn cube_mesh() -> Mesh {
        cube().triangulate(&mut Warnings::default()).0
    }

    proptest! {
        /// On a cube the nearest point and the distance are known in closed form.
        #[test]
        fn distance_to_a_cube(p in prop::array::uniform3(-1.0..2.0f64)) {
            let p = DVec3::from_array(p);
            let tree = SurfaceTree::new(&cube_mesh());
            let clamped = p.clamp(DVec3::ZERO, DVec3::ONE);
            let outside = p.distance(clamped);
            let inside = p.min(DVec3::ONE - p).min_element();
            let expected = if outside > 0.0 { outside } else { inside };
            let found = tree.closest_point(p).unwrap();
            prop_assert!((found.distance - expected).abs() < 1e-12);
            prop_assert!((found.barycentric.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            prop_assert!((found.position.distance(p) - expected).abs() < 1e-9);
        }

        /// No point of a triangle of any shape, slivers and needles included, is nearer than the result.
        #[test]
        fn no_point_of_a_triangle_is_nearer(
            corners in prop::array::uniform3(prop::array::uniform3(-1.0..1.0f64)),
            (share, width) in (-0.5..1.5f64, prop_oneof![Just(0.0), Just(1e-15), Just(1e-12), Just(1e-8), Just(1e-4), Just(1.0)]),
            turn in 0..3usize,
            p in prop::array::uniform3(-2.0..2.0f64),
        ) {
            let [a, b, c] = corners.map(DVec3::from_array);
            let mut triangle = [a, b, a.lerp(b, share) + width * c];
            triangle.rotate_left(turn);
            let p = DVec3::from_array(p);
            let tree = SurfaceTree::new(&Mesh::new(triangle.to_vec(), vec![[0, 1, 2]]).unwrap());
            let found = tree.closest_point(p).unwrap();
            prop_assert!((found.position.distance(p) - found.distance).abs() < 1e-9);
            let steps = 60;
            for (i, j) in (0..=steps).flat_map(|i| (0..=steps - i).map(move |j| (i, j))) {
                let (u, v) = (i as f64 / steps as f64, j as f64 / steps as f64);
                let other = at(&triangle, [1.0 - u - v, u, v]).distance(p);
                prop_assert!(found.distance < other + 1e-6, "{found:?}, but {other}");
            }
        }

        /// A ray from inside leaves a cube once, through its front seen from behind.
        #[test]
        fn a_ray_leaves_a_cube_once(p in prop::array::uniform3(0.01..0.99f64), d in prop::array::uniform3(-1.0..1.0f64)) {
            let (p, d) = (DVec3::from_array(p), DVec3::from_array(d));
            prop_assume!(d.length() > 0.1);
            let tree = SurfaceTree::new(&cube_mesh());
            let hit = tree.first_hit(p, d).unwrap();
            prop_assert!(!hit.front);
            let exit = p + hit.t * d;
            prop_assert!(exit.cmpge(DVec3::splat(-1e-9)).all() && exit.cmple(DVec3::splat(1.0 + 1e-9)).all());
            let far = tree.all_hits(p - 10.0 * d.normalize(), d);
            prop_assert!(far.len() >= 2 && far[0].front && !far[far.len() - 1].front);
        }
    }

    #[test]
    fn nothing_is_near_an_empty_mesh() {
        let tree = SurfaceTree::new(&Mesh::default());
        assert_eq!(tree.closest_point(DVec3::ZERO), None);
        assert_eq!(tree.first_hit(DVec3::ZERO, DVec3::X), None);
        assert_eq!(tree.winding_number(DVec3::ZERO), 0.0);
    }
}
