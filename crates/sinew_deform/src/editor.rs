//! One interface for all methods: prepare once, then pose as often as the user moves.

use crate::{
    DeformError, HandlePose, HandleSet,
    guided::{Guided, GuidedParams},
    soft::SoftSurface,
};
use glam::DVec3;
use rayon::prelude::*;
use sinew_geom::{Mesh, Warnings, mesh::Adjacency};

/// How the soft surface follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// Harmonic guidance, then as rigid as possible on a small graph with interior.
    #[default]
    Guided,
}

/// Choices of a [`SurfaceEditor`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct EditParams {
    /// How the soft surface follows.
    pub method: Method,
    /// Of the guided method.
    pub guided: GuidedParams,
}

/// A mesh with handles, prepared for posing.
#[derive(Debug, Clone)]
pub struct SurfaceEditor {
    rest: Vec<DVec3>,
    n_handles: usize,
    soft: SoftSurface,
    engine: Engine,
}

#[derive(Debug, Clone)]
enum Engine {
    Guided(Guided),
}

impl SurfaceEditor {
    /// Find the soft pieces between the handles, assemble and factor their systems.
    ///
    /// # Errors
    /// If the handles belong to another mesh.
    pub fn new(
        mesh: &Mesh,
        handles: &HandleSet,
        params: &EditParams,
        warnings: &mut Warnings,
    ) -> Result<Self, DeformError> {
        if handles.n_vertices() != mesh.n_vertices() {
            let (expected, actual) = (mesh.n_vertices(), handles.n_vertices());
            return Err(DeformError::Length { what: "handle structure", expected, actual });
        }
        let adjacency = Adjacency::new(mesh);
        let soft = SoftSurface::new(mesh, &adjacency, handles, warnings);
        let engine = match params.method {
            Method::Guided => Engine::Guided(Guided::new(mesh, &adjacency, handles, &soft, &params.guided)?),
        };
        Ok(Self { rest: mesh.positions().to_vec(), n_handles: handles.len(), soft, engine })
    }

    /// Pose the surface. The result depends on the pose alone.
    ///
    /// # Errors
    /// If the pose belongs to other handles, or `positions` has another length than the mesh.
    pub fn solve(&self, pose: &HandlePose, positions: &mut [DVec3]) -> Result<(), DeformError> {
        if pose.motions().len() != self.n_handles {
            let (expected, actual) = (self.n_handles, pose.motions().len());
            return Err(DeformError::Length { what: "pose", expected, actual });
        }
        if positions.len() != self.rest.len() {
            let (expected, actual) = (self.rest.len(), positions.len());
            return Err(DeformError::Length { what: "positions", expected, actual });
        }
        let carry = |(out, (rest, carrier)): (&mut DVec3, (&DVec3, &Option<u32>))| {
            if let Some(handle) = carrier {
                *out = pose.motions()[*handle as usize].position(*rest);
            }
        };
        let inputs = self.rest.par_iter().zip(&self.soft.carrier);
        positions.par_iter_mut().zip(inputs).with_min_len(4096).for_each(carry);
        match &self.engine {
            Engine::Guided(guided) => guided.solve(&self.soft, pose, positions),
        }
    }

    /// Number of vertices that are solved for, rather than carried by a handle.
    pub fn n_soft(&self) -> usize {
        self.soft.pieces.iter().map(|piece| piece.vertices.len()).sum()
    }
}
