//! Distance of every cell of a solid from the outside.
//!
//! # Source
//! Felzenszwalb and Huttenlocher, *Distance transforms of sampled functions* (2012): exact, one axis after the other.
//! # Cost
//! Linear in cells of the grid.

use super::grid::Grid;
use rayon::prelude::*;

/// Distance to the nearest empty cell, in cells.
pub(crate) fn compute_depth(solid: &[bool], grid: &Grid) -> Vec<f32> {
    let [nx, ny, nz] = grid.dims;
    let far = (nx * nx + ny * ny + nz * nz) as f32;
    let mut square: Vec<f32> = solid.iter().map(|&inside| if inside { far } else { 0.0 }).collect();
    // Along z and y within the planes of equal x, which lie together.
    square.par_chunks_mut(ny * nz).for_each(|plane| {
        let mut line = Line::new(ny.max(nz));
        plane.chunks_mut(nz).for_each(|row| {
            line.run(row.len(), |i| row[i]).iter().enumerate().for_each(|(i, &d)| row[i] = d)
        });
        for z in 0..nz {
            line.run(ny, |y| plane[y * nz + z]);
            (0..ny).for_each(|y| plane[y * nz + z] = line.out[y]);
        }
    });
    let columns: Vec<Vec<f32>> = (0..ny * nz)
        .into_par_iter()
        .map_init(|| Line::new(nx), |line, column| line.run(nx, |x| square[x * ny * nz + column]).to_vec())
        .collect();
    for (column, values) in columns.into_iter().enumerate() {
        values.into_iter().enumerate().for_each(|(x, d)| square[x * ny * nz + column] = d.sqrt());
    }
    square
}

/// Scratch of one line: the lower envelope of parabolas.
struct Line {
    input: Vec<f32>,
    out: Vec<f32>,
    vertex: Vec<usize>,
    border: Vec<f32>,
}

impl Line {
    fn new(n: usize) -> Self {
        Self { input: vec![0.0; n], out: vec![0.0; n], vertex: vec![0; n], border: vec![0.0; n + 1] }
    }

    fn run(&mut self, n: usize, input: impl Fn(usize) -> f32) -> &[f32] {
        (0..n).for_each(|i| self.input[i] = input(i));
        let f = |i: usize| self.input[i] + (i * i) as f32;
        let mut k = 0;
        self.vertex[0] = 0;
        self.border[0] = f32::NEG_INFINITY;
        self.border[1] = f32::INFINITY;
        for q in 1..n {
            loop {
                let p = self.vertex[k];
                let cross = (f(q) - f(p)) / (2 * (q - p)) as f32;
                if cross > self.border[k] {
                    k += 1;
                    self.vertex[k] = q;
                    self.border[k] = cross;
                    self.border[k + 1] = f32::INFINITY;
                    break;
                }
                // The first border is −∞, so that this ends.
                k -= 1;
            }
        }
        let mut k = 0;
        for q in 0..n {
            while self.border[k + 1] < q as f32 {
                k += 1;
            }
            let p = self.vertex[k];
            self.out[q] = (q.abs_diff(p) as f32).powi(2) + self.input[p];
        }
        &self.out[..n]
    }
}
