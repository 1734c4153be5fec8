//! Blends of a skeleton's poses.
//!
//! # Source
//! Sun (2017), §4.5: linear blending of matrices (eq. 4.10) and forward kinematics on relative rotations (eqs. 4.11 and
//! 4.12). Differs: instead of blending rotation angles, rotations are blended as vectors from their mean along the
//! shortest arcs, so that nothing flips and every example is met exactly at weight 1.
//! # Symbols
//! `n` examples, `j` joints; `θ_ij` rotation of joint `j` in example `i` relative to the mean of the joint

use crate::{PuppetError, Weights};
use glam::{DAffine3, DQuat, DVec3};
use sinew_geom::{Pose, Rig, Transform};

/// How poses of a skeleton are blended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Interpolation {
    /// Rotations and translations of joints relative to their parents: limbs keep their lengths.
    #[default]
    ForwardKinematics,
    /// Matrices of joints in the world, as Sun (2017) compares: they shrink and shear.
    Linear,
}

impl Interpolation {
    /// Both.
    pub const ALL: [Self; 2] = [Self::ForwardKinematics, Self::Linear];

    /// Interpolation of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|way| way.name() == name)
    }

    /// Name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::ForwardKinematics => "fk",
            Self::Linear => "linear",
        }
    }
}

/// Poses of a skeleton, ready to be blended.
#[derive(Debug, Clone)]
pub struct RigBlend {
    n: usize,
    mean: Vec<DQuat>,
    /// Of joint `j` in example `i` at `j n + i`.
    turns: Vec<DVec3>,
    locals: Vec<Transform>,
    worlds: Vec<DAffine3>,
    /// Length that makes translations comparable with rotations.
    size: f64,
    parents: Vec<Option<usize>>,
    /// Joints that are blended relative to another than their parent, and which.
    attached: Vec<(usize, usize)>,
}

impl RigBlend {
    /// Prepare poses of a rig. `attached` names what joints move with where that is not their parent.
    ///
    /// # Errors
    /// No poses, poses of another rig or with numbers that are not finite.
    pub fn new(rig: &Rig, poses: &[Pose], attached: &[Option<usize>]) -> Result<Self, PuppetError> {
        if poses.is_empty() {
            return Err(PuppetError::NoPairs);
        }
        let (n, n_joints) = (poses.len(), rig.joints().len());
        let mut blend = Self {
            n,
            mean: Vec::with_capacity(n_joints),
            turns: Vec::with_capacity(n * n_joints),
            locals: Vec::with_capacity(n * n_joints),
            worlds: vec![DAffine3::IDENTITY; n * n_joints],
            size: extent(rig),
            parents: rig.joints().iter().map(|joint| joint.parent).collect(),
            attached: attached.iter().enumerate().filter_map(|(k, on)| on.map(|on| (k, on))).collect(),
        };
        for (pair, pose) in poses.iter().enumerate() {
            if pose.locals.len() != n_joints {
                return Err(PuppetError::Joints { pair, expected: n_joints, actual: pose.locals.len() });
            }
            if !pose.locals.iter().all(Transform::is_finite) {
                return Err(PuppetError::NonFinite { what: "character's pose of pair", index: pair });
            }
            let mut world = Vec::new();
            rig.forward(pose, &mut world)?;
            world.iter().enumerate().for_each(|(j, world)| blend.worlds[j * n + pair] = *world);
        }
        for j in 0..n_joints {
            let on = blend.attached.iter().find(|(joint, _)| *joint == j).map(|(_, on)| *on);
            let local = |i: usize| match on {
                Some(on) => {
                    Transform::from_affine(blend.worlds[on * n + i].inverse() * blend.worlds[j * n + i]).0
                }
                None => poses[i].locals[j],
            };
            let locals: Vec<Transform> = (0..n).map(local).collect();
            let mean = mean_rotation(locals.iter().map(|local| local.rotation));
            blend.mean.push(mean);
            blend.turns.extend(locals.iter().map(|local| shortest_turn(mean.inverse() * local.rotation)));
            blend.locals.extend(locals);
        }
        Ok(blend)
    }

