//! The four Laplacians of surface editing, as sparse matrices.
//!
//! # Source
//! Hansen (2006), §4.1.2–4.1.4, eqs. 4.1–4.4. Differs: eq. 4.2 prints `1/Σe` as the factor of `Σ v/e`, with which the
//! differentials of a translated mesh change; here the weights `1/e` are divided by their own sum, as in the operators
//! of Fujiwara (1995) and Taubin (1995).
//! # Symbols
//! `L` [n × n], rows sum to zero, ones on the diagonal; `δ = L p` [n × 3]; `w_j` weight of neighbour `j`
//! # Cost
//! Linear in the number of edges; `Squared` one sparse product.
//! # Limits
//! A vertex without an edge has an empty row. Where cotangent weights cancel, the row falls back to uniform weights.
//! The cotangents themselves, also of faces without area, are those of [`half_cotangents`].

use super::half_cotangents;
use crate::{
    Mesh,
    linalg::SparseMatrix,
    mesh::{Adjacency, EdgeTable},
};

/// Weights that a Laplacian gives to neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LaplacianKind {
    /// All the same (eq. 4.1).
    #[default]
    Umbrella,
    /// Inverse edge lengths (Taubin, eq. 4.2).
    EdgeLength,
    /// Cotangents of the opposite angles (eq. 4.3).
    Cotangent,
    /// The umbrella applied twice (eq. 4.4).
    Squared,
}

impl LaplacianKind {
    /// All of them, in the order of Hansen (2006).
    pub const ALL: [Self; 4] = [Self::Umbrella, Self::EdgeLength, Self::Cotangent, Self::Squared];

    /// Name in options and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Umbrella => "umbrella",
            Self::EdgeLength => "edge-length",
            Self::Cotangent => "cotangent",
            Self::Squared => "squared",
        }
    }

    /// The kind with a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Weights whose sum is below this fraction of their magnitudes cancel; the row is then made uniform.
const CANCELLATION: f64 = 1e-9;

/// The matrix `L` with `δ = L p`.
pub fn build_laplacian(mesh: &Mesh, adjacency: &Adjacency, kind: LaplacianKind) -> SparseMatrix {
    if kind == LaplacianKind::Squared {
        let umbrella = build_laplacian(mesh, adjacency, LaplacianKind::Umbrella);
        return umbrella.multiply(&umbrella);
    }
    let edges = &adjacency.edges;
    let at = |v: u32| mesh.positions()[v as usize];
    let weights: Vec<f64> = match kind {
        LaplacianKind::EdgeLength => {
            let shortest = 1e-12 * mesh.diagonal().max(f64::MIN_POSITIVE);
            edges.vertices().iter().map(|&[a, b]| 1.0 / at(a).distance(at(b)).max(shortest)).collect()
        }
        LaplacianKind::Cotangent => compute_cotangents(mesh, edges),
        LaplacianKind::Umbrella | LaplacianKind::Squared => vec![1.0; edges.len()],
    };
    let mut sums = vec![0.0; mesh.n_vertices()];
    let mut magnitudes = vec![0.0; mesh.n_vertices()];
    for (&[a, b], w) in edges.vertices().iter().zip(&weights) {
        for v in [a, b] {
            sums[v as usize] += w;
            magnitudes[v as usize] += w.abs();
        }
    }
    let entry = |v: u32, other: u32, w: f64| {
        let i = v as usize;
        let cancelled = sums[i].abs() <= CANCELLATION * magnitudes[i];
        let share = if cancelled { 1.0 / adjacency.neighbors.row(i).len() as f64 } else { w / sums[i] };
        (v, other, -share)
    };
    let diagonal = (0..mesh.n_vertices() as u32)
        .filter(|&v| !adjacency.neighbors.row(v as usize).is_empty())
        .map(|v| (v, v, 1.0));
    let off =
        edges.vertices().iter().zip(&weights).flat_map(|(&[a, b], &w)| [entry(a, b, w), entry(b, a, w)]);
    SparseMatrix::from_triplets(mesh.n_vertices(), mesh.n_vertices(), diagonal.chain(off))
}

