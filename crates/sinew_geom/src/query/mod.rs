//! Queries on a surface: distance, side, ray hits.

mod intersections;
mod tree;
mod winding;

pub use intersections::find_self_intersections;
pub use tree::{RayHit, SurfacePoint, SurfaceTree};
