//! Stiffness of a hexahedron of any shape.
//!
//! # Source
//! Trilinear hexahedron at 2 × 2 × 2 Gauss points; incompatible modes: Wilson et al., *Incompatible displacement
//! models* (1973), with the correction of Taylor, Beresford and Wilson, *A non-conforming element for stress analysis*
//! (1976): gradients of the modes are computed with the Jacobian at the centre, without which distorted cells fail the
//! patch test.
//! # Symbols
//! `g_a` gradient of the shape function of corner `a`; `λ`, `μ` Lamé's constants;
//! `K_ab = ∫ λ g_a g_bᵀ + μ g_b g_aᵀ + μ (g_a · g_b) I dV`
//! # Cost
//! About 30 µs; once for each distinct cell.
//! # Limits
//! Cells must not be inverted anywhere.

use crate::{FleshError, Material};
use glam::{DMat3, DVec3};
use sinew_geom::linalg::DenseCholesky;

/// Stiffness of the 24 degrees of freedom of a cell: corner by corner, x y z.
pub type Stiffness = [[f64; 24]; 24];

/// Which functions a cell can take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ElementKind {
    /// Trilinear functions and three quadratic ones that are eliminated: bends as a beam does.
    #[default]
    Incompatible,
    /// Trilinear functions alone, as in Capell (2004): too stiff when bent.
    Trilinear,
}

impl ElementKind {
    /// All kinds.
    pub const ALL: [Self; 2] = [Self::Incompatible, Self::Trilinear];

    /// Name in commands.
    pub fn name(self) -> &'static str {
        match self {
            Self::Incompatible => "incompatible",
            Self::Trilinear => "trilinear",
        }
    }

    /// Kind of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Side of a corner along an axis: −1 or 1.
fn sign(corner: usize, axis: usize) -> f64 {
    if corner >> axis & 1 == 1 { 1.0 } else { -1.0 }
}

/// Gradients of the shape functions in the reference cube.
fn reference_gradients(at: DVec3) -> [DVec3; 8] {
    std::array::from_fn(|corner| {
        let along = |axis: usize| {
            let others = (0..3).filter(|k| *k != axis).map(|k| 1.0 + sign(corner, k) * at[k]);
            sign(corner, axis) * others.product::<f64>() / 8.0
        };
        DVec3::new(along(0), along(1), along(2))
    })
}

/// `∂x/∂ξ`.
fn jacobian(corners: &[DVec3; 8], gradients: &[DVec3; 8]) -> DMat3 {
    let column = |k: usize| corners.iter().zip(gradients).map(|(x, g)| *x * g[k]).sum();
    DMat3::from_cols(column(0), column(1), column(2))
}

/// Volumes of the parallelepipeds at the eight corners: all positive in a cell that is not folded over.
pub fn corner_volumes(corners: &[DVec3; 8]) -> [f64; 8] {
    std::array::from_fn(|c| {
        let edge = |axis: usize| (corners[c ^ 1 << axis] - corners[c]) * -sign(c, axis);
        DMat3::from_cols(edge(0), edge(1), edge(2)).determinant()
    })
}

/// Gradients of the eight shape functions and the volume at each of the 2 × 2 × 2 Gauss points.
pub fn gauss_gradients(corners: &[DVec3; 8]) -> [([DVec3; 8], f64); 8] {
    std::array::from_fn(|point| gradients_at(corners, gauss_point(point)))
}

/// Gradients in the body, and volume a volume of the reference cube.
fn gradients_at(corners: &[DVec3; 8], at: DVec3) -> ([DVec3; 8], f64) {
    let reference = reference_gradients(at);
    let jacobian = jacobian(corners, &reference);
    let to_body = jacobian.inverse().transpose();
    (reference.map(|g| to_body * g), jacobian.determinant())
}

/// The same at 3 × 3 × 3 points, which are exact for products of four gradients of a cube's functions.
pub fn exact_gradients(corners: &[DVec3; 8]) -> Vec<([DVec3; 8], f64)> {
    let places = [(-0.6f64.sqrt(), 5.0 / 9.0), (0.0, 8.0 / 9.0), (0.6f64.sqrt(), 5.0 / 9.0)];
    let point = |k: usize| {
        let [x, y, z] = [places[k % 3], places[k / 3 % 3], places[k / 9]];
        let (gradients, volume) = gradients_at(corners, DVec3::new(x.0, y.0, z.0));
        (gradients, volume * x.1 * y.1 * z.1)
    };
    (0..27).map(point).collect()
}

fn gauss_point(point: usize) -> DVec3 {
    DVec3::new(sign(point, 0), sign(point, 1), sign(point, 2)) / 3f64.sqrt()
}

/// Stiffness of a cell.
///
/// # Errors
/// If the cell is so flat that its inner modes cannot be eliminated.
pub fn stiffness(
    corners: &[DVec3; 8],
    material: &Material,
    kind: ElementKind,
) -> Result<Box<Stiffness>, FleshError> {
    let center = jacobian(corners, &reference_gradients(DVec3::ZERO));
    let (center_inverse, center_volume) = (center.inverse().transpose(), center.determinant());
    let mut full = vec![[0.0; 33]; 33];
    for (point, (gradients, volume)) in gauss_gradients(corners).iter().enumerate() {
        let at = gauss_point(point);
        let mode = |k: usize| center_inverse * (DVec3::AXES[k] * (-2.0 * at[k])) * (center_volume / volume);
        let all: [DVec3; 11] = std::array::from_fn(|a| if a < 8 { gradients[a] } else { mode(a - 8) });
        add_products(&mut full, &all, material, *volume);
    }
    let mut out = Box::new([[0.0; 24]; 24]);
    for i in 0..24 {
        out[i].copy_from_slice(&full[i][..24]);
    }
    if kind == ElementKind::Incompatible {
        condense(&full, &mut out)?;
    }
    Ok(out)
}

fn add_products(full: &mut [[f64; 33]], gradients: &[DVec3; 11], material: &Material, volume: f64) {
    let (lambda, mu) = (material.lambda() * volume, material.shear() * volume);
    for (a, ga) in gradients.iter().enumerate() {
        for (b, gb) in gradients.iter().enumerate() {
            let dot = mu * ga.dot(*gb);
            for i in 0..3 {
                for j in 0..3 {
                    full[3 * a + i][3 * b + j] += lambda * ga[i] * gb[j] + mu * ga[j] * gb[i];
                }
                full[3 * a + i][3 * b + i] += dot;
            }
        }
    }
}

/// `K − B A⁻¹ Bᵀ`: the inner modes take whatever values cost least.
fn condense(full: &[[f64; 33]], out: &mut Stiffness) -> Result<(), FleshError> {
    let inner: Vec<f64> = (24..33).flat_map(|i| full[i][24..].to_vec()).collect();
    let factor = DenseCholesky::new(9, inner)?;
    let mut columns: Vec<f64> = (0..24).flat_map(|j| (24..33).map(move |i| full[i][j])).collect();
    factor.solve(&mut columns)?;
    for i in 0..24 {
        for j in 0..24 {
            out[i][j] -= (0..9).map(|k| full[i][24 + k] * columns[9 * j + k]).sum::<f64>();
        }
    }
    Ok(())
}
