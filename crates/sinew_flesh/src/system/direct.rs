//! A factorised system as preconditioner: exact when it is fresh, and still good for some steps after.
//!
//! # Source
//! The sparse Cholesky factorisation of `sinew_geom`. It is kept over several steps, because poses change little from
//! one to the next; conjugate gradients always solve the system of the current step with it, so that only speed depends
//! on its age.

use super::BlockMatrix;
use crate::FleshError;
use sinew_geom::linalg::{Cholesky, SparseMatrix, SymbolicCholesky};
use std::sync::Arc;

/// The free nodes' part of a system, factorised.
#[derive(Debug)]
pub struct Direct {
    number: Vec<u32>,
    matrix: SparseMatrix,
    symbolic: Arc<SymbolicCholesky>,
    factor: Cholesky<f32>,
    scratch: Vec<[f64; 1]>,
}

impl Direct {
    /// Analyse and factor.
    ///
    /// # Errors
    /// If the matrix is not positive definite.
    pub fn new(blocks: &BlockMatrix, is_held: &[bool]) -> Result<Self, FleshError> {
        let mut n = 0;
        let mut next = || {
            n += 1;
            n - 1
        };
        let number: Vec<u32> = is_held.iter().map(|held| if *held { u32::MAX } else { next() }).collect();
        let matrix = blocks.to_sparse(&number, n as usize);
        let symbolic = Arc::new(SymbolicCholesky::new(&matrix)?);
        let factor = Cholesky::factor(symbolic.clone(), &matrix)?;
        Ok(Self { number, matrix, symbolic, factor, scratch: vec![[0.0]; 3 * n as usize] })
    }

    /// Factor other values of the same lattice.
    ///
    /// # Errors
    /// If the matrix is not positive definite.
    pub fn refactor(&mut self, blocks: &BlockMatrix) -> Result<(), FleshError> {
        blocks.refresh(&self.number, &mut self.matrix);
        self.factor = Cholesky::factor(self.symbolic.clone(), &self.matrix)?;
        Ok(())
    }

    /// `z = A⁻¹ r` on free nodes, zero on the others.
    pub fn solve(&mut self, r: &[[f64; 4]], z: &mut [[f64; 4]]) {
        for (node, &at) in self.number.iter().enumerate().filter(|(_, at)| **at != u32::MAX) {
            (0..3).for_each(|k| self.scratch[3 * at as usize + k] = [r[node][k]]);
        }
        // The length was fixed when the factor was made.
        let _ = self.factor.solve(&mut self.scratch);
        for (node, &at) in self.number.iter().enumerate() {
            z[node] = match at {
                u32::MAX => [0.0; 4],
                at => {
                    let p = |k: usize| self.scratch[3 * at as usize + k][0];
                    [p(0), p(1), p(2), 0.0]
                }
            };
        }
    }
}
