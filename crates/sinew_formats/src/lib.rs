//! Readers and writers.
//!
//! Every reader works on bytes and never panics on them; a thin wrapper takes a path. Readers return all
//! faults of a file with their places ([`FormatError::Faults`]); what could be repaired goes to the
//! [`Warnings`](sinew_geom::Warnings) argument.

pub mod alembic;
mod atomic;
pub mod bvh;
mod color;
mod error;
pub mod fbx;
mod format;
pub mod gltf;
pub mod handles;
pub mod json;
pub mod medit;
pub mod moves;
pub mod mvnx;
mod names;
pub mod obj;
pub mod off;
mod open;
pub mod pairs;
pub mod paths;
pub mod ply;
pub mod point_cache;
mod polygons;
pub mod recording;
mod sequence;
mod side_files;
pub mod skeleton;
pub mod stl;
mod text;
pub mod usd;
mod vertex_clip;
pub mod vmc;

pub use atomic::{remove_abandoned, write_atomic};
pub use bvh::BvhFile;
pub use error::{Fault, FormatError, Place};
pub use format::{Format, read_file};
pub use gltf::GltfFile;
pub use open::{Content, read_any, read_any_within, read_content};
pub use point_cache::read_cache_over;
pub use polygons::Model;
pub use sequence::{SequenceFolder, count_frames};
pub use side_files::{SideFiles, no_side_files};
