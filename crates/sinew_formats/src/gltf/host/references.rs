//! Who may refer to animations by their numbers: extensions that are not known here, of which nobody can say what their whole
//! numbers mean. Nodes, meshes, skins, materials and accessors are never renumbered, animations can be.

use super::super::extension::{NAME, has_index};
use serde_json::Value;
use std::collections::BTreeSet;

/// How names of extensions begin whose whole numbers do not mean animations.
const KNOWN: [&str; 12] = [
    NAME,
    "KHR_materials_",
    "EXT_materials_",
    "KHR_texture_",
    "EXT_texture_",
    "KHR_lights_",
    "EXT_lights_",
    "KHR_mesh_",
    "EXT_mesh_",
    "KHR_draco_",
    "KHR_node_",
    "VRM",
];

/// Names of the extensions that may refer to animations.
pub(super) fn referring(json: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    collect(json, &mut found);
    found
}

fn collect(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(fields) => {
            for (key, value) in fields {
                match (key.as_str(), value) {
                    ("extensions", Value::Object(extensions)) => {
                        let counts = |(name, value): &(&String, &Value)| {
                            !KNOWN.iter().any(|start| name.starts_with(start)) && has_index(value)
                        };
                        found.extend(extensions.iter().filter(counts).map(|(name, _)| name.clone()));
                    }
                    _ => collect(value, found),
                }
            }
        }
        _ => {}
    }
}

/// What to say when animations got other numbers; nothing if nobody refers to them.
pub(super) fn renumbered(json: &Value) -> Option<String> {
    let names: Vec<String> = referring(json).into_iter().collect();
    (!names.is_empty()).then(|| {
        format!(
            "animations were taken out of the file, and those behind them have other numbers: {} may refer to them by number, \
             which is not corrected; keep the clips, or check the result where it is used",
            names.join(", ")
        )
    })
}
