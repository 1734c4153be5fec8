//! Muscles: shape that animators control, as forces on the flesh.
//!
//! ```text
//! pose + curves ─► Θ ─► MuscleEvaluator (samples, templates, surface muscles) ─► forces at rest ─► turned with the pose ─► StepInput
//! drag of the skin ─► TemplateFitter ─┐
//! target surface ─► fit_surface ──────┼─► MuscleSet ─► file, other character (transfer)
//! ```

mod adaptive;
mod belt;
mod drive;
mod error;
pub mod file;
mod fit;
mod guides;
mod hexes;
mod integrate;
mod map;
mod minimise;
mod parameters;
mod pose;
mod posed;
mod set;
mod statics;
mod surface;
mod templates;
#[cfg(test)]
mod tests;
mod transfer;
mod unfold;

pub use adaptive::{AdaptParams, AdaptRound, AdaptiveFit, fit_adaptive};
pub use belt::Belt;
pub use drive::{Curve, MuscleDrive};
pub use error::MuscleError;
pub use fit::{TemplateFit, TemplateFitParams, TemplateFitter};
pub use guides::{Frame, Guide};
pub use map::{CharacterMap, MapPairs, MapParams, MapReport, fit_map};
pub use minimise::{Bounds, MinimiseParams, MinimiseReport, minimise};
pub use parameters::{Control, ControlSource, Samples, find_joint};
pub use pose::{Feature, PoseFit, fit_pose};
pub use posed::PosedBody;
pub use set::{Muscle, MuscleEvaluator, MuscleSet, MuscleShape};
pub use statics::{RestReport, StaticSolver, find_rest, holding_forces};
pub use surface::{Distances, Matching, SurfaceFit, SurfaceParams, fit_surface};
pub use templates::{Template, UnitField};
pub use transfer::{JointPairs, TransferReport, carry_pose, carry_skeleton, match_joints, transfer_muscles};
