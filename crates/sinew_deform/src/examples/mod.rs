//! Animate from examples: a pose space spanned by the user's poses, searched so that handles reach their targets
//! (Hansen (2006), ch. 7).

mod animate;
mod blend;
mod detail;
mod energy;
mod history;
mod objective;
mod prepare;
mod screw;
mod search;
mod space;
#[cfg(test)]
mod tests;
mod tree;

pub use animate::{Course, MotionFrame, Track};
pub use blend::Blend;
pub use detail::{add_detail, blend_details};
pub use energy::Target;
pub use objective::{Objective, Term};
pub use search::{Optimiser, Reorder, Residual, SearchParams, SearchResult, Start};
pub use space::{Detail, ExamplePose, PoseSpace};
