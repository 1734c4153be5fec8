//! A matrix of 3 × 3 blocks with the pattern of a lattice.

use crate::{Lattice, element::Stiffness, system::PointTerm};
use glam::DMat3;
use sinew_geom::linalg::SparseMatrix;

/// One block for each pair of nodes that share a cell, by rows.
#[derive(Debug, Clone)]
pub struct BlockMatrix {
    starts: Vec<u32>,
    columns: Vec<u32>,
    /// Row by row within a block.
    values: Vec<[f64; 9]>,
    /// Block of each pair of corners of each cell.
    slots: Vec<[[u32; 8]; 8]>,
}

impl BlockMatrix {
    /// Zeros with the pattern of a lattice.
    pub fn new(lattice: &Lattice) -> Self {
        Self::from_cells(lattice.n_nodes(), lattice.cells())
    }

    /// Zeros with the pattern of some cells over `n` nodes.
    pub fn from_cells(n: usize, cells: &[[u32; 8]]) -> Self {
        let mut pairs: Vec<u64> = Vec::with_capacity(64 * cells.len());
        for cell in cells {
            pairs.extend(
                cell.iter().flat_map(|&a| cell.iter().map(move |&b| u64::from(a) << 32 | u64::from(b))),
            );
        }
        pairs.sort_unstable();
        pairs.dedup();
        let mut starts = vec![0u32; n + 1];
        pairs.iter().for_each(|pair| starts[(pair >> 32) as usize + 1] += 1);
        (0..n).for_each(|i| starts[i + 1] += starts[i]);
        let columns: Vec<u32> = pairs.iter().map(|pair| *pair as u32).collect();
        let slot = |a: u32, b: u32| {
            let row = starts[a as usize] as usize..starts[a as usize + 1] as usize;
            let at = columns[row.clone()].binary_search(&b).unwrap_or(0);
            (row.start + at) as u32
        };
        let slots = cells.iter().map(|cell| cell.map(|a| cell.map(|b| slot(a, b)))).collect();
        let values = vec![[0.0; 9]; columns.len()];
        Self { starts, columns, values, slots }
    }

    /// All zeros.
    pub fn clear(&mut self) {
        self.values.fill([0.0; 9]);
    }

    /// Whether nothing was added yet.
    pub fn is_zero(&self) -> bool {
        self.values.iter().all(|block| *block == [0.0; 9])
    }

    /// Add a matrix of the same lattice.
    pub fn add(&mut self, other: &Self) {
        for (to, from) in self.values.iter_mut().zip(&other.values) {
            (0..9).for_each(|k| to[k] += from[k]);
        }
    }

    /// Take over the values of a matrix of the same lattice, times a factor.
    pub fn assign(&mut self, other: &Self, factor: f64) {
        self.values.iter_mut().zip(&other.values).for_each(|(to, from)| *to = from.map(|x| factor * x));
    }

    /// Add `factor · R K Rᵀ` of a cell.
    pub fn add_cell(&mut self, cell: usize, stiffness: &Stiffness, rotation: Option<&DMat3>, factor: f64) {
        for a in 0..8 {
            for b in 0..8 {
                let entry = |i: usize, j: usize| stiffness[3 * a + i][3 * b + j];
                let column = |j: usize| glam::DVec3::new(entry(0, j), entry(1, j), entry(2, j));
                let mut block = DMat3::from_cols(column(0), column(1), column(2));
                if let Some(r) = rotation {
                    block = *r * block * r.transpose();
                }
                let to = &mut self.values[self.slots[cell][a][b] as usize];
                for i in 0..3 {
                    for j in 0..3 {
                        to[3 * i + j] += factor * block.col(j)[i];
                    }
                }
            }
        }
    }

    /// Add multiples of the identity to the blocks of a cell's pairs of corners.
    pub fn add_cell_masses(&mut self, cell: usize, mass: impl Fn(usize, usize) -> f64) {
        for a in 0..8 {
            for b in 0..8 {
                let (to, m) = (&mut self.values[self.slots[cell][a][b] as usize], mass(a, b));
                (0..3).for_each(|k| to[4 * k] += m);
            }
        }
    }

