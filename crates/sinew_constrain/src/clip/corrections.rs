//! Unknowns of a clip: corrections of some joints, relative to a given motion.
//!
//! # Source
//! Grassia, *Practical parameterization of rotations using the exponential map* (1998): corrections are small, so no
//! singularity is near. Joints with ranges are turned by their own angles, so that ranges are simple bounds.
//! # Symbols
//! `x` correction of a frame [n]; ball joint `R = R₀ exp(x)`; hinge `R = R₀ exp(k x)`; translation `p = p₀ + x`

use super::{JointFrames, body::ancestry};
use crate::{
    Screw,
    compile::Carrier,
    equations::{Columns, Equations},
};
use glam::{DMat3, DQuat, DVec3};
use sinew_geom::{DofKind, Pose, Rig};

/// How a joint may be corrected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CorrectionKind {
    /// Translation along the axes of the world.
    Shift,
    /// Rotation about any axis.
    Ball,
    /// Rotation about an axis of its own frame.
    Hinge(DVec3),
    /// Rotation by its own Euler angles, which have ranges.
    Angles,
}

/// A joint that may be corrected.
#[derive(Debug, Clone, PartialEq)]
pub struct CorrectedJoint {
    /// Joint of the rig.
    pub joint: usize,
    /// How.
    pub kind: CorrectionKind,
    /// Its first degree of freedom.
    pub first: usize,
    /// How many it has.
    pub n: usize,
    /// Kinds of its angles.
    angles: [usize; 3],
}

/// Degrees of freedom of a frame.
#[derive(Debug, Clone, Default)]
pub struct Corrections {
    /// Joints, parents first.
    pub joints: Vec<CorrectedJoint>,
    /// Degrees of freedom of a frame.
    pub n: usize,
    /// For each joint of the rig, the free joints that move it.
    movers: Vec<Vec<usize>>,
    /// Joints of the rig whose frames are computed, parents first.
    needed: Vec<usize>,
    /// Whether the joint of one degree of freedom is an ancestor of the joint of another, or the same.
    above: Vec<bool>,
}

/// Whether a joint has an angle with a range.
pub fn is_limited(joint: &sinew_geom::Joint) -> bool {
    joint.dofs.iter().any(|dof| dof.kind >= DofKind::Rx && dof.range.iter().any(|x| x.is_finite()))
}

impl Corrections {
    /// Corrections of joints; frames of `tracked` joints and their ancestors are computed.
    pub fn new(rig: &Rig, free: &[(usize, CorrectionKind)], tracked: &[usize]) -> Self {
        let mut free = free.to_vec();
        free.sort_by_key(|(joint, kind)| (*joint, *kind != CorrectionKind::Shift));
        free.dedup_by_key(|(joint, kind)| (*joint, *kind == CorrectionKind::Shift));
        let mut corrections = Self::default();
        for (joint, kind) in free {
            let kind = if kind != CorrectionKind::Shift && is_limited(&rig.joints()[joint]) {
                CorrectionKind::Angles
            } else {
                kind
            };
            let mut angles = [0; 3];
            let n = match kind {
                CorrectionKind::Shift | CorrectionKind::Ball => 3,
                CorrectionKind::Hinge(_) => 1,
                CorrectionKind::Angles => {
                    let dofs = rig.joints()[joint].dofs.iter().filter(|dof| dof.kind >= DofKind::Rx);
                    dofs.zip(&mut angles).map(|(dof, at)| *at = dof.kind as usize - 3).count()
                }
            };
            corrections.joints.push(CorrectedJoint { joint, kind, first: corrections.n, n, angles });
            corrections.n += n;
        }
        let moves =
            |mover: &CorrectedJoint, joint: usize| ancestry(rig, joint).any(|above| above == mover.joint);
        let movers = |joint: usize| {
            (0..corrections.joints.len()).filter(|&f| moves(&corrections.joints[f], joint)).collect()
        };
        corrections.movers = (0..rig.n_joints()).map(movers).collect();
        let is_needed =
            |joint: &usize| tracked.iter().any(|&t| ancestry(rig, t).any(|above| above == *joint));
        corrections.needed = (0..rig.n_joints()).filter(is_needed).collect();
        corrections.above = vec![false; corrections.n * corrections.n];
        for lower in &corrections.joints {
            for upper in corrections.movers[lower.joint].iter().map(|&f| &corrections.joints[f]) {
                for (i, j) in (0..upper.n).flat_map(|i| (0..lower.n).map(move |j| (i, j))) {
                    corrections.above[(upper.first + i) * corrections.n + lower.first + j] = true;
                }
            }
        }
        corrections
    }

