//! [`Character`] to GLB.
//!
//! The form is the one that players accept: one buffer, every accessor with a buffer view, nothing interleaved,
//! the skinned mesh at the root of the scene, unique node names, four influences unless more are requested.

pub(super) mod animation;
pub(crate) mod builder;
pub(super) mod geometry;
pub(super) mod material;
pub(super) mod quantize;
mod sequence;
pub(super) mod skin;

pub use sequence::write_sequence_glb;

use super::extension::{HandleJson, JointJson, NAME, SinewCharacter, VERSION};
use super::parts::PartChoice;
use super::schema::{Attributes, Mesh, Node, Object, Scene};
use crate::{FormatError, names::Names, write_atomic};
use builder::Builder;
use glam::DVec3;
use sinew_geom::{Character, Handle, Warnings};
use std::path::Path;

/// Options of a GLB.
#[derive(Debug, Clone)]
pub struct GlbOptions {
    /// Influences kept per vertex, 4 (the default) or up to 8; beyond 4 many players ignore the rest.
    pub max_influences: usize,
    /// Further root extensions. One that we write ourselves is merged with ours.
    pub extensions: Object,
    /// Bytes for those extensions. They become the buffer views 0, 1, …, an empty one as four zeros.
    pub views: Vec<Vec<u8>>,
    /// Weights in 16 bits, normals in 8, positions without a skin in 16 (`KHR_mesh_quantization`). Default no.
    pub quantize: bool,
    /// Which parts of the surface are written by [`write_glb_hosted`](super::write_glb_hosted), and which are shown.
    pub parts: PartChoice,
}

impl Default for GlbOptions {
    fn default() -> Self {
        Self {
            max_influences: 4,
            extensions: Object::new(),
            views: Vec::new(),
            quantize: false,
            parts: PartChoice::default(),
        }
    }
}

/// Write a GLB to a path, replacing a file there in one step.
///
/// # Errors
/// As [`write_glb`], and any error of the system.
pub fn write_glb_file(
    path: &Path,
    character: &Character,
    options: &GlbOptions,
    warnings: &mut Warnings,
) -> Result<(), FormatError> {
    write_atomic(path, &write_glb(character, options, warnings)?)
}

/// Bytes of a GLB that holds a character.
///
/// Vertices keep their number and order unless texture coordinates have seams; copies at seams come last.
/// Faces are grouped by material. What glTF cannot represent (handles, degrees of freedom) goes to the root extension
/// `SINEW_character`. NaN is never written.
///
/// # Errors
/// Parts that do not fit each other (a skin of another mesh), or more than 4 GiB.
pub fn write_glb(
    character: &Character,
    options: &GlbOptions,
    warnings: &mut Warnings,
) -> Result<Vec<u8>, FormatError> {
    check(character)?;
    let mut builder = Builder::new();
    for view in &options.views {
        builder.view(if view.is_empty() { &[0; 4] } else { view }, None);
    }
    let mut extension = SinewCharacter { version: VERSION, ..SinewCharacter::default() };
    let mut names = Names::default();
    let mut scene = Vec::new();
    let mut skin_idx = None;
    let grid = grid_of(character, options);
    if let Some(rig) = &character.rig {
        scene = skin::write_joints(&mut builder, rig, &mut names);
        let joints = rig.joints().iter().enumerate();
        extension.joints = joints.filter_map(|(node, joint)| JointJson::of_all(joint, node)).collect();
        let slots = skin::all_slots(rig, character.skin.as_ref());
        let n_bound = character.skin.as_ref().map_or(slots.len(), |skin| skin.slots.len());
        extension.bound_joints = Some(n_bound).filter(|&n_bound| n_bound < slots.len());
        if !slots.is_empty() {
            let helpers = &mut extension.helper_nodes;
            let skeleton = common_root(&mut builder, &mut scene, &mut names, helpers);
            let skin = skin::write_skin(&mut builder, &slots, &mut names, helpers, warnings);
            builder.root.skins[skin].skeleton = skeleton;
            skin_idx = Some(skin);
        }
    }
    let mesh = write_mesh(&mut builder, character, options, &mut extension, warnings);
    let mesh_node = mesh.map(|mesh| {
        let skin = skin_idx.filter(|_| character.skin.is_some());
        let name = if character.name.is_empty() { "mesh" } else { &character.name };
        builder.root.nodes.push(Node {
            name: Some(names.unique(name)),
            mesh: Some(mesh),
            skin,
            translation: grid.map(|grid| grid.center.to_array()),
            scale: grid.map(|grid| [grid.scale; 3]),
            ..Node::default()
        });
        builder.root.nodes.len() - 1
    });
    scene.extend(mesh_node);
    let n_joints = character.rig.as_ref().map_or(0, |rig| rig.n_joints());
    for clip in &character.clips {
        animation::write_clip(&mut builder, clip, n_joints, mesh_node, &character.morphs, warnings);
    }
    extension.handles = character.handles.iter().map(|handle| write_handle(&mut builder, handle)).collect();
    write_extensions(&mut builder, &extension, options);
    finish_scene(&mut builder, scene);
    builder.finish()
}

/// The grid of the positions, if they are quantised. Those of a skin are not: the scale back to metres would
/// be in its bind pose, whose scale Blender drops.
fn grid_of(character: &Character, options: &GlbOptions) -> Option<quantize::Grid> {
    let wanted = options.quantize && character.mesh.n_faces() > 0 && character.skin.is_none();
    wanted.then(|| quantize::Grid::around(character.mesh.positions()))
}

