//! What flesh is made of.

use crate::FleshError;

/// An isotropic elastic material.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Material {
    /// Young's modulus in pascals: how it resists being stretched. Flesh has 5 to 300 kPa. Default 30 kPa.
    pub young: f64,
    /// Poisson's ratio: how it narrows when stretched; 0.5 would keep its volume. Default 0.45.
    pub poisson: f64,
    /// Kilograms per cubic metre. Default 1000.
    pub density: f64,
}

/// Metres of the body that the default is for.
const USUAL_SIZE: f64 = 1.7;

impl Default for Material {
    fn default() -> Self {
        Self { young: 30e3, poisson: 0.45, density: 1000.0 }
    }
}

impl Material {
    /// Flesh of a body whose greatest extent is `metres`: what sags by its own weight is the same share of it at any size.
    pub fn of_size(metres: f64) -> Self {
        let usual = Self::default();
        // A body without extent is refused later, with its own message.
        usual.stiffened((metres / USUAL_SIZE).max(1e-6))
    }

    /// Shear modulus `G`, Lamé's second constant `μ`.
    pub fn shear(&self) -> f64 {
        self.young / (2.0 * (1.0 + self.poisson))
    }

    /// Lamé's first constant `λ = 2 G ν / (1 − 2 ν)`.
    pub fn lambda(&self) -> f64 {
        2.0 * self.shear() * self.poisson / (1.0 - 2.0 * self.poisson)
    }

    /// The same, `factor` times as stiff.
    pub fn stiffened(&self, factor: f64) -> Self {
        Self { young: self.young * factor, ..*self }
    }

    /// Refuse what no body is made of.
    ///
    /// # Errors
    /// The number out of range, with the range.
    pub fn check(&self) -> Result<(), FleshError> {
        let within = |name, value: f64, low: f64, high: f64, expected| {
            let fits = value > low && value <= high;
            if fits { Ok(()) } else { Err(FleshError::Parameter { name, value, expected }) }
        };
        within("stiffness", self.young, 0.0, 1e12, "it must be above 0 and at most 1e12 Pa")?;
        within("density", self.density, 0.0, 1e6, "it must be above 0 and at most 1e6 kg/m³")?;
        let allowed = "it must lie above -1 and be at most 0.499 (0.5 would be incompressible)";
        within("Poisson's ratio", self.poisson, -1.0, 0.499, allowed)
    }
}
