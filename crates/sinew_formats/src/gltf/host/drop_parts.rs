//! A file without some of its parts.
//!
//! Numbers of nodes, meshes and accessors do not change: nodes stay without their meshes, meshes that nobody shows stay as
//! points without data, and so do accessors, so that whatever refers to one by its number still means the same. Animations
//! that move nothing but the morphs of parts that are gone, and samplers without a channel, go; those behind them move up.

use super::super::extension::NAME;
use super::super::parts::{PartKey, SurfaceParts};
use super::super::read::{Source, map::PartMap, with_source};
use super::super::write::builder::unwritable;
use super::clips::drop_samplers;
use super::compact::{each_accessor, each_view};
use super::draft::Draft;
use super::references::renumbered;
use super::values::{index, list, member};
use crate::{FormatError, no_side_files};
use serde_json::{Value, json};
use sinew_geom::{Handle, Warnings};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The bytes of a GLB without the parts of these names.
///
/// # Errors
/// If the file cannot be read, or joins vertices of several parts.
pub(super) fn drop_parts(
    bytes: &[u8],
    name: &str,
    left_out: &BTreeSet<String>,
    warnings: &mut Warnings,
) -> Result<Vec<u8>, FormatError> {
    with_source(bytes, &no_side_files, name, &mut Warnings::default(), |source, _| {
        if !source.map.copies.is_empty() {
            return Err(unwritable("its vertices are joined across parts".into()));
        }
        let mut draft = Draft::new(&source)?;
        draft.pack(&mut Warnings::default());
        let gone = primitives_of(&source, left_out);
        let before = named(&draft.json, &BTreeSet::new());
        let (emptied, unused) = take_out(&mut draft, &gone);
        if drop_weights(&mut draft.json, &emptied) {
            renumbered(&draft.json).into_iter().for_each(|said| warnings.push(said));
        }
        let after = named(&draft.json, &unused);
        let views = empty_accessors(&mut draft.json, before.difference(&after));
        draft.shed(&views);
        write_own(&mut draft, &gone, &emptied);
        draft.finish()
    })
}

/// Primitives of each node that belong to parts of these names.
fn primitives_of(source: &Source, left_out: &BTreeSet<String>) -> HashMap<usize, HashSet<usize>> {
    let keyed = SurfaceParts::of_source(source);
    let named = keyed.parts.parts.iter().zip(&keyed.keys);
    let keys: HashSet<PartKey> =
        named.filter(|(part, _)| left_out.contains(&part.name)).map(|(_, key)| *key).collect();
    let root = source.decoder.root;
    let n = root.materials.len();
    let is_single = source.character.surface.face_materials.is_empty();
    let mut gone: HashMap<usize, HashSet<usize>> = HashMap::new();
    for part in &source.map.parts {
        for &at in &part.primitives {
            let material = root.meshes[part.mesh].primitives[at].material.filter(|&material| material < n);
            let material = if is_single { 0 } else { material.unwrap_or(n) };
            if keys.contains(&(part.node, material)) {
                gone.entry(part.node).or_default().insert(at);
            }
        }
    }
    gone
}

/// Take primitives out of the meshes of nodes; returns the nodes that have no mesh any more, and the meshes without a node.
fn take_out(draft: &mut Draft, gone: &HashMap<usize, HashSet<usize>>) -> (HashSet<usize>, BTreeSet<usize>) {
    let users = |json: &Value, mesh: usize| {
        list(json, "nodes").iter().filter(|node| index(node, "mesh") == Some(mesh)).count()
    };
    let mut nodes: Vec<usize> = gone.keys().copied().collect();
    nodes.sort_unstable();
    let (mut emptied, mut unused) = (HashSet::new(), Vec::new());
    for node in nodes {
        let Some(mesh) = index(&draft.json["nodes"][node], "mesh") else { continue };
        let n = list(&draft.json["meshes"][mesh], "primitives").len();
        if gone[&node].len() == n {
            let Some(object) = draft.json["nodes"][node].as_object_mut() else { continue };
            ["mesh", "skin", "weights"].iter().for_each(|key| drop(object.shift_remove(*key)));
            emptied.insert(node);
            unused.push(mesh);
            continue;
        }
        let mut kept = draft.json["meshes"][mesh].clone();
        let mut at = 0;
        member(&mut kept, "primitives").retain(|_| {
            at += 1;
            !gone[&node].contains(&(at - 1))
        });
        if users(&draft.json, mesh) > 1 {
            let copy = draft.push("meshes", kept);
            draft.json["nodes"][node]["mesh"] = json!(copy);
        } else {
            draft.json["meshes"][mesh] = kept;
        }
    }
    let unused: BTreeSet<usize> = unused.into_iter().filter(|&mesh| users(&draft.json, mesh) == 0).collect();
    for &mesh in &unused {
        if let Some(object) = draft.json["meshes"][mesh].as_object_mut() {
            object.shift_remove("weights");
        }
        for primitive in member(&mut draft.json["meshes"][mesh], "primitives") {
            let position = primitive["attributes"]["POSITION"].clone();
            *primitive = json!({ "attributes": { "POSITION": position }, "mode": 0 });
        }
    }
    (emptied, unused)
}