/// The symmetric cotangent matrix (positive semi-definite, rows sum to zero): `½ Σ cot` off the diagonal,
/// negated. Dirichlet energy of `x` is `½ xᵀ K x`.
pub fn build_cotangent_stiffness(mesh: &Mesh, adjacency: &Adjacency) -> SparseMatrix {
    let edges = &adjacency.edges;
    let weights = compute_cotangents(mesh, edges);
    let triplets = edges.vertices().iter().zip(&weights).flat_map(|(&[a, b], &w)| {
        let half = w / 2.0;
        [(a, a, half), (b, b, half), (a, b, -half), (b, a, -half)]
    });
    SparseMatrix::from_triplets(mesh.n_vertices(), mesh.n_vertices(), triplets)
}

/// `cot α + cot β` of every edge; a boundary edge has one term. See [`half_cotangents`] for faces without area.
fn compute_cotangents(mesh: &Mesh, edges: &EdgeTable) -> Vec<f64> {
    let halves: Vec<[f64; 3]> = (0..mesh.n_faces()).map(|face| half_cotangents(mesh.corners(face))).collect();
    // The half-edge k of a face runs from its corner k to the next; the third corner is opposite.
    let cotangent = |half_edge: usize| 2.0 * halves[half_edge / 3][(half_edge % 3 + 2) % 3];
    (0..edges.len())
        .map(|edge| {
            let sum: f64 = edges.uses(edge).map(|used| cotangent(used.half_edge as usize)).sum();
            if sum.is_finite() { sum } else { 0.0 }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    /// A flat grid of unit squares, each cut along one diagonal.
    fn grid(n: u32) -> Mesh {
        let positions = (0..n * n).map(|i| DVec3::new((i % n) as f64, (i / n) as f64, 0.0)).collect();
        let faces = (0..n - 1)
            .flat_map(|y| (0..n - 1).map(move |x| y * n + x))
            .flat_map(|i| [[i, i + 1, i + n + 1], [i, i + n + 1, i + n]])
            .collect();
        Mesh::new(positions, faces).unwrap()
    }

    #[test]
    fn rows_sum_to_zero_and_moving_changes_nothing() {
        let mesh = grid(6);
        let adjacency = Adjacency::new(&mesh);
        for kind in LaplacianKind::ALL {
            let l = build_laplacian(&mesh, &adjacency, kind);
            let mut out = vec![0.0; 36];
            l.mul_vec(&[1.0; 36], &mut out);
            assert!(out.iter().all(|x| x.abs() < 1e-12), "{kind:?}");
        }
    }

    #[test]
    fn entries_match_the_equations_by_hand() {
        let mesh = grid(3);
        let adjacency = Adjacency::new(&mesh);
        // The centre of the grid has neighbours 0, 1, 3, 5, 7, 8; the diagonals are √2 long and carry no
        // cotangent weight, the straight edges carry cot 45° + cot 45° = 2.
        let row = |kind| build_laplacian(&mesh, &adjacency, kind).row(4).collect::<Vec<_>>();
        let root = 2f64.sqrt();
        let long = (1.0 / root) / (4.0 + 2.0 / root);
        let short = 1.0 / (4.0 + 2.0 / root);
        let expect = |far: f64, near: f64| {
            [(0, -far), (1, -near), (3, -near), (4, 1.0), (5, -near), (7, -near), (8, -far)]
        };
        let sixth = 1.0 / 6.0;
        for (kind, expected) in [
            (LaplacianKind::Umbrella, expect(sixth, sixth)),
            (LaplacianKind::EdgeLength, expect(long, short)),
            (LaplacianKind::Cotangent, expect(0.0, 0.25)),
        ] {
            for ((column, value), (wanted, number)) in row(kind).into_iter().zip(expected) {
                assert_eq!(column, wanted);
                assert!((value - number).abs() < 1e-12, "{kind:?} {column} {value} {number}");
            }
        }
    }

    #[test]
    fn cotangents_reproduce_linear_functions_inside_a_flat_mesh() {
        // A sheared, stretched grid: only with cotangent weights the linear function stays harmonic.
        let flat = grid(7);
        let warp = |p: &DVec3| DVec3::new(p.x + 0.3 * p.y + 0.1 * (p.x * 3.7).sin(), p.y * 1.7, 0.0);
        let mesh = flat.with_positions(flat.positions().iter().map(warp).collect()).unwrap();
        let stiffness = build_cotangent_stiffness(&mesh, &Adjacency::new(&mesh));
        let linear: Vec<f64> = mesh.positions().iter().map(|p| 2.0 * p.x - p.y).collect();
        let mut out = vec![0.0; 49];
        stiffness.mul_vec(&linear, &mut out);
        for y in 1..6 {
            for x in 1..6 {
                assert!(out[y * 7 + x].abs() < 1e-10);
            }
        }
    }
}
