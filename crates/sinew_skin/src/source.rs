//! Where frames come from: memory, a folder, several sequences one after another.

use crate::SkinError;
use glam::DVec3;
use sinew_geom::MeshSequence;

/// Frames of one mesh, read one at a time so that they need not all be in memory.
pub trait FrameSource {
    /// Number of frames.
    fn n_frames(&self) -> usize;

    /// Write the positions of a frame into `out`, which has one entry per vertex of the rest pose.
    ///
    /// # Errors
    /// A frame that cannot be read or has another number of vertices.
    fn read(&mut self, frame: usize, out: &mut [DVec3]) -> Result<(), SkinError>;
}

impl FrameSource for &MeshSequence {
    fn n_frames(&self) -> usize {
        MeshSequence::n_frames(self)
    }

    fn read(&mut self, frame: usize, out: &mut [DVec3]) -> Result<(), SkinError> {
        let positions = &self.frames()[frame];
        check_length(frame, out.len(), positions.len())?;
        out.iter_mut().zip(positions).for_each(|(out, p)| *out = p.as_dvec3());
        Ok(())
    }
}

/// Several sequences of one mesh as one, so that they share bones and weights.
pub struct Joined<'a> {
    /// The sequences, in order.
    pub parts: Vec<Box<dyn FrameSource + 'a>>,
}

impl FrameSource for Joined<'_> {
    fn n_frames(&self) -> usize {
        self.parts.iter().map(|part| part.n_frames()).sum()
    }

    fn read(&mut self, frame: usize, out: &mut [DVec3]) -> Result<(), SkinError> {
        let mut first = 0;
        for part in &mut self.parts {
            let n = part.n_frames();
            if frame < first + n {
                return part.read(frame - first, out);
            }
            first += n;
        }
        Err(SkinError::Source { message: format!("there is no frame {frame} of {first}") })
    }
}

/// # Errors
/// If the lengths differ, with the frame.
pub(crate) fn check_length(frame: usize, expected: usize, actual: usize) -> Result<(), SkinError> {
    if expected == actual { Ok(()) } else { Err(SkinError::FrameLength { frame, expected, actual }) }
}
