//! The soft surface moved by bones and weights alone, as players show it: a method like any other, so that what a skin makes of
//! poses and motions is seen before it is exported.
//!
//! # Source
//! Weights as in `skin`; linear blend skinning (Magnenat-Thalmann et al., *Joint-dependent local deformations*, 1988).
//! # Cost
//! new: one sparse Cholesky factorisation per piece and one solve per handle that holds it. solve: at most four motions per
//! vertex.
//! # Limits
//! Joints that bend or twist far lose volume.

use crate::{
    DeformError, HandlePose,
    arap::ArapPiece,
    handled::HandledMesh,
    progress::ProgressSpan,
    soft::{Posed, SoftPiece},
};
use glam::{DQuat, DVec3};
use rayon::prelude::*;

/// What every player supports.
pub(crate) const BONES_PER_VERTEX: usize = 4;

/// Handles that move a vertex with their weights, which sum to one; those beyond the last have none.
pub(crate) type Influences = [(u32, f64); BONES_PER_VERTEX];

/// Bones and weights of one soft piece.
#[derive(Debug, Clone)]
pub(crate) struct SkinnedPiece {
    rows: Vec<(DVec3, Influences)>,
}

impl SkinnedPiece {
    /// Find the weights of all vertices.
    pub fn new(held: HandledMesh, piece: &SoftPiece, span: ProgressSpan) -> Result<Self, DeformError> {
        let solved = ArapPiece::new(held, piece, span)?;
        let (names, rows) = solved.harmonic_weights();
        let rest = piece.vertices.iter().map(|&v| held.mesh.positions()[v as usize]);
        Ok(Self { rows: rest.zip(rows.map(|row| strongest(names, row))).collect() })
    }

    /// Positions of the piece's vertices.
    pub fn pose(&self, pose: &HandlePose) -> Posed {
        let motions = pose.motions();
        let place = |(rest, row): &(DVec3, Influences)| {
            let used = row.iter().filter(|(_, weight)| *weight > 0.0);
            let (mut position, mut turn) = (DVec3::ZERO, DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0));
            for (handle, weight) in used {
                let motion = &motions[*handle as usize];
                position += motion.position(*rest) * *weight;
                let rotation = motion.rotation_at(*rest);
                let side = if turn.dot(rotation) < 0.0 { -1.0 } else { 1.0 };
                turn += rotation * (side * *weight);
            }
            let is_turn = turn.length_squared() > 0.0;
            (position, if is_turn { turn.normalize() } else { DQuat::IDENTITY })
        };
        let (positions, rotations) = self.rows.par_iter().with_min_len(1024).map(place).unzip();
        Posed { positions, rotations }
    }
}

/// The strongest influences of a vertex among handles, as shares of their sum.
pub(crate) fn strongest(handles: &[u32], row: &[f64]) -> Influences {
    let mut ranked: Vec<(u32, f64)> = handles.iter().zip(row).map(|(&h, &w)| (h, w.max(0.0))).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    ranked.truncate(BONES_PER_VERTEX);
    let sum: f64 = ranked.iter().map(|(_, w)| w).sum();
    let mut influences = [(0, 0.0); BONES_PER_VERTEX];
    for (influence, (handle, weight)) in influences.iter_mut().zip(ranked) {
        *influence = (handle, if sum > 0.0 { weight / sum } else { 0.0 });
    }
    influences
}
