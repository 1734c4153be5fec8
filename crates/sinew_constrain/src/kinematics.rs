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

use crate::{Skeleton, equations::Carriers, skeleton::Freedom, trig};
use glam::{DMat3, DVec3};

/// Motion of all points that a degree of freedom carries, a unit a second.
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

/// Where joints are at a pose; buffers are kept from call to call. Entries of joints and degrees of freedom that a
/// [`Kinematics`] leaves out are stale or zero.
#[derive(Debug, Clone, Default)]
pub struct Frames {
    /// World position of each joint.
    pub positions: Vec<DVec3>,
    /// World rotation of each joint, without scale.
    pub rotations: Vec<DMat3>,
    /// Screw of each degree of freedom, in the world.
    pub screws: Vec<Screw>,
    sines: Vec<f64>,
    cosines: Vec<f64>,
}

impl Carriers for Frames {
    #[inline(always)]
    fn place(&self, joint: usize) -> DVec3 {
        self.positions[joint]
    }

    #[inline(always)]
    fn axis(&self, joint: usize, axis: usize) -> DVec3 {
        self.rotations[joint].col(axis)
    }
}

/// Forward kinematics of all joints of a skeleton, or of those that some joints hang on.
#[derive(Debug, Clone)]
pub struct Kinematics {
    steps: Vec<Step>,
    n_bones: usize,
    freedoms: Vec<Freedom>,
}

#[derive(Debug, Clone)]
struct Step {
    bone: usize,
    parent: Option<usize>,
    offset: DVec3,
    /// `None` where the joint's frame is its parent's at rest.
    rest: Option<DMat3>,
    translations: Vec<(u32, u8)>,
    /// Left factor first.
    rotations: Vec<(u32, u8)>,
}

impl Kinematics {
    /// Of all joints.
    pub fn new(skeleton: &Skeleton) -> Self {
        Self::with_bones(skeleton, |_| true)
    }

    /// Of the given joints and their ancestors.
    pub fn of_bones(skeleton: &Skeleton, bones: impl IntoIterator<Item = usize>) -> Self {
        let mut is_needed = vec![false; skeleton.n_bones()];
        for bone in bones {
            let mut ancestry = skeleton.ancestry(bone);
            while let Some(above) = ancestry.next().filter(|&above| !is_needed[above]) {
                is_needed[above] = true;
            }
        }
        Self::with_bones(skeleton, |bone| is_needed[bone])
    }

    fn with_bones(skeleton: &Skeleton, is_needed: impl Fn(usize) -> bool) -> Self {
        let steps = (0..skeleton.n_bones())
            .filter(|&bone| is_needed(bone))
            .map(|bone| step(skeleton, bone))
            .collect();
        Self { steps, n_bones: skeleton.n_bones(), freedoms: skeleton.freedoms().to_vec() }
    }

    /// Positions, rotations and screws at a pose. The values must be as many as the skeleton has degrees of freedom.
    #[inline]
    pub fn compute(&self, values: &[f64], out: &mut Frames) {
        debug_assert_eq!(values.len(), self.freedoms.len());
        out.positions.resize(self.n_bones, DVec3::ZERO);
        out.rotations.resize(self.n_bones, DMat3::IDENTITY);
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
            + self.freedoms.len() * (size_of::<Freedom>() + size_of::<Screw>() + 16)
            + self.n_bones * (size_of::<DVec3>() + size_of::<DMat3>())
    }

    /// The same where `out` has its size already.
    #[inline(always)]
    pub(crate) fn compute_sized(&self, values: &[f64], out: &mut Frames) {
        trig::sin_cos(values, &mut out.sines, &mut out.cosines);
        for step in &self.steps {
            let (from, origin) = match step.parent {
                Some(parent) => (out.rotations[parent], out.positions[parent]),
                None => (DMat3::IDENTITY, DVec3::ZERO),
            };
            let mut offset = step.offset;
            for &(freedom, axis) in &step.translations {
                offset[axis as usize] = values[freedom as usize];
                out.screws[freedom as usize] =
                    Screw { linear: from.col(axis as usize), angular: DVec3::ZERO };
            }
            let position = origin + from * offset;
            let mut turned = match &step.rest {
                Some(rest) => from * *rest,
                None => from,
            };
            for &(freedom, axis) in &step.rotations {
                let d = freedom as usize;
                out.screws[d] = turn(&mut turned, axis, out.sines[d], out.cosines[d], position);
            }
            out.positions[step.bone] = position;
            out.rotations[step.bone] = turned;
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
    let bone = &skeleton.bones()[index];
    let freedoms = bone.freedoms.clone().map(|d| (d as u32, skeleton.freedoms()[d]));
    let (rotations, translations): (Vec<_>, Vec<_>) =
        freedoms.partition(|(_, freedom)| freedom.is_rotation());
    let mut rotations: Vec<(u32, u8)> =
        rotations.iter().map(|(d, freedom)| (*d, freedom.axis() as u8)).collect();
    let order = bone.euler.axes();
    rotations.sort_by_key(|&(_, axis)| order.iter().position(|&a| a == axis as usize));
    let rest = DMat3::from_quat(bone.rest_rotation());
    Step {
        bone: index,
        parent: bone.parent,
        offset: bone.offset,
        rest: (rest != DMat3::IDENTITY).then_some(rest),
        translations: translations.iter().map(|(d, freedom)| (*d, freedom.axis() as u8)).collect(),
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
            let [mut at, mut low, mut high] = [Frames::default(), Frames::default(), Frames::default()];
            kinematics.compute(&seed, &mut at);
            for d in 0..16 {
                let mut moved = seed.clone();
                moved[d] = seed[d] - 1e-6;
                kinematics.compute(&moved, &mut low);
                moved[d] = seed[d] + 1e-6;
                kinematics.compute(&moved, &mut high);
                let of = skeleton.freedoms()[d];
                for bone in 0..6 {
                    let is_moved = skeleton.is_above(of.bone, bone);
                    let expected = if is_moved { at.screws[d].velocity(at.positions[bone]) } else { DVec3::ZERO };
                    let actual = (high.positions[bone] - low.positions[bone]) / 2e-6;
                    prop_assert!((expected - actual).length() < 1e-8, "freedom {d} joint {bone}");
                }
            }
        }
    }

    #[test]
    fn a_part_is_as_the_whole() {
        let skeleton = Skeleton::from_rig(&odd_rig()).unwrap();
        let values: Vec<f64> = (0..16).map(|i| 0.1 * f64::from(i)).collect();
        let [mut whole, mut part] = [Frames::default(), Frames::default()];
        Kinematics::new(&skeleton).compute(&values, &mut whole);
        Kinematics::of_bones(&skeleton, [4]).compute(&values, &mut part);
        for bone in [0, 1, 2, 4] {
            assert_eq!(whole.positions[bone], part.positions[bone]);
        }
        assert_eq!(part.positions[5], DVec3::ZERO);
    }
}
