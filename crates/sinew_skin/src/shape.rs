//! The shape of the corrected rest pose: what an animator opens must not be torn.
//!
//! # Source
//! Sinew's own: the correction `δ` of the rest pose costs `Σ c_ij |δ_i − δ_j|²` beside the errors of all frames, so that edges
//! keep their vectors. Vertices are separated as in majorisation (Lange, Hunter and Yang, *Optimization transfer using
//! surrogate objective functions*, 2000): `|a − b|² ≤ 2 |a − m|² + 2 |b − m|²`, with equality where `m` is their middle now.
//! # Symbols
//! `c_ij = ℓ² / |u_i − u_j|²`, shared by the neighbours of both
//! # Cost
//! A sum over the neighbours of each vertex.

use crate::tracks::Tracks;

/// Largest weight of an edge before it is shared: shorter ones count as if they were longer.
const MAX_EDGE_WEIGHT: f32 = 8.0;
/// Strain relative to errors of place at the length `ℓ`, in squares.
const STRAIN_WEIGHT: f64 = 0.25;
/// Share of the pull on the shape that holds its place.
const PLACE_SHARE: f32 = 1e-3;

/// Where a vertex is held, and the pull on it in units of the equations.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Anchor {
    pub place: [f32; 3],
    pub pull: f64,
}

/// How much edges keep their vectors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    squared: f32,
}

impl Shape {
    /// With the length `ℓ` in diagonals.
    pub fn new(length: f64) -> Self {
        Self { squared: (length * length) as f32 }
    }

    fn weight(&self, tracks: &Tracks, a: usize, b: usize) -> f32 {
        let (p, q) = (&tracks.rest[a], &tracks.rest[b]);
        let squared: f32 = (0..3).map(|d| (p[d] - q[d]) * (p[d] - q[d])).sum();
        let shared = (tracks.neighbors.row(a).len() * tracks.neighbors.row(b).len()) as f32;
        (self.squared / squared.max(1e-12)).min(MAX_EDGE_WEIGHT) / shared.sqrt().max(1.0)
    }

    /// Where the neighbours of a vertex pull it, and how strongly. `rest` is the pose now.
    pub fn anchor(&self, tracks: &Tracks, rest: &[[f32; 3]], vertex: usize) -> Anchor {
        let moved = |v: usize| -> [f32; 3] { std::array::from_fn(|d| rest[v][d] - tracks.rest[v][d]) };
        let own = moved(vertex);
        let (mut weight, mut shift) = (PLACE_SHARE, [0.0f32; 3]);
        for &other in tracks.neighbors.row(vertex) {
            let (c, next) = (self.weight(tracks, vertex, other as usize), moved(other as usize));
            weight += 2.0 * c;
            (0..3).for_each(|d| shift[d] += c * (own[d] + next[d]));
        }
        let place = std::array::from_fn(|d| tracks.rest[vertex][d] + shift[d] / weight);
        let n_frames = tracks.n_coordinates as f64 / 3.0;
        Anchor { place, pull: STRAIN_WEIGHT * n_frames * f64::from(weight) }
    }
}
