//! Order and timing of the feet, and the speed that suits a body.
//!
//! # Source
//! Alexander and Jayes, *A dynamic similarity hypothesis for the gaits of quadrupedal mammals* (1983): animals of different size
//! move alike at equal Froude numbers `v²/(g h)`; strides grow with its power of 0.34. Duty factors and phases are Sinew's own,
//! after what animals do.
//!
//! # Symbols
//! `h` height of the hips, `v` speed, `g` gravity, all in units of the body

use std::{f64::consts::PI, str::FromStr};

/// How a body moves its legs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gait {
    /// Always on the ground. Of six legs three at a time, of eight four.
    Walk,
    /// Two legs in turn, with moments in the air.
    Run,
    /// Legs across from each other together.
    Trot,
    /// Legs of a side together.
    Pace,
    /// Hind legs, then front legs.
    Gallop,
}

impl Gait {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Walk, Self::Run, Self::Trot, Self::Pace, Self::Gallop];

    /// The word on the command line.
    pub fn name(self) -> &'static str {
        ["walk", "run", "trot", "pace", "gallop"][self as usize]
    }

    /// The gait in which a body with this number of legs moves at a Froude number.
    pub fn at_speed(n_legs: usize, froude: f64) -> Self {
        match (n_legs, froude) {
            (4, f) if f > 2.5 => Self::Gallop,
            (4, f) if f > 0.5 => Self::Trot,
            (..=3, f) if f > 0.5 => Self::Run,
            _ => Self::Walk,
        }
    }

    /// The Froude number that suits it.
    pub(crate) fn froude(self) -> f64 {
        match self {
            Self::Walk => 0.2,
            Self::Pace => 0.6,
            Self::Trot => 0.8,
            Self::Run => 1.2,
            Self::Gallop => 3.0,
        }
    }

    /// Share of the time that a foot is on the ground.
    pub(crate) fn duty(self, froude: f64) -> f64 {
        let duty = match self {
            Self::Walk => 0.66 - 0.2 * (froude - 0.2),
            Self::Pace | Self::Trot => 0.47 - 0.08 * (froude - 0.8),
            Self::Run => 0.36 - 0.05 * (froude - 1.2),
            Self::Gallop => 0.28 - 0.02 * (froude - 3.0),
        };
        match self {
            Self::Walk => duty.clamp(0.55, 0.75),
            _ => duty.clamp(0.2, 0.5),
        }
    }

    /// Length of a stride in heights of the hips.
    pub(crate) fn stride(froude: f64) -> f64 {
        2.4 * froude.max(1e-4).powf(0.34)
    }

    /// When in the cycle a foot lands: `pair` counts from the front, of `n_pairs`.
    pub(crate) fn phase(self, pair: usize, n_pairs: usize, is_right: bool) -> f64 {
        let right = if is_right { 0.5 } else { 0.0 };
        let phase = match (self, n_pairs) {
            // Left hind, left front, right hind, right front.
            (Self::Walk, 2) => right + if pair == 0 { 0.25 } else { 0.0 },
            (Self::Pace, _) => right,
            (Self::Gallop, 2) => match (pair, is_right) {
                (1, false) => 0.0,
                (1, true) => 0.1,
                (0, false) => 0.5,
                _ => 0.62,
            },
            (Self::Gallop, 1) => {
                if is_right {
                    0.35
                } else {
                    0.0
                }
            }
            // Every second pair the other way round: trot, tripod, and its like of eight legs.
            _ => right + 0.5 * ((n_pairs - 1 - pair) % 2) as f64,
        };
        phase.rem_euclid(1.0)
    }

    /// Height of the trunk over the cycle, from −1 to 1, where `x` is the time since a foot was at the middle of its stance, in
    /// cycles. Bodies that walk are highest then, those that bounce lowest.
    pub(crate) fn bob(self, x: f64) -> f64 {
        match self {
            Self::Walk => (4.0 * PI * x).cos(),
            Self::Gallop => -(2.0 * PI * x).cos(),
            _ => -(4.0 * PI * x).cos(),
        }
    }

    /// Half the height of that, in heights of the hips.
    pub(crate) fn bob_height(self, n_legs: usize) -> f64 {
        match (self, n_legs) {
            (Self::Walk, ..=3) => 0.016,
            (Self::Walk, 4) => 0.008,
            (Self::Walk, _) => 0.015,
            (Self::Run, _) => 0.035,
            (Self::Gallop, _) => 0.04,
            _ => 0.02,
        }
    }
}

impl FromStr for Gait {
    type Err = crate::GaitError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|gait| gait.name() == text).ok_or_else(|| crate::GaitError::Value {
            name: "gait",
            value: format!("{text:?}"),
            expected: "give walk, run, trot, pace or gallop",
        })
    }
}
