//! Puppetry: pair a few poses of a body with poses of a character, then perform. After Sun, *Example-Based Approach For
//! Real-Time Rigged Character Animation* (2017).
//!
//! ```text
//! recording, rig, stream ─► BodyPose ─► BodyTracker ─► CanonicalPose ─┬─► Puppeteer ─► Weights ─► RigBlend ─┬─► Pose
//!                                            │                        └─► Figure (without pairs) ────────────┤
//!                                            └─► BodyPlacement ─► Stance, or Footing if it has no legs ──────┘
//! ```

mod blend;
mod body;
mod calibration;
mod canonical;
mod error;
mod figure;
mod ground;
mod limb_memory;
mod parts;
mod performer;
mod projection;
mod puppeteer;
mod rig_body;
mod stance;
#[cfg(test)]
mod tests;
mod tracker;

pub use blend::{Interpolation, RigBlend};
pub use body::{BodyJoint, BodyPose, Limb};
pub use calibration::Calibration;
pub use canonical::{BodyPlacement, CanonicalPose};
pub use error::PuppetError;
pub use figure::Figure;
pub use ground::{Footing, GroundParams, carry};
pub use parts::{LimbSet, assign_parts};
pub use performer::{Anatomy, PerformedFrame, Performer, PerformerParams, RigPair};
pub use projection::{Projection, ProjectionParams, ProjectionReport, ProjectionSolver, ProjectionState};
pub use puppeteer::{Puppeteer, PuppeteerParams, Weights};
pub use rig_body::RigBody;
pub use tracker::{BodyTracker, Tracked, TrackerParams};
