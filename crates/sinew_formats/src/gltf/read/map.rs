//! Where in its file everything of a character comes from.

use super::bind::Bound;
use glam::DAffine3;
use std::ops::Range;

/// The way back from a character to the file it was read from.
#[derive(Debug, Default)]
pub(in crate::gltf) struct HostMap {
    /// Pieces of the surface, in the order of its vertices.
    pub parts: Vec<PartMap>,
    /// Meshes as nodes show them.
    pub instances: Vec<InstanceMap>,
    /// Node of each joint; none for a joint that is not in the file.
    pub nodes: Vec<Option<usize>>,
    /// How much larger than its node's the frame of each joint was taken.
    pub units: Vec<f64>,
    /// Where each clip comes from.
    pub clips: Vec<ClipMap>,
    /// Vertices of all parts.
    pub n_source_vertices: usize,
    /// What each of the last vertices of the parts is a copy of; the character does not have them.
    pub copies: Vec<u32>,
}

impl HostMap {
    /// The vertex of the character that a vertex of a part is.
    pub fn vertex(&self, source: usize) -> usize {
        let n = self.n_source_vertices - self.copies.len();
        if source < n { source } else { self.copies[source - n] as usize }
    }
}

/// Vertices of one mesh at one node that share their accessors.
#[derive(Debug)]
pub(in crate::gltf) struct PartMap {
    pub node: usize,
    pub mesh: usize,
    pub skin: Option<usize>,
    pub primitives: Vec<usize>,
    /// Vertices of the parts put one after the other.
    pub vertices: Range<usize>,
    /// `world_from_mesh` that was applied to the vertices.
    pub world: Option<DAffine3>,
    pub bound: Bound,
}

/// A mesh at a node, and the morph of each of its targets.
#[derive(Debug)]
pub(in crate::gltf) struct InstanceMap {
    pub node: usize,
    pub mesh: usize,
    pub morphs: Vec<usize>,
}

/// The animation of a clip, and what those of its channels move that were read.
#[derive(Debug)]
pub(in crate::gltf) struct ClipMap {
    pub animation: usize,
    pub channels: Vec<(usize, ChannelMap)>,
}

/// What a channel moves: a property of a joint, or the weights of the mesh at a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::gltf) enum ChannelMap {
    Translation(usize),
    Rotation(usize),
    Scale(usize),
    Weights(usize),
}
