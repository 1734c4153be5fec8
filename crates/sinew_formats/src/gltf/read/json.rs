//! JSON text to [`Root`], with the place of every fault.

use super::container::Container;
use crate::gltf::schema::{self, Root};
use crate::{Fault, Place};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Above this size a broken text is not searched for further faults: only the first is reported.
const MAX_DIAGNOSED: usize = 16 << 20;

/// Parse the text. If it is not of the right shape, every element that is wrong is named.
pub(in crate::gltf) fn parse_root(container: &Container) -> Result<Root, Vec<Fault>> {
    // GLB pads with spaces; some exporters pad with zeros instead.
    let padding = container.json.iter().rev().take_while(|&&byte| byte == 0).count();
    let text = &container.json[..container.json.len() - padding];
    if let Err(error) = std::str::from_utf8(text) {
        let at = container.json_start + error.valid_up_to();
        return Err(vec![Fault::new(Place::Byte(at as u64), "the JSON text is not valid UTF-8")]);
    }
    let error = match serde_json::from_slice::<Root>(text) {
        Ok(root) => return Ok(root),
        Err(error) => error,
    };
    let first = Fault::new(place_of(&error, text, container), without_place(&error));
    if !error.is_data() || text.len() > MAX_DIAGNOSED {
        return Err(vec![first.with_remedy("the JSON text is broken; export the file again")]);
    }
    let faults = serde_json::from_slice(text).map(|value| diagnose(&value)).unwrap_or_default();
    Err(if faults.is_empty() { vec![first] } else { faults })
}

/// Check every element on its own, so that one wrong element does not hide the next.
fn diagnose(root: &Value) -> Vec<Fault> {
    let mut faults = Vec::new();
    check_one::<schema::Asset>(root, "asset", &mut faults);
    check_one::<Option<usize>>(root, "scene", &mut faults);
    check_one::<schema::Object>(root, "extensions", &mut faults);
    check_each::<String>(root, "extensionsUsed", &mut faults);
    check_each::<String>(root, "extensionsRequired", &mut faults);
    check_each::<schema::Scene>(root, "scenes", &mut faults);
    check_each::<schema::Node>(root, "nodes", &mut faults);
    check_each::<schema::Mesh>(root, "meshes", &mut faults);
    check_each::<schema::Skin>(root, "skins", &mut faults);
    check_each::<schema::Animation>(root, "animations", &mut faults);
    check_each::<schema::Material>(root, "materials", &mut faults);
    check_each::<schema::Texture>(root, "textures", &mut faults);
    check_each::<schema::Image>(root, "images", &mut faults);
    check_each::<schema::Accessor>(root, "accessors", &mut faults);
    check_each::<schema::BufferView>(root, "bufferViews", &mut faults);
    check_each::<schema::Buffer>(root, "buffers", &mut faults);
    faults
}

fn check_one<T: DeserializeOwned>(root: &Value, key: &str, faults: &mut Vec<Fault>) {
    if let Some(value) = root.get(key) {
        check::<T>(value, format!("/{key}"), faults);
    }
}

fn check_each<T: DeserializeOwned>(root: &Value, key: &str, faults: &mut Vec<Fault>) {
    match root.get(key) {
        Some(Value::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                check::<T>(item, format!("/{key}/{index}"), faults);
            }
        }
        Some(_) => faults.push(Fault::json(format!("/{key}"), "must be an array")),
        None => {}
    }
}

fn check<T: DeserializeOwned>(value: &Value, path: String, faults: &mut Vec<Fault>) {
    if let Err(error) = T::deserialize(value) {
        faults.push(Fault::json(path, without_place(&error)));
    }
}

/// The message without "at line 1 column 5", which is the fault's place.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

fn place_of(error: &serde_json::Error, text: &[u8], container: &Container) -> Place {
    if !container.binary {
        return Place::Line(error.line());
    }
    let line_start = match error.line() {
        0 | 1 => 0,
        line => memchr::memchr_iter(b'\n', text).nth(line - 2).map_or(0, |at| at + 1),
    };
    Place::Byte((container.json_start + line_start + error.column().saturating_sub(1)) as u64)
}
