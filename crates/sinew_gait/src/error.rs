//! What cannot walk, and why.

use sinew_geom::GeomError;
use thiserror::Error;

/// Why no gait was made.
#[derive(Debug, Error)]
pub enum GaitError {
    /// Nothing to stand on.
    #[error(
        "{found} found to walk on, and a walk needs 2 to 8; `sinew info` shows what the joints were taken for, and \
         `sinew rig --template NAME` makes a skeleton of a plan that you choose"
    )]
    NoLegs {
        /// "no leg was", "one leg was", "9 legs were".
        found: String,
    },
    /// A number outside its range.
    #[error("{name} {value}: {expected}")]
    Value {
        /// What it is.
        name: &'static str,
        /// What was given.
        value: String,
        /// What is accepted.
        expected: &'static str,
    },
    /// From the geometry.
    #[error(transparent)]
    Geom(#[from] GeomError),
}
