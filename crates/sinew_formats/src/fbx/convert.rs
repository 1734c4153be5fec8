//! Numbers of `ufbx` as ours.

use glam::{DAffine3, DMat3, DQuat, DVec3, Vec3};
use sinew_geom::Transform;

pub(super) fn dvec3(v: ufbx::Vec3) -> DVec3 {
    DVec3::new(v.x, v.y, v.z)
}

/// In single precision; what is not finite becomes zero.
pub(super) fn vec3(v: ufbx::Vec3) -> Vec3 {
    let v = dvec3(v).as_vec3();
    if v.is_finite() { v } else { Vec3::ZERO }
}

/// A rotation of unit length.
pub(super) fn quat(q: ufbx::Quat) -> DQuat {
    let q = DQuat::from_xyzw(q.x, q.y, q.z, q.w);
    let unit = q.normalize();
    if unit.is_finite() { unit } else { DQuat::IDENTITY }
}

pub(super) fn affine(m: &ufbx::Matrix) -> DAffine3 {
    let column = |x, y, z| DVec3::new(x, y, z);
    DAffine3 {
        matrix3: DMat3::from_cols(
            column(m.m00, m.m10, m.m20),
            column(m.m01, m.m11, m.m21),
            column(m.m02, m.m12, m.m22),
        ),
        translation: column(m.m03, m.m13, m.m23),
    }
}

/// A transform, finite: the identity if it is not.
pub(super) fn transform(t: &ufbx::Transform) -> Transform {
    let (translation, scale) = (dvec3(t.translation), dvec3(t.scale));
    let is_finite = translation.is_finite() && scale.is_finite();
    let moved = Transform { translation, rotation: quat(t.rotation), scale };
    if is_finite { moved } else { Transform::IDENTITY }
}
