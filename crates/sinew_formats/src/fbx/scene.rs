//! A scene to glTF, part by part.

use super::draft::{Budget, Draft};
use super::material::Materials;
use super::nodes::Nodes;
use super::{clip, lost, mesh, skin};
use crate::gltf::schema::Asset;
use crate::gltf::write::builder::Builder;
use crate::{Fault, FormatError, SideFiles};
use sinew_geom::Warnings;
use ufbx::Scene;

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
    let mut draft = Draft { scene, builder, nodes, materials, warnings, budget: Budget::new(memory_limit) };
    write_parts(&mut draft).map_err(|fault| FormatError::faults(name, vec![fault]))?;
    draft.builder.finish()
}

fn write_parts(draft: &mut Draft) -> Result<(), Fault> {
    let shown = mesh::write_meshes(draft)?;
    skin::write_bare_skeletons(draft);
    clip::write_clips(draft, &shown)?;
    draft.nodes.finish(&mut draft.builder);
    Ok(())
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
