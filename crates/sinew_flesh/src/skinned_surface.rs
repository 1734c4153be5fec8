//! The surface as skinning alone places it, beside the lattice that flesh is simulated on.
//!
//! What is displayed is `skin(v) + Σ N (x − s)`: the skin, moved as flesh moves relative to the skinned lattice. So what
//! an embedding loses where surfaces of different weights share cells is never seen.

use crate::{Body, BodyPoint};
use glam::{DAffine3, DVec3, Vec3};
use sinew_geom::{Mesh, Skin};

/// Vertices at rest, and those that meet obstacles.
#[derive(Debug, Clone, Default)]
pub(crate) struct SkinnedSurface {
    rest: Vec<DVec3>,
    contact_vertices: Vec<u32>,
}

impl SkinnedSurface {
    pub fn new(mesh: &Mesh, contact_vertices: Vec<u32>) -> Self {
        Self { rest: mesh.positions().to_vec(), contact_vertices }
    }

    /// Where skinning puts a vertex; vertices that the skin does not know stay at rest.
    pub fn vertex(&self, skin: &Skin, matrices: &[DAffine3], vertex: usize) -> DVec3 {
        let p = self.rest[vertex];
        if vertex >= skin.n_vertices() {
            return p;
        }
        let one = |(slot, w): (u16, f32)| matrices[slot as usize].transform_point3(p) * f64::from(w);
        skin.vertex(vertex).map(one).sum()
    }

    /// Offset of the displayed surface from the lattice at a vertex, when skinning puts nodes at `skinned`.
    pub fn offset(
        &self,
        (skin, matrices): (&Skin, &[DAffine3]),
        body: &Body,
        skinned: &[DVec3],
        vertex: usize,
    ) -> DVec3 {
        let point: BodyPoint = body.point(vertex);
        self.vertex(skin, matrices, vertex) - point.evaluate(&body.lattice, skinned)
    }

    /// Offsets at the vertices that meet obstacles.
    pub fn contact_offsets(
        &self,
        skin: (&Skin, &[DAffine3]),
        body: &Body,
        skinned: &[DVec3],
        out: &mut Vec<DVec3>,
    ) {
        out.clear();
        out.extend(self.contact_vertices.iter().map(|&v| self.offset(skin, body, skinned, v as usize)));
    }

    /// Add the skinned surface to displacements.
    pub fn add(&self, skin: &Skin, matrices: &[DAffine3], displacements: &mut [Vec3]) {
        for (vertex, out) in displacements.iter_mut().enumerate().take(self.rest.len()) {
            *out = (self.vertex(skin, matrices, vertex) + out.as_dvec3()).as_vec3();
        }
    }
}
