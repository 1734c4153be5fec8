//! The default method: fast at any size, smooth, volume-preserving, and independent of how a pose was reached.
//!
//! # Source
//! Sinew's own combination, chosen by measuring its parts. Rotations of handles are spread harmonically over the soft
//! surface (Zayer et al., *Harmonic guidance for surface deformation*, 2005); from there a few as-rigid-as-possible
//! iterations are run on a graph of a few thousand surface and interior nodes (Zhou et al. 2005), and the surface
//! follows its nodes (Sumner et al., *Embedded deformation for shape manipulation*, 2007).

mod clusters;
mod graph;
mod interior;
mod passes;
mod proxy;
mod transfer;

use crate::{
    DeformError, HandlePose,
    handled::HandledMesh,
    progress::{ProgressMeter, ProgressSpan},
    soft::{Posed, SoftPiece, SoftSurface},
};
use proxy::Proxy;
use rayon::prelude::*;
use sinew_geom::query::SurfaceTree;
use std::cmp::Reverse;

/// Parameters of the guided method.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GuidedParams {
    /// About how many nodes represent the soft surface (default 2500); half as many may be added inside.
    pub n_nodes: usize,
    /// Iterations per frame (default 8).
    pub iterations: usize,
    /// How much rotations are smoothed after the iterations (default 9, a few nodes).
    pub smoothness: f64,
    /// Stiffness of links among interior nodes, relative to that of the surface (default 0.4).
    pub stiffness_inside: f64,
    /// Stiffness of links between surface and inside (default 4).
    pub stiffness_links: f64,
}

impl Default for GuidedParams {
    fn default() -> Self {
        Self { n_nodes: 2500, iterations: 8, smoothness: 9.0, stiffness_inside: 0.4, stiffness_links: 4.0 }
    }
}

/// Share of the preparation that building the hierarchy over the faces takes.
const TREE_SHARE: f64 = 0.2;
/// Nodes above which a piece is solved by several threads.
const LARGE_PIECE_NODES: usize = 600;
/// Nodes of the pieces that one thread poses as one unit of work.
const BATCH_NODES: usize = 200;

/// All soft pieces as small graphs.
#[derive(Debug, Clone)]
pub(crate) struct Guided {
    proxies: Vec<Proxy>,
    plan: Plan,
    params: GuidedParams,
}

impl Guided {
    /// Build one graph per soft region; reports `share` of the progress.
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
        let mut proxies = soft.build_pieces(meter, (1.0 - TREE_SHARE) * share, build)?;
        let plan = Plan::new(&proxies.iter().map(Proxy::n_nodes).collect::<Vec<_>>());
        plan.batches.iter().flatten().for_each(|&at| proxies[at as usize].without_threads());
        Ok(Self { proxies, plan, params: *params })
    }

    /// Number of nodes of all pieces.
    #[cfg(test)]
    pub fn n_nodes(&self) -> usize {
        self.proxies.iter().map(Proxy::n_nodes).sum()
    }

    /// Every piece, posed.
    pub fn solve(&self, pose: &HandlePose, with_rotations: bool) -> Result<Vec<Posed>, DeformError> {
        let posed = |&at: &u32| {
            let piece = self.proxies[at as usize].pose_vertices(pose, &self.params, with_rotations)?;
            Ok((at, piece))
        };
        let batch = |batch: &Vec<u32>| batch.iter().map(posed).collect::<Result<Vec<_>, DeformError>>();
        let first = self.plan.alone.iter().map(posed).collect::<Result<Vec<_>, _>>()?;
        let rest = self.plan.batches.par_iter().with_max_len(1).map(batch).collect::<Result<Vec<_>, _>>()?;
        let mut all = vec![Posed::default(); self.proxies.len()];
        for (at, piece) in rest.into_iter().flatten().chain(first) {
            all[at as usize] = piece;
        }
        Ok(all)
    }
}

/// Which piece is posed when. A thread that waits for its part of a piece starts another piece, so a piece is
/// posed either by all threads or by one.
#[derive(Debug, Clone, Default)]
struct Plan {
    /// Pieces that are posed by all threads together, one after the other.
    alone: Vec<u32>,
    /// Pieces that one thread poses as one unit of work; large ones come first, small ones share the overhead.
    batches: Vec<Vec<u32>>,
}

impl Plan {
    fn new(n_nodes: &[usize]) -> Self {
        let total: usize = n_nodes.iter().sum();
        let mut order: Vec<u32> = (0..n_nodes.len() as u32).collect();
        order.sort_by_key(|&at| (Reverse(n_nodes[at as usize]), at));
        let mut plan = Self::default();
        let mut open = 0;
        for at in order {
            let n = n_nodes[at as usize];
            if n >= LARGE_PIECE_NODES && 2 * n > total {
                plan.alone.push(at);
                continue;
            }
            match plan.batches.last_mut() {
                Some(batch) if open + n <= BATCH_NODES => batch.push(at),
                _ => {
                    plan.batches.push(vec![at]);
                    open = 0;
                }
            }
            open += n;
        }
        plan
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_has_one_place_in_the_plan() {
        let plan = Plan::new(&[100, 5000, 3, 700, 150, 4]);
        assert_eq!(plan.alone, [1]);
        assert_eq!(plan.batches, [vec![3], vec![4], vec![0, 5, 2]]);
        // None has more than half: all in parallel. A single small one is not worth several threads.
        assert_eq!(Plan::new(&[700, 700]).batches, [vec![0], vec![1]]);
        assert_eq!(Plan::new(&[500]).batches, [vec![0]]);
        assert!(Plan::new(&[]).batches.is_empty());
    }
}
