//! Why rules could not be solved.

use thiserror::Error;

/// Why a skeleton, a pose or a set of rules was refused.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ConstrainError {
    /// A skeleton without joints.
    #[error("the skeleton has no joints; give a file with a skeleton")]
    NoJoints,
    /// A joint stretches space, so that its children do not move rigidly.
    #[error(
        "joint `{joint}` is scaled by {scale:?}, unevenly or not above zero; apply the scale in the program it comes from"
    )]
    Scale {
        /// Name of the joint.
        joint: String,
        /// Its factors along x, y and z.
        scale: [f64; 3],
    },
    /// A range that is empty or not made of numbers.
    #[error("the range of `{freedom}` is {low} .. {high}; its first number must not exceed the second")]
    Range {
        /// Name of the degree of freedom, such as `KneeR.rx`.
        freedom: String,
        /// First number.
        low: f64,
        /// Second number.
        high: f64,
    },
    /// A slice of the wrong length.
    #[error("{what} has {actual} entries, but the skeleton needs {expected}")]
    Length {
        /// What was given.
        what: &'static str,
        /// How many are needed.
        expected: usize,
        /// How many there were.
        actual: usize,
    },
    /// A number that is not finite.
    #[error("{what} {index} is not finite")]
    NonFinite {
        /// What was given.
        what: &'static str,
        /// Which of them.
        index: usize,
    },
}