/// Drop channels that move the morphs of meshes that are gone, and animations that move nothing else; whether there were such
/// animations.
fn drop_weights(json: &mut Value, emptied: &HashSet<usize>) -> bool {
    let is_gone = |channel: &Value| {
        let target = &channel["target"];
        target["path"] == "weights" && index(target, "node").is_some_and(|node| emptied.contains(&node))
    };
    if !list(json, "animations").iter().any(|animation| list(animation, "channels").iter().any(is_gone)) {
        return false;
    }
    let n_before = list(json, "animations").len();
    for animation in member(json, "animations") {
        member(animation, "channels").retain(|channel| !is_gone(channel));
        drop_samplers(animation);
    }
    member(json, "animations").retain(|animation| !list(animation, "channels").is_empty());
    let n_after = list(json, "animations").len();
    if list(json, "animations").is_empty()
        && let Some(root) = json.as_object_mut()
    {
        root.shift_remove("animations");
    }
    n_after < n_before
}

/// Handles keep the vertices that are left, by their new numbers.
fn write_own(draft: &mut Draft, gone: &HashMap<usize, HashSet<usize>>, emptied: &HashSet<usize>) {
    if draft.json["extensions"].get(NAME).is_none() {
        return;
    }
    let source = draft.source;
    let is_gone = |part: &&PartMap| {
        gone.get(&part.node).is_some_and(|gone| part.primitives.iter().all(|at| gone.contains(at)))
    };
    let lost: Vec<_> = source.map.parts.iter().filter(is_gone).map(|part| part.vertices.clone()).collect();
    let number = |v: u32| {
        let v = v as usize;
        let before: usize = lost.iter().filter(|range| range.end <= v).map(|range| range.len()).sum();
        (!lost.iter().any(|range| range.contains(&v))).then_some((v - before) as u32)
    };
    let left = |handle: &Handle| {
        let kept = handle.vertices.iter().zip(&handle.weights);
        let (vertices, weights) = kept.filter_map(|(&v, &weight)| Some((number(v)?, weight))).unzip();
        Handle { vertices, weights, ..handle.clone() }
    };
    let handles: Vec<Value> =
        source.character.handles.iter().map(|handle| handle_of(draft, &left(handle))).collect();
    let own = &mut draft.json["extensions"][NAME];
    if !handles.is_empty() {
        own["handles"] = handles.into();
    }
    for morph in own.get_mut("morphs").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(targets) = morph.as_array_mut() {
            targets
                .retain(|target| target[0].as_u64().is_none_or(|node| !emptied.contains(&(node as usize))));
        }
    }
    if let Some(own) = own.as_object_mut() {
        own.shift_remove("source");
    }
}

fn handle_of(draft: &mut Draft, handle: &Handle) -> Value {
    serde_json::to_value(super::extension::handle_json(draft, handle)).unwrap_or_default()
}

/// Accessors that are named by anything but some meshes.
fn named(json: &Value, unused: &BTreeSet<usize>) -> HashSet<usize> {
    let others = list(json, "meshes").iter().enumerate().filter(|(at, _)| !unused.contains(at));
    let meshes: Vec<&Value> = others.map(|(_, mesh)| mesh).collect();
    let mut places = json!({ "meshes": meshes, "skins": json["skins"], "animations": json["animations"] });
    let mut found = HashSet::new();
    each_accessor(&mut places, &mut |value| found.extend(value.as_u64().map(|at| at as usize)));
    found
}

/// Turn accessors into zeros that take no bytes; returns the views that nothing names any more.
fn empty_accessors<'a>(json: &mut Value, accessors: impl Iterator<Item = &'a usize>) -> Vec<usize> {
    let mut views = HashSet::new();
    for &accessor in accessors {
        let Some(object) = json["accessors"][accessor].as_object_mut() else { continue };
        let sparse = object.shift_remove("sparse").unwrap_or_default();
        let own = object.shift_remove("bufferView");
        let below = ["indices", "values"].map(|key| index(&sparse[key], "bufferView"));
        views.extend(
            own.and_then(|view| view.as_u64())
                .map(|view| view as usize)
                .into_iter()
                .chain(below.into_iter().flatten()),
        );
        object.shift_remove("byteOffset");
        for bound in ["min", "max"] {
            let values = object.get_mut(bound).and_then(Value::as_array_mut);
            values.into_iter().flatten().for_each(|value| *value = json!(0));
        }
    }
    each_view(json, &mut |value| {
        value.as_u64().map(|view| views.remove(&(view as usize)));
    });
    let mut views: Vec<usize> = views.into_iter().collect();
    views.sort_unstable();
    views
}
