//! Energies for arbitrarily large deformations, with the forces and stiffness of a cell.
//!
//! # Source
//! St. Venant–Kirchhoff: Capell (2004), §3.3, eqs. 3.9 and 3.10 (Green's strain, linear stress). Differs: the strain
//! printed in eq. 3.9 lacks the factor ½ of Green's strain, and eq. 3.10 and appendix A use it as printed, which makes
//! the energy four times as large; here the strain is `½ (FᵀF − I)`, so that `G` and `ν` are the usual constants.
//! Stable neo-Hookean: Smith, de Goes and Kim, *Stable neo-Hookean flesh simulation* (2018), without the barrier term,
//! with constants such that small strains obey Hooke's law. Both are functions of the singular values of `F`; their
//! Hessians are kept positive as in Smith, de Goes and Kim, *Analytic eigensystems for isotropic distortion energies*
//! (2019).
//! # Symbols
//! `F = ∂x/∂X = U diag(σ) Vᵀ`; `w(σ)` energy per volume; `P = ∂w/∂F`
//! # Cost
//! One singular value decomposition and 3 k multiply-adds at each of 8 points.
//! # Limits
//! Trilinear functions at 2 × 2 × 2 points: bending is too stiff on coarse lattices. The cells of `mean` are not.

use super::Stiffness;
use crate::Material;
use glam::{DMat3, DVec3};
use sinew_geom::linalg::svd3;

/// Which nonlinear material.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Energy {
    /// Quadratic in Green's strain: softens under compression until it turns inside out.
    StVenantKirchhoff,
    /// Resists compression down to nothing, and comes back from being inside out.
    NeoHookean,
}

impl Energy {
    /// Energy a volume, its gradient and Hessian with respect to the singular values.
    pub fn principal(self, sigma: DVec3, material: &Material) -> (f64, DVec3, DMat3) {
        let (mu, lambda) = (material.shear(), material.lambda());
        match self {
            Self::StVenantKirchhoff => {
                let strain = (sigma * sigma - 1.0) / 2.0;
                let trace = strain.element_sum();
                let stress = 2.0 * mu * strain + lambda * trace;
                let value = mu * strain.dot(strain) + lambda / 2.0 * trace * trace;
                let diagonal = stress + 2.0 * mu * sigma * sigma;
                (value, sigma * stress, outer(sigma * lambda, sigma) + DMat3::from_diagonal(diagonal))
            }
            Self::NeoHookean => {
                let volume = sigma.element_product();
                // Small strains: λ of Hooke is this λ less μ.
                let (bulk, change) = (lambda + mu, volume - 1.0);
                let minors = DVec3::new(sigma.y * sigma.z, sigma.x * sigma.z, sigma.x * sigma.y);
                let value = mu / 2.0 * (sigma.dot(sigma) - 3.0) - mu * change + bulk / 2.0 * change * change;
                let slope = bulk * change - mu;
                let mixed = DMat3::from_cols(
                    DVec3::new(0.0, sigma.z, sigma.y),
                    DVec3::new(sigma.z, 0.0, sigma.x),
                    DVec3::new(sigma.y, sigma.x, 0.0),
                );
                let hessian =
                    DMat3::from_diagonal(DVec3::splat(mu)) + outer(minors * bulk, minors) + mixed * slope;
                (value, mu * sigma + slope * minors, hessian)
            }
        }
    }
}

pub(super) fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// What a cell does at given places of its corners.
#[derive(Debug, Clone)]
pub struct CellResponse {
    /// Elastic energy.
    pub energy: f64,
    /// Its gradient.
    pub gradient: [DVec3; 8],
    /// Its Hessian, if asked for.
    pub tangent: Option<Box<Stiffness>>,
}

/// Energy, gradient and, if asked for, Hessian of a cell. `share` of it is filled.
pub fn cell_response(
    energy: Energy,
    points: &[([DVec3; 8], f64); 8],
    corners: &[DVec3; 8],
    material: &Material,
    share: f64,
    tangent: Option<Definite>,
) -> CellResponse {
    let mut response = CellResponse {
        energy: 0.0,
        gradient: [DVec3::ZERO; 8],
        tangent: tangent.map(|_| Box::new([[0.0; 24]; 24])),
    };
    for (gradients, volume) in points {
        let volume = volume * share;
        let f: DMat3 = corners.iter().zip(gradients).fold(DMat3::ZERO, |f, (x, g)| f + outer(*x, *g));
        let (u, sigma, v) = svd3(&f);
        let (value, slope, hessian) = energy.principal(sigma, material);
        let p = u * DMat3::from_diagonal(slope) * v.transpose();
        response.energy += volume * value;
        response.gradient.iter_mut().zip(gradients).for_each(|(f, g)| *f += volume * (p * *g));
        if let (Some(out), Some(definite)) = (&mut response.tangent, tangent) {
            let local = PrincipalHessian::new(sigma, slope, &hessian, definite);
            // Gradients in the frame of V, so that only the result has to be turned by U.
            let turned = gradients.map(|g| v.transpose() * g);
            local.add(&u, &turned, volume, out);
        }
    }
    response
}

