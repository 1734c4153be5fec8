//! As-rigid-as-possible deformation at full resolution: the reference for the faster methods.
//!
//! # Source
//! Sorkine and Alexa, *As-rigid-as-possible surface modeling* (2007), with the spokes-and-rims energy of Chao et al.,
//! *A simple geometric model for elastic deformations* (2010), as `fine.rs` solves it. Differs: iterations start from
//! harmonic guidance, so the result does not depend on how a pose was reached.
//! # Cost
//! new: one sparse Cholesky factorisation per piece and three solves per handle. Each iteration: two passes over faces and
//! vertices, one back-substitution.
//! # Limits
//! Surface only: limbs that bend or twist far lose volume. Use the guided method for that.

use crate::{
    DeformError, HandlePose,
    fine::{FineSystem, Inside},
    guide::Guide,
    handled::HandledMesh,
    progress::ProgressSpan,
    soft::{Posed, SoftPiece},
};

/// Parameters of the as-rigid-as-possible method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArapParams {
    /// Iterations per frame (default 10).
    pub iterations: usize,
}

impl Default for ArapParams {
    fn default() -> Self {
        Self { iterations: 10 }
    }
}

/// Rounds of rotation fitting in the first iteration: the guide may be far off.
const FIRST_ROTATION_ROUNDS: usize = 12;

/// One soft piece, factored, with its guide.
#[derive(Debug, Clone)]
pub(crate) struct ArapPiece {
    system: FineSystem,
    guide: Guide,
}

impl ArapPiece {
    /// Assemble and factor, at a cost proportional to the piece.
    pub fn new(held: HandledMesh, piece: &SoftPiece, span: ProgressSpan) -> Result<Self, DeformError> {
        span.add(0.3)?;
        let system = FineSystem::new(held, piece, &Inside::default())?;
        span.add(0.5)?;
        let columns = piece.handles.iter().map(|&h| system.harmonic_weights(h));
        let guide = Guide::new(piece.handles.clone(), &columns.collect::<Result<Vec<_>, _>>()?);
        span.add(0.2)?;
        Ok(Self { system, guide })
    }

    /// Positions of the piece's vertices.
    pub fn pose(&self, pose: &HandlePose, params: &ArapParams) -> Result<Posed, DeformError> {
        let system = &self.system;
        let mut state = system.begin(pose, &self.guide.rotations(pose), std::iter::empty());
        system.settle(pose, &mut state)?;
        system.iterate(pose, &mut state, params.iterations, FIRST_ROTATION_ROUNDS, 0.0)?;
        Ok(state.into_posed(system.n_soft()))
    }

    /// Handles that hold the piece, and how much each of its vertices follows them.
    pub fn harmonic_weights(&self) -> (&[u32], impl Iterator<Item = &[f64]>) {
        let (handles, rows) = self.guide.weights();
        (handles, rows.take(self.system.n_soft()))
    }
}
