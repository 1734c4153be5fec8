//! Cells of several sizes: small in thin limbs and near joints, large deep inside.
//!
//! # Source
//! A 2:1 octree, built upwards from its finest cells, so that separate parts stay apart at every size (Nesme et al.
//! 2009): a large cell is a connected component of the finest cells within its cube. Nodes in the middle of a larger
//! neighbour's faces and edges hang (see [`Ties`]). Local thickness: radius of the largest ball inside the body that
//! contains a point.
//! # Cost
//! A uniform lattice of the finest cells, two or three times, until the number of cells is right.
//! # Limits
//! Neighbouring cells differ by at most one size.

use super::{
    Body, Embedding, Lattice, LatticeParams, Ties,
    build::{Cubes, LEAST_INSIDE, assign, or_nearest, size_of, survey},
    corner_place,
    embedding::trilinear,
};
use crate::FleshError;
use glam::{DVec3, IVec3};
use rayon::prelude::*;
use sinew_geom::{Mesh, mesh::UnionFind, query::SurfaceTree};
use std::collections::BTreeMap;

/// How cells of several sizes are laid out.
#[derive(Debug, Clone, PartialEq)]
pub struct OctreeParams {
    /// Doublings of the finest cells at most. Default 1.
    pub levels: usize,
    /// Cells across a limb at least, where the finest are small enough. Default 1.5.
    pub across: f64,
    /// Places kept fine, with radii: joints.
    pub near: Vec<(DVec3, f64)>,
}

impl Default for OctreeParams {
    fn default() -> Self {
        Self { levels: 1, across: 1.5, near: Vec::new() }
    }
}

/// Doublings of which no more are made.
const MAX_LEVELS: usize = 5;
/// Lattices that are made to find one with the number of cells asked for.
const MAX_TRIALS: usize = 3;

/// Fill a surface with cells of several sizes and embed it in them.
///
/// # Errors
/// As [`super::build_body`]; more than five doublings.
pub fn build_octree_body(
    mesh: &Mesh,
    params: &LatticeParams,
    octree: &OctreeParams,
) -> Result<Body, FleshError> {
    if octree.levels > MAX_LEVELS || octree.across.is_nan() || octree.across <= 0.0 {
        let (name, value) = ("number of doublings", octree.levels as f64);
        return Err(FleshError::Parameter { name, value, expected: "it must lie between 0 and 5" });
    }
    let (tree, bounds) = survey(mesh)?;
    let mut finest = LatticeParams { cells: params.cells << octree.levels.min(2), size: params.size };
    let mut body = None;
    for _ in 0..MAX_TRIALS {
        let fine = Fine::new(mesh, &tree, size_of(mesh, &tree, bounds, &finest)?, bounds)?;
        let levels = fine.balance(&fine.wanted(&tree, octree), octree.levels);
        let made = fine.body(mesh, &levels);
        let ratio = made.lattice.n_cells() as f64 / params.cells.max(1) as f64;
        body = Some(made);
        if params.size.is_some() || (0.9..1.1).contains(&ratio) {
            break;
        }
        finest.cells = (finest.cells as f64 / ratio).round().max(1.0) as usize;
    }
    body.ok_or(FleshError::NoVolume)
}

/// The finest cells of a body, what hangs together, and the surface in them.
#[derive(Debug, Clone)]
pub struct Fine {
    low: DVec3,
    size: f64,
    /// Cubes along each axis of the grid.
    n: IVec3,
    /// Place of each cell in its grid; parts that share a cube share it.
    at: Vec<IVec3>,
    inside: Vec<f64>,
    /// Pairs of cells that hang together.
    links: Vec<(u32, u32)>,
    /// Finest cell of each vertex.
    vertices: Vec<u32>,
    uncovered: Vec<u32>,
}

/// A cell of any size: a component of the finest cells in its cube.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Leaf {
    low: IVec3,
    level: u32,
    inside: f64,
}

impl Leaf {
    fn side(&self) -> i32 {
        1 << self.level
    }

