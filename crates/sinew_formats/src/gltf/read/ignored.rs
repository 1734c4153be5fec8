//! A warning about content that is not read.

use crate::gltf::schema::{Material, Root};
use serde_json::Value;
use sinew_geom::Warnings;
use std::collections::BTreeSet;

/// Warn of textures, attributes, cameras and extensions of materials that are left out. Root extensions are the
/// responsibility of the caller.
pub(in crate::gltf) fn warn_ignored(root: &Root, warnings: &mut Warnings) {
    let mut lost = BTreeSet::new();
    root.materials.iter().for_each(|material| add_material(material, &mut lost));
    let primitives = root.meshes.iter().flat_map(|mesh| &mesh.primitives);
    let attributes = primitives.flat_map(|primitive| primitive.attributes.keys());
    lost.extend(attributes.filter(|name| !is_read(name)).map(|name| format!("attribute {name}")));
    let of_nodes = root.nodes.iter().flat_map(|node| node.extensions.keys());
    let of_primitives =
        root.meshes.iter().flat_map(|mesh| &mesh.primitives).flat_map(|p| p.extensions.keys());
    lost.extend(of_nodes.chain(of_primitives).map(|name| format!("extension {name}")));
    let channels = root.animations.iter().flat_map(|animation| &animation.channels);
    if channels.filter(|channel| channel.target.path == "pointer").count() > 0 {
        lost.insert("extension KHR_animation_pointer".to_owned());
    }
    if root.cameras.as_array().is_some_and(|cameras| !cameras.is_empty()) {
        lost.insert("cameras".to_owned());
    }
    if !lost.is_empty() {
        warnings.push(format!("not kept: {}", lost.into_iter().collect::<Vec<_>>().join(", ")));
    }
}

fn is_read(attribute: &str) -> bool {
    ["POSITION", "NORMAL", "TEXCOORD_0", "COLOR_0"].contains(&attribute)
        || ["JOINTS_", "WEIGHTS_"].iter().any(|start| attribute.starts_with(start))
}

fn add_material(material: &Material, lost: &mut BTreeSet<String>) {
    let shine = material.pbr_metallic_roughness.as_ref().map(|surface| &surface.metallic_roughness_texture);
    let base =
        material.pbr_metallic_roughness.as_ref().and_then(|surface| surface.base_color_texture.as_ref());
    let is_transformed = base.is_some_and(|base| base.extensions.contains_key("KHR_texture_transform"));
    let glows = |factor: &Value| {
        let channels = factor.as_array().into_iter().flatten();
        channels.filter_map(Value::as_f64).any(|channel| channel != 0.0)
    };
    let slots = [
        (base.is_some_and(|base| base.tex_coord != 0), "texture coordinates of base colours"),
        (is_transformed, "transforms of textures"),
        (!material.normal_texture.is_null(), "normal textures"),
        (!material.occlusion_texture.is_null(), "occlusion textures"),
        (!material.emissive_texture.is_null(), "emissive textures"),
        (glows(&material.emissive_factor), "emissive colours"),
        (shine.is_some_and(|texture| !texture.is_null()), "metallic-roughness textures"),
    ];
    lost.extend(slots.iter().filter(|(has, _)| *has).map(|(_, what)| (*what).to_owned()));
    let extensions = material.extensions.as_object().into_iter().flatten();
    lost.extend(extensions.map(|(name, _)| format!("extension {name}")));
}
