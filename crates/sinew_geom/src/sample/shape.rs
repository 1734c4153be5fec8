//! Primitives of a field: round cones and ellipsoids, and their distances.
//!
//! # Source
//! Inigo Quilez, *Distance functions*, iquilezles.org: the exact round cone and the bound for ellipsoids.
//! # Limits
//! Ellipsoids and flattened cones only bound the distance; [`STRETCH`] covers their largest error.

use glam::{DMat3, DVec3};

/// Factor by which a primitive's value may change faster than the true distance.
pub(super) const STRETCH: f64 = 1.35;

/// Geometry of a primitive, with precomputed values for its distance.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    Cone(Cone),
    Ellipsoid(Ellipsoid),
}

/// Balls of radius `ra` at `a` and `rb` at `a + axis` and their hull, `flat` times as thick along `across`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cone {
    a: DVec3,
    axis: DVec3,
    ra: f64,
    rb: f64,
    across: DVec3,
    flat: f64,
    /// `|axis|²`, its inverse, `|axis|² − (ra − rb)²`.
    l2: f64,
    inverse_l2: f64,
    a2: f64,
}

/// An ellipsoid: the unit ball in the coordinates `unit_from_world`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ellipsoid {
    center: DVec3,
    radii: DVec3,
    unit_from_world: DMat3,
    /// `unit_from_world` divided by the radii once more: its length is the rate of change of the first one's.
    slope_from_world: DMat3,
}

impl Cone {
    pub fn new(a: DVec3, b: DVec3, ra: f64, rb: f64) -> Self {
        let axis = b - a;
        let l2 = axis.length_squared();
        let a2 = l2 - (ra - rb) * (ra - rb);
        Self { a, axis, ra, rb, across: DVec3::X, flat: 1.0, l2, inverse_l2: 1.0 / l2, a2 }
    }

    pub fn flattened(self, across: DVec3, flat: f64) -> Self {
        Self { across: across.normalize_or(DVec3::X), flat, ..self }
    }

    fn distance(&self, p: DVec3) -> f64 {
        let q = p - self.a;
        if self.flat == 1.0 {
            return self.round_distance(q);
        }
        let q = q + self.across * (q.dot(self.across) * (1.0 / self.flat - 1.0));
        self.round_distance(q) * self.flat
    }

    /// Exact, for a point relative to the first end.
    fn round_distance(&self, q: DVec3) -> f64 {
        // One ball contains the other: there is no cone between them.
        if self.a2 <= 0.0 {
            return (q.length() - self.ra).min((q - self.axis).length() - self.rb);
        }
        let dr = self.ra - self.rb;
        let y = q.dot(self.axis);
        let z = y - self.l2;
        let x2 = (q * self.l2 - self.axis * y).length_squared();
        let (y2, z2) = (y * y * self.l2, z * z * self.l2);
        let k = dr * dr.abs() * x2;
        if z.signum() * self.a2 * z2 > k {
            return (x2 + z2).sqrt() * self.inverse_l2 - self.rb;
        }
        if y.signum() * self.a2 * y2 < k {
            return (x2 + y2).sqrt() * self.inverse_l2 - self.ra;
        }
        ((x2 * self.a2 * self.inverse_l2).sqrt() + y * dr) * self.inverse_l2 - self.ra
    }
}

impl Ellipsoid {
    pub fn new(center: DVec3, radii: DVec3, world_from_local: DMat3) -> Self {
        let scale = DMat3::from_diagonal(radii.recip());
        let unit_from_world = scale * world_from_local.transpose();
        Self { center, radii, unit_from_world, slope_from_world: scale * unit_from_world }
    }

    pub fn tilted(self, turn: DMat3) -> Self {
        let local_from_world = DMat3::from_diagonal(self.radii) * self.unit_from_world;
        Self::new(self.center, self.radii, turn * local_from_world.transpose())
    }

    fn distance(&self, p: DVec3) -> f64 {
        let q = p - self.center;
        let k0 = (self.unit_from_world * q).length();
        let k1 = (self.slope_from_world * q).length();
        if k1 < 1e-12 { -self.radii.min_element() } else { k0 * (k0 - 1.0) / k1 }
    }
}

impl Shape {
    /// Values within a ball.
    pub fn range(&self, p: DVec3, radius: f64) -> [f64; 2] {
        let slope = if matches!(self, Self::Ellipsoid(_)) { STRETCH } else { 1.0 };
        let d = self.distance(p);
        [d - slope * radius, d + slope * radius]
    }

    /// Signed distance, or a bound of it.
    pub fn distance(&self, p: DVec3) -> f64 {
        match self {
            Self::Cone(cone) => cone.distance(p),
            Self::Ellipsoid(ellipsoid) => ellipsoid.distance(p),
        }
    }

    /// Corners of a box around it.
    pub fn bounds(&self) -> [DVec3; 2] {
        match self {
            Self::Cone(c) => {
                let b = c.a + c.axis;
                [(c.a - c.ra).min(b - c.rb), (c.a + c.ra).max(b + c.rb)]
            }
            Self::Ellipsoid(e) => {
                let half = e.radii.max_element();
                [e.center - half, e.center + half]
            }
        }
    }
}
