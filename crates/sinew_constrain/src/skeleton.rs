//! A skeleton to be posed: named joints, chosen degrees of freedom, their ranges.

use crate::ConstrainError;
use glam::{DQuat, DVec3};
use sinew_geom::{DofKind, EulerOrder, Pose, Rig, Transform};
use std::ops::Range;

/// Joints in parent-first order and the degrees of freedom that may move them.
///
/// A pose is a vector with one value per degree of freedom, joint after joint, translations before rotations. A
/// translation is the joint's coordinate in its parent's space (so `Root.ty` is the height of the root), not a shift
/// from rest; a rotation is an angle about an axis of the joint's rest frame. Lengths are metres of the world, angles
/// radians. Joints without degrees of freedom stay at rest.
#[derive(Debug, Clone, PartialEq)]
pub struct Skeleton {
    joints: Vec<SkeletonJoint>,
    dofs: Vec<SkeletonDof>,
}

/// One joint of a [`Skeleton`].
#[derive(Debug, Clone, PartialEq)]
pub struct SkeletonJoint {
    /// Name; rules that use a name which is not unique are refused.
    pub name: String,
    /// Index of the parent, smaller than its own.
    pub parent: Option<usize>,
    /// Transform at rest in the parent's space.
    pub rest: Transform,
    /// Order in which its rotations are multiplied.
    pub euler: EulerOrder,
    /// Its degrees of freedom among those of the skeleton.
    pub dofs: Range<usize>,
    /// Place in the frame of the parent at rest, in metres of the world: scales of ancestors are multiplied in.
    pub offset: DVec3,
    /// Product of the scales of all ancestors.
    scale_above: f64,
}

/// One degree of freedom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SkeletonDof {
    /// Joint it belongs to.
    pub joint: usize,
    /// Which motion.
    pub kind: DofKind,
    /// Least and greatest value, metres or radians; infinite where there is no limit.
    pub range: [f64; 2],
}

impl SkeletonDof {
    /// Whether its value is an angle.
    pub fn is_rotation(&self) -> bool {
        self.kind >= DofKind::Rx
    }

    /// Its axis, 0 = x.
    pub fn axis(&self) -> usize {
        self.kind as usize % 3
    }
}

impl Skeleton {
    /// The skeleton of a rig, with the degrees of freedom its joints name. If no joint names any, roots move freely and all other
    /// joints turn freely.
    ///
    /// # Errors
    /// No joints, a joint with an uneven scale, or an empty range.
    pub fn from_rig(rig: &Rig) -> Result<Self, ConstrainError> {
        if rig.n_joints() == 0 {
            return Err(ConstrainError::NoJoints);
        }
        let is_unnamed = rig.joints().iter().all(|joint| joint.dofs.is_empty());
        let mut skeleton = Self { joints: Vec::with_capacity(rig.n_joints()), dofs: Vec::new() };
        for joint in rig.joints() {
            check_scale(&joint.name, joint.rest.scale)?;
            let scale_above = joint.parent.map_or(1.0, |parent| {
                let above: &SkeletonJoint = &skeleton.joints[parent];
                above.scale_above * above.rest.scale.x
            });
            let offset = joint.rest.translation * scale_above;
            let index = skeleton.joints.len();
            let start = skeleton.dofs.len();
            let named = |kind: DofKind| {
                let dof = joint.dofs.iter().find(|dof| dof.kind == kind)?;
                // Ranges of a rig are relative to rest, in its own unit.
                let at =
                    |x: f64| if kind < DofKind::Rx { offset[kind as usize] + x * scale_above } else { x };
                Some(SkeletonDof { joint: index, kind, range: dof.range.map(at) })
            };
            let unlimited = |kind: DofKind| {
                let is_free = joint.parent.is_none() || kind >= DofKind::Rx;
                is_free.then_some(SkeletonDof {
                    joint: index,
                    kind,
                    range: [f64::NEG_INFINITY, f64::INFINITY],
                })
            };
            let kinds = DofKind::ALL.into_iter();
            skeleton.dofs.extend(kinds.filter_map(|k| if is_unnamed { unlimited(k) } else { named(k) }));
            skeleton.joints.push(SkeletonJoint {
                name: joint.name.clone(),
                parent: joint.parent,
                rest: joint.rest,
                euler: joint.euler,
                dofs: start..skeleton.dofs.len(),
                offset,
                scale_above,
            });
        }
        (0..skeleton.n_dofs()).try_for_each(|dof| skeleton.check_range(dof))?;
        Ok(skeleton)
    }

