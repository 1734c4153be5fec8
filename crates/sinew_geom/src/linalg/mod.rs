//! Linear algebra: the only module that uses a matrix library.

mod cholesky;
mod dense;
mod eigen;
mod iterative;
mod polar;
mod rotations;
mod rows;
mod simd;
mod sparse;
mod supernodes;
mod triangular;
mod vector;

pub use cholesky::{Cholesky, SymbolicCholesky};
pub use dense::{DenseCholesky, solve_definite};
pub use eigen::symmetric_eigen;
pub use iterative::{IterationParams, IterationReport, lsqr};
pub use polar::{polar, svd3};
pub use rotations::fit_rotations;
pub use rows::{
    MAX_SMALL, factor_rows, factor_rows_with, solve_lower, solve_pairs, solve_small, solve_upper,
};
pub(crate) use simd::{AnyLanes, Lanes8};
pub use simd::{Kernel, dispatch};
pub use sparse::SparseMatrix;
pub use triangular::Real;
pub use vector::{Float, dot, dot_wide, fma};
