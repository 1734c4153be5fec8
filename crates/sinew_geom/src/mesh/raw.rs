//! A mesh as a file holds it: polygons of any size, nothing checked but the indices.

use super::Mesh;
use crate::{GeomError, Warnings};
use glam::{DVec2, DVec3};

/// Comparisons spent on concave polygons of one mesh; they grow with the square of the corners, and beyond this
/// (some 20 000 corners in one polygon) polygons become fans.
const MAX_EAR_WORK: usize = 1 << 29;

/// Polygons as read. Faces may have any number of corners (even fewer than three), coordinates may be
/// non-finite; only indices are known to be in range.
#[derive(Debug, Clone, PartialEq)]
pub struct RawMesh {
    positions: Vec<DVec3>,
    /// Corners of all faces, one after another.
    corners: Vec<u32>,
    /// Face `f` owns `corners[starts[f]..starts[f + 1]]`; one longer than the number of faces.
    starts: Vec<usize>,
}

impl Default for RawMesh {
    fn default() -> Self {
        Self { positions: Vec::new(), corners: Vec::new(), starts: vec![0] }
    }
}

impl RawMesh {
    /// From positions, all corners one after another, and the number of corners of each face.
    ///
    /// # Errors
    /// An index out of range, or sizes that do not add up.
    pub fn new(positions: Vec<DVec3>, corners: Vec<u32>, sizes: &[u32]) -> Result<Self, GeomError> {
        let mut starts = Vec::with_capacity(sizes.len() + 1);
        starts.push(0);
        let mut end = 0;
        for &size in sizes {
            end += size as usize;
            starts.push(end);
        }
        if end != corners.len() {
            return Err(GeomError::Length { what: "face corners", expected: end, actual: corners.len() });
        }
        let n_vertices = positions.len();
        if let Some(at) = corners.iter().position(|&v| v as usize >= n_vertices) {
            let face = starts.partition_point(|&start| start <= at) - 1;
            return Err(GeomError::FaceIndex { face, index: corners[at] as usize, n_vertices });
        }
        Ok(Self { positions, corners, starts })
    }

    /// Triangles only: no sizes needed.
    ///
    /// # Errors
    /// An index out of range.
    pub fn from_triangles(positions: Vec<DVec3>, faces: &[[u32; 3]]) -> Result<Self, GeomError> {
        Self::new(positions, faces.as_flattened().to_vec(), &vec![3; faces.len()])
    }

    /// Vertex positions as read.
    pub fn positions(&self) -> &[DVec3] {
        &self.positions
    }

    /// Number of faces of any size.
    pub fn n_faces(&self) -> usize {
        self.starts.len() - 1
    }

    /// Corners of one face.
    pub fn face(&self, face: usize) -> &[u32] {
        &self.corners[self.starts[face]..self.starts[face + 1]]
    }

    /// All faces in order.
    pub fn faces(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        (0..self.n_faces()).map(|f| self.face(f))
    }

    /// Whether every face has exactly three corners.
    pub fn is_triangles(&self) -> bool {
        self.faces().all(|f| f.len() == 3)
    }

    /// Triangulate into a valid [`Mesh`] with the same vertices in the same order.
    ///
    /// Convex polygons become fans, concave ones are ear-clipped in their best-fitting plane; faces of fewer
    /// than three corners are left out, and beyond some 20 000 concave corners in one polygon fans are used.
    /// Non-finite vertices are moved to the origin. Both are reported.
    /// The second value holds, for each triangle, the face and the corners it came from.
    pub fn triangulate(&self, warnings: &mut Warnings) -> (Mesh, Vec<TriangleSource>) {
        let mut positions = self.positions.clone();
        let n_bad = positions.iter_mut().filter(|p| !p.is_finite()).map(|p| *p = DVec3::ZERO).count();
        if n_bad > 0 {
            warnings.push(format!(
                "{n_bad} vertices have NaN or infinite coordinates; they were moved to the origin"
            ));
        }
        let mut work = Some(MAX_EAR_WORK);
        let mut triangles = Vec::with_capacity(self.n_faces());
        let mut sources = Vec::with_capacity(self.n_faces());
        let mut n_small = 0;
        for (face, corners) in self.faces().enumerate() {
            if corners.len() < 3 {
                n_small += 1;
                continue;
            }
            for local in triangulate_polygon(&positions, corners, &mut work) {
                triangles.push(local.map(|c| corners[c as usize]));
                sources.push(TriangleSource { face: face as u32, corners: local });
            }
        }
        if work.is_none() {
            warnings.push("the largest concave polygons were cut into fans, which may overlap");
        }
        if n_small > 0 {
            warnings.push(format!("{n_small} faces have fewer than 3 corners and were left out"));
        }
        (Mesh { positions, faces: triangles }, sources)
    }
}

