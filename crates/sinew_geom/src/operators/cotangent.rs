//! Cotangent weights of triangles: the one policy for all operators and measures.
//!
//! # Source
//! Pinkall and Polthier, *Computing discrete minimal surfaces and their conjugates* (1993): an edge has the weight
//! `½ (cot α + cot β)` of the angles opposite to it.
//! # Policy
//! - Weights are summed face by face, so that an edge of a boundary has one term and an edge of many faces has many.
//! - Negative weights of obtuse triangles are kept: they are what makes linear functions harmonic on flat meshes.
//!   Methods that need positive weights clamp them where they sum them.
//! - The angles of a face without area mean nothing, and their cotangents would be infinite: its edges get a small
//!   positive weight instead, enough to hold its corners together.

use glam::DVec3;

/// Twice the area of a face over the square of its longest edge, below which its angles mean nothing.
const MIN_RELATIVE_AREA: f64 = 1e-7;
/// Half cotangents of a face without area.
const DEGENERATE_WEIGHT: f64 = 0.05;

/// Half cotangents of the angles of a triangle, each opposite to the edge of the same index: edge `k` joins the two
/// corners other than `k`.
pub fn half_cotangents(p: [DVec3; 3]) -> [f64; 3] {
    let e = [p[2] - p[1], p[0] - p[2], p[1] - p[0]];
    let longest = e.iter().map(|e| e.length_squared()).fold(0.0, f64::max);
    let sine = e[0].cross(e[1]).length();
    if sine <= MIN_RELATIVE_AREA * longest {
        return [DEGENERATE_WEIGHT; 3];
    }
    std::array::from_fn(|k| -e[(k + 1) % 3].dot(e[(k + 2) % 3]) / sine / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn right_angles_count_nothing_and_flat_faces_a_little() {
        let right = half_cotangents([DVec3::ZERO, DVec3::X, DVec3::Y]);
        assert!(right.iter().zip([0.0, 0.5, 0.5]).all(|(a, b)| (a - b).abs() < 1e-15), "{right:?}");
        assert_eq!(half_cotangents([DVec3::ZERO, DVec3::X, DVec3::X * 2.0]), [DEGENERATE_WEIGHT; 3]);
        assert_eq!(half_cotangents([DVec3::ONE; 3]), [DEGENERATE_WEIGHT; 3]);
    }
}
