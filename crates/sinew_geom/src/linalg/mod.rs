//! Linear algebra: the only place that knows a matrix library.

mod cholesky;
mod dense;
mod eigen;
mod iterative;
mod polar;
mod rotations;
mod simd;
mod sparse;
mod supernodes;
mod triangular;

pub use cholesky::{Cholesky, SymbolicCholesky};
pub use dense::DenseCholesky;
pub use eigen::symmetric_eigen;
pub use iterative::{IterationParams, IterationReport, conjugate_gradients, lsqr};
pub use polar::{polar, svd3};
pub use rotations::fit_rotations;
pub(crate) use simd::{AnyLanes, Lanes8};
pub use simd::{Kernel, dispatch};
pub use sparse::SparseMatrix;
pub use triangular::Real;
