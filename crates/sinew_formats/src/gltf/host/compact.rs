//! Dropping what an earlier writing added and nothing uses any more. Data of the source is never dropped.

use super::super::extension::{NAME, SourceSize};
use super::values::{index, member};
use serde_json::{Value, json};

/// Drop unused accessors and views behind those of the source, and their bytes.
pub(super) fn drop_unused(json: &mut Value, bin: &mut Vec<u8>, size: &SourceSize) {
    let mut used = vec![false; member(json, "accessors").len()];
    each_accessor(json, &mut |value| mark(value, &mut used));
    if let Some(numbers) = keep(json, "accessors", size.accessors, &used) {
        each_accessor(json, &mut |value| renumber(value, &numbers));
    }
    let mut used = vec![false; member(json, "bufferViews").len()];
    each_view(json, &mut |value| mark(value, &mut used));
    if let Some(numbers) = keep(json, "bufferViews", size.buffer_views, &used) {
        each_view(json, &mut |value| renumber(value, &numbers));
        move_bytes(json, bin, size);
    }
    for key in ["accessors", "bufferViews"] {
        // glTF forbids empty lists.
        if member(json, key).is_empty()
            && let Some(root) = json.as_object_mut()
        {
            root.shift_remove(key);
        }
    }
}

fn mark(value: &Value, used: &mut [bool]) {
    if let Some(used) = value.as_u64().and_then(|at| used.get_mut(at as usize)) {
        *used = true;
    }
}

fn renumber(value: &mut Value, numbers: &[usize]) {
    if let Some(&number) = value.as_u64().and_then(|at| numbers.get(at as usize)) {
        *value = json!(number);
    }
}

/// Keep of a list what stands before `first` and what is used; the new numbers, if any changed.
fn keep(json: &mut Value, key: &str, first: usize, used: &[bool]) -> Option<Vec<usize>> {
    let stays = |at: usize| at < first || used[at];
    if (0..used.len()).all(stays) {
        return None;
    }
    let mut numbers = Vec::with_capacity(used.len());
    let mut n = 0;
    for at in 0..used.len() {
        numbers.push(n);
        n += usize::from(stays(at));
    }
    let mut at = 0;
    member(json, key).retain(|_| {
        at += 1;
        stays(at - 1)
    });
    Some(numbers)
}

/// Put the bytes of our views one behind the other again.
fn move_bytes(json: &mut Value, bin: &mut Vec<u8>, size: &SourceSize) {
    let old = bin.split_off(size.bytes.min(bin.len()));
    for view in member(json, "bufferViews").iter_mut().skip(size.buffer_views) {
        let (start, length) =
            (index(view, "byteOffset").unwrap_or(0), index(view, "byteLength").unwrap_or(0));
        // A view of ours always lies behind the source's bytes, unless somebody else changed the file.
        let Some(start) = start.checked_sub(size.bytes) else { continue };
        bin.resize(bin.len().next_multiple_of(4), 0);
        let bytes = old.get(start..start.saturating_add(length)).unwrap_or_default();
        view["byteOffset"] = json!(bin.len());
        bin.extend_from_slice(bytes);
    }
    bin.resize(bin.len().next_multiple_of(4), 0);
}

/// Every place where we name an accessor.
pub(super) fn each_accessor(json: &mut Value, see: &mut dyn FnMut(&mut Value)) {
    let mut of = |value: Option<&mut Value>| value.into_iter().for_each(&mut *see);
    for mesh in elements(json.get_mut("meshes")) {
        for primitive in elements(mesh.get_mut("primitives")) {
            fields(primitive.get_mut("attributes")).for_each(|value| of(Some(value)));
            of(primitive.get_mut("indices"));
            for target in elements(primitive.get_mut("targets")) {
                fields(Some(target)).for_each(|value| of(Some(value)));
            }
        }
    }
    for skin in elements(json.get_mut("skins")) {
        of(skin.get_mut("inverseBindMatrices"));
    }
    for animation in elements(json.get_mut("animations")) {
        for sampler in elements(animation.get_mut("samplers")) {
            of(sampler.get_mut("input"));
            of(sampler.get_mut("output"));
        }
    }
}

/// Every place where we name a buffer view.
pub(super) fn each_view(json: &mut Value, see: &mut dyn FnMut(&mut Value)) {
    let mut of = |value: Option<&mut Value>| value.into_iter().for_each(&mut *see);
    for accessor in elements(json.get_mut("accessors")) {
        of(accessor.get_mut("bufferView"));
        if let Some(sparse) = accessor.get_mut("sparse") {
            of(sparse.get_mut("indices").and_then(|indices| indices.get_mut("bufferView")));
            of(sparse.get_mut("values").and_then(|values| values.get_mut("bufferView")));
        }
    }
    for image in elements(json.get_mut("images")) {
        of(image.get_mut("bufferView"));
    }
    let Some(own) = json.get_mut("extensions").and_then(|extensions| extensions.get_mut(NAME)) else {
        return;
    };
    of(own.get_mut("seamCopies"));
    for handle in elements(own.get_mut("handles")) {
        of(handle.get_mut("vertices"));
        of(handle.get_mut("weights"));
    }
    named_views(own, see);
}

/// Every `{"bufferView": n}` in a value.
pub(super) fn named_views(value: &mut Value, see: &mut dyn FnMut(&mut Value)) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| named_views(item, see)),
        Value::Object(object) => {
            for (key, value) in object {
                match key.as_str() {
                    "bufferView" if value.is_u64() => see(value),
                    _ => named_views(value, see),
                }
            }
        }
        _ => {}
    }
}

fn elements(value: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
    value.and_then(Value::as_array_mut).into_iter().flatten()
}

fn fields(value: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
    value.and_then(Value::as_object_mut).into_iter().flatten().map(|(_, value)| value)
}
