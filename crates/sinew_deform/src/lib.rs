//! Pose any mesh without a skeleton: handles painted on the surface, moved by hand, the soft surface between
//! them following at once.

mod auto;
mod error;
mod geodesic;
mod handles;
mod pose;
pub mod select;

pub use auto::{AutoParams, SkinHandleParams, find_handles, handles_from_skin};
pub use error::DeformError;
pub use handles::HandleSet;
pub use pose::{HandleMotion, HandlePose, Twist};
pub use select::Selector;
