//! The default method: as little distortion as surfaces can have where that keeps their volume, an inside where it does not;
//! fast at any size, and independent of how a pose was reached.
//!
//! # Source
//! Sinew's own combination, chosen by measuring its parts. Rotations of handles are spread harmonically over the soft
//! surface (Zayer et al., *Harmonic guidance for surface deformation*, 2005); from there as-rigid-as-possible iterations are
//! run on two graphs of a few thousand surface and interior nodes (Zhou et al. 2005), one with a weak and one with a stiff
//! inside; they are mixed so that the volume is kept (`bulk.rs`); the surface follows its nodes (Sumner et al., *Embedded
//! deformation for shape manipulation*, 2007); and one iteration at full resolution settles what is finer than the graph.
//! # Cost
//! A frame: what the pieces cost whose handles do not all move alike.
//! # Limits
//! Narrow bands may lose up to half of their own volume. Above [`MAX_FINE_VERTICES`] soft vertices, frames have no iteration
//! at full resolution; a refiner makes up for it.

mod bulk;
mod clusters;
mod graph;
mod interior;
mod passes;
mod proxy;
mod transfer;

use crate::{
    DeformError, HandleMotion, HandlePose,
    fine::{FineState, FineSystem},
    handled::HandledMesh,
    progress::{ProgressMeter, ProgressSpan},
    soft::{Posed, SoftPiece, SoftSurface},
};
use glam::DVec3;
use proxy::Proxy;
use rayon::prelude::*;
use sinew_geom::{
    measure::{compute_volume, largest_error},
    query::SurfaceTree,
};

/// Parameters of the guided method.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GuidedParams {
    /// About how many nodes represent the soft surface (default 2500); half as many may be added inside.
    pub n_nodes: usize,
    /// Iterations per frame on the graphs (default 12).
    pub iterations: usize,
    /// Iterations per frame at full resolution (default 1). 0 is faster and less precise.
    pub fine_iterations: usize,
    /// Stiffness of links among interior nodes, relative to that of the surface (default 0.4), where the inside is needed.
    pub stiffness_inside: f64,
    /// Stiffness of links between surface and inside (default 4), where the inside is needed.
    pub stiffness_links: f64,
}

impl Default for GuidedParams {
    fn default() -> Self {
        Self {
            n_nodes: 2500,
            iterations: 12,
            fine_iterations: 1,
            stiffness_inside: 0.4,
            stiffness_links: 4.0,
        }
    }
}

/// Soft vertices above which an iteration at full resolution takes longer than a frame may.
pub(crate) const MAX_FINE_VERTICES: usize = 300_000;
/// Share of the preparation that building the hierarchy over the faces takes.
const TREE_SHARE: f64 = 0.2;
/// Rounds of rotation fitting at full resolution: what follows the nodes is near, what was refined before is less so.
const FIRST_ROUNDS: usize = 6;
const FIRST_ROUNDS_REFINED: usize = 12;

/// All soft pieces as small graphs.
#[derive(Debug, Clone)]
pub(crate) struct Guided {
    proxies: Vec<Proxy>,
    /// At full resolution; empty if that would be slow.
    fine: Vec<FineSystem>,
    params: GuidedParams,
    /// Volume of the whole mesh.
    volume: f64,
}

impl Guided {
    /// Build the graphs of every soft piece; reports `share` of the progress.
    pub fn new(
        held: HandledMesh,
        soft: &SoftSurface,
        params: &GuidedParams,
        meter: &ProgressMeter,
        share: f64,
    ) -> Result<Self, DeformError> {
        let tree = SurfaceTree::new(held.mesh);
        meter.add(TREE_SHARE * share)?;
        let area = |piece: &SoftPiece| piece.area(held);
        let total: f64 = soft.pieces.iter().map(area).sum();
        let build = |piece: &SoftPiece, span: ProgressSpan| {
            let size = if total > 0.0 { area(piece) / total } else { 1.0 };
            // Vertices name their nodes in 16 bits.
            let budget = ((params.n_nodes as f64 * size) as usize).clamp(64, 32_000);
            Proxy::new(held, &tree, piece, budget, params, span)
        };
        let has_fine = params.fine_iterations > 0 && soft.n_vertices() <= MAX_FINE_VERTICES;
        let coarse_share = if has_fine { 0.5 } else { 1.0 - TREE_SHARE };
        let proxies = soft.build_pieces(meter, coarse_share * share, build)?;
        let volume = compute_volume(held.mesh);
        let mut guided = Self { proxies, fine: Vec::new(), params: *params, volume };
        if has_fine {
            guided.fine = guided.build_fine(held, soft, meter, (1.0 - TREE_SHARE - coarse_share) * share)?;
        }
        Ok(guided)
    }