/// Where a triangle comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TriangleSource {
    /// Face of the [`RawMesh`].
    pub face: u32,
    /// Its corners within that face.
    pub corners: [u32; 3],
}

/// Triangles as indices into `corners`. A triangle or a convex polygon costs no allocation beyond the result.
fn triangulate_polygon(positions: &[DVec3], corners: &[u32], work: &mut Option<usize>) -> Vec<[u32; 3]> {
    let n = corners.len() as u32;
    let fan = || (1..n - 1).map(|i| [0, i, i + 1]).collect::<Vec<_>>();
    if n == 3 {
        return vec![[0, 1, 2]];
    }
    // From the first corner: far from the origin the products would cancel.
    let first = positions[corners[0] as usize];
    let points: Vec<DVec3> = corners.iter().map(|&v| positions[v as usize] - first).collect();
    // Newell's normal: exact for planar polygons, a good average for the others.
    let normal: DVec3 = (0..points.len()).map(|i| points[i].cross(points[(i + 1) % points.len()])).sum();
    let Some(normal) = normal.try_normalize() else { return fan() };
    let (u, v) = normal.any_orthonormal_pair();
    let flat: Vec<DVec2> = points.iter().map(|p| DVec2::new(p.dot(u), p.dot(v))).collect();
    let turn = |a: u32, b: u32, c: u32| {
        (flat[b as usize] - flat[a as usize]).perp_dot(flat[c as usize] - flat[a as usize])
    };
    if (0..n).all(|i| turn(i, (i + 1) % n, (i + 2) % n) >= 0.0) {
        return fan();
    }
    *work = work.and_then(|left| left.checked_sub(points.len() * points.len()));
    if work.is_none() {
        return fan();
    }
    let mut ring: Vec<u32> = (0..n).collect();
    let is_ear = |ring: &[u32], i: usize| {
        let m = ring.len();
        let (a, b, c) = (ring[(i + m - 1) % m], ring[i], ring[(i + 1) % m]);
        turn(a, b, c) > 0.0
            && ring
                .iter()
                // A bridge to a hole visits points twice; a copy of a corner is not inside the ear.
                .filter(|&&p| [a, b, c].iter().all(|&q| flat[q as usize] != flat[p as usize]))
                .all(|&p| turn(a, b, p) < 0.0 || turn(b, c, p) < 0.0 || turn(c, a, p) < 0.0)
    };
    let mut ears: Vec<bool> = (0..ring.len()).map(|i| is_ear(&ring, i)).collect();
    let mut triangles = Vec::with_capacity(n as usize - 2);
    while ring.len() > 3 {
        let m = ring.len();
        // A self-crossing polygon may have no ear left; cutting anywhere still covers every corner.
        let ear = ears.iter().position(|&is_ear| is_ear).unwrap_or(0);
        triangles.push([ring[(ear + m - 1) % m], ring[ear], ring[(ear + 1) % m]]);
        ring.remove(ear);
        ears.remove(ear);
        // Cutting an ear changes only its neighbours.
        for i in [(ear + m - 2) % (m - 1), ear % (m - 1)] {
            ears[i] = is_ear(&ring, i);
        }
    }
    triangles.push([ring[0], ring[1], ring[2]]);
    triangles
}
