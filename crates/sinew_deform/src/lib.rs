//! Pose any mesh without a skeleton: the user paints handles on the surface and moves them, and the soft surface
//! between them follows at once. After Hansen, *Skeleton-free Example-based Animation* (2006).

mod arap;
mod auto;
mod carried;
mod closed;
mod editor;
mod error;
pub mod examples;
mod fine;
mod geodesic;
mod guide;
mod guided;
mod handled;
mod handles;
mod lipman;
mod local;
mod pose;
mod progress;
pub mod quality;
mod refine;
pub mod select;
mod skin;
mod skinned;
mod soft;
#[cfg(test)]
mod tests;

pub use arap::ArapParams;
pub use auto::{AutoParams, SkinHandleParams, find_handles, handles_from_skin};
pub use editor::{EditParams, Method, SurfaceEditor};
pub use error::DeformError;
pub use guided::GuidedParams;
pub use handles::HandleSet;
pub use lipman::{Frames, LipmanParams};
pub use pose::{HandleMotion, HandlePose, Twist};
pub use progress::Progress;
pub use refine::{FINE_ITERATIONS, SurfaceRefiner};
pub use select::Selector;
pub use skin::{SkinDeviation, build_pose_clip, build_skin, measure_skin};
