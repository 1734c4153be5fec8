//! Rotations of handles, spread over the surface between them.
//!
//! # Source
//! Zayer et al., *Harmonic guidance for surface deformation* (2005). Differs: rotation vectors keep whole turns, so
//! that a limb can be twisted beyond 180°, and are taken relative to one handle, so that rotating all handles rotates
//! the result.

use crate::{HandlePose, pose::nearest_turn};
use glam::{DQuat, DVec3};
use rayon::prelude::*;

/// How much each place follows each handle.
#[derive(Debug, Clone)]
pub(crate) struct Guide {
    /// The others are taken relative to the first.
    handles: Vec<u32>,
    /// For each place, the harmonic weight of each of `handles`.
    weights: Vec<f64>,
}

impl Guide {
    /// From one column of weights per handle.
    pub fn new(handles: Vec<u32>, columns: &[Vec<f64>]) -> Self {
        let n = columns.first().map_or(0, Vec::len);
        let weights = (0..n).flat_map(|i| columns.iter().map(move |column| column[i])).collect();
        Self { handles, weights }
    }

    /// The handles, and for each place the weight of each.
    pub fn weights(&self) -> (&[u32], impl Iterator<Item = &[f64]>) {
        (&self.handles, self.weights.chunks_exact(self.handles.len()))
    }

    /// Rotation of each place.
    pub fn rotations(&self, pose: &HandlePose) -> Vec<DQuat> {
        let reference = &pose.motions()[self.handles[0] as usize];
        let back = reference.rotation.inverse();
        let turn = |&h: &u32| {
            let motion = &pose.motions()[h as usize];
            nearest_turn(back * motion.rotation, back * (motion.turn - reference.turn))
        };
        let turns: Vec<DVec3> = self.handles.iter().map(turn).collect();
        let blend = |row: &[f64]| {
            let turn: DVec3 = row.iter().zip(&turns).map(|(w, t)| *t * *w).sum();
            reference.rotation * DQuat::from_scaled_axis(turn)
        };
        self.weights.par_chunks(self.handles.len()).with_min_len(1024).map(blend).collect()
    }
}
