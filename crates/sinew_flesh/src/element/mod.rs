//! Elements: what a cell does when it is deformed.

mod cube;
mod energy;
mod hexahedron;
mod integrals;
mod mean;
mod twist;

pub use cube::{Batch, CubeMaterial, LANES, Lane, Modes, Scalar, Twist};
pub use energy::{CellResponse, Definite, Energy, cell_response};
pub use hexahedron::{ElementKind, Stiffness, corner_volumes, exact_gradients, gauss_gradients, stiffness};
pub use integrals::Integrals;
pub use mean::{MeanCell, mean_response};
#[cfg(test)]
pub use twist::full_twist;
pub use twist::{is_stretched, twist, twist_matrix};
