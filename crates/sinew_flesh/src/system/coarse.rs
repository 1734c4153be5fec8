//! A coarser lattice that speeds up conjugate gradients over long distances.
//!
//! # Source
//! Two-level additive Schwarz (Toselli and Widlund 2005, §3): `z = D⁻¹ r + P (Pᵀ A P)⁻¹ Pᵀ r`, where `P` interpolates
//! trilinearly from cubes of several cells per side. Inverse blocks alone carry information by one cell per iteration.
//! # Cost
//! new: one addition of 8 × 8 blocks per cell. refactor: one per coarse cube, and a small factorisation, which is kept
//! over several steps because it need only be approximate. Each iteration: a back-substitution with about a thirtieth
//! of the unknowns.
//! # Limits
//! Cubes only. A coarse cube rotates as one, by the mean of its cells. Where few free nodes depend on a coarse cube
//! (beside a clamp), its nodes are linearly dependent; a small multiple of the diagonal keeps the system positive
//! there. Adjacent but separate parts share coarse nodes, which costs iterations but is not wrong.

use super::{BlockMatrix, Direct, Nodes, PointTerm};
use crate::{FleshError, Lattice, element::Stiffness};
use glam::{DMat3, DVec3, IVec3};
use sinew_geom::linalg::polar;
use std::collections::BTreeMap;

/// Share of the diagonal that is added to it, above the rounding of the single precision it is factorised in.
const DIAGONAL_SHIFT: f64 = 1e-4;
/// Cells along a side of a coarse cube.
const CELLS_PER_SIDE: i32 = 3;

/// Coarse nodes of a lattice, and the factorised system over them.
#[derive(Debug)]
pub struct Coarse {
    /// Coarse cube of each cell.
    of_cell: Vec<u32>,
    cubes: Vec<Cube>,
    /// Coarse nodes each node hangs on; none for held nodes.
    parents: Vec<Vec<(u32, f32)>>,
    /// Nodes that nothing hangs on.
    is_unused: Vec<bool>,
    blocks: BlockMatrix,
    direct: Option<Direct>,
    right: Nodes<f64>,
    left: Nodes<f64>,
}

/// What a coarse cube weighs and resists at rest.
#[derive(Debug, Clone)]
struct Cube {
    stiffness: Box<Stiffness>,
    masses: [[f64; 8]; 8],
}

/// One cell at rest: `factor · stiffness`, and its mass at each corner.
pub struct CellPart<'a> {
    /// Stiffness at rest.
    pub stiffness: &'a Stiffness,
    /// Its factor.
    pub factor: f64,
    /// Mass of a corner.
    pub mass: f64,
}

