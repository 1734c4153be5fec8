//! Connected parts of a mesh.

use rayon::prelude::*;
use sinew_geom::{Mesh, mesh::UnionFind};

/// Vertices nearer to each other than this share of the diagonal are in one place.
const SAME_PLACE: f64 = 1e-5;

/// Vertices of every connected part; vertices in one place are one.
pub(crate) fn find_parts(mesh: &Mesh) -> Vec<Vec<u32>> {
    let n = mesh.n_vertices();
    let key = |v: usize| (mesh.positions()[v] / SAME_PLACE).round().as_ivec3().to_array();
    let mut order: Vec<([i32; 3], u32)> = (0..n).into_par_iter().map(|v| (key(v), v as u32)).collect();
    order.par_sort_unstable();
    let mut sets = UnionFind::new(n);
    for pair in order.windows(2) {
        if pair[0].0 == pair[1].0 {
            sets.union(pair[0].1, pair[1].1);
        }
    }
    for &[a, b, c] in mesh.faces() {
        sets.union(a, b);
        sets.union(b, c);
    }
    let (labels, n_parts) = sets.labels();
    let mut parts = vec![Vec::new(); n_parts];
    labels.iter().enumerate().for_each(|(v, &part)| parts[part as usize].push(v as u32));
    parts
}
