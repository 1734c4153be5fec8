//! A mesh with its neighbourhoods and its handles: what every method is prepared from.

use crate::HandleSet;
use sinew_geom::{Mesh, mesh::Adjacency};

/// A mesh and its handles.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HandledMesh<'a> {
    /// The surface at rest.
    pub mesh: &'a Mesh,
    /// Its neighbourhoods.
    pub adjacency: &'a Adjacency,
    /// Which handle holds which vertex.
    pub handles: &'a HandleSet,
}