impl Coarse {
    /// Coarse cubes around the cells of a lattice of cubes.
    pub fn new<'a>(lattice: &Lattice, is_held: &[bool], part: impl Fn(usize) -> CellPart<'a>) -> Self {
        let low = lattice.nodes().iter().fold(DVec3::INFINITY, |low, p| low.min(*p));
        let place = |p: DVec3| ((p - low) / lattice.size()).round().as_ivec3();
        let (mut numbers, mut known) = (BTreeMap::new(), BTreeMap::new());
        let mut corners: Vec<[u32; 8]> = Vec::new();
        let mut cubes: Vec<Cube> = Vec::new();
        let mut places = Vec::with_capacity(lattice.n_cells());
        for (index, cell) in lattice.cells().iter().enumerate() {
            let at = place(lattice.nodes()[cell[0] as usize]);
            let (cube, offset) = (at / CELLS_PER_SIDE, at % CELLS_PER_SIDE);
            let at = *known.entry(cube.to_array()).or_insert_with(|| {
                corners.push(std::array::from_fn(|c| {
                    let next = numbers.len() as u32;
                    *numbers.entry((cube + unit(c)).to_array()).or_insert(next)
                }));
                cubes.push(Cube { stiffness: Box::new([[0.0; 24]; 24]), masses: [[0.0; 8]; 8] });
                corners.len() - 1
            });
            let mut table = weights(offset);
            (0..8).filter(|c| is_held[cell[*c] as usize]).for_each(|c| table[c] = [0.0; 8]);
            cubes[at].add(&part(index), &table);
            places.push((at as u32, table));
        }
        let mut parents = vec![Vec::new(); lattice.n_nodes()];
        for (cell, (cube, table)) in lattice.cells().iter().zip(&places) {
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
        let of_cell = places.iter().map(|(cube, _)| *cube).collect();
        Self { of_cell, cubes, parents, is_unused, blocks, direct: None, right, left }
    }

    /// Factorise `scale · K + drag · M + points` with cells turned as they are.
    ///
    /// # Errors
    /// If it is too ill-conditioned.
    pub fn refactor(
        &mut self,
        rotations: &[DMat3],
        (scale, drag): (f64, f64),
        points: &[PointTerm<f64>],
    ) -> Result<(), FleshError> {
        let mut sums = vec![DMat3::ZERO; self.cubes.len()];
        self.of_cell.iter().zip(rotations).for_each(|(cube, r)| sums[*cube as usize] += *r);
        self.blocks.clear();
        for (at, (cube, sum)) in self.cubes.iter().zip(&sums).enumerate() {
            self.blocks.add_cell(at, &cube.stiffness, Some(&polar(sum).0), scale);
            self.blocks.add_cell_masses(at, |a, b| drag * cube.masses[a][b]);
        }
        for point in points {
            if let Some(point) = self.restrict_point(point) {
                self.blocks.add_point(&point);
            }
        }
        for node in (0..self.is_unused.len()).filter(|&node| !self.is_unused[node]) {
            let [x, y, z, ..] = self.blocks.diagonal(node);
            self.blocks.add_diagonal(node, DIAGONAL_SHIFT * x.max(y).max(z));
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
fn weights(offset: IVec3) -> [[f64; 8]; 8] {
    std::array::from_fn(|fine| {
        crate::lattice::trilinear((offset + unit(fine)).as_dvec3() / f64::from(CELLS_PER_SIDE))
    })
}

impl Cube {
    /// Add `Wᵀ K W` and `Wᵀ M W` of a cell.
    fn add(&mut self, part: &CellPart, w: &[[f64; 8]; 8]) {
        let mut half = [[0.0; 24]; 24];
        for i in 0..24 {
            for (b, w) in w.iter().enumerate() {
                for (to, w) in w.iter().enumerate().filter(|(_, w)| **w != 0.0) {
                    (0..3)
                        .for_each(|k| half[i][3 * to + k] += part.factor * w * part.stiffness[i][3 * b + k]);
                }
            }
        }
        for (a, w) in w.iter().enumerate() {
            for (to, w) in w.iter().enumerate().filter(|(_, w)| **w != 0.0) {
                for k in 0..3 {
                    (0..24).for_each(|j| self.stiffness[3 * to + k][j] += w * half[3 * a + k][j]);
                }
            }
        }
        for (a, row) in self.masses.iter_mut().enumerate() {
            for (b, mass) in row.iter_mut().enumerate() {
                *mass += part.mass * w.iter().map(|w| w[a] * w[b]).sum::<f64>();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Material, element::ElementKind};

    /// Clamps that leave a single layer of a coarse cube free make its nodes depend on each other; the system must stay
    /// positive, and the correction symmetric and positive.
    #[test]
    fn few_free_nodes_are_no_trouble() {
        let lattice = Lattice::block([3, 3, 7], 0.1, DVec3::ZERO).unwrap();
        let held = |p: &DVec3| !(0.05..0.15).contains(&p.z) && p.z < 0.55;
        let is_held: Vec<bool> = lattice.nodes().iter().map(held).collect();
        let material = Material::default();
        let unit = Material { young: 1.0, ..material };
        let stiffness =
            crate::element::stiffness(&lattice.corners(0), &unit, ElementKind::default()).unwrap();
        let part = |_: usize| CellPart { stiffness: &stiffness, factor: material.young, mass: 0.1 };
        let mut coarse = Coarse::new(&lattice, &is_held, part);
        let turns = vec![DMat3::IDENTITY; lattice.n_cells()];
        coarse.refactor(&turns, (2e-4, 1.0), &[]).unwrap();
        let vector = |seed: usize| -> Vec<[f32; 4]> {
            let at = |i: usize| ((i * 7 + seed) as f32 * 12.9898).sin();
            let one =
                |i: usize| if is_held[i] { [0.0; 4] } else { [at(3 * i), at(3 * i + 1), at(3 * i + 2), 0.0] };
            (0..lattice.n_nodes()).map(one).collect()
        };
        let (a, b) = (vector(1), vector(2));
        let mut apply = |r: &[[f32; 4]]| {
            let mut z = vec![[0f32; 4]; r.len()];
            coarse.add(r, &mut z);
            z
        };
        let (za, zb) = (apply(&a), apply(&b));
        let (ab, ba) = (super::super::dot(&za, &b), super::super::dot(&a, &zb));
        let size = super::super::dot(&za, &a);
        assert!(size > 0.0 && (ab - ba).abs() < 1e-3 * size, "{ab} {ba} {size}");
    }
}
