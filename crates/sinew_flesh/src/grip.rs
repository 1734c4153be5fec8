//! Holding and pushing a part of the surface of a running simulation.

use crate::{Anchor, BodyPoint, FleshError, Pull, Simulation};
use glam::DVec3;

/// Stiffness of a grip, in units of the flesh's own.
const GRIP_STIFFNESS: f64 = 10.0;
/// Radius of a grip around the vertex it holds, in cells.
const GRIP_RADIUS_CELLS: f64 = 1.5;

/// A part of the surface that the user holds or pushes.
#[derive(Debug, Clone, PartialEq)]
pub struct Grip {
    vertex: usize,
    /// Points, their shares of the grip's strength, and their offsets from its middle.
    points: Vec<(BodyPoint, f64, DVec3)>,
}

impl Simulation {
    /// The part of the surface around a vertex, to be held or pushed.
    ///
    /// # Errors
    /// If there is no such vertex.
    pub fn grip(&self, vertex: usize) -> Result<Grip, FleshError> {
        let (embedding, lattice) = (&self.body.embedding, &self.body.lattice);
        if vertex >= embedding.len() {
            let (what, len) = ("vertex", embedding.len());
            return Err(FleshError::OutOfLattice { what, index: vertex, len });
        }
        let middle = self.body.point(vertex);
        let at_rest = |point: &BodyPoint| point.evaluate(lattice, lattice.nodes());
        let now = |point: &BodyPoint| point.evaluate(lattice, &self.state.positions);
        let (center, reach) = (at_rest(&middle), GRIP_RADIUS_CELLS * lattice.size());
        let strength = |point: &BodyPoint| 1.0 - (at_rest(point).distance(center) / reach).powi(2);
        let around = self.attachment.contact_points.iter().map(|point| (*point, strength(point)));
        let mut points: Vec<(BodyPoint, f64, DVec3)> = around
            .chain([(middle, 1.0)])
            .filter(|(_, share)| *share > 0.0)
            .map(|(point, share)| (point, share, now(&point) - now(&middle)))
            .collect();
        let sum: f64 = points.iter().map(|(_, share, _)| share).sum();
        points.iter_mut().for_each(|(_, share, _)| *share /= sum);
        Ok(Grip { vertex, points })
    }

    /// Pull a part of the surface to a place by a spring until this is called again; `None` releases it.
    pub fn hold(&mut self, grip: Option<(&Grip, DVec3)>) {
        let strength = GRIP_STIFFNESS * self.solver.mean_young() * self.body.lattice.size();
        // Targets are places of the displayed surface.
        let offset_of = |grip: &Grip| self.surface_offset(grip.vertex);
        let pull = |(point, share, offset): &(BodyPoint, f64, DVec3), target: DVec3| Pull {
            anchor: Anchor { point: *point, stiffness: strength * share },
            target: target + *offset,
        };
        self.input.pulls = grip.map_or_else(Vec::new, |(grip, target)| {
            let target = target - offset_of(grip);
            grip.points.iter().map(|point| pull(point, target)).collect()
        });
    }

    /// Push a part of the surface with a force in newtons until this is called again; `None` stops.
    pub fn push(&mut self, grip: Option<(&Grip, DVec3)>) {
        self.input.pushes = grip.map_or_else(Vec::new, |(grip, force)| {
            grip.points.iter().map(|(point, share, _)| (*point, force * *share)).collect()
        });
    }
}
