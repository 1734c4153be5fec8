//! Parts that glTF itself holds: name, body, handles and clips.

use super::{
    LoadedFields, Part, SavedFields, is_same_list,
    size::{of_new_items, unless_shared},
};
use crate::{Changes, Document, SessionError};
use serde_json::{Value, json};
use sinew_geom::{Character, Clip, Handle, rig::Keys};
use std::{
    mem::{size_of, size_of_val},
    sync::Arc,
};

/// The name of the document.
pub(super) struct Name;

impl Part for Name {
    fn compare(&self, document: &Document, before: &Document, changes: &mut Changes) {
        changes.name = document.name != before.name;
    }

    fn save(&self, document: &Document, fields: &mut SavedFields) {
        fields.set("name", json!(document.name));
    }

    fn load(&self, document: &mut Document, fields: &mut LoadedFields) {
        if let Some(name) = fields.take("name").as_ref().and_then(Value::as_str) {
            document.name = name.to_owned();
        }
    }
}

/// Mesh, surface, rig, skin and morphs.
pub(super) struct Body;

impl Part for Body {
    fn compare(&self, document: &Document, before: &Document, changes: &mut Changes) {
        changes.surface = !Arc::ptr_eq(&document.body, &before.body);
    }

    fn bytes_beyond(&self, document: &Document, before: &Document) -> usize {
        unless_shared(&document.body, &before.body, |body| of_body(body, &before.body))
            + of_new_host(document, before)
    }

    /// Handles and clips are scaled with the body.
    fn scale(&self, document: &mut Document, factor: f64) -> Result<(), SessionError> {
        let scaled = document.character().scaled(factor)?;
        document.set_character(scaled);
        Ok(())
    }
}

/// Painted regions.
pub(super) struct Handles;

impl Part for Handles {
    fn compare(&self, document: &Document, before: &Document, changes: &mut Changes) {
        changes.handles = !is_same_list(&document.handles, &before.handles);
    }

    fn bytes_beyond(&self, document: &Document, before: &Document) -> usize {
        of_new_items(&document.handles, &before.handles, |handle| {
            size_of::<Handle>() + size_of_val(&handle.vertices[..]) + size_of_val(&handle.weights[..])
        })
    }
}

/// Animations.
pub(super) struct Clips;

impl Part for Clips {
    fn compare(&self, document: &Document, before: &Document, changes: &mut Changes) {
        changes.clips = !is_same_list(&document.clips, &before.clips);
    }

    fn bytes_beyond(&self, document: &Document, before: &Document) -> usize {
        of_new_items(&document.clips, &before.clips, of_clip)
    }
}

/// The file that was opened, unless both states have it.
fn of_new_host(document: &Document, before: &Document) -> usize {
    let is_shared = document.host.as_ref().zip(before.host.as_ref()).is_some_and(|(a, b)| Arc::ptr_eq(a, b));
    document.host.as_ref().filter(|_| !is_shared).map_or(0, |host| host.n_bytes())
}

fn of_body(body: &Character, before: &Character) -> usize {
    let n = body.mesh.n_vertices();
    let surface = &body.surface;
    let is_shared = |bytes: &Arc<Vec<u8>>| {
        let mut images = before.surface.materials.iter().filter_map(|m| m.base_color_image.as_ref());
        images.any(|image| Arc::ptr_eq(&image.bytes, bytes))
    };
    let images = surface.materials.iter().filter_map(|material| material.base_color_image.as_ref());
    size_of_val(body.mesh.positions())
        + size_of_val(body.mesh.faces())
        + surface.normals.as_deref().map_or(0, size_of_val)
        + surface.colors.as_deref().map_or(0, size_of_val)
        + surface.uvs.as_ref().map_or(0, |uvs| size_of_val(&uvs.coords[..]) + size_of_val(&uvs.corners[..]))
        + surface.polygons.iter().flatten().map(|corners| size_of_val(&corners[..]) + 24).sum::<usize>()
        + size_of_val(&surface.face_materials[..])
        // An index and a weight for each of usually four influences.
        + body.skin.as_ref().map_or(0, |_| n * 24)
        + body.morphs.iter().map(|morph| size_of_val(&morph.offsets[..])).sum::<usize>()
        + images.filter(|image| !is_shared(&image.bytes)).map(|image| image.bytes.len()).sum::<usize>()
}

fn of_clip(clip: &Clip) -> usize {
    fn of_keys<T: sinew_geom::rig::Interpolate>(keys: Option<&Keys<T>>) -> usize {
        keys.map_or(0, |keys| size_of_val(keys.times()) + size_of_val(keys.values()))
    }
    let joints = clip.joints.iter().map(|track| {
        of_keys(track.translation.as_ref()) + of_keys(track.rotation.as_ref()) + of_keys(track.scale.as_ref())
    });
    size_of::<Clip>()
        + joints.sum::<usize>()
        + clip.morphs.iter().map(|track| of_keys(Some(&track.keys))).sum::<usize>()
}
