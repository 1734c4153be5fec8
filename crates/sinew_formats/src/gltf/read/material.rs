//! Materials and their pictures. A picture that cannot be read is left out with a warning.

use super::accessor::Decoder;
use super::resource::{load_uri, out_of_range};
use crate::Fault;
use crate::gltf::schema::{self, mime_of};
use crate::side_files::SideFiles;
use sinew_geom::{AlphaMode, Image, Material, Warnings};
use std::sync::Arc;

/// `alphaCutoff` where a file does not say.
const DEFAULT_CUTOFF: f32 = 0.5;

/// All materials of a file, in its order.
pub(super) fn read_materials(decoder: &Decoder, side: SideFiles, warnings: &mut Warnings) -> Vec<Material> {
    let mut images: Vec<Option<Image>> = vec![None; decoder.root.images.len()];
    let materials = decoder.root.materials.iter().enumerate();
    materials
        .map(|(index, material)| read_material(decoder, index, material, &mut images, side, warnings))
        .collect()
}

/// The default material of glTF.
pub(super) fn default_material() -> Material {
    Material { base_color: [1.0; 4], metallic: 1.0, roughness: 1.0, ..Material::default() }
}

fn read_material(
    decoder: &Decoder,
    index: usize,
    material: &schema::Material,
    images: &mut [Option<Image>],
    side: SideFiles,
    warnings: &mut Warnings,
) -> Material {
    let surface = material.pbr_metallic_roughness.clone().unwrap_or_default();
    let unit = |x: f32, default: f32| if x.is_finite() { x.clamp(0.0, 1.0) } else { default };
    let image = surface.base_color_texture.as_ref().and_then(|texture| {
        let path = format!("/materials/{index}/pbrMetallicRoughness/baseColorTexture");
        let image = read_texture(decoder, texture.index, &path, images, side);
        image.map_err(|fault| warnings.push(format!("{path}: {fault}; the picture is left out"))).ok()
    });
    Material {
        name: material.name.clone().unwrap_or_default(),
        base_color: surface.base_color_factor.unwrap_or([1.0; 4]).map(|x| unit(x, 1.0)),
        base_color_image: image,
        metallic: unit(surface.metallic_factor.unwrap_or(1.0), 1.0),
        roughness: unit(surface.roughness_factor.unwrap_or(1.0), 1.0),
        double_sided: material.double_sided,
        alpha: read_alpha(index, material, warnings),
    }
}

fn read_alpha(index: usize, material: &schema::Material, warnings: &mut Warnings) -> AlphaMode {
    match material.alpha_mode.as_deref() {
        None | Some("OPAQUE") => AlphaMode::Opaque,
        Some("BLEND") => AlphaMode::Blend,
        Some("MASK") => {
            let cutoff = material.alpha_cutoff.filter(|cutoff| cutoff.is_finite() && *cutoff >= 0.0);
            AlphaMode::Mask(cutoff.unwrap_or(DEFAULT_CUTOFF))
        }
        Some(other) => {
            warnings.push(format!("/materials/{index}/alphaMode: {other:?} is unknown; drawn opaque"));
            AlphaMode::Opaque
        }
    }
}

fn read_texture(
    decoder: &Decoder,
    texture: usize,
    path: &str,
    images: &mut [Option<Image>],
    side: SideFiles,
) -> Result<Image, Fault> {
    let textures = &decoder.root.textures;
    let found =
        textures.get(texture).ok_or_else(|| out_of_range(path, "texture", texture, textures.len()))?;
    let source = found.source.ok_or_else(|| {
        Fault::json(format!("/textures/{texture}"), "its picture is in a format only an extension knows")
    })?;
    let n_images = images.len();
    let place = format!("/textures/{texture}/source");
    let slot = images.get_mut(source).ok_or_else(|| out_of_range(&place, "image", source, n_images))?;
    if let Some(image) = slot {
        return Ok(image.clone());
    }
    let image = read_image(decoder, source, side)?;
    Ok(slot.insert(image).clone())
}

fn read_image(decoder: &Decoder, index: usize, side: SideFiles) -> Result<Image, Fault> {
    let image = &decoder.root.images[index];
    let path = format!("/images/{index}");
    let bytes = match (&image.uri, image.buffer_view) {
        (Some(uri), _) => load_uri(uri, side).map_err(|cause| Fault::json(&path, cause))?,
        (None, Some(view)) => {
            let bytes = decoder.view(view, &path)?;
            decoder.charge(bytes.len() as u64, 1, &path)?;
            bytes.to_vec()
        }
        (None, None) => return Err(Fault::json(path, "the image has neither uri nor bufferView")),
    };
    let mime = mime_of(&bytes).ok_or_else(|| Fault::json(path, "the picture is neither PNG nor JPEG"))?;
    Ok(Image { mime: mime.to_owned(), bytes: Arc::new(bytes) })
}
