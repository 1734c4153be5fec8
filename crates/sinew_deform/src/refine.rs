//! Iterations at full resolution while the user is idle: a posed surface made as rigid as it can be.
//!
//! # Source
//! Sorkine and Alexa, *As-rigid-as-possible surface modeling* (2007), with the spokes and rims of Chao et al. (2010), started
//! from a posed surface. Differs: the inside is as stiff as the guided method finds that the pose needs it. Without that, a
//! surface method does not know its volume: the bar twisted by 180° would lose half of it.
//! # Cost
//! new: nothing, if the editor iterates at full resolution itself; else one sparse Cholesky factorisation per soft piece.
//! refine: a frame of the guided method, and the iterations.
//! # Limits
//! Converged surfaces without bending stiffness buckle into wrinkles where meshes are dense: there, more than
//! [`FINE_ITERATIONS`] gain nothing that can be seen.

use crate::{
    DeformError, EditParams, HandlePose, HandleSet, Progress, SurfaceEditor,
    closed::ClosedMesh,
    editor::{EditedSurface, Engine},
    fine::FineSystem,
    guided::{Guided, MAX_FINE_VERTICES},
    progress::ProgressMeter,
};
use glam::DVec3;
use sinew_geom::{Mesh, Warnings};
use std::sync::Arc;

/// Iterations after which a dense surface is as good as converged: within 2 % of the least distortion on 12 unseen edits, and
/// before wrinkles appear.
pub const FINE_ITERATIONS: usize = 10;
/// The same where the soft surface is so large that an iteration takes a noticeable time.
const FINE_ITERATIONS_OF_MANY: usize = 5;
/// Coarse surfaces have no room for wrinkles, and their iterations cost nothing: vertices times iterations, and at most so many.
const FINE_WORK: usize = 400_000;
const MAX_FINE_ITERATIONS: usize = 40;

/// A mesh with handles, prepared for fine iterations.
#[derive(Debug, Clone)]
pub struct SurfaceRefiner {
    surface: Arc<EditedSurface>,
    guided: Arc<Guided>,
    /// If the editor has none at full resolution.
    fine: Vec<FineSystem>,
}

impl SurfaceRefiner {
    /// Prepare what the editor of a mesh and its handles lacks. `progress` is called with the share done and may stop the
    /// work. There are no warnings: the editor has given them.
    ///
    /// # Errors
    /// If the handles belong to another mesh, a piece's system cannot be factored, or `progress` broke.
    pub fn new(
        mesh: &Mesh,
        handles: &HandleSet,
        editor: &SurfaceEditor,
        progress: Progress,
    ) -> Result<Self, DeformError> {
        editor.surface.check(&HandlePose::identity(handles.len()), mesh.n_vertices())?;
        let guided = match &editor.engine {
            Engine::Guided(guided) => guided.clone(),
            _ => {
                let editor = SurfaceEditor::prepare(
                    mesh,
                    handles,
                    &EditParams::default(),
                    &mut Warnings::default(),
                    progress,
                )?;
                return Self::new(mesh, handles, &editor, &|_| std::ops::ControlFlow::Continue(()));
            }
        };
        let meter = ProgressMeter::new(progress)?;
        let mut refiner = Self { surface: editor.surface.clone(), guided, fine: Vec::new() };
        if refiner.guided.fine().is_none() {
            let closed = ClosedMesh::new(mesh, handles)?;
            refiner.fine = refiner.guided.build_fine(closed.held(), &refiner.surface.soft, &meter, 1.0)?;
        }
        meter.finish()?;
        Ok(refiner)
    }

    /// Iterations that are worth their time.
    pub fn iterations(&self) -> usize {
        let n = self.surface.soft.n_vertices();
        if n > MAX_FINE_VERTICES {
            return FINE_ITERATIONS_OF_MANY;
        }
        (FINE_WORK / n.max(1)).clamp(FINE_ITERATIONS, MAX_FINE_ITERATIONS)
    }

    /// Iterations from `positions`, which hold the solved pose or the result of the last refinement. The result depends on
    /// them and the pose alone. Returns the largest movement of a vertex in the last iteration as a share of the mesh's
    /// diagonal, so that a caller can stop when nothing moves any longer.
    ///
    /// # Errors
    /// If the pose belongs to other handles, or `positions` has another length than the mesh or is not finite.
    pub fn refine(
        &self,
        pose: &HandlePose,
        iterations: usize,
        positions: &mut [DVec3],
    ) -> Result<f64, DeformError> {
        let surface = &self.surface;
        surface.check(pose, positions.len())?;
        if let Some(at) = positions.iter().position(|p| !p.is_finite()) {
            return Err(DeformError::NonFinite { what: format!("position {at}") });
        }
        let fine = self.guided.fine().unwrap_or(&self.fine);
        let farthest = surface.on_closed(positions, |positions| {
            surface.carry(pose, positions);
            let farthest = self.guided.refine(fine, pose, &surface.soft, iterations, positions)?;
            surface.carry_parts(positions);
            Ok(farthest)
        })?;
        Ok(if surface.diagonal > 0.0 { farthest / surface.diagonal } else { 0.0 })
    }
}
