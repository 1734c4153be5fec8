//! Bindings back to the skins of the source.
//!
//! With `B` the transform that reading applied to the vertices of a part and `u` the unit of a joint, a slot binds with
//! `u · inverse_bind · B⁻¹`, so that the source's matrix is `u⁻¹ · slot · B`, whatever else changed meanwhile.

use super::super::read::bind::Bound;
use super::super::read::map::PartMap;
use super::super::schema;
use super::super::write::{GlbOptions, geometry::Vertices, skin::write_influences};
use super::draft::Draft;
use super::nodes::Joints;
use super::surface::Attributes;
use glam::{DAffine3, DMat4, DVec3};
use serde_json::json;
use sinew_geom::{Character, Skin, SkinSlot, Warnings};
use std::collections::{HashMap, hash_map::Entry};

/// How the vertices of an instance are bound now.
pub(super) struct Binding {
    /// `world_from_mesh` of its vertices.
    pub world: DAffine3,
    /// Changed attributes of each part.
    pub attributes: Vec<Attributes>,
}

/// Skins of the source whose matrices were written.
#[derive(Default)]
pub(super) struct SkinWriter {
    written: HashMap<usize, Vec<[f32; 16]>>,
}

impl SkinWriter {
    /// Write what changed in the binding of the parts of one instance.
    pub fn bind(
        &mut self,
        draft: &mut Draft,
        now: &Character,
        parts: &[&PartMap],
        joints: &mut Joints,
        options: &GlbOptions,
        warnings: &mut Warnings,
    ) -> Binding {
        let source = draft.source;
        let world = parts.first().and_then(|part| part.world).unwrap_or(DAffine3::IDENTITY);
        let unchanged = Binding { world, attributes: vec![Attributes::new(); parts.len()] };
        let (Some(first), old) = (parts.first(), source.character.skin.as_ref()) else { return unchanged };
        let n_joints = source.character.rig.as_ref().map_or(0, |rig| rig.n_joints());
        if old == now.skin.as_ref() && joints.n_kept == n_joints {
            return unchanged;
        }
        let node = first.node;
        match (&first.bound, old.zip(now.skin.as_ref()), &now.skin) {
            (Bound::Skinned(_), _, None) => {
                if let Some(object) = draft.json["nodes"][node].as_object_mut() {
                    object.shift_remove("skin");
                }
                let attributes = parts.iter().map(|part| without_weights(draft, part)).collect();
                Binding { world: source.scene.world[node], attributes }
            }
            (_, _, None) => unchanged,
            (Bound::Rigid(slot), Some((old, new)), _) if is_rigid(draft, parts, *slot, old, new, joints) => {
                let vertex = source.map.vertex(first.vertices.start);
                let slot = new.vertex(vertex).find(|entry| entry.1 > 0.0).map_or(0, |entry| entry.0);
                let slot = &new.slots[slot as usize];
                let is_same = old.slots.contains(slot);
                Binding {
                    world: if is_same { world } else { rigid_world(draft, slot, node, joints) },
                    ..unchanged
                }
            }
            (Bound::Skinned(slots), Some((old, new)), _) if has_same_rows(draft, parts, old, new, joints) => {
                let is_same = |&slot: &u16| old.slots.get(slot as usize) == new.slots.get(slot as usize);
                if !slots.iter().all(is_same) {
                    let slots: Vec<SkinSlot> = slots.iter().map(|&slot| new.slots[slot as usize]).collect();
                    self.write_matrices(draft, first, &slots, world, joints);
                }
                unchanged
            }
            (_, _, Some(skin)) => rebind(draft, skin, parts, world, joints, options, warnings),
        }
    }

    /// New inverse bind matrices of a skin; if several instances that share it disagree, of a copy.
    fn write_matrices(
        &mut self,
        draft: &mut Draft,
        part: &PartMap,
        slots: &[SkinSlot],
        world: DAffine3,
        joints: &Joints,
    ) {
        let Some(skin) = part.skin else { return };
        let matrices: Vec<[f32; 16]> = slots.iter().map(|slot| matrix(slot, world, joints)).collect();
        if self.written.get(&skin) == Some(&matrices) {
            return;
        }
        let accessor = draft.builder.floats("MAT4", &matrices, None);
        let accessor = json!(draft.accessor(accessor));
        match self.written.entry(skin) {
            Entry::Occupied(_) => {
                let mut copy = draft.json["skins"][skin].clone();
                copy["inverseBindMatrices"] = accessor;
                let copy = draft.push("skins", copy);
                draft.json["nodes"][part.node]["skin"] = json!(copy);
            }
            Entry::Vacant(entry) => {
                draft.json["skins"][skin]["inverseBindMatrices"] = accessor;
                entry.insert(matrices);
            }
        }
    }
}

fn matrix(slot: &SkinSlot, world: DAffine3, joints: &Joints) -> [f32; 16] {
    let unit = joints.units.get(slot.joint).copied().unwrap_or(1.0);
    let bound = DAffine3::from_scale(DVec3::splat(1.0 / unit)) * slot.inverse_bind * world;
    let bound = if bound.is_finite() { bound } else { DAffine3::IDENTITY };
    DMat4::from(bound).to_cols_array().map(|x| x as f32)
}

fn vertices<'a>(draft: &'a Draft, parts: &'a [&PartMap]) -> impl Iterator<Item = usize> + 'a {
    parts.iter().flat_map(|part| part.vertices.clone()).map(|v| draft.source.map.vertex(v))
}

