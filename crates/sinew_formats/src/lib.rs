//! Readers and writers.
//!
//! Every reader works on bytes and never panics on them; a thin wrapper takes a path. Readers return all
//! faults of a file with their places ([`FormatError::Faults`]); what could be mended goes to the
//! [`Warnings`](sinew_geom::Warnings) argument.

mod atomic;
mod error;
pub mod gltf;

pub use atomic::write_atomic;
pub use error::{Fault, FormatError, Place};