    fn check_range(&self, dof: usize) -> Result<(), ConstrainError> {
        let [low, high] = self.dofs[dof].range;
        if low <= high { Ok(()) } else { Err(ConstrainError::Range { dof: self.dof_name(dof), low, high }) }
    }

    /// The joints, parents first.
    pub fn joints(&self) -> &[SkeletonJoint] {
        &self.joints
    }

    /// The degrees of freedom, in the order of the values of a pose.
    pub fn dofs(&self) -> &[SkeletonDof] {
        &self.dofs
    }

    /// Number of joints.
    pub fn n_joints(&self) -> usize {
        self.joints.len()
    }

    /// Number of degrees of freedom.
    pub fn n_dofs(&self) -> usize {
        self.dofs.len()
    }

    /// First joint of that name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.joints.iter().position(|joint| joint.name == name)
    }

    /// Degree of freedom of a joint.
    pub fn find_dof(&self, joint: usize, kind: DofKind) -> Option<usize> {
        self.joints[joint].dofs.clone().find(|&dof| self.dofs[dof].kind == kind)
    }

    /// Name of a degree of freedom, such as `KneeR.rx`.
    pub fn dof_name(&self, dof: usize) -> String {
        let SkeletonDof { joint, kind, .. } = self.dofs[dof];
        format!("{}.{}", self.joints[joint].name, kind.suffix())
    }

    /// The same skeleton with other degrees of freedom of one joint: the listed motions and no others. Motions it had before keep
    /// their ranges, new ones have none.
    #[must_use]
    pub fn with_dofs(&self, joint: usize, kinds: &[DofKind]) -> Self {
        let mut result = Self { joints: Vec::with_capacity(self.n_joints()), dofs: Vec::new() };
        for (index, old) in self.joints.iter().enumerate() {
            let start = result.dofs.len();
            let had = &self.dofs[old.dofs.clone()];
            if index == joint {
                for kind in DofKind::ALL.into_iter().filter(|kind| kinds.contains(kind)) {
                    let range = had.iter().find(|dof| dof.kind == kind).map(|dof| dof.range);
                    let range = range.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
                    result.dofs.push(SkeletonDof { joint, kind, range });
                }
            } else {
                result.dofs.extend(had);
            }
            result.joints.push(SkeletonJoint { dofs: start..result.dofs.len(), ..old.clone() });
        }
        result
    }

    /// Set the range of one degree of freedom, in metres or radians.
    ///
    /// # Errors
    /// An empty range.
    pub fn set_range(&mut self, dof: usize, range: [f64; 2]) -> Result<(), ConstrainError> {
        let old = std::mem::replace(&mut self.dofs[dof].range, range);
        self.check_range(dof).inspect_err(|_| self.dofs[dof].range = old)
    }

    /// Values of the pose at rest.
    pub fn rest_values(&self) -> Vec<f64> {
        let at_rest = |dof: &SkeletonDof| {
            if dof.is_rotation() { 0.0 } else { self.joints[dof.joint].offset[dof.axis()] }
        };
        self.dofs.iter().map(at_rest).collect()
    }

    /// Values nearest to a pose of the rig this skeleton was made from. Motion of joints without degrees of freedom is lost; see
    /// [`Skeleton::with_rest_pose`]. Angles come out within half a turn of zero.
    ///
    /// # Errors
    /// A pose with another number of joints.
    pub fn values_at(&self, pose: &Pose) -> Result<Vec<f64>, ConstrainError> {
        self.check_pose(pose)?;
        let mut values = vec![0.0; self.n_dofs()];
        for (joint, local) in self.joints.iter().zip(&pose.locals) {
            let angles = joint.euler.to_angles(joint.rest.rotation.inverse() * local.rotation);
            for dof in joint.dofs.clone() {
                let SkeletonDof { kind, .. } = self.dofs[dof];
                values[dof] = match kind as usize {
                    axis @ 0..3 => local.translation[axis] * joint.scale_above,
                    axis => angles[axis - 3],
                };
            }
        }
        Ok(values)
    }

    /// The pose of the rig at given values.
    ///
    /// # Errors
    /// Another number of values.
    pub fn pose_at(&self, values: &[f64]) -> Result<Pose, ConstrainError> {
        self.check_values(values)?;
        let local = |joint: &SkeletonJoint| {
            let mut local = joint.rest;
            let mut angles = DVec3::ZERO;
            for dof in joint.dofs.clone() {
                match self.dofs[dof].kind as usize {
                    axis @ 0..3 => local.translation[axis] = values[dof] / joint.scale_above,
                    axis => angles[axis - 3] = values[dof],
                }
            }
            local.rotation *= joint.euler.to_quat(angles);
            local
        };
        Ok(Pose { locals: self.joints.iter().map(local).collect() })
    }

    /// The same skeleton with joints that have no degree of freedom at rest as in a pose, so that posing keeps what that pose does
    /// to them.
    ///
    /// # Errors
    /// A pose with another number of joints, or one with numbers that are not finite.
    pub fn with_rest_pose(&self, pose: &Pose) -> Result<Self, ConstrainError> {
        self.check_pose(pose)?;
        let mut result = self.clone();
        for (joint, local) in result.joints.iter_mut().zip(&pose.locals) {
            if joint.dofs.is_empty() {
                joint.rest.rotation = local.rotation;
                joint.rest.translation = local.translation;
                joint.offset = local.translation * joint.scale_above;
            }
        }
        Ok(result)
    }

    /// Whether a joint is another one or one of its ancestors.
    pub fn is_above(&self, ancestor: usize, joint: usize) -> bool {
        self.ancestry(joint).any(|above| above == ancestor)
    }

    /// A joint, its parent, and so on up to a root.
    pub fn ancestry(&self, joint: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(joint), |&at| self.joints[at].parent)
    }

    pub(crate) fn check_values(&self, values: &[f64]) -> Result<(), ConstrainError> {
        check_length("the pose", self.n_dofs(), values.len())?;
        match values.iter().position(|x| !x.is_finite()) {
            Some(index) => Err(ConstrainError::NonFinite { what: "value of the pose", index }),
            None => Ok(()),
        }
    }

    fn check_pose(&self, pose: &Pose) -> Result<(), ConstrainError> {
        check_length("the pose", self.n_joints(), pose.locals.len())?;
        match pose.locals.iter().position(|local| !local.is_finite()) {
            Some(index) => Err(ConstrainError::NonFinite { what: "transform of joint", index }),
            None => Ok(()),
        }
    }
}

