//! Things that flesh cannot go through.
//!
//! # Source
//! Implicit penalty along the normal and Coulomb friction with the normal force of the step's beginning, as a drag that
//! never exceeds `μ N` (regularised below `SLOW`).

use crate::FleshError;
use glam::{DMat3, DVec3};

/// Something solid, where it is at the end of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Collider {
    /// Everything on the other side of a plane through `point`.
    Plane {
        /// A point of the plane.
        point: DVec3,
        /// Unit vector to the free side.
        normal: DVec3,
    },
    /// A ball.
    Sphere {
        /// Its middle.
        center: DVec3,
        /// Its radius.
        radius: f64,
    },
    /// A rod with round ends.
    Capsule {
        /// Ends of its axis.
        ends: [DVec3; 2],
        /// Its radius.
        radius: f64,
    },
}

/// A collider and how rough it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Obstacle {
    /// Its shape.
    pub shape: Collider,
    /// Coulomb's coefficient `μ`.
    pub friction: f64,
}

/// Below this speed, in metres a second, friction fades out.
const SLOW: f64 = 1e-2;

impl Collider {
    /// Horizontal ground.
    pub fn floor(height: f64) -> Self {
        Self::Plane { point: DVec3::Y * height, normal: DVec3::Y }
    }

    /// Signed distance of a point, negative within, and the direction outwards.
    pub fn distance(&self, p: DVec3) -> (f64, DVec3) {
        let from_ball = |center: DVec3, radius: f64| {
            let away = p - center;
            (away.length() - radius, away.try_normalize().unwrap_or(DVec3::Y))
        };
        match *self {
            Self::Plane { point, normal } => ((p - point).dot(normal), normal),
            Self::Sphere { center, radius } => from_ball(center, radius),
            Self::Capsule { ends: [a, b], radius } => from_ball(closest_on_segment(a, b, p), radius),
        }
    }

    /// # Errors
    /// A number that makes no solid.
    pub fn check(&self) -> Result<(), FleshError> {
        let wrong = |name, value, expected| Err(FleshError::Parameter { name, value, expected });
        let positive = "it must be positive";
        match *self {
            Self::Plane { point, normal } if !point.is_finite() || !normal.is_normalized() => {
                wrong("normal of a plane", normal.length(), "it must have length 1")
            }
            Self::Sphere { radius, .. } | Self::Capsule { radius, .. }
                if radius <= 0.0 || !radius.is_finite() =>
            {
                wrong("radius", radius, positive)
            }
            _ => Ok(()),
        }
    }
}

/// The point of a segment nearest to `p`; the segment may have no length.
pub(crate) fn closest_on_segment(a: DVec3, b: DVec3, p: DVec3) -> DVec3 {
    let along = b - a;
    let square = along.length_squared();
    if square > 0.0 { a + along * ((p - a).dot(along) / square).clamp(0.0, 1.0) } else { a }
}

/// What an obstacle does to a point within a step of `secs`: its part of the system, and impulse. `None` if the point
/// stays clear.
pub(crate) fn respond(
    obstacle: &Obstacle,
    (p, v): (DVec3, DVec3),
    stiffness: f64,
    secs: f64,
) -> Option<(DMat3, DVec3)> {
    let (distance, normal) = obstacle.shape.distance(p);
    let gap = distance + secs * normal.dot(v);
    if gap >= 0.0 {
        return None;
    }
    let sliding = v - normal * normal.dot(v);
    let drag = obstacle.friction * stiffness * -gap / sliding.length().max(SLOW);
    let across = DMat3::from_cols(normal * normal.x, normal * normal.y, normal * normal.z);
    let along = DMat3::IDENTITY - across;
    let matrix = across * (secs * secs * stiffness) + along * (secs * drag);
    Some((matrix, normal * (-secs * stiffness * gap) - sliding * (secs * drag)))
}
