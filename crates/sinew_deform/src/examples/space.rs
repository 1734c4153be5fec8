//! The pose space: all blends of the example poses.
//!
//! # Source
//! Hansen (2006), §7.1–7.2. Differs: besides the blend of algorithms 2 and 3, whose result depends on the order of the
//! examples, there is one that does not. It blends the motion of each handle relative to the handle that carries it, as
//! a screw, so that each example is met exactly at weight 1 and limbs keep their lengths in between.

use super::{detail::Detail, screw::Screw, search::scouts::Scouts, tree::HandleTree};
use crate::{DeformError, HandlePose, HandleSet, Twist, pose::nearest_turn, pose::twist_range};
use glam::{DAffine3, DVec3};
use sinew_geom::{Mesh, Move};

/// A pose stored by the user, as its history.
#[derive(Debug, Clone, Copy)]
pub struct ExamplePose<'a> {
    /// Its name.
    pub name: &'a str,
    /// The moves that make it.
    pub moves: &'a [Move],
}

/// Lengths are measured in this share of the largest extent of the body. With it the constants of table 7.2 mean the
/// same on a body of any size, and a handle that misses its target by a hand's width costs more than weights that
/// miss 1.
const UNIT_SHARE: f64 = 0.1;

/// Example poses of one body, ready to be blended.
#[derive(Debug, Clone)]
pub struct PoseSpace {
    pub(super) names: Vec<String>,
    pub(super) tree: HandleTree,
    /// Rotation centre of every handle at rest.
    pub(super) pivot: Vec<DVec3>,
    /// Middle of the vertices of every handle at rest: what is brought to a target.
    pub(super) grip: Vec<DVec3>,
    /// From the pivot of the handle that carries it, or from the origin.
    pub(super) offset: Vec<DVec3>,
    pub(super) examples: Vec<Prepared>,
    /// Motion of handle `h` in example `e`, relative to its carrier, at `h n + e`.
    pub(super) screws: Vec<Screw>,
    /// Examples that move a handle relative to its carrier.
    pub(super) movers: Vec<Vec<usize>>,
    /// Whether examples only turn a handle about its pivot.
    pub(super) only_turns: Vec<bool>,
    /// Length in which distances are measured.
    pub(super) unit: f64,
    /// Poses evaluated in advance.
    pub(super) scouts: Scouts,
    /// Detail layers of the examples; empty if none has one.
    pub(super) details: Vec<Option<Detail>>,
}

/// A decomposed example.
#[derive(Debug, Clone)]
pub(super) struct Prepared {
    pub name: String,
    pub pose: HandlePose,
    pub steps: Vec<Step>,
    /// Where it brings the grips.
    pub grips: Vec<DVec3>,
}

/// A move with its names looked up.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub handles: Vec<usize>,
    pub act: Act,
    /// Twists within handles, at full weight.
    pub twists: Vec<(usize, Twist)>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Act {
    Turn { main: usize, axis: DVec3, radians: f64 },
    Shift { vector: DVec3 },
}

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

    /// Motion of a handle of a pose relative to the handle that carries it.
    pub(super) fn screw(&self, pose: &HandlePose, h: usize) -> Screw {
        let motion = &pose.motions()[h];
        let parent = self.tree.parent[h].map(|p| &pose.motions()[p]);
        let (back, parent_turn) =
            parent.map_or((DAffine3::IDENTITY, DVec3::ZERO), |m| (m.affine().inverse(), m.turn));
        let rotation = parent.map_or(motion.rotation, |m| m.rotation.inverse() * motion.rotation);
        let moved = back.transform_point3(motion.affine().transform_point3(self.pivot[h]));
        Screw::of(nearest_turn(rotation, motion.turn - parent_turn), moved - self.pivot[h])
    }

    /// Mean over the handles of the squared distance to where an example has them, in units.
    pub(super) fn unlikeness(&self, example: usize, grips: &[DVec3]) -> f64 {
        let there = &self.examples[example].grips;
        let sum: f64 = there.iter().zip(grips).map(|(a, b)| a.distance_squared(*b)).sum();
        sum / (there.len() as f64 * self.unit * self.unit)
    }

    /// Number of examples.
    pub fn n_examples(&self) -> usize {
        self.examples.len()
    }

    /// Number of handles.
    pub fn n_handles(&self) -> usize {
        self.names.len()
    }

    /// Names of the examples.
    pub fn example_names(&self) -> impl Iterator<Item = &str> {
        self.examples.iter().map(|example| example.name.as_str())
    }

    /// Middle of every handle's vertices at rest: the points that targets are for.
    pub fn rest_grips(&self) -> &[DVec3] {
        &self.grip
    }

    /// The handles that move with a handle or that it moves with: those that carry it, itself, and those it carries.
    pub fn chain(&self, handle: usize) -> Vec<usize> {
        let above = std::iter::successors(self.tree.parent[handle], |&up| self.tree.parent[up]);
        let mut chain: Vec<usize> = above.chain(self.tree.subtree(handle)).collect();
        chain.sort_unstable();
        chain
    }

    /// The length in which energies measure distances: a tenth of the body's largest extent.
    pub fn unit(&self) -> f64 {
        self.unit
    }

    /// The body's largest extent.
    pub(super) fn extent(&self) -> f64 {
        self.unit / UNIT_SHARE
    }

    /// Name of a handle.
    pub fn handle_name(&self, handle: usize) -> &str {
        &self.names[handle]
    }

    /// Place of a handle by its name.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn find_handle(&self, name: &str) -> Result<usize, DeformError> {
        self.names
            .iter()
            .position(|found| found == name)
            .ok_or_else(|| DeformError::TargetHandle { name: name.to_owned(), known: self.names.join(", ") })
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
