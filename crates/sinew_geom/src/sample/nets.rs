//! Polygonising a field: dual contouring on a sparse grid, one vertex per surface patch in a cell.
//!
//! # Source
//! Gibson, *Constrained elastic surface nets* (1998); a vertex per patch instead of per cell after Nielson, *Dual
//! marching cubes* (2004). Differs: vertices are moved onto the field by Newton steps.
//! # Cost
//! About 12 samples of the field per vertex; blocks far from the surface are skipped by the field's slope.
//! # Limits
//! Two patches joined by two edges (a gap of less than a cell) are not manifold: the caller checks and retries.

use super::field::{Active, Field, Regions};
use super::remesh::min_sine;
use super::shape::STRETCH;
use glam::{DVec3, IVec3};
use rayon::prelude::*;
use std::collections::HashMap;

/// Cells along the side of a block.
const BLOCK_SIDE: i32 = 4;
/// Samples along the side of a block.
const BLOCK_SAMPLES: usize = BLOCK_SIDE as usize + 1;
const BLOCK_CELLS: usize = (BLOCK_SIDE * BLOCK_SIDE * BLOCK_SIDE) as usize;

/// Triangles whose smallest angle has a smaller sine are repaired.
const MIN_SINE: f64 = 0.25;

/// Quads around a field, with what is needed to hold their vertices on it.
pub(super) struct Nets {
    pub positions: Vec<DVec3>,
    pub quads: Vec<[u32; 4]>,
    /// Blocks own runs of vertices: first vertex, and the primitives near it.
    pub blocks: Vec<(usize, Active)>,
    pub cell: f64,
}

struct Block {
    at: IVec3,
    active: Active,
    /// Signs of the corners of each cell, bit set where inside.
    corners: Vec<u8>,
    /// First vertex of each cell, counted within the block.
    first: Vec<u32>,
    positions: Vec<DVec3>,
}

/// Corner `c` of a cell: bit 0 → x, bit 1 → y, bit 2 → z. An edge joins two corners.
const EDGES: [[usize; 2]; 12] =
    [[0, 1], [2, 3], [4, 5], [6, 7], [0, 2], [1, 3], [4, 6], [5, 7], [0, 4], [1, 5], [2, 6], [3, 7]];

/// Which patch of the surface crosses each edge of a cell, for every pattern of corner signs.
struct Patches {
    of_edge: Vec<[u8; 12]>,
    count: Vec<u8>,
}

impl Patches {
    fn new() -> Self {
        let (of_edge, count) = (0..256).map(patches_of).unzip();
        Self { of_edge, count }
    }
}

/// Crossed edges belong together where a face joins them; on a face crossed four times the inside corners
/// stay apart, which both cells of the face decide in the same way.
fn patches_of(signs: usize) -> ([u8; 12], u8) {
    let inside = |corner: usize| signs >> corner & 1 == 1;
    let crossed = |e: usize| inside(EDGES[e][0]) != inside(EDGES[e][1]);
    let mut label: [usize; 12] = std::array::from_fn(|e| e);
    let mut join = |a: usize, b: usize| {
        let (from, to) = (label[a].max(label[b]), label[a].min(label[b]));
        label.iter_mut().filter(|l| **l == from).for_each(|l| *l = to);
    };
    for (axis, side) in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)] {
        let on_face = |e: &usize| EDGES[*e].iter().all(|corner| corner >> axis & 1 == side);
        let cut: Vec<usize> = (0..12).filter(|&e| crossed(e)).filter(on_face).collect();
        if cut.len() == 2 {
            join(cut[0], cut[1]);
        } else if cut.len() == 4 {
            for corner in (0..8).filter(|&c| c >> axis & 1 == side && inside(c)) {
                let own: Vec<usize> = cut.iter().copied().filter(|&e| EDGES[e].contains(&corner)).collect();
                join(own[0], own[1]);
            }
        }
    }
    let mut of_edge = [0; 12];
    let mut seen: Vec<usize> = Vec::new();
    for e in (0..12).filter(|&e| crossed(e)) {
        let known = seen.iter().position(|&l| l == label[e]);
        of_edge[e] = known.unwrap_or(seen.len()) as u8;
        if known.is_none() {
            seen.push(label[e]);
        }
    }
    (of_edge, seen.len() as u8)
}

