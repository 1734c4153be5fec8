//! Morphs back to the targets of the source's meshes.

use super::super::read::Source;
use super::super::read::map::PartMap;
use super::super::write::{builder::Builder, quantize::write_offsets};
use super::draft::Draft;
use super::values::{index, list};
use glam::{DAffine3, Vec3};
use serde_json::{Value, json};
use sinew_geom::{Character, Morph};
use std::collections::HashMap;

/// Which targets each mesh will have.
pub(super) struct TargetPlan {
    /// The present morph of each morph of the source, if it is still there.
    pub new_of: Vec<Option<usize>>,
    /// One for each instance of the source, in its order.
    pub instances: Vec<InstanceTargets>,
}

/// Targets of a mesh at a node.
pub(super) struct InstanceTargets {
    pub node: usize,
    pub mesh: usize,
    pub targets: Vec<NewTarget>,
    pub n_before: usize,
}

/// A target: its morph, and the number it had in the source.
#[derive(Clone, Copy)]
pub(super) struct NewTarget {
    pub morph: usize,
    pub before: Option<usize>,
}

impl InstanceTargets {
    /// Whether the source's targets are all there is, in the same order.
    pub fn is_same(&self) -> bool {
        let is_kept = |(at, target): (usize, &NewTarget)| target.before == Some(at);
        self.targets.len() == self.n_before && self.targets.iter().enumerate().all(is_kept)
    }

    /// The morph of each target.
    pub fn morphs(&self) -> Vec<usize> {
        self.targets.iter().map(|target| target.morph).collect()
    }
}

/// Find the source's morphs among the present ones, by name and order, and give new ones to the meshes that they move.
pub(super) fn plan(source: &Source, now: &Character) -> TargetPlan {
    let mut new_of = Vec::new();
    let mut next = 0;
    for old in &source.character.morphs {
        let found = now.morphs.iter().skip(next).position(|morph| morph.name == old.name);
        new_of.push(found.map(|at| next + at));
        next += found.map_or(0, |at| at + 1);
    }
    let mut instances: Vec<InstanceTargets> = Vec::new();
    for instance in &source.map.instances {
        let kept = |(at, &old): (usize, &usize)| Some(NewTarget { morph: new_of[old]?, before: Some(at) });
        let mut targets: Vec<NewTarget> = instance.morphs.iter().enumerate().filter_map(kept).collect();
        let parts = || source.map.parts.iter().filter(|part| part.node == instance.node);
        for (morph, of) in now.morphs.iter().enumerate() {
            let is_there = targets.iter().any(|target| target.morph == morph);
            if !is_there && parts().any(|part| moves(source, of, part)) {
                targets.push(NewTarget { morph, before: None });
            }
        }
        let (node, mesh, n_before) = (instance.node, instance.mesh, instance.morphs.len());
        instances.push(InstanceTargets { node, mesh, targets, n_before });
    }
    // A morph that moves nothing is kept for the clips that name it.
    let is_written = |morph: usize| instances.iter().any(|i| i.targets.iter().any(|t| t.morph == morph));
    let idle: Vec<usize> = (0..now.morphs.len()).filter(|&morph| !is_written(morph)).collect();
    if let Some(first) = instances.first_mut() {
        first.targets.extend(idle.into_iter().map(|morph| NewTarget { morph, before: None }));
        first.targets.sort_by_key(|target| (target.before.is_none(), target.before, target.morph));
    }
    TargetPlan { new_of, instances }
}

fn moves(source: &Source, morph: &Morph, part: &PartMap) -> bool {
    part.vertices.clone().any(|v| morph.offsets[source.map.vertex(v)] != Vec3::ZERO)
}

