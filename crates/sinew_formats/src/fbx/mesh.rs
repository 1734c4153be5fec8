//! Meshes: vertices with everything they have, triangles by material, and the nodes that show them.

use super::convert::vec3;
use super::corners::{MAX_UV_SETS, Vertices, value};
use super::draft::Draft;
use super::skin::{Influences, write_skin};
use super::{morph, nodes};
use crate::Fault;
use crate::gltf::schema::{self, Attributes, Primitive};
use crate::gltf::write::builder::VERTICES;
use glam::Vec3;
use std::collections::{BTreeMap, BTreeSet};
use ufbx::{Mesh, Node};

/// A mesh with blend shapes at a node of glTF.
pub(super) struct Shown {
    /// Number of the mesh among those of the file.
    pub mesh: usize,
    pub node: usize,
}

/// A mesh that was written, once for each choice of materials.
struct Written {
    mesh: usize,
    has_morphs: bool,
    influences: Option<Influences>,
}

/// Write every mesh that a node shows; returns those with blend shapes.
pub(super) fn write_meshes(draft: &mut Draft) -> Result<Vec<Shown>, Fault> {
    let scene = draft.scene;
    let clusters = scene.skin_clusters.iter().filter_map(|cluster| cluster.bone_node.as_deref());
    let bones: BTreeSet<u32> = clusters.map(|bone| bone.element.typed_id).collect();
    let mut written: BTreeMap<(u32, Vec<Option<usize>>), Option<Written>> = BTreeMap::new();
    let mut n_shown: BTreeMap<u32, usize> = BTreeMap::new();
    let mut with_morphs = Vec::new();
    for node in &scene.nodes {
        let (Some(mesh), Some(own)) = (node.mesh.as_deref(), draft.nodes.find(node)) else { continue };
        let materials = materials_of(draft, node, mesh);
        let key = (mesh.element.typed_id, materials);
        if !written.contains_key(&key) {
            let new = write_mesh(draft, mesh, &key.1, &name_of(node, mesh))?;
            written.insert(key.clone(), new);
        }
        let Some(Some(found)) = written.get(&key) else { continue };
        let is_joint = bones.contains(&node.element.typed_id);
        let shown = show(draft, node, mesh, found, own, is_joint);
        if found.has_morphs {
            with_morphs.push(Shown { mesh: mesh.element.typed_id as usize, node: shown });
        }
        let n = n_shown.entry(mesh.element.typed_id).or_default();
        *n += 1;
        if *n == 2 && found.influences.is_some() {
            draft.warnings.push(format!(
                "mesh {:?} follows bones and is shown several times; all are where the first one is",
                name_of(node, mesh)
            ));
        }
    }
    Ok(with_morphs)
}

/// Name of a mesh for people: that of the node, which programs show.
fn name_of(node: &Node, mesh: &Mesh) -> String {
    let names = [&node.element.name, &mesh.element.name];
    names.into_iter().find(|name| !name.is_empty()).map(|name| name.to_string()).unwrap_or_default()
}

/// Hang a mesh on its node. One that follows bones stands for itself, as glTF wants it.
fn show(draft: &mut Draft, node: &Node, mesh: &Mesh, written: &Written, own: usize, is_joint: bool) -> usize {
    let skin = written.influences.as_ref().and_then(|found| write_skin(draft, mesh, node, found));
    let is_needed = is_joint
        || !node.children.is_empty()
        || draft.builder.root.skins.iter().any(|s| s.joints.contains(&own));
    let at = match skin {
        None => own,
        Some(_) if is_needed => {
            let name = draft.builder.root.nodes[own].name.clone();
            let node = draft.push_node(schema::Node { name, ..schema::Node::default() });
            draft.nodes.set_apart(node);
            node
        }
        Some(_) => {
            draft.nodes.detach(own, &mut draft.builder);
            own
        }
    };
    let is_visible = draft.nodes.is_visible(node);
    let json = &mut draft.builder.root.nodes[at];
    (json.mesh, json.skin) = (Some(written.mesh), skin);
    if !is_visible {
        nodes::hide(json);
    }
    at
}

