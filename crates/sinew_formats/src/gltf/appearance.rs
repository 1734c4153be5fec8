//! What a surface looks like, for a renderer of glTF: the materials of a file as they are, without everything else.
//!
//! The JSON holds materials, textures, samplers and images alone. Each image is named `image/N`, whatever its source was;
//! textures whose picture cannot be drawn by browsers (KTX2, missing files) are taken out of the materials.

use super::read::{
    Source,
    pictures::{drawable_type, image_bytes, sources},
};
use super::source_file::Host;
use super::write::{
    builder::{Builder, unwritable},
    material::write_materials,
};
use crate::FormatError;
use serde_json::{Map, Value, json};
use sinew_geom::{Character, Surface, Warnings};
use std::collections::{BTreeMap, BTreeSet};

/// Texture coordinates beyond these are not drawn by anybody.
const MAX_UV_SETS: usize = 4;

/// Materials and what they need beside the surface of a character.
#[derive(Debug, Default)]
pub struct Appearance {
    /// A glTF file of materials, textures, samplers and images. Materials are numbered as those of the character's surface;
    /// a number beyond them is the default material of glTF.
    pub json: Value,
    /// The pictures that its images name, by number.
    pub pictures: BTreeMap<usize, Picture>,
    /// Further sets of texture coordinates that materials use, by number, per vertex of the character.
    pub uvs: BTreeMap<usize, Vec<[f32; 2]>>,
    /// Materials of primitives without normals, which are drawn with flat faces.
    pub flat: BTreeSet<usize>,
}

/// An encoded picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// What it is, by its bytes.
    pub mime: &'static str,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl Appearance {
    /// Of a character: as the file it came from has it, if that is kept and still fits, else as its surface says.
    pub fn of(host: Option<&Host>, character: &Character) -> Self {
        let kept = host.and_then(|host| host.appearance(character).ok());
        kept.unwrap_or_else(|| Self::of_surface(&character.surface))
    }

    /// As a surface says.
    fn of_surface(surface: &Surface) -> Self {
        let mut builder = Builder::new();
        write_materials(&mut builder, &surface.materials, &mut Warnings::default());
        let (root, bin) = builder.into_parts();
        let json = serde_json::to_value(&root).unwrap_or_default();
        let bytes = |view: usize| {
            let view = root.buffer_views.get(view)?;
            let start = view.byte_offset as usize;
            bin.get(start..start.checked_add(view.byte_length as usize)?).map(<[u8]>::to_vec)
        };
        let found = |image: &Value| bytes(image["bufferView"].as_u64()? as usize);
        Self::new(&json, &found)
    }

    /// As a file has it.
    pub(super) fn of_source(source: &Source) -> Result<Self, FormatError> {
        let json = source.parse_json().map_err(|error| unwritable(error.to_string()))?;
        let image = |image: &Value| image_bytes(source.decoder, source.side, image);
        let mut found = Self::new(&json, &image);
        for set in uv_sets(&found.json) {
            found.uvs.insert(set, read_uvs(source, set));
        }
        let root = source.decoder.root;
        let primitives = source.map.parts.iter().flat_map(|part| {
            part.primitives.iter().filter_map(|&at| root.meshes[part.mesh].primitives.get(at))
        });
        let bare = primitives.filter(|primitive| !primitive.attributes.contains_key("NORMAL"));
        let n = root.materials.len();
        found.flat = bare.map(|primitive| primitive.material.filter(|&at| at < n).unwrap_or(n)).collect();
        Ok(found)
    }

    fn new(root: &Value, bytes: &dyn Fn(&Value) -> Option<Vec<u8>>) -> Self {
        let list = |key: &str| root[key].as_array().cloned().unwrap_or_default();
        let mut pictures = BTreeMap::new();
        let (mut materials, mut textures, images) = (list("materials"), list("textures"), list("images"));
        let mut absent = BTreeSet::new();
        for (at, texture) in textures.iter_mut().enumerate() {
            let drawn = sources(texture).into_iter().find(|image| {
                let object = images.get(*image).unwrap_or(&Value::Null);
                let load = || {
                    let bytes = bytes(object)?;
                    Some(Picture { mime: drawable_type(&bytes)?, bytes })
                };
                let is_known = pictures.contains_key(image);
                is_known || load().map(|picture| pictures.insert(*image, picture)).is_some()
            });
            match drawn {
                Some(image) => *texture = json!({ "sampler": texture.get("sampler"), "source": image }),
                None => _ = absent.insert(at as u64),
            }
            if texture["sampler"].is_null()
                && let Some(texture) = texture.as_object_mut()
            {
                texture.shift_remove("sampler");
            }
        }
        materials.iter_mut().for_each(|material| drop_textures(material, &absent));
        let images: Vec<Value> =
            (0..images.len()).map(|at| json!({ "uri": format!("image/{at}") })).collect();
        let used: Vec<Value> = list("extensionsUsed").into_iter().filter(is_of_materials).collect();
        let json = json!({
            "asset": { "version": "2.0" }, "extensionsUsed": used, "materials": materials, "textures": textures,
            "samplers": list("samplers"), "images": images,
        });
        Self { json, pictures, ..Self::default() }
    }
}

