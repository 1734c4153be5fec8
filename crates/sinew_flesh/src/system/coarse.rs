//! A coarser lattice that helps conjugate gradients over long distances.
//!
//! # Source
//! Two-level additive Schwarz (Toselli and Widlund 2005, §3): `z = D⁻¹ r + P (Pᵀ A P)⁻¹ Pᵀ r`, where `P` interpolates
//! trilinearly from cubes of several cells a side. Inverse blocks alone carry news by one cell an iteration.
//! # Cost
//! new, refactor: an addition of 8 × 8 blocks a cell, and a small factorisation; kept over steps, since it only has to be
//! about right. Each iteration: a back-substitution with about a thirtieth of the unknowns.
//! # Limits
//! Cubes. Parts that lie side by side share coarse nodes, which costs iterations but is not wrong.

use super::{BlockMatrix, Direct, Nodes, PointTerm};
use crate::{FleshError, Lattice, element::Stiffness};
use glam::{DMat3, DVec3, IVec3};
use std::collections::BTreeMap;

/// Cells along a side of a coarse cube.
const SIDE: i32 = 3;
/// Offsets of a cell within its coarse cube.
const N_OFFSETS: usize = (SIDE * SIDE * SIDE) as usize;

/// Coarse nodes of a lattice, and the factorised system over them.
#[derive(Debug)]
pub struct Coarse {
    /// Coarse cube and offset within it of each cell.
    of_cell: Vec<(u32, u8)>,
    /// Coarse nodes each node hangs on; none for held nodes.
    parents: Vec<Vec<(u32, f32)>>,
    /// Nodes that nothing hangs on.
    is_unused: Vec<bool>,
    blocks: BlockMatrix,
    direct: Option<Direct>,
    right: Nodes<f64>,
    left: Nodes<f64>,
}

/// One cell's part of a system: `R (factor · K) Rᵀ` and its mass at its corners.
pub struct CellPart<'a> {
    /// Stiffness at rest.
    pub stiffness: &'a Stiffness,
    /// Its factor.
    pub factor: f64,
    /// How the cell is turned.
    pub rotation: &'a DMat3,
    /// Mass of each corner.
    pub masses: [f64; 8],
    /// Corners that are held.
    pub is_held: [bool; 8],
}

impl Coarse {
    /// Coarse cubes around the cells of a lattice of cubes.
    pub fn new(lattice: &Lattice, is_held: &[bool]) -> Self {
        let low = lattice.nodes().iter().fold(DVec3::INFINITY, |low, p| low.min(*p));
        let place = |p: DVec3| ((p - low) / lattice.size()).round().as_ivec3();
        let (mut numbers, mut cubes) = (BTreeMap::new(), BTreeMap::new());
        let mut corners: Vec<[u32; 8]> = Vec::new();
        let mut of_cell = Vec::with_capacity(lattice.n_cells());
        for cell in lattice.cells() {
            let at = place(lattice.nodes()[cell[0] as usize]);
            let (cube, offset) = (at / SIDE, at % SIDE);
            let index = *cubes.entry(cube.to_array()).or_insert_with(|| {
                corners.push(std::array::from_fn(|c| {
                    let next = numbers.len() as u32;
                    *numbers.entry((cube + unit(c)).to_array()).or_insert(next)
                }));
                corners.len() as u32 - 1
            });
            of_cell.push((index, ((offset.z * SIDE + offset.y) * SIDE + offset.x) as u8));
        }
        let mut parents = vec![Vec::new(); lattice.n_nodes()];
        for (cell, (cube, offset)) in lattice.cells().iter().zip(&of_cell) {
            let table = weights(*offset as usize);
            for (fine, node) in cell.iter().enumerate().filter(|(_, node)| !is_held[**node as usize]) {
                let list = (0..8).filter(|c| table[fine][*c] > 0.0);
                let pairs = list.map(|c| (corners[*cube as usize][c], table[fine][c] as f32));
                parents[*node as usize] = pairs.collect();
            }
        }
        let n = numbers.len();
        let mut is_unused = vec![true; n];
        parents.iter().flatten().for_each(|(parent, _)| is_unused[*parent as usize] = false);
        let blocks = BlockMatrix::from_cells(n, &corners);
        let (right, left) = (vec![[0.0; 4]; n], vec![[0.0; 4]; n]);
        Self { of_cell, parents, is_unused, blocks, direct: None, right, left }
    }

