//! A motion as poses at a constant frame rate.

use crate::{ConstrainError, joint_frames::JointFrames};
use sinew_geom::{Clip, Pose, Rig};

/// Poses of one rig at a constant frame rate.
#[derive(Debug, Clone, PartialEq)]
pub struct Motion {
    /// Frames per second.
    pub fps: f64,
    /// One pose per frame.
    pub poses: Vec<Pose>,
}

/// Maximum number of frames of a clip.
const MAX_FRAMES: f64 = 1e6;
/// Accepted frame rates.
const FRAME_RATES: std::ops::RangeInclusive<f64> = 1.0..=1000.0;

impl Motion {
    /// A clip sampled at a frame rate.
    ///
    /// # Errors
    /// A frame rate out of range, or a clip that is too long.
    pub fn from_clip(rig: &Rig, clip: &Clip, fps: f64) -> Result<Self, ConstrainError> {
        let duration = f64::from(clip.duration_secs());
        if !FRAME_RATES.contains(&fps) || duration * fps > MAX_FRAMES {
            return Err(ConstrainError::Rate { fps, duration });
        }
        let n_frames = (duration * fps).round() as usize + 1;
        let pose = |frame: usize| clip.sample(rig, (frame as f64 / fps) as f32);
        Ok(Self { fps, poses: (0..n_frames).map(pose).collect() })
    }

    /// As a clip with one key per frame.
    ///
    /// # Errors
    /// If numbers are not finite or there is no frame.
    pub fn to_clip(&self, rig: &Rig, name: &str) -> Result<Clip, ConstrainError> {
        Ok(Clip::from_poses(name, rig, &self.poses, self.fps)?)
    }

    /// Number of frames.
    pub fn n_frames(&self) -> usize {
        self.poses.len()
    }

    /// Seconds from frame to frame.
    pub fn frame_secs(&self) -> f64 {
        1.0 / self.fps
    }
}

/// Joint frames of all poses of a motion.
pub fn worlds(rig: &Rig, motion: &Motion) -> Vec<JointFrames> {
    motion.poses.iter().map(|pose| JointFrames::of(rig, pose)).collect()
}
