//! Why a mesh could not be rigged.

use sinew_geom::GeomError;
use thiserror::Error;

/// Why there is no rig.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum RigError {
    /// Nothing to rig.
    #[error("the mesh has {n_faces} faces and {n_vertices} vertices; give a mesh with a surface")]
    NoSurface {
        /// Faces of the mesh.
        n_faces: usize,
        /// Its vertices.
        n_vertices: usize,
    },
    /// All vertices are in one place.
    #[error("all vertices are in one place; give a mesh with an extent")]
    NoExtent,
    /// A skeleton without joints.
    #[error("the skeleton has no joints; leave it out, and one is made")]
    NoJoints,
    /// The chosen template does not fit at all.
    #[error("the template {template} does not fit: {reason}; choose another, or let one be chosen")]
    NoFit {
        /// Name of the template.
        template: &'static str,
        /// What it lacks.
        reason: &'static str,
    },
    /// The result is not a valid rig or skin.
    #[error(transparent)]
    Geom(#[from] GeomError),
}
