//! The glTF file under construction.

use super::material::Materials;
use super::nodes::Nodes;
use crate::gltf::schema::Node;
use crate::gltf::write::builder::Builder;
use crate::{Fault, Place};
use sinew_geom::Warnings;
use std::cell::Cell;
use ufbx::Scene;

/// What all parts of the translation share.
pub(super) struct Draft<'a> {
    pub scene: &'a Scene,
    pub builder: Builder,
    pub nodes: Nodes,
    pub materials: Materials<'a>,
    pub warnings: &'a mut Warnings,
    pub budget: Budget,
}

/// Memory that may still be used: meshes can be shown many times, and curves sampled finely.
pub(super) struct Budget(Cell<usize>);

impl Budget {
    /// So many bytes.
    pub fn new(bytes: usize) -> Self {
        Self(Cell::new(bytes))
    }

    /// Bytes that are left.
    pub fn left(&self) -> usize {
        self.0.get()
    }

    /// Account for memory before it is used.
    pub fn charge(&self, count: usize, size: usize) -> Result<(), Fault> {
        let left = count.checked_mul(size).and_then(|bytes| self.0.get().checked_sub(bytes));
        left.map(|left| self.0.set(left)).ok_or_else(|| {
            Fault::new(Place::Whole, "its content is larger than a file of this size may be")
                .with_remedy("the file is damaged, or must be split")
        })
    }
}

impl Draft<'_> {
    /// Add a node.
    pub fn push_node(&mut self, node: Node) -> usize {
        self.builder.root.nodes.push(node);
        self.builder.root.nodes.len() - 1
    }
}
