//! Normal equations of the bones, summed over all vertices.
//!
//! # Source
//! Antonopoulos (2010), §3.3.1, eqs. 3.4–3.9. The matrix `A` of eq. 3.6 repeats one row for the three coordinates and
//! does not depend on the pose, so one `AᵀA` of a quarter the size serves all coordinates of all frames. Differs:
//! positions are taken about the centre of each bone, which is the same problem, better conditioned.
//! # Symbols
//! `H` [4K × 4K] `Σ w_j w_k h_j h_kᵀ`, `h_j = (u − c_j, 1)`; `C` [4K × 3P] `Σ w_j h_j vᵀ`
//! # Cost
//! Per vertex with k influences: 16 k² for `H`, 4 k passes over its path for `C`.

use crate::{
    lanes::{fma, groups, groups_mut, splat},
    state::State,
    tracks::Tracks,
};
use rayon::prelude::*;
use sinew_geom::linalg::{Kernel, dispatch};

/// Vertices summed in single precision before they are added in double precision.
const FLUSH_VERTICES: usize = 64;

/// The equations of all bones.
pub(crate) struct Normal {
    pub n_bones: usize,
    /// By columns; only blocks on and below the diagonal are filled.
    pub matrix: Vec<f64>,
    /// By rows: four per bone.
    pub right: Vec<f64>,
    pub width: usize,
}

impl Normal {
    /// Sum over the vertices.
    pub fn new(tracks: &Tracks, state: &State) -> Self {
        let (n_bones, width) = (state.bones.n_bones, tracks.width());
        let (starts, pairs) = state.influences.by_bone(n_bones);
        let n = 4 * n_bones;
        let mut matrix = vec![0.0; n * n];
        let mut right = vec![0.0; n * width];
        matrix.par_chunks_mut(4 * n).zip(right.par_chunks_mut(4 * width)).enumerate().for_each(
            |(bone, (columns, rows))| {
                let members = &pairs[starts[bone] as usize..starts[bone + 1] as usize];
                add_blocks(state, bone, members, columns, n);
                dispatch(Rows { tracks, state, bone, members, rows });
            },
        );
        Self { n_bones, matrix, right, width }
    }

    /// Entry of the matrix on or below the diagonal of blocks.
    #[inline(always)]
    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.matrix[column * 4 * self.n_bones + row]
    }

    /// Sum of squared weights on a bone.
    pub fn mass(&self, bone: usize) -> f64 {
        self.at(4 * bone + 3, 4 * bone + 3)
    }
}

fn about(state: &State, vertex: u32, bone: usize) -> [f64; 4] {
    let (u, c) = (state.rest[vertex as usize], state.bones.centers[bone]);
    [f64::from(u[0] - c[0]), f64::from(u[1] - c[1]), f64::from(u[2] - c[2]), 1.0]
}

fn add_blocks(state: &State, bone: usize, members: &[(u32, f32)], columns: &mut [f64], n: usize) {
    for &(vertex, weight) in members {
        let h = about(state, vertex, bone);
        for (other, w) in state.influences.of(vertex as usize) {
            let other = other as usize;
            if other < bone {
                continue;
            }
            let g = about(state, vertex, other);
            let ww = f64::from(weight) * f64::from(w);
            for c in 0..4 {
                let column = &mut columns[c * n + 4 * other..c * n + 4 * other + 4];
                let factor = ww * h[c];
                (0..4).for_each(|r| column[r] += factor * g[r]);
            }
        }
    }
}

struct Rows<'a> {
    tracks: &'a Tracks,
    state: &'a State,
    bone: usize,
    members: &'a [(u32, f32)],
    rows: &'a mut [f64],
}

impl Kernel for Rows<'_> {
    type Output = ();
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let width = self.tracks.width();
        let c = self.state.bones.centers[self.bone];
        let mut sums = vec![0.0f32; 4 * width];
        for members in self.members.chunks(FLUSH_VERTICES) {
            for four in members.chunks(4) {
                // A missing fourth vertex counts as the first with weight zero.
                let pick = |at: usize| four.get(at).copied().unwrap_or((four[0].0, 0.0));
                let vertices: [(u32, f32); 4] = std::array::from_fn(pick);
                let factors: [[f32; 4]; 4] = vertices.map(|(vertex, w)| {
                    let u = self.state.rest[vertex as usize];
                    [w * (u[0] - c[0]), w * (u[1] - c[1]), w * (u[2] - c[2]), w]
                });
                let paths = vertices.map(|(vertex, _)| groups(self.tracks.row(vertex as usize)));
                let (x, rest) = sums.split_at_mut(width);
                let (y, rest) = rest.split_at_mut(width);
                let (z, t) = rest.split_at_mut(width);
                let rows = [x, y, z, t].map(groups_mut);
                for g in 0..width / 8 {
                    let mut sums = [rows[0][g], rows[1][g], rows[2][g], rows[3][g]];
                    for v in 0..4 {
                        let b = paths[v][g];
                        for r in 0..4 {
                            sums[r] = fma::<FMA>(splat(factors[v][r]), b, sums[r]);
                        }
                    }
                    (0..4).for_each(|r| rows[r][g] = sums[r]);
                }
            }
            self.rows.iter_mut().zip(&mut sums).for_each(|(row, sum)| {
                *row += f64::from(*sum);
                *sum = 0.0;
            });
        }
    }
}
