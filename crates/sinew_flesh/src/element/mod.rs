//! Elements: what a cell does when it is deformed.

mod cube;
mod energy;
mod hexahedron;

pub use cube::{Batch, CubeMaterial, LANES, Scalar};
pub use energy::{Definite, Energy, cell_response};
pub use hexahedron::{ElementKind, Stiffness, corner_volumes, gauss_gradients, stiffness};
