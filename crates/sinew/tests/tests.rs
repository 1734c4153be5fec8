//! Capability tests: one binary, one module per capability.

mod data;
mod mesh_check;
mod structure;
mod support;