fn is_of_materials(name: &Value) -> bool {
    let starts = ["KHR_materials_", "EXT_materials_", "KHR_texture_transform"];
    name.as_str().is_some_and(|name| starts.iter().any(|start| name.starts_with(start)))
}

/// Take textures out of a material, wherever extensions have them.
fn drop_textures(value: &mut Value, absent: &BTreeSet<u64>) {
    let Some(object) = value.as_object_mut() else { return };
    object.retain(|key, value| {
        let index = value.get("index").and_then(Value::as_u64);
        !(key.ends_with("Texture") && index.is_some_and(|index| absent.contains(&index)))
    });
    object.iter_mut().filter(|(key, _)| *key != "extras").for_each(|(_, value)| drop_textures(value, absent));
}

/// Sets of texture coordinates that materials use, but for the first.
fn uv_sets(json: &Value) -> BTreeSet<usize> {
    fn collect(object: &Map<String, Value>, sets: &mut BTreeSet<usize>) {
        let named = object.get("texCoord").and_then(Value::as_u64).map(|set| set as usize);
        sets.extend(named.filter(|set| (1..MAX_UV_SETS).contains(set)));
        let below = object.iter().filter(|(key, _)| *key != "extras");
        below.filter_map(|(_, value)| value.as_object()).for_each(|object| collect(object, sets));
    }
    let mut sets = BTreeSet::new();
    let materials = json["materials"].as_array().into_iter().flatten();
    materials.filter_map(Value::as_object).for_each(|material| collect(material, &mut sets));
    sets
}

/// A set of texture coordinates, per vertex of the character; zero where a part has none.
fn read_uvs(source: &Source, set: usize) -> Vec<[f32; 2]> {
    let mut uvs = vec![[0.0; 2]; source.character.mesh.n_vertices()];
    for part in &source.map.parts {
        let decoder = source.decoder;
        let primitive =
            part.primitives.first().and_then(|&at| decoder.root.meshes[part.mesh].primitives.get(at));
        let name = format!("TEXCOORD_{set}");
        let accessor = primitive.and_then(|primitive| primitive.attributes.get(&name));
        let Some(Ok(values)) = accessor.map(|&accessor| decoder.floats::<2>(accessor, &name)) else {
            continue;
        };
        for (at, value) in part.vertices.clone().zip(values) {
            uvs[source.map.vertex(at)] = value.map(|x| if x.is_finite() { x } else { 0.0 });
        }
    }
    uvs
}