    /// The pieces at full resolution.
    pub fn build_fine(
        &self,
        held: HandledMesh,
        soft: &SoftSurface,
        meter: &ProgressMeter,
        share: f64,
    ) -> Result<Vec<FineSystem>, DeformError> {
        let total = soft.n_vertices().max(1) as f64;
        let build = |(piece, proxy): (&SoftPiece, &Proxy)| {
            let system = FineSystem::new(held, piece, &proxy.inside(held, &self.params))?;
            meter.add(share * piece.vertices.len() as f64 / total)?;
            Ok(system)
        };
        soft.pieces.par_iter().zip(&self.proxies).map(build).collect()
    }

    /// Whether frames have iterations at full resolution.
    pub fn fine(&self) -> Option<&[FineSystem]> {
        (self.fine.len() == self.proxies.len()).then_some(&self.fine[..])
    }

    /// Number of nodes of all pieces.
    #[cfg(test)]
    pub fn n_nodes(&self) -> usize {
        self.proxies.iter().map(Proxy::n_nodes).sum()
    }

    /// Every piece, posed.
    pub fn solve(
        &self,
        pose: &HandlePose,
        soft: &SoftSurface,
        rest: &[DVec3],
        with_rotations: bool,
    ) -> Result<Vec<Posed>, DeformError> {
        let posed = |at: usize| {
            let piece = &soft.pieces[at];
            if let Some(motion) = shared_motion(pose, piece) {
                let rotations = if with_rotations { piece.vertices.len() } else { 0 };
                return Ok(Posed {
                    positions: piece.vertices.iter().map(|&v| motion.position(rest[v as usize])).collect(),
                    rotations: vec![motion.rotation; rotations],
                });
            }
            let proxy = &self.proxies[at];
            let nodes = proxy.pose_nodes(pose, &self.params, self.volume)?;
            let Some(system) = self.fine().map(|fine| &fine[at]) else {
                return proxy.place_vertices(&nodes, with_rotations);
            };
            let start = proxy.place_vertices(&nodes, true)?;
            let mut state = system.begin(pose, &start.rotations, proxy.places_inside(&nodes));
            state.x[..start.positions.len()].copy_from_slice(&start.positions);
            let rounds = self.params.fine_iterations;
            system.iterate(pose, &mut state, rounds, FIRST_ROUNDS, nodes.inside)?;
            Ok(state.into_posed(system.n_soft()))
        };
        (0..self.proxies.len()).into_par_iter().with_max_len(1).map(posed).collect()
    }

    /// Iterations at full resolution from posed vertices of the whole mesh. Returns the largest movement in the last one.
    pub fn refine(
        &self,
        fine: &[FineSystem],
        pose: &HandlePose,
        soft: &SoftSurface,
        iterations: usize,
        positions: &mut [DVec3],
    ) -> Result<f64, DeformError> {
        let refined = |at: usize| -> Result<Option<(f64, FineState)>, DeformError> {
            let (piece, proxy, system) = (&soft.pieces[at], &self.proxies[at], &fine[at]);
            if shared_motion(pose, piece).is_some() {
                return Ok(None);
            }
            let nodes = proxy.pose_nodes(pose, &self.params, self.volume)?;
            let rotations = proxy.place_vertices(&nodes, true)?.rotations;
            let mut state = system.begin(pose, &rotations, proxy.places_inside(&nodes));
            piece.vertices.iter().zip(&mut state.x).for_each(|(&v, x)| *x = positions[v as usize]);
            let moved = system.iterate(pose, &mut state, iterations, FIRST_ROUNDS_REFINED, nodes.inside)?;
            Ok(Some((moved, state)))
        };
        let all = (0..self.proxies.len()).into_par_iter().with_max_len(1).map(refined);
        let all = all.collect::<Result<Vec<_>, _>>()?;
        let mut farthest = 0.0;
        for (piece, refined) in soft.pieces.iter().zip(all) {
            let Some((moved, state)) = refined else { continue };
            farthest = largest_error([moved, farthest]);
            piece.vertices.iter().zip(&state.x).for_each(|(&v, x)| positions[v as usize] = *x);
        }
        Ok(farthest)
    }
}

/// The rigid motion of all handles that hold a piece, if it is the same: then it is that of the piece, exactly.
fn shared_motion<'a>(pose: &'a HandlePose, piece: &SoftPiece) -> Option<&'a HandleMotion> {
    let motion = |handle: &u32| &pose.motions()[*handle as usize];
    let first = motion(piece.handles.first()?);
    let is_shared = first.twists.is_empty() && piece.handles.iter().all(|handle| motion(handle) == first);
    is_shared.then_some(first)
}