    /// Number of joints.
    pub fn n_joints(&self) -> usize {
        self.mean.len()
    }

    /// Squared distance of a joint between two examples: angle, translation relative to the skeleton, and scale.
    pub fn distance(&self, joint: usize, i: usize, k: usize) -> f64 {
        let at = |i: usize| (self.turns[joint * self.n + i], self.locals[joint * self.n + i]);
        let ((turn_i, i), (turn_k, k)) = (at(i), at(k));
        let shift = (i.translation - k.translation) / self.size;
        (turn_i - turn_k).length_squared() + shift.length_squared() + (i.scale - k.scale).length_squared()
    }

    /// The blend by rotations and translations of joints.
    pub fn pose(&self, weights: &Weights, pose: &mut Pose) {
        pose.locals.clear();
        for (j, mean) in self.mean.iter().enumerate() {
            let (mut turn, mut translation, mut scale) = (DVec3::ZERO, DVec3::ZERO, DVec3::ZERO);
            for (i, &weight) in weights.of(j).iter().enumerate().filter(|(_, w)| **w != 0.0) {
                let local = &self.locals[j * self.n + i];
                turn += weight * self.turns[j * self.n + i]; // eq. 4.11
                translation += weight * local.translation;
                scale += weight * local.scale;
            }
            let rotation = (*mean * DQuat::from_scaled_axis(turn)).normalize();
            pose.locals.push(Transform { translation, rotation, scale });
        }
        self.attach(pose);
    }

    /// Joints that were blended relative to what they move with, relative to their parents.
    fn attach(&self, pose: &mut Pose) {
        for &(joint, on) in &self.attached {
            let world = |mut at: usize, pose: &Pose| {
                let mut world = pose.locals[at].to_affine();
                while let Some(parent) = self.parents[at] {
                    world = pose.locals[parent].to_affine() * world;
                    at = parent;
                }
                world
            };
            let place = world(on, pose) * pose.locals[joint].to_affine();
            let parent = self.parents[joint].map_or(DAffine3::IDENTITY, |parent| world(parent, pose));
            pose.locals[joint] = Transform::from_affine(parent.inverse() * place).0;
        }
    }

    /// The blend of matrices, which in general are not rigid motions (eq. 4.10).
    pub fn matrices(&self, weights: &Weights, world: &mut Vec<DAffine3>) {
        world.clear();
        for j in 0..self.n_joints() {
            let mut sum = DAffine3::ZERO;
            for (i, &weight) in weights.of(j).iter().enumerate().filter(|(_, w)| **w != 0.0) {
                let matrix = &self.worlds[j * self.n + i];
                sum.matrix3 += matrix.matrix3 * weight;
                sum.translation += matrix.translation * weight;
            }
            world.push(sum);
        }
    }
}

/// The rotation in the middle: sum of quaternions of one hemisphere.
fn mean_rotation(rotations: impl Iterator<Item = DQuat> + Clone) -> DQuat {
    let first = rotations.clone().next().unwrap_or(DQuat::IDENTITY);
    let sum = rotations.fold(
        DQuat::from_array([0.0; 4]),
        |sum, q| {
            if q.dot(first) < 0.0 { sum - q } else { sum + q }
        },
    );
    if sum.length_squared() > 1e-12 { sum.normalize() } else { first }
}

/// Axis times angle, at most half a turn.
fn shortest_turn(q: DQuat) -> DVec3 {
    (if q.w < 0.0 { -q } else { q }).to_scaled_axis()
}

/// Largest extent of the joints at rest; 1 if they coincide.
fn extent(rig: &Rig) -> f64 {
    let world = rig.rest_world();
    let (low, high) = world.iter().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), m| {
        (low.min(m.translation), high.max(m.translation))
    });
    Some((high - low).max_element()).filter(|size| size.is_finite() && *size > 0.0).unwrap_or(1.0)
}
