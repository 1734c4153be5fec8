//! Capability tests: one binary, one module per capability.

#![allow(clippy::unwrap_used)]

mod data;
mod edits;
mod handles;
mod mesh_check;
mod structure;
mod support;
