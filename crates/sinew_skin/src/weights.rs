//! The weights of every vertex, with bones and rest pose fixed.
//!
//! # Source
//! Antonopoulos (2010), §5.3, eqs. 5.13–5.21 (weight corrections), by the Gram matrix of residuals: see `simplex`.
//! Using residuals instead of positions makes single precision sufficient.
//! # Symbols
//! `d_a` [3 P] residual path of candidate bone `a`; `G` [n × n] their products
//! # Cost
//! Per vertex: 4 n + n²/2 passes over a path for n ≤ 12 candidates. Vertices are independent.

use crate::{
    lanes::{V, fma, groups, splat, sub, sum},
    params::MAX_CANDIDATES,
    simplex::{Blend, GRAM_STRIDE},
    state::{Influences, State, centroids},
    tracks::Tracks,
};
use rayon::prelude::*;
use sinew_geom::linalg::{Kernel, dispatch};

/// Vertices per unit of parallel work.
const CHUNK_VERTICES: usize = 128;

/// The number of candidate bones and the largest number of influences.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Choice {
    pub candidates: usize,
    pub influences: usize,
    /// Which vertices may swap bones; for the others only the weights of their current bones change.
    pub exchanges: SwapSchedule,
}

/// Which vertices may swap bones in a round.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SwapSchedule {
    /// None of them.
    None,
    /// All of them.
    All,
    /// One in `every`, others from round to round.
    InTurn { every: usize, round: usize },
}

impl SwapSchedule {
    #[inline(always)]
    fn of(self, vertex: usize) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::InTurn { every, round } => (vertex + round).is_multiple_of(every),
        }
    }
}

/// New influences of all vertices and the squared error of each.
pub(crate) fn update_weights(tracks: &Tracks, state: &State, choice: Choice) -> (Influences, Vec<f32>) {
    let n = tracks.n_vertices;
    let width = choice.influences;
    let centers = centroids(&state.influences, &state.rest, &state.bones.centers);
    let mut next =
        Influences { width, slots: vec![0; n * width], weights: vec![0.0; n * width], counts: vec![0; n] };
    let mut errors = vec![0.0; n];
    let parts = next
        .slots
        .par_chunks_mut(CHUNK_VERTICES * width)
        .zip(next.weights.par_chunks_mut(CHUNK_VERTICES * width))
        .zip(next.counts.par_chunks_mut(CHUNK_VERTICES).zip(errors.par_chunks_mut(CHUNK_VERTICES)));
    parts.enumerate().for_each(|(chunk, ((slots, weights), (counts, errors)))| {
        let first = chunk * CHUNK_VERTICES;
        let out = Out { slots, weights, counts, errors };
        dispatch(Blending { tracks, state, choice, centers: &centers, first, out });
    });
    (next, errors)
}

/// Output of a chunk.
struct Out<'a> {
    slots: &'a mut [u16],
    weights: &'a mut [f32],
    counts: &'a mut [u8],
    errors: &'a mut [f32],
}

struct Blending<'a> {
    tracks: &'a Tracks,
    state: &'a State,
    choice: Choice,
    centers: &'a [[f32; 3]],
    first: usize,
    out: Out<'a>,
}

impl Kernel for Blending<'_> {
    type Output = ();
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Self { tracks, state, choice, centers, first, out } = self;
        let width = tracks.width();
        let mut finder = Finder::new(centers.len());
        // Tiles read a few rows beyond the last candidate.
        let mut residuals = vec![0.0f32; (MAX_CANDIDATES + 4) * width];
        let mut gram = [0.0f64; GRAM_STRIDE * GRAM_STRIDE];
        for at in 0..out.counts.len() {
            let vertex = first + at;
            let own = state.influences.counts[vertex] as usize;
            let exchanges = choice.exchanges.of(vertex);
            let most = if exchanges { choice.candidates.max(own) } else { own };
            let candidates = finder.find(tracks, state, centers, vertex, most);
            for (a, &bone) in candidates.iter().enumerate() {
                let out = &mut residuals[a * width..(a + 1) * width];
                residual::<FMA>(tracks.row(vertex), state, vertex, bone as usize, out);
            }
            products::<FMA>(&residuals, width, candidates.len(), &mut gram);
            let start = state.influences.of(vertex).enumerate().map(|(a, (_, w))| (a as u8, f64::from(w)));
            let mut blend = Blend::new(&gram, start);
            if exchanges {
                blend.improve(&gram, candidates.len(), choice.influences);
            }
            out.counts[at] = blend.n as u8;
            out.errors[at] = blend.error.max(0.0) as f32;
            for k in 0..blend.n {
                out.slots[at * choice.influences + k] = candidates[blend.members[k] as usize];
                out.weights[at * choice.influences + k] = blend.weights[k] as f32;
            }
        }
    }
}

