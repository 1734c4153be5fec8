//! Content of a file, counted without decoding it.

use super::avatar::Avatar;
use crate::gltf::schema::{Primitive, Root};
use std::collections::HashSet;

/// Counts over the whole file, each mesh once however often it is used.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GltfInfo {
    /// Program that wrote the file.
    pub generator: Option<String>,
    /// Vertices of all meshes.
    pub n_vertices: usize,
    /// Triangles of all meshes.
    pub n_faces: usize,
    /// Meshes in the file.
    pub n_meshes: usize,
    /// Mesh instances in the scene that was read.
    pub n_instances: usize,
    /// Joints of each skin.
    pub skin_joints: Vec<usize>,
    /// Name and duration in seconds of each animation.
    pub clips: Vec<(String, f32)>,
    /// Morph targets of all meshes.
    pub n_morphs: usize,
    /// Extensions the file says it uses.
    pub extensions_used: Vec<String>,
    /// The person in it, if it is VRM.
    pub avatar: Option<Avatar>,
}

impl GltfInfo {
    /// Count. `n_instances` and the clips' durations are filled in by the reader.
    pub(super) fn count(root: &Root) -> Self {
        let mut info = Self {
            generator: root.asset.generator.clone(),
            n_meshes: root.meshes.len(),
            skin_joints: root.skins.iter().map(|skin| skin.joints.len()).collect(),
            extensions_used: root.extensions_used.clone(),
            ..Self::default()
        };
        for mesh in &root.meshes {
            let mut seen = HashSet::new();
            for primitive in &mesh.primitives {
                let n_vertices = count_of(root, primitive.attributes.get("POSITION").copied());
                if seen.insert(&primitive.attributes) {
                    info.n_vertices = info.n_vertices.saturating_add(n_vertices);
                }
                info.n_faces = info.n_faces.saturating_add(n_triangles(root, primitive, n_vertices));
            }
            info.n_morphs += mesh.primitives.first().map_or(0, |primitive| primitive.targets.len());
        }
        for (index, animation) in root.animations.iter().enumerate() {
            let name = animation.name.clone().unwrap_or_else(|| format!("clip {index}"));
            let last = |sampler: &crate::gltf::schema::Sampler| {
                root.accessors.get(sampler.input).and_then(|times| times.max.first().copied())
            };
            let duration = animation.samplers.iter().filter_map(last).fold(0.0, f64::max);
            info.clips.push((name, duration as f32));
        }
        info
    }
}

fn count_of(root: &Root, accessor: Option<usize>) -> usize {
    accessor.and_then(|index| root.accessors.get(index)).map_or(0, |accessor| accessor.count as usize)
}

fn n_triangles(root: &Root, primitive: &Primitive, n_vertices: usize) -> usize {
    let n_corners = match primitive.indices {
        Some(_) => count_of(root, primitive.indices),
        None => n_vertices,
    };
    match primitive.mode.unwrap_or(4) {
        4 => n_corners / 3,
        5 | 6 => n_corners.saturating_sub(2),
        _ => 0,
    }
}