    /// Bounds of the corrections of a frame whose motion is `base`, where joints have ranges.
    pub fn bounds(&self, rig: &Rig, base: &Pose, low: &mut [f64], high: &mut [f64]) {
        low.fill(f64::NEG_INFINITY);
        high.fill(f64::INFINITY);
        for free in self.joints.iter().filter(|free| free.kind == CorrectionKind::Angles) {
            let joint = &rig.joints()[free.joint];
            let angles =
                joint.euler.to_angles(joint.rest.rotation.inverse() * base.locals[free.joint].rotation);
            for k in 0..free.n {
                let axis = free.angles[k];
                let Some(dof) = joint.dofs.iter().find(|dof| dof.kind as usize == axis + 3) else { continue };
                low[free.first + k] = dof.range[0] - angles[axis];
                high[free.first + k] = dof.range[1] - angles[axis];
            }
        }
    }

    /// Correct a pose in place.
    pub fn apply(&self, rig: &Rig, base: &Pose, x: &[f64], out: &mut Pose) {
        for free in &self.joints {
            let x = &x[free.first..][..free.n];
            let local = base.locals[free.joint].rotation;
            out.locals[free.joint].rotation = match free.kind {
                CorrectionKind::Shift => continue,
                CorrectionKind::Ball => local * DQuat::from_scaled_axis(DVec3::new(x[0], x[1], x[2])),
                CorrectionKind::Hinge(axis) => local * DQuat::from_axis_angle(axis, x[0]),
                CorrectionKind::Angles => self.angles(rig, free, base, x).0,
            };
        }
    }

    /// Rotation of a joint that is turned by its angles, and its axes in the frame of its parent.
    fn angles(&self, rig: &Rig, free: &CorrectedJoint, base: &Pose, x: &[f64]) -> (DQuat, [DVec3; 3]) {
        let joint = &rig.joints()[free.joint];
        let rest = joint.rest.rotation;
        let from = joint.euler.to_angles(rest.inverse() * base.locals[free.joint].rotation);
        let mut angles = DVec3::ZERO;
        for k in 0..free.n {
            angles[free.angles[k]] = from[free.angles[k]] + x[k];
        }
        let mut turned = rest;
        let mut axes = [DVec3::ZERO; 3];
        for axis in joint.euler.axes() {
            axes[axis] = turned * DVec3::AXES[axis];
            turned *= DQuat::from_axis_angle(DVec3::AXES[axis], angles[axis]);
        }
        (turned, free.angles.map(|axis| axes[axis]))
    }