/// Finds the candidate bones of a vertex: its own first, then those of its neighbours, then the nearest.
pub(crate) struct Finder {
    stamps: Vec<u32>,
    stamp: u32,
    found: Vec<u16>,
    near: Vec<(f32, u16)>,
}

impl Finder {
    pub fn new(n_bones: usize) -> Self {
        Self { stamps: vec![0; n_bones], stamp: 0, found: Vec::new(), near: Vec::new() }
    }

    #[inline(always)]
    pub fn find(
        &mut self,
        tracks: &Tracks,
        state: &State,
        centers: &[[f32; 3]],
        vertex: usize,
        most: usize,
    ) -> &[u16] {
        self.stamp += 1;
        self.found.clear();
        state.influences.of(vertex).for_each(|(bone, _)| self.add(bone, most));
        for &neighbor in tracks.neighbors.row(vertex) {
            if self.found.len() >= most {
                break;
            }
            state.influences.of(neighbor as usize).for_each(|(bone, _)| self.add(bone, most));
        }
        if self.found.len() < most.min(centers.len()) {
            self.add_nearest(&state.rest[vertex], centers, most);
        }
        &self.found
    }

    #[inline(always)]
    fn add(&mut self, bone: u16, most: usize) {
        if self.found.len() < most && self.stamps[bone as usize] != self.stamp {
            self.stamps[bone as usize] = self.stamp;
            self.found.push(bone);
        }
    }

    #[inline(always)]
    fn add_nearest(&mut self, u: &[f32; 3], centers: &[[f32; 3]], most: usize) {
        // The nearest so far, in order: most bones are further away than all of them.
        let wanted = most.min(centers.len()) - self.found.len();
        self.near.clear();
        self.near.resize(wanted, (f32::INFINITY, 0));
        for (bone, c) in centers.iter().enumerate() {
            let d = [u[0] - c[0], u[1] - c[1], u[2] - c[2]];
            let squared = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
            if squared >= self.near[wanted - 1].0 || self.stamps[bone] == self.stamp {
                continue;
            }
            let mut at = wanted - 1;
            while at > 0 && self.near[at - 1].0 > squared {
                self.near[at] = self.near[at - 1];
                at -= 1;
            }
            self.near[at] = (squared, bone as u16);
        }
        let is_there = |(squared, _): &&(f32, u16)| *squared < f32::INFINITY;
        self.found.extend(self.near.iter().filter(is_there).map(|(_, bone)| bone));
    }
}

/// `A_j (u − c_j) + t_j − v` over all frames.
#[inline(always)]
pub(crate) fn residual<const FMA: bool>(
    path: &[f32],
    state: &State,
    vertex: usize,
    bone: usize,
    out: &mut [f32],
) {
    let width = path.len();
    let rows = state.bones.of(bone);
    let (u, c) = (&state.rest[vertex], &state.bones.centers[bone]);
    let [hx, hy, hz] = [u[0] - c[0], u[1] - c[1], u[2] - c[2]].map(splat);
    let (x, rest) = rows.split_at(width);
    let (y, rest) = rest.split_at(width);
    let (z, t) = rest.split_at(width);
    let out = out.as_chunks_mut::<8>().0;
    let inputs = groups(x).iter().zip(groups(y)).zip(groups(z).iter().zip(groups(t)));
    for ((out, b), ((x, y), (z, t))) in out.iter_mut().zip(groups(path)).zip(inputs) {
        let moved = fma::<FMA>(hx, *x, fma::<FMA>(hy, *y, fma::<FMA>(hz, *z, *t)));
        *out = sub(moved, *b);
    }
}

