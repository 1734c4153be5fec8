//! A motion as poses at a constant frame rate, and the frames of its joints.

use crate::{ConstrainError, equations::Carriers};
use glam::{DQuat, DVec3};
use sinew_geom::{Clip, Pose, Rig, Transform};

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

/// World frames of the joints of a rig in one pose.
#[derive(Debug, Clone, Default)]
pub struct JointFrames {
    /// Position of each joint.
    pub positions: Vec<DVec3>,
    /// Orientation of each joint.
    pub rotations: Vec<DQuat>,
    pub(super) scales: Vec<DVec3>,
}

impl JointFrames {
    /// Forward kinematics; buffers are reused.
    pub fn compute(&mut self, rig: &Rig, pose: &Pose) {
        let n = rig.n_joints();
        self.positions.resize(n, DVec3::ZERO);
        self.rotations.resize(n, DQuat::IDENTITY);
        self.scales.resize(n, DVec3::ONE);
        for (index, (joint, local)) in rig.joints().iter().zip(&pose.locals).enumerate() {
            self.scales[index] = joint.parent.map_or(local.scale, |parent| self.scales[parent] * local.scale);
            self.set(index, joint.parent, local, DVec3::ZERO);
        }
    }

    /// Place one joint below its parent, moved by a shift in the world.
    pub(super) fn set(&mut self, joint: usize, parent: Option<usize>, local: &Transform, shift: DVec3) {
        let (position, rotation) = match parent {
            Some(p) => (
                self.positions[p] + self.rotations[p] * (self.scales[p] * local.translation),
                self.rotations[p] * local.rotation,
            ),
            None => (local.translation, local.rotation),
        };
        self.positions[joint] = position + shift;
        self.rotations[joint] = rotation;
    }

    /// Frames of the joints in a pose.
    pub fn of(rig: &Rig, pose: &Pose) -> Self {
        let mut world = Self::default();
        world.compute(rig, pose);
        world
    }

    /// A point fixed to a joint, given in its frame in metres.
    pub fn point(&self, joint: usize, local: DVec3) -> DVec3 {
        self.positions[joint] + self.rotations[joint] * local
    }

    /// Uniform scale of a joint's children.
    pub fn scale(&self, joint: usize) -> f64 {
        self.scales[joint].x
    }
}

impl Carriers for JointFrames {
    fn place(&self, joint: usize) -> DVec3 {
        self.positions[joint]
    }

    fn axis(&self, joint: usize, axis: usize) -> DVec3 {
        self.rotations[joint] * DVec3::AXES[axis]
    }
}

/// Joint frames of all poses of a motion.
pub fn worlds(rig: &Rig, motion: &Motion) -> Vec<JointFrames> {
    motion.poses.iter().map(|pose| JointFrames::of(rig, pose)).collect()
}
