//! The glTF file under construction.

use super::material::Materials;
use super::{clip, lost, mesh, nodes::Nodes, skin};
use crate::gltf::schema::{Asset, Node};
use crate::gltf::write::builder::Builder;
use crate::{Fault, FormatError, Place, SideFiles};
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

/// Bytes of a GLB that says what a scene does.
pub(super) fn write_scene(
    scene: &Scene,
    memory_limit: usize,
    side: SideFiles,
    name: &str,
    warnings: &mut Warnings,
) -> Result<Vec<u8>, FormatError> {
    let mut builder = Builder::new();
    builder.root.asset = Asset { generator: Some(generator(scene)), ..builder.root.asset };
    lost::warn_lost(scene, warnings);
    let nodes = Nodes::write(scene, &mut builder);
    let materials = Materials::new(scene, side, name);
    let budget = Budget(Cell::new(memory_limit));
    let mut draft = Draft { scene, builder, nodes, materials, warnings, budget };
    let written = draft.write();
    written.map_err(|fault| FormatError::faults(name, vec![fault]))?;
    draft.builder.finish()
}

impl Draft<'_> {
    fn write(&mut self) -> Result<(), Fault> {
        let shown = mesh::write_meshes(self)?;
        skin::write_bare_skeletons(self);
        clip::write_clips(self, &shown)?;
        self.nodes.finish(&mut self.builder);
        Ok(())
    }

    /// Add a node.
    pub fn push_node(&mut self, node: Node) -> usize {
        self.builder.root.nodes.push(node);
        self.builder.root.nodes.len() - 1
    }
}

/// Which program wrote the file, and which version of the format it is.
fn generator(scene: &Scene) -> String {
    let meta = &scene.metadata;
    let kind = if meta.ascii { "ASCII" } else { "binary" };
    let format = format!("FBX {}.{} {kind}", meta.version / 1000, meta.version % 1000 / 100);
    match meta.creator.trim() {
        "" => format,
        creator => format!("{format}, by {creator}"),
    }
}