/// Products of all pairs of residuals, in tiles that fit the registers.
#[inline(always)]
fn products<const FMA: bool>(residuals: &[f32], width: usize, n: usize, gram: &mut [f64]) {
    const TILE_ROWS: usize = 3;
    const TILE_COLUMNS: usize = 4;
    let row = |a: usize| groups(&residuals[a * width..(a + 1) * width]);
    for a in (0..n).step_by(TILE_ROWS) {
        for b in (0..(a + TILE_ROWS).min(n)).step_by(TILE_COLUMNS) {
            let left: [&[V]; TILE_ROWS] = std::array::from_fn(|i| row(a + i));
            let right: [&[V]; TILE_COLUMNS] = std::array::from_fn(|j| row(b + j));
            let mut tile = [[splat(0.0); TILE_COLUMNS]; TILE_ROWS];
            for g in 0..width / 8 {
                let r: [V; TILE_COLUMNS] = std::array::from_fn(|j| right[j][g]);
                for i in 0..TILE_ROWS {
                    let l = left[i][g];
                    for j in 0..TILE_COLUMNS {
                        tile[i][j] = fma::<FMA>(l, r[j], tile[i][j]);
                    }
                }
            }
            for i in 0..TILE_ROWS.min(n - a) {
                for j in 0..TILE_COLUMNS.min(n - b) {
                    let product = f64::from(sum(tile[i][j]));
                    gram[(a + i) * GRAM_STRIDE + b + j] = product;
                    gram[(b + j) * GRAM_STRIDE + a + i] = product;
                }
            }
        }
    }
}

/// One bone per vertex: the one with the least error. Returns the bones and their squared errors.
pub(crate) fn update_labels(tracks: &Tracks, state: &State, candidates: usize) -> (Vec<u16>, Vec<f32>) {
    let n = tracks.n_vertices;
    let (mut labels, mut errors) = (vec![0; n], vec![0.0; n]);
    let centers = centroids(&state.influences, &state.rest, &state.bones.centers);
    labels.par_chunks_mut(CHUNK_VERTICES).zip(errors.par_chunks_mut(CHUNK_VERTICES)).enumerate().for_each(
        |(chunk, (labels, errors))| {
            let first = chunk * CHUNK_VERTICES;
            dispatch(Labelling { tracks, state, candidates, centers: &centers, first, labels, errors });
        },
    );
    (labels, errors)
}

struct Labelling<'a> {
    tracks: &'a Tracks,
    state: &'a State,
    candidates: usize,
    centers: &'a [[f32; 3]],
    first: usize,
    labels: &'a mut [u16],
    errors: &'a mut [f32],
}

impl Kernel for Labelling<'_> {
    type Output = ();
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let mut finder = Finder::new(self.centers.len());
        for at in 0..self.labels.len() {
            let vertex = self.first + at;
            let candidates = finder.find(self.tracks, self.state, self.centers, vertex, self.candidates);
            let mut best = (f32::INFINITY, 0);
            for &bone in candidates {
                // Its own bone comes first and wins ties.
                let error =
                    distance::<FMA>(self.tracks.row(vertex), self.state, vertex, bone as usize, best.0);
                if error < best.0 {
                    best = (error, bone);
                }
            }
            (self.errors[at], self.labels[at]) = best;
        }
    }
}

/// Squared length of a residual; infinite as soon as it exceeds `limit`.
#[inline(always)]
fn distance<const FMA: bool>(path: &[f32], state: &State, vertex: usize, bone: usize, limit: f32) -> f32 {
    const BLOCK_GROUPS: usize = 4;
    let width = path.len();
    let rows = state.bones.of(bone);
    let (u, c) = (&state.rest[vertex], &state.bones.centers[bone]);
    let [hx, hy, hz] = [u[0] - c[0], u[1] - c[1], u[2] - c[2]].map(splat);
    let [x, y, z, t] = std::array::from_fn(|a| groups(&rows[a * width..(a + 1) * width]));
    let b = groups(path);
    let mut total = splat(0.0);
    let mut g = 0;
    while g < b.len() {
        let end = (g + BLOCK_GROUPS).min(b.len());
        while g < end {
            let moved = fma::<FMA>(hx, x[g], fma::<FMA>(hy, y[g], fma::<FMA>(hz, z[g], t[g])));
            let d = sub(moved, b[g]);
            total = fma::<FMA>(d, d, total);
            g += 1;
        }
        if sum(total) > limit {
            return f32::INFINITY;
        }
    }
    sum(total)
}
