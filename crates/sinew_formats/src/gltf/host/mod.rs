//! Lossless writing: the file a character was read from is kept as it came, and only what changed is written into it.
//!
//! A character is computed on in one normalised form: all meshes as one surface in the space of the world at rest, uniform
//! scales moved out of the joints. A [`Host`] is the source file itself: JSON, buffers, images, side files. Writing through
//! it reads it again, compares the character with what it was, and puts the differences back through the inverse of
//! what reading did: positions, normals and tangents of changed parts, skins, morph targets, animations, rest transforms of
//! nodes. Everything else (nodes, names, materials, textures, cameras, lights, extensions, extras) is not touched, and
//! indices of the source never change: new accessors, views, nodes, meshes, skins and targets are appended. Animations stand in
//! the order of the clips, unless an extension may refer to them by number; then new ones are appended, too, and if one is
//! taken out, a warning names the extension.
//!
//! # Limits
//! The faces, texture coordinates, colours and materials must be those of the source; a character that was repaired or
//! remeshed is written as a file of its own instead, and a warning says so.

mod carry;
mod clips;
mod compact;
mod draft;
mod drop_parts;
mod extension;
mod gaps;
mod meshes;
mod morphs;
mod nodes;
mod pack;
mod references;
mod skins;
mod surface;
mod values;
mod visibility;

use super::parts::SurfaceParts;
use super::read::{Source, ignored, with_source};
use super::write::{GlbOptions, builder::unwritable, write_glb};
use super::{Host, portable_extensions, schema::Object};
use crate::FormatError;
use draft::Draft;
use sinew_geom::{Character, Warnings};

impl Host {
    /// Bytes of the file with a character in it as it is now. If nothing changed, a GLB is returned byte for byte.
    ///
    /// # Errors
    /// If the character is not that of this file any more (other faces, texture coordinates, colours or materials), or the
    /// result would have more than 4 GiB.
    pub fn write(
        &self,
        character: &Character,
        options: &GlbOptions,
        warnings: &mut Warnings,
    ) -> Result<Vec<u8>, FormatError> {
        self.with_fitting(character, |source| write_into(self, &source, character, options, warnings))
    }

    /// Read the file again for a character that is still that of this file.
    ///
    /// # Errors
    /// If it is not.
    pub(super) fn with_fitting<R>(
        &self,
        character: &Character,
        then: impl FnOnce(Source) -> Result<R, FormatError>,
    ) -> Result<R, FormatError> {
        let side = |name: &str| self.side_file(name);
        with_source(&self.bytes, &side, &self.name, &mut Warnings::default(), |source, _| {
            check_fits(&source.character, character)?;
            then(source)
        })
    }

    /// Warn of what the file holds and a character alone does not. Returns the root extensions that mean the same in
    /// another file.
    pub fn warn_lost(&self, warnings: &mut Warnings) -> Object {
        let side = |name: &str| self.side_file(name);
        let extensions =
            with_source(&self.bytes, &side, &self.name, &mut Warnings::default(), |source, _| {
                let root = source.decoder.root;
                ignored::warn_ignored(root, warnings);
                Ok(portable_extensions(&root.extensions, warnings))
            });
        extensions.unwrap_or_default()
    }
}

/// Write a GLB: into the file that the character came from if there is one and it still fits, else as a file of its own.
///
/// # Errors
/// As [`write_glb`].
pub fn write_glb_hosted(
    host: Option<&Host>,
    character: &Character,
    options: &GlbOptions,
    warnings: &mut Warnings,
) -> Result<Vec<u8>, FormatError> {
    let left_out = &options.parts.left_out;
    let without = |character: &Character| -> Result<Character, FormatError> {
        let parts = SurfaceParts::of(host, character);
        parts.leave_out(character, left_out).map_err(|error| unwritable(error.to_string()))
    };
    let Some(host) = host else {
        options.parts.warn_shown(&SurfaceParts::default(), warnings);
        return match left_out.is_empty() {
            true => write_glb(character, options, warnings),
            false => write_glb(&without(character)?, options, warnings),
        };
    };
    let mut said = Warnings::default();
    let written = host.write(character, options, &mut said);
    let written = written.and_then(|bytes| match left_out.is_empty() {
        true => Ok(bytes),
        false => drop_parts::drop_parts(&bytes, &host.name, left_out, &mut said),
    });
    match written {
        Ok(bytes) => {
            said.messages.into_iter().for_each(|message| warnings.push(message));
            Ok(bytes)
        }
        Err(error) => {
            warnings.push(format!("{error}; parts and names of {} are not kept", host.name));
            options.parts.warn_shown(&host.parts, warnings);
            let mut options = options.clone();
            for (name, value) in host.warn_lost(warnings) {
                options.extensions.entry(name).or_insert(value);
            }
            match left_out.is_empty() {
                true => write_glb(character, &options, warnings),
                false => write_glb(&without(character)?, &options, warnings),
            }
        }
    }
}

/// Refuse a character whose parts cannot be found in the file.
fn check_fits(before: &Character, now: &Character) -> Result<(), FormatError> {
    let (old, new) = (&before.surface, &now.surface);
    let cause = if before.mesh.n_vertices() != now.mesh.n_vertices() {
        format!("it has {} vertices instead of {}", now.mesh.n_vertices(), before.mesh.n_vertices())
    } else if before.mesh.faces() != now.mesh.faces() {
        "its faces changed".to_owned()
    } else if old.uvs != new.uvs {
        "its texture coordinates changed".to_owned()
    } else if old.colors != new.colors {
        "its vertex colours changed".to_owned()
    } else if old.materials != new.materials || old.face_materials != new.face_materials {
        "its materials changed".to_owned()
    } else {
        return Ok(());
    };
    Err(FormatError::Unwritable {
        what: "the character into the file that was opened",
        cause,
        remedy: "it is written as a file of its own",
    })
}

fn write_into(
    host: &Host,
    source: &Source,
    now: &Character,
    options: &GlbOptions,
    warnings: &mut Warnings,
) -> Result<Vec<u8>, FormatError> {
    let mut draft = Draft::new(source)?;
    let packed = draft.pack(warnings);
    let before = draft.json.clone();
    let views = draft.add_views(&options.views);
    let mut joints = nodes::write_joints(&mut draft, now);
    let targets = morphs::plan(source, now);
    meshes::write_meshes(&mut draft, now, &mut joints, &targets, options, warnings);
    clips::write_clips(&mut draft, now, &joints, &targets, warnings);
    extension::write_extensions(&mut draft, now, &joints, &targets, options, views);
    if let Some(hidden) = &options.parts.hidden {
        visibility::write_visibility(&mut draft, hidden, warnings);
    }
    let is_unchanged = draft.builder.is_empty() && draft.json == before;
    if is_unchanged && !packed && host.bytes.starts_with(b"glTF") {
        return Ok(host.bytes.to_vec());
    }
    draft.finish()
}
