//! St. Venant–Kirchhoff cells as polynomials of their displacements, with precomputed integrals.
//!
//! # Source
//! Capell (2004), appendix A, eqs. A.1–A.3: the elastic potential is a quartic polynomial whose coefficients are
//! integrals of products of up to four gradients. Differs: the strain has the factor ½ that eq. 3.9 lacks (see
//! `energy`); `λ` and `μ` are taken out of the integrals, because they are constant within a cell, so that one table
//! serves all cubes; and the integrals are exact (3 × 3 × 3 points) instead of sums over tetrahedra.
//! # Symbols
//! `q_a` displacement of corner `a`; `A_ab = ∫ g_a g_bᵀ`; `C_abc = ∫ g_a (g_b · g_c)`;
//! `D_abcd = ∫ (g_a · g_b)(g_c · g_d)`
//! # Cost
//! About 25 k multiply-adds per gradient, compared with 3 k at 2 × 2 × 2 points: summing over points at run time is
//! faster than summing over four corners (`sinew_bench flesh` reports both).
//! # Limits
//! Trilinear functions: bending is too stiff on coarse lattices.

use crate::Material;
use glam::{DMat3, DVec3};

/// Integrals of one shape of cell.
#[derive(Debug, Clone)]
pub struct Integrals {
    a: [[DMat3; 8]; 8],
    c: Box<[[[DVec3; 8]; 8]; 8]>,
    /// Indexed by `(a, b, c, d)`.
    d: Box<[[[[f64; 8]; 8]; 8]; 8]>,
}

impl Integrals {
    /// By points with gradients and volumes.
    pub fn new(points: &[([DVec3; 8], f64)]) -> Self {
        let mut made = Self {
            a: [[DMat3::ZERO; 8]; 8],
            c: Box::new([[[DVec3::ZERO; 8]; 8]; 8]),
            d: Box::new([[[[0.0; 8]; 8]; 8]; 8]),
        };
        for (g, volume) in points {
            let dots: [[f64; 8]; 8] = std::array::from_fn(|a| std::array::from_fn(|b| g[a].dot(g[b])));
            for a in 0..8 {
                for b in 0..8 {
                    made.a[a][b] += DMat3::from_cols(g[a] * g[b].x, g[a] * g[b].y, g[a] * g[b].z) * *volume;
                    for c in 0..8 {
                        made.c[a][b][c] += g[a] * (dots[b][c] * volume);
                        for d in 0..8 {
                            made.d[a][b][c][d] += dots[a][b] * dots[c][d] * volume;
                        }
                    }
                }
            }
        }
        made
    }

    /// Energy and its gradient (eq. A.1), by degrees of the polynomial.
    pub fn response(&self, q: &[DVec3; 8], material: &Material, share: f64) -> (f64, [DVec3; 8]) {
        let (lambda, mu) = (material.lambda() * share, material.shear() * share);
        let dots: [[f64; 8]; 8] = std::array::from_fn(|a| std::array::from_fn(|b| q[a].dot(q[b])));
        let mut energy = 0.0;
        let gradient = std::array::from_fn(|c| {
            let (mut one, mut two, mut three) = (DVec3::ZERO, DVec3::ZERO, DVec3::ZERO);
            for a in 0..8 {
                let trace = self.a[a][c].x_axis.x + self.a[a][c].y_axis.y + self.a[a][c].z_axis.z;
                one += self.a[c][a] * q[a] * lambda + (q[a] * trace + self.a[a][c] * q[a]) * mu;
                for b in 0..8 {
                    let (abc, cab) = (self.c[a][b][c], self.c[c][a][b]);
                    two += (cab * (0.5 * dots[a][b]) + q[b] * q[a].dot(abc)) * lambda;
                    two += (abc * dots[a][b] + q[a] * (q[b].dot(abc) + q[b].dot(cab))) * mu;
                    // Σ_d q_a (q_b · q_d) D_abdc, and Σ_d q_a (q_b · q_d) D_bdac.
                    let sums = (0..8).fold([0.0; 2], |[shear, bulk], d| {
                        [shear + dots[b][d] * self.d[a][b][d][c], bulk + dots[b][d] * self.d[b][d][a][c]]
                    });
                    three += q[a] * (mu * sums[0] + 0.5 * lambda * sums[1]);
                }
            }
            // Euler: a homogeneous function of degree n is its slope along itself, over n.
            energy += q[c].dot(one / 2.0 + two / 3.0 + three / 4.0);
            one + two + three
        });
        (energy, gradient)
    }

    /// Block of the stiffness matrix (eq. A.3): derivative of the gradient of corner `c` by corner `d`.
    #[cfg(test)]
    pub fn tangent(&self, q: &[DVec3; 8], material: &Material, (c, d): (usize, usize)) -> DMat3 {
        let (lambda, mu) = (material.lambda(), material.shear());
        let outer = super::energy::outer;
        let even = |x: f64| DMat3::from_diagonal(DVec3::splat(x));
        let trace = self.a[d][c].x_axis.x + self.a[d][c].y_axis.y + self.a[d][c].z_axis.z;
        let mut block = self.a[c][d] * lambda + (even(trace) + self.a[d][c]) * mu;
        for a in 0..8 {
            let (adc, dac, cad, cda) = (self.c[a][d][c], self.c[d][a][c], self.c[c][a][d], self.c[c][d][a]);
            block += (outer(cad, q[a]) + even(q[a].dot(adc)) + outer(q[a], dac)) * lambda;
            block += (outer(dac, q[a]) + outer(adc, q[a]) + even(q[a].dot(dac))) * mu;
            block += (outer(q[a], adc) + even(q[a].dot(cda)) + outer(q[a], cad)) * mu;
            for b in 0..8 {
                let product = q[a].dot(q[b]);
                let pair = outer(q[a], q[b]);
                block += (even(0.5 * product * self.d[a][b][d][c]) + pair * self.d[d][b][a][c]) * lambda;
                block += even(product * self.d[d][a][b][c]) * mu;
                block += pair * (mu * (self.d[a][d][b][c] + self.d[a][b][d][c]));
            }
        }
        block
    }
}