/// Targets of every primitive of a mesh, and the weights and names that belong to them; nothing if all is as it was.
pub(super) fn write_targets(
    draft: &mut Draft,
    now: &Character,
    instance: &InstanceTargets,
    parts: &[&PartMap],
    world: DAffine3,
) -> Option<MeshTargets> {
    let source = draft.source;
    let old_morphs = &source.map.instances.iter().find(|i| i.node == instance.node)?.morphs;
    let mesh_from_world = world.matrix3.inverse();
    if !mesh_from_world.is_finite() {
        return None;
    }
    let mut zeros: HashMap<usize, usize> = HashMap::new();
    let mut changed = !instance.is_same();
    let mesh = &source.decoder.root.meshes[instance.mesh];
    // Of each part and target, the new offsets; nothing where they are as they were.
    let mut written: Vec<Vec<Option<usize>>> = Vec::new();
    for part in parts {
        let vertices = || part.vertices.clone().map(|v| source.map.vertex(v));
        let mut row = Vec::new();
        for target in &instance.targets {
            let morph = &now.morphs[target.morph];
            let old = target.before.map(|at| &source.character.morphs[old_morphs[at]]);
            if old.is_some_and(|old| vertices().all(|v| old.offsets[v] == morph.offsets[v])) {
                row.push(None);
                continue;
            }
            changed = true;
            let local = |v: usize| (mesh_from_world * morph.offsets[v].as_dvec3()).as_vec3();
            let offsets: Vec<Vec3> = vertices().map(local).collect();
            let accessor = write_offsets(&mut draft.builder, &offsets, Builder::offsets);
            row.push(Some(draft.accessor(accessor)));
        }
        written.push(row);
    }
    if !changed {
        return None;
    }
    let mut primitives = Vec::new();
    for (at, primitive) in mesh.primitives.iter().enumerate() {
        let part = parts.iter().position(|part| part.primitives.contains(&at));
        let json = &draft.json["meshes"][instance.mesh]["primitives"][at];
        let old = list(json, "targets").to_vec();
        let position = primitive.attributes.get("POSITION").copied();
        let count =
            position.and_then(|at| source.decoder.root.accessors.get(at)).map_or(0, |a| a.count as usize);
        let mut targets: Vec<Value> = Vec::new();
        for (k, target) in instance.targets.iter().enumerate() {
            let known = target.before.and_then(|before| old.get(before));
            let accessor = part.and_then(|part| written[part][k]);
            let mut value = match known {
                Some(known) => known.clone(),
                None => {
                    let zero = *zeros.entry(count).or_insert_with(|| draft.builder.zeros(count));
                    let keys = old.first().and_then(Value::as_object).into_iter().flatten();
                    let keys = keys.map(|(key, _)| key.clone()).filter(|key| !key.starts_with('_'));
                    let zero = json!(draft.accessor(zero));
                    let mut value: Value = keys.map(|key| (key, zero.clone())).collect();
                    value["POSITION"] = zero;
                    value
                }
            };
            if let Some(accessor) = accessor {
                value["POSITION"] = json!(accessor);
            }
            targets.push(value);
        }
        primitives.push(targets);
    }
    Some(MeshTargets { primitives, targets: instance.targets.clone() })
}

/// New lists of targets of a mesh.
pub(super) struct MeshTargets {
    primitives: Vec<Vec<Value>>,
    targets: Vec<NewTarget>,
}

impl MeshTargets {
    /// Put them into a mesh.
    pub fn apply(&self, mesh: &mut Value, morphs: &[Morph]) {
        let old_names = list(&mesh["extras"], "targetNames").to_vec();
        let Some(primitives) = mesh.get_mut("primitives").and_then(Value::as_array_mut) else { return };
        for (primitive, targets) in primitives.iter_mut().zip(&self.primitives) {
            set_list(primitive, "targets", targets.clone());
        }
        let old: Vec<Value> = list(mesh, "weights").to_vec();
        let has_weights =
            !old.is_empty() || self.targets.iter().any(|t| morphs[t.morph].default_weight != 0.0);
        if has_weights || self.targets.iter().any(|target| target.before.is_none()) {
            set_list(mesh, "weights", self.weights(&old, morphs));
        }
        let name = |target: &NewTarget| match target.before {
            Some(before) => old_names.get(before).cloned().unwrap_or_else(|| json!(before.to_string())),
            None => json!(morphs[target.morph].name),
        };
        let is_plain = mesh.get("extras").is_none_or(|extras| extras.is_object() || extras.is_null());
        let is_named = !old_names.is_empty() || self.targets.iter().any(|target| target.before.is_none());
        if is_plain && is_named {
            mesh["extras"]["targetNames"] = self.targets.iter().map(name).collect();
        }
    }

