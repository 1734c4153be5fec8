//! The parts of a file to one character.

use super::accessor::Decoder;
use super::animation::{Targets, read_clips};
use super::avatar::read_bones;
use super::bind::{Binder, Bound, Instance, size_of_points};
use super::map::{HostMap, InstanceMap, PartMap};
use super::material::{default_material, read_materials};
use super::merge::{Has, Merged};
use super::own;
use super::part::{Part, read_parts};
use super::resource::out_of_range;
use super::rig::RigMap;
use super::scene::Scene;
use super::unscale::remove_scales;
use crate::Fault;
use crate::gltf::schema::{Mesh as MeshJson, Root};
use crate::side_files::SideFiles;
use sinew_geom::{Character, GeomError, Mesh, Morph, Rig, Skin, SkinSlot, Surface, Uvs, Warnings};
use std::collections::{BTreeMap, HashMap};

/// Meshes the scene shows, in file order.
pub(super) fn instances(root: &Root, scene: &Scene) -> impl Iterator<Item = Instance> {
    let shown = root.nodes.iter().enumerate().filter(|(node, _)| scene.shown[*node]);
    shown.filter_map(|(node, found)| Some(Instance { node, mesh: found.mesh?, skin: found.skin }))
}

/// Build the character, and say where in the file its parts come from; its name is left empty.
pub(super) fn assemble(
    decoder: &Decoder,
    scene: &Scene,
    side: SideFiles,
    warnings: &mut Warnings,
) -> Result<(Character, HostMap), Vec<Fault>> {
    let root = decoder.root;
    let extension = own::read_extension(root, warnings);
    let bones = read_bones(root, warnings);
    let mut rig = RigMap::build(root, scene, extension.as_ref(), &bones);
    let instances: Vec<Instance> = instances(root, scene).collect();
    let meshes = read_meshes(decoder, &instances, warnings)?;
    let bound_joints = extension.as_ref().and_then(|extension| extension.bound_joints);
    let shared = extension.as_ref().map_or_else(Vec::new, |extension| extension.morphs.clone());
    let (slots, morphs_of, parts) = (Vec::new(), HashMap::new(), Vec::new());
    let mut surface = SurfaceReader { decoder, scene, meshes, bound_joints, slots, morphs_of, parts };
    surface.number_morphs(&instances, &shared);
    let mut merged = surface.merge(&instances, &mut rig, warnings)?;
    let targets = Targets { joint_of: &rig.joint_of, morphs_of: &surface.morphs_of, morphs: &merged.morphs };
    let (clips, clip_maps) = read_clips(decoder, &targets, warnings);
    let mut character = Character { clips, ..Character::default() };
    let instance = |i: &Instance| InstanceMap {
        node: i.node,
        mesh: i.mesh,
        morphs: surface.morphs_of.get(&i.node).cloned().unwrap_or_default(),
    };
    let mut map = HostMap {
        instances: instances.iter().map(instance).collect(),
        parts: std::mem::take(&mut surface.parts),
        nodes: rig.node_of.clone(),
        clips: clip_maps,
        n_source_vertices: merged.positions.len(),
        ..HostMap::default()
    };
    character.morphs = std::mem::take(&mut merged.morphs);
    character.skin = build_skin(surface.slots, &mut merged, warnings).map_err(as_faults)?;
    (character.mesh, character.surface) = build_surface(decoder, merged, side, warnings)?;
    if let Some(extension) = &extension {
        own::apply_joints(extension, &mut rig, warnings);
        map.copies = own::join_copies(extension, decoder, &mut character, warnings).map_err(as_faults)?;
        character.handles = own::read_handles(extension, decoder, character.mesh.n_vertices(), warnings);
    }
    if !rig.joints.is_empty() {
        character.rig = Some(Rig::new(rig.joints).map_err(as_faults)?);
    }
    if !is_own(root) {
        map.units = remove_scales(&mut character).map_err(as_faults)?;
    }
    map.units.resize(character.rig.as_ref().map_or(0, Rig::n_joints), 1.0);
    Ok((character, map))
}

/// Whether Sinew wrote the file: then everything is in its final form and is not changed.
pub(super) fn is_own(root: &Root) -> bool {
    root.asset.generator.as_ref().is_some_and(|generator| generator.starts_with("Sinew "))
}

fn as_faults(error: GeomError) -> Vec<Fault> {
    vec![Fault::new(crate::Place::Whole, error.to_string())]
}

