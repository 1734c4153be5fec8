//! Plays glTF files for the judges: vertices and nodes at any time, straight from the bytes.
//!
//! It follows the glTF 2.0 specification and shares no code with `sinew_formats`, whose writers it judges: a fault that
//! reader and writer had in common would otherwise not be found.

mod json;

pub use json::{buffers, list, split};

use anyhow::{Context, bail, ensure};
use glam::{DMat4, DQuat, DVec3, DVec4};
use json::{index, node_matrix, number, translation_rotation_scale, triangles};
use serde_json::Value;
use std::{fs, path::Path};

/// A glTF file in memory.
pub struct Scene {
    pub json: Value,
    buffers: Vec<Vec<u8>>,
    /// Parent of each node.
    parents: Vec<Option<usize>>,
    /// Nodes below the roots of the scene, parents first.
    order: Vec<usize>,
    parts: Vec<Part>,
    /// Triangles over the vertices of all parts.
    pub faces: Vec<[u32; 3]>,
    clips: Vec<Clip>,
}

/// A primitive under a node.
struct Part {
    node: usize,
    skin: Option<usize>,
    positions: Vec<DVec3>,
    joints: Vec<Vec<(usize, f64)>>,
    /// Morph targets.
    targets: Vec<Vec<DVec3>>,
    weights: Vec<f64>,
}

struct Clip {
    name: String,
    seconds: f64,
    channels: Vec<Channel>,
}

struct Channel {
    node: usize,
    path: String,
    mode: String,
    times: Vec<f64>,
    /// Values of all keys, `width` numbers per key (three times as many for cubic splines).
    values: Vec<f64>,
    width: usize,
}

/// Transforms and morph weights of all nodes at a moment.
struct Moment {
    /// Translation, rotation and scale under the parent.
    locals: Vec<(DVec3, DQuat, DVec3)>,
    worlds: Vec<DMat4>,
    weights: Vec<Option<Vec<f64>>>,
}

