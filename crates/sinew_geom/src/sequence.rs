//! A mesh that deforms: fixed connectivity, positions over time.

use crate::{GeomError, Mesh};
use glam::{DVec3, Vec3};

/// Frames of one mesh. Positions are `f32`, as in the files they come from, since sequences are large.
#[derive(Debug, Clone, PartialEq)]
pub struct MeshSequence {
    rest: Mesh,
    frames: Vec<Vec<Vec3>>,
    fps: f64,
}

impl MeshSequence {
    /// A rest mesh and its frames.
    ///
    /// # Errors
    /// A frame with another number of vertices, a non-finite coordinate, or a non-positive frame rate.
    pub fn new(rest: Mesh, frames: Vec<Vec<Vec3>>, fps: f64) -> Result<Self, GeomError> {
        if !(fps.is_finite() && fps > 0.0) {
            return Err(GeomError::Parameter {
                name: "fps",
                value: fps.to_string(),
                expected: "it must be positive",
            });
        }
        for frame in &frames {
            if frame.len() != rest.n_vertices() {
                return Err(GeomError::Length {
                    what: "frame",
                    expected: rest.n_vertices(),
                    actual: frame.len(),
                });
            }
            if let Some(index) = frame.iter().position(|p| !p.is_finite()) {
                return Err(GeomError::NonFinite { what: "frame vertex", index });
            }
        }
        Ok(Self { rest, frames, fps })
    }

    /// The mesh whose connectivity all frames share.
    pub fn rest(&self) -> &Mesh {
        &self.rest
    }

    /// Positions of every frame.
    pub fn frames(&self) -> &[Vec<Vec3>] {
        &self.frames
    }

    /// Number of frames.
    pub fn n_frames(&self) -> usize {
        self.frames.len()
    }

    /// Frames per second.
    pub fn fps(&self) -> f64 {
        self.fps
    }

    /// One frame as a mesh.
    ///
    /// # Errors
    /// If there is no such frame.
    pub fn mesh(&self, frame: usize) -> Result<Mesh, GeomError> {
        let positions = self.frames.get(frame).ok_or(GeomError::OutOfRange {
            what: "frame",
            index: frame,
            len: self.frames.len(),
        })?;
        self.rest.with_positions(positions.iter().map(|p| DVec3::from(*p)).collect())
    }
}
