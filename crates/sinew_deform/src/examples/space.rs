//! The pose space: all blends of the example poses.
//!
//! # Source
//! Hansen (2006), §7.1–7.2. Differs: besides the blend of algorithms 2 and 3, whose result depends on the order of the
//! examples, there is one that does not. It blends the motion of each handle relative to the handle that carries it, as
//! a screw, so that each example is met exactly at weight 1 and limbs keep their lengths in between.

use super::{screw::Screw, tree::HandleTree};
use crate::{DeformError, HandlePose, Twist, pose::nearest_turn};
use glam::{DAffine3, DVec3};
use sinew_geom::Move;
use std::sync::Arc;

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
pub(super) const UNIT_SHARE: f64 = 0.1;

/// Offset of every vertex along its normal, in metres.
pub type Detail = Arc<Vec<f32>>;

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

/// Evaluated poses. Numbers of all scouts are adjacent in memory, so that four are processed in one instruction.
#[derive(Debug, Clone, Default)]
pub(super) struct Scouts {
    /// Weights of one after the other.
    pub weights: Vec<f64>,
    pub sum: Vec<f32>,
    /// Eq. 7.6 without its constant.
    pub roots: Vec<f32>,
    pub used: Vec<f32>,
    /// Distance from the examples, eq. 7.8 without its constant.
    pub unlike: Vec<f32>,
    /// Grip of handle `h` along axis `i` of all scouts, at `3 h + i`.
    pub grips: Vec<Vec<f32>>,
}

impl PoseSpace {
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
