//! Forward kinematics with the screw of every degree of freedom.
//!
//! # Source
//! Featherstone, *Rigid Body Dynamics Algorithms* (2008), ch. 2: motion and force vectors in one common frame, that of
//! the world. Replaces the symbolic chains of transformation matrices of Abdelhay (2008), §3.4 and §4.3.2.
//! # Symbols
//! `S_d = (o × a, a)` screw of a rotation about axis `a` through `o`, `(a, 0)` of a translation along `a`; a point `p`
//! fixed to the moving body has the velocity `o × a + a × p`.
//! # Cost
//! One sine and cosine per degree of freedom and one product of rotations per joint.

use crate::{Skeleton, joint_frames::Carriers, skeleton::SkeletonDof, trig};
use glam::{DMat3, DVec3};

/// Motion of all points that a degree of freedom carries, one unit per second.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Screw {
    /// Velocity of the point at the world's origin: `o × a`, or the direction of a translation.
    pub linear: DVec3,
    /// Angular velocity: the axis, or zero.
    pub angular: DVec3,
}

impl Screw {
    /// Velocity of a point that is carried along.
    #[inline(always)]
    pub fn velocity(&self, point: DVec3) -> DVec3 {
        self.linear + self.angular.cross(point)
    }
}

/// Where joints are at a pose; buffers are reused. Entries of joints and degrees of freedom that a
/// [`Kinematics`] leaves out are stale or zero.
#[derive(Debug, Clone, Default)]
pub struct SkeletonFrames {
    /// World position of each joint.
    pub positions: Vec<DVec3>,
    /// World rotation of each joint, without scale.
    pub rotations: Vec<DMat3>,
    /// Screw of each degree of freedom, in the world.
    pub screws: Vec<Screw>,
    sines: Vec<f64>,
    cosines: Vec<f64>,
}

impl Carriers for SkeletonFrames {
    #[inline(always)]
    fn place(&self, joint: usize) -> DVec3 {
        self.positions[joint]
    }

    #[inline(always)]
    fn axis(&self, joint: usize, axis: usize) -> DVec3 {
        self.rotations[joint].col(axis)
    }
}

/// Forward kinematics of all joints of a skeleton, or of some joints and their ancestors.
#[derive(Debug, Clone)]
pub struct Kinematics {
    steps: Vec<Step>,
    n_joints: usize,
    dofs: Vec<SkeletonDof>,
}

#[derive(Debug, Clone)]
struct Step {
    joint: usize,
    parent: Option<usize>,
    offset: DVec3,
    /// `None` where the joint's frame is its parent's at rest.
    rest: Option<DMat3>,
    translations: Vec<(u32, u8)>,
    /// Left factor first.
    rotations: Vec<(u32, u8)>,
}

impl Kinematics {
    /// For all joints.
    pub fn new(skeleton: &Skeleton) -> Self {
        Self::with_joints(skeleton, |_| true)
    }

    /// For the given joints and their ancestors.
    pub fn of_joints(skeleton: &Skeleton, joints: impl IntoIterator<Item = usize>) -> Self {
        let mut is_needed = vec![false; skeleton.n_joints()];
        for joint in joints {
            let mut ancestry = skeleton.ancestry(joint);
            while let Some(above) = ancestry.next().filter(|&above| !is_needed[above]) {
                is_needed[above] = true;
            }
        }
        Self::with_joints(skeleton, |joint| is_needed[joint])
    }

    fn with_joints(skeleton: &Skeleton, is_needed: impl Fn(usize) -> bool) -> Self {
        let steps = (0..skeleton.n_joints())
            .filter(|&joint| is_needed(joint))
            .map(|joint| step(skeleton, joint))
            .collect();
        Self { steps, n_joints: skeleton.n_joints(), dofs: skeleton.dofs().to_vec() }
    }

    /// Positions, rotations and screws at a pose. There must be one value per degree of freedom.
    #[inline]
    pub fn compute(&self, values: &[f64], out: &mut SkeletonFrames) {
        debug_assert_eq!(values.len(), self.dofs.len());
        out.positions.resize(self.n_joints, DVec3::ZERO);
        out.rotations.resize(self.n_joints, DMat3::IDENTITY);
        out.screws.resize(values.len(), Screw::default());
        out.sines.resize(values.len(), 0.0);
        out.cosines.resize(values.len(), 0.0);
        self.compute_sized(values, out);
    }

    /// Bytes of the plan and of the frames it fills.
    pub(crate) fn n_bytes(&self) -> usize {
        let steps: usize = self.steps.iter().map(|s| 8 * (s.translations.len() + s.rotations.len())).sum();
        steps
            + self.steps.len() * size_of::<Step>()
            + self.dofs.len() * (size_of::<SkeletonDof>() + size_of::<Screw>() + 16)
            + self.n_joints * (size_of::<DVec3>() + size_of::<DMat3>())
    }

