//! Making muscles: on a character in a pose, by dragging its skin, out of target surfaces, and from other characters.
//!
//! ```text
//! drag of the skin ─► TemplateFitter ─┐
//! target surface ─► fit_surface ──────┼─► MuscleSet ─► other character (transfer)
//! ```

mod adaptive;
mod belt;
mod fit;
mod hexes;
mod map;
mod minimise;
mod pose;
mod posed;
mod surface;
#[cfg(test)]
mod tests;
mod transfer;
mod unfold;

pub use adaptive::{AdaptParams, AdaptRound, AdaptiveFit, fit_adaptive};
pub use fit::{TemplateFit, TemplateFitParams, TemplateFitter};
pub use map::{CharacterMap, MapPairs, MapParams, MapReport, fit_map};
pub use minimise::{Bounds, MinimiseParams, MinimiseReport, minimise};
pub use pose::{Feature, PoseFit, fit_pose};
pub use posed::PosedBody;
pub use surface::{Distances, Matching, SurfaceFit, SurfaceParams, fit_surface};
pub use transfer::{JointPairs, TransferReport, carry_pose, carry_skeleton, match_joints, transfer_muscles};
