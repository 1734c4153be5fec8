//! Errors of geometry, and warnings about what was repaired.

use thiserror::Error;

/// Why a geometric object could not be built or a computation failed.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum GeomError {
    /// A face names a vertex that does not exist.
    #[error("face {face} uses vertex {index}, but there are only {n_vertices} vertices")]
    FaceIndex {
        /// Face in question, counted from 0.
        face: usize,
        /// The offending vertex index.
        index: usize,
        /// Number of vertices present.
        n_vertices: usize,
    },
    /// A coordinate is NaN or infinite.
    #[error("{what} {index} is not finite")]
    NonFinite {
        /// What kind of element ("vertex", "right-hand side", …).
        what: &'static str,
        /// Index of the element, counted from 0.
        index: usize,
    },
    /// A slice has the wrong length.
    #[error("{what} has {actual} entries, expected {expected}")]
    Length {
        /// Name of the slice.
        what: &'static str,
        /// Required number of entries.
        expected: usize,
        /// Number found.
        actual: usize,
    },
    /// A parent joint does not come before its child, or does not exist.
    #[error("joint {joint} \"{name}\" has parent {parent}; parents must come before their children")]
    JointOrder {
        /// Index of the joint.
        joint: usize,
        /// Name of the joint.
        name: String,
        /// The parent it claims.
        parent: usize,
    },
    /// An index points past the end of what it refers to.
    #[error("{what} {index} is out of range, there are {len}")]
    OutOfRange {
        /// What is indexed.
        what: &'static str,
        /// The offending index.
        index: usize,
        /// Number of elements there are.
        len: usize,
    },
    /// The entries of a matrix are at other places than in the analysed one.
    #[error("the pattern of the matrix differs from the analysed one in row {row}")]
    Pattern {
        /// The first row that differs, or that only one of the two has.
        row: usize,
    },
    /// A matrix that must be symmetric positive definite is not.
    #[error(
        "matrix is not positive definite: pivot {pivot} is not positive (is a part left without constraint?)"
    )]
    NotPositiveDefinite {
        /// Row of the failing pivot, in the caller's numbering.
        pivot: usize,
    },
    /// The object would need more memory or indices than the representation allows.
    #[error("{what} is too large: {actual} exceeds the limit of {limit}")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// Its size.
        actual: usize,
        /// The largest supported size.
        limit: usize,
    },
    /// A parameter is outside its valid range.
    #[error("{name} is {value}, but {expected}")]
    Parameter {
        /// Name of the parameter.
        name: &'static str,
        /// Value given, as text.
        value: String,
        /// What would be valid, as a clause ("it must be positive").
        expected: &'static str,
    },
    /// The caller stopped the work.
    #[error("stopped before it was done")]
    Cancelled,
}

/// Largest number of stored messages; a broken file can cause millions.
const MAX_MESSAGES: usize = 1000;

/// Partial failures: what was repaired or left out while the work as a whole succeeded.
///
/// Passed as an argument, so that a caller decides whether to print, collect or refuse.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Warnings {
    /// One full sentence each, without the file's name.
    pub messages: Vec<String>,
}

impl Warnings {
    /// Record one message, once. After a thousand, only that there are more is recorded.
    pub fn push(&mut self, message: impl Into<String>) {
        let message = message.into();
        if self.messages.len() > MAX_MESSAGES || self.messages.contains(&message) {
            return;
        }
        let is_last = self.messages.len() == MAX_MESSAGES;
        self.messages.push(if is_last { "further warnings were left out".to_owned() } else { message });
    }
}
