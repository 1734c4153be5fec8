//! Loose parts of a solid joined by the shortest bridges, so that all parts of a model are one body.
//!
//! # Source
//! Kruskal, *On the shortest spanning subtree of a graph* (1956), on the graph of parts that a wave front started from all
//! of them at once finds to be neighbours.
//! # Cost
//! One pass over the grid.

use super::grid::Grid;
use sinew_geom::mesh::UnionFind;

/// A part smaller than this share of the largest is dropped: dust left by the rasteriser.
const DUST_SHARE: f64 = 1e-4;
const NONE: u32 = u32::MAX;

/// Join all parts (connected across corners) to one. Dust is removed.
pub(crate) fn join_parts(solid: &mut [bool], grid: &Grid) {
    let (label, sizes) = label_parts(solid, grid);
    if sizes.len() < 2 {
        return;
    }
    let largest = sizes.iter().copied().max().unwrap_or(0) as f64;
    let keep: Vec<bool> = sizes.iter().map(|&size| size as f64 >= (DUST_SHARE * largest).max(8.0)).collect();
    // If every part is dust, all of them are the body.
    let keep = if keep.contains(&true) { keep } else { vec![true; sizes.len()] };
    for cell in 0..solid.len() {
        solid[cell] &= label[cell] != NONE && keep[label[cell] as usize];
    }
    let mut parts = UnionFind::new(sizes.len());
    for (_, from, to) in find_bridges(solid, &label, grid) {
        let (a, b) = (label[from as usize], label[to as usize]);
        if parts.union(a, b) {
            draw_bridge(solid, grid, from as usize, to as usize);
        }
    }
}

/// Number of the part of each cell, and sizes of parts.
fn label_parts(solid: &[bool], grid: &Grid) -> (Vec<u32>, Vec<usize>) {
    let steps = grid.all_steps();
    let mut label = vec![NONE; solid.len()];
    let mut sizes = Vec::new();
    let mut stack = Vec::new();
    for first in 0..solid.len() {
        if !solid[first] || label[first] != NONE {
            continue;
        }
        let part = sizes.len() as u32;
        label[first] = part;
        stack.push(first);
        let mut size = 0;
        while let Some(cell) = stack.pop() {
            size += 1;
            for (step, _) in &steps {
                let next = (cell as isize + step) as usize;
                if solid[next] && label[next] == NONE {
                    label[next] = part;
                    stack.push(next);
                }
            }
        }
        sizes.push(size);
    }
    (label, sizes)
}

/// Candidate bridges between neighbouring parts, shortest first: length in cells (squared), and their two ends.
fn find_bridges(solid: &[bool], label: &[u32], grid: &Grid) -> Vec<(u64, u32, u32)> {
    let steps = grid.all_steps();
    let mut source = vec![NONE; solid.len()];
    let mut front: Vec<u32> = (0..solid.len() as u32).filter(|&cell| solid[cell as usize]).collect();
    front.iter().for_each(|&cell| source[cell as usize] = cell);
    let mut bridges = std::collections::BTreeMap::new();
    while !front.is_empty() {
        let mut next_front = Vec::new();
        for &cell in &front {
            if grid.is_border(cell as usize) {
                continue;
            }
            for (step, _) in &steps {
                let next = (cell as isize + step) as usize;
                let (here, there) = (source[cell as usize], source[next]);
                if there == NONE {
                    source[next] = here;
                    next_front.push(next as u32);
                } else if label[here as usize] != label[there as usize] {
                    let (a, b) = (grid.place(here as usize), grid.place(there as usize));
                    let square = (0..3).map(|k| (a[k].abs_diff(b[k]) as u64).pow(2)).sum::<u64>();
                    let (p, q) = (label[here as usize], label[there as usize]);
                    let key = (p.min(q), p.max(q));
                    let best = bridges.entry(key).or_insert((u64::MAX, NONE, NONE));
                    *best = (*best).min((square, here, there));
                }
            }
        }
        front = next_front;
    }
    let mut bridges: Vec<_> = bridges.into_values().collect();
    bridges.sort_unstable();
    bridges
}

/// Fill a line of cells, one neighbour wide on each side.
fn draw_bridge(solid: &mut [bool], grid: &Grid, from: usize, to: usize) {
    let (a, b) = (grid.middle(from), grid.middle(to));
    let n = (2.0 * a.distance(b) / grid.cell) as usize + 1;
    for i in 0..=n {
        let cell = grid.number(grid.containing(a.lerp(b, i as f64 / n as f64)));
        solid[cell] = true;
        if !grid.is_border(cell) {
            grid.face_steps().iter().for_each(|step| solid[(cell as isize + step) as usize] = true);
        }
    }
}
