//! Paths in fewer numbers: affine bones are fitted from products of paths alone, which any orthonormal basis of the
//! same space preserves. Axes along which hardly any vertex moves are left out.
//!
//! # Source
//! Principal axes of the paths, by which Alexa and Müller, *Representing animations by principal components* (2000),
//! compress animations. Sinew's own: the fit of Antonopoulos (2010), eq. 3.1, is computed within them. Rigid bones
//! cannot be fitted so, because a rotation relates the three coordinates of a frame.
//! # Symbols
//! `C` [3P × 3P] products of all paths, `B` [r × 3P] the axes kept
//! # Cost
//! `n (3P)² / 2` for `C`, `9 (3P)³` for its axes, `n r 3P` for the paths: about one round of the fit; each round after
//! that costs a fraction `r / 3P`.

use crate::{
    lanes::{LANES, fma, groups, splat, sum},
    state::{Bones, State},
    tracks::Tracks,
};
use rayon::prelude::*;
use sinew_geom::linalg::{self, Kernel, dispatch, symmetric_eigen};

/// Largest ratio of sizes at which a summary is worthwhile.
const MAX_SIZE_RATIO: f64 = 0.75;
/// Longest paths whose axes are computed.
const MAX_PATH_LENGTH: usize = 2048;
/// Vertices whose products are summed, evenly spread over all: the axes need no more.
const MAX_SAMPLED_VERTICES: usize = 16_384;
const CHUNK_VERTICES: usize = 128;

/// A basis of the space of paths and the paths in it.
pub(crate) struct Summary {
    pub tracks: Tracks,
    /// One row per axis, as long as a path.
    axes: Vec<f32>,
    n_lanes: usize,
}

impl Summary {
    /// Paths in as few numbers as possible while losing at most `allowed` of their squares; `None` if that saves
    /// little.
    pub fn new(tracks: &Tracks, allowed: f64) -> Option<Self> {
        let width = tracks.width();
        if width > MAX_PATH_LENGTH {
            return None;
        }
        let step = tracks.n_vertices.div_ceil(MAX_SAMPLED_VERTICES);
        let (values, vectors) = symmetric_eigen(&products(tracks, step), width);
        let n_axes = count_axes(&values, allowed / step as f64);
        if n_axes as f64 > MAX_SIZE_RATIO * width as f64 {
            return None;
        }
        let left_out = step as f64 * values[..width - n_axes].iter().map(|value| value.max(0.0)).sum::<f64>();
        let axes: Vec<f32> = vectors[(width - n_axes) * width..].iter().map(|&x| x as f32).collect();
        let rows: Vec<&[f32]> = (0..tracks.n_vertices).map(|vertex| tracks.row(vertex)).collect();
        let rows = project(&axes, width, &rows);
        Some(Self { tracks: tracks.with_rows(n_axes / 3, rows, left_out), axes, n_lanes: tracks.n_lanes })
    }

    /// The bones of a state in the basis.
    pub fn shorten(&self, state: State) -> State {
        let rows: Vec<&[f32]> = state.bones.rows.chunks_exact(3 * self.n_lanes).collect();
        let rows = project(&self.axes, 3 * self.n_lanes, &rows);
        State { bones: Bones { rows, n_lanes: self.tracks.n_lanes, ..state.bones }, ..state }
    }

    /// The bones of a state in all frames.
    pub fn lengthen(&self, state: State) -> State {
        let (short, width) = (self.tracks.width(), 3 * self.n_lanes);
        let mut rows = vec![0.0f32; state.bones.rows.len() / short * width];
        rows.par_chunks_mut(width).zip(state.bones.rows.par_chunks(short)).for_each(|(row, numbers)| {
            for (axis, &x) in self.axes.chunks_exact(width).zip(numbers) {
                row.iter_mut().zip(axis).for_each(|(row, axis)| *row += x * axis);
            }
        });
        State { bones: Bones { rows, n_lanes: self.n_lanes, ..state.bones }, ..state }
    }
}

/// How many of the largest axes lose at most `allowed`, in whole registers for each of three coordinates.
fn count_axes(values: &[f64], allowed: f64) -> usize {
    let mut left_out = 0.0;
    let dropped = values.iter().take_while(|value| {
        left_out += value.max(0.0);
        left_out <= allowed
    });
    (values.len() - dropped.count()).max(1).next_multiple_of(3 * LANES).min(values.len())
}

/// `C`, row by row, of every `step`th vertex. In double precision: the part that is dropped is a millionth of it.
fn products(tracks: &Tracks, step: usize) -> Vec<f64> {
    const ROWS_PER_BLOCK: usize = 8;
    struct Rows<'a> {
        tracks: &'a Tracks,
        step: usize,
        first: usize,
        rows: &'a mut [f64],
    }
    impl Kernel for Rows<'_> {
        type Output = ();
        #[inline(always)]
        fn run<const FMA: bool>(self) {
            let width = self.tracks.width();
            let end = (self.first + self.rows.len() / width).next_multiple_of(LANES);
            let mut path = vec![0.0f64; end];
            for vertex in (0..self.tracks.n_vertices).step_by(self.step) {
                path.iter_mut().zip(self.tracks.row(vertex)).for_each(|(x, &row)| *x = f64::from(row));
                for (at, row) in self.rows.chunks_exact_mut(width).enumerate() {
                    let x = path[self.first + at];
                    row[..end].iter_mut().zip(&path).for_each(|(sum, y)| {
                        *sum = linalg::fma::<FMA, _>(x, *y, *sum);
                    });
                }
            }
        }
    }
    let width = tracks.width();
    let mut matrix = vec![0.0; width * width];
    matrix.par_chunks_mut(ROWS_PER_BLOCK * width).enumerate().for_each(|(chunk, rows)| {
        dispatch(Rows { tracks, step, first: chunk * ROWS_PER_BLOCK, rows });
    });
    matrix
}

/// Products of rows with all axes.
fn project(axes: &[f32], width: usize, rows: &[&[f32]]) -> Vec<f32> {
    struct Products<'a> {
        axes: &'a [f32],
        width: usize,
        rows: &'a [&'a [f32]],
        out: &'a mut [f32],
    }
    impl Kernel for Products<'_> {
        type Output = ();
        #[inline(always)]
        fn run<const FMA: bool>(self) {
            let n_axes = self.axes.len() / self.width;
            for (row, out) in self.rows.iter().zip(self.out.chunks_exact_mut(n_axes)) {
                for (axis, out) in self.axes.chunks_exact(self.width).zip(out) {
                    let mut total = splat(0.0);
                    for (a, b) in groups(row).iter().zip(groups(axis)) {
                        total = fma::<FMA>(*a, *b, total);
                    }
                    *out = sum(total);
                }
            }
        }
    }
    let n_axes = axes.len() / width;
    let mut out = vec![0.0; rows.len() * n_axes];
    out.par_chunks_mut(CHUNK_VERTICES * n_axes).zip(rows.par_chunks(CHUNK_VERTICES)).for_each(
        |(out, rows)| {
            dispatch(Products { axes, width, rows, out });
        },
    );
    out
}
