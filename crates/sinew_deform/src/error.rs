//! Why a surface could not be posed.

use sinew_geom::GeomError;
use thiserror::Error;

/// Why handles, moves or a deformation were refused.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum DeformError {
    /// There is nothing to hold the mesh by.
    #[error("there is no handle with a vertex; paint at least one")]
    NoHandle,
    /// A handle names a vertex that does not exist.
    #[error("handle {handle:?} has vertex {vertex}, but the mesh has only {n_vertices}")]
    HandleVertex {
        /// Its name.
        handle: String,
        /// The offending index.
        vertex: u32,
        /// Number of vertices present.
        n_vertices: usize,
    },
    /// A weight is outside 0..=1, or there are not as many as vertices.
    #[error("handle {handle:?}: {cause}")]
    HandleWeight {
        /// Its name.
        handle: String,
        /// What is wrong with the weights.
        cause: String,
    },
    /// A number of a handle or a move is NaN or infinite.
    #[error("{what} is not finite")]
    NonFinite {
        /// Which number, in words.
        what: String,
    },
    /// A move names a handle that does not exist.
    #[error("move {at} names handle {name:?}, which does not exist; there are: {known}")]
    UnknownHandle {
        /// Which move, counted from 0.
        at: usize,
        /// The name it uses.
        name: String,
        /// Names there are.
        known: String,
    },
    /// A rotation has an axis of no length.
    #[error("move {at} turns about an axis without direction")]
    NoAxis {
        /// Which move, counted from 0.
        at: usize,
    },
    /// There is nothing to blend.
    #[error("there is no example pose; save at least one")]
    NoExample,
    /// An example does not fit the handles.
    #[error("example {name:?} does not fit the handles: {cause}")]
    Example {
        /// Its name.
        name: String,
        /// Why.
        cause: Box<DeformError>,
    },
    /// A target or path is for a handle that does not exist.
    #[error("there is no handle {name:?} to bring to a target; there are: {known}")]
    TargetHandle {
        /// The name it uses.
        name: String,
        /// Names there are.
        known: String,
    },
    /// A setting makes no sense.
    #[error("{what}: {cause}")]
    Setting {
        /// Which.
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
    /// Whoever waited for it asked to stop.
    #[error("stopped before it was done")]
    Cancelled,
    /// The mathematics below failed.
    #[error(transparent)]
    Geom(#[from] GeomError),
}
