//! Questions about a surface: how far, which side, what is hit.

mod dijkstra;
mod tree;
mod winding;

pub use dijkstra::compute_distances;
pub use tree::{RayHit, SurfacePoint, SurfaceTree};
