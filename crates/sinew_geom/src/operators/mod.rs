//! Differential operators on meshes.

mod cotangent;
mod gradient;
mod laplacian;

pub use cotangent::half_cotangents;
pub use gradient::{FacetDeformation, compute_deformation_gradients, decompose_gradient};
pub use laplacian::{LaplacianKind, build_cotangent_stiffness, build_laplacian};