/// One scene that shows the given nodes; glTF forbids an empty list.
fn finish_scene(builder: &mut Builder, nodes: Vec<usize>) {
    builder.root.scene = Some(0);
    builder.root.scenes.push(Scene { name: None, nodes });
}

/// Several skeletons get a common root, which glTF requires of the joints of a skin.
fn common_root(
    builder: &mut Builder,
    roots: &mut Vec<usize>,
    names: &mut Names,
    helpers: &mut Vec<usize>,
) -> Option<usize> {
    if roots.len() < 2 {
        return None;
    }
    let node = builder.root.nodes.len();
    let children = std::mem::replace(roots, vec![node]);
    builder.root.nodes.push(Node { name: Some(names.unique("Skeleton")), children, ..Node::default() });
    helpers.push(node);
    Some(node)
}

/// Write the mesh; `None` if it has no faces.
fn write_mesh(
    builder: &mut Builder,
    character: &Character,
    options: &GlbOptions,
    extension: &mut SinewCharacter,
    warnings: &mut Warnings,
) -> Option<usize> {
    if character.mesh.n_faces() == 0 {
        if character.mesh.n_vertices() > 0 {
            warnings.push("the mesh has vertices but no faces; it was not written");
        }
        return None;
    }
    material::write_materials(builder, &character.surface.materials, warnings);
    let vertices = geometry::split_vertices(character, warnings);
    let copies = &vertices.sources[character.mesh.n_vertices()..];
    if !copies.is_empty() {
        let bytes: Vec<u8> = copies.iter().flat_map(|source| source.to_le_bytes()).collect();
        extension.seam_copies = Some(builder.view(&bytes, None));
    }
    let grid = grid_of(character, options);
    if options.quantize {
        builder.require(quantize::EXTENSION);
    }
    let mut attributes =
        geometry::write_attributes(builder, character, &vertices, (options.quantize, grid), warnings);
    if let Some(skin) = &character.skin {
        skin::write_influences(builder, skin, &vertices, options, &mut attributes, warnings);
    }
    let mut mesh = Mesh::default();
    let mut targets = Vec::new();
    for morph in &character.morphs {
        let offsets = vertices.spread(&morph.offsets);
        let offsets = grid.map_or_else(|| offsets.clone(), |grid| grid.offsets(&offsets));
        let offsets = quantize::write_offsets(builder, &offsets, |builder, all| builder.points(all, true));
        targets.push(Attributes::from([("POSITION".to_owned(), offsets)]));
        mesh.weights.push(builder::finite(morph.default_weight));
    }
    mesh.primitives = geometry::write_primitives(builder, character, &vertices, &attributes);
    mesh.primitives.iter_mut().for_each(|primitive| primitive.targets.clone_from(&targets));
    if !targets.is_empty() {
        let names: Vec<&str> = character.morphs.iter().map(|morph| morph.name.as_str()).collect();
        mesh.extras = serde_json::json!({ "targetNames": names });
    }
    builder.root.meshes.push(mesh);
    Some(builder.root.meshes.len() - 1)
}

pub(super) fn write_handle(builder: &mut Builder, handle: &Handle) -> HandleJson {
    // glTF forbids views without bytes.
    let mut view = |bytes: Vec<u8>| (!bytes.is_empty()).then(|| builder.view(&bytes, None));
    let center = if handle.center.is_finite() { handle.center } else { DVec3::ZERO };
    HandleJson {
        name: handle.name.clone(),
        vertices: view(handle.vertices.iter().flat_map(|vertex| vertex.to_le_bytes()).collect()),
        weights: match handle.weights.iter().all(|weight| *weight == 1.0) {
            true => None,
            false => view(builder::little_endian(handle.weights.iter().copied())),
        },
        center: center.to_array(),
        secondary: handle.secondary.clone(),
    }
}

fn write_extensions(builder: &mut Builder, own: &SinewCharacter, options: &GlbOptions) {
    for (name, object) in &options.extensions {
        builder.extend(name, object.clone());
    }
    if own.is_empty() && !options.extensions.contains_key(NAME) {
        return;
    }
    let mut fields =
        options.extensions.get(NAME).and_then(|object| object.as_object()).cloned().unwrap_or_default();
    // These structs hold nothing that JSON cannot.
    if let Ok(serde_json::Value::Object(own)) = serde_json::to_value(own) {
        fields.extend(own);
    }
    builder.extend(NAME, fields.into());
}

/// Refuse a file that would represent something else than the character.
fn check(character: &Character) -> Result<(), FormatError> {
    let n_vertices = character.mesh.n_vertices();
    let misfit = |cause: String| {
        Err(FormatError::Unwritable {
            what: "the character",
            cause,
            remedy: "rebuild it for this mesh and rig",
        })
    };
    if let Some(skin) = &character.skin {
        if skin.n_vertices() != n_vertices {
            return misfit(format!("its skin has {} vertices, its mesh {n_vertices}", skin.n_vertices()));
        }
        let n_joints = character.rig.as_ref().map_or(0, |rig| rig.n_joints());
        if let Some(slot) = skin.slots.iter().find(|slot| slot.joint >= n_joints) {
            return misfit(format!("its skin names joint {}, its rig has {n_joints}", slot.joint));
        }
    }
    match character.morphs.iter().find(|morph| morph.offsets.len() != n_vertices) {
        Some(morph) => {
            let (name, n) = (&morph.name, morph.offsets.len());
            misfit(format!("its morph {name:?} has {n} vertices, its mesh {n_vertices}"))
        }
        None => Ok(()),
    }
}
