//! Everything a file names, brought into one binary chunk.

use super::super::read::Source;
use super::super::schema::picture_type;
use super::values::{index, list, member};
use serde_json::{Value, json};
use sinew_geom::Warnings;

/// Put all buffers one behind the other and renumber the views. Buffers that could not be read stay outside. Returns the
/// bytes, and whether anything changed.
pub(super) fn pack_buffers(json: &mut Value, source: &Source, warnings: &mut Warnings) -> (Vec<u8>, bool) {
    let buffers = list(json, "buffers").to_vec();
    let mut bin: Vec<u8> = Vec::new();
    // Where each buffer went: to an offset in the chunk, or to a buffer outside.
    let mut places: Vec<Result<usize, usize>> = Vec::new();
    let mut known: Vec<(*const u8, usize)> = Vec::new();
    let mut outside: Vec<Value> = Vec::new();
    let mut first = None;
    for (at, buffer) in buffers.iter().enumerate() {
        let Ok(bytes) = source.decoder.buffer(at) else {
            let name = buffer["uri"].as_str().unwrap_or("without uri");
            warnings.push(format!("buffer {at} ({name}) could not be read and stays outside the file"));
            outside.push(buffer.clone());
            places.push(Err(outside.len()));
            continue;
        };
        first.get_or_insert_with(|| buffer.clone());
        if let Some(&(_, offset)) = known.iter().find(|(start, _)| *start == bytes.as_ptr()) {
            places.push(Ok(offset));
            continue;
        }
        bin.resize(bin.len().next_multiple_of(16), 0);
        known.push((bytes.as_ptr(), bin.len()));
        places.push(Ok(bin.len()));
        bin.extend_from_slice(bytes);
    }
    let is_plain = buffers.len() <= 1 && buffers.iter().all(|buffer| buffer.get("uri").is_none());
    if is_plain || first.is_none() {
        return (bin, false);
    }
    let mut packed = first.unwrap_or_default();
    if let Some(object) = packed.as_object_mut() {
        object.shift_remove("uri");
    }
    packed["byteLength"] = json!(bin.len());
    json["buffers"] = std::iter::once(packed).chain(outside).collect();
    for view in member(json, "bufferViews") {
        place(view, &places);
        for (_, extension) in view.get_mut("extensions").and_then(Value::as_object_mut).into_iter().flatten()
        {
            place(extension, &places);
        }
    }
    (bin, true)
}

fn place(view: &mut Value, places: &[Result<usize, usize>]) {
    match index(view, "buffer").and_then(|buffer| places.get(buffer)) {
        Some(&Ok(offset)) => {
            view["buffer"] = json!(0);
            if offset > 0 {
                view["byteOffset"] = json!(offset + index(view, "byteOffset").unwrap_or(0));
            }
        }
        Some(&Err(outside)) => view["buffer"] = json!(outside),
        None => {}
    }
}

/// Images beside the file: number, bytes and type of each that is there. Data URIs and what is missing stay as they are.
pub(super) fn images(json: &mut Value, source: &Source) -> Vec<(usize, Vec<u8>, String)> {
    let mut found = Vec::new();
    for (at, image) in list(json, "images").iter().enumerate() {
        let Some(uri) = image["uri"].as_str().filter(|uri| !uri.starts_with("data:")) else { continue };
        let Some(bytes) = source.side_file(uri) else { continue };
        let said = image["mimeType"].as_str();
        if let Some(mime) = picture_type(&bytes).or(said) {
            found.push((at, bytes, mime.to_owned()));
        }
    }
    found
}
