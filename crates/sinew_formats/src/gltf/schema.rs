//! The JSON part of glTF 2.0, as far as we read or write it.
//!
//! Our own structs rather than the `gltf` crate's: that crate rejects valid accessors without a buffer view,
//! stops at the first fault or panics on unchecked indices, and drops extensions it does not
//! know. Nothing here is checked beyond its JSON type; indices may point anywhere. A long file since it is a
//! table of the format.

#![allow(missing_docs)] // The glTF 2.0 specification defines every field.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Objects by name, such as `extensions` and `extras`.
pub type Object = Map<String, Value>;

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Root {
    pub asset: Asset,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extensions_used: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extensions_required: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scene: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scenes: Vec<Scene>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<Node>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub meshes: Vec<Mesh>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skins: Vec<Skin>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub animations: Vec<Animation>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub materials: Vec<Material>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub textures: Vec<Texture>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accessors: Vec<Accessor>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub buffer_views: Vec<BufferView>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub buffers: Vec<Buffer>,
    /// Only reported.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub cameras: Value,
    #[serde(skip_serializing_if = "Object::is_empty")]
    pub extensions: Object,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Asset {
    pub version: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generator: Option<String>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Scene {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<usize>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Node {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mesh: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skin: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matrix: Option<[f64; 16]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub translation: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rotation: Option<[f64; 4]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<f32>,
    #[serde(skip_serializing_if = "Object::is_empty")]
    pub extensions: Object,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Mesh {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub primitives: Vec<Primitive>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<f32>,
    /// Any JSON value is allowed; exporters put `targetNames` here.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub extras: Value,
}

/// Accessors by attribute name. Ordered, so that what we write does not depend on a hash.
pub type Attributes = std::collections::BTreeMap<String, usize>;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Primitive {
    pub attributes: Attributes,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indices: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub material: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<Attributes>,
    #[serde(skip_serializing_if = "Object::is_empty")]
    pub extensions: Object,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Skin {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inverse_bind_matrices: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skeleton: Option<usize>,
    pub joints: Vec<usize>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Animation {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub channels: Vec<Channel>,
    pub samplers: Vec<Sampler>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Channel {
    pub sampler: usize,
    pub target: Target,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Target {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<usize>,
    pub path: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Sampler {
    pub input: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interpolation: Option<String>,
    pub output: usize,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Material {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pbr_metallic_roughness: Option<MetallicRoughness>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha_mode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha_cutoff: Option<f32>,
    #[serde(skip_serializing_if = "is_default")]
    pub double_sided: bool,
    /// Only reported, so any content is accepted.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub normal_texture: Value,
    #[serde(skip_serializing_if = "Value::is_null")]
    pub occlusion_texture: Value,
    #[serde(skip_serializing_if = "Value::is_null")]
    pub emissive_texture: Value,
    #[serde(skip_serializing_if = "Value::is_null")]
    pub emissive_factor: Value,
    #[serde(skip_serializing_if = "Value::is_null")]
    pub extensions: Value,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MetallicRoughness {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_color_factor: Option<[f32; 4]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_color_texture: Option<TextureInfo>,
    /// Only reported.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub metallic_roughness_texture: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metallic_factor: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roughness_factor: Option<f32>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TextureInfo {
    pub index: usize,
    #[serde(default, skip_serializing_if = "is_default")]
    pub tex_coord: usize,
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub extensions: Object,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Texture {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<usize>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Image {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer_view: Option<usize>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Accessor {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer_view: Option<usize>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub byte_offset: u64,
    pub component_type: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    pub normalized: bool,
    pub count: u64,
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub min: Vec<f64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub max: Vec<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sparse: Option<Sparse>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Sparse {
    pub count: u64,
    pub indices: SparseIndices,
    pub values: SparseValues,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SparseIndices {
    pub buffer_view: usize,
    #[serde(default)]
    pub byte_offset: u64,
    pub component_type: u32,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SparseValues {
    pub buffer_view: usize,
    #[serde(default)]
    pub byte_offset: u64,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BufferView {
    pub buffer: usize,
    #[serde(default, skip_serializing_if = "is_default")]
    pub byte_offset: u64,
    pub byte_length: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub byte_stride: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<u32>,
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub extensions: Object,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Buffer {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    pub byte_length: u64,
}

/// Type of a picture by its first bytes: the type in the file is sometimes wrong.
pub(crate) fn mime_of(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] => Some("image/png"),
        [0xFF, 0xD8, 0xFF, ..] => Some("image/jpeg"),
        _ => None,
    }
}

/// The same, of more kinds of pictures.
pub(super) fn picture_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xAB, b'K', b'T', b'X', b' ', b'2', b'0', ..] => Some("image/ktx2"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        [b'D', b'D', b'S', b' ', ..] => Some("image/vnd-ms.dds"),
        [_, _, _, _, b'f', b't', b'y', b'p', b'a', b'v', b'i', b'f', ..] => Some("image/avif"),
        _ => mime_of(bytes),
    }
}