    fn corner(&self, c: usize) -> IVec3 {
        self.low + self.side() * IVec3::new((c & 1) as i32, (c >> 1 & 1) as i32, (c >> 2) as i32)
    }

    /// Place of a point in the unit cube, if it lies in the closed cell.
    fn place(&self, p: IVec3) -> Option<DVec3> {
        let q = p - self.low;
        let within = q.cmpge(IVec3::ZERO).all() && q.cmple(IVec3::splat(self.side())).all();
        within.then(|| q.as_dvec3() / f64::from(self.side()))
    }
}

impl Fine {
    /// Finest cells of a given side around a surface.
    pub(super) fn new(
        mesh: &Mesh,
        tree: &SurfaceTree,
        size: f64,
        bounds: [DVec3; 2],
    ) -> Result<Self, FleshError> {
        let cubes = Cubes::new(mesh, tree, bounds, size)?;
        let (grid, copies) = (&cubes.grid, cubes.copies(tree)?);
        let (cell_of, uncovered) = assign(mesh, grid, &copies);
        let mut links = Vec::new();
        copies.links(grid, mesh, &cell_of, |a, b| links.push((a.min(b) as u32, a.max(b) as u32)));
        links.sort_unstable();
        links.dedup();
        Ok(Self {
            low: grid.low,
            n: grid.n,
            size,
            at: copies.cube.iter().map(|&cube| grid.at(cube as usize)).collect(),
            inside: copies.bits.iter().map(|b| f64::from(b.count_ones()) / 64.0).collect(),
            links,
            vertices: or_nearest(mesh, grid, &copies, &cell_of).into_iter().map(|cell| cell as u32).collect(),
            uncovered,
        })
    }

    /// The finest cells of a surface, of about the number or of the side that `params` has.
    ///
    /// # Errors
    /// As [`super::build_body`].
    pub fn around(mesh: &Mesh, params: &LatticeParams) -> Result<Self, FleshError> {
        let (tree, bounds) = survey(mesh)?;
        Self::new(mesh, &tree, size_of(mesh, &tree, bounds, params)?, bounds)
    }

    /// The same, and how often each cell may be doubled so that limbs are still `across` cells thick.
    ///
    /// # Errors
    /// As [`super::build_body`].
    pub fn with_limits(
        mesh: &Mesh,
        params: &LatticeParams,
        octree: &OctreeParams,
    ) -> Result<(Self, Vec<u8>), FleshError> {
        let fine = Self::around(mesh, params)?;
        let limits = fine.wanted(&SurfaceTree::new(mesh), octree);
        Ok((fine, limits))
    }

    /// Number of finest cells.
    pub fn len(&self) -> usize {
        self.at.len()
    }

    /// Middle of a finest cell.
    pub fn middle(&self, cell: usize) -> DVec3 {
        self.low + self.size * (self.at[cell].as_dvec3() + 0.5)
    }

    /// Side of a finest cell.
    pub fn size(&self) -> f64 {
        self.size
    }

    /// Points of the surface, which are at `rest`, in a lattice that [`Self::lattice`] made.
    pub fn embed(&self, rest: &[DVec3], lattice: &Lattice, cell_of: &[u32]) -> Embedding {
        let point = |(&p, &fine): (&DVec3, &u32)| {
            let cell = cell_of[fine as usize] as usize;
            (cell, (p - lattice.corners(cell)[0]) / lattice.cell_size(cell))
        };
        Embedding::from_cells(rest.iter().zip(&self.vertices).map(point))
    }

    /// For every corner of every cell of a lattice that [`Self::lattice`] made, the finest cell in it that is nearest.
    pub fn corner_sources(&self, lattice: &Lattice, cell_of: &[u32]) -> Vec<[u32; 8]> {
        let mut best = vec![[(f64::INFINITY, 0u32); 8]; lattice.n_cells()];
        for (fine, &cell) in cell_of.iter().enumerate() {
            let middle = self.middle(fine);
            for (best, corner) in best[cell as usize].iter_mut().zip(lattice.corners(cell as usize)) {
                let distance = corner.distance_squared(middle);
                if distance < best.0 {
                    *best = (distance, fine as u32);
                }
            }
        }
        best.iter().map(|corners| corners.map(|(_, fine)| fine)).collect()
    }

