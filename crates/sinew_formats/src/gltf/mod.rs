//! glTF 2.0: `.glb`, `.gltf`, `.vrm`, `.vrma`.
//!
//! # Source
//! Khronos Group, *glTF 2.0 Specification* (2021); `KHR_mesh_quantization`, `KHR_meshopt_compression`,
//! `EXT_meshopt_compression`, `KHR_draco_mesh_compression`.
//! # Limits
//! A character has no cameras or lights, and of materials what [`sinew_geom::Material`] holds; a [`Host`] keeps the rest for
//! writing. Compressed files are read, and kept without compression.

mod appearance;
mod bones;
mod extension;
mod host;
mod normals;
mod parts;
mod read;
pub(crate) mod schema;
mod source_file;
pub(crate) mod write;

pub use appearance::{Appearance, Picture};
pub use extension::{NAME as CHARACTER_EXTENSION, VERSION as CHARACTER_VERSION};
pub use extension::{fields_beyond_character, portable_extensions};
pub use host::write_glb_hosted;
#[cfg(feature = "fbx")]
pub(crate) use parts::VISIBILITY;
pub use parts::{PartChoice, SurfacePart, SurfaceParts};
pub use read::{
    Avatar, GltfFile, GltfInfo, morph_sequence, read_gltf, read_gltf_file, read_gltf_with_host,
    read_morph_sequence, read_views,
};
pub use source_file::Host;
pub(crate) use write::builder::pack_glb;
pub use write::{GlbOptions, write_glb, write_glb_file, write_sequence_glb};
