//! Fine iterations while the user is idle: a posed surface made more rigid at full resolution, step by step.
//!
//! # Source
//! Sorkine and Alexa, *As-rigid-as-possible surface modeling* (2007), with the spokes and rims of Chao et al. (2010),
//! started from a posed surface. Differs: vertices are held near their positions, so that an iteration changes only
//! what is finer than the graph of the guided method. Without that, a surface method does not know its volume: one
//! plain iteration takes the bar twisted by 180° from −4.7 to −12.3 %.
//! # Symbols
//! `(K + M / ℓ²) x = b + M / ℓ² s` with `M` areas around vertices, `s` start positions, `ℓ` the reach
//! # Cost
//! new: two sparse Cholesky factorisations per soft piece. refine: as an iteration of the as-rigid-as-possible method.
//! # Limits
//! Beyond [`FINE_ITERATIONS`], edges keep improving slowly, at the cost of volume.

use crate::{
    DeformError, HandlePose, HandleSet, Progress,
    arap::ArapPiece,
    editor::SOFT_SHARE,
    error::check,
    guided::GuidedParams,
    handled::HandledMesh,
    progress::{ProgressMeter, ProgressSpan},
    soft::{SoftPiece, SoftSurface},
};
use glam::DVec3;
use rayon::prelude::*;
use sinew_geom::{Mesh, Warnings, measure::largest_error, mesh::Adjacency};

/// Refinements after the guided method that make every standard edit better and keep its limits of volume and
/// self-intersection: edges by 2 to 4 %, energy by 5 to 8 %. Further ones gain less and less (`sinew_bench edits`).
pub const FINE_ITERATIONS: usize = 1;

/// `ℓ` in distances between nodes. At 1 the arm raise folds into itself more than before, at 2 the bar loses volume.
const REACH_IN_NODE_DISTANCES: f64 = 0.5;

/// A mesh with handles, prepared for fine iterations.
#[derive(Debug, Clone)]
pub struct SurfaceRefiner {
    rest: Vec<DVec3>,
    diagonal: f64,
    n_handles: usize,
    soft: SoftSurface,
    pieces: Vec<ArapPiece>,
}

impl SurfaceRefiner {
    /// Find the soft pieces and factor their systems at full resolution. `progress` is called with the share done and
    /// may stop the work. There are no warnings: the editor of the same handles has given them.
    ///
    /// # Errors
    /// If the handles belong to another mesh, a piece's system cannot be factored, or `progress` broke.
    pub fn new(mesh: &Mesh, handles: &HandleSet, progress: Progress) -> Result<Self, DeformError> {
        check("handle structure", mesh.n_vertices(), handles.n_vertices())?;
        let meter = ProgressMeter::new(progress)?;
        let adjacency = Adjacency::new(mesh);
        let held = HandledMesh { mesh, adjacency: &adjacency, handles };
        let soft = SoftSurface::new(held, &mut Warnings::default());
        meter.add(SOFT_SHARE)?;
        let length = reach(held, &soft);
        let build = |piece: &SoftPiece, span: ProgressSpan| ArapPiece::new(held, piece, Some(length), span);
        let pieces = soft.build_pieces(&meter, 1.0 - SOFT_SHARE, build)?;
        meter.finish()?;
        let rest = mesh.positions().to_vec();
        Ok(Self { rest, diagonal: mesh.diagonal(), n_handles: handles.len(), soft, pieces })
    }

    /// One iteration from `positions`, which hold the solved pose or the result of the last refinement. The
    /// result depends on them and the pose alone. Returns the largest movement of a vertex as a share of the
    /// mesh's diagonal, so that a caller can stop when nothing moves any longer.
    ///
    /// # Errors
    /// If the pose belongs to other handles, or `positions` has another length than the mesh or is not finite.
    pub fn refine(&self, pose: &HandlePose, positions: &mut [DVec3]) -> Result<f64, DeformError> {
        check("pose", self.n_handles, pose.motions().len())?;
        check("positions", self.rest.len(), positions.len())?;
        if let Some(at) = positions.iter().position(|p| !p.is_finite()) {
            return Err(DeformError::NonFinite { what: format!("position {at}") });
        }
        for (v, carrier) in self.soft.carrier.iter().enumerate() {
            if let Some(handle) = carrier {
                positions[v] = pose.motions()[*handle as usize].position(self.rest[v]);
            }
        }
        let step = |(solver, piece): (&ArapPiece, &SoftPiece)| {
            let start = piece.vertices.iter().map(|&v| positions[v as usize]).collect();
            solver.refine(pose, start)
        };
        let refined: Vec<Vec<DVec3>> =
            self.pieces.par_iter().zip(&self.soft.pieces).map(step).collect::<Result<_, _>>()?;
        let mut farthest = 0.0;
        for (piece, refined) in self.soft.pieces.iter().zip(&refined) {
            let moved = piece.vertices.iter().zip(refined).map(|(&v, p)| p.distance(positions[v as usize]));
            farthest = largest_error(moved.chain([farthest]));
            piece.vertices.iter().zip(refined).for_each(|(&v, p)| positions[v as usize] = *p);
        }
        Ok(if self.diagonal > 0.0 { farthest / self.diagonal } else { 0.0 })
    }
}

/// How far a refinement reaches: below what the graph of the guided method resolves, or below an edge.
fn reach(held: HandledMesh, soft: &SoftSurface) -> f64 {
    let area: f64 = soft.pieces.iter().map(|piece| piece.area(held)).sum();
    let spacing = (area / GuidedParams::default().n_nodes as f64).sqrt();
    REACH_IN_NODE_DISTANCES * spacing.max(mean_edge(held, soft)).max(f64::MIN_POSITIVE)
}

/// Mean length of the edges of the soft pieces.
fn mean_edge(HandledMesh { mesh, adjacency, .. }: HandledMesh, soft: &SoftSurface) -> f64 {
    let vertices = soft.pieces.iter().flat_map(|piece| &piece.vertices);
    let edges = vertices.flat_map(|&v| adjacency.neighbors.row(v as usize).iter().map(move |&w| [v, w]));
    let lengths = edges.map(|e| {
        let [a, b] = e.map(|v| mesh.positions()[v as usize]);
        a.distance(b)
    });
    let (sum, n) = lengths.fold((0.0, 0usize), |(sum, n), length| (sum + length, n + 1));
    sum / n.max(1) as f64
}
