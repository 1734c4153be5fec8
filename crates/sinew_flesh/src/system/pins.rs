//! Points of the body held exactly, by a projection inside conjugate gradients.
//!
//! # Source
//! Capell (2004), §4.8, eqs. 4.8–4.10: `Cᵀ Δv = a`, a start that satisfies it by QR, and increments orthogonal to the
//! columns of `C`. Differs: all columns are projected out together, by the orthonormal `Q`; Capell projects them out
//! one after the other, which is right only for pins in cells that share no node.
//!
//! Where hanging nodes occur, pins constrain the independent nodes: `(C T)ᵀ Δv = a` with the `T` of [`Ties`].
//! # Limits
//! Dependent pins are found in the decomposition: a redundant one is left out, a contradictory one is reported.

use super::Nodes;
use crate::{FleshError, element::Scalar, lattice::Ties};
use glam::DVec3;

/// One constraint: `Σ w Δv = a` over free nodes.
#[derive(Debug, Clone)]
pub struct PinRow {
    /// Free nodes of its cell, or those they hang on, with their weights.
    pub shares: Vec<(u32, f64)>,
    /// The change of velocity the free nodes have to bring about.
    pub change: DVec3,
}

/// Directions that solutions must not move along.
#[derive(Debug, Clone, Default)]
pub struct PinSpace {
    /// Orthonormal; entries by node.
    columns: Vec<Vec<(u32, f64)>>,
    /// The pins that say something new, with their numbers.
    pub rows: Vec<(usize, PinRow)>,
    /// Nodes that hang between others; empty if there are no pins.
    ties: Ties,
}

/// A pin whose row keeps less than this of its length beside those before it says nothing new.
const MIN_INDEPENDENT_SHARE: f64 = 1e-6;

impl PinSpace {
    /// Decompose, and give the shortest change of velocity that satisfies all pins. `gap` is how far apart, in metres a
    /// second, contradicting pins may be.
    ///
    /// # Errors
    /// The pin that contradicts others, and which.
    pub fn new(
        rows: &[PinRow],
        ties: &Ties,
        n_nodes: usize,
        gap: f64,
        secs: f64,
    ) -> Result<(Self, Nodes<f64>), FleshError> {
        let mut space = Self { ties: ties.clone(), ..Self::default() };
        let mut start = vec![[0.0; 4]; n_nodes];
        let mut owner = Vec::new();
        for (pin, row) in rows.iter().enumerate() {
            let mut column: Vec<(u32, f64)> = row.shares.clone();
            let reached: DVec3 =
                column.iter().map(|&(node, w)| DVec3::from_slice(&start[node as usize][..3]) * w).sum();
            let length = size(&column);
            let mut against = Vec::new();
            for (q, &other) in space.columns.iter().zip(&owner) {
                let along = product(&column, q);
                if along.abs() > MIN_INDEPENDENT_SHARE * length {
                    column = add(&column, q, -along);
                    against.push(other);
                }
            }
            let left = size(&column);
            let missing = row.change - reached;
            if left <= MIN_INDEPENDENT_SHARE * length.max(1e-9) {
                if missing.length() > gap {
                    let others: Vec<String> = against.iter().map(|p: &usize| format!("pin {p}")).collect();
                    let others =
                        if others.is_empty() { "the bone it lies in".into() } else { others.join(", ") };
                    return Err(FleshError::ContradictoryPins { pin, others, gap: missing.length() * secs });
                }
                continue;
            }
            column.iter_mut().for_each(|(_, w)| *w /= left);
            for &(node, w) in &column {
                let step = missing * (w / left);
                (0..3).for_each(|k| start[node as usize][k] += step[k]);
            }
            space.columns.push(column);
            space.rows.push((pin, row.clone()));
            owner.push(pin);
        }
        space.ties.spread(&mut start);
        Ok((space, start))
    }

    /// Give forces on hanging nodes to true ones, and take out what would move a pin.
    pub fn project_forces<T: Scalar>(&self, r: &mut [[T; 4]]) {
        self.ties.gather(r);
        self.take_out(r);
    }

    /// Take out what would move a pin.
    pub fn project<T: Scalar>(&self, x: &mut [[T; 4]]) {
        self.take_out(x);
        self.ties.spread(x);
    }

    fn take_out<T: Scalar>(&self, x: &mut [[T; 4]]) {
        for column in &self.columns {
            for k in 0..3 {
                let along: f64 = column.iter().map(|&(node, w)| w * x[node as usize][k].to()).sum();
                for &(node, w) in column {
                    x[node as usize][k] += T::of(-along * w);
                }
            }
        }
    }
}

fn size(column: &[(u32, f64)]) -> f64 {
    column.iter().map(|(_, w)| w * w).sum::<f64>().sqrt()
}

fn product(a: &[(u32, f64)], b: &[(u32, f64)]) -> f64 {
    let at = |node: u32| b.binary_search_by_key(&node, |(n, _)| *n).map_or(0.0, |i| b[i].1);
    a.iter().map(|&(node, w)| w * at(node)).sum()
}

fn add(a: &[(u32, f64)], b: &[(u32, f64)], factor: f64) -> Vec<(u32, f64)> {
    let mut sum: Vec<(u32, f64)> = a.to_vec();
    for &(node, w) in b {
        match sum.binary_search_by_key(&node, |(n, _)| *n) {
            Ok(at) => sum[at].1 += factor * w,
            Err(at) => sum.insert(at, (node, factor * w)),
        }
    }
    sum
}
