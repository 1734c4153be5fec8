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
    DeformError, HandlePose, HandleSet,
    soft::{Posed, SoftPiece, SoftSurface},
};
use proxy::Proxy;
use rayon::prelude::*;
use sinew_geom::{Mesh, mesh::Adjacency, query::SurfaceTree};

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

/// Nodes from which a piece is worth several threads.
const LARGE: usize = 600;

/// All soft pieces as small graphs.
#[derive(Debug, Clone)]
pub(crate) struct Guided {
    proxies: Vec<Proxy>,
    params: GuidedParams,
}

impl Guided {
    pub fn new(
        mesh: &Mesh,
        adjacency: &Adjacency,
        handles: &HandleSet,
        soft: &SoftSurface,
        params: &GuidedParams,
    ) -> Result<Self, DeformError> {
        let tree = SurfaceTree::new(mesh);
        let area = |piece: &SoftPiece| piece_area(mesh, adjacency, piece);
        let total: f64 = soft.pieces.iter().map(area).sum();
        let build = |piece: &SoftPiece| {
            let share = if total > 0.0 { area(piece) / total } else { 1.0 };
            // Vertices name their nodes in 16 bits.
            let budget = ((params.n_nodes as f64 * share) as usize).clamp(64, 32_000);
            Proxy::new(mesh, adjacency, &tree, handles, piece, budget, params)
        };
        let proxies = soft.pieces.par_iter().map(build).collect::<Result<_, _>>()?;
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

fn piece_area(mesh: &Mesh, adjacency: &Adjacency, piece: &SoftPiece) -> f64 {
    let around = piece.vertices.iter().flat_map(|&v| adjacency.vertex_faces.row(v as usize));
    around
        .map(|&f| {
            let [a, b, c] = mesh.corners(f as usize);
            (b - a).cross(c - a).length() / 6.0
        })
        .sum()
}
