//! Compressed glTF files, made plain ones before anything else reads them.
//!
//! # Source
//! Khronos Group, `KHR_meshopt_compression`, `EXT_meshopt_compression`, `KHR_draco_mesh_compression`.
//! # Cost
//! Files without compression: one search for its name in the JSON text. Others are decoded and built again once.
//! # Limits
//! Numbers of nodes, meshes, accessors and buffer views stay what they are; new views are appended. Memory is charged to the
//! budget of all accessors before it is allocated.

mod attributes;
mod bounds;
mod draco;
mod filters;
mod indices;
mod primitives;

use super::accessor::{Decoder, width_of};
use super::{container, json, resource::Buffers};
use crate::gltf::{
    pack_glb,
    schema::{Object, Root},
};
use crate::{Fault, FormatError, side_files::SideFiles};
use filters::Filter;
use serde::Deserialize;
use serde_json::{Value, json};
use sinew_geom::Warnings;
use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

const MESHOPT: [&str; 2] = ["KHR_meshopt_compression", "EXT_meshopt_compression"];
const DRACO: &str = "KHR_draco_mesh_compression";

/// What to do about streams that cannot be decoded.
const REMEDY: &str = "the file is damaged; export it again, or without compression";

/// Whether an extension is one that this module takes out of files.
pub(super) fn is_unpacked(extension: &str) -> bool {
    extension == DRACO || MESHOPT.contains(&extension)
}

/// The file without compression: itself if it has none, else a GLB that holds everything but pictures beside it.
///
/// # Errors
/// Every stream that cannot be decoded. Files that are broken otherwise are left to the reader.
pub(super) fn unpacked<'a>(
    bytes: &'a [u8],
    side: SideFiles,
    name: &str,
    warnings: &mut Warnings,
) -> Result<Cow<'a, [u8]>, FormatError> {
    let Ok(container) = container::split_container(bytes) else { return Ok(bytes.into()) };
    if memchr::memmem::find(container.json, b"_compression").is_none() {
        return Ok(bytes.into());
    }
    let Ok(root) = json::parse_root(&container) else { return Ok(bytes.into()) };
    let names = compressions(&root);
    if names.is_empty() {
        return Ok(bytes.into());
    }
    let text = container.json.trim_ascii_end();
    let text = &text[..text.len() - text.iter().rev().take_while(|&&byte| byte == 0).count()];
    let json = serde_json::from_slice::<Value>(text).ok().filter(is_regular);
    let Some(json) = json else { return Ok(bytes.into()) };
    let buffers = Buffers::load(&root, container.bin, side);
    let decoder = Decoder::new(&root, buffers, bytes.len());
    let mut plain = Plain::new(json, &decoder);
    let mut faults = Vec::new();
    plain.decode_views(&mut faults);
    plain.decode_primitives(&mut faults);
    if !faults.is_empty() {
        return Err(FormatError::faults(name, faults));
    }
    warnings.push(format!("the file is compressed ({}); it is kept without compression", names.join(", ")));
    Ok(plain.finish()?.into())
}

/// Compressions that a file has or names.
fn compressions(root: &Root) -> Vec<&'static str> {
    let named = root.extensions_used.iter().chain(&root.extensions_required);
    let of_views = root.buffer_views.iter().flat_map(|view| view.extensions.keys());
    let of_primitives =
        root.meshes.iter().flat_map(|mesh| &mesh.primitives).flat_map(|p| p.extensions.keys());
    let all: BTreeSet<&str> = named.chain(of_views).chain(of_primitives).map(String::as_str).collect();
    MESHOPT.into_iter().chain([DRACO]).filter(|name| all.contains(name)).collect()
}

/// Whether objects are objects: structures are also read from lists.
fn is_regular(json: &Value) -> bool {
    let all = |list: &Value, check: &dyn Fn(&Value) -> bool| match list {
        Value::Array(list) => list.iter().all(check),
        other => other.is_null(),
    };
    let is_primitive = |value: &Value| value.is_object() && value["attributes"].is_object();
    json.is_object()
        && all(&json["bufferViews"], &Value::is_object)
        && all(&json["accessors"], &Value::is_object)
        && all(&json["meshes"], &|mesh| mesh.is_object() && all(&mesh["primitives"], &is_primitive))
}

/// What a buffer view becomes.
enum View {
    /// What it was.
    Kept,
    /// Decoded bytes.
    Decoded(Vec<u8>),
    /// Decoded bytes with a stride and a target of their own.
    Made { bytes: Vec<u8>, stride: Option<usize>, target: u32 },
}

