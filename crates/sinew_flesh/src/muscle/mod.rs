//! Muscles: shape that animators control, as forces on the flesh.
//!
//! ```text
//! pose + curves ─► Θ ─► MuscleEvaluator (samples, templates, surface muscles) ─► forces at rest ─► turned with the pose ─► StepInput
//! ```

mod belt;
mod drive;
mod guides;
mod integrate;
mod parameters;
mod set;
mod templates;
#[cfg(test)]
mod tests;

pub use crate::muscle_error::MuscleError;
pub use belt::Belt;
pub use drive::{Curve, MuscleDrive};
pub use guides::{Frame, Guide};
pub(crate) use integrate::Placed;
pub use parameters::{Control, ControlSource, Samples, find_joint};
pub(crate) use set::rest_forces;
pub use set::{Muscle, MuscleEvaluator, MuscleSet, MuscleShape};
pub use templates::{Template, UnitField};
