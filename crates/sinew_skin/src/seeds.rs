//! Initial bones: vertices far from each other in space and in motion.
//!
//! # Source
//! The p-center algorithm of Antonopoulos (2010), §3.4.3, algorithm 3.2: each new centre is the vertex furthest from
//! all centres so far. Differs: the squared distance is `|u_i − u_j|² + α · mean_p |v_i − v_j|²`, so that parts that
//! move differently are separated, and the first centre is the vertex nearest to the middle (or one chosen by the
//! seed).
//! # Cost
//! One pass over all paths per seed; one over the rest pose if α is zero.

use crate::{
    lanes::{fma, groups, splat, sub, sum},
    tracks::Tracks,
};
use rayon::prelude::*;
use sinew_geom::linalg::{Kernel, dispatch};

const CHUNK_VERTICES: usize = 512;

/// Seeds and, for every vertex, the nearest of them.
pub(crate) struct Seeds {
    pub vertices: Vec<u32>,
    pub labels: Vec<u16>,
}

/// The requested number of seeds, all different.
pub(crate) fn find_seeds(tracks: &Tracks, n_seeds: usize, alpha: f64, seed: u64) -> Seeds {
    let n = tracks.n_vertices;
    let mut nearest = vec![f32::INFINITY; n];
    let mut labels = vec![0u16; n];
    let mut vertices: Vec<u32> = Vec::with_capacity(n_seeds);
    let mut next = first_seed(tracks, seed);
    for label in 0..n_seeds {
        vertices.push(next as u32);
        nearest
            .par_chunks_mut(CHUNK_VERTICES)
            .zip(labels.par_chunks_mut(CHUNK_VERTICES))
            .enumerate()
            .for_each(|(chunk, (nearest, labels))| {
                let first = chunk * CHUNK_VERTICES;
                let alpha = alpha as f32 / tracks.n_frames as f32;
                dispatch(Claim { tracks, alpha, seed: next, label: label as u16, first, nearest, labels });
            });
        // A seed belongs to itself even if another vertex is at the same place, and is never chosen again.
        nearest[next] = f32::NEG_INFINITY;
        labels[next] = label as u16;
        let furthest = |best: usize, at: usize| if nearest[at] > nearest[best] { at } else { best };
        next = (0..n).fold(0, furthest);
    }
    Seeds { vertices, labels }
}

fn first_seed(tracks: &Tracks, seed: u64) -> usize {
    if seed != 0 {
        // Mix the bits, so that neighbouring seeds start far apart.
        let mixed = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        return ((mixed ^ (mixed >> 29)) % tracks.n_vertices as u64) as usize;
    }
    // The centroid of the rest pose is the origin.
    let from_middle = |u: &[f32; 3]| u.iter().map(|x| x * x).sum::<f32>();
    let nearer = |best: usize, at: usize| {
        if from_middle(&tracks.rest[at]) < from_middle(&tracks.rest[best]) { at } else { best }
    };
    (0..tracks.n_vertices).fold(0, nearer)
}

struct Claim<'a> {
    tracks: &'a Tracks,
    alpha: f32,
    seed: usize,
    label: u16,
    first: usize,
    nearest: &'a mut [f32],
    labels: &'a mut [u16],
}

impl Kernel for Claim<'_> {
    type Output = ();
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let center = groups(self.tracks.row(self.seed));
        let c = self.tracks.rest[self.seed];
        for (at, (nearest, label)) in self.nearest.iter_mut().zip(self.labels).enumerate() {
            let vertex = self.first + at;
            let u = self.tracks.rest[vertex];
            let mut squared = (0..3).map(|d| (u[d] - c[d]) * (u[d] - c[d])).sum::<f32>();
            if self.alpha > 0.0 && squared < *nearest {
                let mut total = splat(0.0);
                for (v, c) in groups(self.tracks.row(vertex)).iter().zip(center) {
                    let d = sub(*v, *c);
                    total = fma::<FMA>(d, d, total);
                }
                squared += self.alpha * sum(total);
            }
            if squared < *nearest {
                (*nearest, *label) = (squared, self.label);
            }
        }
    }
}