/// Whether all vertices still follow the joint they followed, as one rigid piece.
fn is_rigid(draft: &Draft, parts: &[&PartMap], slot: u16, old: &Skin, new: &Skin, joints: &Joints) -> bool {
    let joint = old.slots[slot as usize].joint;
    let slot_of = |v: usize| {
        let mut used = new.vertex(v).filter(|entry| entry.1 > 0.0);
        used.next().filter(|_| used.next().is_none()).map(|entry| entry.0)
    };
    let mut slots = vertices(draft, parts).map(slot_of);
    let Some(Some(first)) = slots.next() else { return false };
    joint < joints.n_kept && new.slots[first as usize].joint == joint && slots.all(|slot| slot == Some(first))
}

/// Where a rigid part is now: what its joint makes of it must be what its node makes of it. A joint that no node of the file
/// stands for holds what never moves, wherever it was turned to.
fn rigid_world(draft: &Draft, slot: &SkinSlot, node: usize, joints: &Joints) -> DAffine3 {
    let scene = draft.source.scene;
    let joint =
        joints.node(slot.joint).map_or_else(|| joints.rest_world(slot.joint), |joint| scene.world[joint]);
    let joint_from_node = joint.inverse() * scene.world[node];
    let unit = joints.units[slot.joint];
    let node_from_world =
        joint_from_node.inverse() * DAffine3::from_scale(DVec3::splat(1.0 / unit)) * slot.inverse_bind;
    node_from_world.inverse()
}

/// Whether the vertices have the same joints and weights as before.
fn has_same_rows(draft: &Draft, parts: &[&PartMap], old: &Skin, new: &Skin, joints: &Joints) -> bool {
    let is_kept = |slot: u16| {
        let (old, new) = (old.slots.get(slot as usize), new.slots.get(slot as usize));
        old.zip(new).is_some_and(|(old, new)| old.joint == new.joint && old.joint < joints.n_kept)
    };
    let is_same = |v: usize| {
        old.vertex(v).eq(new.vertex(v)) && new.vertex(v).all(|(slot, weight)| weight == 0.0 || is_kept(slot))
    };
    vertices(draft, parts).all(is_same)
}

fn without_weights(draft: &Draft, part: &PartMap) -> Attributes {
    let primitives = &draft.source.decoder.root.meshes[part.mesh].primitives;
    let attributes = part.primitives.first().and_then(|&at| primitives.get(at)).map(|p| &p.attributes);
    let names = attributes.into_iter().flat_map(|attributes| attributes.keys());
    let is_weight = |name: &&String| name.starts_with("JOINTS_") || name.starts_with("WEIGHTS_");
    names.filter(is_weight).map(|name| (name.clone(), None)).collect()
}

/// Bind an instance by a skin of its own.
fn rebind(
    draft: &mut Draft,
    skin: &Skin,
    parts: &[&PartMap],
    world: DAffine3,
    joints: &mut Joints,
    options: &GlbOptions,
    warnings: &mut Warnings,
) -> Binding {
    let mut used: Vec<u16> = vertices(draft, parts)
        .flat_map(|v| skin.vertex(v).filter(|entry| entry.1 > 0.0).map(|entry| entry.0))
        .collect();
    used.sort_unstable();
    used.dedup();
    let slots: Vec<SkinSlot> = used.iter().map(|&slot| skin.slots[slot as usize]).collect();
    let mut nodes: Vec<usize> = Vec::new();
    for slot in &slots {
        let node = joints.node_or_new(draft, slot.joint);
        // glTF wants every joint of a skin once: a further binding hangs on a child without transform.
        let name = draft.json["nodes"][node]["name"].clone();
        nodes.push(match nodes.contains(&node) {
            true => draft.push_node(json!({ "name": name }), Some(node)),
            false => node,
        });
    }
    let matrices: Vec<[f32; 16]> = slots.iter().map(|slot| matrix(slot, world, joints)).collect();
    let accessor = draft.builder.floats("MAT4", &matrices, None);
    let accessor = draft.accessor(accessor);
    let made =
        schema::Skin { inverse_bind_matrices: Some(accessor), joints: nodes, ..schema::Skin::default() };
    let made = draft.push("skins", serde_json::to_value(made).unwrap_or_default());
    if let Some(node) = parts.first().map(|part| part.node) {
        draft.json["nodes"][node]["skin"] = json!(made);
    }
    let mut attributes = Vec::new();
    for part in parts {
        let own: Vec<usize> = part.vertices.clone().map(|v| draft.source.map.vertex(v)).collect();
        let place = |slot: u16| used.binary_search(&slot).map_or(0, |at| at as u16);
        let rows = || own.iter().flat_map(|&v| skin.vertex(v));
        let indices = rows().map(|(slot, weight)| if weight > 0.0 { place(slot) } else { 0 }).collect();
        let weights = rows().map(|entry| entry.1).collect();
        let local = Skin::new(slots.clone(), skin.influences(), indices, weights, &mut Warnings::default());
        let mut changed = without_weights(draft, part);
        if let Ok(local) = local {
            let sources = (0..own.len() as u32).collect();
            let all = Vertices { sources, faces: Vec::new(), uvs: None };
            let mut written = schema::Attributes::new();
            write_influences(&mut draft.builder, &local, &all, options, &mut written, warnings);
            for (name, accessor) in written {
                changed.retain(|(other, _)| *other != name);
                changed.push((name, Some(draft.accessor(accessor))));
            }
        }
        attributes.push(changed);
    }
    Binding { world, attributes }
}