impl Host {
    /// What the file says about the looks of a character that came from it.
    ///
    /// # Errors
    /// If the character has other faces, texture coordinates, colours or materials by now.
    pub fn appearance(&self, character: &Character) -> Result<Appearance, FormatError> {
        self.with_fitting(character, |source| Appearance::of_source(&source))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{gltf::read_gltf_with_host, no_side_files};

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n....";

    /// A triangle whose material has a normal map in the second set of coordinates, and maps that cannot be drawn.
    fn file() -> Vec<u8> {
        let base64 = |bytes: &[u8]| base64::Engine::encode(&base64::engine::general_purpose::STANDARD, bytes);
        let floats: Vec<f32> = [0, 0, 0, 1, 0, 0, 0, 1, 0, 7, 8, 9, 10, 11, 12].map(|x: u8| x as f32).into();
        let bytes: Vec<u8> = floats.iter().flat_map(|x| x.to_le_bytes()).collect();
        let text = json!({
            "asset": { "version": "2.0" },
            "extensionsUsed": ["KHR_materials_clearcoat", "KHR_texture_basisu", "KHR_lights_punctual"],
            "scenes": [{ "nodes": [0] }], "nodes": [{ "mesh": 0 }],
            "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0, "TEXCOORD_1": 1 }, "material": 0 }] }],
            "materials": [{
                "normalTexture": { "index": 0, "texCoord": 1, "scale": 0.5 },
                "emissiveTexture": { "index": 1 },
                "extensions": { "KHR_materials_clearcoat": {
                    "clearcoatFactor": 1, "clearcoatTexture": { "index": 1 }, "clearcoatNormalTexture": { "index": 2 } } },
            }],
            "textures": [
                { "source": 0, "sampler": 0 },
                { "extensions": { "KHR_texture_basisu": { "source": 1 } } },
                { "source": 1, "extensions": { "EXT_texture_webp": { "source": 0 } } },
            ],
            "samplers": [{ "wrapS": 33071 }],
            "images": [{ "uri": format!("data:image/png;base64,{}", base64(PNG)) }, { "uri": "not-there.ktx2" }],
            "accessors": [
                { "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0] },
                { "bufferView": 0, "byteOffset": 36, "componentType": 5126, "count": 3, "type": "VEC2" },
            ],
            "bufferViews": [{ "buffer": 0, "byteLength": bytes.len() }],
            "buffers": [{ "byteLength": bytes.len(), "uri": format!("data:;base64,{}", base64(&bytes)) }],
        });
        text.to_string().into_bytes()
    }

    #[test]
    fn materials_are_as_the_file_has_them_without_what_cannot_be_drawn() {
        let mut warnings = Warnings::default();
        let read = read_gltf_with_host(&file(), &no_side_files, "x.gltf", &mut warnings).unwrap();
        let looks = Appearance::of(read.host.as_deref(), &read.character);
        assert_eq!(looks.pictures, BTreeMap::from([(0, Picture { mime: "image/png", bytes: PNG.to_vec() })]));
        assert_eq!(looks.uvs, BTreeMap::from([(1, vec![[7.0, 8.0], [9.0, 10.0], [11.0, 12.0]])]));
        assert_eq!(looks.flat, BTreeSet::from([0]));
        assert_eq!(looks.json["extensionsUsed"], json!(["KHR_materials_clearcoat"]));
        let coat = json!({ "clearcoatFactor": 1, "clearcoatNormalTexture": { "index": 2 } });
        assert_eq!(
            looks.json["materials"],
            json!([{
                "normalTexture": { "index": 0, "texCoord": 1, "scale": 0.5 },
                "extensions": { "KHR_materials_clearcoat": coat },
            }])
        );
        assert_eq!(looks.json["textures"][0], json!({ "sampler": 0, "source": 0 }));
        assert_eq!(looks.json["textures"][2], json!({ "source": 0 }));
        assert_eq!(looks.json["images"][0], json!({ "uri": "image/0" }));
    }

    #[test]
    fn a_surface_without_a_file_is_drawn_as_it_says() {
        let image = sinew_geom::Image { mime: "image/png".into(), bytes: std::sync::Arc::new(PNG.to_vec()) };
        let painted = sinew_geom::Material { base_color_image: Some(image), ..Default::default() };
        let surface = Surface { materials: vec![Default::default(), painted], ..Surface::default() };
        let looks = Appearance::of(None, &Character { surface, ..Character::default() });
        assert_eq!(looks.pictures[&0].bytes, PNG);
        assert_eq!(looks.json["materials"][1]["pbrMetallicRoughness"]["baseColorTexture"]["index"], json!(0));
        // Neutral, where glTF's own default would be a white metal.
        let bare = Appearance::of(None, &Character::default());
        assert_eq!(bare.json["materials"][0]["pbrMetallicRoughness"]["metallicFactor"], json!(0.0));
    }
}