/// Polygonise at a given cell size. `None` if a block with surface was missed.
pub(super) fn build_nets(field: &Field, cell: f64) -> Option<Nets> {
    let patches = Patches::new();
    let mut blocks = collect_blocks(field, cell, &patches);
    let mut starts = Vec::with_capacity(blocks.len());
    let mut total = 0;
    for block in &blocks {
        starts.push(total);
        total += block.positions.len();
    }
    let index: HashMap<IVec3, usize> = blocks.iter().enumerate().map(|(i, block)| (block.at, i)).collect();
    let quads: Option<Vec<Vec<[u32; 4]>>> = (0..blocks.len())
        .into_par_iter()
        .map(|b| block_quads(&blocks, &starts, &index, &patches, b))
        .collect();
    let quads = quads?.concat();
    let positions = blocks.iter_mut().flat_map(|block| std::mem::take(&mut block.positions)).collect();
    let blocks = starts.into_iter().zip(blocks.into_iter().map(|block| block.active)).collect();
    Some(Nets { positions, quads, blocks, cell })
}

/// Descend an octree of blocks to those that may contain the surface, in a fixed order.
fn collect_blocks(field: &Field, cell: f64, patches: &Patches) -> Vec<Block> {
    let [low, high] = field.bounds();
    let size = cell * BLOCK_SIDE as f64;
    let low_block = ((low / size).floor() - 1.0).as_ivec3();
    let n = ((high / size).ceil() + 1.0).as_ivec3() - low_block;
    // Cubes of 2^k blocks whose corners lie on multiples of their size.
    let side = (n.max_element() as u32 / 4).max(1).next_power_of_two() as i32;
    let count = (n + side - 1) / side;
    let roots: Vec<IVec3> = (0..count.x * count.y * count.z)
        .map(|i| IVec3::new(i % count.x, i / count.x % count.y, i / (count.x * count.y)) * side + low_block)
        .collect();
    let all = field.all();
    let walk = |&root: &IVec3| {
        let mut leaves = Vec::new();
        descend(field, &all, root, side, size, &mut leaves);
        leaves
    };
    let leaves: Vec<(IVec3, Active)> = roots.par_iter().map(walk).collect::<Vec<_>>().concat();
    leaves.into_par_iter().filter_map(|(at, active)| sample_block(field, at, active, cell, patches)).collect()
}

fn descend(
    field: &Field,
    within: &Active,
    at: IVec3,
    side: i32,
    size: f64,
    leaves: &mut Vec<(IVec3, Active)>,
) {
    let width = size * side as f64;
    let center = (at.as_dvec3() + 0.5 * side as f64) * size;
    let radius = width * 0.5 * 3f64.sqrt();
    // One cell more of active primitives: relaxed vertices may leave their block by that much.
    let (active, value) = field.narrow(within, center, radius + size / f64::from(BLOCK_SIDE));
    if value.abs() > radius * STRETCH {
        return;
    }
    if side == 1 {
        leaves.push((at, active));
        return;
    }
    let half = side / 2;
    for child in 0..8 {
        let offset = IVec3::new(child & 1, child >> 1 & 1, child >> 2 & 1) * half;
        descend(field, &active, at + offset, half, size, leaves);
    }
}

fn cell_index(c: IVec3) -> usize {
    (c.x + BLOCK_SIDE * (c.y + BLOCK_SIDE * c.z)) as usize
}

fn cell_of(index: usize) -> IVec3 {
    let i = index as i32;
    IVec3::new(i % BLOCK_SIDE, i / BLOCK_SIDE % BLOCK_SIDE, i / (BLOCK_SIDE * BLOCK_SIDE))
}

fn corner_offset(corner: usize) -> IVec3 {
    IVec3::new(corner as i32 & 1, corner as i32 >> 1 & 1, corner as i32 >> 2 & 1)
}