impl SkeletonJoint {
    /// Rotation at rest in the parent's space.
    pub fn rest_rotation(&self) -> DQuat {
        self.rest.rotation
    }
}

fn check_length(what: &'static str, expected: usize, actual: usize) -> Result<(), ConstrainError> {
    if expected == actual { Ok(()) } else { Err(ConstrainError::Length { what, expected, actual }) }
}

/// Relative difference of scales that counts as rounding.
const MAX_SCALE_DIFFERENCE: f64 = 1e-4;

fn check_scale(name: &str, scale: DVec3) -> Result<(), ConstrainError> {
    let is_even = (scale - DVec3::splat(scale.x)).abs().max_element() <= MAX_SCALE_DIFFERENCE * scale.x;
    if is_even && scale.x > 0.0 {
        Ok(())
    } else {
        Err(ConstrainError::Scale { joint: name.to_owned(), scale: scale.to_array() })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{Kinematics, SkeletonFrames};
    use proptest::prelude::*;
    use sinew_geom::{Dof, Joint, Rig};

    /// A chain with rest rotations, scales, sliding and turning joints in all Euler orders.
    pub(crate) fn odd_rig() -> Rig {
        let mut joints = Vec::new();
        for i in 0..6 {
            let x = i as f64;
            let rest = Transform {
                translation: DVec3::new(0.1 + 0.02 * x, 0.3 - 0.1 * x, 0.05 * x),
                rotation: EulerOrder::Xzy.to_quat(DVec3::new(0.3 * x, -0.2, 0.1 + 0.2 * x)),
                scale: DVec3::splat(1.0 + 0.25 * f64::from(i % 2)),
            };
            let parent = if i == 0 { None } else { Some(if i == 4 { 2 } else { i as usize - 1 }) };
            let mut joint = Joint::new(format!("j{i}"), parent, rest);
            joint.euler = EulerOrder::ALL[i as usize];
            let kinds: &[DofKind] = match i {
                0 => &DofKind::ALL,
                1 => &[DofKind::Rz, DofKind::Rx],
                3 => &[],
                4 => &[DofKind::Ty, DofKind::Ry],
                _ => &[DofKind::Rx, DofKind::Ry, DofKind::Rz],
            };
            joint.dofs = kinds.iter().map(|&kind| Dof { kind, range: [-2.0, 2.0] }).collect();
            joints.push(joint);
        }
        Rig::new(joints).unwrap()
    }

    proptest! {
        #[test]
        fn values_and_poses_are_the_same_thing(seed in prop::collection::vec(-1.2..1.2f64, 16)) {
            let skeleton = Skeleton::from_rig(&odd_rig()).unwrap();
            prop_assert_eq!(skeleton.n_dofs(), 16);
            let pose = skeleton.pose_at(&seed).unwrap();
            let again = skeleton.values_at(&pose).unwrap();
            for (a, b) in seed.iter().zip(&again) {
                prop_assert!((a - b).abs() < 1e-9, "{seed:?} {again:?}");
            }
        }

        #[test]
        fn joints_stand_where_the_rig_says(seed in prop::collection::vec(-3.0..3.0f64, 16)) {
            let rig = odd_rig();
            let skeleton = Skeleton::from_rig(&rig).unwrap();
            let mut world = Vec::new();
            rig.forward(&skeleton.pose_at(&seed).unwrap(), &mut world).unwrap();
            let mut frames = SkeletonFrames::default();
            Kinematics::new(&skeleton).compute(&seed, &mut frames);
            for (i, world) in world.iter().enumerate() {
                prop_assert!((frames.positions[i] - world.translation).length() < 1e-12, "joint {i}");
                let turned = world.matrix3.x_axis.normalize();
                prop_assert!((frames.rotations[i].x_axis - turned).length() < 1e-12, "joint {i}");
            }
        }
    }

    #[test]
    fn rest_is_rest() {
        let rig = odd_rig();
        let skeleton = Skeleton::from_rig(&rig).unwrap();
        let pose = skeleton.pose_at(&skeleton.rest_values()).unwrap();
        for (a, b) in pose.locals.iter().zip(&rig.rest_pose().locals) {
            assert!((a.translation - b.translation).length() < 1e-15);
            assert!(a.rotation.dot(b.rotation).abs() > 1.0 - 1e-15);
        }
        let other = skeleton.with_rest_pose(&pose).unwrap();
        assert_eq!(other.dofs(), skeleton.dofs());
    }

    #[test]
    fn freedom_can_be_chosen() {
        let skeleton = Skeleton::from_rig(&odd_rig()).unwrap();
        let other = skeleton.with_dofs(1, &[DofKind::Ry, DofKind::Rx]);
        assert_eq!(other.n_dofs(), 16);
        let names: Vec<String> = (0..16).map(|f| other.dof_name(f)).collect();
        assert_eq!(names[6..9], ["j1.rx", "j1.ry", "j2.rx"]);
        assert_eq!(other.dofs()[6].range, [-2.0, 2.0]);
        assert_eq!(other.dofs()[7].range, [f64::NEG_INFINITY, f64::INFINITY]);
        assert_eq!(other.find_dof(1, DofKind::Ry), Some(7));
    }

    #[test]
    fn rigs_without_named_freedom_move_freely() {
        let joints = vec![
            Joint::new("a", None, Transform::IDENTITY),
            Joint::new("b", Some(0), Transform::from_translation(DVec3::Y)),
        ];
        let skeleton = Skeleton::from_rig(&Rig::new(joints).unwrap()).unwrap();
        assert_eq!(skeleton.joints()[0].dofs, 0..6);
        assert_eq!(skeleton.joints()[1].dofs, 6..9);
    }

    #[test]
    fn what_cannot_be_posed_is_refused() {
        assert_eq!(Skeleton::from_rig(&Rig::default()), Err(ConstrainError::NoJoints));
        let mut joint = Joint::new("a", None, Transform::IDENTITY);
        joint.rest.scale.y = 2.0;
        let rig = Rig::new(vec![joint.clone()]).unwrap();
        assert!(matches!(Skeleton::from_rig(&rig), Err(ConstrainError::Scale { .. })));
        joint.rest.scale = DVec3::ONE;
        joint.dofs = vec![Dof { kind: DofKind::Rx, range: [1.0, -1.0] }];
        let rig = Rig::new(vec![joint]).unwrap();
        assert!(matches!(Skeleton::from_rig(&rig), Err(ConstrainError::Range { .. })));
        let skeleton = Skeleton::from_rig(&odd_rig()).unwrap();
        assert!(skeleton.pose_at(&[0.0]).is_err());
        assert!(skeleton.pose_at(&[f64::NAN; 16]).is_err());
        assert!(skeleton.values_at(&Pose::default()).is_err());
    }
}
