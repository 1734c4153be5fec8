//! Values of a skeleton's degrees of freedom, measured on frames of joints.

use crate::{Skeleton, SkeletonDof, joint_frames::JointFrames};
use glam::{DQuat, DVec3};
use sinew_geom::EulerOrder;

/// A degree of freedom that an expression names.
#[derive(Debug, Clone)]
pub(crate) struct NamedDof {
    /// Index among those of the skeleton.
    pub dof: usize,
    pub joint: usize,
    pub parent: Option<usize>,
    pub is_rotation: bool,
    axis: usize,
    euler: EulerOrder,
    rest: DQuat,
}

/// The value of a degree of freedom and how it changes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MeasuredDof {
    /// Metres or radians.
    pub value: f64,
    /// Derivative by the velocity of the joint, or by its angular velocity, relative to the parent; in the world.
    pub gradient: DVec3,
}

impl NamedDof {
    pub fn new(skeleton: &Skeleton, dof: usize) -> Self {
        let of: SkeletonDof = skeleton.dofs()[dof];
        let joint = &skeleton.joints()[of.joint];
        Self {
            dof,
            joint: of.joint,
            parent: joint.parent,
            is_rotation: of.is_rotation(),
            axis: of.axis(),
            euler: joint.euler,
            rest: joint.rest_rotation(),
        }
    }

    pub fn measure(&self, frames: &JointFrames) -> MeasuredDof {
        let above = self.parent.map_or(DQuat::IDENTITY, |parent| frames.rotations[parent]);
        if self.is_rotation {
            let base = above * self.rest;
            let turn = self.rest.inverse() * (above.inverse() * frames.rotations[self.joint]);
            let angles = self.euler.to_angles(turn);
            let gradient = base * angle_gradients(self.euler, angles)[self.axis];
            MeasuredDof { value: angles[self.axis], gradient }
        } else {
            let from = self.parent.map_or(DVec3::ZERO, |parent| frames.positions[parent]);
            let along = above * DVec3::AXES[self.axis];
            MeasuredDof { value: along.dot(frames.positions[self.joint] - from), gradient: along }
        }
    }
}

/// Cosines of the middle angle below this are taken for the pole, where the outer angles have no derivatives.
const MIN_COSINE: f64 = 1e-4;

/// How Euler angles change with the angular velocity of a rotation, in the frame the rotation begins in: the dual basis
/// of the axes. At the pole, where the outer axes are one, only the middle angle has a derivative.
fn angle_gradients(order: EulerOrder, angles: DVec3) -> [DVec3; 3] {
    let [i, j, k] = order.axes();
    let first = DVec3::AXES[i];
    let turned = DQuat::from_axis_angle(first, angles[i]);
    let second = turned * DVec3::AXES[j];
    let third = turned * (DQuat::from_axis_angle(DVec3::AXES[j], angles[j]) * DVec3::AXES[k]);
    let volume = first.dot(second.cross(third));
    let mut gradients = [DVec3::ZERO; 3];
    // The middle axis is at right angles to both others.
    gradients[j] = second;
    if volume.abs() > MIN_COSINE {
        gradients[i] = second.cross(third) / volume;
        gradients[k] = first.cross(second) / volume;
    }
    gradients
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn gradients_are_derivatives(angles in prop::array::uniform3(-1.4..1.4f64), outer in -3.0..3.0f64) {
            for order in EulerOrder::ALL {
                let mut angles = DVec3::from_array(angles);
                angles[order.axes()[2]] = outer;
                let turn = order.to_quat(angles);
                let gradients = angle_gradients(order, order.to_angles(turn));
                for axis in DVec3::AXES {
                    let at = |by: f64| order.to_angles(DQuat::from_scaled_axis(axis * by) * turn);
                    let slope = (at(1e-6) - at(-1e-6)) / 2e-6;
                    for (k, gradient) in gradients.iter().enumerate() {
                        prop_assert!((gradient.dot(axis) - slope[k]).abs() < 1e-6, "{order:?} {angles} {k}");
                    }
                }
            }
        }
    }

    #[test]
    fn at_the_pole_nothing_is_infinite() {
        for order in EulerOrder::ALL {
            let mut angles = DVec3::new(0.3, 0.3, 0.3);
            angles[order.axes()[1]] = std::f64::consts::FRAC_PI_2;
            let gradients = angle_gradients(order, angles);
            assert!(
                gradients.iter().all(|gradient| gradient.is_finite() && gradient.length() <= 1.0 + 1e-12)
            );
        }
    }
}