impl Scene {
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let bytes = fs::read(path).with_context(|| path.display().to_string())?;
        let (json, chunk) = split(&bytes)?;
        let buffers = buffers(&json, chunk, path.parent().unwrap_or(Path::new(".")))?;
        let n_nodes = list(&json, "nodes").len();
        let mut scene = Self {
            parents: vec![None; n_nodes],
            order: Vec::new(),
            parts: Vec::new(),
            faces: Vec::new(),
            clips: Vec::new(),
            json,
            buffers,
        };
        scene.read_nodes()?;
        scene.read_parts()?;
        scene.read_clips()?;
        Ok(scene)
    }

    /// Names and lengths of the clips, in seconds.
    pub fn clips(&self) -> Vec<(&str, f64)> {
        self.clips.iter().map(|clip| (clip.name.as_str(), clip.seconds)).collect()
    }

    pub fn n_vertices(&self) -> usize {
        self.parts.iter().map(|part| part.positions.len()).sum()
    }

    pub fn n_nodes(&self) -> usize {
        self.parents.len()
    }

    pub fn node_name(&self, node: usize) -> &str {
        self.json["nodes"][node]["name"].as_str().unwrap_or("")
    }

    pub fn parent(&self, node: usize) -> Option<usize> {
        self.parents[node]
    }

    /// Nodes that some skin uses as joints, parents first.
    pub fn joints(&self) -> Vec<usize> {
        let mut is_joint = vec![false; self.n_nodes()];
        for skin in list(&self.json, "skins") {
            for joint in list(skin, "joints").iter().filter_map(index) {
                if let Some(is) = is_joint.get_mut(joint) {
                    *is = true;
                }
            }
        }
        self.order.iter().copied().filter(|&node| is_joint[node]).collect()
    }

    /// Node and stored vertices of each part, in the order of `positions`.
    pub fn stored(&self) -> Vec<(usize, &[DVec3])> {
        self.parts.iter().map(|part| (part.node, part.positions.as_slice())).collect()
    }

    /// Positions of all vertices, in the world.
    pub fn positions(&self, clip: Option<usize>, time: f64) -> Vec<DVec3> {
        let moment = self.moment(clip, time);
        self.parts.iter().flat_map(|part| self.part_positions(part, &moment)).collect()
    }

    /// The same with nodes composed part by part, as Unreal does: scales multiply, without shear.
    pub fn positions_without_shear(&self, clip: Option<usize>, time: f64) -> Vec<DVec3> {
        let mut moment = self.moment(clip, time);
        let mut parts = moment.locals.clone();
        for &node in &self.order {
            if let Some(parent) = self.parents[node] {
                let ((t, r, s), (pt, pr, ps)) = (moment.locals[node], parts[parent]);
                parts[node] = (pt + pr * (ps * t), pr * r, ps * s);
            }
            let (t, r, s) = parts[node];
            moment.worlds[node] = DMat4::from_scale_rotation_translation(s, r, t);
        }
        self.parts.iter().flat_map(|part| self.part_positions(part, &moment)).collect()
    }

    /// The world matrices of all nodes.
    pub fn worlds(&self, clip: Option<usize>, time: f64) -> Vec<DMat4> {
        self.moment(clip, time).worlds
    }

    fn part_positions(&self, part: &Part, moment: &Moment) -> Vec<DVec3> {
        let weights = moment.weights[part.node].as_ref().unwrap_or(&part.weights);
        let mut shape = part.positions.clone();
        for (target, &weight) in part.targets.iter().zip(weights) {
            if weight != 0.0 {
                shape.iter_mut().zip(target).for_each(|(p, d)| *p += *d * weight);
            }
        }
        let Some(skin) = part.skin else {
            let world = moment.worlds[part.node];
            return shape.into_iter().map(|p| world.transform_point3(p)).collect();
        };
        let matrices = self.skin_matrices(skin, &moment.worlds);
        let place = |(p, joints): (DVec3, &Vec<(usize, f64)>)| {
            let total: f64 = joints.iter().map(|(_, w)| w).sum();
            let zero = DVec3::ZERO;
            let sum = joints.iter().fold(zero, |sum, &(joint, w)| {
                sum + matrices.get(joint).copied().unwrap_or(DMat4::IDENTITY).transform_point3(p) * w
            });
            if total > 0.0 { sum / total } else { moment.worlds[part.node].transform_point3(p) }
        };
        shape.into_iter().zip(&part.joints).map(place).collect()
    }

    fn skin_matrices(&self, skin: usize, worlds: &[DMat4]) -> Vec<DMat4> {
        let skin = &self.json["skins"][skin];
        let joints: Vec<usize> = list(skin, "joints").iter().filter_map(index).collect();
        let inverse = index(&skin["inverseBindMatrices"]).and_then(|a| self.numbers(a).ok());
        let bind = |k: usize| match &inverse {
            Some((values, 16)) if values.len() >= 16 * (k + 1) => {
                DMat4::from_cols_slice(&values[16 * k..16 * (k + 1)])
            }
            _ => DMat4::IDENTITY,
        };
        joints
            .iter()
            .enumerate()
            .map(|(k, &j)| worlds.get(j).copied().unwrap_or_default() * bind(k))
            .collect()
    }

    fn moment(&self, clip: Option<usize>, time: f64) -> Moment {
        let n = self.n_nodes();
        let nodes = list(&self.json, "nodes");
        let mut parts: Vec<(DVec3, DQuat, DVec3)> = nodes.iter().map(translation_rotation_scale).collect();
        let mut matrices: Vec<Option<DMat4>> = nodes.iter().map(node_matrix).collect();
        let mut weights: Vec<Option<Vec<f64>>> = vec![None; n];
        for channel in clip.and_then(|clip| self.clips.get(clip)).into_iter().flat_map(|clip| &clip.channels)
        {
            let value = channel.at(time);
            let node = channel.node;
            match channel.path.as_str() {
                "translation" => parts[node].0 = DVec3::from_slice(&value),
                "rotation" => parts[node].1 = DQuat::from_slice(&value).normalize(),
                "scale" => parts[node].2 = DVec3::from_slice(&value),
                "weights" => weights[node] = Some(value),
                _ => continue,
            }
            matrices[node] = None;
        }
        let mut worlds = vec![DMat4::IDENTITY; n];
        for &node in &self.order {
            let (t, r, s) = parts[node];
            let local = matrices[node].unwrap_or_else(|| DMat4::from_scale_rotation_translation(s, r, t));
            worlds[node] = self.parents[node].map_or(DMat4::IDENTITY, |parent| worlds[parent]) * local;
        }
        Moment { locals: parts, worlds, weights }
    }

    fn read_nodes(&mut self) -> anyhow::Result<()> {
        let n = self.parents.len();
        for (node, value) in list(&self.json, "nodes").iter().enumerate() {
            for child in list(value, "children").iter().filter_map(index) {
                ensure!(child < n && self.parents[child].is_none(), "node {child} has two parents");
                self.parents[child] = Some(node);
            }
        }
        let scene = index(&self.json["scene"]).unwrap_or(0);
        let named = self.json["scenes"][scene]["nodes"].as_array();
        let roots: Vec<usize> = match named {
            Some(nodes) => nodes.iter().filter_map(index).filter(|&node| node < n).collect(),
            None => (0..n).filter(|&node| self.parents[node].is_none()).collect(),
        };
        let mut open: Vec<usize> = roots.into_iter().rev().collect();
        while let Some(node) = open.pop() {
            ensure!(self.order.len() <= n, "the nodes form a loop");
            self.order.push(node);
            open.extend(list(&self.json["nodes"][node], "children").iter().rev().filter_map(index));
        }
        // Joints outside the scene still move their children.
        let inside: std::collections::HashSet<usize> = self.order.iter().copied().collect();
        let mut outside: Vec<usize> = (0..n).filter(|node| !inside.contains(node)).collect();
        let depth = |mut node: usize| {
            let mut depth = 0;
            while let Some(parent) = self.parents[node].filter(|_| depth <= n) {
                (node, depth) = (parent, depth + 1);
            }
            depth
        };
        outside.sort_by_key(|&node| depth(node));
        self.order.extend(outside);
        Ok(())
    }

    fn read_parts(&mut self) -> anyhow::Result<()> {
        for node in self.order.clone() {
            let value = self.json["nodes"][node].clone();
            let Some(mesh) = index(&value["mesh"]) else { continue };
            let mesh = self.json["meshes"][mesh].clone();
            let weights = value["weights"].as_array().or(mesh["weights"].as_array()).cloned();
            let weights: Vec<f64> = weights.unwrap_or_default().iter().filter_map(Value::as_f64).collect();
            for primitive in list(&mesh, "primitives") {
                self.read_primitive(node, index(&value["skin"]), primitive, &weights)?;
            }
        }
        Ok(())
    }

    fn read_primitive(
        &mut self,
        node: usize,
        skin: Option<usize>,
        primitive: &Value,
        weights: &[f64],
    ) -> anyhow::Result<()> {
        ensure!(
            primitive["extensions"]["KHR_draco_mesh_compression"].is_null(),
            "Draco is not played by the judge"
        );
        let attributes = &primitive["attributes"];
        let Some(position) = index(&attributes["POSITION"]) else { return Ok(()) };
        let positions = self.vectors(position)?;
        let first = self.n_vertices() as u32;
        let n = positions.len();
        let mut joints = vec![Vec::new(); n];
        for set in 0..8 {
            let key = |name: &str| index(&attributes[format!("{name}_{set}")]);
            let (Some(j), Some(w)) = (key("JOINTS"), key("WEIGHTS")) else { break };
            let ((j, jw), (w, ww)) = (self.numbers(j)?, self.numbers(w)?);
            ensure!(jw == 4 && ww == 4 && j.len() == 4 * n && w.len() == 4 * n, "joints and weights differ");
            for (k, pairs) in joints.iter_mut().enumerate() {
                let influence = |c: usize| (j[4 * k + c] as usize, w[4 * k + c]);
                pairs.extend((0..4).map(influence).filter(|(_, weight)| *weight != 0.0));
            }
        }
        let targets = list(primitive, "targets").iter().map(|target| match index(&target["POSITION"]) {
            Some(accessor) => self.vectors(accessor),
            None => Ok(vec![DVec3::ZERO; n]),
        });
        let targets = targets.collect::<anyhow::Result<Vec<_>>>()?;
        let indices: Vec<u32> = match index(&primitive["indices"]) {
            Some(accessor) => self.numbers(accessor)?.0.into_iter().map(|i| i as u32).collect(),
            None => (0..n as u32).collect(),
        };
        ensure!(indices.iter().all(|&i| (i as usize) < n), "a triangle uses a vertex that is not there");
        self.faces.extend(
            triangles(&indices, primitive["mode"].as_u64().unwrap_or(4)).map(|f| f.map(|i| i + first)),
        );
        let skin = skin.filter(|_| joints.iter().any(|pairs| !pairs.is_empty()));
        self.parts.push(Part { node, skin, positions, joints, targets, weights: weights.to_vec() });
        Ok(())
    }

    fn read_clips(&mut self) -> anyhow::Result<()> {
        for (k, value) in list(&self.json, "animations").to_vec().iter().enumerate() {
            let mut channels = Vec::new();
            for channel in list(value, "channels") {
                let target = &channel["target"];
                let (Some(node), Some(path)) = (index(&target["node"]), target["path"].as_str()) else {
                    continue;
                };
                let sampler =
                    &value["samplers"][index(&channel["sampler"]).context("a channel has no sampler")?];
                let times = self.numbers(index(&sampler["input"]).context("a sampler has no input")?)?.0;
                let values = self.numbers(index(&sampler["output"]).context("a sampler has no output")?)?.0;
                let mode = sampler["interpolation"].as_str().unwrap_or("LINEAR").to_owned();
                ensure!(node < self.n_nodes() && !times.is_empty(), "a channel moves nothing");
                let width = values.len() / times.len();
                channels.push(Channel { node, path: path.to_owned(), mode, times, values, width });
            }
            let seconds = channels.iter().filter_map(|c| c.times.last()).fold(0.0f64, |a, &b| a.max(b));
            let name = value["name"].as_str().map_or_else(|| format!("clip {k}"), str::to_owned);
            self.clips.push(Clip { name, seconds, channels });
        }
        Ok(())
    }

    fn vectors(&self, accessor: usize) -> anyhow::Result<Vec<DVec3>> {
        let (values, width) = self.numbers(accessor)?;
        ensure!(width == 3, "accessor {accessor} has {width} numbers per element instead of 3");
        Ok(values.chunks_exact(3).map(DVec3::from_slice).collect())
    }

    /// The numbers of an accessor, and how many belong to an element.
    pub fn numbers(&self, accessor: usize) -> anyhow::Result<(Vec<f64>, usize)> {
        let value = self.json["accessors"]
            .get(accessor)
            .with_context(|| format!("accessor {accessor} is not there"))?;
        let width = match value["type"].as_str().unwrap_or("") {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" | "MAT2" => 4,
            "MAT3" => 9,
            "MAT4" => 16,
            other => bail!("accessor {accessor} has the type {other:?}"),
        };
        let count = index(&value["count"]).context("an accessor has no count")?;
        let kind = value["componentType"].as_u64().unwrap_or(0);
        let is_unit = value["normalized"].as_bool().unwrap_or(false);
        let mut numbers = match index(&value["bufferView"]) {
            Some(view) => {
                let offset = index(&value["byteOffset"]).unwrap_or(0);
                self.elements(view, offset, count, width, kind, is_unit)?
            }
            None => {
                ensure!(count <= 1 << 24, "accessor {accessor} is too large");
                vec![0.0; count * width]
            }
        };
        let sparse = &value["sparse"];
        if let Some(n) = index(&sparse["count"]) {
            let (i, v) = (&sparse["indices"], &sparse["values"]);
            let view = |part: &Value| index(&part["bufferView"]).context("a sparse accessor has no view");
            let offset = |part: &Value| index(&part["byteOffset"]).unwrap_or(0);
            let kind_of_indices = i["componentType"].as_u64().unwrap_or(0);
            let places = self.elements(view(i)?, offset(i), n, 1, kind_of_indices, false)?;
            let values = self.elements(view(v)?, offset(v), n, width, kind, is_unit)?;
            for (place, element) in places.iter().zip(values.chunks_exact(width)) {
                let at = *place as usize * width;
                numbers
                    .get_mut(at..at + width)
                    .context("a sparse index is too large")?
                    .copy_from_slice(element);
            }
        }
        Ok((numbers, width))
    }

    fn elements(
        &self,
        view: usize,
        offset: usize,
        count: usize,
        width: usize,
        kind: u64,
        is_unit: bool,
    ) -> anyhow::Result<Vec<f64>> {
        let view = &self.json["bufferViews"][view];
        let buffer =
            self.buffers.get(index(&view["buffer"]).unwrap_or(0)).context("a buffer is not there")?;
        let size = match kind {
            5120 | 5121 => 1,
            5122 | 5123 => 2,
            5125 | 5126 => 4,
            other => bail!("the component type {other} is unknown"),
        };
        // Columns of matrices of small numbers begin at multiples of four bytes; no file here has any.
        let stride = index(&view["byteStride"]).unwrap_or(size * width);
        let start = index(&view["byteOffset"]).unwrap_or(0) + offset;
        let mut numbers = Vec::new();
        for element in 0..count {
            for k in 0..width {
                let at = start + element * stride + k * size;
                let bytes = buffer.get(at..at + size).context("an accessor reaches beyond its buffer")?;
                numbers.push(number(bytes, kind, is_unit));
            }
        }
        Ok(numbers)
    }
}