    /// How often each cell may be doubled, from the thickness of the body around it.
    pub(super) fn wanted(&self, tree: &SurfaceTree, params: &OctreeParams) -> Vec<u8> {
        let depth = |cell: usize| {
            let p = self.middle(cell);
            let is_inside = self.inside[cell] > 0.5;
            if is_inside { tree.closest_point(p).map_or(0.0, |near| near.distance) } else { 0.0 }
        };
        let depths: Vec<f64> = (0..self.len()).into_par_iter().map(depth).collect();
        let mut cells: BTreeMap<[i32; 3], Vec<usize>> = BTreeMap::new();
        self.at.iter().enumerate().for_each(|(cell, at)| cells.entry(at.to_array()).or_default().push(cell));
        let mut thick = depths.clone();
        for (cell, &depth) in depths.iter().enumerate().filter(|(_, depth)| **depth > 0.0) {
            let reach = depth / self.size + 0.9;
            let n = reach as i32;
            for k in 0..(2 * n + 1).pow(3) {
                let side = 2 * n + 1;
                let step = IVec3::new(k % side, k / side % side, k / side / side) - n;
                if step.as_dvec3().length() <= reach {
                    let beside = cells.get(&(self.at[cell] + step).to_array());
                    beside.into_iter().flatten().for_each(|&other| thick[other] = thick[other].max(depth));
                }
            }
        }
        let one = |cell: usize| {
            let p = self.middle(cell);
            if params.near.iter().any(|(center, radius)| p.distance(*center) <= *radius) {
                return 0;
            }
            let side = 2.0 * thick[cell] / params.across / self.size;
            side.max(1.0).log2().floor().min(params.levels as f64) as u8
        };
        (0..self.len()).map(one).collect()
    }

    /// Number of the cube of a level that a finest cell lies in.
    fn block(&self, cell: usize, level: u32) -> usize {
        self.number(self.at[cell].map(|x| x >> level), level)
    }

    fn number(&self, at: IVec3, level: u32) -> usize {
        let n = self.n.map(|n| (n >> level) + 1);
        ((at.z * n.y + at.y) * n.x + at.x) as usize
    }

    fn n_blocks(&self, level: u32) -> usize {
        self.n.map(|n| (n >> level) + 1).as_i64vec3().element_product() as usize
    }

    /// Levels such that cells side by side differ by one at most; none above what is wanted.
    pub fn balance(&self, wanted: &[u8], most: usize) -> Vec<u8> {
        let mut levels = vec![0u8; self.len()];
        for level in 1..=most as u8 {
            let mut is_whole = vec![true; self.n_blocks(level.into())];
            for cell in 0..self.len() {
                is_whole[self.block(cell, level.into())] &=
                    wanted[cell] >= level && levels[cell] == level - 1;
            }
            for cell in 0..self.len() {
                if is_whole[self.block(cell, level.into())] {
                    levels[cell] = level;
                }
            }
        }
        for level in (2..=most as u8).rev() {
            while self.split_beside_smaller(level, &mut levels) {}
        }
        levels
    }

    /// Halve cells of a level beside ones of less than half their size.
    fn split_beside_smaller(&self, level: u8, levels: &mut [u8]) -> bool {
        // Finest cubes of the body by level; larger than any where there are none.
        let mut cubes = vec![u8::MAX; self.n_blocks(0)];
        levels.iter().enumerate().for_each(|(cell, level)| cubes[self.block(cell, 0)] = *level);
        let mut state = vec![0u8; self.n_blocks(level.into())];
        let (side, mut changed) = (1 << level, false);
        for cell in 0..self.len() {
            let block = self.block(cell, level.into());
            if levels[cell] != level || state[block] != 0 {
                continue;
            }
            let low = self.at[cell].map(|x| x >> level << level);
            let [from, to] = [(low - 1).max(IVec3::ZERO), (low + side).min(self.n - 1)];
            let is_small = |p: IVec3| cubes[self.number(p, 0)] < level - 1;
            let mut shell = (from.z..=to.z).flat_map(|z| {
                (from.y..=to.y).flat_map(move |y| (from.x..=to.x).map(move |x| IVec3::new(x, y, z)))
            });
            let splits = shell.any(is_small);
            state[block] = 1 + u8::from(splits);
            changed |= splits;
        }
        for cell in 0..self.len() {
            if levels[cell] == level && state[self.block(cell, level.into())] == 2 {
                levels[cell] -= 1;
            }
        }
        changed
    }

