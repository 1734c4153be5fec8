//! Skin weights of the inside: those of the surface, spread over the lattice.
//!
//! # Source
//! Sinew's own. Weights of embedded vertices are given to the corners of their cells; nodes without any take the mean
//! of their neighbours (Laplace's equation with the surface as boundary, by Gauss–Seidel sweeps). They spread along
//! cells, so that adjacent but separate fingers do not influence each other.

use crate::{Body, Lattice};
use glam::{DMat3, DQuat};
use sinew_geom::{Skin, linalg::polar, mesh::Ragged};

/// Slots per node or cell at most.
pub const INFLUENCES: usize = 4;
/// Sweeps after every node has been reached.
const N_SWEEPS: usize = 40;

/// Weights of everything in a lattice.
#[derive(Debug, Clone)]
pub struct LatticeWeights {
    /// Slots of the skin.
    pub n_slots: usize,
    nodes: Vec<f32>,
    /// Strongest slots of each node and cell, with weights that sum to one.
    pub of_nodes: Vec<[(u16, f32); INFLUENCES]>,
    pub of_cells: Vec<[(u16, f32); INFLUENCES]>,
}

impl LatticeWeights {
    pub fn new(body: &Body, skin: &Skin) -> Self {
        let (lattice, n_slots) = (&body.lattice, skin.slots.len());
        let (mut nodes, is_known) = from_surface(body, skin);
        spread(lattice, &mut nodes, &is_known, n_slots);
        let of_nodes = nodes.chunks(n_slots.max(1)).map(strongest).collect();
        let of_cell = |corners: &[u32; 8]| {
            let mean = |slot: usize| corners.iter().map(|&n| nodes[n as usize * n_slots + slot]).sum::<f32>();
            strongest(&(0..n_slots).map(mean).collect::<Vec<f32>>())
        };
        let of_cells = lattice.cells().iter().map(of_cell).collect();
        Self { n_slots, nodes, of_nodes, of_cells }
    }

    /// How much a slot moves a node.
    pub fn node(&self, node: usize, slot: usize) -> f32 {
        self.nodes[node * self.n_slots + slot]
    }
}

fn from_surface(body: &Body, skin: &Skin) -> (Vec<f32>, Vec<bool>) {
    let n_vertices = body.embedding.len().min(skin.n_vertices());
    gather(body, skin.slots.len(), n_vertices, |vertex, add| {
        skin.vertex(vertex).for_each(|(slot, weight)| add(slot as usize, weight));
    })
}

/// Values of the nodes of a lattice out of those of its surface, spread over the inside: one row per node.
pub fn spread_from_surface(body: &Body, values: &[f32]) -> Vec<f32> {
    let n_vertices = body.embedding.len().min(values.len());
    let (mut nodes, is_known) = gather(body, 1, n_vertices, |vertex, add| add(0, values[vertex]));
    spread(&body.lattice, &mut nodes, &is_known, 1);
    nodes
}

/// Means at the corners of cells of what the vertices in them have, and which corners have any.
fn gather(
    body: &Body,
    n_columns: usize,
    n_vertices: usize,
    row: impl Fn(usize, &mut dyn FnMut(usize, f32)),
) -> (Vec<f32>, Vec<bool>) {
    let n_nodes = body.lattice.n_nodes();
    let mut nodes = vec![0f32; n_nodes * n_columns];
    let mut sums = vec![0f32; n_nodes];
    for vertex in 0..n_vertices {
        let corners = &body.lattice.cells()[body.embedding.cell(vertex)];
        for (&node, &near) in corners.iter().zip(body.embedding.weights(vertex)) {
            let near = near.max(0.0);
            sums[node as usize] += near;
            row(vertex, &mut |column, value| nodes[node as usize * n_columns + column] += near * value);
        }
    }
    for (row, &sum) in nodes.chunks_mut(n_columns.max(1)).zip(&sums) {
        if sum > 0.0 {
            row.iter_mut().for_each(|w| *w /= sum);
        }
    }
    (nodes, sums.iter().map(|sum| *sum > 0.0).collect())
}

fn spread(lattice: &Lattice, nodes: &mut [f32], is_known: &[bool], n_slots: usize) {
    let ends = |cell: &[u32; 8]| {
        let cell = *cell;
        (0..8usize).flat_map(move |c| (0..3).map(move |k| (cell[c], cell[c ^ 1 << k])))
    };
    let neighbors = Ragged::from_pairs(lattice.n_nodes(), || lattice.cells().iter().flat_map(ends));
    let mut reached = is_known.to_vec();
    let mut left = N_SWEEPS;
    let mut row = vec![0f32; n_slots];
    while left > 0 {
        let before = reached.clone();
        for node in (0..lattice.n_nodes()).filter(|&node| !is_known[node]) {
            row.fill(0.0);
            let mut n = 0;
            for &other in neighbors.row(node).iter().filter(|&&other| before[other as usize]) {
                let other = &nodes[other as usize * n_slots..][..n_slots];
                row.iter_mut().zip(other).for_each(|(to, from)| *to += from);
                n += 1;
            }
            if n > 0 {
                let to = &mut nodes[node * n_slots..][..n_slots];
                to.iter_mut().zip(&row).for_each(|(to, from)| *to = from / n as f32);
                reached[node] = true;
            }
        }
        // Sweeps count once all are reached that can be.
        if before == reached {
            left -= 1;
        }
    }
}

fn strongest(row: &[f32]) -> [(u16, f32); INFLUENCES] {
    let mut order: Vec<usize> = (0..row.len()).collect();
    order.sort_by(|a, b| row[*b].total_cmp(&row[*a]).then(a.cmp(b)));
    let mut out = [(0u16, 0f32); INFLUENCES];
    out.iter_mut().zip(&order).for_each(|(out, &slot)| *out = (slot as u16, row[slot]));
    let sum: f32 = out.iter().map(|(_, w)| w).sum();
    match sum > 0.0 {
        true => out.iter_mut().for_each(|(_, w)| *w /= sum),
        false => out[0].1 = 1.0,
    }
    out
}

/// Rotation of each slot's matrix, whatever it scales.
pub fn rotations_of(matrices: &[DMat3]) -> Vec<DQuat> {
    matrices.iter().map(|m| DQuat::from_mat3(&polar(m).0).normalize()).collect()
}

/// Mean rotation by weights: the sum of quaternions on the side of the strongest.
pub fn blend(rotations: &[DQuat], weights: &[(u16, f32); INFLUENCES]) -> DQuat {
    let first = rotations[weights[0].0 as usize];
    let add = |sum: DQuat, (slot, weight): &(u16, f32)| {
        let q = rotations[*slot as usize];
        let side = if q.dot(first) < 0.0 { -1.0 } else { 1.0 };
        sum + q * (side * f64::from(*weight))
    };
    let sum = weights.iter().fold(DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0), add);
    if sum.length_squared() > 1e-12 { sum.normalize() } else { first }
}