/// Material of glTF of each part of a mesh at a node: instances may differ in them.
fn materials_of(draft: &mut Draft, node: &Node, mesh: &Mesh) -> Vec<Option<usize>> {
    let n_parts = mesh.material_parts.len().max(1);
    let found = |part: usize| node.materials.get(part).or_else(|| mesh.materials.get(part));
    let found: Vec<_> = (0..n_parts).map(found).collect();
    let is_used = |part: usize| {
        mesh.material_parts.get(part).is_none_or(|part: &ufbx::MeshPart| part.num_triangles > 0)
    };
    let write = |(part, material): (usize, Option<&ufbx::Ref<ufbx::Material>>)| {
        is_used(part)
            .then(|| draft.materials.write(material.map(|m| &**m), &mut draft.builder, draft.warnings))
    };
    found.into_iter().enumerate().map(write).collect()
}

/// Write a mesh; none if it has no triangles.
fn write_mesh(
    draft: &mut Draft,
    mesh: &Mesh,
    materials: &[Option<usize>],
    name: &str,
) -> Result<Option<Written>, Fault> {
    note_lost(mesh, name, draft);
    draft.budget.charge(mesh.num_triangles, 24)?;
    draft.budget.charge(mesh.num_indices, 16)?;
    let vertices = Vertices::of(mesh);
    let faces = triangles(mesh, &vertices, materials);
    if faces.is_empty() {
        draft.warnings.push(format!("mesh {name:?} has no faces; left out"));
        return Ok(None);
    }
    let influences = Influences::of(mesh);
    if let Some(lost) = influences.as_ref().and_then(Influences::lost) {
        draft.warnings.push(format!("mesh {name:?}: {lost}"));
    }
    draft.budget.charge(vertices.points.len(), 200)?;
    let mut attributes = write_attributes(draft, mesh, &vertices);
    if let Some(influences) = &influences {
        influences.write(&vertices, &mut draft.builder, &mut attributes);
    }
    let mut json = schema::Mesh { name: Some(name.to_owned()), ..schema::Mesh::default() };
    let targets = morph::write_targets(draft, mesh, &vertices, &mut json)?;
    for (material, corners) in faces {
        json.primitives.push(Primitive {
            attributes: attributes.clone(),
            indices: Some(draft.builder.indices(&corners)),
            material,
            targets: targets.clone(),
            ..Primitive::default()
        });
    }
    draft.builder.root.meshes.push(json);
    let mesh = draft.builder.root.meshes.len() - 1;
    Ok(Some(Written { mesh, has_morphs: !targets.is_empty(), influences }))
}

/// Triangles of each material, in the order of the materials.
fn triangles(
    mesh: &Mesh,
    vertices: &Vertices,
    materials: &[Option<usize>],
) -> Vec<(Option<usize>, Vec<u32>)> {
    let mut found: BTreeMap<Option<usize>, Vec<u32>> = BTreeMap::new();
    let mut corners = vec![0; 3 * mesh.max_face_triangles.max(1)];
    for (at, face) in mesh.faces.iter().enumerate() {
        if face.num_indices < 3 || mesh.face_hole.get(at) == Some(&true) {
            continue;
        }
        let n = ufbx::triangulate_face(&mut corners, mesh, *face) as usize;
        let part = mesh.face_material.get(at).map_or(0, |&part| part as usize);
        let list = found.entry(materials.get(part).copied().flatten()).or_default();
        let all = corners.get(..3 * n).unwrap_or(&[]);
        list.extend(all.chunks_exact(3).filter_map(|corners| vertices.triangle(corners)).flatten());
    }
    found.into_iter().filter(|(_, corners)| !corners.is_empty()).collect()
}