    /// Take over a system and factorise it.
    ///
    /// # Errors
    /// If it is too ill-conditioned.
    pub fn refactor<'a>(
        &mut self,
        part: impl Fn(usize) -> CellPart<'a>,
        points: &[PointTerm<f64>],
    ) -> Result<(), FleshError> {
        self.blocks.clear();
        let tables: Vec<[[f64; 8]; 8]> = (0..N_OFFSETS).map(weights).collect();
        // Restricted stiffness by offset, for cells that share a matrix and have no held corner.
        let mut known: BTreeMap<(*const Stiffness, u8), Box<Stiffness>> = BTreeMap::new();
        for (cell, (cube, offset)) in self.of_cell.iter().enumerate() {
            let part = part(cell);
            let mut table = tables[*offset as usize];
            (0..8).filter(|c| part.is_held[*c]).for_each(|c| table[c] = [0.0; 8]);
            let own;
            let stiffness = if part.is_held.contains(&true) {
                own = restrict(part.stiffness, &table);
                &own
            } else {
                let key = (std::ptr::from_ref(part.stiffness), *offset);
                known.entry(key).or_insert_with(|| restrict(part.stiffness, &table))
            };
            self.blocks.add_cell(*cube as usize, stiffness, Some(part.rotation), part.factor);
            self.blocks.add_cell_masses(*cube as usize, |a, b| {
                (0..8).map(|c| part.masses[c] * table[c][a] * table[c][b]).sum()
            });
        }
        for point in points {
            if let Some(point) = self.restrict_point(point) {
                self.blocks.add_point(&point);
            }
        }
        self.direct = Some(match self.direct.take() {
            Some(mut direct) => direct.refactor(&self.blocks).map(|()| direct)?,
            None => Direct::new(&self.blocks, &self.is_unused)?,
        });
        Ok(())
    }

    fn restrict_point(&self, point: &PointTerm<f64>) -> Option<PointTerm<f64>> {
        let mut sums: Vec<(u32, f64)> = Vec::new();
        for (node, w) in point.nodes.iter().zip(point.weights).filter(|(_, w)| *w != 0.0) {
            for (parent, share) in &self.parents[*node as usize] {
                let add = w * f64::from(*share);
                match sums.iter_mut().find(|(p, _)| p == parent) {
                    Some((_, sum)) => *sum += add,
                    None => sums.push((*parent, add)),
                }
            }
        }
        let first = sums.first()?.0;
        let at = |k: usize| sums.get(k).copied().unwrap_or((first, 0.0));
        (sums.len() <= 8).then(|| PointTerm {
            nodes: std::array::from_fn(|k| at(k).0),
            weights: std::array::from_fn(|k| at(k).1),
            matrix: point.matrix,
        })
    }

    /// `z += P (Pᵀ A P)⁻¹ Pᵀ r`.
    pub fn add(&mut self, r: &[[f32; 4]], z: &mut [[f32; 4]]) {
        let Some(direct) = &mut self.direct else { return };
        self.right.fill([0.0; 4]);
        for (r, parents) in r.iter().zip(&self.parents) {
            for (parent, w) in parents {
                let to = &mut self.right[*parent as usize];
                (0..3).for_each(|k| to[k] += f64::from(w * r[k]));
            }
        }
        direct.solve(&self.right, &mut self.left);
        for (z, parents) in z.iter_mut().zip(&self.parents) {
            for (parent, w) in parents {
                let from = &self.left[*parent as usize];
                (0..3).for_each(|k| z[k] += w * from[k] as f32);
            }
        }
    }
}

fn unit(corner: usize) -> IVec3 {
    IVec3::new((corner & 1) as i32, (corner >> 1 & 1) as i32, (corner >> 2) as i32)
}

/// Weights of the eight coarse nodes at each corner of the cell at an offset.
fn weights(offset: usize) -> [[f64; 8]; 8] {
    let side = SIDE as usize;
    let at = IVec3::new((offset % side) as i32, (offset / side % side) as i32, (offset / side / side) as i32);
    std::array::from_fn(|fine| crate::lattice::trilinear((at + unit(fine)).as_dvec3() / f64::from(SIDE)))
}

/// `Wᵀ K W`.
fn restrict(stiffness: &Stiffness, w: &[[f64; 8]; 8]) -> Box<Stiffness> {
    let mut half = Box::new([[0.0; 24]; 24]);
    let mut out = Box::new([[0.0; 24]; 24]);
    for i in 0..24 {
        for (b, w) in w.iter().enumerate() {
            for (to, w) in w.iter().enumerate().filter(|(_, w)| **w != 0.0) {
                (0..3).for_each(|k| half[i][3 * to + k] += w * stiffness[i][3 * b + k]);
            }
        }
    }
    for (a, w) in w.iter().enumerate() {
        for (to, w) in w.iter().enumerate().filter(|(_, w)| **w != 0.0) {
            for k in 0..3 {
                for j in 0..24 {
                    out[3 * to + k][j] += w * half[3 * a + k][j];
                }
            }
        }
    }
    out
}
