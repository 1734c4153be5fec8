//! Why a surface could not be posed.

use sinew_geom::GeomError;
use thiserror::Error;

/// Why handles, moves or a deformation were refused.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum DeformError {
    /// There is no handle that could hold the mesh.
    #[error("there is no handle with a vertex; paint at least one")]
    NoHandle,
    /// A handle names a vertex that does not exist.
    #[error("handle {handle:?} has vertex {vertex}, but the mesh has only {n_vertices}")]
    HandleVertex {
        /// Name of the handle.
        handle: String,
        /// The offending index.
        vertex: u32,
        /// Number of vertices present.
        n_vertices: usize,
    },
    /// A weight is outside 0..=1, or there are not as many as vertices.
    #[error("handle {handle:?}: {cause}")]
    HandleWeight {
        /// Name of the handle.
        handle: String,
        /// What is wrong with the weights.
        cause: String,
    },
    /// A number of a handle or a move is NaN or infinite.
    #[error("{what} is not finite")]
    NonFinite {
        /// Description of the number.
        what: String,
    },
    /// A move names a handle that does not exist.
    #[error("move {at} names handle {name:?}, which does not exist; there are: {known}")]
    UnknownHandle {
        /// Index of the move, counted from 0.
        at: usize,
        /// The name it uses.
        name: String,
        /// Names that exist.
        known: String,
    },
    /// A rotation has an axis of no length.
    #[error("move {at} turns about an axis without direction")]
    NoAxis {
        /// Index of the move, counted from 0.
        at: usize,
    },
    /// There is nothing to blend.
    #[error("there is no example pose; save at least one")]
    NoExample,
    /// An example does not fit the handles.
    #[error("example {name:?} does not fit the handles: {cause}")]
    Example {
        /// Name of the example.
        name: String,
        /// The fault.
        cause: Box<DeformError>,
    },
    /// A target or path is for a handle that does not exist.
    #[error("there is no handle {name:?} to bring to a target; there are: {known}")]
    TargetHandle {
        /// The name it uses.
        name: String,
        /// Names that exist.
        known: String,
    },
    /// A setting is invalid.
    #[error("{what}: {cause}")]
    Setting {
        /// Name of the setting.
        what: &'static str,
        /// What is wrong and what is expected.
        cause: String,
    },
    /// A slice or list has the wrong length.
    #[error("{what} has {actual} entries, expected {expected}")]
    Length {
        /// Name of the list.
        what: &'static str,
        /// Required number of entries.
        expected: usize,
        /// Number found.
        actual: usize,
    },
    /// The caller asked to stop.
    #[error("stopped before it was done")]
    Cancelled,
    /// A geometric computation failed.
    #[error(transparent)]
    Geom(#[from] GeomError),
}

/// Refuse a list of the wrong length.
pub(crate) fn check(what: &'static str, expected: usize, actual: usize) -> Result<(), DeformError> {
    if expected == actual { Ok(()) } else { Err(DeformError::Length { what, expected, actual }) }
}
