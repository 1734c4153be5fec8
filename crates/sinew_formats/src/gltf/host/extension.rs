//! Our own root extension in a file of others.

use super::super::extension::{JointJson, NAME, SinewCharacter, VERSION};
use super::super::write::{GlbOptions, write_handle};
use super::compact::named_views;
use super::draft::Draft;
use super::morphs::TargetPlan;
use super::nodes::Joints;
use super::values::{list, member};
use serde_json::{Map, Value, json};
use sinew_geom::{Character, Handle};
use std::collections::HashSet;

/// Write handles, degrees of freedom and what a project says. `first_view` is where the views of the options begin.
pub(super) fn write_extensions(
    draft: &mut Draft,
    now: &Character,
    joints: &Joints,
    plan: &TargetPlan,
    options: &GlbOptions,
    first_view: usize,
) {
    let mut own = draft.extension.clone();
    own.version = VERSION;
    if now.handles != draft.source.character.handles {
        own.handles = now.handles.iter().map(|handle| handle_json(draft, handle)).collect();
    }
    let rig = now.rig.as_ref().map_or(&[][..], |rig| rig.joints());
    let joint = |(at, joint)| JointJson::of(joint, joints.node(at)?);
    own.joints = rig.iter().enumerate().filter_map(joint).collect();
    own.morphs = shared_morphs(draft, now, plan);
    let mut fields = options.extensions.get(NAME).and_then(Value::as_object).cloned();
    // A project is opened and written again and again: what it added is found by this.
    own.source = (fields.is_some() || own.source.is_some()).then_some(draft.size);
    for (name, value) in options.extensions.iter().filter(|(name, _)| *name != NAME) {
        if draft.json["extensions"].get(name).is_none() {
            insert(draft, name, value.clone());
        }
    }
    for value in fields.iter_mut().flat_map(|fields| fields.values_mut()) {
        named_views(value, &mut |view| *view = json!(first_view as u64 + view.as_u64().unwrap_or(0)));
    }
    let bare = SinewCharacter { source: None, ..own.clone() };
    if fields.is_none() && bare.is_empty() {
        return remove(draft);
    }
    let mut fields = fields.unwrap_or_default();
    if let Ok(Value::Object(own)) = serde_json::to_value(own) {
        fields.extend(own);
    }
    insert(draft, NAME, Value::Object(fields));
}

pub(super) fn handle_json(draft: &mut Draft, handle: &Handle) -> super::super::extension::HandleJson {
    let mut written = write_handle(&mut draft.builder, handle);
    written.vertices = written.vertices.map(|view| draft.view(view));
    written.weights = written.weights.map(|view| draft.view(view));
    written
}

/// Morphs of the whole character that were added, with all places where they are.
fn shared_morphs(draft: &Draft, now: &Character, plan: &TargetPlan) -> Vec<Vec<[usize; 2]>> {
    if plan.instances.len() < 2 {
        return Vec::new();
    }
    let listed: HashSet<[usize; 2]> = draft.extension.morphs.iter().flatten().copied().collect();
    let mut is_own = vec![false; now.morphs.len()];
    let mut places: Vec<Vec<[usize; 2]>> = vec![Vec::new(); now.morphs.len()];
    for instance in &plan.instances {
        for (at, target) in instance.targets.iter().enumerate() {
            places[target.morph].push([instance.node, at]);
            is_own[target.morph] |=
                target.before.is_some_and(|before| !listed.contains(&[instance.node, before]));
        }
    }
    places.into_iter().zip(is_own).filter(|(_, is_own)| !is_own).map(|(places, _)| places).collect()
}

fn insert(draft: &mut Draft, name: &str, value: Value) {
    if draft.json["extensions"].get(name) == Some(&value) {
        return;
    }
    if !draft.json["extensions"].is_object() {
        draft.json["extensions"] = Value::Object(Map::new());
    }
    draft.json["extensions"][name] = value;
    if !list(&draft.json, "extensionsUsed").iter().any(|used| used == name) {
        member(&mut draft.json, "extensionsUsed").push(json!(name));
    }
}

fn remove(draft: &mut Draft) {
    let Some(extensions) = draft.json.get_mut("extensions").and_then(Value::as_object_mut) else { return };
    if extensions.shift_remove(NAME).is_none() {
        return;
    }
    let is_empty = extensions.is_empty();
    member(&mut draft.json, "extensionsUsed").retain(|used| used != NAME);
    let no_uses = list(&draft.json, "extensionsUsed").is_empty();
    if let Some(root) = draft.json.as_object_mut() {
        for (key, is_empty) in [("extensions", is_empty), ("extensionsUsed", no_uses)] {
            if is_empty {
                root.shift_remove(key);
            }
        }
    }
}
