//! Skins: which bones move a mesh, and how much.

use super::convert::affine;
use super::corners::Vertices;
use super::draft::Draft;
use crate::gltf::schema::{Attributes, Node as NodeJson, Skin};
use crate::gltf::write::builder::{Builder, VERTICES, describe};
use glam::{DAffine3, DMat4};
use std::collections::BTreeSet;
use ufbx::{Mesh, Node, SkinDeformer};

/// Influences per vertex that are kept, as many as a character has.
const MAX_INFLUENCES: usize = 8;

/// The influences of the points of a mesh.
pub(super) struct Influences {
    /// Entries of a row.
    width: usize,
    /// Of each point, the cluster and the weight; rows sum to one.
    rows: Vec<(u16, f32)>,
    /// Whether points follow no bone: they follow the node of the mesh, as the joint after the clusters.
    has_bare: bool,
    /// Points with more bones than are kept.
    n_cut: usize,
}

impl Influences {
    /// Of the first skin of a mesh; none if nothing moves it.
    pub fn of(mesh: &Mesh) -> Option<Self> {
        let skin = mesh.skin_deformers.first()?;
        if skin.clusters.iter().all(|cluster| cluster.bone_node.is_none()) {
            return None;
        }
        let bare = u16::try_from(skin.clusters.len()).ok()?;
        let mut found = Self { width: 1, rows: Vec::new(), has_bare: false, n_cut: 0 };
        let rows: Vec<Vec<(u16, f32)>> = (0..mesh.num_vertices).map(|point| row(skin, point)).collect();
        found.width = rows.iter().map(Vec::len).max().unwrap_or(1).clamp(1, MAX_INFLUENCES);
        for mut row in rows {
            found.n_cut += usize::from(row.len() > MAX_INFLUENCES);
            row.truncate(MAX_INFLUENCES);
            let sum: f64 = row.iter().map(|(_, weight)| f64::from(*weight)).sum();
            if sum > 0.0 && sum.is_finite() {
                row.iter_mut().for_each(|entry| entry.1 = (f64::from(entry.1) / sum) as f32);
            } else {
                row = vec![(bare, 1.0)];
                found.has_bare = true;
            }
            row.resize(found.width, (0, 0.0));
            found.rows.extend(row);
        }
        Some(found)
    }

    /// Write them as attributes of vertices.
    pub fn write(&self, vertices: &Vertices, builder: &mut Builder, attributes: &mut Attributes) {
        for set in 0..self.width.div_ceil(4) {
            let entry = |point: u32, at: usize| {
                let column = 4 * set + at;
                let found = self.rows.get(point as usize * self.width + column);
                found.copied().filter(|_| column < self.width).unwrap_or((0, 0.0))
            };
            let rows = || vertices.points.iter().map(|&point| [0, 1, 2, 3].map(|at| entry(point, at)));
            let joints: Vec<u8> = rows().flatten().flat_map(|(joint, _)| joint.to_le_bytes()).collect();
            let accessor = describe("VEC4", 5123, vertices.points.len());
            attributes.insert(format!("JOINTS_{set}"), builder.accessor(&joints, accessor, VERTICES));
            let weights: Vec<[f32; 4]> = rows().map(|row| row.map(|(_, weight)| weight)).collect();
            attributes.insert(format!("WEIGHTS_{set}"), builder.floats("VEC4", &weights, VERTICES));
        }
    }

    /// Say what was cut, in words that follow the name of a mesh.
    pub fn lost(&self) -> Option<String> {
        (self.n_cut > 0).then(|| {
            format!("{} points follow more than {MAX_INFLUENCES} bones; the strongest were kept", self.n_cut)
        })
    }
}

/// Bones of a point, strongest first.
fn row(skin: &SkinDeformer, point: usize) -> Vec<(u16, f32)> {
    let Some(found) = skin.vertices.get(point) else { return Vec::new() };
    let start = found.weight_begin as usize;
    let weights = skin.weights.get(start..start.saturating_add(found.num_weights as usize)).unwrap_or(&[]);
    let is_used = |entry: &&ufbx::SkinWeight| {
        let cluster = skin.clusters.get(entry.cluster_index as usize);
        entry.weight.is_finite() && entry.weight > 0.0 && cluster.is_some_and(|c| c.bone_node.is_some())
    };
    let entry = |entry: &ufbx::SkinWeight| (entry.cluster_index as u16, entry.weight as f32);
    let mut row: Vec<(u16, f32)> = weights.iter().filter(is_used).map(entry).collect();
    row.sort_by(|a, b| b.1.total_cmp(&a.1));
    row
}

