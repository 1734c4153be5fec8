//! A glTF file under construction, out of plain arrays.

use crate::{FormatError, gltf::pack_glb};
use serde_json::{Value, json};

/// See the module.
#[derive(Default)]
pub(super) struct Scene {
    pub nodes: Vec<Value>,
    pub meshes: Vec<Value>,
    pub skins: Vec<Value>,
    /// Nodes at the top besides the first.
    pub roots: Vec<usize>,
    channels: Vec<Channel>,
    accessors: Vec<Value>,
    views: Vec<Value>,
    bin: Vec<u8>,
}

/// What a node does over time, in the time codes of the file.
pub(super) struct Channel {
    pub node: usize,
    pub path: &'static str,
    pub times: Vec<f64>,
    pub values: Vec<f32>,
}

impl Scene {
    /// Add a node below another one.
    pub fn node(&mut self, parent: Option<usize>, node: Value) -> usize {
        let index = self.nodes.len();
        self.nodes.push(node);
        if let Some(parent) = parent {
            let children = &mut self.nodes[parent]["children"];
            match children {
                Value::Array(list) => list.push(json!(index)),
                other => *other = json!([index]),
            }
        }
        index
    }

    fn view(&mut self, bytes: impl Iterator<Item = u8>) -> usize {
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        let start = self.bin.len();
        self.bin.extend(bytes);
        self.views.push(json!({ "buffer": 0, "byteOffset": start, "byteLength": self.bin.len() - start }));
        self.views.len() - 1
    }

    /// Add an accessor of floats.
    pub fn floats(&mut self, values: &[f32], kind: &str, width: usize) -> usize {
        let view = self.view(values.iter().flat_map(|x| x.to_le_bytes()));
        let mut accessor = json!({
            "bufferView": view, "componentType": 5126, "type": kind, "count": values.len() / width,
        });
        // Positions and times must say their range.
        if matches!(width, 1 | 3) && !values.is_empty() {
            let fold = |k: usize, pick: fn(f32, f32) -> f32, from: f32| {
                values.iter().skip(k).step_by(width).copied().fold(from, pick)
            };
            accessor["min"] = (0..width).map(|k| json!(fold(k, f32::min, f32::INFINITY))).collect();
            accessor["max"] = (0..width).map(|k| json!(fold(k, f32::max, f32::NEG_INFINITY))).collect();
        }
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    /// Add an accessor of corners.
    pub fn corners(&mut self, corners: &[u32]) -> usize {
        let view = self.view(corners.iter().flat_map(|x| x.to_le_bytes()));
        self.accessors.push(
            json!({ "bufferView": view, "componentType": 5125, "type": "SCALAR", "count": corners.len() }),
        );
        self.accessors.len() - 1
    }

    /// Add an accessor of joints, four to a vertex.
    pub fn joints(&mut self, joints: &[u16]) -> usize {
        let view = self.view(joints.iter().flat_map(|x| x.to_le_bytes()));
        self.accessors.push(
            json!({ "bufferView": view, "componentType": 5123, "type": "VEC4", "count": joints.len() / 4 }),
        );
        self.accessors.len() - 1
    }

    /// Let a node move; nothing without times.
    pub fn animate(&mut self, channel: Channel) {
        if !channel.times.is_empty() {
            self.channels.push(channel);
        }
    }

    /// The file. Times are counted from the first of all, `rate` time codes to a second.
    ///
    /// # Errors
    /// If it would be too large.
    pub fn finish(mut self, clip: &str, rate: f64) -> Result<Vec<u8>, FormatError> {
        let channels = std::mem::take(&mut self.channels);
        let start = channels.iter().map(|channel| channel.times[0]).fold(f64::INFINITY, f64::min);
        let (mut samplers, mut targets) = (Vec::new(), Vec::new());
        let mut known: Vec<(Vec<f64>, usize)> = Vec::new();
        for channel in channels {
            let input = match known.iter().find(|(times, _)| *times == channel.times) {
                Some((_, accessor)) => *accessor,
                None => {
                    let times: Vec<f32> =
                        channel.times.iter().map(|time| ((time - start) / rate) as f32).collect();
                    let accessor = self.floats(&times, "SCALAR", 1);
                    known.push((channel.times.clone(), accessor));
                    accessor
                }
            };
            let (kind, width) = match channel.path {
                "rotation" => ("VEC4", 4),
                "weights" => ("SCALAR", 1),
                _ => ("VEC3", 3),
            };
            let output = self.floats(&channel.values, kind, width);
            targets.push(json!({ "sampler": samplers.len(), "target": { "node": channel.node, "path": channel.path } }));
            samplers.push(json!({ "input": input, "output": output }));
        }
        let mut root = json!({
            "asset": { "version": "2.0", "generator": "USD" },
            "scene": 0,
            "scenes": [{ "nodes": std::iter::once(0).chain(self.roots).collect::<Vec<usize>>() }],
            "nodes": self.nodes,
            "accessors": self.accessors,
            "bufferViews": self.views,
            "buffers": [{ "byteLength": self.bin.len() }],
        });
        if !samplers.is_empty() {
            root["animations"] = json!([{ "name": clip, "channels": targets, "samplers": samplers }]);
        }
        for (key, list) in [("meshes", self.meshes), ("skins", self.skins)] {
            if !list.is_empty() {
                root[key] = list.into();
            }
        }
        pack_glb(&root, &self.bin)
    }
}
