//! GLB files made for these tests.

use serde_json::{Value, json};
use sinew_formats::GltfFile;

/// A GLB under construction.
pub struct Maker {
    pub root: Value,
    pub bin: Vec<u8>,
}

impl Maker {
    pub fn new() -> Self {
        let root = json!({
            "asset": {"version": "2.0", "generator": "by hand", "copyright": "nobody"},
            "scene": 0, "scenes": [{"nodes": []}], "nodes": [], "meshes": [], "accessors": [], "bufferViews": [],
            "buffers": [{"byteLength": 0}],
        });
        Self { root, bin: Vec::new() }
    }

    pub fn add(&mut self, key: &str, value: Value) -> usize {
        let list = self.root.as_object_mut().unwrap().entry(key).or_insert_with(|| json!([]));
        let list = list.as_array_mut().unwrap();
        list.push(value);
        list.len() - 1
    }

    pub fn bytes(&mut self, bytes: &[u8], component: u32, kind: &str, count: usize) -> usize {
        let view = json!({"buffer": 0, "byteOffset": self.bin.len(), "byteLength": bytes.len()});
        self.bin.extend(bytes);
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        let view = self.add("bufferViews", view);
        let accessor = json!({"bufferView": view, "componentType": component, "type": kind, "count": count});
        self.add("accessors", accessor)
    }

    pub fn floats(&mut self, values: &[f32], kind: &str) -> usize {
        let width = match kind {
            "SCALAR" => 1,
            "MAT4" => 16,
            _ => usize::from(kind.as_bytes()[3] - b'0'),
        };
        let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.bytes(&bytes, 5126, kind, values.len() / width)
    }

    /// A quad of four vertices with normals, tangents and two sets of texture coordinates.
    pub fn quad(&mut self, name: &str) -> usize {
        let position = self.floats(&QUAD, "VEC3");
        let normal = self.floats(&[0.0, 0.0, 1.0].repeat(4), "VEC3");
        let tangent = self.floats(&[1.0, 0.0, 0.0, -1.0].repeat(4), "VEC4");
        let uv = self.floats(&[0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0], "VEC2");
        let indices = self.bytes(&[0, 1, 2, 1, 3, 2], 5121, "SCALAR", 6);
        let attributes = json!({
            "POSITION": position, "NORMAL": normal, "TANGENT": tangent, "TEXCOORD_0": uv, "TEXCOORD_1": uv, "_MINE": uv,
        });
        let primitive =
            json!({"attributes": attributes, "indices": indices, "extensions": {"X_part": {"a": 1}}});
        self.add("meshes", json!({"name": name, "primitives": [primitive], "extras": {"mesh": name}}))
    }

    /// A node of the scene.
    pub fn node(&mut self, node: Value) -> usize {
        let node = self.add("nodes", node);
        self.root["scenes"][0]["nodes"].as_array_mut().unwrap().push(json!(node));
        node
    }

    pub fn glb(&mut self) -> Vec<u8> {
        self.root["buffers"][0]["byteLength"] = json!(self.bin.len());
        let mut text = self.root.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let mut out = b"glTF".to_vec();
        let total = 12 + 8 + text.len() + 8 + self.bin.len();
        [2, total as u32, text.len() as u32].iter().for_each(|word| out.extend(word.to_le_bytes()));
        out.extend(b"JSON");
        out.extend(text);
        out.extend((self.bin.len() as u32).to_le_bytes());
        out.extend(b"BIN\0");
        out.extend(&self.bin);
        out
    }

    pub fn read(&mut self) -> (GltfFile, Vec<u8>) {
        let bytes = self.glb();
        (super::read(&bytes), bytes)
    }
}

const QUAD: [f32; 12] = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0];

