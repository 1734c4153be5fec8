//! Stiffness from the body and its motion: what a clip would bend too far is made stiffer.
//!
//! # Source
//! Sinew's own. Each moment of a clip loads every node with `m (g − s̈)`, in the frame of its bones. The static answer
//! `u = K⁻¹ f` of the body at rest is compared with what the place allows; where it is more, cells from there to what
//! holds them are stiffened in proportion (a fully stressed design, repeated because a stiffer cell relieves others).
//! Closed form for a cantilever of length `L`, thickness `d` and tip deflection `ε L` under an acceleration `a`:
//! `E = 1.5 ρ a L³ / (ε d²)`.
//! # Symbols
//! `s̈` acceleration of the skinned nodes; `ℓ` way along cells to what holds; `h` side of a cell; `D` diagonal;
//! `δ = clamp(¼ (ℓ + h/2), 0.01 D, 0.02 D)` allowed deviation; `φ = max(1, |u|/δ)` factor
//! # Cost
//! One factorisation and one back-substitution per moment in each of at most four rounds.
//! # Limits
//! The 90th percentile over time counts: stepped keys have unintended moments of a hundred g. What oscillates in
//! resonance may exceed it.

use crate::{Attachment, FleshError, FleshSolver, FleshState, Lattice, StepInput, statics::StaticSolver};
use glam::DVec3;
use std::{cmp::Reverse, collections::BinaryHeap};

/// Allowed deviation per length to what holds.
const MAX_DEVIATION_PER_LENGTH: f64 = 0.25;
/// Bounds of the allowed deviation, in diagonals.
const ALLOWED_DIAGONALS: [f64; 2] = [0.01, 0.02];
/// Share of the moments that must keep within it.
const TIME_QUANTILE: f64 = 0.9;
/// Factor below which nothing is changed any more.
const LEAST_FACTOR: f64 = 1.1;
/// Rounds at most.
pub(crate) const ROUNDS: usize = 4;

/// What a body allows.
#[derive(Debug)]
pub(crate) struct Allowance {
    /// Deviation allowed at each node, in metres.
    allowed: Vec<f64>,
    /// Nodes from the farthest to the nearest, and the next node on the way to what holds.
    order: Vec<u32>,
    next: Vec<u32>,
}

impl Allowance {
    pub fn new(lattice: &Lattice, attachment: &Attachment, diagonal: f64) -> Self {
        let (far, next) = ways(lattice, attachment);
        let [least, most] = ALLOWED_DIAGONALS.map(|share| share * diagonal);
        let allowed = |d: &f64| (MAX_DEVIATION_PER_LENGTH * (d + 0.5 * lattice.size())).clamp(least, most);
        let mut order: Vec<u32> =
            (0..lattice.n_nodes() as u32).filter(|&node| far[node as usize].is_finite()).collect();
        order.sort_by(|a, b| far[*b as usize].total_cmp(&far[*a as usize]));
        Self { allowed: far.iter().map(allowed).collect(), order, next }
    }

    /// Factor by which each cell has to be stiffer under accelerations of the nodes at moments of some clips; none if it is
    /// stiff enough.
    ///
    /// # Errors
    /// A system that cannot be factorised.
    pub fn factors(
        &self,
        solver: &FleshSolver,
        clips: &[Vec<Vec<DVec3>>],
    ) -> Result<Option<Vec<f64>>, FleshError> {
        let reach = deflections(solver, clips)?;
        let mut factor: Vec<f64> =
            reach.iter().zip(&self.allowed).map(|(reach, allowed)| (reach / allowed).max(1.0)).collect();
        for &node in &self.order {
            let (next, own) = (self.next[node as usize], factor[node as usize]);
            if next != u32::MAX {
                factor[next as usize] = factor[next as usize].max(own);
            }
        }
        if factor.iter().all(|factor| *factor < LEAST_FACTOR) {
            return Ok(None);
        }
        let of_cell = |cell: &[u32; 8]| cell.iter().map(|&node| factor[node as usize]).fold(1.0, f64::max);
        Ok(Some(solver.lattice().cells().iter().map(of_cell).collect()))
    }
}

/// Way along the edges of cells from each node to what holds the body, and the next node on it.
fn ways(lattice: &Lattice, attachment: &Attachment) -> (Vec<f64>, Vec<u32>) {
    let n = lattice.n_nodes();
    let (mut far, mut next) = (vec![f64::INFINITY; n], vec![u32::MAX; n]);
    let anchored = attachment.anchors.iter().flat_map(|anchor| lattice.cells()[anchor.point.cell as usize]);
    let mut queue = BinaryHeap::new();
    for node in attachment.held.iter().copied().chain(anchored) {
        far[node as usize] = 0.0;
        queue.push((Reverse(0u64), node));
    }
    let mut neighbors: Vec<Vec<u32>> = vec![Vec::new(); n];
    for cell in lattice.cells() {
        for c in 0..8usize {
            (0..3).for_each(|axis| neighbors[cell[c] as usize].push(cell[c ^ 1 << axis]));
        }
    }
    // Distances are not negative, so that their bits are ordered as they are.
    while let Some((Reverse(bits), node)) = queue.pop() {
        let so_far = f64::from_bits(bits);
        if so_far > far[node as usize] {
            continue;
        }
        for &other in &neighbors[node as usize] {
            let way = so_far + lattice.nodes()[node as usize].distance(lattice.nodes()[other as usize]);
            if way < far[other as usize] {
                (far[other as usize], next[other as usize]) = (way, node);
                queue.push((Reverse(way.to_bits()), other));
            }
        }
    }
    (far, next)
}

/// How far accelerations of the nodes move each node at rest: a quantile over each clip, the largest of all clips.
fn deflections(solver: &FleshSolver, clips: &[Vec<Vec<DVec3>>]) -> Result<Vec<f64>, FleshError> {
    let lattice = solver.lattice();
    let nodes = lattice.nodes().to_vec();
    let rest = StepInput::at_rest(lattice, &solver.body.attachment);
    let rest = StepInput { skinned: nodes.clone(), skinned_before: nodes, ..rest };
    let statics = StaticSolver::new(solver, &FleshState::at_rest(lattice), &rest)?;
    let mut largest = vec![0f64; lattice.n_nodes()];
    let quantile = |mut all: Vec<f64>| {
        all.sort_by(f64::total_cmp);
        all.get((all.len().saturating_sub(1) as f64 * TIME_QUANTILE).round() as usize).copied().unwrap_or(0.0)
    };
    for moments in clips {
        let mut reaches: Vec<Vec<f64>> = vec![Vec::with_capacity(moments.len()); lattice.n_nodes()];
        for accelerations in moments {
            let load: Vec<DVec3> = accelerations.iter().zip(solver.masses()).map(|(a, m)| *a * *m).collect();
            let moved = statics.solve(&load)?;
            reaches.iter_mut().zip(&moved).for_each(|(reach, u)| reach.push(u.length()));
        }
        let all = reaches.into_iter().map(quantile);
        largest.iter_mut().zip(all).for_each(|(largest, reach)| *largest = largest.max(reach));
    }
    Ok(largest)
}