/// Sample a block and place its vertices; `None` if the surface does not cross it.
fn sample_block(field: &Field, at: IVec3, active: Active, cell: f64, patches: &Patches) -> Option<Block> {
    let origin = (at * BLOCK_SIDE).as_dvec3() * cell;
    let mut values = vec![f64::NAN; BLOCK_SAMPLES * BLOCK_SAMPLES * BLOCK_SAMPLES];
    // Octants of the block that the surface cannot reach only need a sign, once the others have their values.
    let half = BLOCK_SIDE / 2;
    let reach = 0.5 * f64::from(half) * cell * 3f64.sqrt() * STRETCH;
    let middle = |low: IVec3| origin + (low.as_dvec3() + 0.5 * f64::from(half)) * cell;
    let eighths = std::array::from_fn::<_, 8, _>(|k| {
        let low = corner_offset(k) * half;
        (low, field.value(&active, middle(low)))
    });
    for (low, _) in eighths.iter().filter(|(_, value)| value.abs() < reach) {
        fill_unknown(&mut values, *low, half, |p| field.value(&active, origin + p.as_dvec3() * cell));
    }
    for (low, value) in eighths {
        fill_unknown(&mut values, low, half, |_| value);
    }
    let mut block = Block {
        at,
        active,
        corners: vec![0; BLOCK_CELLS],
        first: vec![0; BLOCK_CELLS],
        positions: Vec::new(),
    };
    for c in 0..BLOCK_CELLS {
        let base = cell_of(c);
        let corner: [f64; 8] = std::array::from_fn(|k| values[point(base + corner_offset(k))]);
        let signs = (0..8).fold(0usize, |bits, k| bits | usize::from(corner[k] < 0.0) << k);
        block.corners[c] = signs as u8;
        block.first[c] = block.positions.len() as u32;
        let low = origin + base.as_dvec3() * cell;
        block.positions.extend(patch_centers(&corner, signs, patches).map(|q| low + q * cell));
    }
    block.corners.iter().any(|&s| s != 0 && s != 255).then_some(block)
}

/// Index of a sample in its block.
fn point(p: IVec3) -> usize {
    p.x as usize + BLOCK_SAMPLES * (p.y as usize + BLOCK_SAMPLES * p.z as usize)
}

/// Give the points of a cube of `side` cells that are still unknown their value.
fn fill_unknown(values: &mut [f64], low: IVec3, side: i32, value: impl Fn(IVec3) -> f64) {
    for z in 0..=side {
        for y in 0..=side {
            for x in 0..=side {
                let p = low + IVec3::new(x, y, z);
                if values[point(p)].is_nan() {
                    values[point(p)] = value(p);
                }
            }
        }
    }
}

/// Mean of the edge crossings of each patch, in units of the cell.
fn patch_centers(corner: &[f64; 8], signs: usize, patches: &Patches) -> impl Iterator<Item = DVec3> + use<> {
    let mut sums = [(DVec3::ZERO, 0.0); 4];
    let n = patches.count[signs] as usize;
    if n > 0 {
        for (e, [a, b]) in EDGES.iter().enumerate() {
            if (signs >> a & 1) != (signs >> b & 1) {
                let t = corner[*a] / (corner[*a] - corner[*b]);
                let at = corner_offset(*a).as_dvec3().lerp(corner_offset(*b).as_dvec3(), t);
                let sum = &mut sums[patches.of_edge[signs][e] as usize];
                *sum = (sum.0 + at, sum.1 + 1.0);
            }
        }
    }
    sums.into_iter().take(n).map(|(sum, count)| sum / count)
}

/// One quad for each crossed grid edge that starts in the block.
fn block_quads(
    blocks: &[Block],
    starts: &[usize],
    index: &HashMap<IVec3, usize>,
    patches: &Patches,
    b: usize,
) -> Option<Vec<[u32; 4]>> {
    let block = &blocks[b];
    let mut quads = Vec::new();
    for c in 0..BLOCK_CELLS {
        let signs = block.corners[c] as usize;
        for axis in 0..3 {
            let (from, to) = (signs & 1, signs >> (1 << axis) & 1);
            if from == to {
                continue;
            }
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            let mut quad = [0; 4];
            // The four cells around the edge, counter-clockwise about the axis; the edge is a different one in each.
            for (slot, [du, dv]) in [[0, 0], [1, 0], [1, 1], [0, 1]].into_iter().enumerate() {
                let mut cell = cell_of(c) + block.at * BLOCK_SIDE;
                cell[u] -= du;
                cell[v] -= dv;
                let corner = (du << u | dv << v) as usize;
                let e = EDGES.iter().position(|&edge| edge == [corner, corner | 1 << axis])?;
                let at = cell.div_euclid(IVec3::splat(BLOCK_SIDE));
                let owner = if at == block.at { b } else { *index.get(&at)? };
                let local = cell_index(cell - at * BLOCK_SIDE);
                let signs = blocks[owner].corners[local] as usize;
                let patch = patches.of_edge[signs][e] as u32;
                quad[slot] = starts[owner] as u32 + blocks[owner].first[local] + patch;
            }
            // Inside at the edge's start: the surface faces along the axis.
            if from == 0 {
                quad.reverse();
            }
            quads.push(quad);
        }
    }
    Some(quads)
}

