//! All cubes of a lattice as one operator.

use crate::{
    Lattice,
    element::{Batch, CubeMaterial, LANES, Lane, Modes, Scalar, Twist},
};
use glam::{DMat3, DQuat};
use sinew_geom::linalg::{Kernel, dispatch};

/// `Σ R K Rᵀ` without any matrix.
#[derive(Debug, Clone)]
pub struct Cubes<T> {
    batches: Vec<Batch<T>>,
    /// Empty while no cell is stretched far.
    twists: Vec<Twist<T>>,
}

impl<T: Scalar> Cubes<T> {
    /// Eight cells per batch; the last is filled up by cells without stiffness.
    pub fn new(lattice: &Lattice, materials: &[CubeMaterial]) -> Self {
        let identity = DMat3::IDENTITY.to_cols_array();
        let batch = |(at, (cells, materials)): (usize, (&[[u32; 8]], &[CubeMaterial]))| {
            let mut batch = Batch {
                nodes: [[cells[0][0]; LANES]; 8],
                rotation: [[T::ZERO; LANES]; 9],
                material: [[T::ZERO; LANES]; 4],
                half: [T::of(1.0); LANES],
            };
            for (lane, (cell, m)) in cells.iter().zip(materials).enumerate() {
                (0..8).for_each(|c| batch.nodes[c][lane] = cell[c]);
                let constants = [m.mu, m.lambda, m.lambda_bend, m.mu_bend];
                (0..4).for_each(|k| batch.material[k][lane] = T::of(constants[k]));
                batch.half[lane] = T::of(lattice.cell_size(LANES * at + lane) / 2.0);
                batch.set_rotation(lane, &identity);
            }
            batch
        };
        let chunks = lattice.cells().chunks(LANES).zip(materials.chunks(LANES));
        Self { batches: chunks.enumerate().map(batch).collect(), twists: Vec::new() }
    }

    /// Turn the cells.
    pub fn set_rotations(&mut self, rotations: &[DMat3]) {
        for (batch, rotations) in self.batches.iter_mut().zip(rotations.chunks(LANES)) {
            for (lane, rotation) in rotations.iter().enumerate() {
                batch.set_rotation(lane, &rotation.to_cols_array());
            }
        }
    }

    /// How each cell resists being turned out of its frame (see `twist`), in the units of its constants; empty if none does.
    pub fn set_twists(&mut self, twists: &[DMat3]) {
        let batch = |twists: &[DMat3]| {
            let mut batch = [[T::ZERO; LANES]; 6];
            for (lane, k) in twists.iter().enumerate() {
                let entries = [k.x_axis.x, k.y_axis.y, k.z_axis.z, k.y_axis.x, k.z_axis.x, k.z_axis.y];
                (0..6).for_each(|e| batch[e][lane] = T::of(0.25 * entries[e]));
            }
            batch
        };
        self.twists = twists.chunks(LANES).map(batch).collect();
    }

    /// `out += K x`.
    pub fn apply(&self, x: &[[T; 4]], out: &mut [[T; 4]]) {
        dispatch(Apply { cubes: self, x, out, with_rest: false });
    }

    /// `out += T x`, what resists turning alone; whether there is anything.
    pub fn apply_twists(&self, x: &[[T; 4]], out: &mut [[T; 4]]) -> bool {
        let both = self.batches.iter().zip(&self.twists);
        both.for_each(|(batch, twist)| batch.apply_twist(twist, x, out));
        !self.twists.is_empty()
    }

    /// `out += ∂U/∂x`.
    pub fn add_gradient(&self, x: &[[T; 4]], out: &mut [[T; 4]]) {
        dispatch(Apply { cubes: self, x, out, with_rest: true });
    }

    /// `out += R K (Rᵀ x − X)` with other shapes at rest `X`, of [`Self::modes`].
    pub fn add_gradient_from(&self, rest: &[Modes<T>], x: &[[T; 4]], out: &mut [[T; 4]]) {
        dispatch(ApplyFrom { cubes: self, rest, x, out });
    }

    /// Shapes of cells at given places, turned back by rotations.
    pub fn modes(&self, rotations: &[DMat3], x: &[[T; 4]], out: &mut Vec<Modes<T>>) {
        out.clear();
        for (batch, rotations) in self.batches.iter().zip(rotations.chunks(LANES)) {
            let mut columns = [[T::ZERO; LANES]; 9];
            for (lane, rotation) in rotations.iter().enumerate() {
                let entries = rotation.to_cols_array();
                (0..9).for_each(|k| columns[k][lane] = T::of(entries[k]));
            }
            out.push(dispatch(ShapeModes { batch, rotation: &columns, x }));
        }
    }

    /// Deformation gradient in the middle of every cell.
    pub fn deformations(&self, x: &[[T; 4]], out: &mut [DMat3]) {
        for (batch, out) in self.batches.iter().zip(out.chunks_mut(LANES)) {
            let columns = dispatch(Gradients { batch, x });
            for (lane, out) in out.iter_mut().enumerate() {
                let scale = 1.0 / batch.half[lane].to();
                *out = DMat3::from_cols_array(&columns.map(|entry| entry[lane].to() * scale));
            }
        }
    }
}

/// Rotations as matrices.
pub fn rotation_matrices(rotations: &[DQuat]) -> Vec<DMat3> {
    rotations.iter().map(|q| DMat3::from_quat(*q)).collect()
}

/// Rotations as matrices, into a buffer.
pub fn to_matrices(rotations: &[DQuat], out: &mut [DMat3]) {
    out.iter_mut().zip(rotations).for_each(|(out, q)| *out = DMat3::from_quat(*q));
}

struct Apply<'a, T> {
    cubes: &'a Cubes<T>,
    x: &'a [[T; 4]],
    out: &'a mut [[T; 4]],
    with_rest: bool,
}

impl<T: Scalar> Kernel for Apply<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Cubes { batches, twists } = self.cubes;
        if self.with_rest {
            batches.iter().for_each(|batch| batch.add_gradient(self.x, self.out));
        } else if twists.is_empty() {
            batches.iter().for_each(|batch| batch.apply(None, self.x, self.out));
        } else {
            let both = batches.iter().zip(twists);
            both.for_each(|(batch, twist)| batch.apply(Some(twist), self.x, self.out));
        }
    }
}

struct ApplyFrom<'a, T> {
    cubes: &'a Cubes<T>,
    rest: &'a [Modes<T>],
    x: &'a [[T; 4]],
    out: &'a mut [[T; 4]],
}

impl<T: Scalar> Kernel for ApplyFrom<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let batches = self.cubes.batches.iter().zip(self.rest);
        batches.for_each(|(batch, rest)| batch.add_gradient_from(rest, self.x, self.out));
    }
}

struct ShapeModes<'a, T> {
    batch: &'a Batch<T>,
    rotation: &'a [Lane<T>; 9],
    x: &'a [[T; 4]],
}

impl<T: Scalar> Kernel for ShapeModes<'_, T> {
    type Output = Modes<T>;
    #[inline(always)]
    fn run<const FMA: bool>(self) -> Self::Output {
        self.batch.modes(self.rotation, self.x)
    }
}

struct Gradients<'a, T> {
    batch: &'a Batch<T>,
    x: &'a [[T; 4]],
}

impl<T: Scalar> Kernel for Gradients<'_, T> {
    type Output = [[T; LANES]; 9];
    #[inline(always)]
    fn run<const FMA: bool>(self) -> Self::Output {
        self.batch.gradients(self.x)
    }
}
