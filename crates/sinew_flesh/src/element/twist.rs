//! How a strongly stretched cell resists being turned out of its frame.
//!
//! # Source
//! The second derivative of the corotated energy `W = μ |S − I|² + λ/2 tr² (S − I)`, `F = R S`, along `R A` with `A`
//! skew (McAdams et al., *Efficient elasticity for character skinning with contact and collisions*, 2011, §3.5): with
//! `t = tr S − 3`, it is `k_ij |a|²`, `k_ij = 2 (μ − (2 μ − λ t) / (s_i + s_j))`, for `A` of the axial vector `a`
//! across a pair of stretches. Linear strain in a frame that is fixed during a step lacks this term. In stretched flesh
//! the term is positive, and without it flesh gains energy with every rotation, without bound where it is soft
//! (`tests/abuse`). Differs: the term sets in with the mean stretch, because frames fixed at the beginning of a step
//! also spare rotating bodies the damping of implicit Euler (`tests/dynamics`), which a small gain compensates. Frames
//! of such cells must be computed accurately, not by one polar step; then a body without external forces gains no
//! energy (`tests/twists`). Negative terms are left out, so that systems stay positive. There is no corresponding
//! force: `A` vanishes where the frame is that of the cell.
//! # Symbols
//! `A` skew part of `Rᵀ ∂u/∂X` in the middle of a cell, `a` its axial vector
//! # Cost
//! Only a trace for cells that are not stretched.

use super::Stiffness;
use crate::Material;
use glam::{DMat3, DVec3};
use sinew_geom::linalg::svd3;

/// Mean stretches between which it sets in.
const ONSET_STRETCH: f64 = 1.15;
const FULL_STRETCH: f64 = 1.45;
/// Sums of two stretches below this share of all three count as that: beyond, no frame is known.
const LEAST_PAIR_SHARE: f64 = 0.1;

/// A third of the trace of `Rᵀ F`.
fn mean_stretch(f: &DMat3, r: &DMat3) -> f64 {
    (f.x_axis.dot(r.x_axis) + f.y_axis.dot(r.y_axis) + f.z_axis.dot(r.z_axis)) / 3.0
}

/// Whether a cell is stretched so far that it resists turning.
pub fn is_stretched(f: &DMat3, r: &DMat3) -> bool {
    mean_stretch(f, r) > ONSET_STRETCH
}

/// The symmetric `K` of `½ a · K a` per unit of volume for a cell deformed by `F` with the frame `R`; none if it is hardly
/// stretched.
pub fn twist(f: &DMat3, r: &DMat3, material: &Material) -> Option<DMat3> {
    let share = ((mean_stretch(f, r) - ONSET_STRETCH) / (FULL_STRETCH - ONSET_STRETCH)).clamp(0.0, 1.0);
    (share > 0.0).then(|| full_twist(f, material) * share)
}

/// The same however little it is stretched.
pub fn full_twist(f: &DMat3, material: &Material) -> DMat3 {
    let (_, s, v) = svd3(f);
    let (mu, lambda, sum) = (material.shear(), material.lambda(), s.element_sum());
    let stiffness = |k: usize| {
        let pair = (sum - s[k]).max(LEAST_PAIR_SHARE * sum).max(f64::MIN_POSITIVE);
        (2.0 * (2.0 * mu - 2.0 * (2.0 * mu - lambda * (sum - 3.0)) / pair)).max(0.0)
    };
    let k = DVec3::new(stiffness(0), stiffness(1), stiffness(2));
    v * DMat3::from_diagonal(k) * v.transpose()
}

/// Second derivative of `½ a · K a V` by the corners of a cell at rest, with the mean gradients of their functions.
pub fn twist_matrix(gradients: &[DVec3; 8], volume: f64, stiffness: &DMat3) -> Box<Stiffness> {
    // a = ½ Σ g × u
    let cross = |g: &DVec3| DMat3::from_cols(g.cross(DVec3::X), g.cross(DVec3::Y), g.cross(DVec3::Z)) * 0.5;
    let mut matrix = Box::new([[0.0; 24]; 24]);
    for (a, ga) in gradients.iter().enumerate() {
        for (b, gb) in gradients.iter().enumerate() {
            let block = cross(ga).transpose() * *stiffness * cross(gb) * volume;
            for i in 0..3 {
                (0..3).for_each(|j| matrix[3 * a + i][3 * b + j] = block.col(j)[i]);
            }
        }
    }
    matrix
}
