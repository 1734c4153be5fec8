//! Primitives compressed by Draco: their accessors get buffer views of plain bytes.

use super::{DRACO, Object, Plain, REMEDY, View, draco, width_of};
use crate::Fault;
use crate::gltf::schema::{Accessor, Primitive};
use draco_core::Mesh;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Targets of buffer views.
const VERTICES: u32 = 34962;
const INDICES: u32 = 34963;

/// The extension of a primitive.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Extension {
    buffer_view: usize,
    attributes: BTreeMap<String, u32>,
}

impl Plain<'_> {
    /// Decode every compressed primitive.
    pub fn decode_primitives(&mut self, faults: &mut Vec<Fault>) {
        let root = self.decoder.root;
        for (mesh_idx, mesh) in root.meshes.iter().enumerate() {
            for (index, primitive) in mesh.primitives.iter().enumerate() {
                if !primitive.extensions.contains_key(DRACO) {
                    continue;
                }
                let path = format!("/meshes/{mesh_idx}/primitives/{index}");
                if let Err(fault) = self.decode_primitive(primitive, [mesh_idx, index], &path) {
                    faults.push(fault);
                }
            }
        }
    }

    fn decode_primitive(&mut self, primitive: &Primitive, at: [usize; 2], path: &str) -> Result<(), Fault> {
        let path = format!("{path}/extensions/{DRACO}");
        let fault = |cause: String| Fault::json(&path, cause).with_remedy(REMEDY);
        let extension =
            Extension::deserialize(&primitive.extensions[DRACO]).map_err(|e| fault(e.to_string()))?;
        if self.has_plain_data(primitive, &extension) {
            return Ok(());
        }
        let view = extension.buffer_view;
        let stream = self.decoder.view(view, &path)?;
        let mesh = draco::decode(stream, self.decoder.budget_left()).map_err(fault)?;
        for (name, &id) in &extension.attributes {
            let Some(&accessor) = primitive.attributes.get(name) else { continue };
            let made = self.attribute(&mesh, accessor, (view, id), &path)?;
            self.primitive(at)["attributes"][name] = json!(made);
        }
        self.normalize_weights(at);
        self.drop_idle_joints(at);
        let made = self.indices(&mesh, primitive.indices, view, &path)?;
        let primitive = self.primitive(at);
        primitive["indices"] = json!(made);
        // The decoder gives triangles, whatever they were made of.
        primitive.as_object_mut().map(|primitive| primitive.shift_remove("mode"));
        Ok(())
    }

    /// Let the skin weights of every vertex sum to one again, which they do not after being rounded.
    fn normalize_weights(&mut self, at: [usize; 2]) {
        let attributes = self.primitive(at)["attributes"].clone();
        let made = |(name, accessor): (&String, &Value)| {
            let accessor = accessor.as_u64().filter(|_| name.starts_with("WEIGHTS_"))? as usize;
            let found = &self.json["accessors"][accessor];
            let is_made = found["componentType"] == 5126 && self.made.contains_key(&accessor);
            found["bufferView"].as_u64().filter(|_| is_made).map(|view| view as usize)
        };
        let views: BTreeSet<usize> = attributes.as_object().into_iter().flatten().filter_map(made).collect();
        let mut sums: Vec<f32> = Vec::new();
        for pass in 0..2 {
            for &view in &views {
                let Some(View::Made { bytes, .. }) = self.views.get_mut(view) else { continue };
                let vertices = bytes.as_chunks_mut::<4>().0.as_chunks_mut::<4>().0;
                sums.resize(vertices.len().max(sums.len()), 0.0);
                for (weights, sum) in vertices.iter_mut().zip(&mut sums) {
                    for bytes in weights {
                        let weight = f32::from_le_bytes(*bytes);
                        match pass {
                            0 => *sum += weight,
                            // Far from one, they mean something else.
                            _ if (*sum - 1.0).abs() < 0.01 => *bytes = (weight / *sum).to_le_bytes(),
                            _ => {}
                        }
                    }
                }
            }
        }
    }

    /// Name no joint where a weight was rounded to zero.
    fn drop_idle_joints(&mut self, at: [usize; 2]) {
        let attributes = self.primitive(at)["attributes"].clone();
        for set in 0.. {
            let view_of = |kind: &str| {
                let accessor = attributes[format!("{kind}_{set}")].as_u64()? as usize;
                let view = self.json["accessors"][accessor]["bufferView"].as_u64()?;
                self.made.contains_key(&accessor).then_some(view as usize)
            };
            let (Some(joints), Some(weights)) = (view_of("JOINTS"), view_of("WEIGHTS")) else { return };
            let Some(View::Made { bytes: weights, .. }) = self.views.get(weights) else { return };
            let is_idle: Vec<bool> =
                weights.as_chunks::<4>().0.iter().map(|bytes| *bytes == [0; 4]).collect();
            let Some(View::Made { bytes: joints, .. }) = self.views.get_mut(joints) else { return };
            let size = joints.len() / is_idle.len().max(1);
            if size > 0 {
                let idle = joints.chunks_exact_mut(size).zip(is_idle).filter(|(_, is_idle)| *is_idle);
                idle.for_each(|(joint, _)| joint.fill(0));
            }
        }
    }

    /// Whether everything that is compressed is there in plain form, too.
    fn has_plain_data(&self, primitive: &Primitive, extension: &Extension) -> bool {
        let accessors = &self.decoder.root.accessors;
        let compressed = extension.attributes.keys().map(|name| primitive.attributes.get(name));
        let mut all = compressed.chain([primitive.indices.as_ref()]);
        all.all(|accessor| {
            let accessor = accessor.and_then(|&at| accessors.get(at));
            accessor.is_some_and(|accessor| accessor.buffer_view.is_some())
        })
    }

    fn primitive(&mut self, [mesh, index]: [usize; 2]) -> &mut Value {
        &mut self.json["meshes"][mesh]["primitives"][index]
    }

    /// Give an accessor the values of an attribute. Returns its number, a new one if it already has other values.
    fn attribute(&mut self, mesh: &Mesh, at: usize, from: (usize, u32), path: &str) -> Result<usize, Fault> {
        let accessor = self.decoder.accessor(at, path)?;
        if self.made.get(&at) == Some(&from) {
            return Ok(at);
        }
        let fault = |cause: String| Fault::json(path, cause).with_remedy(REMEDY);
        let cause = || fault(format!("accessor {at} has the unknown type {:?}", accessor.kind));
        let width = width_of(&accessor.kind).ok_or_else(cause)?;
        let size = width * component_size(accessor.component_type);
        let stride = size.next_multiple_of(4).max(4);
        self.decoder.charge(mesh.num_points() as u64, stride, path)?;
        let bytes = draco::values(mesh, from.1, accessor.component_type, width, stride).map_err(fault)?;
        let view = View::Made { bytes, stride: (stride != size).then_some(stride), target: VERTICES };
        self.views.push(view);
        let fields = json!({ "bufferView": self.views.len() - 1, "count": mesh.num_points() });
        Ok(self.set(at, accessor, fields, from))
    }

    /// Give an accessor the corners of the faces.
    fn indices(&mut self, mesh: &Mesh, at: Option<usize>, view: usize, path: &str) -> Result<usize, Fault> {
        const NUMBER: u32 = u32::MAX;
        let from = (view, NUMBER);
        let known =
            at.map(|at| self.decoder.accessor(at, path).map(|accessor| (at, accessor))).transpose()?;
        let fresh = Accessor { component_type: 5125, kind: "SCALAR".into(), ..Accessor::default() };
        let (at, accessor) = known.unwrap_or((usize::MAX, &fresh));
        if self.made.get(&at) == Some(&from) {
            return Ok(at);
        }
        let least = match mesh.num_points() {
            0..=0xFF => 1,
            0x100..=0xFFFF => 2,
            _ => 4,
        };
        let size = component_size(accessor.component_type).max(least);
        let n = 3 * mesh.num_faces();
        self.decoder.charge(n as u64, size, path)?;
        let bytes =
            draco::corners(mesh).flat_map(|corner| corner.to_le_bytes().into_iter().take(size)).collect();
        let made = View::Made { bytes, stride: None, target: INDICES };
        // The view of the stream itself is free now.
        let place = match &mut self.views[view] {
            kept @ View::Kept => {
                *kept = made;
                view
            }
            _ => {
                self.views.push(made);
                self.views.len() - 1
            }
        };
        let component = [5121, 5123, 5123, 5125][size - 1];
        let fields = json!({ "bufferView": place, "count": n, "componentType": component });
        Ok(self.set(at, accessor, fields, from))
    }

    /// Change fields of an accessor, or of a copy of it if it was given other values already.
    fn set(&mut self, at: usize, accessor: &Accessor, fields: Value, from: (usize, u32)) -> usize {
        let accessors = list(&mut self.json, "accessors");
        let at = match at < accessors.len() && !self.made.contains_key(&at) {
            true => at,
            false => {
                let copy = accessors.get(at).cloned();
                accessors.push(copy.unwrap_or_else(|| json!({ "type": accessor.kind })));
                accessors.len() - 1
            }
        };
        let object = accessors[at].as_object_mut();
        let mut empty = Object::new();
        let object = object.unwrap_or(&mut empty);
        object.shift_remove("byteOffset");
        object.shift_remove("sparse");
        object.extend(fields.as_object().cloned().unwrap_or_default());
        self.made.insert(at, from);
        at
    }
}

/// A list of an object, made if it is absent.
fn list<'v>(object: &'v mut Value, key: &str) -> &'v mut Vec<Value> {
    if !object[key].is_array() {
        object[key] = json!([]);
    }
    match &mut object[key] {
        Value::Array(list) => list,
        _ => unreachable!("it was made a list"),
    }
}

fn component_size(component_type: u32) -> usize {
    match component_type {
        5120 | 5121 => 1,
        5122 | 5123 => 2,
        _ => 4,
    }
}