/// What to do with directions in which the energy curves downwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Definite {
    /// Flatten them, so that a solver always goes down.
    Clamped,
    /// Leave them: the true derivative, for tests.
    #[cfg(test)]
    Exact,
}

/// `∂²w/∂F²` in the frames of `U` and `V`: a block for stretches, and a symmetric and an antisymmetric direction for each
/// pair of axes.
pub(super) struct PrincipalHessian {
    stretch: DMat3,
    /// Curvatures for the pairs (y, z), (z, x), (x, y): of `dF_ij + dF_ji` and of `dF_ij − dF_ji`.
    flip: [f64; 3],
    twist: [f64; 3],
}

const PAIRS: [(usize, usize); 3] = [(1, 2), (2, 0), (0, 1)];

impl PrincipalHessian {
    pub fn new(sigma: DVec3, slope: DVec3, hessian: &DMat3, definite: Definite) -> Self {
        let clamp = |x: f64| if definite == Definite::Clamped { x.max(0.0) } else { x };
        // Limits of the quotients where both values meet.
        let near = |x: f64| x.abs() < 1e-6;
        let flip = PAIRS.map(|(i, j)| {
            let difference = sigma[i] - sigma[j];
            let limit = || (hessian.col(i)[i] + hessian.col(j)[j]) / 2.0 - hessian.col(i)[j];
            clamp(if near(difference) { limit() } else { (slope[i] - slope[j]) / difference })
        });
        let twist = PAIRS.map(|(i, j)| {
            let sum = sigma[i] + sigma[j];
            let limit = || (hessian.col(i)[i] + hessian.col(j)[j]) / 2.0 + hessian.col(i)[j];
            clamp(if near(sum) { limit() } else { (slope[i] + slope[j]) / sum })
        });
        let stretch = if definite == Definite::Clamped { without_negative(hessian) } else { *hessian };
        Self { stretch, flip, twist }
    }

    /// Add `∫ g_a : ∂²w/∂F² : g_b` for all pairs of corners.
    pub fn add(&self, u: &DMat3, gradients: &[DVec3; 8], volume: f64, out: &mut Stiffness) {
        for a in 0..8 {
            for b in a..8 {
                let block = self.block(gradients[a], gradients[b]);
                let block = *u * block * u.transpose() * volume;
                for j in 0..3 {
                    for i in 0..3 {
                        out[3 * a + i][3 * b + j] += block.col(j)[i];
                        if a != b {
                            out[3 * b + j][3 * a + i] += block.col(j)[i];
                        }
                    }
                }
            }
        }
    }

    /// `B_ik = Σ_jl ∂²w/∂F_ij ∂F_kl g_j h_l`.
    fn block(&self, g: DVec3, h: DVec3) -> DMat3 {
        let mut rows = [[0.0; 3]; 3];
        for i in 0..3 {
            for k in 0..3 {
                rows[i][k] += self.stretch.col(k)[i] * g[i] * h[k];
            }
        }
        for (pair, (i, j)) in PAIRS.into_iter().enumerate() {
            let (even, odd) = (self.twist[pair], self.flip[pair]);
            // Of dF_ij and dF_ji: the antisymmetric direction has the quotient of sums, the symmetric one that of
            // differences.
            let (same, cross) = ((even + odd) / 2.0, (odd - even) / 2.0);
            rows[i][i] += same * g[j] * h[j];
            rows[j][j] += same * g[i] * h[i];
            rows[i][j] += cross * g[j] * h[i];
            rows[j][i] += cross * g[i] * h[j];
        }
        DMat3::from_cols_array_2d(&rows).transpose()
    }
}

/// A symmetric matrix with its negative eigenvalues taken out.
fn without_negative(a: &DMat3) -> DMat3 {
    // For symmetric A = U Σ Vᵀ, |A| = V |Σ| Vᵀ, and (A + |A|) / 2 has the positive part.
    let (_, sigma, v) = svd3(a);
    let size = v * DMat3::from_diagonal(sigma.abs()) * v.transpose();
    let sum = *a + size;
    (sum + sum.transpose()) * 0.25
}