    /// Add to the diagonal of a node.
    pub fn add_diagonal(&mut self, node: usize, value: f64) {
        let at = self.block_at(node, node);
        (0..3).for_each(|k| self.values[at][4 * k] += value);
    }

    /// Add a point of a cell.
    pub fn add_point(&mut self, point: &PointTerm<f64>) {
        let [xx, yy, zz, xy, xz, yz] = point.matrix;
        let full = [xx, xy, xz, xy, yy, yz, xz, yz, zz];
        for (a, wa) in point.nodes.iter().zip(point.weights) {
            for (b, wb) in point.nodes.iter().zip(point.weights) {
                let at = self.block_at(*a as usize, *b as usize);
                self.values[at].iter_mut().zip(full).for_each(|(to, x)| *to += wa * wb * x);
            }
        }
    }

    fn row(&self, node: usize) -> std::ops::Range<usize> {
        self.starts[node] as usize..self.starts[node + 1] as usize
    }

    fn block_at(&self, row: usize, column: usize) -> usize {
        let range = self.row(row);
        range.start + self.columns[range].binary_search(&(column as u32)).unwrap_or(0)
    }

    /// Diagonal block of a node, symmetric part: xx, yy, zz, xy, xz, yz.
    pub fn diagonal(&self, node: usize) -> [f64; 6] {
        let m = &self.values[self.block_at(node, node)];
        [m[0], m[4], m[8], (m[1] + m[3]) / 2.0, (m[2] + m[6]) / 2.0, (m[5] + m[7]) / 2.0]
    }

    /// `out += A x`.
    pub fn apply(&self, x: &[[f64; 4]], out: &mut [[f64; 4]]) {
        for (node, out) in out.iter_mut().enumerate() {
            let sum = self.row_times(node, |column| [x[column][0], x[column][1], x[column][2]]);
            (0..3).for_each(|k| out[k] += sum[k]);
        }
    }

    /// A row of blocks times vectors.
    pub fn row_times(&self, node: usize, x: impl Fn(usize) -> [f64; 3]) -> [f64; 3] {
        let mut sum = [0.0; 3];
        for at in self.row(node) {
            let (m, p) = (&self.values[at], x(self.columns[at] as usize));
            for i in 0..3 {
                sum[i] += m[3 * i] * p[0] + m[3 * i + 1] * p[1] + m[3 * i + 2] * p[2];
            }
        }
        sum
    }

    /// The rows and columns of some nodes as a scalar matrix; `number` gives their places, `u32::MAX` leaves out.
    pub fn to_sparse(&self, number: &[u32], n: usize) -> SparseMatrix {
        let mut triplets = Vec::new();
        for (node, &row) in number.iter().enumerate().filter(|(_, row)| **row != u32::MAX) {
            for at in self.row(node) {
                let column = number[self.columns[at] as usize];
                if column != u32::MAX {
                    for (k, &value) in self.values[at].iter().enumerate() {
                        triplets.push((3 * row + k as u32 / 3, 3 * column + k as u32 % 3, value));
                    }
                }
            }
        }
        SparseMatrix::from_triplets(3 * n, 3 * n, triplets)
    }

    /// Overwrite the values of a matrix that [`Self::to_sparse`] made.
    pub fn refresh(&self, number: &[u32], out: &mut SparseMatrix) {
        let values = out.values_mut();
        let mut next = 0;
        for (node, _) in number.iter().enumerate().filter(|(_, row)| **row != u32::MAX) {
            for i in 0..3 {
                for at in self.row(node).filter(|&at| number[self.columns[at] as usize] != u32::MAX) {
                    values[next..next + 3].copy_from_slice(&self.values[at][3 * i..3 * i + 3]);
                    next += 3;
                }
            }
        }
    }
}