    /// Frames of the joints that matter, and the screws of all degrees of freedom. `world` must hold the base motion's
    /// frame or an earlier result for it.
    pub fn forward(
        &self,
        rig: &Rig,
        base: &Pose,
        x: &[f64],
        world: &mut JointFrames,
        screws: &mut Vec<Screw>,
    ) {
        screws.resize(self.n, Screw::default());
        let mut next = 0;
        for &joint in &self.needed {
            let (at, mut local) = (&rig.joints()[joint], base.locals[joint]);
            let above = at.parent.map_or(DQuat::IDENTITY, |p| world.rotations[p]);
            let mut shift = DVec3::ZERO;
            let mut inner = None;
            while let Some(free) = self.joints.get(next).filter(|free| free.joint <= joint) {
                next += 1;
                if free.joint < joint {
                    continue;
                }
                let x = &x[free.first..][..free.n];
                match free.kind {
                    CorrectionKind::Shift => {
                        shift = DVec3::new(x[0], x[1], x[2]);
                        for (screw, linear) in screws[free.first..].iter_mut().zip(DVec3::AXES) {
                            *screw = Screw { linear, angular: DVec3::ZERO };
                        }
                    }
                    CorrectionKind::Angles => {
                        let (turned, own) = self.angles(rig, free, base, x);
                        local.rotation = turned;
                        for k in 0..free.n {
                            screws[free.first + k].angular = above * own[k];
                        }
                    }
                    CorrectionKind::Ball => {
                        let turn = DVec3::new(x[0], x[1], x[2]);
                        local.rotation *= DQuat::from_scaled_axis(turn);
                        inner = Some((free.first, right_jacobian(turn)));
                    }
                    CorrectionKind::Hinge(axis) => {
                        local.rotation *= DQuat::from_axis_angle(axis, x[0]);
                        screws[free.first].angular = above * (local.rotation * axis);
                    }
                }
            }
            world.set(joint, at.parent, &local, shift);
            if let Some((first, jacobian)) = inner {
                let turned = DMat3::from_quat(world.rotations[joint]) * jacobian;
                for k in 0..3 {
                    screws[first + k].angular = turned.col(k);
                }
            }
        }
        for free in self.joints.iter().filter(|free| free.kind != CorrectionKind::Shift) {
            for screw in &mut screws[free.first..][..free.n] {
                screw.linear = world.positions[free.joint].cross(screw.angular);
            }
        }
    }

    /// Every degree of freedom that moves a point on a joint, and the velocity it gives it.
    pub fn columns(
        &self,
        joint: usize,
        point: DVec3,
        (world, screws): (&JointFrames, &[Screw]),
        out: &mut Vec<(usize, DVec3)>,
    ) {
        out.clear();
        for free in self.movers[joint].iter().map(|&f| &self.joints[f]) {
            for d in free.first..free.first + free.n {
                let velocity = match free.kind {
                    CorrectionKind::Shift => screws[d].linear,
                    _ => screws[d].angular.cross(point - world.positions[free.joint]),
                };
                out.push((d, velocity));
            }
        }
    }

    /// Columns of the equations of a rule.
    pub fn equation_columns(&self, equations: &Equations) -> Columns {
        let moving = |carrier: Carrier| {
            let is_axis = matches!(carrier, Carrier::Axis(..));
            let movers = self.movers[carrier.joint()].iter().map(|&f| &self.joints[f]);
            // A shift changes no axis, and a joint's own rotations do not move it.
            let moves = move |free: &&CorrectedJoint| match free.kind {
                CorrectionKind::Shift => !is_axis,
                _ => is_axis || free.joint != carrier.joint(),
            };
            movers.filter(moves).flat_map(|free| free.first..free.first + free.n)
        };
        Columns::new(equations, moving, |named| self.own_dofs(equations, named))
    }

    /// Degrees of freedom that change a named one: those of its own joint.
    pub fn own_dofs(&self, equations: &Equations, named: usize) -> Vec<u32> {
        let dof = &equations.named[named];
        let is_own = |free: &&CorrectedJoint| {
            free.joint == dof.joint && (free.kind != CorrectionKind::Shift) == dof.is_rotation
        };
        let own = self.joints.iter().filter(is_own);
        own.flat_map(|free| free.first as u32..(free.first + free.n) as u32).collect()
    }

    /// Whether everything that `lower` moves is also moved by `upper`, which comes no later.
    pub fn is_above(&self, upper: usize, lower: usize) -> bool {
        upper <= lower && self.above[upper * self.n + lower]
    }
}