/// Decode every mesh the scene shows, once.
fn read_meshes(
    decoder: &Decoder,
    instances: &[Instance],
    warnings: &mut Warnings,
) -> Result<BTreeMap<usize, Vec<Part>>, Vec<Fault>> {
    let root = decoder.root;
    let mut faults = Vec::new();
    let mut meshes = BTreeMap::new();
    for instance in instances {
        let node = instance.node;
        if let Some(skin) = instance.skin.filter(|&skin| skin >= root.skins.len()) {
            faults.push(out_of_range(&format!("/nodes/{node}/skin"), "skin", skin, root.skins.len()));
        }
        let Some(mesh) = root.meshes.get(instance.mesh) else {
            let path = format!("/nodes/{node}/mesh");
            faults.push(out_of_range(&path, "mesh", instance.mesh, root.meshes.len()));
            continue;
        };
        meshes
            .entry(instance.mesh)
            .or_insert_with(|| read_parts(decoder, mesh, instance.mesh, &mut faults, warnings));
    }
    if faults.is_empty() { Ok(meshes) } else { Err(faults) }
}

struct SurfaceReader<'a> {
    decoder: &'a Decoder<'a>,
    scene: &'a Scene,
    meshes: BTreeMap<usize, Vec<Part>>,
    bound_joints: Option<usize>,
    slots: Vec<SkinSlot>,
    /// Morphs of each node's mesh, target by target.
    morphs_of: HashMap<usize, Vec<usize>>,
    parts: Vec<PartMap>,
}

impl SurfaceReader<'_> {
    /// Whether an instance is skinned: it names a skin with joints and a part has weights.
    fn is_skinned(&self, instance: &Instance) -> bool {
        let skin = instance.skin.and_then(|skin| self.decoder.root.skins.get(skin));
        skin.is_some_and(|skin| !skin.joints.is_empty())
            && self.meshes[&instance.mesh].iter().any(|part| part.influences.is_some())
    }

    fn merge(
        &mut self,
        instances: &[Instance],
        rig: &mut RigMap,
        warnings: &mut Warnings,
    ) -> Result<Merged, Vec<Fault>> {
        let moving = instances.iter().any(|i| rig.moves[i.node] || self.is_skinned(i));
        let (has, n_vertices) = self.attributes(instances, moving).map_err(|fault| vec![fault])?;
        let own_file = is_own(self.decoder.root);
        let (scene, decoder) = (self.scene, self.decoder);
        let (bound_joints, slots) = (self.bound_joints, Vec::new());
        let mut binder =
            Binder { decoder, scene, rig, own_file, bound_joints, slots, slots_of: HashMap::new() };
        let mut merged = Merged::new(has, n_vertices);
        let mut faults = Vec::new();
        let n_morphs = self.morphs_of.values().flatten().max().map_or(0, |&last| last + 1);
        merged.morphs =
            vec![Morph { name: String::new(), offsets: Vec::new(), default_weight: 0.0 }; n_morphs];
        for instance in instances {
            let parts = &self.meshes[&instance.mesh];
            let placement = match instance.skin.filter(|_| self.is_skinned(instance)) {
                Some(skin) => {
                    let size = parts.iter().map(|part| size_of_points(&part.positions)).fold(0.0, f64::max);
                    binder.bind_skinned(skin, size, warnings)
                }
                None => binder.bind_rigid(instance.node, moving),
            };
            let placement = match placement {
                Ok(placement) => placement,
                Err(fault) => {
                    faults.push(fault);
                    continue;
                }
            };
            debug_assert!(moving || matches!(placement.bound, Bound::Nothing));
            let morphs = self.morphs_of.get(&instance.node).map_or(&[][..], Vec::as_slice);
            for part in self.meshes.get_mut(&instance.mesh).into_iter().flatten() {
                let first_vertex = merged.positions.len();
                faults.extend(merged.push(part, &placement, instance, morphs).err());
                self.parts.push(PartMap {
                    node: instance.node,
                    mesh: instance.mesh,
                    skin: instance.skin,
                    primitives: part.primitives.clone(),
                    vertices: first_vertex..merged.positions.len(),
                    world: placement.world,
                    bound: placement.bound.clone(),
                });
            }
            self.describe_morphs(instance, &mut merged);
        }
        self.slots = binder.slots;
        let (n_morphs, n_vertices) = (merged.morphs.len() as u64, merged.positions.len());
        faults.extend(self.decoder.charge(n_morphs, 12 * n_vertices, "/meshes").err());
        if !faults.is_empty() {
            return Err(faults);
        }
        merged.finish_morphs();
        Ok(merged)
    }

    /// Attributes and number of vertices of the whole surface; its memory is accounted for before any of it is
    /// allocated.
    fn attributes(&self, instances: &[Instance], moving: bool) -> Result<(Has, usize), Fault> {
        let mut has = Has::default();
        let (mut n_vertices, mut n_faces) = (0, 0);
        for instance in instances {
            for part in &self.meshes[&instance.mesh] {
                has.add(part, self.is_skinned(instance));
                let n_targets = part.targets.iter().flatten().count() as u64;
                self.decoder.charge(n_targets, 12 * part.positions.len(), &part.path)?;
                n_vertices += part.positions.len() as u64;
                n_faces += part.faces.iter().map(|(faces, _)| faces.len() as u64).sum::<u64>();
            }
        }
        has.influences *= usize::from(moving);
        self.decoder.charge(n_vertices, has.vertex_size(), "/meshes")?;
        self.decoder.charge(n_faces, 40, "/meshes")?;
        Ok((has, n_vertices as usize))
    }

    /// Give every target of every instance the number of its morph: in file order, those that several instances
    /// share (as our extension says) behind the others.
    fn number_morphs(&mut self, instances: &[Instance], shared: &[Vec<[usize; 2]>]) {
        let n_targets = |instance: &Instance| {
            self.meshes[&instance.mesh].iter().map(|part| part.targets.len()).max().unwrap_or(0)
        };
        let mut shared_of: HashMap<[usize; 2], usize> = HashMap::new();
        for (index, places) in shared.iter().enumerate() {
            for &place in places {
                shared_of.entry(place).or_insert(index);
            }
        }
        let mut n_own = 0;
        let mut numbered: Vec<(usize, Vec<Result<usize, usize>>)> = Vec::new();
        for instance in instances {
            let mut number = |target: usize| match shared_of.get(&[instance.node, target]) {
                Some(&index) => Err(index),
                None => {
                    n_own += 1;
                    Ok(n_own - 1)
                }
            };
            numbered.push((instance.node, (0..n_targets(instance)).map(&mut number).collect()));
        }
        // Shared morphs that no instance has leave no gap.
        let mut used: Vec<usize> = numbered.iter().flat_map(|(_, all)| all).filter_map(|n| n.err()).collect();
        used.sort_unstable();
        used.dedup();
        let place = |n: Result<usize, usize>| n.unwrap_or_else(|k| n_own + used.partition_point(|&u| u < k));
        for (node, all) in numbered.into_iter().filter(|(_, all)| !all.is_empty()) {
            self.morphs_of.insert(node, all.into_iter().map(place).collect());
        }
    }

    /// Name the morphs of an instance and set their weights, unless another instance has done so.
    fn describe_morphs(&self, instance: &Instance, merged: &mut Merged) {
        let (mesh, node) =
            (&self.decoder.root.meshes[instance.mesh], &self.decoder.root.nodes[instance.node]);
        let weights = if node.weights.is_empty() { &mesh.weights } else { &node.weights };
        for (target, &morph) in self.morphs_of.get(&instance.node).into_iter().flatten().enumerate() {
            let morph = &mut merged.morphs[morph];
            if morph.name.is_empty() {
                let weight = weights.get(target).copied().filter(|weight| weight.is_finite());
                morph.name = target_name(mesh, target);
                morph.default_weight = weight.unwrap_or(0.0);
            }
        }
    }
}

