//! Force field templates: small closed forms around an origin.
//!
//! # Source
//! Capell (2004), §6.4.1: bump, bulge (eq. 6.4), radial and torus. Capell describes the last two in words only; here
//! their forces vanish at the centre as those of the bulge do, so that they have continuous first derivatives.
//! # Symbols
//! `A` amplitude (N/m³); `R` radius of the support; `S` radius of the ring of a torus; `B(r, R) = ½ + ½ cos(π r / R)`
//! for `|r| < R`; `h(r) = B(r − R/2, R/2) = sin²(π r / R)`
//! # Limits
//! A torus requires `R ≤ S`: beyond that its forces overlap in the middle.

use glam::{DMat3, DVec3};
use std::f64::consts::PI;

/// Which closed form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Template {
    /// Pushes along `y`, strongest in the middle of a ball.
    Bump,
    /// Stretches along `x` while it narrows across; with a negative amplitude it swells as a muscle does.
    Bulge,
    /// Pushes away from the middle of a ball.
    Radial,
    /// Pushes away from a ring around `y`.
    Torus,
}

/// A field of amplitude 1 at a place, and its derivatives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnitField {
    /// The force.
    pub value: DVec3,
    /// Its derivative by the place: columns by x, y, z.
    pub slope: DMat3,
    /// By the radius `R`.
    pub by_radius: DVec3,
    /// By the ring `S`.
    pub by_ring: DVec3,
}

impl Template {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Bump, Self::Bulge, Self::Radial, Self::Torus];

    /// Name in commands and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bump => "bump",
            Self::Bulge => "bulge",
            Self::Radial => "radial",
            Self::Torus => "torus",
        }
    }

    /// Template of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|template| template.name() == name)
    }

    /// Names of its parameters, the amplitude first, the radius second.
    pub fn parameters(self) -> &'static [&'static str] {
        match self {
            Self::Torus => &["amplitude", "radius", "ring"],
            _ => &["amplitude", "radius"],
        }
    }

    /// How far from the origin it reaches.
    pub fn reach(self, params: &[f64]) -> f64 {
        match self {
            Self::Torus => params[1] + params[2],
            _ => params[1],
        }
    }

    /// The force at a place; `params` as [`Self::parameters`] names them.
    pub fn force(self, x: DVec3, params: &[f64]) -> DVec3 {
        self.unit(x, params).map_or(DVec3::ZERO, |field| field.value * params[0])
    }

    /// The field of amplitude 1; `None` outside its support.
    pub fn unit(self, x: DVec3, params: &[f64]) -> Option<UnitField> {
        let radius = params[1];
        match self {
            Self::Bump => bump(x, radius),
            Self::Bulge => bulge(x, radius),
            Self::Radial => {
                let s = Swell::new(x.length(), radius)?;
                Some(along(x, s.share, x * s.rise, x * s.by_radius, DVec3::ZERO))
            }
            Self::Torus => torus(x, radius, params[2]),
        }
    }
}

fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// `x · s(x)`: its derivatives from `∇s`.
fn along(x: DVec3, share: f64, gradient: DVec3, by_radius: DVec3, by_ring: DVec3) -> UnitField {
    let slope = DMat3::from_diagonal(DVec3::splat(share)) + outer(x, gradient);
    UnitField { value: x * share, slope, by_radius, by_ring }
}

/// `h(r) / r`, which swells from nothing in the middle and is nothing at `R`.
struct Swell {
    /// `h / r`.
    share: f64,
    /// Its derivative by `r`, over `r`: the gradient is this times the vector.
    rise: f64,
    /// Its derivative by `R`.
    by_radius: f64,
}

impl Swell {
    fn new(r: f64, radius: f64) -> Option<Self> {
        if r >= radius {
            return None;
        }
        let k = PI / radius;
        // Near the middle sin² is its square, which the quotients below would lose.
        if r < 1e-6 * radius {
            return Some(Self { share: k * k * r, rise: 0.0, by_radius: -2.0 * k * k * r / radius });
        }
        let (h, twice) = ((k * r).sin().powi(2), (2.0 * k * r).sin());
        let slope = k * twice / r - h / (r * r);
        Some(Self { share: h / r, rise: slope / r, by_radius: -k * twice / radius })
    }
}

fn bump(x: DVec3, radius: f64) -> Option<UnitField> {
    let r = x.length();
    if r >= radius {
        return None;
    }
    let (angle, k) = (PI * r / radius, PI / radius);
    // sin(angle) / r, which tends to k.
    let over = if r > 1e-9 * radius { angle.sin() / r } else { k };
    Some(UnitField {
        value: DVec3::Y * (0.5 + 0.5 * angle.cos()),
        slope: outer(DVec3::Y, x * (-0.5 * k * over)),
        by_radius: DVec3::Y * (0.5 * angle / radius * angle.sin()),
        by_ring: DVec3::ZERO,
    })
}

/// Eq. 6.4, with `cos 2θ = 2 (x/r)² − 1`.
fn bulge(x: DVec3, radius: f64) -> Option<UnitField> {
    let r = x.length();
    let s = Swell::new(r, radius)?;
    if r < 1e-6 * radius {
        return Some(along(x, 0.0, DVec3::ZERO, DVec3::ZERO, DVec3::ZERO));
    }
    let square = r * r;
    let turn = 2.0 * x.x * x.x / square - 1.0;
    let turning = DVec3::X * (4.0 * x.x / square) - x * (4.0 * x.x * x.x / (square * square));
    let gradient = x * (s.rise * turn) + turning * s.share;
    Some(along(x, s.share * turn, gradient, x * (s.by_radius * turn), DVec3::ZERO))
}

fn torus(x: DVec3, radius: f64, ring: f64) -> Option<UnitField> {
    let flat = DVec3::new(x.x, 0.0, x.z);
    let far = flat.length();
    // On the axis every direction is as near; none is as good as any.
    let out = if far > 0.0 { flat / far } else { DVec3::ZERO };
    let d = x - out * ring;
    let s = Swell::new(d.length(), radius)?;
    let turning = if far > 0.0 {
        (DMat3::from_diagonal(DVec3::new(1.0, 0.0, 1.0)) - outer(out, out)) * (ring / far)
    } else {
        DMat3::ZERO
    };
    let slope = (DMat3::IDENTITY - turning) * s.share + outer(d, d * s.rise);
    let by_ring = -out * s.share - d * (s.rise * d.dot(out));
    Some(UnitField { value: d * s.share, slope, by_radius: d * s.by_radius, by_ring })
}
