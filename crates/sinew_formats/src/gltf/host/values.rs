//! Members of JSON values.

use crate::gltf::schema::Object;
use serde_json::Value;

/// A list of an object; nothing if it is absent.
pub(super) fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A list of an object, made if it is absent.
pub(super) fn member<'v>(value: &'v mut Value, key: &str) -> &'v mut Vec<Value> {
    if !value.is_object() {
        *value = Value::Object(Object::new());
    }
    if !value[key].is_array() {
        value[key] = Value::Array(Vec::new());
    }
    match &mut value[key] {
        Value::Array(list) => list,
        _ => unreachable!("it was made a list"),
    }
}

/// Whole number of a field.
pub(super) fn index(value: &Value, key: &str) -> Option<usize> {
    value.get(key).and_then(Value::as_u64).map(|index| index as usize)
}