impl Nets {
    /// Distribute the vertices evenly within the surface and move them back onto the field.
    pub fn relax(&mut self, field: &Field, rounds: usize) {
        for _ in 0..rounds {
            let mut sums = vec![(DVec3::ZERO, 0.0); self.positions.len()];
            for quad in &self.quads {
                let center: DVec3 = quad.iter().map(|&v| self.positions[v as usize]).sum::<DVec3>() / 4.0;
                for &v in quad {
                    let sum = &mut sums[v as usize];
                    *sum = (sum.0 + center, sum.1 + 1.0);
                }
            }
            self.project(field, |v, p, normal| {
                let (sum, count) = sums[v];
                let shift: DVec3 = sum / count - p;
                (shift - normal * shift.dot(normal)) * 0.6
            });
        }
        self.project(field, |_, _, _| DVec3::ZERO);
    }

    /// Cut each quad along the diagonal that gives the better triangles.
    pub fn triangles(&self) -> Vec<[u32; 3]> {
        let quality = |faces: [[u32; 3]; 2]| {
            let [a, b] = faces.map(|face| min_sine(face.map(|v| self.positions[v as usize])));
            a.min(b)
        };
        let split = |&[a, b, c, d]: &[u32; 4]| {
            let (ac, bd) = ([[a, b, c], [a, c, d]], [[a, b, d], [b, c, d]]);
            if quality(ac) >= quality(bd) { ac } else { bd }
        };
        self.quads.par_iter().map(split).flatten_iter().collect()
    }

    /// Move the vertices of slivers, which creases push together, to the middle of their neighbours.
    pub fn open_slivers(&mut self, regions: &Regions, rounds: usize) {
        for _ in 0..rounds {
            let faces = self.triangles();
            let mut bad = vec![false; self.positions.len()];
            for face in &faces {
                if min_sine(face.map(|v| self.positions[v as usize])) < MIN_SINE {
                    face.iter().for_each(|&v| bad[v as usize] = true);
                }
            }
            let mut sums = vec![(DVec3::ZERO, 0.0); self.positions.len()];
            for [a, b, c, d] in &self.quads {
                for (v, sides) in [(a, [b, d]), (b, [a, c]), (c, [b, d]), (d, [a, c])] {
                    if bad[*v as usize] {
                        let sum = &mut sums[*v as usize];
                        *sum = (
                            sum.0 + sides.iter().map(|&&w| self.positions[w as usize]).sum::<DVec3>(),
                            sum.1 + 2.0,
                        );
                    }
                }
            }
            for v in (0..bad.len()).filter(|&v| bad[v]) {
                let middle = self.positions[v].lerp(sums[v].0 / sums[v].1, 0.7);
                self.positions[v] = regions.project(middle, 0.05 * self.cell, 0.5 * self.cell).0;
            }
        }
    }

    fn project(&mut self, field: &Field, shift: impl Fn(usize, DVec3, DVec3) -> DVec3 + Sync) {
        let cell = self.cell;
        let mut runs: Vec<(usize, &Active, &mut [DVec3])> = Vec::with_capacity(self.blocks.len());
        let mut rest = self.positions.as_mut_slice();
        for (b, (start, active)) in self.blocks.iter().enumerate() {
            let end = self.blocks.get(b + 1).map_or(start + rest.len(), |next| next.0);
            let (run, tail) = std::mem::take(&mut rest).split_at_mut(end - start);
            runs.push((*start, active, run));
            rest = tail;
        }
        runs.into_par_iter().for_each(|(start, active, run)| {
            for (i, p) in run.iter_mut().enumerate() {
                let (landed, normal) = field.project(active, *p, cell * 0.05, cell * 0.5);
                *p = landed + shift(start + i, landed, normal);
            }
        });
    }
}
