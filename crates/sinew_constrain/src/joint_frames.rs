//! Where the joints of a rig are in one pose.

use glam::{DQuat, DVec3};
use sinew_geom::{Pose, Rig, Transform};

/// Where joints are: what arrows are sums of.
pub(crate) trait Carriers {
    /// World position of a joint.
    fn place(&self, joint: usize) -> DVec3;
    /// An axis of a joint's frame in the world, 0 = x.
    fn axis(&self, joint: usize, axis: usize) -> DVec3;
}

/// World frames of the joints of a rig in one pose.
#[derive(Debug, Clone, Default)]
pub struct JointFrames {
    /// Position of each joint.
    pub positions: Vec<DVec3>,
    /// Orientation of each joint.
    pub rotations: Vec<DQuat>,
    pub(crate) scales: Vec<DVec3>,
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
    pub(crate) fn set(&mut self, joint: usize, parent: Option<usize>, local: &Transform, shift: DVec3) {
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
