//! Materials and their pictures.

use super::builder::Builder;
use crate::gltf::schema::mime_of;
use crate::gltf::schema::{self, MetallicRoughness, Texture, TextureInfo};
use sinew_geom::{AlphaMode, Image, Material, Warnings};
use std::collections::HashMap;

/// Write all materials; one neutral material if there are none, since glTF's own default is a white metal.
pub(in crate::gltf) fn write_materials(
    builder: &mut Builder,
    materials: &[Material],
    warnings: &mut Warnings,
) {
    let neutral = [Material::default()];
    let materials = if materials.is_empty() { &neutral } else { materials };
    let mut texture_of: HashMap<&[u8], usize> = HashMap::new();
    for material in materials {
        let texture = material.base_color_image.as_ref().and_then(|image| {
            let found = texture_of.get(image.bytes.as_slice()).copied();
            let texture = found.or_else(|| write_texture(builder, image))?;
            texture_of.insert(&image.bytes, texture);
            Some(TextureInfo { index: texture, tex_coord: 0, extensions: schema::Object::new() })
        });
        if material.base_color_image.is_some() && texture.is_none() {
            warnings.push(format!(
                "the picture of material {:?} is neither PNG nor JPEG; left out",
                material.name
            ));
        }
        let unit = |x: f32| if x.is_finite() { x.clamp(0.0, 1.0) } else { 1.0 };
        let base_color = material.base_color.map(unit);
        let (alpha_mode, alpha_cutoff) = match material.alpha {
            AlphaMode::Opaque => (None, None),
            AlphaMode::Mask(cutoff) => {
                (Some("MASK"), Some(if cutoff.is_finite() { cutoff.max(0.0) } else { 0.5 }))
            }
            AlphaMode::Blend => (Some("BLEND"), None),
        };
        builder.root.materials.push(schema::Material {
            name: Some(material.name.clone()).filter(|name| !name.is_empty()),
            pbr_metallic_roughness: Some(MetallicRoughness {
                base_color_factor: Some(base_color),
                base_color_texture: texture,
                metallic_roughness_texture: serde_json::Value::Null,
                metallic_factor: Some(unit(material.metallic)),
                roughness_factor: Some(unit(material.roughness)),
            }),
            alpha_mode: alpha_mode.map(str::to_owned),
            alpha_cutoff,
            double_sided: material.double_sided,
            ..schema::Material::default()
        });
    }
}

fn write_texture(builder: &mut Builder, image: &Image) -> Option<usize> {
    let mime = mime_of(&image.bytes)?;
    let buffer_view = Some(builder.view(&image.bytes, None));
    builder.root.images.push(schema::Image { uri: None, mime_type: Some(mime.to_owned()), buffer_view });
    let source = Some(builder.root.images.len() - 1);
    builder.root.textures.push(Texture { source });
    Some(builder.root.textures.len() - 1)
}
