//! Deformation gradients of facets, and their rotation, scale and shear.
//!
//! # Source
//! Antonopoulos (2010), §2.3.2, eqs. 2.60–2.66, and §3.4.4, eqs. 3.17–3.21. Differs: eq. 2.64 maps the pose to the rest
//! state; here `C` maps rest to pose, so that its factors describe the deformation of the facet. The rotation angle
//! comes from the quaternion, which is defined where the axis of eq. 3.17 is not (the identity).
//! # Symbols
//! `C` [3 × 3] gradient; `R` rotation; `S` symmetric stretch, `C = R S`; `Sc` diagonal of `S`; `Sh` the rest
//! # Cost
//! Linear in the number of facets; one 3 × 3 singular value decomposition each.
//! # Limits
//! A facet without area at rest has the identity as its gradient.

use crate::{GeomError, Mesh, linalg::polar};
use glam::{DMat3, DQuat, DVec3};

/// How a facet is deformed, split into kinds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct FacetDeformation {
    /// Angle turned, in radians (eq. 3.18).
    pub rotation: f64,
    /// Frobenius norm of the scale part (eq. 3.19); √3 for a rigid motion.
    pub scale: f64,
    /// Frobenius norm of the shear part (eq. 3.19).
    pub shear: f64,
}

impl FacetDeformation {
    /// Sum of the three (eq. 3.20).
    pub fn total(&self) -> f64 {
        self.rotation + self.scale + self.shear
    }
}

/// `C` of every facet from rest to a pose (eqs. 2.62–2.64).
///
/// # Errors
/// If the pose has another number of vertices.
pub fn compute_deformation_gradients(rest: &Mesh, pose: &[DVec3]) -> Result<Vec<DMat3>, GeomError> {
    if pose.len() != rest.n_vertices() {
        return Err(GeomError::Length { what: "pose", expected: rest.n_vertices(), actual: pose.len() });
    }
    let gradient = |face: &[u32; 3]| {
        let from = frame(face.map(|v| rest.positions()[v as usize]));
        let to = frame(face.map(|v| pose[v as usize]));
        match from {
            Some(from) => to.unwrap_or_else(|| flat_frame(face.map(|v| pose[v as usize]))) * from.inverse(),
            None => DMat3::IDENTITY,
        }
    };
    Ok(rest.faces().iter().map(gradient).collect())
}

/// Two edges and the normal scaled as eq. 2.62; `None` without area.
fn frame([a, b, c]: [DVec3; 3]) -> Option<DMat3> {
    let normal = (b - a).cross(c - a);
    let length = normal.length();
    (length > 0.0).then(|| DMat3::from_cols(b - a, c - a, normal / length.sqrt()))
}

/// The frame of a collapsed facet, which has no normal.
fn flat_frame([a, b, c]: [DVec3; 3]) -> DMat3 {
    DMat3::from_cols(b - a, c - a, DVec3::ZERO)
}

/// Rotation, scale and shear of one gradient (eqs. 2.65–2.66, 3.17–3.19).
pub fn decompose_gradient(gradient: &DMat3) -> FacetDeformation {
    let (r, s) = polar(gradient);
    let diagonal = DVec3::new(s.x_axis.x, s.y_axis.y, s.z_axis.z);
    let shear = s - DMat3::from_diagonal(diagonal);
    let q = DQuat::from_mat3(&r);
    FacetDeformation {
        rotation: 2.0 * q.xyz().length().atan2(q.w.abs()),
        scale: diagonal.length(),
        shear: shear.to_cols_array().iter().map(|x| x * x).sum::<f64>().sqrt(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Warnings, mesh::tests::cube};
    use proptest::prelude::*;

    #[test]
    fn a_facet_that_collapses_is_not_rigid() {
        let rest = Mesh::new(vec![DVec3::ZERO, DVec3::X, DVec3::Y], vec![[0, 1, 2]]).unwrap();
        let gradients = compute_deformation_gradients(&rest, &[DVec3::ZERO; 3]).unwrap();
        assert_eq!(decompose_gradient(&gradients[0]).scale, 0.0);
        let line = [DVec3::ZERO, DVec3::X, DVec3::X * 0.5];
        let c = compute_deformation_gradients(&rest, &line).unwrap()[0];
        assert!((c * DVec3::Y).distance(DVec3::X * 0.5) < 1e-12 && (c * DVec3::Z).length() < 1e-12);
    }

    proptest! {
        /// An affine map of the whole mesh is recovered in every facet's plane, and a rigid one decomposes
        /// into its angle, a scale of √3 and no shear.
        #[test]
        fn gradients_recover_the_map(axis in prop::array::uniform3(-1.0..1.0f64), angle in 0.0..3.1f64,
                                     entries in prop::array::uniform9(-1.0..1.0f64)) {
            let Some(axis) = DVec3::from_array(axis).try_normalize() else { return Ok(()) };
            let (mesh, _) = cube().triangulate(&mut Warnings::default());
            let turn = DMat3::from_axis_angle(axis, angle);
            let moved: Vec<_> = mesh.positions().iter().map(|p| turn * *p + DVec3::X).collect();
            for c in compute_deformation_gradients(&mesh, &moved).unwrap() {
                let d = decompose_gradient(&c);
                prop_assert!((d.rotation - angle).abs() < 1e-7, "{} {}", d.rotation, angle);
                prop_assert!((d.scale - 3f64.sqrt()).abs() < 1e-9 && d.shear < 1e-9);
            }
            let map = DMat3::from_cols_array(&entries);
            let bent: Vec<_> = mesh.positions().iter().map(|p| map * *p).collect();
            for (face, c) in compute_deformation_gradients(&mesh, &bent).unwrap().iter().enumerate() {
                let [a, b, _] = mesh.corners(face);
                let [x, y, z] = mesh.faces()[face].map(|v| bent[v as usize]);
                if (y - x).cross(z - x).length() > 1e-6 {
                    prop_assert!((*c * (b - a)).distance(map * (b - a)) < 1e-9);
                }
            }
        }
    }
}
