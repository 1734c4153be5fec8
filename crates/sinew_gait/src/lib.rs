//! Gaits: a body of 2 to 8 legs walks, runs, trots or gallops along a line, over any ground.
//!
//! Works from the skeleton alone: which joints are legs comes from the body map and from what stands on the ground, how long
//! and how quick the steps are from the length of the legs. Feet are planted first, then the trunk is carried over them, then
//! the legs are bent to reach.

mod base;
mod error;
mod find_legs;
mod footfall;
mod gait;
mod leg;
mod measure;
mod params;
mod plan;
mod sole;
#[cfg(test)]
mod tests;
mod trunk;
mod walk;
mod walker;
mod way;

pub use error::GaitError;
pub use gait::Gait;
pub use measure::{FootReport, GaitReport};
pub use params::GaitParams;
pub use walk::{Gaited, make_gait};

/// From 0 to 1 with zero slope and curvature at both ends.
fn ease(share: f64) -> f64 {
    let t = share.clamp(0.0, 1.0);
    t * t * t * (10.0 + t * (6.0 * t - 15.0))
}
