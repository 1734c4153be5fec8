//! Local transforms and poses.

use super::{DofKind, EulerOrder, Joint};
use glam::{DAffine3, DMat3, DQuat, DVec3};

/// Translation · rotation · scale, applied right to left.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transform {
    /// Metres, in the parent's space.
    pub translation: DVec3,
    /// Unit quaternion.
    pub rotation: DQuat,
    /// Factor along each own axis.
    pub scale: DVec3,
}

impl Default for Transform {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl Transform {
    /// No change.
    pub const IDENTITY: Self =
        Self { translation: DVec3::ZERO, rotation: DQuat::IDENTITY, scale: DVec3::ONE };

    /// A translation alone.
    pub fn from_translation(translation: DVec3) -> Self {
        Self { translation, ..Self::IDENTITY }
    }

    /// As a matrix.
    pub fn to_affine(self) -> DAffine3 {
        DAffine3::from_scale_rotation_translation(self.scale, self.rotation, self.translation)
    }

    /// Nearest transform to a matrix, and its largest error (zero unless the matrix is sheared).
    pub fn from_affine(affine: DAffine3) -> (Self, f64) {
        let (scale, rotation, translation) = affine.to_scale_rotation_translation();
        let ok = scale.is_finite() && rotation.is_finite() && rotation.length_squared() > 0.5;
        let result = if ok {
            Self { translation, rotation: rotation.normalize(), scale }
        } else {
            Self { translation, ..Self::IDENTITY }
        };
        let missed = affine.matrix3 - result.to_affine().matrix3;
        (result, missed.to_cols_array().into_iter().fold(0.0, |worst, x| x.abs().max(worst)))
    }

    /// Interpolate towards another: rotations along the shorter arc, the rest linearly.
    pub fn lerp(&self, other: &Self, share: f64) -> Self {
        Self {
            translation: self.translation.lerp(other.translation, share),
            rotation: self.rotation.slerp(other.rotation, share),
            scale: self.scale.lerp(other.scale, share),
        }
    }

    /// Whether all ten numbers are finite.
    pub fn is_finite(&self) -> bool {
        self.translation.is_finite() && self.rotation.is_finite() && self.scale.is_finite()
    }
}

/// A local transform for every joint of a rig.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pose {
    /// In the parent's space, replacing the rest transform.
    pub locals: Vec<Transform>,
}

impl EulerOrder {
    /// Rotation of three angles about x, y, z (radians), multiplied in this order.
    pub fn to_quat(self, angles: DVec3) -> DQuat {
        let about = |axis: usize| DQuat::from_axis_angle(DVec3::AXES[axis], angles[axis]);
        let [a, b, c] = self.axes();
        about(a) * about(b) * about(c)
    }

    /// Angles about x, y, z (radians) of a rotation; the middle one lies in −π/2 ..= π/2.
    pub fn to_angles(self, rotation: DQuat) -> DVec3 {
        let [i, j, k] = self.axes();
        // +1 for a cyclic order, −1 for an anti-cyclic one.
        let sign = if (i + 1) % 3 == j { 1.0 } else { -1.0 };
        let m = DMat3::from_quat(rotation);
        let at = |row: usize, col: usize| m.col(col)[row];
        let sine = (sign * at(i, k)).clamp(-1.0, 1.0);
        let mut angles = DVec3::ZERO;
        angles[j] = sine.asin();
        // Within 1e-12 of the pole only the sum of the outer angles is determined; the last one is zero.
        if sine.abs() < 1.0 - 1e-12 {
            angles[i] = (-sign * at(j, k)).atan2(at(k, k));
            angles[k] = (-sign * at(i, j)).atan2(at(i, i));
        } else {
            angles[i] = (sign * at(k, j)).atan2(at(j, j));
        }
        angles
    }
}

impl Joint {
    /// Local transform at given values of the joint's degrees of freedom (same order as `dofs`).
    ///
    /// Translations add to the rest translation; the rotation follows the rest rotation, in `euler` order.
    pub fn local_at(&self, values: &[f64]) -> Transform {
        let (mut shift, mut angles) = (DVec3::ZERO, DVec3::ZERO);
        for (dof, &value) in self.dofs.iter().zip(values) {
            match dof.kind {
                DofKind::Tx | DofKind::Ty | DofKind::Tz => shift[dof.kind as usize] += value,
                DofKind::Rx | DofKind::Ry | DofKind::Rz => angles[dof.kind as usize - 3] += value,
            }
        }
        Transform {
            translation: self.rest.translation + shift,
            rotation: self.rest.rotation * self.euler.to_quat(angles),
            scale: self.rest.scale,
        }
    }

    /// Values of the joint's degrees of freedom in a local transform: the inverse of [`Joint::local_at`] where
    /// the transform can be reached.
    pub fn values_at(&self, local: &Transform) -> Vec<f64> {
        let shift = local.translation - self.rest.translation;
        let angles = self.euler.to_angles(self.rest.rotation.inverse() * local.rotation);
        self.dofs
            .iter()
            .map(|dof| match dof.kind as usize {
                axis @ 0..3 => shift[axis],
                axis => angles[axis - 3],
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn angles_rebuild_the_rotation(order in 0..6usize, x in -3.1..3.1, y in -3.1..3.1, z in -3.1..3.1f64) {
            let order = EulerOrder::ALL[order];
            let rotation = order.to_quat(DVec3::new(x, y, z));
            let again = order.to_quat(order.to_angles(rotation));
            prop_assert!(rotation.dot(again).abs() > 1.0 - 1e-9, "{order:?}");
        }

        #[test]
        fn poles_rebuild_the_rotation(order in 0..6usize, outer in -3.0..3.0f64, up in any::<bool>()) {
            let order = EulerOrder::ALL[order];
            let [i, j, k] = order.axes();
            let mut angles = DVec3::ZERO;
            angles[i] = outer;
            angles[j] = if up { 1.0 } else { -1.0 } * std::f64::consts::FRAC_PI_2;
            angles[k] = 0.4;
            let rotation = order.to_quat(angles);
            let again = order.to_quat(order.to_angles(rotation));
            prop_assert!(rotation.dot(again).abs() > 1.0 - 1e-9, "{order:?}");
        }
    }
}
