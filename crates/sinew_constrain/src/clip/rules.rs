//! Rules that hold over frames of a clip, as rows that the solver understands.

use super::World;
use crate::ConstrainError;
use glam::DVec3;
use sinew_geom::Rig;
use std::ops::Range;

/// How a quantity relates to a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// Exactly.
    Equal,
    /// At most.
    AtMost,
    /// At least.
    AtLeast,
}

/// What a rule speaks about.
#[derive(Debug, Clone, PartialEq)]
pub enum Quantity {
    /// Distance of two joints.
    Distance(usize, usize),
    /// Signed distance of a joint from a plane through a point with a unit normal.
    Height(usize, DVec3, DVec3),
    /// Distance of a joint from a place.
    Place(usize, DVec3),
}

/// A rule over some frames.
#[derive(Debug, Clone, PartialEq)]
pub struct FrameRule {
    /// What.
    pub quantity: Quantity,
    /// How it relates.
    pub relation: Relation,
    /// To which number, in metres.
    pub value: f64,
    /// When.
    pub frames: Range<usize>,
    /// Deviation that counts as one, in metres.
    pub sigma: f64,
}

/// A residual and how places of joints change it.
#[derive(Debug, Clone, Default)]
pub struct Row {
    /// In units of what counts as one.
    pub residual: f64,
    /// Joint, place, and direction in which moving it raises the residual.
    pub pulls: Vec<(usize, DVec3, DVec3)>,
}

impl FrameRule {
    /// `distance A B` related to a number, in all frames.
    ///
    /// # Errors
    /// If a joint does not exist or the number is no distance.
    pub fn distance(rig: &Rig, names: [&str; 2], relation: Relation, value: f64) -> Result<Self, ConstrainError> {
        let find = |name: &str| rig.find(name).ok_or_else(|| ConstrainError::no_joint(name, rig));
        if !(value.is_finite() && value >= 0.0) {
            return Err(ConstrainError::NonFinite { what: "distance of a rule", index: 0 });
        }
        let quantity = Quantity::Distance(find(names[0])?, find(names[1])?);
        Ok(Self { quantity, relation, value, frames: 0..usize::MAX, sigma: 1e-3 })
    }

    /// Joints it speaks about.
    pub fn joints(&self) -> Vec<usize> {
        match self.quantity {
            Quantity::Distance(a, b) => vec![a, b],
            Quantity::Height(a, ..) | Quantity::Place(a, _) => vec![a],
        }
    }

    /// The quantity, and how places of joints change it.
    pub fn measure(&self, world: &World) -> (f64, Vec<(usize, DVec3, DVec3)>) {
        let at = |joint: usize| world.positions[joint];
        match self.quantity {
            Quantity::Distance(a, b) => {
                let way = at(b) - at(a);
                // Two joints in one place part in any direction.
                let along = way.try_normalize().unwrap_or(DVec3::X);
                (way.length(), vec![(a, at(a), -along), (b, at(b), along)])
            }
            Quantity::Height(a, origin, normal) => (normal.dot(at(a) - origin), vec![(a, at(a), normal)]),
            Quantity::Place(a, place) => {
                let way = at(a) - place;
                (way.length(), vec![(a, at(a), way.try_normalize().unwrap_or(DVec3::X))])
            }
        }
    }

    /// By how much the rule is broken, in metres.
    pub fn violation(&self, world: &World) -> f64 {
        let off = self.measure(world).0 - self.value;
        match self.relation {
            Relation::Equal => off.abs(),
            Relation::AtMost => off.max(0.0),
            Relation::AtLeast => (-off).max(0.0),
        }
    }

    /// Rows of the rule in one frame; none where an inequality holds.
    pub fn rows(&self, world: &World, out: &mut Vec<Row>) {
        out.clear();
        if self.violation(world) > 0.0 {
            let (value, pulls) = self.measure(world);
            let pulls = pulls.into_iter().map(|(joint, p, d)| (joint, p, d / self.sigma)).collect();
            out.push(Row { residual: (value - self.value) / self.sigma, pulls });
        }
    }
}
