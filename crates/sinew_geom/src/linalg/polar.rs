//! Singular values and polar factors of 3 × 3 matrices.
//!
//! # Source
//! One-sided Jacobi rotations (Hestenes 1958), which compute every singular value to the rounding error of the largest.
//! # Cost
//! About four sweeps of three rotations.

use glam::{DMat3, DVec3};

/// `A = U diag(σ) Vᵀ` with `U`, `V` rotations and |σ| decreasing; the last σ is negative if `A` mirrors.
pub fn svd3(a: &DMat3) -> (DMat3, DVec3, DMat3) {
    let mut columns = [a.x_axis, a.y_axis, a.z_axis];
    let mut v = [DVec3::X, DVec3::Y, DVec3::Z];
    let noise = f64::EPSILON * columns.iter().map(|c| c.length_squared()).sum::<f64>().sqrt();
    // Convergence is quadratic; 12 sweeps are never reached by finite input.
    for _ in 0..12 {
        let mut turned = false;
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            let (x, y, xy) =
                (columns[i].length_squared(), columns[j].length_squared(), columns[i].dot(columns[j]));
            // Orthogonal up to the rounding `noise` of the shorter of the two.
            let (long, short) = (x.max(y).sqrt(), x.min(y).sqrt());
            if xy.abs() <= long * (f64::EPSILON * short).max(0.1 * noise) {
                continue;
            }
            turned = true;
            let zeta = (y - x) / (2.0 * xy);
            let t = 1f64.copysign(zeta) / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
            let c = 1.0 / (1.0 + t * t).sqrt();
            for pair in [&mut columns, &mut v] {
                let (p, q) = (pair[i], pair[j]);
                pair[i] = c * (p - t * q);
                pair[j] = c * (q + t * p);
            }
        }
        if !turned {
            break;
        }
    }
    sort_columns(&mut columns, &mut v);
    let u0 = columns[0].try_normalize().unwrap_or(DVec3::X);
    let u1 = perpendicular(columns[1], u0).unwrap_or_else(|| u0.any_orthonormal_vector());
    let u2 = u0.cross(u1);
    let sigma = DVec3::new(u0.dot(columns[0]), u1.dot(columns[1]), u2.dot(columns[2]));
    (DMat3::from_cols(u0, u1, u2), sigma, DMat3::from_cols(v[0], v[1], v[2]))
}

/// Direction of a column that should be orthogonal to `u0`; a column of rounding noise may have none.
fn perpendicular(column: DVec3, u0: DVec3) -> Option<DVec3> {
    let direction = column.try_normalize()?;
    let along = direction - u0 * u0.dot(direction);
    (along.length_squared() > 0.25).then(|| along.normalize())
}

/// Longest column first; a swap negates one column, so that `v` stays a rotation.
fn sort_columns(columns: &mut [DVec3; 3], v: &mut [DVec3; 3]) {
    for (i, j) in [(0, 1), (1, 2), (0, 1)] {
        if columns[i].length_squared() < columns[j].length_squared() {
            for pair in [&mut *columns, &mut *v] {
                (pair[i], pair[j]) = (pair[j], -pair[i]);
            }
        }
    }
}

/// `A = R S`, `R` the rotation nearest to `A`, `S` symmetric (Antonopoulos (2010), eq. 2.65). If `A` mirrors, `S` has
/// one negative eigenvalue; `R` never mirrors.
pub fn polar(a: &DMat3) -> (DMat3, DMat3) {
    let (u, sigma, v) = svd3(a);
    (u * v.transpose(), v * DMat3::from_diagonal(sigma) * v.transpose())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn size(m: DMat3) -> f64 {
        m.to_cols_array().iter().fold(0.0, |worst, x| x.abs().max(worst))
    }

    proptest! {
        #[test]
        fn factors_are_rotations_and_rebuild(entries in prop::array::uniform9(-2.0..2.0f64), rank in 0..4usize) {
            let mut a = DMat3::from_cols_array(&entries);
            // Also flattened, line-like and zero matrices.
            if rank < 3 { *a.col_mut(2) = a.x_axis * 0.5; }
            if rank < 2 { *a.col_mut(1) = a.x_axis * -2.0; }
            if rank < 1 { a = DMat3::ZERO; }
            let (u, s, v) = svd3(&a);
            for m in [u, v] {
                prop_assert!(size(m * m.transpose() - DMat3::IDENTITY) < 1e-12);
                prop_assert!((m.determinant() - 1.0).abs() < 1e-12);
            }
            prop_assert!(size(u * DMat3::from_diagonal(s) * v.transpose() - a) < 1e-12);
            prop_assert!(s.x >= s.y && s.y >= s.z.abs() - 1e-12);
            let (r, stretch) = polar(&a);
            prop_assert!(size(r * stretch - a) < 1e-12);
            prop_assert!(size(stretch - stretch.transpose()) < 1e-12);
        }

        /// Singular values of any size are computed to the rounding error of the largest, and so is the matrix.
        #[test]
        fn small_singular_values_are_not_lost(
            turns in prop::array::uniform2(prop::array::uniform3(-3.0..3.0f64)),
            powers in prop::array::uniform2(0.0..20.0f64),
            scale in -60.0..60.0f64,
        ) {
            let [u, v] = turns.map(|[x, y, z]| DMat3::from_euler(glam::EulerRot::XYZ, x, y, z));
            let mut known = [1.0, 10f64.powf(-powers[0]), 10f64.powf(-powers[1])];
            known.sort_by(|a, b| b.total_cmp(a));
            let a = u * DMat3::from_diagonal(DVec3::from_array(known)) * v.transpose();
            let factor = 10f64.powf(scale);
            let (u, s, v) = svd3(&(a * factor));
            for m in [u, v] {
                prop_assert!(size(m * m.transpose() - DMat3::IDENTITY) < 1e-14);
            }
            let s = s / factor;
            prop_assert!((s.abs() - DVec3::from_array(known)).abs().max_element() < 3e-15, "{s} {known:?}");
            prop_assert!(size(u * DMat3::from_diagonal(s) * v.transpose() - a) < 3e-15);
        }
    }
}
