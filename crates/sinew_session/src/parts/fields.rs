//! Fields of a project file, with the bytes they name as `{"bufferView": n}`.

use super::Layer;
use serde_json::{Map, Value, json};
use std::{fmt::Display, sync::Arc};

/// The key that stands for bytes.
const VIEW: &str = "bufferView";

/// Fields that are being written.
#[derive(Debug, Default)]
pub(crate) struct SavedFields {
    pub fields: Map<String, Value>,
    pub views: Vec<Vec<u8>>,
}

impl SavedFields {
    /// Write a field.
    pub fn set(&mut self, key: &str, value: Value) {
        self.fields.insert(key.into(), value);
    }

    /// Write a field as its type serialises.
    pub fn set_as<T: serde::Serialize>(&mut self, key: &str, value: &T) {
        self.set(key, serde_json::to_value(value).unwrap_or_default());
    }

    /// Add bytes, and return the value that names them.
    pub fn bytes(&mut self, bytes: Vec<u8>) -> Value {
        self.views.push(bytes);
        json!({ VIEW: self.views.len() - 1 })
    }

    /// Add a layer as 32-bit floats, and return the value that names it.
    pub fn layer(&mut self, layer: &[f32]) -> Value {
        self.bytes(layer.iter().flat_map(|x| x.to_le_bytes()).collect())
    }
}

/// Fields that are being read.
pub(crate) struct LoadedFields {
    pub fields: Map<String, Value>,
    /// Number of vertices that layers must have.
    pub n_vertices: usize,
    /// Numbers of buffer views, rising, and their bytes; empty where there are none.
    pub views: (Vec<usize>, Vec<Vec<u8>>),
    /// What was left out, and why.
    pub faults: Vec<String>,
}

impl LoadedFields {
    /// Take a field out.
    pub fn take(&mut self, key: &str) -> Option<Value> {
        self.fields.remove(key)
    }

    /// Take a field out and convert it; a field that cannot be converted is reported under the name `what`.
    pub fn take_as<T, E: Display>(
        &mut self,
        key: &str,
        what: &str,
        convert: impl FnOnce(Value) -> Result<T, E>,
    ) -> Option<T> {
        let value = self.take(key)?;
        convert(value).map_err(|error| self.fault(format!("{what} left out: {error}"))).ok()
    }

    /// Report what was left out.
    pub fn fault(&mut self, fault: String) {
        self.faults.push(fault);
    }

    /// The bytes of a buffer view; reported if there are none.
    pub fn view(&mut self, index: usize) -> Option<Vec<u8>> {
        let (numbers, bytes) = &self.views;
        let found = numbers.binary_search(&index).ok().and_then(|at| bytes.get(at)).filter(|b| !b.is_empty());
        let found = found.cloned();
        if found.is_none() {
            self.fault(format!("there is no buffer view {index}"));
        }
        found
    }

    /// The bytes that a value names.
    pub fn bytes(&mut self, value: &Value) -> Option<Arc<Vec<u8>>> {
        self.view(value[VIEW].as_u64()? as usize).map(Arc::new)
    }

    /// The layer that a value names; reported if it does not fit the mesh.
    pub fn layer(&mut self, value: &Value, place: &str) -> Option<Layer> {
        let bytes = self.bytes(value)?;
        let layer: Vec<f32> = bytes.as_chunks::<4>().0.iter().map(|word| f32::from_le_bytes(*word)).collect();
        let n_vertices = self.n_vertices;
        if bytes.len() != 4 * n_vertices || layer.iter().any(|x| !x.is_finite()) {
            self.fault(format!(
                "{place} was left out: {} bytes are not a finite number for each of {n_vertices} vertices",
                bytes.len()
            ));
            return None;
        }
        Some(Arc::new(layer))
    }
}

/// The numbers of all buffer views that are named in a value.
pub(crate) fn name_views(value: &Value, named: &mut Vec<usize>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| name_views(item, named)),
        Value::Object(fields) => {
            named.extend(fields.get(VIEW).and_then(Value::as_u64).map(|index| index as usize));
            fields.values().for_each(|field| name_views(field, named));
        }
        _ => {}
    }
}

/// Give every named buffer view in a value its new number; a name without one is taken out.
pub(crate) fn renumber(value: &mut Value, number: &mut dyn FnMut(usize) -> Option<usize>) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| renumber(item, number)),
        Value::Object(fields) => {
            if let Some(old) = fields.get(VIEW).and_then(Value::as_u64) {
                match number(old as usize) {
                    Some(new) => fields.insert(VIEW.into(), json!(new)),
                    None => fields.remove(VIEW),
                };
            }
            fields.values_mut().for_each(|field| renumber(field, number));
        }
        _ => {}
    }
}