fn target_name(mesh: &MeshJson, target: usize) -> String {
    let named =
        mesh.extras.get("targetNames").and_then(|names| names.get(target)).and_then(|name| name.as_str());
    named.map_or_else(|| format!("target {target}"), str::to_owned)
}

fn build_skin(
    slots: Vec<SkinSlot>,
    merged: &mut Merged,
    warnings: &mut Warnings,
) -> Result<Option<Skin>, GeomError> {
    if merged.joints.is_empty() {
        return Ok(None);
    }
    let influences = merged.joints.len() / merged.positions.len().max(1);
    let (joints, weights) = (std::mem::take(&mut merged.joints), std::mem::take(&mut merged.weights));
    Skin::new(slots, influences, joints, weights, warnings).map(Some)
}

fn build_surface(
    decoder: &Decoder,
    merged: Merged,
    side: SideFiles,
    warnings: &mut Warnings,
) -> Result<(Mesh, Surface), Vec<Fault>> {
    let mut materials = read_materials(decoder, side, warnings);
    let n_materials = materials.len();
    let is_default = |material: Option<usize>| material.is_none_or(|material| material >= n_materials);
    if n_materials > 0 && merged.face_materials.iter().any(|&material| is_default(material)) {
        materials.push(default_material());
    }
    let in_file =
        |&material: &Option<usize>| material.filter(|_| !is_default(material)).unwrap_or(n_materials);
    if materials.len() > u16::MAX as usize {
        return Err(vec![Fault::json("/materials", format!("{} are more than 65535", materials.len()))]);
    }
    let face_materials: Vec<u16> = match materials.len() {
        0 | 1 => Vec::new(),
        _ => merged.face_materials.iter().map(|material| in_file(material) as u16).collect(),
    };
    let all_first = face_materials.iter().all(|&material| material == 0);
    let uvs = (!merged.uvs.is_empty()).then(|| Uvs { coords: merged.uvs, corners: merged.faces.clone() });
    let surface = Surface {
        polygons: None,
        normals: Some(merged.normals).filter(|normals| !normals.is_empty()),
        uvs,
        colors: Some(merged.colors).filter(|colors| !colors.is_empty()),
        materials,
        face_materials: if all_first { Vec::new() } else { face_materials },
    };
    let mesh = Mesh::new(merged.positions, merged.faces).map_err(as_faults)?;
    Ok((mesh, surface))
}
