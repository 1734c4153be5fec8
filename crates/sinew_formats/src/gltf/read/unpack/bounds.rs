//! Bounds of accessors whose values were decoded: files state those of the values before they were compressed.

use crate::gltf::read::accessor::width_of;
use serde_json::{Value, json};

/// Reads a number.
type Read = fn(&[u8]) -> f64;

/// Bytes of a number and how it is read.
fn number(component_type: u64) -> Option<(usize, Read)> {
    fn of<const N: usize>(bytes: &[u8]) -> [u8; N] {
        bytes.try_into().unwrap_or([0; N])
    }
    Some(match component_type {
        5120 => (1, |b| f64::from(i8::from_le_bytes(of(b)))),
        5121 => (1, |b| f64::from(u8::from_le_bytes(of(b)))),
        5122 => (2, |b| f64::from(i16::from_le_bytes(of(b)))),
        5123 => (2, |b| f64::from(u16::from_le_bytes(of(b)))),
        5125 => (4, |b| f64::from(u32::from_le_bytes(of(b)))),
        5126 => (4, |b| f64::from(f32::from_le_bytes(of(b)))),
        _ => return None,
    })
}

/// State the bounds again of every accessor that states them and whose view was decoded. `bin` is what views refer to.
pub(super) fn restate(json: &mut Value, is_decoded: impl Fn(usize) -> bool, bin: &[u8]) {
    let views = json["bufferViews"].as_array().cloned().unwrap_or_default();
    for accessor in json["accessors"].as_array_mut().into_iter().flatten() {
        let index = |value: &Value| value.as_u64().map(|at| at as usize);
        let has_bounds = accessor.get("min").is_some() || accessor.get("max").is_some();
        let Some(view) = index(&accessor["bufferView"]).filter(|&view| has_bounds && is_decoded(view)) else {
            continue;
        };
        if accessor.get("sparse").is_some() {
            continue;
        }
        let Some(bounds) = bounds_of(accessor, &views[view], bin) else { continue };
        for (key, values) in ["min", "max"].into_iter().zip(bounds) {
            // Whole numbers are written as such.
            let is_float = accessor["componentType"] == 5126;
            let value = |x: f64| if is_float { json!(x) } else { json!(x as i64) };
            accessor[key] = values.into_iter().map(value).collect();
        }
    }
}

fn bounds_of(accessor: &Value, view: &Value, bin: &[u8]) -> Option<[Vec<f64>; 2]> {
    let index = |value: &Value| value.as_u64().unwrap_or(0) as usize;
    let (size, read) = number(accessor["componentType"].as_u64()?)?;
    let width = width_of(accessor["type"].as_str()?)?;
    let stride = view["byteStride"].as_u64().map_or(width * size, |stride| stride as usize);
    let bytes = bin.get(index(&view["byteOffset"])..)?.get(..index(&view["byteLength"]))?;
    let bytes = bytes.get(index(&accessor["byteOffset"])..)?;
    let n = index(&accessor["count"]);
    let (mut low, mut high) = (vec![f64::INFINITY; width], vec![f64::NEG_INFINITY; width]);
    for element in 0..n {
        let element = bytes.get(element.checked_mul(stride)?..)?.get(..width * size)?;
        for (k, bytes) in element.chunks_exact(size).enumerate() {
            let value = read(bytes);
            (low[k], high[k]) = (low[k].min(value), high[k].max(value));
        }
    }
    let is_usable = n > 0 && low.iter().chain(&high).all(|x| x.is_finite());
    is_usable.then_some([low, high])
}
