//! The soft surface: connected pieces between handles, each a problem of its own.

use crate::{
    DeformError, HandleSet,
    carried::CarriedPart,
    handled::HandledMesh,
    progress::{ProgressMeter, ProgressSpan},
};
use glam::{DQuat, DVec3};
use rayon::prelude::*;
use sinew_geom::{Mesh, Warnings, query::SurfaceTree};

/// What moves each vertex.
#[derive(Debug, Clone)]
pub(crate) struct SoftSurface {
    /// Pieces that are held by a handle and have to be solved.
    pub pieces: Vec<SoftPiece>,
    /// Per vertex, the handle that moves it rigidly, or `None` for vertices of a piece.
    pub carrier: Vec<Option<u32>>,
    /// Parts that touch no handle and move with the surface beside them; their carriers are the handles nearest to them.
    pub carried: Vec<CarriedPart>,
}

/// A connected piece of soft surface that touches at least one handle.
#[derive(Debug, Clone)]
pub(crate) struct SoftPiece {
    /// Its vertices, in increasing order; those that follow a handle with less than full weight are among them.
    pub vertices: Vec<u32>,
    /// Handles that hold it, in increasing order.
    pub handles: Vec<u32>,
}

/// Vertices below which a piece has no inside worth modelling: it is a patch about as wide as its rim.
const MIN_VERTICES_WITH_INSIDE: usize = 16;

impl SoftPiece {
    /// Its area: a third of every face around each vertex.
    pub fn area(&self, HandledMesh { mesh, adjacency, .. }: HandledMesh) -> f64 {
        let around = self.vertices.iter().flat_map(|&v| adjacency.vertex_faces.row(v as usize));
        let third = |&f: &u32| {
            let [a, b, c] = mesh.corners(f as usize);
            (b - a).cross(c - a).length() / 6.0
        };
        around.map(third).sum()
    }

    /// Whether the inside below it is worth modelling.
    pub fn has_inside(&self) -> bool {
        self.vertices.len() >= MIN_VERTICES_WITH_INSIDE
    }
}

/// A posed piece.
#[derive(Debug, Clone, Default)]
pub(crate) struct Posed {
    /// Positions of its vertices.
    pub positions: Vec<DVec3>,
    /// Rotation of the surface around them; empty if not requested.
    pub rotations: Vec<DQuat>,
}

impl SoftSurface {
    /// Number of vertices of all pieces.
    pub fn n_vertices(&self) -> usize {
        self.pieces.iter().map(|piece| piece.vertices.len()).sum()
    }

    /// Prepare every piece in parallel. Together they fill a share of the progress, in proportion to their vertices.
    pub fn build_pieces<T: Send>(
        &self,
        meter: &ProgressMeter,
        share: f64,
        build: impl Fn(&SoftPiece, ProgressSpan) -> Result<T, DeformError> + Sync,
    ) -> Result<Vec<T>, DeformError> {
        let a_vertex = share / self.n_vertices().max(1) as f64;
        let span = |piece: &SoftPiece| ProgressSpan { meter, share: a_vertex * piece.vertices.len() as f64 };
        self.pieces.par_iter().map(|piece| build(piece, span(piece))).collect()
    }

    /// Find the pieces. A piece that touches no handle moves with the surface beside it, with a warning.
    pub fn new(HandledMesh { mesh, adjacency, handles }: HandledMesh, warnings: &mut Warnings) -> Self {
        let n = mesh.n_vertices();
        let owner = |v: usize| handles.owner(v).map(|h| h as u32);
        let mut carrier: Vec<Option<u32>> =
            (0..n).map(|v| if handles.is_rigid(v) { owner(v) } else { None }).collect();
        let (mut pieces, mut loose) = (Vec::new(), Vec::new());
        let mut seen: Vec<bool> = (0..n).map(|v| handles.is_rigid(v)).collect();
        for start in 0..n {
            if seen[start] {
                continue;
            }
            seen[start] = true;
            let (mut vertices, mut holding) = (vec![start as u32], Vec::new());
            let mut at = 0;
            while at < vertices.len() {
                let v = vertices[at] as usize;
                at += 1;
                holding.extend(owner(v));
                for &next in adjacency.neighbors.row(v) {
                    let next = next as usize;
                    if handles.is_rigid(next) {
                        holding.extend(owner(next));
                    } else if !seen[next] {
                        seen[next] = true;
                        vertices.push(next as u32);
                    }
                }
            }
            vertices.sort_unstable();
            holding.sort_unstable();
            holding.dedup();
            let piece = SoftPiece { vertices, handles: holding };
            if piece.handles.is_empty() { loose.push(piece) } else { pieces.push(piece) }
        }
        let carried = if loose.is_empty() {
            Vec::new()
        } else {
            carry_loose(mesh, handles, loose, &mut carrier, warnings)
        };
        Self { pieces, carrier, carried }
    }
}

/// Give pieces that touch no handle to the handle nearest to them, and let those move with the surface that touch a soft one.
fn carry_loose(
    mesh: &Mesh,
    handles: &HandleSet,
    loose: Vec<SoftPiece>,
    carrier: &mut [Option<u32>],
    warnings: &mut Warnings,
) -> Vec<CarriedPart> {
    let held: Vec<u32> =
        (0..mesh.n_vertices() as u32).filter(|&v| handles.owner(v as usize).is_some()).collect();
    let points: Vec<DVec3> = held.iter().map(|&v| mesh.positions()[v as usize]).collect();
    // A hierarchy over points is a hierarchy over faces without extent.
    let faces = (0..points.len() as u32).map(|i| [i; 3]).collect();
    let Ok(cloud) = Mesh::new(points, faces) else { return Vec::new() };
    let tree = SurfaceTree::new(&cloud);
    let n_vertices: usize = loose.iter().map(|piece| piece.vertices.len()).sum();
    warnings.push(format!(
        "{} soft parts ({n_vertices} vertices) touch no handle; each moves rigidly with the surface nearest to it",
        loose.len()
    ));
    let mut is_loose = vec![false; mesh.n_vertices()];
    for piece in &loose {
        let nearest = piece
            .vertices
            .iter()
            .filter_map(|&v| tree.closest_point(mesh.positions()[v as usize]))
            .min_by(|a, b| a.distance.total_cmp(&b.distance).then(a.face.cmp(&b.face)));
        let owner = nearest.and_then(|hit| handles.owner(held[hit.face as usize] as usize)).unwrap_or(0);
        for &v in &piece.vertices {
            carrier[v as usize] = Some(owner as u32);
            is_loose[v as usize] = true;
        }
    }
    let faces: Vec<[u32; 3]> =
        mesh.faces().iter().filter(|face| !is_loose[face[0] as usize]).copied().collect();
    if faces.is_empty() {
        return Vec::new();
    }
    let Ok(surface) = Mesh::new(mesh.positions().to_vec(), faces) else { return Vec::new() };
    let tree = SurfaceTree::new(&surface);
    let parts = loose.into_par_iter().filter_map(|piece| {
        let part = CarriedPart::new(piece.vertices, mesh, &tree, surface.faces())?;
        let first = part.touched().next().and_then(|v| carrier[v as usize]);
        let is_rigid = first.is_some() && part.touched().all(|v| carrier[v as usize] == first);
        Some((part, first.filter(|_| is_rigid)))
    });
    let mut carried = Vec::new();
    for (part, owner) in parts.collect::<Vec<_>>() {
        match owner {
            // Exactly as the handle does.
            Some(owner) => part.vertices.iter().for_each(|&v| carrier[v as usize] = Some(owner)),
            None => carried.push(part),
        }
    }
    carried
}
