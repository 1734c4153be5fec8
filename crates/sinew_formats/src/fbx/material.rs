//! Materials and their pictures.

use super::picture::{self, Found};
use crate::SideFiles;
use crate::gltf::schema::{self, MetallicRoughness, Object, Texture as TextureJson, TextureInfo};
use crate::gltf::write::builder::Builder;
use serde_json::{Value, json};
use sinew_geom::{Material as Neutral, Warnings};
use std::collections::{BTreeMap, BTreeSet};
use ufbx::{Material, MaterialMap, Scene, ShaderType, Texture, WrapMode};

/// Materials written so far.
pub(super) struct Materials<'a> {
    scene: &'a Scene,
    side: SideFiles<'a>,
    file: &'a str,
    /// Material of glTF of each material; the neutral one has none.
    of: BTreeMap<Option<u32>, usize>,
    /// Texture of glTF of each picture; none if it could not be read.
    pictures: BTreeMap<u32, Option<usize>>,
}

/// A slot of a material.
type Slot = fn(&Material) -> &MaterialMap;

/// Slots of materials that glTF has no place for, or only as a part of another picture.
const LOST: [(&str, Slot); 9] = [
    ("metalness", |m| &m.pbr.metalness),
    ("roughness", |m| &m.pbr.roughness),
    ("occlusion", |m| &m.pbr.ambient_occlusion),
    ("specular colour", |m| &m.pbr.specular_color),
    ("glossiness", |m| &m.fbx.specular_exponent),
    ("heights (bump)", |m| &m.fbx.bump),
    ("displacement", |m| &m.fbx.displacement),
    ("reflection", |m| &m.fbx.reflection_color),
    ("ambient colour", |m| &m.fbx.ambient_color),
];

impl<'a> Materials<'a> {
    pub fn new(scene: &'a Scene, side: SideFiles<'a>, file: &'a str) -> Self {
        Self { scene, side, file, of: BTreeMap::new(), pictures: BTreeMap::new() }
    }

    /// Write a material, once; without one, a neutral one.
    pub fn write(
        &mut self,
        material: Option<&Material>,
        builder: &mut Builder,
        warnings: &mut Warnings,
    ) -> usize {
        let id = material.map(|material| material.element.typed_id);
        if let Some(&found) = self.of.get(&id) {
            return found;
        }
        let json = match material {
            Some(material) => self.convert(material, builder, warnings),
            None => neutral(),
        };
        builder.root.materials.push(json);
        let index = builder.root.materials.len() - 1;
        self.of.insert(id, index);
        index
    }

    fn convert(
        &mut self,
        material: &Material,
        builder: &mut Builder,
        warnings: &mut Warnings,
    ) -> schema::Material {
        let name = material.element.name.to_string();
        let mut said = Vec::new();
        let base = self.texture(material, &material.pbr.base_color, builder, &mut said);
        let normal = normal_map(material);
        let normal = normal.and_then(|map| self.texture(material, map, builder, &mut said));
        let glow = self.texture(material, &material.pbr.emission_color, builder, &mut said);
        let alpha = self.alpha(material, base.is_some());
        let glow_factor = emission(material, glow.is_some());
        let surface = MetallicRoughness {
            base_color_factor: Some(base_color(material, base.is_some(), alpha)),
            base_color_texture: base,
            metallic_factor: Some(number(&material.pbr.metalness).unwrap_or(0.0)),
            roughness_factor: Some(number(&material.pbr.roughness).unwrap_or(Neutral::default().roughness)),
            ..MetallicRoughness::default()
        };
        let to_json = |info: Option<TextureInfo>| info.map_or(Value::Null, |info| json!(info));
        said.extend(lost(material));
        if !said.is_empty() {
            said.sort();
            said.dedup();
            warnings.push(format!("material {name:?}: {}", said.join("; ")));
        }
        for info in surface.base_color_texture.iter() {
            if !info.extensions.is_empty()
                && !builder.root.extensions_used.iter().any(|used| used == TRANSFORM)
            {
                builder.root.extensions_used.push(TRANSFORM.to_owned());
            }
        }
        schema::Material {
            name: Some(name).filter(|name| !name.is_empty()),
            pbr_metallic_roughness: Some(surface),
            alpha_mode: (alpha.is_some()).then(|| "BLEND".to_owned()),
            double_sided: material.features.double_sided.enabled,
            normal_texture: to_json(normal),
            emissive_texture: to_json(glow),
            emissive_factor: glow_factor.map_or(Value::Null, |factor| json!(factor)),
            ..schema::Material::default()
        }
    }

