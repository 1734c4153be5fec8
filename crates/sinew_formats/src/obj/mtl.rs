//! Material libraries: base colours and their pictures.

use crate::{
    color::linear_from_srgb,
    side_files::SideFiles,
    text::{fields, lines, number},
};
use sinew_geom::{AlphaMode, Image, Material, Warnings};
use std::{collections::BTreeSet, sync::Arc};

/// All materials of the available libraries. A missing library or picture is a warning.
pub(super) fn read_libraries(
    names: &BTreeSet<String>,
    side: SideFiles,
    warnings: &mut Warnings,
) -> Vec<Material> {
    let mut materials = Vec::new();
    for name in names {
        // A name may hold spaces, or a line several names.
        let several = || name.split_whitespace().filter_map(|word| load(word, side)).collect::<Vec<_>>();
        let libraries = load(name, side).map_or_else(several, |bytes| vec![bytes]);
        if libraries.is_empty() {
            warnings
                .push(format!("material library `{name}` was not found beside the file; colours are plain"));
        }
        for bytes in libraries {
            read_library(&bytes, side, &mut materials, warnings);
        }
    }
    materials
}

fn read_library(bytes: &[u8], side: SideFiles, materials: &mut Vec<Material>, warnings: &mut Warnings) {
    for (_, line) in lines(bytes) {
        let mut parts = fields(line);
        let Some(keyword) = parts.next() else { continue };
        let text =
            || String::from_utf8_lossy(line).trim().get(keyword.len()..).unwrap_or("").trim().to_owned();
        if keyword == b"newmtl" {
            materials.push(Material { name: text(), ..Material::default() });
            continue;
        }
        let Some(material) = materials.last_mut() else { continue };
        match keyword {
            b"Kd" => {
                for (channel, value) in material.base_color.iter_mut().zip(parts.filter_map(number)).take(3) {
                    // MTL colours are screen colours, glTF factors are linear.
                    *channel = linear_from_srgb(value.clamp(0.0, 1.0)) as f32;
                }
            }
            b"d" => {
                if let Some(alpha) = parts.next().and_then(number) {
                    material.base_color[3] = alpha.clamp(0.0, 1.0) as f32;
                    material.alpha = if alpha < 1.0 { AlphaMode::Blend } else { AlphaMode::Opaque };
                }
            }
            b"map_Kd" => match read_image(&text(), side) {
                // A picture replaces the colour, which is a fallback for other programs.
                Some(image) => {
                    material.base_color_image = Some(image);
                    material.base_color[..3].fill(1.0);
                }
                None => {
                    warnings.push(format!("picture `{}` was not found or is neither PNG nor JPEG", text()))
                }
            },
            _ => {}
        }
    }
}

/// The last word of a map line, options before it left out, or the whole of it for names with spaces.
fn read_image(text: &str, side: SideFiles) -> Option<Image> {
    let last = text.rsplit(' ').next().unwrap_or(text);
    let bytes = load(text, side).or_else(|| load(last, side))?;
    let mime = match bytes.as_slice() {
        [0x89, b'P', b'N', b'G', ..] => "image/png",
        [0xff, 0xd8, 0xff, ..] => "image/jpeg",
        _ => return None,
    };
    Some(Image { mime: mime.to_owned(), bytes: Arc::new(bytes) })
}

/// A side file by the name in the text; paths of another machine are cut to their last part.
fn load(name: &str, side: SideFiles) -> Option<Vec<u8>> {
    let name = name.trim().trim_start_matches("./");
    let last = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let safe = |name: &str| {
        let mut parts = std::path::Path::new(name).components();
        !name.is_empty()
            && !name.contains(['\\', ':'])
            && parts.all(|p| matches!(p, std::path::Component::Normal(_)))
    };
    [name, last].into_iter().filter(|name| safe(name)).find_map(|name| side(name).ok())
}
