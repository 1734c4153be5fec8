//! Which nodes are shown: `KHR_node_visibility`, which hides a node with everything below it.

use super::super::parts::{SurfaceParts, VISIBILITY};
use super::super::read::{scene::Scene, surface_parts::hidden_nodes};
use super::draft::Draft;
use super::values::member;
use serde_json::{Value, json};
use sinew_geom::Warnings;
use std::collections::{BTreeMap, BTreeSet};

/// Hide the parts of these names and show all others. A part that shares its node with a visible one cannot be hidden in
/// the file, nor one above a visible one.
pub(super) fn write_visibility(draft: &mut Draft, hidden: &BTreeSet<String>, warnings: &mut Warnings) {
    let source = draft.source;
    let keyed = SurfaceParts::of_source(source);
    let mut wanted: BTreeMap<usize, Vec<(bool, &str)>> = BTreeMap::new();
    for (part, key) in keyed.parts.parts.iter().zip(&keyed.keys) {
        wanted.entry(key.0).or_default().push((!hidden.contains(&part.name), &part.name));
    }
    let is_shown: BTreeMap<usize, bool> =
        wanted.iter().map(|(&node, parts)| (node, parts.iter().any(|part| part.0))).collect();
    let before = hidden_nodes(source.decoder.root, source.scene);
    let mut stay: Vec<&str> = Vec::new();
    for (&node, &shown) in &is_shown {
        if shown && before.contains(&node) {
            show(&mut draft.json, source.scene, node);
        }
    }
    for (node, parts) in &wanted {
        let is_above = |&(other, &shown): &(&usize, &bool)| {
            shown && other != node && source.scene.chain(*other).any(|above| above == *node)
        };
        match is_shown[node] {
            true => stay.extend(parts.iter().filter(|part| !part.0).map(|part| part.1)),
            false if is_hidden(&draft.json, source.scene, *node) => {}
            false if is_shown.iter().any(|other| is_above(&other)) => {
                stay.extend(parts.iter().map(|part| part.1))
            }
            false => set_visible(&mut draft.json, *node, false),
        }
    }
    if !stay.is_empty() {
        warnings.push(format!(
            "{} cannot be hidden in the file itself: visible parts are at the same node or below it",
            stay.join(", ")
        ));
    }
}

/// Show a node, but nothing else that is hidden together with it.
fn show(json: &mut Value, scene: &Scene, node: usize) {
    let mut chain: Vec<usize> = scene.chain(node).collect();
    chain.reverse();
    for (at, &above) in chain.iter().enumerate() {
        if !hides(json, above) {
            continue;
        }
        set_visible(json, above, true);
        let next = chain.get(at + 1).copied();
        let children = json["nodes"][above]["children"].as_array().cloned().unwrap_or_default();
        let children = children.iter().filter_map(Value::as_u64).map(|child| child as usize);
        children.filter(|child| Some(*child) != next).for_each(|child| set_visible(json, child, false));
    }
}

fn hides(json: &Value, node: usize) -> bool {
    json["nodes"][node]["extensions"][VISIBILITY]["visible"] == false
}

fn is_hidden(json: &Value, scene: &Scene, node: usize) -> bool {
    scene.chain(node).any(|above| hides(json, above))
}

fn set_visible(json: &mut Value, node: usize, visible: bool) {
    let own = &mut json["nodes"][node]["extensions"][VISIBILITY];
    // Values that are no objects mean nothing, but may be there.
    if !own.is_object() {
        *own = json!({});
    }
    own["visible"] = json!(visible);
    let used = member(json, "extensionsUsed");
    if !used.iter().any(|name| name == VISIBILITY) {
        used.push(json!(VISIBILITY));
    }
}
