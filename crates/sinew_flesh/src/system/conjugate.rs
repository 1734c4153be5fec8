//! Conjugate gradients, and a variant for nonsymmetric systems.
//!
//! # Source
//! Hestenes and Stiefel (1952), preconditioned; van der Vorst (1992) for the stabilised bi-conjugate gradients that
//! node warping needs (Capell (2004), §5.2.2). Held nodes have a zero preconditioner, so that nothing ever moves them
//! (Baraff and Witkin 1998; Capell (2004), §4.8).
//! # Cost
//! One application of the system per iteration; no allocation after the first.

use super::{Nodes, PinSpace};
use crate::element::Scalar;

/// How a solve went.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Outcome {
    /// Applications of the system.
    pub iterations: usize,
    /// Length of the residual in the preconditioner's norm, relative to that of the right-hand side.
    pub residual: f64,
    /// Whether the residual is as small as asked for.
    pub converged: bool,
}

/// Scratch of a solve.
#[derive(Debug, Clone, Default)]
pub struct Conjugate<T> {
    z: Nodes<T>,
    p: Nodes<T>,
    q: Nodes<T>,
}

/// What is asked of a solve.
#[derive(Debug, Clone, Copy)]
pub struct KrylovParams {
    /// Size of the right-hand side in the preconditioner's norm; 0 takes that of the first residual.
    pub reference: f64,
    /// Relative residual to reach.
    pub tolerance: f64,
    /// Iterations at most.
    pub limit: usize,
}

impl<T: Scalar> Conjugate<T> {
    /// Solve `A x = b`, given `r = b − A x` at the `x` to start from; both are brought up to date.
    pub fn solve(
        &mut self,
        mut apply: impl FnMut(&[[T; 4]], &mut [[T; 4]]),
        mut precondition: impl FnMut(&[[T; 4]], &mut [[T; 4]]),
        pins: &PinSpace,
        (r, x): (&mut [[T; 4]], &mut [[T; 4]]),
        goal: KrylovParams,
    ) -> Outcome {
        let n = r.len();
        for scratch in [&mut self.z, &mut self.p, &mut self.q] {
            scratch.resize(n, [T::ZERO; 4]);
        }
        let (z, p, q) = (&mut self.z[..n], &mut self.p[..n], &mut self.q[..n]);
        pins.project_forces(r);
        precondition(r, z);
        pins.project(z);
        p.copy_from_slice(z);
        let mut rz = dot(r, z);
        let reference = if goal.reference > 0.0 { goal.reference } else { rz };
        let aim = goal.tolerance * goal.tolerance * reference;
        let mut iterations = 0;
        while rz > aim && iterations < goal.limit && rz.is_finite() {
            q.fill([T::ZERO; 4]);
            apply(p, q);
            pins.project_forces(q);
            let curvature = dot(p, q);
            if curvature.is_nan() || curvature <= 0.0 {
                break;
            }
            let step = T::of(rz / curvature);
            add_scaled(x, p, step);
            add_scaled(r, q, -step);
            precondition(r, z);
            pins.project(z);
            let next = dot(r, z);
            let keep = T::of(next / rz);
            rz = next;
            for (p, z) in p.iter_mut().zip(z.iter()) {
                (0..4).for_each(|k| p[k] = z[k] + keep * p[k]);
            }
            iterations += 1;
        }
        let residual = if reference > 0.0 { (rz.max(0.0) / reference).sqrt() } else { 0.0 };
        Outcome { iterations, residual, converged: rz <= aim }
    }
}

/// Sum of products, in double precision over blocks of single.
pub fn dot<T: Scalar>(a: &[[T; 4]], b: &[[T; 4]]) -> f64 {
    let mut sum = 0.0;
    for (a, b) in a.chunks(16).zip(b.chunks(16)) {
        let mut part = [T::ZERO; 4];
        for (a, b) in a.iter().zip(b) {
            (0..4).for_each(|k| part[k] += a[k] * b[k]);
        }
        sum += part.iter().map(|x| x.to()).sum::<f64>();
    }
    sum
}

fn add_scaled<T: Scalar>(to: &mut [[T; 4]], from: &[[T; 4]], factor: T) {
    for (to, from) in to.iter_mut().zip(from) {
        (0..4).for_each(|k| to[k] += factor * from[k]);
    }
}

/// Inverse of a symmetric positive 3 × 3 block: xx, yy, zz, xy, xz, yz.
pub fn invert_block(m: [f64; 6]) -> [f64; 6] {
    let [xx, yy, zz, xy, xz, yz] = m;
    let (a, b, c) = (yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy);
    let scale = 1.0 / (xx * a + xy * b + xz * c);
    [
        scale * a,
        scale * (xx * zz - xz * xz),
        scale * (xx * yy - xy * xy),
        scale * b,
        scale * c,
        scale * (xy * xz - xx * yz),
    ]
}

/// Solve `A x = b` for a matrix that need not be symmetric, from `x = 0`. `precondition` is about `A⁻¹`.
pub fn bicgstab(
    mut apply: impl FnMut(&[[f64; 4]], &mut [[f64; 4]]),
    precondition: impl Fn(&[[f64; 4]], &mut [[f64; 4]]),
    b: &[[f64; 4]],
    x: &mut [[f64; 4]],
    (tolerance, limit): (f64, usize),
) -> Outcome {
    let n = b.len();
    let zeros = || vec![[0.0; 4]; n];
    let (mut r, mut p, mut v, mut s, mut t) = (b.to_vec(), zeros(), zeros(), zeros(), zeros());
    let (mut p_hat, mut s_hat) = (zeros(), zeros());
    x.fill([0.0; 4]);
    let shadow = r.clone();
    let size = dot(b, b).sqrt();
    let (mut rho, mut alpha, mut omega) = (1.0, 1.0, 1.0);
    let mut outcome = Outcome { iterations: 0, residual: f64::from(size > 0.0), converged: size == 0.0 };
    while !outcome.converged && outcome.iterations < limit {
        let next = dot(&shadow, &r);
        let beta = next / rho * (alpha / omega);
        rho = next;
        for i in 0..n {
            (0..4).for_each(|k| p[i][k] = r[i][k] + beta * (p[i][k] - omega * v[i][k]));
        }
        precondition(&p, &mut p_hat);
        v.fill([0.0; 4]);
        apply(&p_hat, &mut v);
        alpha = rho / dot(&shadow, &v);
        for i in 0..n {
            (0..4).for_each(|k| s[i][k] = r[i][k] - alpha * v[i][k]);
        }
        precondition(&s, &mut s_hat);
        t.fill([0.0; 4]);
        apply(&s_hat, &mut t);
        let tt = dot(&t, &t);
        omega = if tt > 0.0 { dot(&t, &s) / tt } else { 0.0 };
        for i in 0..n {
            for k in 0..4 {
                x[i][k] += alpha * p_hat[i][k] + omega * s_hat[i][k];
                r[i][k] = s[i][k] - omega * t[i][k];
            }
        }
        outcome.iterations += 1;
        outcome.residual = dot(&r, &r).sqrt() / size;
        outcome.converged = outcome.residual <= tolerance;
        if !(outcome.residual.is_finite() && omega != 0.0) {
            break;
        }
    }
    outcome
}