    /// Weights of a mesh or a node, with those of new targets.
    pub fn weights(&self, old: &[Value], morphs: &[Morph]) -> Vec<Value> {
        let weight = |target: &NewTarget| {
            let own = morphs[target.morph].default_weight;
            match target.before {
                Some(before) => old.get(before).cloned().unwrap_or_else(|| json!(0.0)),
                None => json!(if own.is_finite() { own } else { 0.0 }),
            }
        };
        self.targets.iter().map(weight).collect()
    }
}

/// Set a list, or take it out if it is empty, which glTF forbids.
fn set_list(value: &mut Value, key: &str, list: Vec<Value>) {
    if !list.is_empty() {
        value[key] = Value::Array(list);
    } else if let Some(object) = value.as_object_mut() {
        object.shift_remove(key);
    }
}

/// Rewrite the weights in animations of the source for meshes whose lists of targets changed.
pub(super) fn widen_animations(draft: &mut Draft, plan: &TargetPlan, morphs: &[Morph]) {
    for animation in 0..list(&draft.json, "animations").len() {
        for channel in 0..list(&draft.json["animations"][animation], "channels").len() {
            let json = &draft.json["animations"][animation];
            let target = &json["channels"][channel]["target"];
            let Some(instance) = weights_of(target, plan).filter(|instance| !instance.is_same()) else {
                continue;
            };
            let sampler = index(&json["channels"][channel], "sampler");
            let Some(mut sampler) = sampler.and_then(|at| list(json, "samplers").get(at)).cloned() else {
                continue;
            };
            let values = index(&sampler, "output").map(|output| draft.source.decoder.floats::<1>(output, ""));
            let Some(Ok(values)) = values else { continue };
            let width = instance.n_before.max(1);
            let weight = |row: &[[f32; 1]], target: &NewTarget| match target.before {
                Some(before) => row[before][0],
                None => morphs[target.morph].default_weight,
            };
            let rows = values.chunks_exact(width);
            let wide: Vec<f32> =
                rows.flat_map(|row| instance.targets.iter().map(move |target| weight(row, target))).collect();
            if wide.is_empty() {
                continue;
            }
            let output = draft.builder.curve_floats("SCALAR", wide.into_iter());
            sampler["output"] = json!(draft.accessor(output));
            let json = &mut draft.json["animations"][animation];
            let samplers = super::values::member(json, "samplers");
            samplers.push(sampler);
            let last = samplers.len() - 1;
            json["channels"][channel]["sampler"] = json!(last);
        }
    }
}

/// The mesh whose weights a channel moves, also by an animation pointer.
fn weights_of<'p>(target: &Value, plan: &'p TargetPlan) -> Option<&'p InstanceTargets> {
    let of_node = |node: usize| plan.instances.iter().find(|instance| instance.node == node);
    if target["path"] == "weights" {
        return of_node(index(target, "node")?);
    }
    let pointer = target["extensions"]["KHR_animation_pointer"]["pointer"].as_str()?;
    let mut words = pointer.split('/').skip(1);
    let (kind, number, what) = (words.next()?, words.next()?.parse().ok()?, words.next()?);
    if what != "weights" || words.next().is_some() {
        return None;
    }
    match kind {
        "nodes" => of_node(number),
        "meshes" => plan.instances.iter().find(|instance| instance.mesh == number),
        _ => None,
    }
}