/// `exp(x + dx) ≈ exp(x) exp(J dx)`.
fn right_jacobian(x: DVec3) -> DMat3 {
    let square = x.length_squared();
    let angle = square.sqrt();
    // Series for small angles, where the closed form loses digits.
    let (a, b) = if angle < 1e-3 {
        (0.5 - square / 24.0, 1.0 / 6.0 - square / 120.0)
    } else {
        ((1.0 - angle.cos()) / square, (angle - angle.sin()) / (square * angle))
    };
    let cross = DMat3::from_cols(DVec3::X.cross(x), DVec3::Y.cross(x), DVec3::Z.cross(x)) * -1.0;
    DMat3::IDENTITY - cross * a + cross * cross * b
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clip::tests::walker;
    use proptest::prelude::*;
    use sinew_geom::Dof;

    fn free_walker() -> (Rig, Corrections) {
        let mut joints = walker(1.0).joints().to_vec();
        let find = |name: &str| walker(1.0).find(name).unwrap();
        let knee = find("LeftLeg");
        joints[knee].dofs = vec![
            Dof { kind: DofKind::Rx, range: [-0.1, 2.5] },
            Dof { kind: DofKind::Rz, range: [-1.5, 1.5] },
        ];
        let rig = Rig::new(joints).unwrap();
        let free = [
            (find("Hips"), CorrectionKind::Shift),
            (find("Hips"), CorrectionKind::Ball),
            (find("LeftUpLeg"), CorrectionKind::Ball),
            (knee, CorrectionKind::Ball),
            (find("LeftFoot"), CorrectionKind::Hinge(DVec3::new(0.6, 0.8, 0.0))),
        ];
        let corrections = Corrections::new(&rig, &free, &[find("LeftToeBase"), find("RightFoot")]);
        (rig, corrections)
    }

    proptest! {
        #[test]
        fn columns_are_derivatives(x in prop::collection::vec(-1.2..1.2f64, 12)) {
            let (rig, corrections) = free_walker();
            prop_assert_eq!(corrections.n, 12);
            let base = rig.rest_pose();
            let (mut world, mut screws) = (JointFrames::of(&rig, &base), Vec::new());
            for name in ["LeftToeBase", "RightFoot", "LeftLeg"] {
                let joint = rig.find(name).unwrap();
                let local = DVec3::new(0.1, -0.05, 0.2);
                corrections.forward(&rig, &base, &x, &mut world, &mut screws);
                let mut columns = Vec::new();
                corrections.columns(joint, world.point(joint, local), (&world, &screws), &mut columns);
                let mut place = |x: &[f64]| {
                    corrections.forward(&rig, &base, x, &mut world, &mut screws);
                    world.point(joint, local)
                };
                for d in 0..12 {
                    let [mut low, mut high] = [x.clone(), x.clone()];
                    (low[d], high[d]) = (x[d] - 1e-6, x[d] + 1e-6);
                    let expected = (place(&high) - place(&low)) / 2e-6;
                    let actual = columns.iter().find(|c| c.0 == d).map_or(DVec3::ZERO, |c| c.1);
                    prop_assert!((expected - actual).length() < 1e-7, "{name} {d}: {expected} {actual}");
                }
            }
        }

        #[test]
        fn applied_corrections_are_what_was_solved(x in prop::collection::vec(-0.9..0.9f64, 12)) {
            let (rig, corrections) = free_walker();
            let base = rig.rest_pose();
            let (mut world, mut screws) = (JointFrames::of(&rig, &base), Vec::new());
            corrections.forward(&rig, &base, &x, &mut world, &mut screws);
            let mut pose = base.clone();
            corrections.apply(&rig, &base, &x, &mut pose);
            pose.locals[0].translation += DVec3::new(x[0], x[1], x[2]);
            let again = JointFrames::of(&rig, &pose);
            let joint = rig.find("LeftToeBase").unwrap();
            prop_assert!((again.positions[joint] - world.positions[joint]).length() < 1e-12);
        }
    }

    #[test]
    fn ranges_bound_corrections() {
        let (rig, corrections) = free_walker();
        let mut base = rig.rest_pose();
        base.locals[rig.find("LeftLeg").unwrap()].rotation = DQuat::from_rotation_x(1.0);
        let (mut low, mut high) = (vec![0.0; 12], vec![0.0; 12]);
        corrections.bounds(&rig, &base, &mut low, &mut high);
        assert!((low[9] + 1.1).abs() < 1e-12 && (high[9] - 1.5).abs() < 1e-12, "{low:?} {high:?}");
        assert_eq!(low[0], f64::NEG_INFINITY);
    }
}
