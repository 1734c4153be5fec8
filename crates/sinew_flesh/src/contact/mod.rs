//! Obstacles that flesh cannot pass through.
//!
//! # Source
//! An implicit penalty along the normal, and Coulomb friction with the normal force at the beginning of the step, as a
//! drag that never exceeds `μ N` (regularised below `SLOW_METRES_PER_SEC`).

mod terrain;

pub use terrain::Terrain;

use crate::FleshError;
use glam::{DMat3, DQuat, DVec3};
use std::sync::Arc;

/// Something solid, where it is at the end of a step.
#[derive(Debug, Clone, PartialEq)]
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
    /// A box.
    Cuboid {
        /// Its middle.
        center: DVec3,
        /// Half of its sides.
        half: DVec3,
        /// How it is turned.
        rotation: DQuat,
    },
    /// Ground that rises and falls.
    Terrain(Arc<Terrain>),
}

/// A collider and how rough it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Obstacle {
    /// Its shape.
    pub shape: Collider,
    /// Coulomb's coefficient `μ`.
    pub friction: f64,
}

/// Below this speed, in metres per second, friction fades out.
const SLOW_METRES_PER_SEC: f64 = 1e-2;

impl Collider {
    /// Horizontal ground.
    pub fn floor(height: f64) -> Self {
        Self::Plane { point: DVec3::Y * height, normal: DVec3::Y }
    }

    /// The six walls of a room, which keep flesh within.
    pub fn room(low: DVec3, high: DVec3) -> [Self; 6] {
        std::array::from_fn(|k| match k < 3 {
            true => Self::Plane { point: low, normal: DVec3::AXES[k] },
            false => Self::Plane { point: high, normal: -DVec3::AXES[k - 3] },
        })
    }

    /// Signed distance of a point, negative within, and the direction outwards.
    pub fn distance(&self, p: DVec3) -> (f64, DVec3) {
        let from_ball = |center: DVec3, radius: f64| {
            let away = p - center;
            (away.length() - radius, away.try_normalize().unwrap_or(DVec3::Y))
        };
        match self {
            Self::Plane { point, normal } => ((p - *point).dot(*normal), *normal),
            Self::Sphere { center, radius } => from_ball(*center, *radius),
            Self::Capsule { ends: [a, b], radius } => from_ball(closest_on_segment(*a, *b, p), *radius),
            Self::Cuboid { center, half, rotation } => {
                let (distance, normal) = from_box(*half, rotation.inverse() * (p - *center));
                (distance, *rotation * normal)
            }
            Self::Terrain(terrain) => terrain.distance(p),
        }
    }

    /// # Errors
    /// A number that makes no solid.
    pub fn check(&self) -> Result<(), FleshError> {
        let wrong = |name, value, expected| Err(FleshError::Parameter { name, value, expected });
        let positive = "it must be positive";
        match *self {
            Self::Cuboid { half, .. } if !(half.is_finite() && half.min_element() > 0.0) => {
                wrong("side of a box", half.min_element(), positive)
            }
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

/// Distance from a box around the origin, and the way out.
fn from_box(half: DVec3, p: DVec3) -> (f64, DVec3) {
    let nearest = p.clamp(-half, half);
    let away = p - nearest;
    if let Some(normal) = away.try_normalize() {
        return (away.length(), normal);
    }
    let depths = half - p.abs();
    let axis = (0..3).min_by(|a, b| depths[*a].total_cmp(&depths[*b])).unwrap_or(0);
    (-depths[axis], DVec3::AXES[axis] * if p[axis] < 0.0 { -1.0 } else { 1.0 })
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
    let drag = obstacle.friction * stiffness * -gap / sliding.length().max(SLOW_METRES_PER_SEC);
    let across = DMat3::from_cols(normal * normal.x, normal * normal.y, normal * normal.z);
    let along = DMat3::IDENTITY - across;
    let matrix = across * (secs * secs * stiffness) + along * (secs * drag);
    Some((matrix, normal * (-secs * stiffness * gap) - sliding * (secs * drag)))
}
