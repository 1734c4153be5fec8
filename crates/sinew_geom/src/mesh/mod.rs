//! Triangle meshes: validated construction, polygons, adjacency, defects and their repair.

mod adjacency;
mod defects;
mod edges;
mod ragged;
mod raw;
mod repair;
mod union_find;

pub use adjacency::Adjacency;
pub use defects::Defects;
pub use edges::{EdgeTable, EdgeUse};
pub use ragged::Ragged;
pub use raw::{RawMesh, TriangleSource};
pub use repair::{RepairParams, RepairReport, repair};
pub use union_find::UnionFind;

use crate::GeomError;
use glam::DVec3;

/// A triangle mesh whose indices are in range and whose coordinates are finite.
///
/// It may still be open, non-manifold or badly oriented: see [`RawMesh`] and the defect report for that.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mesh {
    positions: Vec<DVec3>,
    faces: Vec<[u32; 3]>,
}

impl Mesh {
    /// Check indices and coordinates, and take ownership.
    ///
    /// # Errors
    /// The first face with an index out of range, or the first non-finite vertex.
    pub fn new(positions: Vec<DVec3>, faces: Vec<[u32; 3]>) -> Result<Self, GeomError> {
        let n_vertices = positions.len();
        if n_vertices > u32::MAX as usize {
            return Err(GeomError::TooLarge { what: "mesh", actual: n_vertices, limit: u32::MAX as usize });
        }
        for (face, corners) in faces.iter().enumerate() {
            if let Some(&index) = corners.iter().find(|&&v| v as usize >= n_vertices) {
                return Err(GeomError::FaceIndex { face, index: index as usize, n_vertices });
            }
        }
        check_finite(&positions)?;
        Ok(Self { positions, faces })
    }

    /// Vertex positions, in metres.
    pub fn positions(&self) -> &[DVec3] {
        &self.positions
    }

    /// Triangles as vertex indices, counter-clockwise from outside.
    pub fn faces(&self) -> &[[u32; 3]] {
        &self.faces
    }

    /// Number of vertices.
    pub fn n_vertices(&self) -> usize {
        self.positions.len()
    }

    /// Number of triangles.
    pub fn n_faces(&self) -> usize {
        self.faces.len()
    }

    /// The three corner positions of a face.
    pub fn corners(&self, face: usize) -> [DVec3; 3] {
        self.faces[face].map(|v| self.positions[v as usize])
    }

    /// The same connectivity at other positions.
    ///
    /// # Errors
    /// If the number of positions differs or one of them is not finite.
    pub fn with_positions(&self, positions: Vec<DVec3>) -> Result<Self, GeomError> {
        if positions.len() != self.positions.len() {
            return Err(GeomError::Length {
                what: "positions",
                expected: self.positions.len(),
                actual: positions.len(),
            });
        }
        check_finite(&positions)?;
        Ok(Self { positions, faces: self.faces.clone() })
    }

    /// Smallest and largest corner of the axis-aligned bounding box; zeros for an empty mesh.
    pub fn bounds(&self) -> [DVec3; 2] {
        bounds(&self.positions)
    }

    /// Length of the bounding box's diagonal.
    pub fn diagonal(&self) -> f64 {
        let [low, high] = self.bounds();
        low.distance(high)
    }

    /// Take the parts back out.
    pub fn into_parts(self) -> (Vec<DVec3>, Vec<[u32; 3]>) {
        (self.positions, self.faces)
    }
}

/// Bounding box of points; zeros if there are none.
pub fn bounds(points: &[DVec3]) -> [DVec3; 2] {
    let Some(&first) = points.first() else { return [DVec3::ZERO; 2] };
    points.iter().fold([first; 2], |[low, high], &p| [low.min(p), high.max(p)])
}

fn check_finite(positions: &[DVec3]) -> Result<(), GeomError> {
    match positions.iter().position(|p| !p.is_finite()) {
        Some(index) => Err(GeomError::NonFinite { what: "vertex", index }),
        None => Ok(()),
    }
}

#[cfg(test)]
pub(crate) mod tests;