    /// The texture in a slot, if there is one that can be shown; what is lost of it is said.
    fn texture(
        &mut self,
        material: &Material,
        map: &MaterialMap,
        builder: &mut Builder,
        said: &mut Vec<String>,
    ) -> Option<TextureInfo> {
        let texture = map.texture.as_deref().filter(|_| map.texture_enabled)?;
        let files = &texture.file_textures;
        let found = files.first().map_or(texture, |first| &**first);
        if files.len() > 1 {
            said.push(format!("of {} layers of a texture the first is shown", files.len()));
        }
        let id = found.element.typed_id;
        if !self.pictures.contains_key(&id) {
            let written = match picture::find(found, self.side, self.file) {
                Found::Picture(mime, bytes) => Some(write_picture(builder, mime, &bytes)),
                Found::Missing(cause) => {
                    said.push(cause);
                    None
                }
            };
            self.pictures.insert(id, written);
        }
        let index = self.pictures.get(&id).copied().flatten()?;
        if found.wrap_u == WrapMode::Clamp || found.wrap_v == WrapMode::Clamp {
            said.push("a picture that ends at its edges is repeated".to_owned());
        }
        let extensions = transform_of(found, said);
        Some(TextureInfo { index, tex_coord: self.uv_set(material, found), extensions })
    }

    /// Number of the set of texture coordinates that a texture names.
    fn uv_set(&self, material: &Material, texture: &Texture) -> usize {
        let id = material.element.typed_id;
        let uses = |mesh: &ufbx::Mesh| mesh.materials.iter().any(|m| m.element.typed_id == id);
        let meshes = self.scene.meshes.iter().filter(|mesh| uses(mesh));
        let mut sets = meshes.filter_map(|mesh| {
            let shown =
                mesh.uv_sets.iter().filter(|set| set.vertex_uv.exists).take(super::corners::MAX_UV_SETS);
            shown.into_iter().position(|set| *set.name == *texture.uv_set)
        });
        sets.next().unwrap_or(0)
    }

    /// Opacity of a material one can see through.
    fn alpha(&self, material: &Material, has_picture: bool) -> Option<f32> {
        let picture = |map: &MaterialMap| {
            let texture = map.texture.as_deref().filter(|_| map.texture_enabled)?;
            texture.file_textures.first().map(|file| file.file_index)
        };
        let base = picture(&material.pbr.base_color);
        let cuts =
            [&material.pbr.opacity, &material.fbx.transparency_color, &material.fbx.transparency_factor];
        let is_cut = has_picture && cuts.into_iter().any(|map| base.is_some() && picture(map) == base);
        let amount = opacity(material);
        (is_cut || amount < 1.0).then_some(if is_cut { 1.0 } else { amount })
    }
}

const TRANSFORM: &str = "KHR_texture_transform";

/// What a face without a material looks like.
fn neutral() -> schema::Material {
    let plain = Neutral::default();
    schema::Material {
        pbr_metallic_roughness: Some(MetallicRoughness {
            base_color_factor: Some(plain.base_color),
            metallic_factor: Some(plain.metallic),
            roughness_factor: Some(plain.roughness),
            ..MetallicRoughness::default()
        }),
        ..schema::Material::default()
    }
}

fn write_picture(builder: &mut Builder, mime: &str, bytes: &[u8]) -> usize {
    let buffer_view = Some(builder.view(bytes, None));
    builder.root.images.push(schema::Image { uri: None, mime_type: Some(mime.to_owned()), buffer_view });
    let source = Some(builder.root.images.len() - 1);
    builder.root.textures.push(TextureJson { source });
    builder.root.textures.len() - 1
}

fn unit(x: f64) -> f32 {
    if x.is_finite() { x.clamp(0.0, 1.0) as f32 } else { 1.0 }
}

