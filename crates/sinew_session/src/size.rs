//! How much memory a state of the document takes beyond another, roughly: what they share costs nothing.

use crate::{Document, Example, Pair};
use sinew_formats::pairs::PairTarget;
use sinew_geom::{Character, Clip, Handle, rig::Keys};
use std::{mem::size_of, sync::Arc};

/// Bytes of the parts of a document that another one does not share.
pub(crate) fn bytes_beyond(document: &Document, before: &Document) -> usize {
    let body =
        if Arc::ptr_eq(&document.body, &before.body) { 0 } else { of_body(&document.body, &before.body) };
    let pose = if Arc::ptr_eq(&document.pose, &before.pose) { 0 } else { size_of_val(&document.pose[..]) };
    let rules = if Arc::ptr_eq(&document.rules, &before.rules) { 0 } else { document.rules.n_bytes() };
    let flesh = if Arc::ptr_eq(&document.flesh, &before.flesh) { 0 } else { document.flesh.n_bytes() };
    size_of::<Document>()
        + body
        + pose
        + rules
        + flesh
        + new_layer(document.detail.as_ref(), before.detail.as_ref())
        + new_parts(&document.handles, &before.handles, of_handle)
        + new_parts(&document.clips, &before.clips, of_clip)
        + new_parts(&document.examples, &before.examples, of_example)
        + new_parts(&document.puppet.pairs, &before.puppet.pairs, of_pair)
}

fn new_layer(layer: Option<&Arc<Vec<f32>>>, before: Option<&Arc<Vec<f32>>>) -> usize {
    let is_old = layer.zip(before).is_some_and(|(a, b)| Arc::ptr_eq(a, b));
    if is_old { 0 } else { layer.map_or(0, |layer| size_of_val(&layer[..])) }
}

/// Each list is searched at the same place first: parts seldom change places.
fn new_parts<T>(parts: &[Arc<T>], before: &[Arc<T>], size: impl Fn(&T) -> usize) -> usize {
    let is_old = |(at, part): (usize, &Arc<T>)| {
        before.get(at).is_some_and(|other| Arc::ptr_eq(other, part))
            || before.iter().any(|other| Arc::ptr_eq(other, part))
    };
    let new = parts.iter().enumerate().filter(|&place| !is_old(place));
    size_of_val(parts) + new.map(|(_, part)| size(part)).sum::<usize>()
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

fn of_handle(handle: &Handle) -> usize {
    size_of::<Handle>() + size_of_val(&handle.vertices[..]) + size_of_val(&handle.weights[..])
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

fn of_example(example: &Example) -> usize {
    size_of::<Example>()
        + size_of_val(&example.moves[..])
        + example.detail.as_ref().map_or(0, |layer| size_of_val(&layer[..]))
        + example.thumbnail.as_ref().map_or(0, |png| png.len())
}

fn of_pair(pair: &Pair) -> usize {
    size_of::<Pair>()
        + size_of_val(&pair.pair.body[..])
        + pair.thumbnail.as_ref().map_or(0, |png| png.len())
        + match &pair.pair.target {
            PairTarget::Joints(joints) => size_of_val(&joints[..]),
            PairTarget::Example(_) => 0,
        }
}
