//! Whether a hexahedron is inverted anywhere, not only at its corners.
//!
//! # Source
//! Johnen, Remacle and Geuzaine, *Geometrical validity of curvilinear finite elements* (2013): the determinant of the
//! Jacobian of the trilinear map is quadratic along each axis, so that it is bounded by its 27 Bézier coefficients;
//! where these are inconclusive, the cell is halved.
//! # Limits
//! Cells whose determinant comes within a millionth of zero count as flat.

use glam::{DMat3, DVec3};

/// Halvings before a doubtful cell counts as folded.
const MAX_HALVINGS: usize = 6;
/// A determinant below this share of the cell's extent cubed is none.
const MIN_DETERMINANT: f64 = 1e-6;

/// A lower bound of the Jacobian's determinant, relative to the cell's extent cubed; zero or less if it is flat or folded.
pub fn least_jacobian(corners: &[DVec3; 8]) -> f64 {
    let extent = (0..4).map(|c| corners[c].distance(corners[7 - c])).fold(0.0, f64::max);
    if extent == 0.0 || !extent.is_finite() {
        return 0.0;
    }
    let values: [f64; 27] = std::array::from_fn(|k| {
        let at = DVec3::new((k % 3) as f64, (k / 3 % 3) as f64, (k / 9) as f64) / 2.0;
        jacobian_at(corners, at).determinant() / extent.powi(3)
    });
    let least = bound(&to_bezier(values), MAX_HALVINGS);
    if least > MIN_DETERMINANT { least } else { least.min(0.0) }
}

/// `∂x/∂ξ` of the trilinear map at a place of the unit cube.
pub fn jacobian_at(corners: &[DVec3; 8], at: DVec3) -> DMat3 {
    let column = |axis: usize| {
        let weight = |c: usize| -> f64 {
            let others = (0..3).filter(|k| *k != axis);
            let along: f64 = others.map(|k| if c >> k & 1 == 1 { at[k] } else { 1.0 - at[k] }).product();
            if c >> axis & 1 == 1 { along } else { -along }
        };
        corners.iter().enumerate().map(|(c, p)| *p * weight(c)).sum::<DVec3>()
    };
    DMat3::from_cols(column(0), column(1), column(2))
}

/// Values at 0, ½, 1 along each axis to Bézier coefficients.
fn to_bezier(mut v: [f64; 27]) -> [f64; 27] {
    for step in [1, 3, 9] {
        for_each_line(step, |a, b, c| v[b] = 2.0 * v[b] - (v[a] + v[c]) / 2.0);
    }
    v
}

fn for_each_line(step: usize, mut each: impl FnMut(usize, usize, usize)) {
    (0..27usize).filter(|k| (k / step).is_multiple_of(3)).for_each(|k| each(k, k + step, k + 2 * step));
}

/// The least corner value that was met, or the least coefficient once all are positive.
fn bound(v: &[f64; 27], depth: usize) -> f64 {
    let at_corners =
        (0..8).map(|c| v[2 * (c & 1) + 6 * (c >> 1 & 1) + 18 * (c >> 2)]).fold(f64::INFINITY, f64::min);
    let least = v.iter().copied().fold(f64::INFINITY, f64::min);
    if least > MIN_DETERMINANT || at_corners <= MIN_DETERMINANT || depth == 0 {
        return if at_corners <= MIN_DETERMINANT { at_corners } else { least };
    }
    let mut parts = vec![*v];
    for step in [1, 3, 9] {
        parts = parts.iter().flat_map(|part| halves(part, step)).collect();
    }
    parts.iter().map(|part| bound(part, depth - 1)).fold(f64::INFINITY, f64::min)
}

/// De Casteljau at one half along an axis.
fn halves(v: &[f64; 27], step: usize) -> [[f64; 27]; 2] {
    let (mut low, mut high) = (*v, *v);
    for_each_line(step, |a, b, c| {
        let (ab, bc) = ((v[a] + v[b]) / 2.0, (v[b] + v[c]) / 2.0);
        let middle = (ab + bc) / 2.0;
        (low[b], low[c]) = (ab, middle);
        (high[a], high[b]) = (middle, bc);
    });
    [low, high]
}
