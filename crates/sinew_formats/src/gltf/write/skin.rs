//! The joint tree and the skin.

use super::GlbOptions;
use super::builder::{Builder, VERTICES, describe};
use super::geometry::Vertices;
use super::quantize;
use crate::gltf::schema::{self, Attributes};
use crate::names::Names;
use glam::{DAffine3, DMat4};
use sinew_geom::{Rig, Skin, SkinSlot, Transform, Warnings};
use std::collections::HashSet;

/// Players differ in what they do beyond this many joints per skin.
const MANY_JOINTS: usize = 256;
/// The Khronos validator accepts sums this far from one, per influence.
const SUM_TOLERANCE: f64 = 1.9e-7;

/// Write the joints as nodes: joint `i` is node `i`. glTF does not require unique names, but players find
/// nodes by them. Returns the nodes that have no parent.
pub(super) fn write_joints(builder: &mut Builder, rig: &Rig, names: &mut Names) -> Vec<usize> {
    let mut roots = Vec::new();
    for joint in rig.joints() {
        let mut node = local(&joint.rest);
        node.name = Some(names.unique(&joint.name));
        builder.root.nodes.push(node);
    }
    for (index, joint) in rig.joints().iter().enumerate() {
        match joint.parent {
            Some(parent) => builder.root.nodes[parent].children.push(index),
            None => roots.push(index),
        }
    }
    roots
}

fn local(rest: &Transform) -> schema::Node {
    let changed = |is_default: bool| (!is_default).then_some(());
    schema::Node {
        translation: changed(rest.translation == Transform::IDENTITY.translation)
            .map(|()| rest.translation.into()),
        rotation: changed(rest.rotation == Transform::IDENTITY.rotation).map(|()| rest.rotation.into()),
        scale: changed(rest.scale == Transform::IDENTITY.scale).map(|()| rest.scale.into()),
        ..schema::Node::default()
    }
}

/// The slots of the skin, followed by one for every joint that has none.
///
/// Players recognise joints by the skin, and Blender uses the bind pose only of joints whose
/// parents are in the skin too; elsewhere it blends around the rest pose, which is not the same.
pub(super) fn all_slots(rig: &Rig, skin: Option<&Skin>) -> Vec<SkinSlot> {
    let mut slots = skin.map_or_else(Vec::new, |skin| skin.slots.clone());
    let taken: HashSet<usize> = slots.iter().map(|slot| slot.joint).collect();
    slots.extend(Skin::slots_at_rest(rig).into_iter().filter(|slot| !taken.contains(&slot.joint)));
    slots
}

/// Write the skin. A joint in several slots gets a helper child for each further one, since glTF allows every
/// joint of a skin once. The helpers' nodes are added to `helpers`.
pub(super) fn write_skin(
    builder: &mut Builder,
    slots: &[SkinSlot],
    names: &mut Names,
    helpers: &mut Vec<usize>,
    warnings: &mut Warnings,
) -> usize {
    if slots.len() > MANY_JOINTS {
        let n = slots.len();
        warnings.push(format!("the skin has {n} joints; some players take at most {MANY_JOINTS}"));
    }
    let mut taken = HashSet::new();
    let mut joints = Vec::with_capacity(slots.len());
    for slot in slots {
        joints.push(if taken.insert(slot.joint) {
            slot.joint
        } else {
            let name = builder.root.nodes[slot.joint].name.clone().unwrap_or_default();
            let helper = schema::Node { name: Some(names.unique(&name)), ..schema::Node::default() };
            let node = builder.root.nodes.len();
            builder.root.nodes.push(helper);
            builder.root.nodes[slot.joint].children.push(node);
            helpers.push(node);
            node
        });
    }
    let matrix = |slot: &SkinSlot| {
        let finite = slot.inverse_bind.is_finite();
        let affine = if finite { slot.inverse_bind } else { DAffine3::IDENTITY };
        DMat4::from(affine).to_cols_array().map(|x| x as f32)
    };
    let matrices: Vec<[f32; 16]> = slots.iter().map(matrix).collect();
    let inverse_bind_matrices = Some(builder.floats("MAT4", &matrices, None));
    builder.root.skins.push(schema::Skin { inverse_bind_matrices, joints, ..schema::Skin::default() });
    builder.root.skins.len() - 1
}

