//! A belt: a ring of points of the surface that bones carry, whatever muscles and gravity do.
//!
//! # Source
//! Capell (2004), §6.8 and figure 6.8: constraints together with muscles.

use crate::{BodyPoint, Pin};
use glam::{DAffine3, DVec3};

/// Points of the surface, held exactly.
#[derive(Debug, Clone, PartialEq)]
pub struct Belt {
    /// Each with the slot of the skin that carries it, and its place at rest.
    points: Vec<(BodyPoint, u16, DVec3)>,
}

impl Belt {
    pub(crate) fn new(points: Vec<(BodyPoint, u16, DVec3)>) -> Self {
        Self { points }
    }

    /// Add its pins where bones are.
    pub fn pin(&self, matrices: &[DAffine3], out: &mut Vec<Pin>) {
        let pin = |(point, slot, at): &(BodyPoint, u16, DVec3)| Pin {
            point: *point,
            target: matrices.get(*slot as usize).map_or(*at, |m| m.transform_point3(*at)),
        };
        out.extend(self.points.iter().map(pin));
    }
}
