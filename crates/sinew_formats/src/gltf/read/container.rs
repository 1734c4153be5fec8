//! The outer layer: a GLB's chunks, or a plain JSON text.

use crate::{Fault, Place};

/// The two parts of a glTF file.
pub(in crate::gltf) struct Container<'a> {
    pub json: &'a [u8],
    /// Offset of the JSON text in the file.
    pub json_start: usize,
    pub bin: Option<&'a [u8]>,
    /// Whether the file is a GLB: then faults of the JSON text have byte offsets instead of lines.
    pub binary: bool,
}

const HEADER: usize = 12;
const JSON_CHUNK: u32 = 0x4E4F_534A;
const BIN_CHUNK: u32 = 0x004E_4942;

/// Split the file. Lengths in the headers are never trusted beyond the available bytes.
pub(in crate::gltf) fn split_container(bytes: &[u8]) -> Result<Container<'_>, Fault> {
    if bytes.is_empty() {
        return Err(Fault::new(Place::Whole, "the file is empty"));
    }
    if bytes.starts_with(b"glTF") {
        return split_glb(bytes);
    }
    let start = if bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    let text = &bytes[start..];
    if text.trim_ascii_start().first() != Some(&b'{') {
        return Err(Fault::new(
            Place::Byte(0),
            "this is neither a GLB (no `glTF` at its start) nor JSON text",
        )
        .with_remedy("check that the file is glTF 2.0"));
    }
    Ok(Container { json: text, json_start: start, bin: None, binary: false })
}

fn split_glb(bytes: &[u8]) -> Result<Container<'_>, Fault> {
    let cut_short = |at: usize, cause: String| {
        Err(Fault::new(Place::Byte(at as u64), cause).with_remedy("the file was cut short; copy it again"))
    };
    let (Some(version), Some(length)) = (u32_at(bytes, 4), u32_at(bytes, 8)) else {
        return cut_short(bytes.len(), format!("a GLB header has 12 bytes, found {}", bytes.len()));
    };
    if version != 2 {
        return Err(Fault::new(Place::Byte(4), format!("GLB version {version} is not supported"))
            .with_remedy("convert the file to glTF 2.0"));
    }
    let length = length as usize;
    if length > bytes.len() {
        return cut_short(8, format!("the header promises {length} bytes, found {}", bytes.len()));
    }
    let bytes = &bytes[..length.max(HEADER)];
    let (kind, json) = chunk_at(bytes, HEADER)?;
    if kind != JSON_CHUNK {
        return Err(Fault::new(Place::Byte(16), format!("the first chunk is of type {kind:#x}, not JSON")));
    }
    let json_start = HEADER + 8;
    let mut at = (json_start + json.len()).next_multiple_of(4);
    let mut bin = None;
    // Chunks of other types may follow and must be ignored.
    while bin.is_none() && at < bytes.len() {
        let (kind, data) = chunk_at(bytes, at)?;
        bin = (kind == BIN_CHUNK).then_some(data);
        at = (at + 8 + data.len()).next_multiple_of(4);
    }
    // Some exporters write a byte order mark even here.
    let mark = if json.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    Ok(Container { json: &json[mark..], json_start: json_start + mark, bin, binary: true })
}

fn chunk_at(bytes: &[u8], at: usize) -> Result<(u32, &[u8]), Fault> {
    let fault = |cause| {
        Err(Fault::new(Place::Byte(at as u64), cause).with_remedy("the file was cut short; copy it again"))
    };
    let (Some(length), Some(kind)) = (u32_at(bytes, at), u32_at(bytes, at + 4)) else {
        return fault("a chunk header is cut short".to_owned());
    };
    let (start, length) = (at + 8, length as usize);
    match bytes.get(start..start.saturating_add(length)) {
        Some(data) => Ok((kind, data)),
        None => fault(format!("the chunk promises {length} bytes, only {} follow", bytes.len() - start)),
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}