/// Two skinned quads under a scaled armature that share their joints, a mirrored quad, a camera, unknown extensions.
pub fn zoo() -> Maker {
    let mut maker = Maker::new();
    let (a, b, c) = (maker.quad("body"), maker.quad("hair"), maker.quad("hat"));
    for mesh in [a, b] {
        let joints = maker.bytes(&[0, 1, 0, 0].repeat(4), 5121, "VEC4", 4);
        let weights = maker.floats(&[0.5, 0.5, 0.0, 0.0].repeat(4), "VEC4");
        maker.root["meshes"][mesh]["primitives"][0]["attributes"]["JOINTS_0"] = json!(joints);
        maker.root["meshes"][mesh]["primitives"][0]["attributes"]["WEIGHTS_0"] = json!(weights);
    }
    let target = maker.floats(&[0.0, 0.0, 0.25].repeat(4), "VEC3");
    maker.root["meshes"][b]["primitives"][0]["targets"] = json!([{"POSITION": target, "NORMAL": target}]);
    maker.root["meshes"][b]["extras"]["targetNames"] = json!(["wind"]);
    let tip = maker.add("nodes", json!({"name": "tip", "translation": [0.0, 100.0, 0.0]}));
    let hip = maker.add("nodes", json!({"name": "hip", "translation": [0.0, 50.0, 0.0], "children": [tip]}));
    let armature = maker.node(json!({"name": "armature", "scale": [0.01, 0.01, 0.01], "children": [hip]}));
    let bind = |y: f32, s: f32| {
        [100.0, 0.0, 0.0, 0.0, 0.0, 100.0, 0.0, 0.0, 0.0, 0.0, 100.0, 0.0, 0.0, -y, s, 1.0f32]
    };
    let matrices = maker.floats(&[bind(50.0, 0.0), bind(150.0, 0.0)].concat(), "MAT4");
    let first =
        maker.add("skins", json!({"joints": [hip, tip], "inverseBindMatrices": matrices, "extras": 1}));
    let matrices = maker.floats(&[bind(50.0, 20.0), bind(150.0, 20.0)].concat(), "MAT4");
    let second = maker.add("skins", json!({"joints": [hip, tip], "inverseBindMatrices": matrices}));
    maker.node(json!({"name": "Body", "mesh": a, "skin": first}));
    let hair = maker.node(json!({"name": "Hair", "mesh": b, "skin": second, "extras": {"x": 7}}));
    maker.node(json!({
        "name": "Hat", "mesh": c, "scale": [-2.0, 1.0, 1.0], "translation": [3.0, 0.0, 0.0],
        "extensions": {"X_hat": {"node": armature}},
    }));
    maker.add("cameras", json!({"type": "perspective", "perspective": {"yfov": 1, "znear": 0.1}}));
    maker.node(json!({"name": "Camera", "camera": 0}));
    let times = maker.floats(&[0.0, 1.0], "SCALAR");
    maker.root["accessors"][times]["min"] = json!([0.0]);
    maker.root["accessors"][times]["max"] = json!([1.0]);
    let turn = maker.floats(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.5f32.sin(), 0.5f32.cos()], "VEC4");
    let shift = maker.floats(&[0.0, 100.0, 0.0, 30.0, 100.0, 0.0], "VEC3");
    let wind = maker.floats(&[0.0, 1.0], "SCALAR");
    maker.add("animations", json!({
        "name": "wave", "extras": {"loop": true},
        "channels": [
            {"sampler": 0, "target": {"node": hip, "path": "rotation"}},
            {"sampler": 1, "target": {"node": tip, "path": "translation"}},
            {"sampler": 2, "target": {"node": hair, "path": "weights"}},
        ],
        "samplers": [
            {"input": times, "output": turn}, {"input": times, "output": shift}, {"input": times, "output": wind},
        ],
    }));
    maker.root["extensions"] = json!({"X_all": {"nodes": [hip, tip], "accessor": 3}});
    maker.root["extensionsUsed"] = json!(["X_all", "X_hat", "X_part"]);
    maker
}
