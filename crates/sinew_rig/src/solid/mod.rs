//! The solid inside a surface: its cells, how deep they lie, and distances along paths that stay inside.

mod bridge;
mod depth;
mod fill;
mod grid;

use glam::DVec3;
use grid::Grid;
use rayon::prelude::*;
use sinew_geom::Mesh;

/// Cells inside a surface as a graph. All parts of the surface are one connected body.
#[derive(Debug)]
pub(crate) struct Solid {
    grid: Grid,
    /// Number of each cell of the grid in the lists below, or [`NONE`].
    number: Vec<u32>,
    /// Middles of the cells.
    pub points: Vec<DVec3>,
    /// Distance of each cell from the outside.
    pub depth: Vec<f64>,
    start: Vec<u32>,
    neighbors: Vec<u32>,
    lengths: Vec<f32>,
}

const NONE: u32 = u32::MAX;

impl Solid {
    /// Of a mesh that has an extent, with `resolution` cells on its longest side.
    pub fn build(mesh: &Mesh, resolution: usize) -> Self {
        let [low, high] = mesh.bounds();
        let grid = Grid::around(low, high, resolution);
        let mut inside = fill::fill_solid(mesh, &grid);
        bridge::join_parts(&mut inside, &grid);
        let depth = depth::compute_depth(&inside, &grid);
        let cells: Vec<usize> = (0..inside.len()).filter(|&cell| inside[cell]).collect();
        let mut number = vec![NONE; inside.len()];
        cells.iter().enumerate().for_each(|(i, &cell)| number[cell] = i as u32);
        let steps = grid.all_steps();
        let around = |&cell: &usize| -> Vec<(u32, f32)> {
            let next = |&(step, length): &(isize, f64)| {
                let other = number[(cell as isize + step) as usize];
                (other != NONE).then_some((other, (length * grid.cell) as f32))
            };
            steps.iter().filter_map(next).collect()
        };
        let rows: Vec<Vec<(u32, f32)>> = cells.par_iter().map(around).collect();
        let mut start = vec![0];
        let (mut neighbors, mut lengths) = (Vec::new(), Vec::new());
        for row in rows {
            row.into_iter().for_each(|(other, length)| {
                neighbors.push(other);
                lengths.push(length);
            });
            start.push(neighbors.len() as u32);
        }
        Self {
            points: cells.iter().map(|&cell| grid.middle(cell)).collect(),
            depth: cells.iter().map(|&cell| f64::from(depth[cell]) * grid.cell).collect(),
            number,
            start,
            neighbors,
            lengths,
            grid,
        }
    }

    /// With about `n_cells` cells, but at most `resolution` on the longest side: compact bodies need fewer per side than
    /// slender ones. `coarse` is a solid of the same mesh.
    pub fn build_like(mesh: &Mesh, coarse: &Self, resolution: usize, n_cells: usize) -> Self {
        let side = coarse.grid.dims.into_iter().max().unwrap_or(1) as f64;
        let scale = (n_cells as f64 / coarse.len().max(1) as f64).cbrt();
        Self::build(mesh, resolution.min((side * scale) as usize).max(24))
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Side of a cell.
    pub fn cell(&self) -> f64 {
        self.grid.cell
    }

    /// Neighbours of a cell and their distances.
    pub fn around(&self, cell: usize) -> impl Iterator<Item = (usize, f32)> + '_ {
        let range = self.start[cell] as usize..self.start[cell + 1] as usize;
        self.neighbors[range.clone()].iter().map(|&n| n as usize).zip(self.lengths[range].iter().copied())
    }

    /// The cell nearest to a point.
    pub fn nearest(&self, point: DVec3) -> usize {
        let center = self.grid.containing(point);
        let reach = self.grid.dims.into_iter().max().unwrap_or(0);
        for radius in 0..=reach {
            // One ring more than the first hit, since a corner of a ring is farther than a side of the next.
            if self.nearest_within(point, center, radius).is_some() {
                return self.nearest_within(point, center, radius + radius / 2 + 1).unwrap_or(0);
            }
        }
        0
    }

    fn nearest_within(&self, point: DVec3, center: [usize; 3], radius: usize) -> Option<usize> {
        let range =
            |k: usize| center[k].saturating_sub(radius)..=(center[k] + radius).min(self.grid.dims[k] - 1);
        let mut best: Option<(f64, usize)> = None;
        for x in range(0) {
            for y in range(1) {
                for z in range(2) {
                    let cell = self.number[self.grid.number([x, y, z])];
                    if cell == NONE {
                        continue;
                    }
                    let distance = self.points[cell as usize].distance_squared(point);
                    if best.is_none_or(|(least, _)| distance < least) {
                        best = Some((distance, cell as usize));
                    }
                }
            }
        }
        best.map(|(_, cell)| cell)
    }

    /// Shares of the cells around a point: trilinear where the solid is, else its nearest cell.
    pub fn blend_at(&self, point: DVec3) -> Vec<(usize, f64)> {
        let p = (point - self.grid.origin) / self.grid.cell - 0.5;
        let base = p.floor();
        let t = p - base;
        let mut shares = Vec::with_capacity(8);
        for corner in 0..8usize {
            let d = DVec3::new((corner >> 2) as f64, ((corner >> 1) & 1) as f64, (corner & 1) as f64);
            let middle = self.grid.origin + self.grid.cell * (base + d + 0.5);
            let cell = self.number[self.grid.number(self.grid.containing(middle))];
            let share = |d: f64, t: f64| if d == 1.0 { t } else { 1.0 - t };
            let weight = share(d.x, t.x) * share(d.y, t.y) * share(d.z, t.z);
            if cell != NONE && weight > 0.0 {
                shares.push((cell as usize, weight));
            }
        }
        if shares.is_empty() {
            return vec![(self.nearest(point), 1.0)];
        }
        let sum: f64 = shares.iter().map(|(_, weight)| weight).sum();
        shares.iter_mut().for_each(|(_, weight)| *weight /= sum);
        shares
    }

    /// Length of the shortest path inside from the nearest source; infinite beyond `limit`.
    ///
    /// # Source
    /// Dial, *Algorithm 360: shortest-path forest with topological ordering* (1969): buckets no wider than the shortest step.
    pub fn distances(&self, sources: &[usize], limit: f64) -> Vec<f32> {
        let mut distance = vec![f32::INFINITY; self.len()];
        let width = self.cell() as f32;
        let mut buckets: Vec<Vec<u32>> = vec![Vec::new(); 4];
        for &source in sources {
            distance[source] = 0.0;
            buckets[0].push(source as u32);
        }
        let mut current = 0usize;
        let mut n_empty = 0;
        let mut bucket = Vec::new();
        while n_empty < 4 {
            std::mem::swap(&mut bucket, &mut buckets[current % 4]);
            n_empty = if bucket.is_empty() { n_empty + 1 } else { 0 };
            for cell in bucket.drain(..) {
                let here = distance[cell as usize];
                // Shorter ways were found meanwhile: it was in an earlier bucket.
                if ((here / width) as usize) < current {
                    continue;
                }
                for (next, length) in self.around(cell as usize) {
                    let there = here + length;
                    if there < distance[next] && f64::from(there) <= limit {
                        distance[next] = there;
                        let ahead = ((there / width) as usize).clamp(current + 1, current + 3);
                        buckets[ahead % 4].push(next as u32);
                    }
                }
            }
            current += 1;
        }
        distance
    }
}
