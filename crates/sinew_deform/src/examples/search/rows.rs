//! Three rows of derivatives at a time: how rotations transform them, and their contribution to derivatives of lengths.
//!
//! # Source
//! Sinew's own. Second derivatives of lengths and squares in Gauss–Newton form.
//! # Symbols
//! `J` three rows, one per coordinate; `u` direction of a length; `τ` fraction of its curvature along itself that is
//! left out

use super::lanes::{Lane, get};
use glam::DVec3;
use sinew_geom::linalg::fma;

/// `to = from + turn × arm`, for three rows each.
#[inline(always)]
pub fn carry<const FMA: bool>(turn: &[Lane], arm: DVec3, from: &[Lane], to: &mut [Lane]) {
    let width = turn.len() / 3;
    let (x, rest) = turn.split_at(width);
    let (y, z) = rest.split_at(width);
    let (from_x, rest) = from.split_at(width);
    let (from_y, from_z) = rest.split_at(width);
    let (to_x, rest) = to.split_at_mut(width);
    let (to_y, to_z) = rest.split_at_mut(width);
    for at in 0..width {
        for i in 0..4 {
            let (x, y, z) = (x[at][i], y[at][i], z[at][i]);
            to_x[at][i] = fma::<FMA, _>(y, arm.z, fma::<FMA, _>(-z, arm.y, from_x[at][i]));
            to_y[at][i] = fma::<FMA, _>(z, arm.x, fma::<FMA, _>(-x, arm.z, from_y[at][i]));
            to_z[at][i] = fma::<FMA, _>(x, arm.y, fma::<FMA, _>(-y, arm.x, from_z[at][i]));
        }
    }
}

/// What a length or a square adds to gradient and curvature: `Jᵀ gradient` and `scale Jᵀ (I − τ u uᵀ) J`, with three
/// rows of `J`.
pub struct Length {
    pub gradient: DVec3,
    pub scale: f64,
    pub along: DVec3,
    pub tau: f64,
}

impl Length {
    #[inline(always)]
    pub fn add<const FMA: bool>(&self, n: usize, rows: &[Lane], gradient: &mut [f64], hessian: &mut [Lane]) {
        // Rows of a known length stay in registers; entries above the diagonal are not read.
        match rows.len() / 3 {
            1 => self.add_known::<1, FMA>(n, rows, gradient, hessian),
            2 => self.add_known::<2, FMA>(n, rows, gradient, hessian),
            3 => self.add_known::<3, FMA>(n, rows, gradient, hessian),
            4 => self.add_known::<4, FMA>(n, rows, gradient, hessian),
            width => {
                for a in 0..n {
                    let j = DVec3::new(get(rows, a), get(&rows[width..], a), get(&rows[2 * width..], a));
                    if j != DVec3::ZERO {
                        gradient[a] += self.gradient.dot(j);
                        add_three::<FMA>(&mut hessian[a * width..][..a / 4 + 1], self.row(j), rows);
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn add_known<const W: usize, const FMA: bool>(
        &self,
        n: usize,
        rows: &[Lane],
        gradient: &mut [f64],
        hessian: &mut [Lane],
    ) {
        let ([x, y, z], _) = rows.as_chunks::<W>() else { return };
        let (lines, _) = hessian.as_chunks_mut::<W>();
        for (a, (g, line)) in gradient.iter_mut().zip(lines).enumerate().take(n) {
            let j = DVec3::new(get(x, a), get(y, a), get(z, a));
            if j == DVec3::ZERO {
                continue;
            }
            *g += self.gradient.dot(j);
            let by = self.row(j);
            for w in 0..W {
                for i in 0..4 {
                    let sum = fma::<FMA, _>(by.y, y[w][i], fma::<FMA, _>(by.z, z[w][i], line[w][i]));
                    line[w][i] = fma::<FMA, _>(by.x, x[w][i], sum);
                }
            }
        }
    }

    #[inline(always)]
    fn row(&self, j: DVec3) -> DVec3 {
        self.scale * (j - self.tau * self.along.dot(j) * self.along)
    }
}

/// Add `by · rows` for three rows, up to the length of the sum.
#[inline(always)]
pub fn add_three<const FMA: bool>(to: &mut [Lane], by: DVec3, rows: &[Lane]) {
    let width = rows.len() / 3;
    let (x, rest) = rows.split_at(width);
    let (y, z) = rest.split_at(width);
    for (((to, x), y), z) in to.iter_mut().zip(x).zip(y).zip(z) {
        for i in 0..4 {
            to[i] = fma::<FMA, _>(by.x, x[i], fma::<FMA, _>(by.y, y[i], fma::<FMA, _>(by.z, z[i], to[i])));
        }
    }
}
