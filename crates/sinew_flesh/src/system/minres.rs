//! Points held by Lagrange multipliers: minimal residuals for a symmetric indefinite system.
//!
//! # Source
//! Capell (2004), eqs. 3.13, 3.14 and 4.5: `[A Cᵀ; C 0] [Δv; λ] = [b; a]`, solved by minimal residuals. Paige and
//! Saunders, *Solution of sparse indefinite systems of linear equations* (1975), preconditioned as in Elman, Silvester
//! and Wathen (2014), algorithm 4.1, by inverse diagonal blocks and the diagonal of `C D⁻¹ Cᵀ`.
//! # Cost
//! One application of the system per iteration; several times as many iterations as the projection of `pins` needs.

use super::{Nodes, Outcome, PinRow, conjugate::dot, times_blocks};
use glam::DVec3;

/// Solve `A x + Cᵀ λ = b`, `C x = 0` from `x = 0`; gives the multipliers, one vector a pin. `inverse` are inverse diagonal
/// blocks of `A`, zero for held nodes.
pub fn solve_with_multipliers(
    mut apply: impl FnMut(&[[f64; 4]], &mut [[f64; 4]]),
    inverse: &[[f64; 6]],
    rows: &[PinRow],
    (b, x): (&[[f64; 4]], &mut [[f64; 4]]),
    (tolerance, limit): (f64, usize),
) -> (Outcome, Vec<DVec3>) {
    let n = b.len();
    // λ in units in which the diagonal of C D⁻¹ Cᵀ is one.
    let scale: Vec<f64> = rows.iter().map(|row| 1.0 / schur(row, inverse).sqrt()).collect();
    let whole = |x: &[[f64; 4]], out: &mut [[f64; 4]]| {
        out.fill([0.0; 4]);
        apply(&x[..n], &mut out[..n]);
        for (node, inverse) in out.iter_mut().zip(inverse) {
            if inverse[0] == 0.0 {
                *node = [0.0; 4];
            }
        }
        for (at, (row, scale)) in rows.iter().zip(&scale).enumerate() {
            for &(node, w) in &row.shares {
                for k in 0..3 {
                    out[node as usize][k] += scale * w * x[n + at][k];
                    out[n + at][k] += scale * w * x[node as usize][k];
                }
            }
        }
    };
    let precondition = |r: &[[f64; 4]], z: &mut [[f64; 4]]| {
        times_blocks(inverse, &r[..n], &mut z[..n]);
        z[n..].copy_from_slice(&r[n..]);
    };
    let mut right = b.to_vec();
    right.resize(n + rows.len(), [0.0; 4]);
    let mut all = vec![[0.0; 4]; n + rows.len()];
    let outcome = minres(whole, precondition, &right, &mut all, (tolerance, limit));
    x.copy_from_slice(&all[..n]);
    let forces = all[n..].iter().zip(&scale).map(|(l, s)| DVec3::from_slice(&l[..3]) * *s).collect();
    (outcome, forces)
}

/// Mean of the diagonal of `C D⁻¹ Cᵀ` of one pin.
fn schur(row: &PinRow, inverse: &[[f64; 6]]) -> f64 {
    let one = |(node, w): &(u32, f64)| {
        let block = &inverse[*node as usize];
        w * w * (block[0] + block[1] + block[2]) / 3.0
    };
    row.shares.iter().map(one).sum::<f64>().max(f64::MIN_POSITIVE)
}

fn minres(
    mut apply: impl FnMut(&[[f64; 4]], &mut [[f64; 4]]),
    precondition: impl Fn(&[[f64; 4]], &mut [[f64; 4]]),
    b: &[[f64; 4]],
    x: &mut [[f64; 4]],
    (tolerance, limit): (f64, usize),
) -> Outcome {
    let n = b.len();
    let zeros = || -> Nodes<f64> { vec![[0.0; 4]; n] };
    let (mut before, mut v, mut next) = (zeros(), b.to_vec(), zeros());
    let (mut z, mut w_before, mut w, mut az) = (zeros(), zeros(), zeros(), zeros());
    precondition(&v, &mut z);
    let (mut gamma_before, mut gamma) = (1.0, dot(&z, &v).max(0.0).sqrt());
    let first = gamma;
    let (mut eta, mut s, mut s_before, mut c, mut c_before) = (gamma, 0.0, 0.0, 1.0, 1.0);
    let mut outcome =
        Outcome { iterations: 0, residual: f64::from(first > 0.0), converged: first <= f64::MIN_POSITIVE };
    while !outcome.converged && outcome.iterations < limit {
        z.iter_mut().for_each(|z| *z = z.map(|z| z / gamma));
        apply(&z, &mut az);
        let delta = dot(&az, &z);
        for i in 0..n {
            (0..3).for_each(|k| {
                next[i][k] = az[i][k] - delta / gamma * v[i][k] - gamma / gamma_before * before[i][k];
            });
        }
        let old = z.clone();
        precondition(&next, &mut z);
        let gamma_next = dot(&z, &next).max(0.0).sqrt();
        let a0 = c * delta - c_before * s * gamma;
        let a1 = a0.hypot(gamma_next);
        let (a2, a3) = (s * delta + c_before * c * gamma, s_before * gamma);
        if a1 == 0.0 || !a1.is_finite() {
            break;
        }
        (c_before, s_before, c, s) = (c, s, a0 / a1, gamma_next / a1);
        for i in 0..n {
            for k in 0..3 {
                let turn = (old[i][k] - a3 * w_before[i][k] - a2 * w[i][k]) / a1;
                w_before[i][k] = w[i][k];
                w[i][k] = turn;
                x[i][k] += c * eta * turn;
            }
        }
        eta *= -s;
        std::mem::swap(&mut before, &mut v);
        std::mem::swap(&mut v, &mut next);
        (gamma_before, gamma) = (gamma, gamma_next);
        outcome.iterations += 1;
        outcome.residual = eta.abs() / first;
        outcome.converged = outcome.residual <= tolerance;
        if gamma == 0.0 {
            break;
        }
    }
    outcome
}