/// Write the skin of a mesh at a node. A bone that two clusters bind gets a child of its own for the second, since glTF
/// allows every joint of a skin once.
pub(super) fn write_skin(
    draft: &mut Draft,
    mesh: &Mesh,
    node: &Node,
    influences: &Influences,
) -> Option<usize> {
    let skin = mesh.skin_deformers.first()?;
    let own = draft.nodes.find(node)?;
    let mut joints = Vec::new();
    let mut binds: Vec<DAffine3> = Vec::new();
    for cluster in &skin.clusters {
        let bone = cluster.bone_node.as_ref().and_then(|bone| draft.nodes.find(bone));
        // A cluster without a bone keeps its number.
        joints.push(bone.unwrap_or(own));
        binds.push(if bone.is_some() { affine(&cluster.geometry_to_bone) } else { DAffine3::IDENTITY });
    }
    if influences.has_bare {
        joints.push(own);
        binds.push(affine(&node.geometry_to_node));
    }
    let mut taken = BTreeSet::new();
    for joint in &mut joints {
        if !taken.insert(*joint) {
            let name = draft.builder.root.nodes[*joint].name.clone();
            let helper = draft.push_node(NodeJson { name, ..NodeJson::default() });
            draft.builder.root.nodes[*joint].children.push(helper);
            *joint = helper;
            taken.insert(helper);
        }
    }
    let is_own = influences.has_bare || skin.clusters.iter().any(|cluster| cluster.bone_node.is_none());
    let others = Some(node).filter(|_| is_own);
    let tops: BTreeSet<usize> = bones(skin).chain(others).filter_map(|bone| top_of(draft, bone)).collect();
    draft.nodes.needs_root |= tops.len() > 1;
    Some(push_skin(&mut draft.builder, joints, &binds, &skin.element.name))
}

fn push_skin(builder: &mut Builder, joints: Vec<usize>, binds: &[DAffine3], name: &str) -> usize {
    let finite = |bind: &DAffine3| if bind.is_finite() { *bind } else { DAffine3::IDENTITY };
    let matrices: Vec<[f32; 16]> =
        binds.iter().map(|bind| DMat4::from(finite(bind)).to_cols_array().map(|x| x as f32)).collect();
    let inverse_bind_matrices = Some(builder.floats("MAT4", &matrices, None));
    let name = Some(name.to_owned()).filter(|name| !name.is_empty());
    builder.root.skins.push(Skin { name, inverse_bind_matrices, joints, ..Skin::default() });
    builder.root.skins.len() - 1
}

fn bones(skin: &SkinDeformer) -> impl Iterator<Item = &Node> {
    skin.clusters.iter().filter_map(|cluster| cluster.bone_node.as_deref())
}

/// The highest node above a node, but the root.
fn top_of(draft: &Draft, node: &Node) -> Option<usize> {
    let mut at = node;
    while let Some(parent) = at.parent.as_deref().filter(|parent| !parent.is_root) {
        at = parent;
    }
    draft.nodes.find(at)
}

/// Bones that no skin names form skeletons too: those of motions without a surface, and fingers that move nothing.
pub(super) fn write_bare_skeletons(draft: &mut Draft) {
    let named: BTreeSet<usize> =
        draft.builder.root.skins.iter().flat_map(|skin| skin.joints.clone()).collect();
    let mut trees: Vec<(usize, Vec<usize>)> = Vec::new();
    let scene = draft.scene;
    for node in scene.nodes.iter().filter(|node| node.bone.is_some() && !node.is_root) {
        let (Some(index), Some(top)) = (draft.nodes.find(node), top_of(draft, node)) else { continue };
        if named.contains(&index) {
            continue;
        }
        match trees.iter_mut().find(|(of, _)| *of == top) {
            Some((_, joints)) => joints.push(index),
            None => trees.push((top, vec![index])),
        }
    }
    for (_, joints) in trees {
        draft.builder.root.skins.push(Skin { joints, ..Skin::default() });
    }
}
