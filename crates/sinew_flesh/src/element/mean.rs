//! Nonlinear cells that bend as beams do: the energy of the mean deformation, and linear bending that is carried along
//! with it.
//!
//! # Source
//! One integration point and physical stabilisation, as in Puso, *A highly efficient enhanced assumed strain physically
//! stabilized hexahedral element* (2000). With `x_a = x̄ + F̄ (X_a − X̄) + h_a`, Green's strain of the remainder is
//! `sym F̄ᵀ ∇h` to first order, so that `U = V w(F̄) + ½ dᵀ K d` with `d_a = F̄ᵀ h_a` and the incompatible stiffness
//! `K` of the cell at rest (`hexahedron`). `K d` and affine displacements do no work on each other, by Taylor's
//! correction: constant strains cost `w` alone (patch test), and small displacements cost exactly what they cost the
//! linear cell. A cell pressed flat has no `F̄ᵀ h` across it; so that its corners cannot move freely, `h` itself is
//! held by `½ k φ |h|²`, `φ = t / (1 + t)`, `t = |F̄ᵀF̄ − I|²`, which is of fourth order in small displacements.
//! # Symbols
//! `F̄` mean deformation gradient; `ḡ_a` mean gradient of corner `a`'s function; `y = K d`;
//! `∂U/∂x_a = (V P + Σ_b h_b y_bᵀ) ḡ_a + F̄ y_a`
//! # Cost
//! One singular value decomposition per cell, and a product with its stiffness.
//! # Limits
//! The tangent is the Gauss–Newton one, `Jᵀ K J` with `J = ∂d/∂x`: positive, and exact where nothing is bent.

use super::{
    CellResponse, Definite, Energy, Stiffness,
    energy::{PrincipalHessian, outer},
};
use crate::Material;
use glam::{DMat3, DVec3};
use sinew_geom::linalg::svd3;

/// Mean gradients of a cell's functions, its middle and its volume.
#[derive(Debug, Clone)]
pub struct MeanCell {
    gradients: [DVec3; 8],
    /// Corners from the middle.
    rest: [DVec3; 8],
    volume: f64,
    /// `Pᵀ P`, where `h = P x`.
    square: [[f64; 8]; 8],
}

impl MeanCell {
    /// Of a cell at rest; `points` as `gauss_gradients` has them.
    pub fn new(corners: &[DVec3; 8], points: &[([DVec3; 8], f64); 8]) -> Self {
        let volume: f64 = points.iter().map(|(_, volume)| volume).sum();
        let mean = |a: usize| points.iter().map(|(g, v)| g[a] * (v / volume)).sum();
        let middle = corners.iter().sum::<DVec3>() / 8.0;
        let (gradients, rest): ([DVec3; 8], _) = (std::array::from_fn(mean), corners.map(|x| x - middle));
        let p = |a: usize, b: usize| f64::from(u8::from(a == b)) - 0.125 - rest[a].dot(gradients[b]);
        let entry = |a: usize, b: usize| (0..8).map(|c| p(c, a) * p(c, b)).sum();
        let square = std::array::from_fn(|a| std::array::from_fn(|b| entry(a, b)));
        Self { gradients, rest, volume, square }
    }

    /// Mean deformation gradient, and what is left of each corner's place beside it.
    fn split(&self, at: &[DVec3; 8]) -> (DMat3, [DVec3; 8]) {
        let middle = at.iter().sum::<DVec3>() / 8.0;
        let f = at.iter().zip(&self.gradients).fold(DMat3::ZERO, |f, (x, g)| f + outer(*x - middle, *g));
        (f, std::array::from_fn(|a| at[a] - middle - f * self.rest[a]))
    }
}

/// Energy, gradient and, if asked for, tangent of a cell with the stiffness `factor · stiffness`, of which `share` is
/// filled.
pub fn mean_response(
    energy: Energy,
    cell: &MeanCell,
    at: &[DVec3; 8],
    (material, share): (&Material, f64),
    (stiffness, factor): (&Stiffness, f64),
    tangent: bool,
) -> CellResponse {
    let volume = cell.volume * share;
    let (f, left) = cell.split(at);
    let (u, sigma, v) = svd3(&f);
    let (value, slope, hessian) = energy.principal(sigma, material);
    let d: [DVec3; 8] = left.map(|h| f.transpose() * h);
    let y = times(stiffness, factor, &d);
    let bending = left.iter().zip(&y).fold(DMat3::ZERO, |sum, (h, y)| sum + outer(*h, *y));
    let guard = Guard::new(&f, (stiffness, factor));
    let (held, held_stress) = guard.respond(cell, &left);
    let stress = u * DMat3::from_diagonal(slope * volume) * v.transpose() + bending + held_stress;
    let mut response = CellResponse {
        energy: volume * value + held + 0.5 * d.iter().zip(&y).map(|(d, y)| d.dot(*y)).sum::<f64>(),
        gradient: std::array::from_fn(|a| stress * cell.gradients[a] + f * y[a] + left[a] * guard.stiffness),
        tangent: None,
    };
    if tangent {
        let mut out = bending_tangent(cell, &f, (material, share), (stiffness, factor));
        for (a, row) in cell.square.iter().enumerate() {
            for (b, entry) in row.iter().enumerate() {
                (0..3).for_each(|k| out[3 * a + k][3 * b + k] += guard.stiffness * entry);
            }
        }
        add_coupling(cell, &f, &left, (stiffness, factor), &mut out);
        let turned = cell.gradients.map(|g| v.transpose() * g);
        PrincipalHessian::new(sigma, slope, &hessian, Definite::Clamped).add(&u, &turned, volume, &mut out);
        response.tangent = Some(out);
    }
    response
}

