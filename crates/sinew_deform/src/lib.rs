//! Pose any mesh without a skeleton: handles painted on the surface, moved by hand, the soft surface between
//! them following at once.

mod editor;
mod error;
mod guided;
mod handles;
mod pose;
pub mod quality;
mod soft;

pub use editor::{EditParams, Method, SurfaceEditor};
pub use error::DeformError;
pub use guided::GuidedParams;
pub use handles::HandleSet;
pub use pose::{HandleMotion, HandlePose, Twist};