    /// Cells of the given levels, and which one each finest cell is part of.
    fn leaves(&self, levels: &[u8]) -> (Vec<Leaf>, Vec<u32>) {
        let mut parts = UnionFind::new(self.len());
        for &(a, b) in &self.links {
            let level = levels[a as usize];
            let same = level == levels[b as usize]
                && level > 0
                && self.block(a as usize, level.into()) == self.block(b as usize, level.into());
            if same {
                parts.union(a, b);
            }
        }
        let (labels, n) = parts.labels();
        let mut leaves = vec![Leaf { low: IVec3::ZERO, level: 0, inside: 0.0 }; n];
        for (cell, &label) in labels.iter().enumerate() {
            let level = u32::from(levels[cell]);
            let leaf = &mut leaves[label as usize];
            leaf.level = level;
            leaf.low = self.at[cell].map(|x| x >> level << level);
            leaf.inside += self.inside[cell] / f64::from(8u32.pow(level));
        }
        (leaves, labels)
    }

    /// The lattice of cells of given levels, and which of its cells each finest cell is part of.
    pub fn lattice(&self, levels: &[u8]) -> (Lattice, Vec<u32>) {
        let (leaves, leaf_of) = self.leaves(levels);
        let mut pairs: Vec<(u32, u32)> =
            self.links.iter().map(|&(a, b)| (leaf_of[a as usize], leaf_of[b as usize])).collect();
        pairs.iter_mut().for_each(|(a, b)| (*a, *b) = (*a.min(b), *a.max(b)));
        pairs.sort_unstable();
        pairs.dedup();
        pairs.retain(|(a, b)| a != b);
        let (labels, n_nodes, hanging) = join(&leaves, &pairs);
        let cells: Vec<[u32; 8]> = labels.as_chunks::<8>().0.to_vec();
        let mut nodes = vec![DVec3::ZERO; n_nodes];
        for (leaf, corners) in leaves.iter().zip(&cells) {
            for (c, &node) in corners.iter().enumerate() {
                nodes[node as usize] = self.low + self.size * leaf.corner(c).as_dvec3();
            }
        }
        let ties = ties(&leaves, &cells, &labels, &hanging);
        let is_cubes = leaves.iter().all(|leaf| leaf.level == 0);
        let inside = leaves.iter().map(|leaf| leaf.inside.max(LEAST_INSIDE)).collect();
        (Lattice { nodes, cells, inside, size: self.size, is_cubes, is_aligned: true, ties }, leaf_of)
    }

    /// A body of cells of given levels.
    pub fn body(&self, mesh: &Mesh, levels: &[u8]) -> Body {
        let (lattice, cell_of) = self.lattice(levels);
        let embedding = self.embed(mesh.positions(), &lattice, &cell_of);
        let mut cubes: Vec<[i64; 3]> = (0..lattice.n_cells())
            .map(|cell| (lattice.corners(cell)[0] / self.size * 4.0).round().as_i64vec3().to_array())
            .collect();
        cubes.sort_unstable();
        let n_split = cubes.windows(2).filter(|pair| pair[0] == pair[1]).count();
        Body { lattice, embedding, uncovered: self.uncovered.clone(), n_split }
    }
}

/// A corner of a cell that hangs on a larger cell.
#[derive(Debug, Clone, Copy)]
struct Hanging {
    slot: u32,
    leaf: u32,
    place: DVec3,
}