fn number(map: &MaterialMap) -> Option<f32> {
    map.has_value.then(|| unit(map.value_vec4.x))
}

/// A picture replaces the colour, as it does in FBX.
fn base_color(material: &Material, has_picture: bool, alpha: Option<f32>) -> [f32; 4] {
    let alpha = alpha.unwrap_or(1.0);
    let map = &material.pbr.base_color;
    if has_picture {
        return [1.0, 1.0, 1.0, alpha];
    }
    if !map.has_value {
        let [r, g, b, _] = Neutral::default().base_color;
        return [r, g, b, alpha];
    }
    let factor = number(&material.pbr.base_factor).unwrap_or(1.0);
    let [r, g, b] = [map.value_vec4.x, map.value_vec4.y, map.value_vec4.z].map(|x| unit(x) * factor);
    [r, g, b, alpha]
}

/// Light of a material itself, if it gives any.
fn emission(material: &Material, has_picture: bool) -> Option<[f32; 3]> {
    let factor = number(&material.pbr.emission_factor).unwrap_or(1.0);
    let color = &material.pbr.emission_color;
    let rgb = match (has_picture, color.has_value) {
        (true, _) => [1.0; 3],
        (false, true) => [color.value_vec4.x, color.value_vec4.y, color.value_vec4.z].map(unit),
        (false, false) => [0.0; 3],
    };
    let rgb = rgb.map(|x| x * factor);
    (rgb != [0.0; 3]).then_some(rgb)
}

/// How opaque a material is. Programs disagree about what its properties mean; nothing is meant to be invisible.
fn opacity(material: &Material) -> f32 {
    let direct = &material.pbr.opacity;
    let is_old = matches!(material.shader_type, ShaderType::FbxLambert | ShaderType::FbxPhong);
    let amount = match () {
        () if direct.has_value => unit(direct.value_vec4.x),
        () if is_old => {
            let color = &material.fbx.transparency_color;
            let mean = (color.value_vec4.x + color.value_vec4.y + color.value_vec4.z) / 3.0;
            let through = if color.has_value { unit(mean) } else { 0.0 };
            1.0 - through * number(&material.fbx.transparency_factor).unwrap_or(1.0)
        }
        () => 1.0,
    };
    if amount > 0.0 { amount } else { 1.0 }
}

/// The map of normals; maps of heights are something else, though some programs use their slot.
fn normal_map(material: &Material) -> Option<&MaterialMap> {
    let map = &material.fbx.normal_map;
    if map.texture.is_some() {
        return Some(map);
    }
    let id = |map: &MaterialMap| map.texture.as_deref().map(|texture| texture.element.typed_id);
    let map = &material.pbr.normal_map;
    (map.texture.is_some() && id(map) != id(&material.fbx.bump)).then_some(map)
}

/// Textures in slots that are not read.
fn lost(material: &Material) -> Option<String> {
    let has = |map: &MaterialMap| map.texture.is_some() && map.texture_enabled;
    let slots: BTreeSet<&str> =
        LOST.iter().filter(|(_, map)| has(map(material))).map(|(name, _)| *name).collect();
    let slots: Vec<&str> = slots.into_iter().collect();
    (!slots.is_empty()).then(|| format!("pictures of {} were left out", slots.join(", ")))
}

/// Placement of a picture on its coordinates, counted from the upper edge.
fn transform_of(texture: &Texture, said: &mut Vec<String>) -> Object {
    let mut extensions = Object::new();
    if !texture.has_uv_transform {
        return extensions;
    }
    let m = &texture.uv_to_texture;
    let is_turned = m.m01.abs() > 1e-6 || m.m10.abs() > 1e-6;
    let values = [m.m00, m.m11, m.m03, m.m13];
    if is_turned || values.iter().any(|x| !x.is_finite()) {
        said.push("a picture that is turned on its surface is shown upright".to_owned());
        return extensions;
    }
    let [scale_u, scale_v, shift_u, shift_v] = values;
    let value = json!({ "offset": [shift_u, 1.0 - scale_v - shift_v], "scale": [scale_u, scale_v] });
    extensions.insert(TRANSFORM.to_owned(), value);
    extensions
}