fn write_attributes(draft: &mut Draft, mesh: &Mesh, vertices: &Vertices) -> Attributes {
    let builder = &mut draft.builder;
    let mut attributes = Attributes::new();
    let point = |&point: &u32| mesh.vertices.get(point as usize).map_or(Vec3::ZERO, |&p| vec3(p));
    let positions: Vec<Vec3> = vertices.points.iter().map(point).collect();
    attributes.insert("POSITION".to_owned(), builder.points(&positions, true));
    let found = &mesh.vertex_normal;
    if found.exists {
        let normal = |&corner: &u32| {
            let normal = value(&found.values, &found.indices, corner as usize).map_or(Vec3::Y, vec3);
            // glTF has no normal without a direction.
            normal.normalize_or(Vec3::Y)
        };
        let normals: Vec<Vec3> = vertices.corners.iter().map(normal).collect();
        attributes.insert("NORMAL".to_owned(), builder.points(&normals, false));
    }
    let sets = mesh.uv_sets.iter().take(MAX_UV_SETS).filter(|set| set.vertex_uv.exists);
    for (number, set) in sets.enumerate() {
        let uv = |&corner: &u32| {
            let uv =
                value(&set.vertex_uv.values, &set.vertex_uv.indices, corner as usize).unwrap_or_default();
            // FBX counts from the lower edge of the picture, glTF from the upper.
            [uv.x as f32, (1.0 - uv.y) as f32]
        };
        let uvs: Vec<[f32; 2]> = vertices.corners.iter().map(uv).collect();
        attributes.insert(format!("TEXCOORD_{number}"), builder.floats("VEC2", &uvs, VERTICES));
    }
    let found = &mesh.vertex_color;
    if found.exists {
        let color = |&corner: &u32| {
            let color = value(&found.values, &found.indices, corner as usize);
            color.map_or([1.0; 4], |c| [c.x, c.y, c.z, c.w].map(|x| x.clamp(0.0, 1.0) as f32))
        };
        let colors: Vec<[f32; 4]> = vertices.corners.iter().map(color).collect();
        attributes.insert("COLOR_0".to_owned(), builder.floats("VEC4", &colors, VERTICES));
    }
    attributes
}

/// Name what of a mesh glTF cannot say.
fn note_lost(mesh: &Mesh, name: &str, draft: &mut Draft) {
    let n_lines = mesh.num_line_faces + mesh.num_point_faces;
    let n_holes = mesh.face_hole.iter().filter(|is_hole| **is_hole).count();
    let is_smooth = mesh.subdivision_display_mode != ufbx::SubdivisionDisplayMode::Disabled;
    let skin = mesh.skin_deformers.first();
    let lost = [
        (n_lines > 0, format!("{n_lines} points and lines were left out")),
        (n_holes > 0, format!("{n_holes} faces that are holes were left out")),
        (is_smooth, "it is shown smooth by others; the cage is read".to_owned()),
        (mesh.uv_sets.len() > MAX_UV_SETS, format!("more than {MAX_UV_SETS} sets of texture coordinates")),
        (mesh.color_sets.len() > 1, "of several sets of colours the first is read".to_owned()),
        (mesh.skin_deformers.len() > 1, "of several skins the first is read".to_owned()),
        (
            skin.is_some_and(|skin| {
                skin.skinning_method != ufbx::SkinningMethod::Linear
                    && skin.skinning_method != ufbx::SkinningMethod::Rigid
            }),
            "its skin blends by dual quaternions, here it blends linearly".to_owned(),
        ),
        (
            !mesh.cache_deformers.is_empty(),
            "its point cache is not read; it stays as the file holds it".to_owned(),
        ),
    ];
    for (_, what) in lost.into_iter().filter(|(is_lost, _)| *is_lost) {
        draft.warnings.push(format!("mesh {name:?}: {what}"));
    }
}