/// Corners that are one node, the number of nodes, and corners that hang.
fn join(leaves: &[Leaf], pairs: &[(u32, u32)]) -> (Vec<u32>, usize, Vec<Hanging>) {
    let mut corners = UnionFind::new(8 * leaves.len());
    let mut hanging = Vec::new();
    for &(a, b) in pairs {
        let (small, large) =
            if leaves[a as usize].level <= leaves[b as usize].level { (a, b) } else { (b, a) };
        let (from, to) = (&leaves[small as usize], &leaves[large as usize]);
        for c in 0..8 {
            let Some(place) = to.place(from.corner(c)) else { continue };
            let slot = 8 * small + c as u32;
            match (0..8).find(|&d| corner_place(d) == place) {
                Some(d) => {
                    corners.union(slot, 8 * large + d as u32);
                }
                None => hanging.push(Hanging { slot, leaf: large, place }),
            }
        }
    }
    // A node that hangs on two cells hangs on what both have there, so that these corners are the same nodes.
    loop {
        let mut order: Vec<(u32, Hanging)> =
            hanging.iter().map(|hang| (corners.find(hang.slot), *hang)).collect();
        order.sort_by_key(|(node, _)| *node);
        let mut changed = false;
        for pair in order.windows(2).filter(|pair| pair[0].0 == pair[1].0 && pair[0].1.leaf != pair[1].1.leaf)
        {
            for (c, d) in shared_corners(leaves, &pair[0].1, &pair[1].1) {
                changed |= corners.union(8 * pair[0].1.leaf + c, 8 * pair[1].1.leaf + d);
            }
        }
        if !changed {
            break;
        }
    }
    let (labels, n_nodes) = corners.labels();
    (labels, n_nodes, hanging)
}

/// Corners that carry a hanging node in both of two cells, at the same places.
fn shared_corners(leaves: &[Leaf], a: &Hanging, b: &Hanging) -> Vec<(u32, u32)> {
    let carry = |hang: &Hanging| -> Vec<(u32, IVec3)> {
        let weights = trilinear(hang.place);
        let leaf = &leaves[hang.leaf as usize];
        (0..8).filter(|&c| weights[c] > 0.0).map(|c| (c as u32, leaf.corner(c))).collect()
    };
    let other = carry(b);
    let meet = |(c, p): &(u32, IVec3)| other.iter().find(|(_, q)| p == q).map(|(d, _)| (*c, *d));
    carry(a).iter().filter_map(meet).collect()
}

/// What each hanging node follows, down to nodes that do not hang.
fn ties(leaves: &[Leaf], cells: &[[u32; 8]], labels: &[u32], hanging: &[Hanging]) -> Ties {
    let mut rows: BTreeMap<u32, (u32, Vec<(u32, f64)>)> = BTreeMap::new();
    for hang in hanging {
        let weights = trilinear(hang.place);
        let corners = &cells[hang.leaf as usize];
        let row = (0..8).filter(|&c| weights[c] > 0.0).map(|c| (corners[c], weights[c])).collect();
        let level = leaves[hang.leaf as usize].level;
        let known = rows.entry(labels[hang.slot as usize]).or_insert((level, Vec::new()));
        if known.1.is_empty() || level > known.0 {
            *known = (level, row);
        }
    }
    // Nodes hang on nodes of larger cells only, so that this ends.
    let resolve = |row: &Vec<(u32, f64)>| {
        let mut row = row.clone();
        while row.iter().any(|(node, _)| rows.contains_key(node)) {
            let mut next: BTreeMap<u32, f64> = BTreeMap::new();
            for (node, w) in row {
                match rows.get(&node) {
                    Some((_, parents)) => {
                        parents
                            .iter()
                            .for_each(|(parent, share)| *next.entry(*parent).or_default() += w * share);
                    }
                    None => *next.entry(node).or_default() += w,
                }
            }
            row = next.into_iter().collect();
        }
        row
    };
    Ties::new(rows.iter().map(|(&node, (_, row))| (node, resolve(row))))
}