/// A file that is being made plain.
struct Plain<'a> {
    json: Value,
    decoder: &'a Decoder<'a>,
    views: Vec<View>,
    /// Accessors that were given a view, with the view and the attribute they were decoded from.
    made: BTreeMap<usize, (usize, u32)>,
}

/// The extension of a buffer view.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Meshopt {
    buffer: usize,
    #[serde(default)]
    byte_offset: u64,
    byte_length: u64,
    byte_stride: u64,
    count: u64,
    mode: String,
    filter: Option<String>,
}

impl<'a> Plain<'a> {
    fn new(json: Value, decoder: &'a Decoder<'a>) -> Self {
        let views = decoder.root.buffer_views.iter().map(|_| View::Kept).collect();
        Self { json, decoder, views, made: BTreeMap::new() }
    }

    fn decode_views(&mut self, faults: &mut Vec<Fault>) {
        for (index, view) in self.decoder.root.buffer_views.iter().enumerate() {
            for name in MESHOPT {
                let Some(extension) = view.extensions.get(name) else { continue };
                let path = format!("/bufferViews/{index}/extensions/{name}");
                match decode_view(self.decoder, extension, &path) {
                    Ok(bytes) => self.views[index] = View::Decoded(bytes),
                    Err(fault) => faults.push(fault),
                }
            }
        }
    }

    /// The bytes of the plain file.
    fn finish(mut self) -> Result<Vec<u8>, FormatError> {
        let mut bin = Vec::new();
        let placed = Placed::new(self.decoder, &self.views, &mut bin);
        let views = self.json["bufferViews"].as_array_mut().map(std::mem::take).unwrap_or_default();
        let mut views: Vec<Value> = views;
        views.resize(self.views.len(), json!({}));
        let mut broken = Vec::new();
        for (index, (json, view)) in views.iter_mut().zip(&self.views).enumerate() {
            let mut decoded = |json: &mut Value, bytes: &[u8]| {
                bin.resize(bin.len().next_multiple_of(16), 0);
                json["buffer"] = json!(0);
                json["byteOffset"] = json!(bin.len());
                json["byteLength"] = json!(bytes.len());
                bin.extend_from_slice(bytes);
            };
            match view {
                View::Kept => match placed.place(index) {
                    Some((buffer, offset)) => {
                        json["buffer"] = json!(buffer);
                        json["byteOffset"] = json!(offset);
                    }
                    None => broken.push(index),
                },
                View::Decoded(bytes) => decoded(json, bytes),
                View::Made { bytes, stride, target } => {
                    *json = json!({});
                    decoded(json, bytes);
                    if let Some(stride) = stride {
                        json["byteStride"] = json!(stride);
                    }
                    json["target"] = json!(target);
                }
            }
            drop_extensions(json);
        }
        // What did not fit its buffer must not fit the new one either.
        for index in broken {
            views[index]["buffer"] = json!(0);
            views[index]["byteOffset"] = json!(bin.len() + 1);
        }
        if !views.is_empty() {
            self.json["bufferViews"] = views.into();
        }
        let mut buffers = vec![json!({ "byteLength": bin.len() })];
        buffers.extend(placed.outside.iter().map(|&at| self.json["buffers"][at].clone()));
        self.json["buffers"] = buffers.into();
        for mesh in self.json["meshes"].as_array_mut().into_iter().flatten() {
            mesh["primitives"].as_array_mut().into_iter().flatten().for_each(drop_extensions);
        }
        for key in ["extensionsUsed", "extensionsRequired"] {
            let Some(list) = self.json.get_mut(key).and_then(Value::as_array_mut) else { continue };
            list.retain(|name| !name.as_str().is_some_and(is_unpacked));
            if list.is_empty() {
                self.json.as_object_mut().map(|root| root.shift_remove(key));
            }
        }
        bounds::restate(
            &mut self.json,
            |view| matches!(self.views.get(view), Some(View::Decoded(_) | View::Made { .. })),
            &bin,
        );
        pack_glb(&self.json, &bin)
    }
}

/// Take the extensions of compression out of an object.
fn drop_extensions(object: &mut Value) {
    let Some(extensions) = object.get_mut("extensions").and_then(Value::as_object_mut) else { return };
    extensions.retain(|name, _| !is_unpacked(name));
    if extensions.is_empty() {
        object.as_object_mut().map(|object| object.shift_remove("extensions"));
    }
}

