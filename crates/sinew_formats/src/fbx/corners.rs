//! Vertices out of corners: FBX gives normals, texture coordinates and colours to every corner of a face, glTF to vertices. A
//! point becomes as many vertices as its corners differ.

use ufbx::{Mesh, Vec2, Vec3, Vec4};

/// Sets of texture coordinates that are kept.
pub(super) const MAX_UV_SETS: usize = 8;
/// Vertices of a point that a corner is compared with; points of real meshes have a few.
const MAX_COMPARED: usize = 64;
const NONE: u32 = u32::MAX;

/// The vertices of a mesh.
pub(super) struct Vertices {
    /// Point of each vertex; those of a point follow each other, points are in the order of the file.
    pub points: Vec<u32>,
    /// A corner that is like each vertex.
    pub corners: Vec<u32>,
    /// Vertex of each corner.
    pub of_corner: Vec<u32>,
}

impl Vertices {
    /// Of all corners of a mesh.
    pub fn of(mesh: &Mesh) -> Self {
        let n_points = mesh.num_vertices;
        let mut first = vec![NONE; n_points];
        let mut next: Vec<u32> = Vec::new();
        let mut corner_of: Vec<u32> = Vec::new();
        let mut of_corner = vec![NONE; mesh.num_indices];
        for corner in 0..mesh.num_indices {
            let Some(&point) = mesh.vertex_indices.get(corner) else { break };
            let Some(start) = first.get_mut(point as usize) else { continue };
            let (mut at, mut last) = (*start, NONE);
            for _ in 0..MAX_COMPARED {
                if at == NONE || is_same(mesh, corner_of[at as usize] as usize, corner) {
                    break;
                }
                (last, at) = (at, next[at as usize]);
            }
            let is_found = at != NONE && is_same(mesh, corner_of[at as usize] as usize, corner);
            if !is_found {
                let rest = at;
                at = corner_of.len() as u32;
                corner_of.push(corner as u32);
                next.push(rest);
                match last {
                    NONE => *start = at,
                    last => next[last as usize] = at,
                }
            }
            of_corner[corner] = at;
        }
        Self::numbered(&first, &next, &corner_of, of_corner)
    }

    /// In the order of the points.
    fn numbered(first: &[u32], next: &[u32], corner_of: &[u32], mut of_corner: Vec<u32>) -> Self {
        let (mut points, mut corners) = (Vec::new(), Vec::new());
        let mut number = vec![NONE; corner_of.len()];
        for (point, &start) in first.iter().enumerate() {
            let mut at = start;
            while at != NONE {
                number[at as usize] = points.len() as u32;
                points.push(point as u32);
                corners.push(corner_of[at as usize]);
                at = next[at as usize];
            }
        }
        of_corner.iter_mut().filter(|at| **at != NONE).for_each(|at| *at = number[*at as usize]);
        Self { points, corners, of_corner }
    }

    /// Triangles of a face by the vertices of its corners.
    pub fn triangle(&self, corners: &[u32]) -> Option<[u32; 3]> {
        let vertex = |at: usize| {
            self.of_corner.get(*corners.get(at)? as usize).copied().filter(|vertex| *vertex != NONE)
        };
        Some([vertex(0)?, vertex(1)?, vertex(2)?])
    }
}

/// The value of an attribute at a corner.
pub(super) fn value<T: Copy>(values: &[T], indices: &[u32], corner: usize) -> Option<T> {
    values.get(*indices.get(corner)? as usize).copied()
}

/// Whether two corners of a point are alike in everything a vertex has.
fn is_same(mesh: &Mesh, a: usize, b: usize) -> bool {
    let normal = &mesh.vertex_normal;
    let colors = &mesh.vertex_color;
    is_same_in(&normal.values, &normal.indices, a, b, |n: Vec3| [n.x, n.y, n.z, 0.0])
        && is_same_in(&colors.values, &colors.indices, a, b, |c: Vec4| [c.x, c.y, c.z, c.w])
        && mesh.uv_sets.iter().take(MAX_UV_SETS).all(|set| {
            is_same_in(&set.vertex_uv.values, &set.vertex_uv.indices, a, b, |uv: Vec2| [uv.x, uv.y, 0.0, 0.0])
        })
}

fn is_same_in<T: Copy>(
    values: &[T],
    indices: &[u32],
    a: usize,
    b: usize,
    numbers: impl Fn(T) -> [f64; 4],
) -> bool {
    if indices.get(a) == indices.get(b) {
        return true;
    }
    // In the precision of the file that is written; zero has two signs.
    let single =
        |corner| value(values, indices, corner).map(|v| numbers(v).map(|x| (x as f32 + 0.0).to_bits()));
    single(a) == single(b)
}
