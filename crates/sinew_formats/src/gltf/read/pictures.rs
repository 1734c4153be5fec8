//! Pictures of textures: where they are, and which of them browsers draw.

use super::{Source, accessor::Decoder, resource::load_uri};
use crate::gltf::schema::picture_type;
use crate::side_files::SideFiles;
use serde_json::Value;

/// Types of pictures that browsers draw.
const DRAWN: [&str; 4] = ["image/png", "image/jpeg", "image/webp", "image/avif"];

/// How many textures have pictures, but none that browsers draw.
pub(super) fn undrawn_textures(source: &Source, json: &Value) -> usize {
    let images = json["images"].as_array().map_or(&[][..], Vec::as_slice);
    // Each is loaded once, however many textures share it.
    let type_of = |image: &Value| picture_type(&image_bytes(source.decoder, source.side, image)?);
    let types: Vec<Option<&str>> = images.iter().map(type_of).collect();
    let type_at = |image: &usize| types.get(*image).copied().flatten();
    let is_undrawn = |texture: &&Value| {
        let packed =
            ["KHR_texture_basisu", "MSFT_texture_dds"].map(|name| &texture["extensions"][name]["source"]);
        let has_packed = packed.iter().any(|image| image.is_u64());
        let own = sources(texture);
        let is_drawn = own.iter().filter_map(type_at).any(|mime| DRAWN.contains(&mime));
        !is_drawn && (has_packed || own.iter().any(|image| type_at(image).is_some()))
    };
    json["textures"].as_array().into_iter().flatten().filter(is_undrawn).count()
}

/// Pictures of a texture that may be there, those of extensions first.
pub(in crate::gltf) fn sources(texture: &Value) -> Vec<usize> {
    let extensions =
        ["EXT_texture_avif", "EXT_texture_webp"].map(|name| &texture["extensions"][name]["source"]);
    extensions
        .into_iter()
        .chain([&texture["source"]])
        .filter_map(Value::as_u64)
        .map(|at| at as usize)
        .collect()
}

/// The bytes of a picture.
pub(in crate::gltf) fn image_bytes(decoder: &Decoder, side: SideFiles, image: &Value) -> Option<Vec<u8>> {
    if let Some(uri) = image["uri"].as_str() {
        return load_uri(uri, side).ok();
    }
    decoder.view(image["bufferView"].as_u64()? as usize, "/images").ok().map(<[u8]>::to_vec)
}

/// Type of a picture that browsers draw.
pub(in crate::gltf) fn drawable_type(bytes: &[u8]) -> Option<&'static str> {
    picture_type(bytes).filter(|mime| DRAWN.contains(mime))
}
