//! Capability tests: one binary, one module per capability.

#![allow(clippy::unwrap_used)]

mod auto_handles;
mod body_map;
mod data;
mod documents;
mod edits;
mod fit;
mod flesh;
mod handles;
mod mesh_check;
mod module_cycles;
mod motions;
mod old_files;
mod recovery;
mod refit;
mod refit_bodies;
mod rig_shapes;
mod structure;
mod support;
mod walk;
