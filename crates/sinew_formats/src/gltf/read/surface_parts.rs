//! The parts of a file: which node and material each face belongs to, and which nodes are hidden.

use super::Source;
use super::scene::Scene;
use crate::gltf::parts::{KeyedParts, SurfaceParts, VISIBILITY, material_name};
use crate::gltf::schema::Root;
use std::collections::BTreeSet;

impl SurfaceParts {
    /// As a file has them.
    pub(in crate::gltf) fn of_source(source: &Source) -> KeyedParts {
        let (character, map) = (&source.character, &source.map);
        let nodes = &source.decoder.root.nodes;
        let meshes = &source.decoder.root.meshes;
        let ends: Vec<usize> = map.parts.iter().map(|part| part.vertices.end).collect();
        let node_of = |vertex: usize| {
            map.parts.get(ends.partition_point(|&end| end <= vertex)).map_or(0, |part| part.node)
        };
        let surface = &character.surface;
        let material = |face: usize| surface.face_materials.get(face).map_or(0, |&at| usize::from(at));
        let keys = character
            .mesh
            .faces()
            .iter()
            .enumerate()
            .map(|(at, face)| (node_of(face[0] as usize), material(at)));
        let hidden = hidden_nodes(source.decoder.root, source.scene);
        Self::collect(keys, character.mesh.n_vertices(), |(node, material), is_split| {
            let found = nodes.get(node);
            let mesh = found.and_then(|node| meshes.get(node.mesh?)).and_then(|mesh| mesh.name.as_ref());
            let name =
                found.and_then(|node| node.name.as_ref()).or(mesh).filter(|name| !name.trim().is_empty());
            let name = name.cloned().unwrap_or_else(|| format!("mesh at node {node}"));
            let name = if is_split { format!("{name}/{}", material_name(surface, material)) } else { name };
            (name, !hidden.contains(&node))
        })
    }
}

/// Nodes that are hidden, by themselves or by one above them.
pub(in crate::gltf) fn hidden_nodes(root: &Root, scene: &Scene) -> BTreeSet<usize> {
    let hides = |node: usize| {
        root.nodes[node].extensions.get(VISIBILITY).is_some_and(|found| found["visible"] == false)
    };
    scene.order.iter().copied().filter(|&node| scene.chain(node).any(hides)).collect()
}
