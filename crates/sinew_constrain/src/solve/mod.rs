//! Solving rules: the pose nearest to the start at which they hold.
//!
//! ```text
//! Problem ─► System: f and J ─┬─► feasible (Levenberg–Marquardt within ranges), from other starts if it fails
//!                             ├─► nearest (towards the start; soft rules, priorities)
//!                             ├─► objective (minimum while the other rules hold)
//!                             └─► report (residuals, degrees of freedom left, conflicts)
//! ```

mod descent;
mod groups;
mod newton;
mod objective;
mod report;
mod solution;
mod solver;
mod step;
mod system;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod thesis;

pub use solution::{Conflict, Iterations, RuleReport, Solution, SolveReport, Stop};
pub use solver::{Method, SolveParams, Solver};
pub(crate) use system::System;
