//! Faults of files, with place, cause and remedy.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};
use thiserror::Error;

/// Faults printed in full before the rest is only counted.
const MAX_LISTED: usize = 20;

/// Why a file could not be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FormatError {
    /// An error of the operating system.
    #[error("{}: {error}; check that the path exists and is accessible", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error. Part of the message, so not also its source: chains would print it twice.
        error: io::Error,
    },
    /// The content is wrong; every fault found is listed.
    #[error("{}", FaultList { path, faults })]
    Faults {
        /// The file.
        path: PathBuf,
        /// At least one fault.
        faults: Vec<Fault>,
    },
    /// The format cannot hold what should be written.
    #[error("{what} cannot be written: {cause}; {remedy}")]
    Unwritable {
        /// What was to be written.
        what: &'static str,
        /// Why it does not fit.
        cause: String,
        /// What to do about it.
        remedy: &'static str,
    },
}

impl FormatError {
    /// An error of the operating system at a path.
    pub fn io(path: &Path, error: io::Error) -> Self {
        Self::Io { path: path.to_owned(), error }
    }

    /// Faults of a file.
    pub fn faults(path: impl Into<PathBuf>, faults: Vec<Fault>) -> Self {
        Self::Faults { path: path.into(), faults }
    }
}

/// One fault of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// Where in the file.
    pub place: Place,
    /// What is wrong, without a final full stop.
    pub cause: String,
    /// What to do about it, if there is more to say than "correct it".
    pub remedy: Option<String>,
}

impl Fault {
    /// A fault whose remedy is evident.
    pub fn new(place: Place, cause: impl Into<String>) -> Self {
        Self { place, cause: cause.into(), remedy: None }
    }

    /// A fault at a path within the JSON text.
    pub fn json(path: impl Into<String>, cause: impl Into<String>) -> Self {
        Self::new(Place::Json(path.into()), cause)
    }

    /// Add what to do about it.
    #[must_use]
    pub fn with_remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.cause)?;
        self.remedy.iter().try_for_each(|remedy| write!(f, "; {remedy}"))
    }
}

/// Place of a fault in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Line of a text file, counted from 1.
    Line(usize),
    /// Offset into a binary file, counted from 0.
    Byte(u64),
    /// Path within a JSON text, such as `/meshes/0/primitives/1/attributes/POSITION`.
    Json(String),
    /// The file as a whole.
    Whole,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, ":{line}"),
            Self::Byte(byte) => write!(f, ":byte {byte}"),
            Self::Json(path) => write!(f, ":{path}"),
            Self::Whole => Ok(()),
        }
    }
}

struct FaultList<'a> {
    path: &'a Path,
    faults: &'a [Fault],
}

impl fmt::Display for FaultList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.faults.iter().take(MAX_LISTED).enumerate() {
            let line_break = if index > 0 { "\n" } else { "" };
            write!(f, "{line_break}{}{}: {fault}", self.path.display(), fault.place)?;
        }
        match self.faults.len().saturating_sub(MAX_LISTED) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_listed_with_place_cause_and_remedy() {
        let faults = vec![
            Fault::new(Place::Line(3), "vertex has 2 coordinates").with_remedy("give three"),
            Fault::json("/nodes/1", "no such mesh"),
            Fault::new(Place::Byte(12), "chunk is cut short"),
            Fault::new(Place::Whole, "the file is empty"),
        ];
        let text = FormatError::faults("a.x", faults).to_string();
        assert_eq!(
            text,
            "a.x:3: vertex has 2 coordinates; give three\na.x:/nodes/1: no such mesh\n\
             a.x:byte 12: chunk is cut short\na.x: the file is empty"
        );
    }

    #[test]
    fn long_lists_are_cut() {
        let faults = vec![Fault::new(Place::Whole, "x"); 23];
        assert!(FormatError::faults("a", faults).to_string().ends_with("a: x\nand 3 more"));
    }
}
