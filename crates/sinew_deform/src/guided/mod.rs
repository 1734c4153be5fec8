//! The default way to pose: fast at any size, smooth, keeps volume, and never depends on how one got there.
//!
//! # Source
//! Own, after measurements of its parts. Rotations of handles are spread harmonically over the soft surface
//! (Zayer et al., *Harmonic guidance for surface deformation*, 2005), starting with them a few
//! as-rigid-as-possible iterations are run on a graph of a few thousand surface and interior nodes (Zhou et al.
//! 2005), and the surface follows its nodes (Sumner et al., *Embedded deformation*, 2007).

mod clusters;
mod graph;
mod interior;
mod proxy;
mod transfer;

use crate::{
    DeformError, HandlePose,
    held::HeldMesh,
    soft::{Posed, SoftPiece, SoftSurface},
    tally::{Part, Tally},
};
use proxy::Proxy;
use rayon::prelude::*;
use sinew_geom::query::SurfaceTree;

/// Choices of the guided method.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GuidedParams {
    /// About how many nodes stand for the soft surface (default 2500); half as many may be added inside.
    pub n_nodes: usize,
    /// Iterations a frame (default 8).
    pub iterations: usize,
    /// How far rotations are evened out after the iterations (default 9, a few nodes).
    pub smoothness: f64,
    /// Stiffness of links among nodes inside, against that of the surface (default 0.4).
    pub stiffness_inside: f64,
    /// Stiffness of links between surface and inside (default 4).
    pub stiffness_links: f64,
}

impl Default for GuidedParams {
    fn default() -> Self {
        Self { n_nodes: 2500, iterations: 8, smoothness: 9.0, stiffness_inside: 0.4, stiffness_links: 4.0 }
    }
}

/// Share of the preparation that the hierarchy over the faces takes.
const TREE_SHARE: f64 = 0.2;
/// Nodes from which a piece is worth several threads.
const LARGE: usize = 600;

/// All soft pieces as small graphs.
#[derive(Debug, Clone)]
pub(crate) struct Guided {
    proxies: Vec<Proxy>,
    params: GuidedParams,
}

impl Guided {
    /// Stand a graph for each piece. All together fill a share of the tally.
    pub fn new(
        held: HeldMesh,
        soft: &SoftSurface,
        params: &GuidedParams,
        tally: &Tally,
        share: f64,
    ) -> Result<Self, DeformError> {
        let tree = SurfaceTree::new(held.mesh);
        tally.add(TREE_SHARE * share)?;
        let area = |piece: &SoftPiece| piece_area(held, piece);
        let total: f64 = soft.pieces.iter().map(area).sum();
        let build = |piece: &SoftPiece, part: Part| {
            let size = if total > 0.0 { area(piece) / total } else { 1.0 };
            // Vertices name their nodes in 16 bits.
            let budget = ((params.n_nodes as f64 * size) as usize).clamp(64, 32_000);
            Proxy::new(held, &tree, piece, budget, params, part)
        };
        let proxies = soft.build_pieces(tally, (1.0 - TREE_SHARE) * share, build)?;
        Ok(Self { proxies, params: *params })
    }

    /// Every piece, posed.
    pub fn solve(&self, pose: &HandlePose, with_rotations: bool) -> Result<Vec<Posed>, DeformError> {
        let posed = |proxy: &Proxy| proxy.pose_vertices(pose, &self.params, with_rotations);
        // Large pieces one after the other, each on all threads; then the small ones side by side. Mixed, a thread
        // that waits for its share of a large piece would take up a whole other piece meanwhile.
        let mut all: Vec<Option<Result<Posed, DeformError>>> =
            self.proxies.iter().map(|proxy| (proxy.n_nodes() >= LARGE).then(|| posed(proxy))).collect();
        all.par_iter_mut().zip(&self.proxies).filter(|(done, _)| done.is_none()).for_each(|(done, proxy)| {
            *done = Some(posed(proxy));
        });
        all.into_iter().flatten().collect()
    }
}

fn piece_area(HeldMesh { mesh, adjacency, .. }: HeldMesh, piece: &SoftPiece) -> f64 {
    let around = piece.vertices.iter().flat_map(|&v| adjacency.vertex_faces.row(v as usize));
    around
        .map(|&f| {
            let [a, b, c] = mesh.corners(f as usize);
            (b - a).cross(c - a).length() / 6.0
        })
        .sum()
}