/// `½ k φ |h|²`.
struct Guard {
    /// `k φ`.
    stiffness: f64,
    /// `k dφ/dF̄`.
    slope: DMat3,
}

impl Guard {
    fn new(f: &DMat3, (stiffness, factor): (&Stiffness, f64)) -> Self {
        let k = factor * (0..24).map(|i| stiffness[i][i]).sum::<f64>() / 24.0;
        let strain = f.transpose() * *f - DMat3::IDENTITY;
        let t: f64 = strain.to_cols_array().iter().map(|x| x * x).sum();
        Self { stiffness: k * t / (1.0 + t), slope: *f * strain * (4.0 * k / (1.0 + t).powi(2)) }
    }

    /// Energy, and what `F̄` adds to its slope; `h` itself has the slope `k φ h`.
    fn respond(&self, cell: &MeanCell, left: &[DVec3; 8]) -> (f64, DMat3) {
        let square = left.iter().map(|h| h.length_squared()).sum::<f64>();
        let across = left.iter().zip(&cell.rest).fold(DMat3::ZERO, |sum, (h, x)| sum + outer(*h, *x));
        (0.5 * self.stiffness * square, self.slope * (0.5 * square) - across * self.stiffness)
    }
}

fn times(stiffness: &Stiffness, factor: f64, d: &[DVec3; 8]) -> [DVec3; 8] {
    let row =
        |i: usize| factor * (0..8).map(|b| DVec3::from_slice(&stiffness[i][3 * b..]).dot(d[b])).sum::<f64>();
    std::array::from_fn(|a| DVec3::new(row(3 * a), row(3 * a + 1), row(3 * a + 2)))
}

/// `F̄ (K − V C(ḡ, ḡ)) F̄ᵀ`: the stiffness without that of constant strains, which `w` has already.
fn bending_tangent(
    cell: &MeanCell,
    f: &DMat3,
    (material, share): (&Material, f64),
    (stiffness, factor): (&Stiffness, f64),
) -> Box<Stiffness> {
    let volume = cell.volume * share;
    let (lambda, mu) = (material.lambda() * volume, material.shear() * volume);
    let mut out = Box::new([[0.0; 24]; 24]);
    for a in 0..8 {
        for b in 0..8 {
            let (ga, gb) = (cell.gradients[a], cell.gradients[b]);
            let column =
                |j: usize| DVec3::from_array(std::array::from_fn(|i| stiffness[3 * a + i][3 * b + j]));
            let full = DMat3::from_cols(column(0), column(1), column(2)) * factor;
            let even = outer(ga * lambda, gb)
                + outer(gb * mu, ga)
                + DMat3::from_diagonal(DVec3::splat(mu * ga.dot(gb)));
            let block = *f * (full - even) * f.transpose();
            for j in 0..3 {
                (0..3).for_each(|i| out[3 * a + i][3 * b + j] = block.col(j)[i]);
            }
        }
    }
    out
}

/// The rest of `Jᵀ K J`: `d` also changes as `F̄` does, `δd_a = δF̄ᵀ h_a`, which is a sum over the nine entries of `F̄`.
fn add_coupling(
    cell: &MeanCell,
    f: &DMat3,
    left: &[DVec3; 8],
    (stiffness, factor): (&Stiffness, f64),
    out: &mut Stiffness,
) {
    // n_ij: d where entry (j, i) of F̄ grows, which is h_j along axis i.
    let along = |ij: usize| -> [DVec3; 8] { left.map(|h| DVec3::AXES[ij / 3] * h[ij % 3]) };
    let n: [[DVec3; 8]; 9] = std::array::from_fn(along);
    let k_n = n.map(|n| times(stiffness, factor, &n));
    for ij in 0..9 {
        let (i, j) = (ij / 3, ij % 3);
        let spread: DMat3 = (0..8).fold(DMat3::ZERO, |sum, a| sum + outer(k_n[ij][a], cell.rest[a]));
        let mean = k_n[ij].iter().sum::<DVec3>() / 8.0;
        let gram: [f64; 9] = std::array::from_fn(|kl| (0..8).map(|a| n[kl][a].dot(k_n[ij][a])).sum());
        for a in 0..8 {
            let g = cell.gradients[a];
            let own =
                DVec3::from_array(std::array::from_fn(|l| (0..3).map(|k| gram[3 * k + l] * g[k]).sum()));
            let side = *f * (k_n[ij][a] - mean - spread * g) + own * 0.5;
            for (b, g) in cell.gradients.iter().enumerate() {
                for k in 0..3 {
                    out[3 * a + k][3 * b + j] += side[k] * g[i];
                    out[3 * b + j][3 * a + k] += side[k] * g[i];
                }
            }
        }
    }
}
