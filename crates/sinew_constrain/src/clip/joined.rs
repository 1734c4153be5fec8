//! Feet and hands that hang on a root and are driven by controls, joined to the shins and forearms they belong to.
//!
//! A skeleton whose feet are targets of inverse kinematics has no chain from hip to foot. It is solved with one, and the result
//! is written for the skeleton as it is.

use crate::ConstrainError;
use glam::DAffine3;
use sinew_geom::{
    Pose, Rig, Transform,
    body_map::{BodyMap, Part},
};

/// A rig with other parents.
#[derive(Debug, Clone)]
pub struct Joined {
    /// The rig with whole limbs.
    pub rig: Rig,
    /// Joint of the original rig for each of its joints.
    old: Vec<usize>,
    /// Joints of the original rig with another parent.
    moved: Vec<usize>,
}

impl Joined {
    /// Join what hangs loose; nothing if nothing does.
    pub fn of(rig: &Rig, map: &BodyMap) -> Result<Option<Self>, ConstrainError> {
        let mut parents: Vec<Option<usize>> = rig.joints().iter().map(|joint| joint.parent).collect();
        let mut moved = Vec::new();
        for (end, limb) in [(Part::Foot, Part::Shin), (Part::Hand, Part::Forearm)] {
            for joint in (0..rig.n_joints()).filter(|&k| map.joints[k].part == end) {
                if let Some(parent) = loose_limb(rig, map, joint, limb) {
                    parents[joint] = Some(parent);
                    moved.push(joint);
                }
            }
        }
        if moved.is_empty() {
            return Ok(None);
        }
        let old = sorted(&parents);
        let mut new = vec![0; old.len()];
        old.iter().enumerate().for_each(|(k, &joint)| new[joint] = k);
        let world = rig.rest_world();
        let joint = |&k: &usize| {
            let mut joint = rig.joints()[k].clone();
            if moved.contains(&k) {
                joint.rest = below(&world, parents[k], k);
                joint.dofs.clear();
            }
            joint.parent = parents[k].map(|parent| new[parent]);
            joint
        };
        let joints = old.iter().map(joint).collect();
        Ok(Some(Self { rig: Rig::new(joints)?, old, moved }))
    }

    /// Values per joint of the original rig, in the order of the joined one.
    pub fn ordered<T: Clone>(&self, values: &[T]) -> Vec<T> {
        self.old.iter().map(|&joint| values[joint].clone()).collect()
    }

    /// The joint of the original rig that a joint of the joined one is.
    pub fn old_of(&self, joint: usize) -> usize {
        self.old[joint]
    }

    /// A pose of the original rig on the joined one.
    pub fn pose(&self, rig: &Rig, pose: &Pose) -> Pose {
        let mut world = Vec::new();
        let mut locals = self.ordered(&pose.locals);
        if rig.forward(pose, &mut world).is_ok() {
            for (k, joint) in self.old.iter().enumerate().filter(|(_, joint)| self.moved.contains(joint)) {
                locals[k] = below(&world, self.rig.joints()[k].parent.map(|parent| self.old[parent]), *joint);
            }
        }
        Pose { locals }
    }

    /// A pose of the joined rig on the original one.
    pub fn original(&self, rig: &Rig, pose: &Pose) -> Pose {
        let (mut joined, mut locals) = (Vec::new(), rig.rest_pose().locals);
        self.old.iter().zip(&pose.locals).for_each(|(&joint, local)| locals[joint] = *local);
        if self.rig.forward(pose, &mut joined).is_ok() {
            let mut world = vec![DAffine3::IDENTITY; joined.len()];
            self.old.iter().zip(joined).for_each(|(&joint, at)| world[joint] = at);
            for &joint in &self.moved {
                locals[joint] = below(&world, rig.joints()[joint].parent, joint);
            }
        }
        Pose { locals }
    }
}

fn below(world: &[DAffine3], parent: Option<usize>, joint: usize) -> Transform {
    let local = parent.map_or(world[joint], |parent| world[parent].inverse() * world[joint]);
    Transform::from_affine(local).0
}

/// The limb that ends nearest to a foot or hand that does not hang on it.
fn loose_limb(rig: &Rig, map: &BodyMap, joint: usize, limb: Part) -> Option<usize> {
    let side = map.joints[joint].side;
    let above: Vec<usize> = super::body::ancestry(rig, joint).collect();
    let limbs: Vec<usize> = map.find_all(limb, side).collect();
    let is_end_below_end = above.iter().skip(1).any(|&k| map.joints[k].part == map.joints[joint].part);
    if is_end_below_end || limbs.iter().any(|limb| above.contains(limb)) {
        return None;
    }
    let is_below = |k: usize| super::body::ancestry(rig, k).any(|at| at == joint);
    let far = |k: &usize| map.places[*k].distance(map.places[joint]);
    limbs.into_iter().filter(|&k| !is_below(k)).min_by(|a, b| far(a).total_cmp(&far(b)))
}

/// Joints in an order in which parents come before children.
fn sorted(parents: &[Option<usize>]) -> Vec<usize> {
    let (mut order, mut is_placed) = (Vec::new(), vec![false; parents.len()]);
    while order.len() < parents.len() {
        let is_next = |k: &usize| !is_placed[*k] && parents[*k].is_none_or(|parent| is_placed[parent]);
        let Some(next) = (0..parents.len()).find(is_next) else { break };
        is_placed[next] = true;
        order.push(next);
    }
    order
}