    /// The same if `out` already has its size.
    #[inline(always)]
    pub(crate) fn compute_sized(&self, values: &[f64], out: &mut SkeletonFrames) {
        trig::sin_cos(values, &mut out.sines, &mut out.cosines);
        for step in &self.steps {
            let (from, origin) = match step.parent {
                Some(parent) => (out.rotations[parent], out.positions[parent]),
                None => (DMat3::IDENTITY, DVec3::ZERO),
            };
            let mut offset = step.offset;
            for &(dof, axis) in &step.translations {
                offset[axis as usize] = values[dof as usize];
                out.screws[dof as usize] = Screw { linear: from.col(axis as usize), angular: DVec3::ZERO };
            }
            let position = origin + from * offset;
            let mut turned = match &step.rest {
                Some(rest) => from * *rest,
                None => from,
            };
            for &(dof, axis) in &step.rotations {
                let d = dof as usize;
                out.screws[d] = turn(&mut turned, axis, out.sines[d], out.cosines[d], position);
            }
            out.positions[step.joint] = position;
            out.rotations[step.joint] = turned;
        }
    }
}

/// Multiply a rotation about one axis from the right; only two columns change. Returns its screw.
#[inline(always)]
fn turn(matrix: &mut DMat3, axis: u8, sine: f64, cosine: f64, position: DVec3) -> Screw {
    let (a, u, v) = match axis {
        0 => (matrix.x_axis, &mut matrix.y_axis, &mut matrix.z_axis),
        1 => (matrix.y_axis, &mut matrix.z_axis, &mut matrix.x_axis),
        _ => (matrix.z_axis, &mut matrix.x_axis, &mut matrix.y_axis),
    };
    (*u, *v) = (*u * cosine + *v * sine, *v * cosine - *u * sine);
    Screw { linear: position.cross(a), angular: a }
}

fn step(skeleton: &Skeleton, index: usize) -> Step {
    let joint = &skeleton.joints()[index];
    let dofs = joint.dofs.clone().map(|d| (d as u32, skeleton.dofs()[d]));
    let (rotations, translations): (Vec<_>, Vec<_>) = dofs.partition(|(_, dof)| dof.is_rotation());
    let mut rotations: Vec<(u32, u8)> = rotations.iter().map(|(d, dof)| (*d, dof.axis() as u8)).collect();
    let order = joint.euler.axes();
    rotations.sort_by_key(|&(_, axis)| order.iter().position(|&a| a == axis as usize));
    let rest = DMat3::from_quat(joint.rest_rotation());
    Step {
        joint: index,
        parent: joint.parent,
        offset: joint.offset,
        rest: (rest != DMat3::IDENTITY).then_some(rest),
        translations: translations.iter().map(|(d, dof)| (*d, dof.axis() as u8)).collect(),
        rotations,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skeleton::tests::odd_rig;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn screws_are_derivatives(seed in prop::collection::vec(-2.0..2.0f64, 16)) {
            let skeleton = Skeleton::from_rig(&odd_rig()).unwrap();
            let kinematics = Kinematics::new(&skeleton);
            let [mut at, mut low, mut high] = [SkeletonFrames::default(), SkeletonFrames::default(), SkeletonFrames::default()];
            kinematics.compute(&seed, &mut at);
            for d in 0..16 {
                let mut moved = seed.clone();
                moved[d] = seed[d] - 1e-6;
                kinematics.compute(&moved, &mut low);
                moved[d] = seed[d] + 1e-6;
                kinematics.compute(&moved, &mut high);
                let of = skeleton.dofs()[d];
                for joint in 0..6 {
                    let is_moved = skeleton.is_above(of.joint, joint);
                    let expected = if is_moved { at.screws[d].velocity(at.positions[joint]) } else { DVec3::ZERO };
                    let actual = (high.positions[joint] - low.positions[joint]) / 2e-6;
                    prop_assert!((expected - actual).length() < 1e-8, "degree of freedom {d} joint {joint}");
                }
            }
        }
    }

    #[test]
    fn a_part_is_as_the_whole() {
        let skeleton = Skeleton::from_rig(&odd_rig()).unwrap();
        let values: Vec<f64> = (0..16).map(|i| 0.1 * f64::from(i)).collect();
        let [mut whole, mut part] = [SkeletonFrames::default(), SkeletonFrames::default()];
        Kinematics::new(&skeleton).compute(&values, &mut whole);
        Kinematics::of_joints(&skeleton, [4]).compute(&values, &mut part);
        for joint in [0, 1, 2, 4] {
            assert_eq!(whole.positions[joint], part.positions[joint]);
        }
        assert_eq!(part.positions[5], DVec3::ZERO);
    }
}
