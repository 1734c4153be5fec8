//! Closed forms, an independent solver, and the ways tracking fails.

use crate::*;
use glam::{DQuat, DVec3};
use sinew_geom::{Pose, Rig, Transform, rig::Joint};

/// Numbers that are the same on every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    }
}

mod figures;
mod projections;
mod rigs;
mod tracking;
