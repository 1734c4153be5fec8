//! Poses that carry their reasons: rules written as text, solved on a skeleton, kept when the body or the floor
//! changes. After Abdelhay, *3D Character Animation Using Geometric Constraints* (2008).

pub mod clip;
pub mod compile;
mod error;
mod kinematics;
pub mod language;
mod pulls;
mod skeleton;
pub mod solve;
pub mod symbolic;
mod trig;

pub use error::ConstrainError;
pub use kinematics::{Frames, Kinematics, Screw};
pub use pulls::{Mark, marks};
pub use skeleton::{Bone, Freedom, Skeleton};
