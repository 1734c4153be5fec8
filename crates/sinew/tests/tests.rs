//! Capability tests: one binary, one module per capability.

mod data;
mod mesh_check;
mod support;
