//! Posing by rules: constraints written as text, solved on a skeleton, and solved again when the body or the floor
//! changes. After Abdelhay, *3D Character Animation Using Geometric Constraints* (2008).

pub mod clip;
pub mod compile;
mod equations;
mod error;
mod gizmos;
mod joint_frames;
mod kinematics;
pub mod language;
mod skeleton;
pub mod solve;
pub mod symbolic;
mod trig;

pub use error::ConstrainError;
pub use gizmos::{RuleGizmo, rule_gizmos};
pub use kinematics::{Kinematics, Screw, SkeletonFrames};
pub use skeleton::{Skeleton, SkeletonDof, SkeletonJoint};
