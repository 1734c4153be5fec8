//! FBX, binary and ASCII, versions 3000 to 7700.
//!
//! A file is translated to glTF in memory and that is read. So a character from an FBX file has everything that one from a
//! glTF file has: parts with names that can be shown, hidden and exported, a host into which it is written back with its
//! materials, bindings shared among its meshes.
//!
//! # Source
//! The format has no public specification. Its parsing, and what pivots, inherited scales, layers and curves mean, are those of
//! `ufbx` (Raivio, github.com/ufbx/ufbx), a library in C, which is why this module is behind the feature `fbx`.
//! # Cost
//! Parsing, and two passes over the result: one that writes glTF, one that reads it.
//! # Limits
//! Memory is bounded by the size of the file, nodes may lie 512 deep. Curves are sampled at the frame rate of the file where
//! straight lines do not represent them. Skins blend linearly; of blend shapes the positions are kept. What else glTF cannot
//! say is named in a warning.

#[cfg(feature = "fbx")]
mod clip;
#[cfg(feature = "fbx")]
mod convert;
#[cfg(feature = "fbx")]
mod corners;
#[cfg(feature = "fbx")]
mod draft;
#[cfg(feature = "fbx")]
mod keys;
#[cfg(feature = "fbx")]
mod load;
#[cfg(feature = "fbx")]
mod lost;
#[cfg(feature = "fbx")]
mod material;
#[cfg(feature = "fbx")]
mod mesh;
#[cfg(feature = "fbx")]
mod morph;
#[cfg(feature = "fbx")]
mod nodes;
#[cfg(feature = "fbx")]
mod picture;
#[cfg(feature = "fbx")]
mod scene;
#[cfg(feature = "fbx")]
mod skin;

use crate::{FormatError, GltfFile, SideFiles};
use sinew_geom::Warnings;

/// Read an FBX file from memory; `name` is the file in messages and names the character. Pictures that are not in the file
/// are looked for beside it.
///
/// # Errors
/// If the file is damaged, of a version that is not known, or larger inside than its size allows; or if this build reads no
/// FBX.
#[cfg(feature = "fbx")]
pub fn read_fbx(
    bytes: &[u8],
    side: SideFiles,
    name: &str,
    warnings: &mut Warnings,
) -> Result<GltfFile, FormatError> {
    let parsed = load::load(bytes, name)?;
    let glb = scene::write_scene(&parsed, load::memory_limit(bytes.len()), side, name, warnings)?;
    drop(parsed);
    crate::gltf::read_gltf_with_host(&glb, &crate::no_side_files, name, warnings)
}

/// Read an FBX file, which this build cannot.
///
/// # Errors
/// Always.
#[cfg(not(feature = "fbx"))]
pub fn read_fbx(_: &[u8], _: SideFiles, name: &str, _: &mut Warnings) -> Result<GltfFile, FormatError> {
    Err(crate::text::file_error(
        name,
        "this build of Sinew does not read FBX",
        "build it with the feature `fbx`, for which a C compiler is needed, or open the file in Blender and export it as \
         glTF (.glb)",
    ))
}

/// Whether the first bytes are those of an FBX file.
pub(crate) fn is_fbx(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(1024)];
    let contains = |word: &[u8]| memchr::memmem::find(head, word).is_some();
    head.starts_with(b"Kaydara FBX Binary") || head.starts_with(b"; FBX") || contains(b"FBXHeaderExtension:")
}