/// Write `JOINTS_n` and `WEIGHTS_n` with as many of the strongest influences as the options allow.
pub(in crate::gltf) fn write_influences(
    builder: &mut Builder,
    skin: &Skin,
    vertices: &Vertices,
    options: &GlbOptions,
    attributes: &mut Attributes,
    warnings: &mut Warnings,
) {
    let max_influences = options.max_influences.clamp(1, 8);
    let rows = Rows::of(skin, max_influences);
    if rows.n_reduced > 0 {
        let n = rows.n_reduced;
        warnings
            .push(format!("{n} vertices had more than {max_influences} influences; the strongest were kept"));
    }
    let n_sets = rows.longest.div_ceil(4).max(1);
    for set in 0..n_sets {
        let entry = |vertex: u32, at: usize| rows.entry(vertex as usize, set * 4 + at);
        let joints = vertices.sources.iter().flat_map(|&v| [0, 1, 2, 3].map(|at| entry(v, at).0));
        let (component, bytes): (u32, Vec<u8>) = match skin.slots.len() <= 256 {
            true => (5121, joints.map(|joint| joint as u8).collect()),
            false => (5123, joints.flat_map(u16::to_le_bytes).collect()),
        };
        let accessor = describe("VEC4", component, vertices.sources.len());
        attributes.insert(format!("JOINTS_{set}"), builder.accessor(&bytes, accessor, VERTICES));
        let weights: Vec<[f32; 4]> =
            vertices.sources.iter().map(|&v| [0, 1, 2, 3].map(|at| entry(v, at).1)).collect();
        let weights = match options.quantize || quantize::are_sixteen_bits(&weights) {
            true => quantize::write_weights(builder, &weights),
            false => builder.floats("VEC4", &weights, VERTICES),
        };
        attributes.insert(format!("WEIGHTS_{set}"), weights);
    }
}

/// Influences fit for a file: none twice, none without weight, not too many, summing to one.
struct Rows {
    width: usize,
    entries: Vec<(u16, f32)>,
    longest: usize,
    n_reduced: usize,
}

impl Rows {
    fn of(skin: &Skin, max_influences: usize) -> Self {
        let width = max_influences.max(1);
        let mut rows = Self { width, entries: Vec::new(), longest: 0, n_reduced: 0 };
        rows.entries.reserve(width * skin.n_vertices());
        let mut row: Vec<(u16, f32)> = Vec::new();
        for vertex in 0..skin.n_vertices() {
            row.clear();
            for (slot, weight) in skin.vertex(vertex).filter(|&(_, weight)| weight > 0.0) {
                match row.iter_mut().find(|entry| entry.0 == slot) {
                    Some(entry) => entry.1 += weight,
                    None => row.push((slot, weight)),
                }
            }
            if row.len() > width {
                row.sort_by(|a, b| b.1.total_cmp(&a.1));
                row.truncate(width);
                rows.n_reduced += 1;
            }
            let sum: f64 = row.iter().map(|entry| f64::from(entry.1)).sum();
            if (sum - 1.0).abs() > SUM_TOLERANCE * row.len() as f64 {
                row.iter_mut().for_each(|entry| entry.1 = (f64::from(entry.1) / sum) as f32);
            }
            rows.longest = rows.longest.max(row.len());
            let end = rows.entries.len() + width;
            rows.entries.extend_from_slice(&row);
            rows.entries.resize(end, (0, 0.0));
        }
        rows
    }

    fn entry(&self, vertex: usize, at: usize) -> (u16, f32) {
        if at < self.width { self.entries[vertex * self.width + at] } else { (0, 0.0) }
    }
}
