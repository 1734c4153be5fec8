//! Pictures of textures: in the file, or beside it.

use crate::SideFiles;
use crate::gltf::schema::mime_of;
use std::path::Path;
use ufbx::Texture;

/// A picture that glTF can hold, or why there is none.
pub(super) enum Found {
    Picture(&'static str, Vec<u8>),
    Missing(String),
}

/// The picture of a texture.
pub(super) fn find(texture: &Texture, side: SideFiles, file: &str) -> Found {
    let video = texture.video.as_deref().map(|video| &video.content);
    let embedded = [Some(&texture.content), video].into_iter().flatten().find(|content| !content.is_empty());
    let names = [&texture.relative_filename, &texture.filename, &texture.absolute_filename];
    let names: Vec<&str> = names.into_iter().map(|name| &**name).filter(|name| !name.is_empty()).collect();
    let shown = names.first().map_or("without a name", |name| last(name)).to_owned();
    let beside = || places(&names, file).into_iter().find_map(|place| side(&place).ok());
    let Some(bytes) = embedded.map(|content| content.to_vec()).or_else(beside) else {
        return Found::Missing(format!("picture `{shown}` was not found beside the file; put it there"));
    };
    match mime_of(&bytes) {
        Some(mime) => Found::Picture(mime, bytes),
        None => Found::Missing(format!(
            "picture `{shown}` is neither PNG nor JPEG; convert it and put it beside the file under the same name with that \
             ending"
        )),
    }
}

/// Where a picture may lie, as paths below the folder of the file: the last parts of its name, by themselves and in the
/// folders that programs put pictures into; as PNG and JPEG if it is of another kind.
fn places(names: &[&str], file: &str) -> Vec<String> {
    let stem =
        Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let mut places: Vec<String> = Vec::new();
    for name in names {
        let name = name.replace('\\', "/");
        let parts: Vec<&str> = name.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        // Parts that lead elsewhere cut the path.
        let start = parts.iter().rposition(|part| *part == ".." || part.contains(':')).map_or(0, |at| at + 1);
        let parts = &parts[start..];
        let Some(&picture) = parts.last() else { continue };
        places.push(parts.join("/"));
        let folders = ["", "textures/", "Textures/", "maps/", "images/"].map(str::to_owned);
        places.extend(folders.into_iter().chain([format!("{stem}.fbm/")]).map(|folder| folder + picture));
    }
    let ending = |place: &String| Path::new(place).extension().map(|e| e.to_ascii_lowercase());
    let is_read =
        |place: &String| ending(place).is_some_and(|e| ["png", "jpg", "jpeg"].iter().any(|x| e == *x));
    let others: Vec<String> = places.iter().filter(|place| !is_read(place)).cloned().collect();
    let mut all = Vec::new();
    for place in others {
        let bare = place.rsplit_once('.').map_or(place.as_str(), |(bare, _)| bare);
        all.extend(["png", "jpg", "jpeg"].map(|ending| format!("{bare}.{ending}")));
    }
    all.extend(places);
    all
}

/// The last part of a path of any system.
fn last(name: &str) -> &str {
    name.rsplit(['/', '\\']).next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_looked_for_below_the_folder_only() {
        let names =
            ["..\\..\\art\\Skin.tga", "C:\\work\\art\\Skin.tga", "/home/me/Skin.tga", "sub/./Skin.png"];
        let places = places(&names, "/models/hero.fbx");
        for place in ["art/Skin.tga", "Skin.png", "hero.fbm/Skin.tga", "textures/Skin.png", "sub/Skin.png"] {
            assert!(places.iter().any(|found| found == place), "{place} is not in {places:?}");
        }
        for place in &places {
            let leaves = place.starts_with('/') || place.contains("..") || place.contains(':');
            assert!(!leaves, "{place} leaves the folder");
        }
    }
}