fn decode_view(decoder: &Decoder, extension: &Value, path: &str) -> Result<Vec<u8>, Fault> {
    let fault = |cause: String| Fault::json(path, cause).with_remedy(REMEDY);
    let what = Meshopt::deserialize(extension).map_err(|error| fault(error.to_string()))?;
    let stream = decoder.part_of_buffer(what.buffer, what.byte_offset, what.byte_length, path)?;
    let (stride, count) = (what.byte_stride as usize, what.count as usize);
    let filter = what.filter.as_deref().unwrap_or("NONE");
    decoder.charge(what.count, stride.clamp(1, 256), path)?;
    let decoded = match what.mode.as_str() {
        "ATTRIBUTES" => {
            if stride == 0 || stride > 256 || !stride.is_multiple_of(4) {
                return Err(fault(format!("byteStride {stride} is not a multiple of 4 from 4 to 256")));
            }
            let cause = || fault(format!("the filter {filter:?} is not known for {stride} bytes"));
            let filter = Filter::new(filter, stride).ok_or_else(cause)?;
            attributes::decode(stream, count, stride).map(|mut bytes| {
                filter.undo(&mut bytes, stride);
                bytes
            })
        }
        "TRIANGLES" | "INDICES" if !matches!(stride, 2 | 4) => {
            return Err(fault(format!("byteStride {stride} is neither 2 nor 4")));
        }
        "TRIANGLES" if !count.is_multiple_of(3) => {
            return Err(fault(format!("{count} is not a number of corners of triangles")));
        }
        "TRIANGLES" => indices::decode_triangles(stream, count).map(|values| index_bytes(&values, stride)),
        "INDICES" => indices::decode_sequence(stream, count).map(|values| index_bytes(&values, stride)),
        other => return Err(fault(format!("the mode {other:?} is unknown"))),
    };
    decoded.map_err(fault)
}

fn index_bytes(values: &[u32], size: usize) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes().into_iter().take(size)).collect()
}

/// Where the bytes of views that stay as they are went.
struct Placed<'a> {
    root: &'a Root,
    /// Per buffer, ranges of its bytes that do not overlap, and where each begins now.
    ranges: BTreeMap<usize, Vec<(Range<u64>, usize)>>,
    /// Buffers that cannot be read and stay outside of the file.
    outside: Vec<usize>,
}

impl<'a> Placed<'a> {
    /// Copy the bytes that views name, each once.
    fn new(decoder: &'a Decoder, views: &[View], bin: &mut Vec<u8>) -> Self {
        let root = decoder.root;
        let mut of_buffers: BTreeMap<usize, Vec<Range<u64>>> = BTreeMap::new();
        for (view, _) in root.buffer_views.iter().zip(views).filter(|(_, new)| matches!(new, View::Kept)) {
            let end = view.byte_offset.saturating_add(view.byte_length);
            of_buffers.entry(view.buffer).or_default().push(view.byte_offset..end);
        }
        let (mut ranges, mut outside) = (BTreeMap::new(), Vec::new());
        for (buffer, mut wanted) in of_buffers {
            let Ok(bytes) = decoder.buffer(buffer) else {
                if buffer < root.buffers.len() {
                    outside.push(buffer);
                }
                continue;
            };
            wanted.retain(|range| range.end <= bytes.len() as u64);
            wanted.sort_by_key(|range| range.start);
            let mut joined: Vec<Range<u64>> = Vec::new();
            for range in wanted {
                match joined.last_mut().filter(|last| range.start <= last.end) {
                    Some(last) => last.end = last.end.max(range.end),
                    None => joined.push(range),
                }
            }
            let copied = joined.into_iter().map(|range| {
                // The same offset within 16 bytes as before keeps every alignment.
                let at = bin.len().next_multiple_of(16) + (range.start % 16) as usize;
                bin.resize(at, 0);
                bin.extend_from_slice(&bytes[range.start as usize..range.end as usize]);
                (range, at)
            });
            ranges.insert(buffer, copied.collect());
        }
        Self { root, ranges, outside }
    }

    /// Buffer and offset of a view now; nothing if it did not fit its buffer.
    fn place(&self, view: usize) -> Option<(usize, u64)> {
        let view = &self.root.buffer_views[view];
        if let Some(at) = self.outside.iter().position(|&buffer| buffer == view.buffer) {
            return Some((1 + at, view.byte_offset));
        }
        let end = view.byte_offset.saturating_add(view.byte_length);
        let ranges = self.ranges.get(&view.buffer)?;
        let (range, at) =
            ranges.iter().find(|(range, _)| range.start <= view.byte_offset && end <= range.end)?;
        Some((0, *at as u64 + view.byte_offset - range.start))
    }
}
