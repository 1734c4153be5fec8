//! Parts of a glTF file: chunks, buffers, numbers, triangles and transforms of nodes.

use anyhow::Context;
use glam::{DMat4, DQuat, DVec3};
use serde_json::Value;
use std::{fs, path::Path};

/// The JSON of a file, and its binary chunk if there is one.
pub fn split(bytes: &[u8]) -> anyhow::Result<(Value, Option<&[u8]>)> {
    if !bytes.starts_with(b"glTF") {
        return Ok((serde_json::from_slice(bytes)?, None));
    }
    let chunk = |at: usize| -> Option<&[u8]> {
        let length = u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize;
        bytes.get(at + 8..at + 8 + length)
    };
    let json = chunk(12).context("the file ends in its JSON")?;
    Ok((serde_json::from_slice(json)?, chunk(20 + json.len())))
}

/// All buffers of a file.
pub fn buffers(json: &Value, chunk: Option<&[u8]>, folder: &Path) -> anyhow::Result<Vec<Vec<u8>>> {
    let read = |buffer: &Value| match buffer["uri"].as_str() {
        None => Ok(chunk.unwrap_or_default().to_vec()),
        Some(uri) if uri.starts_with("data:") => {
            let text = uri.split_once(',').map_or("", |(_, text)| text);
            base64::Engine::decode(&base64::engine::general_purpose::STANDARD, text).context("a data URI")
        }
        Some(uri) => {
            let path = folder.join(uri.replace("%20", " "));
            fs::read(&path).with_context(|| path.display().to_string())
        }
    };
    list(json, "buffers").iter().map(read).collect()
}

pub(super) fn number(bytes: &[u8], kind: u64, is_unit: bool) -> f64 {
    let two = || [bytes[0], bytes[1]];
    let four = || [bytes[0], bytes[1], bytes[2], bytes[3]];
    let (value, unit) = match kind {
        5120 => (f64::from(bytes[0] as i8), 127.0),
        5121 => (f64::from(bytes[0]), 255.0),
        5122 => (f64::from(i16::from_le_bytes(two())), 32767.0),
        5123 => (f64::from(u16::from_le_bytes(two())), 65535.0),
        5125 => (f64::from(u32::from_le_bytes(four())), 4_294_967_295.0),
        _ => (f64::from(f32::from_le_bytes(four())), 1.0),
    };
    if is_unit { (value / unit).max(-1.0) } else { value }
}

/// Triangles, strips and fans; lines and points have none.
pub(super) fn triangles(indices: &[u32], mode: u64) -> Box<dyn Iterator<Item = [u32; 3]> + '_> {
    match mode {
        4 => Box::new(indices.chunks_exact(3).map(|f| [f[0], f[1], f[2]])),
        5 => Box::new(
            indices
                .windows(3)
                .enumerate()
                .map(|(k, f)| if k % 2 == 0 { [f[0], f[1], f[2]] } else { [f[1], f[0], f[2]] }),
        ),
        6 => Box::new(indices.windows(2).skip(1).map(|f| [indices[0], f[0], f[1]])),
        _ => Box::new(std::iter::empty()),
    }
}

/// The members of a list, none if it is not there.
pub fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

pub(super) fn index(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|n| usize::try_from(n).ok())
}

pub(super) fn floats<const N: usize>(value: &Value, default: [f64; N]) -> [f64; N] {
    let numbers: Vec<f64> = value.as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
    numbers.try_into().unwrap_or(default)
}

pub(super) fn translation_rotation_scale(node: &Value) -> (DVec3, DQuat, DVec3) {
    if let Some(matrix) = node_matrix(node) {
        let (s, r, t) = matrix.to_scale_rotation_translation();
        return (t, r, s);
    }
    let rotation = DQuat::from_array(floats(&node["rotation"], [0.0, 0.0, 0.0, 1.0]));
    let vector = |key: &str, default: f64| DVec3::from_array(floats(&node[key], [default; 3]));
    (vector("translation", 0.0), rotation.normalize(), vector("scale", 1.0))
}

pub(super) fn node_matrix(node: &Value) -> Option<DMat4> {
    node["matrix"]
        .is_array()
        .then(|| DMat4::from_cols_array(&floats(&node["matrix"], DMat4::IDENTITY.to_cols_array())))
}