impl Channel {
    /// The value at a time; constant before the first key and after the last.
    fn at(&self, time: f64) -> Vec<f64> {
        let is_cubic = self.mode == "CUBICSPLINE";
        let width = if is_cubic { self.width / 3 } else { self.width };
        let key = |k: usize| {
            let start = k * self.width + if is_cubic { width } else { 0 };
            &self.values[start..start + width]
        };
        let next = self.times.partition_point(|&t| t <= time);
        if next == 0 {
            return key(0).to_vec();
        }
        if next == self.times.len() || self.mode == "STEP" {
            return key(next - 1).to_vec();
        }
        let (a, b) = (next - 1, next);
        let span = self.times[b] - self.times[a];
        let s = if span > 0.0 { (time - self.times[a]) / span } else { 0.0 };
        if is_cubic {
            let out = &self.values[a * self.width + 2 * width..(a + 1) * self.width];
            let into = &self.values[b * self.width..b * self.width + width];
            let (s2, s3) = (s * s, s * s * s);
            return (0..width)
                .map(|k| {
                    (2.0 * s3 - 3.0 * s2 + 1.0) * key(a)[k]
                        + span * (s3 - 2.0 * s2 + s) * out[k]
                        + (3.0 * s2 - 2.0 * s3) * key(b)[k]
                        + span * (s3 - s2) * into[k]
                })
                .collect();
        }
        if self.path == "rotation" {
            let q = DQuat::from_slice(key(a)).slerp(DQuat::from_slice(key(b)), s);
            return DVec4::from(q).to_array().to_vec();
        }
        key(a).iter().zip(key(b)).map(|(x, y)| x + (y - x) * s).collect()
    }
}
