//! From a field to a closed mesh with a given number of vertices.
//!
//! # Source
//! Sinew's own arrangement of [`super::nets`] and [`super::remesh`].
//! # Cost
//! Linear in the larger of the requested number of vertices and [`FINE_VERTICES`]. A million vertices take a few
//! seconds.
//! # Limits
//! Exact up to [`MAX_THINNED_VERTICES`] vertices, within one or two per cent above.

use super::field::Regions;
use super::nets::build_nets;
use super::remesh::Remesher;
use crate::{GeomError, Mesh};
use glam::DVec3;
use rayon::prelude::*;

/// Vertices at which fingers and ears are well resolved; coarser meshes are thinned from here.
const FINE_VERTICES: usize = 22_000;
/// Above this, the grid alone gives the mesh.
const MAX_THINNED_VERTICES: usize = 120_000;
/// Cell size of the run that measures the surface.
const PROBE_CELL: f64 = 0.012;
/// Attempts at other cell sizes when the grid falls badly between two limbs.
const MAX_ATTEMPTS: usize = 12;

/// A closed, connected manifold of about `n_vertices` on the zero set of the field.
pub(super) fn build_surface(regions: &Regions, n_vertices: usize) -> Result<Mesh, GeomError> {
    let field = regions.field;
    let thin = n_vertices <= MAX_THINNED_VERTICES;
    // Where the count is reached by thinning, a rough estimate of the area suffices.
    let probe_cell = if thin { 2.0 * PROBE_CELL } else { PROBE_CELL };
    let probe = build_nets(field, probe_cell).map_or(FINE_VERTICES, |nets| nets.positions.len());
    let area = probe as f64 * probe_cell * probe_cell;
    let wanted = if thin { (n_vertices * 3 / 2).max(FINE_VERTICES) } else { n_vertices };
    for attempt in 0..MAX_ATTEMPTS {
        // Alternate around the requested size, increasingly far, by at most two per cent.
        let nudge = 0.0016 * attempt.div_ceil(2) as f64 * if attempt % 2 == 0 { 1.0 } else { -1.0 };
        let cell = (area / wanted as f64).sqrt() * (1.0 + nudge);
        let Some(mut nets) = build_nets(field, cell) else { continue };
        nets.relax(field, if thin { 1 } else { 3 });
        if !thin {
            nets.open_slivers(regions, 4);
        }
        let faces = nets.triangles();
        if !is_sphere(nets.positions.len(), &faces) {
            continue;
        }
        if !thin {
            return Mesh::new(nets.positions, faces);
        }
        let mut remesher = Remesher::new(regions, nets.positions, faces);
        remesher.thin(n_vertices);
        remesher.polish(3);
        remesher.snap_borders();
        let (positions, faces) = remesher.finish();
        return Mesh::new(positions, faces);
    }
    Err(GeomError::Parameter {
        name: "vertices",
        value: n_vertices.to_string(),
        expected: "no grid of about this size gives a closed surface; ask for a few per cent more",
    })
}

/// Whether triangles form one closed manifold of genus 0.
pub(super) fn is_sphere(n_vertices: usize, faces: &[[u32; 3]]) -> bool {
    // V − E + F = 2 with E = 3F/2, and every directed edge once with its opposite present.
    if n_vertices * 2 != faces.len() + 4 {
        return false;
    }
    let key = |u: u32, v: u32| u64::from(u) << 32 | u64::from(v);
    let mut edges: Vec<u64> = faces.iter().flat_map(|&[a, b, c]| [key(a, b), key(b, c), key(c, a)]).collect();
    edges.par_sort_unstable();
    if edges.windows(2).any(|pair| pair[0] == pair[1]) {
        return false;
    }
    // Swapping the ends maps the set of edges onto itself; comparing sorted lists avoids a search per edge.
    let mut swapped: Vec<u64> = edges.iter().map(|&e| e.rotate_left(32)).collect();
    swapped.par_sort_unstable();
    edges == swapped && is_connected(n_vertices, faces)
}

fn is_connected(n_vertices: usize, faces: &[[u32; 3]]) -> bool {
    let mut parent: Vec<u32> = (0..n_vertices as u32).collect();
    fn root(parent: &mut [u32], mut v: u32) -> u32 {
        while parent[v as usize] != v {
            parent[v as usize] = parent[parent[v as usize] as usize];
            v = parent[v as usize];
        }
        v
    }
    let mut parts = n_vertices;
    for &[a, b, c] in faces {
        for other in [b, c] {
            let (x, y) = (root(&mut parent, a), root(&mut parent, other));
            if x != y {
                parent[x.max(y) as usize] = x.min(y);
                parts -= 1;
            }
        }
    }
    parts == 1
}

/// Area-weighted unit normals.
pub(super) fn vertex_normals(mesh: &Mesh) -> Vec<DVec3> {
    let mut normals = vec![DVec3::ZERO; mesh.n_vertices()];
    for (f, face) in mesh.faces().iter().enumerate() {
        let n = super::remesh::normal(mesh.corners(f));
        for &v in face {
            normals[v as usize] += n;
        }
    }
    normals.into_iter().map(|n| n.normalize_or(DVec3::Y)).collect()
}
