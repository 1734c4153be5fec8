//! The parts of a character that a user tells apart: hair, eyes, clothes.
//!
//! In a file that is kept, a part is a mesh at a node; where that has several materials, the faces of one of them. In
//! anything else it is the faces of one material.

use crate::names::Names;
use sinew_geom::{Character, GeomError, Surface, Warnings};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The extension by which glTF hides a node with everything below it.
pub(crate) const VISIBILITY: &str = "KHR_node_visibility";

/// The extension by which glTF draws a mesh at many places.
pub(super) const INSTANCING: &str = "EXT_mesh_gpu_instancing";

/// A piece of a surface that can be shown, hidden and exported by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SurfacePart {
    /// Unique among the parts of its character.
    pub name: String,
    /// How many faces it has.
    pub n_faces: usize,
    /// Whether the file shows it.
    pub is_visible: bool,
}

/// The parts of a character, in the order of its file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SurfaceParts {
    /// All of them.
    pub parts: Vec<SurfacePart>,
    /// Number of the part of each face.
    pub of_faces: Vec<u32>,
    pub(super) n_vertices: usize,
}

/// Which parts are written, and which of them are shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PartChoice {
    /// Names of those that are not written.
    pub left_out: BTreeSet<String>,
    /// Names of those that are written but not shown; if absent, as the file has it.
    pub hidden: Option<BTreeSet<String>>,
}

impl PartChoice {
    /// Name the hidden parts that a file shows because it cannot hide them. `all` are the parts as they were read.
    pub fn warn_shown(&self, all: &SurfaceParts, warnings: &mut Warnings) {
        let hidden: Vec<&String> = match &self.hidden {
            Some(hidden) => hidden.iter().collect(),
            None => all.parts.iter().filter(|part| !part.is_visible).map(|part| &part.name).collect(),
        };
        let written = hidden.into_iter().filter(|name| !self.left_out.contains(*name));
        let names: Vec<&str> = written.map(String::as_str).collect();
        if !names.is_empty() {
            warnings.push(format!(
                "hidden parts are written visibly, because this file cannot hide them: {}; leave them out if they \
                 should not be seen",
                names.join(", ")
            ));
        }
    }
}

/// What a face belongs to in a file: a node and a material.
pub(super) type PartKey = (usize, usize);

/// Parts with what they are in their file.
pub(super) struct KeyedParts {
    pub parts: SurfaceParts,
    pub keys: Vec<PartKey>,
}

impl SurfaceParts {
    /// By the materials of a surface.
    pub(super) fn by_material(surface: &Surface, character: &Character) -> Self {
        let material = |face: usize| surface.face_materials.get(face).map_or(0, |&at| usize::from(at));
        let keys = (0..character.mesh.n_faces()).map(|face| (0, material(face)));
        Self::collect(keys, character.mesh.n_vertices(), |(_, material), _| {
            (material_name(surface, material), true)
        })
        .parts
    }

    /// Number the keys of all faces, those of a node one after the other. `name` is given whether a node has several.
    pub(super) fn collect(
        keys: impl Iterator<Item = PartKey>,
        n_vertices: usize,
        name: impl Fn(PartKey, bool) -> (String, bool),
    ) -> KeyedParts {
        let keys: Vec<PartKey> = keys.collect();
        let mut first: HashMap<PartKey, (usize, usize)> = HashMap::new();
        let mut nodes: BTreeMap<usize, usize> = BTreeMap::new();
        for (face, key) in keys.iter().enumerate() {
            nodes.entry(key.0).or_insert(face);
            first.entry(*key).or_insert((face, 0)).1 += 1;
        }
        let mut order: Vec<(PartKey, (usize, usize))> = first.into_iter().collect();
        order.sort_by_key(|(key, (face, _))| (nodes[&key.0], *face));
        let (mut names, mut parts) = (Names::default(), Vec::new());
        let mut n_of: HashMap<usize, usize> = HashMap::new();
        order.iter().for_each(|(key, _)| *n_of.entry(key.0).or_default() += 1);
        for (key, (_, n_faces)) in &order {
            let is_split = n_of[&key.0] > 1;
            let (name, is_visible) = name(*key, is_split);
            parts.push(SurfacePart { name: names.unique(&name), n_faces: *n_faces, is_visible });
        }
        let number: HashMap<PartKey, u32> =
            order.iter().enumerate().map(|(at, (key, _))| (*key, at as u32)).collect();
        let of_faces = keys.iter().map(|key| number[key]).collect();
        let keys = order.into_iter().map(|(key, _)| key).collect();
        KeyedParts { parts: Self { parts, of_faces, n_vertices }, keys }
    }

    /// The name of the part of a face.
    pub fn name_of(&self, face: usize) -> Option<&str> {
        Some(self.parts.get(*self.of_faces.get(face)? as usize)?.name.as_str())
    }

    /// Names of the parts that a user means: one by its name, or all of a node by the node's, whatever their case.
    pub fn find(&self, wanted: &str) -> Vec<&str> {
        let names = || self.parts.iter().map(|part| part.name.as_str());
        if let Some(exact) = names().find(|name| *name == wanted) {
            return vec![exact];
        }
        let wanted = wanted.to_lowercase();
        let is_of = |name: &&str| {
            let name = name.to_lowercase();
            name == wanted || name.strip_prefix(&wanted).is_some_and(|rest| rest.starts_with('/'))
        };
        names().filter(is_of).collect()
    }

    /// A character without some of its parts.
    ///
    /// # Errors
    /// If a part of the character does not fit its mesh.
    pub fn leave_out(
        &self,
        character: &Character,
        left_out: &BTreeSet<String>,
    ) -> Result<Character, GeomError> {
        let is_out: Vec<bool> = self.parts.iter().map(|part| left_out.contains(&part.name)).collect();
        character.with_faces(|face| !self.of_faces.get(face).is_some_and(|&part| is_out[part as usize]))
    }
}

/// Name of a material, or its number.
pub(super) fn material_name(surface: &Surface, material: usize) -> String {
    let name =
        surface.materials.get(material).map(|material| material.name.trim()).filter(|name| !name.is_empty());
    name.map_or_else(|| format!("material {material}"), str::to_owned)
}
