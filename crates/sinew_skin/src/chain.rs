//! An affine bone as two joints: glTF joints turn, scale and shift, but do not shear.
//!
//! Any matrix is `A = R₁ S R₂` with rotations and a scale (its singular value decomposition), so a joint that turns by
//! `R₁` and scales by `S` with a child that turns by `R₂` does what the bone does. Among the many such triples of a
//! frame the one next to the frame before is taken, and `R₂` stays where it is whenever that costs less than a
//! tolerance: curves are then smooth between the keys, and most of them constant.

use glam::{DMat3, DQuat, DVec3};
use sinew_geom::linalg::svd3;

/// One frame of a chain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Link {
    pub outer: DQuat,
    pub scale: DVec3,
    pub inner: DQuat,
}

impl Link {
    pub const REST: Self = Self { outer: DQuat::IDENTITY, scale: DVec3::ONE, inner: DQuat::IDENTITY };

    /// The matrix the chain makes.
    #[cfg(test)]
    pub fn matrix(&self) -> DMat3 {
        DMat3::from_quat(self.outer) * DMat3::from_diagonal(self.scale) * DMat3::from_quat(self.inner)
    }
}

/// Entries of matrices that were found in single precision are off by this much anyway.
const ROUNDING: f64 = 4e-6;

/// Chains of a bone's matrices, frame after frame. `tolerance` is how far an entry may be off.
pub(crate) fn split_affine(matrices: &[DMat3], tolerance: f64) -> Vec<Link> {
    let mut last = Link::REST;
    let next = |a: &DMat3| {
        let link = with_inner(a, &last, tolerance.max(ROUNDING)).unwrap_or_else(|| nearest(a, &last));
        last =
            Link { outer: aligned(link.outer, last.outer), inner: aligned(link.inner, last.inner), ..link };
        last
    };
    matrices.iter().map(next).collect()
}

/// The same rotation on the side of `to`, so that curves do not go the long way.
fn aligned(q: DQuat, to: DQuat) -> DQuat {
    if q.dot(to) < 0.0 { -q } else { q }
}

/// The chain that keeps the inner rotation, if it makes the matrix.
fn with_inner(a: &DMat3, last: &Link, tolerance: f64) -> Option<Link> {
    let b = *a * DMat3::from_quat(last.inner).transpose();
    let columns = [b.x_axis, b.y_axis, b.z_axis];
    let lengths = DVec3::from_array(columns.map(DVec3::length));
    if lengths.min_element() < 1e-9 {
        return None;
    }
    // The rotation nearest to the directions of the columns; a mirror turns one scale negative.
    let sign = if b.determinant() < 0.0 { -1.0 } else { 1.0 };
    let units =
        DMat3::from_cols(columns[0] / lengths.x, columns[1] / lengths.y, sign * columns[2] / lengths.z);
    let (u, _, v) = svd3(&units);
    let outer = u * v.transpose();
    let scale =
        DVec3::new(outer.x_axis.dot(columns[0]), outer.y_axis.dot(columns[1]), outer.z_axis.dot(columns[2]));
    let missed = outer * DMat3::from_diagonal(scale) - b;
    let worst = missed.to_cols_array().iter().fold(0.0, |worst: f64, x| x.abs().max(worst));
    (worst <= tolerance).then(|| Link {
        outer: DQuat::from_mat3(&outer).normalize(),
        scale,
        inner: last.inner,
    })
}

/// Of the chains that make the matrix exactly, the one next to another.
fn nearest(a: &DMat3, last: &Link) -> Link {
    let (u, sigma, v) = svd3(a);
    let mut best = (f64::NEG_INFINITY, Link::REST);
    for p in signed_permutations() {
        let outer = DQuat::from_mat3(&(u * p)).normalize();
        let inner = DQuat::from_mat3(&(v * p).transpose()).normalize();
        let scale = (p.transpose() * DMat3::from_diagonal(sigma) * p).to_cols_array();
        let likeness = outer.dot(last.outer).abs() + inner.dot(last.inner).abs();
        if likeness > best.0 + 1e-12 {
            best = (likeness, Link { outer, scale: DVec3::new(scale[0], scale[4], scale[8]), inner });
        }
    }
    best.1
}

/// The 24 rotations that exchange axes.
fn signed_permutations() -> impl Iterator<Item = DMat3> {
    let axes = [DVec3::X, DVec3::Y, DVec3::Z];
    (0..3).flat_map(move |i| (0..3).filter(move |&j| j != i).map(move |j| (i, j))).flat_map(move |(i, j)| {
        [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)].map(|(s, t)| {
            let (x, y) = (s * axes[i], t * axes[j]);
            DMat3::from_cols(x, y, x.cross(y))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn worst(m: DMat3) -> f64 {
        m.to_cols_array().iter().fold(0.0, |worst: f64, x| x.abs().max(worst))
    }

    proptest! {
        /// Every matrix is made, also flat and mirrored ones, and the tolerance is kept.
        #[test]
        fn chains_make_their_matrices(
            entries in prop::collection::vec(prop::array::uniform9(-1.5..1.5f64), 1..6),
            tolerance in prop::sample::select(vec![0.0, 1e-6, 1e-3]),
        ) {
            let matrices: Vec<DMat3> = entries.iter().map(DMat3::from_cols_array).collect();
            for (link, a) in split_affine(&matrices, tolerance).iter().zip(&matrices) {
                prop_assert!(worst(link.matrix() - *a) < 1e-9 + tolerance.max(ROUNDING));
            }
        }

        /// Rotations that scale along fixed axes need no inner rotation, whatever the numbers' noise.
        #[test]
        fn what_does_not_shear_needs_no_inner_joint(angle in -3.0..3.0f64, noise in -1e-7..1e-7f64) {
            let turn = DMat3::from_rotation_y(angle);
            let matrices = [turn, turn * DMat3::from_diagonal(DVec3::new(1.0 + noise, 0.8, 1.1))];
            for link in split_affine(&matrices, 1e-6) {
                prop_assert_eq!(link.inner, DQuat::IDENTITY);
            }
        }
    }

    #[test]
    fn a_smooth_motion_has_smooth_curves() {
        let at = |t: f64| {
            let shear =
                DMat3::from_cols(DVec3::new(1.0, 0.3 * t.sin(), 0.0), DVec3::Y, DVec3::new(0.0, 0.0, 1.2));
            DMat3::from_rotation_z(0.3 * t) * shear
        };
        let matrices: Vec<DMat3> = (0..100).map(|f| at(0.05 * f as f64)).collect();
        let links = split_affine(&matrices, 1e-6);
        for (pair, matrices) in links.windows(2).zip(matrices.windows(2)) {
            let half = Link {
                outer: pair[0].outer.slerp(pair[1].outer, 0.5),
                scale: 0.5 * (pair[0].scale + pair[1].scale),
                inner: pair[0].inner.slerp(pair[1].inner, 0.5),
            };
            let between = 0.5 * (matrices[0] + matrices[1]);
            assert!(worst(half.matrix() - between) < 5e-3, "{}", worst(half.matrix() - between));
        }
    }
}
