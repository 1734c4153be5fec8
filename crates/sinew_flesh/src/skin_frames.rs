//! Flesh relative to its skin: frames of cells against the skinned shape, and the pull of nodes towards it.
//!
//! # Source
//! Sinew's own, on the corotated strain of `solver`. The energy of a cell is that of `Rᵀ x − R_sᵀ s` instead of
//! `Rᵀ x − X`: the shape at rest is the one that skinning gives the cell, turned back. Linear blend skinning is then
//! a state at rest, whatever it does to cells, and flesh converges to it as `1/E`. Without this, flesh settles where
//! undeformed cells want to be, which is not the skin at any stiffness.
//! # Symbols
//! `X` places at rest, `x` now, `s` skinned; `F_s = ∂s/∂X`, `R_s = polar(F_s)`; `Q = polar(F F_sᵀ)`, `R = Q R_s`.
//! `F_s F_sᵀ` is positive also where skinning folds cells over, so that `Q` is known there too.
//! # Limits
//! Mode `predicted`. The other modes are driven by held nodes and anchors alone.

use crate::{Attachment, Lattice, Material};
use glam::{DMat3, DQuat, DVec3};
use sinew_geom::linalg::fit_rotations;

/// Rounds of polar decomposition of skinned cells, from the rotation that bones predict.
const SKIN_ROUNDS: usize = 4;
/// Rounds beyond those of the parameters by which frames follow cells.
const EXTRA_ROUNDS: usize = 3;
/// Added to `F_s F_sᵀ` before it is inverted: skinning flattens cells at worst by this, as a squared stretch.
const LEAST_STRETCH: f64 = 0.02;
/// Stiffness of the pull of nodes to their skinned places, in units of the flesh's own.
const PULL_STIFFNESS: f64 = 0.01;
/// The same in parts that no bone holds.
const LOOSE_PULL: f64 = 1.0;

/// Frames of the cells of a skinned body.
#[derive(Debug)]
pub(crate) struct SkinFrames {
    /// `F_s`.
    gradients: Vec<DMat3>,
    /// `R_s`.
    rotations: Vec<DQuat>,
}

impl SkinFrames {
    /// Frames of cells with deformation gradients `F_s`, near the rotations that bones predict.
    pub fn new(gradients: Vec<DMat3>, predicted: &[DQuat]) -> Self {
        let mut rotations = predicted.to_vec();
        rotations.resize(gradients.len(), DQuat::IDENTITY);
        fit_rotations(&gradients, &mut rotations, SKIN_ROUNDS);
        rotations.iter_mut().for_each(|q| *q = q.normalize());
        Self { gradients, rotations }
    }

    /// `R_s`, as matrices.
    pub fn matrices(&self) -> Vec<DMat3> {
        crate::system::rotation_matrices(&self.rotations)
    }

    /// Turn cells with deformation gradients `F` to `Q R_s`. What is left of `F` is the deformation relative to the skin.
    pub fn turn(&self, polar_steps: usize, deformations: &mut [DMat3], rotations: &mut [DQuat]) {
        let both = deformations.iter().zip(&self.gradients);
        let products: Vec<DMat3> = both.map(|(f, skin)| *f * skin.transpose()).collect();
        let mut turns = vec![DQuat::IDENTITY; rotations.len()];
        if polar_steps > 0 {
            // From the better of two guesses: turned as the skin, or relative to it as before.
            for (cell, turn) in turns.iter_mut().enumerate() {
                let before = (rotations[cell] * self.rotations[cell].inverse()).normalize();
                let fit = |turn: &DMat3| trace_of_product(turn, &products[cell]);
                if fit(&DMat3::from_quat(before)) > fit(&DMat3::IDENTITY) {
                    *turn = before;
                }
            }
            fit_rotations(&products, &mut turns, polar_steps + EXTRA_ROUNDS);
        }
        for (cell, turn) in turns.iter().enumerate() {
            let skin = &self.gradients[cell];
            rotations[cell] = (turn.normalize() * self.rotations[cell]).normalize();
            let square = *skin * skin.transpose() + DMat3::from_diagonal(DVec3::splat(LEAST_STRETCH));
            deformations[cell] = products[cell] * square.inverse() * DMat3::from_quat(self.rotations[cell]);
        }
    }
}

/// `tr(Aᵀ B)`.
pub(crate) fn trace_of_product(a: &DMat3, b: &DMat3) -> f64 {
    a.x_axis.dot(b.x_axis) + a.y_axis.dot(b.y_axis) + a.z_axis.dot(b.z_axis)
}

/// Stiffness of the pull of each node to its skinned place, in newtons per metre.
pub(crate) fn compute_skin_pull(
    lattice: &Lattice,
    materials: &[Material],
    attachment: &Attachment,
) -> Vec<f64> {
    let is_attached = attached_nodes(lattice, attachment);
    let mut pull = vec![0.0; lattice.n_nodes()];
    for (cell, corners) in lattice.cells().iter().enumerate() {
        let share = if is_attached[corners[0] as usize] { PULL_STIFFNESS } else { LOOSE_PULL };
        let stiffness = share * materials[cell].young * lattice.cell_size(cell) * lattice.inside()[cell];
        corners.iter().for_each(|&node| pull[node as usize] += stiffness / 8.0);
    }
    pull
}

/// Whether something holds the part of the lattice that each node belongs to.
fn attached_nodes(lattice: &Lattice, attachment: &Attachment) -> Vec<bool> {
    let mut parents: Vec<u32> = (0..lattice.n_nodes() as u32).collect();
    let mut join = |a: u32, b: u32| {
        let (a, b) = (root(&mut parents, a), root(&mut parents, b));
        parents[a.max(b) as usize] = a.min(b);
    };
    lattice.cells().iter().for_each(|cell| cell[1..].iter().for_each(|&node| join(cell[0], node)));
    for (node, others) in lattice.ties().rows() {
        others.iter().for_each(|(other, _)| join(node as u32, *other));
    }
    let anchored = attachment.anchors.iter().map(|anchor| lattice.cells()[anchor.point.cell as usize][0]);
    let mut is_root_attached = vec![false; lattice.n_nodes()];
    for node in attachment.held.iter().copied().chain(anchored) {
        is_root_attached[root(&mut parents, node) as usize] = true;
    }
    (0..lattice.n_nodes() as u32).map(|node| is_root_attached[root(&mut parents, node) as usize]).collect()
}

fn root(parents: &mut [u32], mut node: u32) -> u32 {
    while parents[node as usize] != node {
        parents[node as usize] = parents[parents[node as usize] as usize];
        node = parents[node as usize];
    }
    node
}
