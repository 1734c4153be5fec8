//! The body map: one understanding of what a body is and what its joints are.
//!
//! Read from a skeleton by the names of its joints, the order in which limbs hang together and where they are, it says which
//! way is up and forward, how long a metre is, what each joint moves, and how knees and elbows bend.
//!
//! # Limits
//! Names decide what a limb is; a skeleton whose names say nothing is a tree. Left and right are those of the names.

mod attach;
mod class;
mod frame;
mod names;
mod part;
mod parts;
mod reference;
#[cfg(test)]
mod tests;

pub use attach::attachments;
pub use class::BodyClass;
pub use part::Part;
pub use reference::ReferenceStance;

use crate::{Clip, Pose, Rig, rig::Side};
use glam::DVec3;

/// What a skeleton is.
#[derive(Debug, Clone, PartialEq)]
pub struct BodyMap {
    /// The plan of the body.
    pub class: BodyClass,
    /// 0 (a guess) to 1 (certain).
    pub confidence: f64,
    /// Unit vector from the feet to the head.
    pub up: DVec3,
    /// Unit vector the body faces.
    pub forward: DVec3,
    /// Length of one unit of the skeleton in metres, if its size tells.
    pub metres_per_unit: Option<f64>,
    /// Meaning of each joint.
    pub joints: Vec<JointMeaning>,
    /// Where the joints are in the pose the rest was read from: the rest pose, or the start of a clip where joints at rest lie
    /// in a heap.
    pub places: Vec<DVec3>,
    /// That pose.
    pub pose: Pose,
}

/// What a joint is.
#[derive(Debug, Clone, PartialEq)]
pub struct JointMeaning {
    /// The part of the body it moves.
    pub part: Part,
    /// Left and right as the body has them.
    pub side: Side,
    /// Whether it stays still when the body moves: roots, controls, joints of no length.
    pub is_structural: bool,
    /// How it bends, if it is a knee or an elbow.
    pub hinge: Option<Hinge>,
}

/// A joint that bends about one axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hinge {
    /// Unit axis in the space of the world, in the pose of [`BodyMap::places`]; turning about it bends the joint.
    pub axis: DVec3,
    /// Least and greatest angle of bending, in radians.
    pub range: [f64; 2],
}

impl BodyMap {
    /// Read a skeleton. Clips help where its rest pose is ambiguous.
    pub fn read(rig: &Rig, clips: &[Clip]) -> Self {
        let names = names::understand_all(rig);
        let found = parts::find_parts(rig, &names);
        let (pose, places) = frame::reference_pose(rig, clips, &found);
        let frame = frame::Frame::of(&found, &places);
        let class = frame::classify(&found, &places, &frame);
        let joints = (0..rig.n_joints())
            .map(|joint| JointMeaning {
                part: found.parts[joint],
                side: found.sides[joint],
                is_structural: found.is_structural(rig, joint),
                hinge: frame.hinge(rig, &found, &places, joint),
            })
            .collect();
        let confidence = frame::confidence(&found, class, &frame);
        let metres_per_unit = frame::guess_unit(class, &places, &frame);
        Self {
            class,
            confidence,
            up: frame.up,
            forward: frame.forward,
            metres_per_unit,
            joints,
            places,
            pose,
        }
    }

    /// The first joint of a part on a side.
    pub fn find(&self, part: Part, side: Side) -> Option<usize> {
        self.joints.iter().position(|joint| joint.part == part && joint.side == side)
    }

    /// Joints that stand on the ground: of legs the last ones. Empty if it has none.
    pub fn feet(&self) -> Vec<usize> {
        let is_foot = |joint: &JointMeaning| match joint.part {
            Part::Foot | Part::Toe => true,
            Part::Hand | Part::Finger => self.class == BodyClass::Quadruped,
            Part::Leg => true,
            _ => false,
        };
        (0..self.joints.len()).filter(|&k| is_foot(&self.joints[k])).collect()
    }

    /// The limb of each joint, counted from 0: trunk, neck with head, and everything that hangs on them, each as a whole.
    /// `attached` names what joints move with where that is not their parent. Joints of a body of no known kind are limbs of
    /// their own.
    pub fn limbs(&self, rig: &Rig, attached: &[Option<usize>]) -> Vec<usize> {
        let n = rig.n_joints();
        if self.class == BodyClass::Tree {
            return (0..n).collect();
        }
        let hangs_on = |k: usize| attached.get(k).copied().flatten().or(rig.joints()[k].parent);
        let root = |joint: usize| {
            let mut at = joint;
            // A chain of attachments cannot be longer than the skeleton.
            for _ in 0..n {
                match self.joints[at].part {
                    Part::Root | Part::Hips | Part::Spine | Part::Chest => return None,
                    Part::Neck | Part::Head => return Some(n),
                    _ => {}
                }
                let above = hangs_on(at);
                let is_limb = |k: usize| {
                    !matches!(self.joints[k].part, Part::Root | Part::Hips | Part::Spine | Part::Chest)
                };
                match above.filter(|&k| is_limb(k)) {
                    Some(k) => at = k,
                    None => return Some(at),
                }
            }
            Some(at)
        };
        let mut roots: Vec<Option<usize>> = Vec::new();
        let mut limb = |joint: usize| {
            let root = root(joint);
            roots.iter().position(|found| *found == root).unwrap_or_else(|| {
                roots.push(root);
                roots.len() - 1
            })
        };
        (0..n).map(&mut limb).collect()
    }

    /// All joints of a part on a side, in the order of the skeleton.
    pub fn find_all(&self, part: Part, side: Side) -> impl Iterator<Item = usize> + '_ {
        let is_it = move |joint: &JointMeaning| joint.part == part && joint.side == side;
        self.joints.iter().enumerate().filter(move |(_, joint)| is_it(joint)).map(|(k, _)| k)
    }
}
