//! Example poses taken apart into moves and screws.
//!
//! # Source
//! Hansen (2006), §7.1–7.2.

use super::{
    screw::Screw,
    space::{Act, ExamplePose, PoseSpace, Prepared, Scouts, Step, UNIT_SHARE},
    tree::HandleTree,
};
use crate::{DeformError, HandlePose, HandleSet, Twist, pose::twist_range};
use glam::DVec3;
use sinew_geom::{Mesh, Move};

impl PoseSpace {
    /// Decompose examples.
    ///
    /// # Errors
    /// If there is none, or one does not fit the handles: it is named.
    pub fn new(mesh: &Mesh, handles: &HandleSet, examples: &[ExamplePose<'_>]) -> Result<Self, DeformError> {
        if examples.is_empty() {
            return Err(DeformError::NoExample);
        }
        let tree = HandleTree::new(handles, examples.iter().flat_map(|e| e.moves));
        let pivot: Vec<DVec3> = handles.handles().iter().map(|h| h.center).collect();
        let grip: Vec<DVec3> = (0..handles.len()).map(|h| middle(mesh, handles, h)).collect();
        let offset = tree.parent.iter().zip(&pivot).map(|(p, c)| *c - p.map_or(DVec3::ZERO, |p| pivot[p]));
        let mut space = Self {
            names: handles.handles().iter().map(|h| h.name.clone()).collect(),
            offset: offset.collect(),
            tree,
            pivot,
            grip,
            examples: Vec::new(),
            screws: Vec::new(),
            movers: Vec::new(),
            only_turns: Vec::new(),
            unit: UNIT_SHARE * extent(mesh),
            scouts: Scouts::default(),
            details: Vec::new(),
        };
        for example in examples {
            let prepared = space.take_apart(mesh, handles, example).map_err(|cause| {
                DeformError::Example { name: example.name.to_owned(), cause: Box::new(cause) }
            })?;
            space.examples.push(prepared);
        }
        for h in 0..handles.len() {
            let screws: Vec<_> =
                space.examples.iter().map(|e| space.screw(&e.pose, h).without_noise(space.unit)).collect();
            let moves = |e: &usize| screws[*e] != Screw::default();
            space.movers.push((0..screws.len()).filter(moves).collect());
            let turns = |s: &Screw| s.speed == DVec3::ZERO && s.shift == DVec3::ZERO;
            space.only_turns.push(screws.iter().all(turns));
            space.screws.extend(screws);
        }
        space.scouts = Scouts::send(&space);
        Ok(space)
    }

    fn take_apart(
        &self,
        mesh: &Mesh,
        handles: &HandleSet,
        example: &ExamplePose<'_>,
    ) -> Result<Prepared, DeformError> {
        // Replaying also checks every name and number.
        let pose = HandlePose::from_moves(mesh, handles, example.moves)?;
        let grips = (0..self.grip.len()).map(|h| pose.motions()[h].affine().transform_point3(self.grip[h]));
        Ok(Prepared {
            name: example.name.to_owned(),
            grips: grips.collect(),
            steps: example.moves.iter().filter_map(|step| look_up(mesh, handles, step)).collect(),
            pose,
        })
    }
}

/// A move with its names looked up; `None` if it moves nothing. The names are known to exist.
fn look_up(mesh: &Mesh, handles: &HandleSet, step: &Move) -> Option<Step> {
    let find_all = |names: &[String]| {
        let mut found: Vec<usize> = names.iter().filter_map(|name| handles.find(name)).collect();
        found.sort_unstable();
        found.dedup();
        found
    };
    Some(match step {
        Move::Rotate { main, handles: names, axis, radians } => {
            let main = handles.find(main)?;
            let turned = match names.is_empty() {
                true => {
                    let stored = &handles.handles()[main];
                    find_all(&[std::slice::from_ref(&stored.name), &stored.secondary].concat())
                }
                false => find_all(names),
            };
            let act = Act::Turn { main, axis: axis.normalize(), radians: *radians };
            Step { handles: turned, act, twists: Vec::new() }
        }
        Move::Translate { handles: names, vector } => {
            Step { handles: find_all(names), act: Act::Shift { vector: *vector }, twists: Vec::new() }
        }
        Move::Twist { handles: names, axis, radians, over } => {
            let main = handles.find(names.first()?)?;
            let (axis, origin) = (axis.normalize(), handles.handles()[main].center);
            let twist = |h: usize| {
                let range = twist_range(mesh, handles, h, origin, axis);
                (h, Twist { axis, origin, radians: *radians, range })
            };
            Step {
                handles: find_all(names),
                act: Act::Turn { main, axis, radians: *radians },
                twists: find_all(over).into_iter().map(twist).collect(),
            }
        }
    })
}

fn middle(mesh: &Mesh, handles: &HandleSet, h: usize) -> DVec3 {
    let handle = &handles.handles()[h];
    let sum: DVec3 = handle.vertices.iter().map(|&v| mesh.positions()[v as usize]).sum();
    if handle.vertices.is_empty() { handle.center } else { sum / handle.vertices.len() as f64 }
}

/// Largest extent of a mesh; 1 if it has none.
fn extent(mesh: &Mesh) -> f64 {
    let (low, high) = mesh
        .positions()
        .iter()
        .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), p| (low.min(*p), high.max(*p)));
    Some((high - low).max_element()).filter(|x| x.is_finite() && *x > 0.0).unwrap_or(1.0)
}
