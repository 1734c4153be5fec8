//! The linear system of a step: how it is applied, assembled and solved.

mod blocks;
mod coarse;
mod conjugate;
mod cubes;
mod direct;
mod minres;
mod pins;
mod points;

pub use blocks::BlockMatrix;
pub use coarse::{CellPart, Coarse};
pub use conjugate::{Conjugate, KrylovParams, Outcome, bicgstab, dot, invert_block};
pub use cubes::{Cubes, rotation_matrices, to_matrices};
pub use direct::Direct;
pub use minres::solve_with_multipliers;
pub use pins::{PinRow, PinSpace};
pub use points::{PointTerm, add_points, apply_points, times_blocks};

/// A vector for each node, padded to the width of a register.
pub type Nodes<T> = Vec<[T; 4]>;
