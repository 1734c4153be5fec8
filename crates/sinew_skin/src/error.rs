//! Why a sequence could not become a skin.

use sinew_geom::GeomError;
use thiserror::Error;

/// Why a fit was refused or stopped without a result.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum SkinError {
    /// There is nothing to fit to.
    #[error("the sequence has no frames; give at least one")]
    NoFrames,
    /// There are no vertices.
    #[error("the mesh has no vertices; give a mesh with a surface")]
    NoVertices,
    /// No bones were requested.
    #[error("0 bones cannot move anything; ask for at least 1")]
    NoBones,
    /// Each bone needs a vertex of its own.
    #[error("{asked} bones were asked for, but there can be at most {limit}; ask for fewer")]
    TooManyBones {
        /// Bones requested.
        asked: usize,
        /// The most there can be: the vertices of the mesh, and what a skin can index.
        limit: usize,
    },
    /// A frame has another number of vertices.
    #[error("frame {frame} has {actual} vertices, the rest pose {expected}; all frames must share one mesh")]
    FrameLength {
        /// Index of the frame, counted from 0.
        frame: usize,
        /// Vertices of the rest pose.
        expected: usize,
        /// Vertices of the frame.
        actual: usize,
    },
    /// A frame holds a coordinate that is not a number.
    #[error("frame {frame}: vertex {vertex} is not finite; repair or leave out that frame")]
    FrameNonFinite {
        /// Index of the frame, counted from 0.
        frame: usize,
        /// Index of the vertex.
        vertex: usize,
    },
    /// A frame could not be read.
    #[error("{message}")]
    Source {
        /// Message of the source.
        message: String,
    },
    /// A parameter is outside its range.
    #[error("{name} is {value}, but {expected}")]
    Parameter {
        /// Name of the parameter.
        name: &'static str,
        /// Value given.
        value: String,
        /// What would be valid, as a clause.
        expected: &'static str,
    },
    /// The caller stopped the work before there was a result.
    #[error("stopped before there was a result")]
    Cancelled,
    /// A geometric computation failed.
    #[error(transparent)]
    Geom(#[from] GeomError),
}
