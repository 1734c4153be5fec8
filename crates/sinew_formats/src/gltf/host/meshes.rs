//! Changed meshes: edited where they are, or copied if other nodes show them unchanged.

use super::super::read::map::PartMap;
use super::super::write::GlbOptions;
use super::carry::Carry;
use super::draft::Draft;
use super::morphs::{MeshTargets, TargetPlan, write_targets};
use super::nodes::Joints;
use super::skins::SkinWriter;
use super::surface::{Attributes, write_vertices};
use super::values::{index, list};
use serde_json::{Value, json};
use sinew_geom::{Character, Warnings};
use std::collections::{HashMap, HashSet};

/// What changes in the mesh of one instance.
struct Edit {
    node: usize,
    mesh: usize,
    /// Primitives and their changed attributes.
    attributes: Vec<(Vec<usize>, Attributes)>,
    targets: Option<MeshTargets>,
}

impl Edit {
    fn is_empty(&self) -> bool {
        self.targets.is_none() && self.attributes.iter().all(|(_, changed)| changed.is_empty())
    }

    fn apply(&self, mesh: &mut Value, now: &Character) {
        for (primitives, changed) in &self.attributes {
            for &primitive in primitives {
                let Some(attributes) = mesh["primitives"][primitive]["attributes"].as_object_mut() else {
                    continue;
                };
                for (name, accessor) in changed {
                    match accessor {
                        Some(accessor) => attributes.insert(name.clone(), json!(accessor)),
                        None => attributes.shift_remove(name),
                    };
                }
            }
        }
        if let Some(targets) = &self.targets {
            targets.apply(mesh, &now.morphs);
        }
    }
}

/// Write all that changed in the surface, its binding and its morphs.
pub(super) fn write_meshes(
    draft: &mut Draft,
    now: &Character,
    joints: &mut Joints,
    plan: &TargetPlan,
    options: &GlbOptions,
    warnings: &mut Warnings,
) {
    let source = draft.source;
    let is_moved = now.mesh.positions() != source.character.mesh.positions();
    let carry = is_moved.then(|| Carry::new(&source.character.mesh, now.mesh.positions()));
    let mut parts_of: HashMap<usize, Vec<&PartMap>> = HashMap::new();
    source.map.parts.iter().for_each(|part| parts_of.entry(part.node).or_default().push(part));
    let mut skins = SkinWriter::default();
    let mut edits = Vec::new();
    for instance in &plan.instances {
        let Some(parts) = parts_of.get(&instance.node) else { continue };
        let binding = skins.bind(draft, now, parts, joints, options, warnings);
        let mut attributes = Vec::new();
        for (part, mut changed) in parts.iter().zip(binding.attributes) {
            changed.extend(write_vertices(draft, now, part, binding.world, carry.as_ref(), warnings));
            attributes.push((part.primitives.clone(), changed));
        }
        let targets = write_targets(draft, now, instance, parts, binding.world);
        edits.push(Edit { node: instance.node, mesh: instance.mesh, attributes, targets });
    }
    edits.retain(|edit| !edit.is_empty());
    apply(draft, &edits, now, warnings);
}

fn apply(draft: &mut Draft, edits: &[Edit], now: &Character, warnings: &mut Warnings) {
    let mut users: HashMap<usize, usize> = HashMap::new();
    for mesh in list(&draft.json, "nodes").iter().filter_map(|node| index(node, "mesh")) {
        *users.entry(mesh).or_default() += 1;
    }
    let mut changed: HashMap<usize, usize> = HashMap::new();
    edits.iter().for_each(|edit| *changed.entry(edit.mesh).or_default() += 1);
    let originals: HashMap<usize, Value> =
        changed.keys().map(|&mesh| (mesh, draft.json["meshes"][mesh].clone())).collect();
    let mut edited = HashSet::new();
    for edit in edits {
        let is_shared = users.get(&edit.mesh) != changed.get(&edit.mesh);
        let mut mesh = originals[&edit.mesh].clone();
        edit.apply(&mut mesh, now);
        if !is_shared && edited.insert(edit.mesh) {
            draft.json["meshes"][edit.mesh] = mesh;
        } else {
            if edited.len() == 1 || is_shared {
                let shown = originals[&edit.mesh]["name"].as_str().unwrap_or("without a name");
                warnings
                    .push(format!("mesh {shown} is shown by several nodes, which differ now; it was copied"));
            }
            let copy = draft.push("meshes", mesh);
            draft.json["nodes"][edit.node]["mesh"] = json!(copy);
        }
        let node = &mut draft.json["nodes"][edit.node];
        let weights = list(node, "weights").to_vec();
        if let Some(targets) = edit.targets.as_ref().filter(|_| !weights.is_empty()) {
            node["weights"] = targets.weights(&weights, &now.morphs).into();
        }
    }
}
