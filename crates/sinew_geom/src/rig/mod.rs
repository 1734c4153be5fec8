//! Rigs: joint trees, their poses and clips, and the skin that follows them.

mod clip;
mod frames;
mod names;
mod pose;
mod skin;
mod skinning;

pub use clip::{Clip, Interpolate, Interpolation, JointTrack, Keys, MorphTrack};
pub use names::{BodyPart, PartNames, Side};
pub use pose::{Pose, Transform};
pub use skin::{Skin, SkinSlot};
pub use skinning::{skin_dual_quaternion, skin_linear};

use crate::GeomError;
use glam::DAffine3;

/// A joint tree in topological order: every parent comes before its children. Several roots are allowed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rig {
    joints: Vec<Joint>,
}

/// One joint of a [`Rig`].
#[derive(Debug, Clone, PartialEq)]
pub struct Joint {
    /// Name, unique within a rig where the source allows it.
    pub name: String,
    /// Index of the parent; `None` for a root.
    pub parent: Option<usize>,
    /// Rest transform in the parent's space.
    pub rest: Transform,
    /// Degrees of freedom of this joint; empty means it is rigid unless a clip moves it.
    pub dofs: Vec<Dof>,
    /// Order in which its rotation is decomposed into angles.
    pub euler: EulerOrder,
    /// Which bone of a person it is, where its file says so, in the words of VRM and Unity: `leftUpperLeg`. It is believed
    /// before the name.
    pub bone: Option<&'static str>,
}

impl Joint {
    /// A joint without named degrees of freedom.
    pub fn new(name: impl Into<String>, parent: Option<usize>, rest: Transform) -> Self {
        let (dofs, euler) = (Vec::new(), EulerOrder::default());
        Self { name: name.into(), parent, rest, dofs, euler, bone: None }
    }

    /// What says which part of a body it is: the bone if the file names one, else its name.
    pub fn meaning(&self) -> &str {
        self.bone.unwrap_or(&self.name)
    }
}

/// A named degree of freedom, such as `KneeR.rx`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dof {
    /// Which motion.
    pub kind: DofKind,
    /// Smallest and largest value, in metres or radians.
    pub range: [f64; 2],
}

/// Translation along, or rotation about, an axis of the joint's rest frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum DofKind {
    Tx,
    Ty,
    Tz,
    Rx,
    Ry,
    Rz,
}

impl DofKind {
    /// All kinds, translations first.
    pub const ALL: [Self; 6] = [Self::Tx, Self::Ty, Self::Tz, Self::Rx, Self::Ry, Self::Rz];

    /// The suffix used in names: `tx` … `rz`.
    pub fn suffix(self) -> &'static str {
        ["tx", "ty", "tz", "rx", "ry", "rz"][self as usize]
    }

    /// The kind with a suffix.
    pub fn from_suffix(suffix: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.suffix() == suffix)
    }
}

/// Product in which a rotation is written, left factor first: `Zyx` is `Rz · Ry · Rx`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs)]
pub enum EulerOrder {
    Xyz,
    Xzy,
    Yxz,
    Yzx,
    Zxy,
    #[default]
    Zyx,
}

impl EulerOrder {
    /// All six orders.
    pub const ALL: [Self; 6] = [Self::Xyz, Self::Xzy, Self::Yxz, Self::Yzx, Self::Zxy, Self::Zyx];

    /// Axes in product order, 0 = x.
    pub fn axes(self) -> [usize; 3] {
        match self {
            Self::Xyz => [0, 1, 2],
            Self::Xzy => [0, 2, 1],
            Self::Yxz => [1, 0, 2],
            Self::Yzx => [1, 2, 0],
            Self::Zxy => [2, 0, 1],
            Self::Zyx => [2, 1, 0],
        }
    }

    /// Order of three axes; `None` unless they are a permutation.
    pub fn from_axes(axes: [usize; 3]) -> Option<Self> {
        Self::ALL.into_iter().find(|order| order.axes() == axes)
    }
}

impl Rig {
    /// Check the order of the joints and their numbers.
    ///
    /// # Errors
    /// A parent that does not precede its child, or a non-finite rest transform.
    pub fn new(joints: Vec<Joint>) -> Result<Self, GeomError> {
        for (index, joint) in joints.iter().enumerate() {
            if let Some(parent) = joint.parent.filter(|&parent| parent >= index) {
                return Err(GeomError::JointOrder { joint: index, name: joint.name.clone(), parent });
            }
            if !joint.rest.is_finite() {
                return Err(GeomError::NonFinite { what: "rest transform of joint", index });
            }
        }
        Ok(Self { joints })
    }

    /// The joints, parents first.
    pub fn joints(&self) -> &[Joint] {
        &self.joints
    }

    /// Number of joints.
    pub fn n_joints(&self) -> usize {
        self.joints.len()
    }

    /// First joint of that name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.joints.iter().position(|joint| joint.name == name)
    }

    /// The rest pose.
    pub fn rest_pose(&self) -> Pose {
        Pose { locals: self.joints.iter().map(|joint| joint.rest).collect() }
    }

    /// Forward kinematics: `world_from_joint` of every joint, written into `out` (resized to fit).
    ///
    /// # Errors
    /// If the pose has another number of joints.
    pub fn forward(&self, pose: &Pose, out: &mut Vec<DAffine3>) -> Result<(), GeomError> {
        if pose.locals.len() != self.joints.len() {
            return Err(GeomError::Length {
                what: "pose",
                expected: self.joints.len(),
                actual: pose.locals.len(),
            });
        }
        out.clear();
        for (joint, local) in self.joints.iter().zip(&pose.locals) {
            let parent_from_joint = local.to_affine();
            out.push(match joint.parent {
                Some(parent) => out[parent] * parent_from_joint,
                None => parent_from_joint,
            });
        }
        Ok(())
    }

    /// `world_from_joint` of every joint at rest.
    pub fn rest_world(&self) -> Vec<DAffine3> {
        let mut out = Vec::with_capacity(self.n_joints());
        // A rest pose always fits its own rig.
        let _ = self.forward(&self.rest_pose(), &mut out);
        out
    }
}

/// Joints, each after its parent; `parents` need not be sorted.
pub fn parents_first(parents: &[Option<usize>]) -> Vec<usize> {
    let mut order = Vec::with_capacity(parents.len());
    let mut is_done = vec![false; parents.len()];
    for first in 0..parents.len() {
        let mut chain = Vec::new();
        let mut at = Some(first);
        while let Some(joint) = at.filter(|&joint| !is_done[joint]) {
            is_done[joint] = true;
            chain.push(joint);
            at = parents[joint];
        }
        order.extend(chain.into_iter().rev());
    }
    order
}
