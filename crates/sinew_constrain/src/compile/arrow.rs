//! Points and vectors that are sums of what joints carry.

use crate::{Skeleton, joint_frames::Carriers};
use glam::{DQuat, DVec3};

/// What a joint carries: its place, or one of its axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Carrier {
    Place(u32),
    Axis(u32, u8),
}

impl Carrier {
    pub fn joint(self) -> usize {
        match self {
            Self::Place(joint) | Self::Axis(joint, _) => joint as usize,
        }
    }

    #[inline(always)]
    pub fn at(self, frames: &impl Carriers) -> DVec3 {
        match self {
            Self::Place(joint) => frames.place(joint as usize),
            Self::Axis(joint, axis) => frames.axis(joint as usize, axis as usize),
        }
    }
}

/// A constant and a weighted sum of what joints carry. Most vectors of rules are of this kind, and so have derivatives
/// in closed form.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Arrow {
    pub constant: DVec3,
    /// In ascending order, no carrier twice, no weight zero.
    pub terms: Vec<(Carrier, f64)>,
}

impl Arrow {
    pub fn constant(constant: DVec3) -> Self {
        Self { constant, terms: Vec::new() }
    }

    pub fn place(joint: usize) -> Self {
        Self { constant: DVec3::ZERO, terms: vec![(Carrier::Place(joint as u32), 1.0)] }
    }

    /// The direction fixed to a joint that equals a world direction at rest.
    pub fn direction(skeleton: &Skeleton, joint: usize, in_world: DVec3) -> Self {
        let world_from_bone = skeleton
            .ancestry(joint)
            .fold(DQuat::IDENTITY, |below, above| skeleton.joints()[above].rest_rotation() * below);
        let local = world_from_bone.inverse() * in_world;
        let axes = (0..3).map(|axis| (Carrier::Axis(joint as u32, axis as u8), local[axis]));
        Self { constant: DVec3::ZERO, terms: axes.filter(|(_, weight)| weight.abs() > 1e-15).collect() }
    }

    pub fn is_constant(&self) -> bool {
        self.terms.is_empty()
    }

    pub fn scaled(&self, factor: f64) -> Self {
        if factor == 0.0 {
            return Self::default();
        }
        let terms = self.terms.iter().map(|&(carrier, weight)| (carrier, weight * factor)).collect();
        Self { constant: self.constant * factor, terms }
    }

    /// `self + factor · other`.
    pub fn plus(&self, factor: f64, other: &Self) -> Self {
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        let (mut a, mut b) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            let next = match (a.peek(), b.peek()) {
                (Some(x), Some(y)) if x.0 == y.0 => {
                    let sum = (x.0, x.1 + factor * y.1);
                    a.next();
                    b.next();
                    sum
                }
                (Some(x), Some(y)) if x.0 > y.0 => {
                    let term = (y.0, factor * y.1);
                    b.next();
                    term
                }
                (None, Some(y)) => {
                    let term = (y.0, factor * y.1);
                    b.next();
                    term
                }
                (Some(x), _) => {
                    let term = **x;
                    a.next();
                    term
                }
                (None, None) => break,
            };
            if next.1.abs() > 1e-15 {
                terms.push(next);
            }
        }
        Self { constant: self.constant + factor * other.constant, terms }
    }

    #[inline(always)]
    pub fn at(&self, frames: &impl Carriers) -> DVec3 {
        self.terms.iter().fold(self.constant, |sum, (carrier, weight)| sum + carrier.at(frames) * *weight)
    }
}

/// Arrows, each stored once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Arrows {
    pub list: Vec<Arrow>,
    seen: std::collections::HashMap<u64, Vec<u32>>,
}

impl Arrows {
    pub fn intern(&mut self, arrow: &Arrow) -> usize {
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        let mut mix = |bits: u64| hash = (hash ^ bits).wrapping_mul(0x0100_0000_01b3).rotate_left(23);
        arrow.constant.to_array().iter().for_each(|x| mix(x.to_bits()));
        for (carrier, weight) in &arrow.terms {
            mix(match carrier {
                Carrier::Place(joint) => u64::from(*joint) << 3,
                Carrier::Axis(joint, axis) => (u64::from(*joint) << 3) | (u64::from(*axis) + 1),
            });
            mix(weight.to_bits());
        }
        let same = self.seen.entry(hash).or_default();
        if let Some(&index) = same.iter().find(|&&index| self.list[index as usize] == *arrow) {
            return index as usize;
        }
        same.push(self.list.len() as u32);
        self.list.push(arrow.clone());
        self.list.len() - 1
    }
}
