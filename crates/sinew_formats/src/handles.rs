//! `handles.json`: painted regions in their own file.

use crate::{
    FormatError,
    json::{Node, read_json},
};
use glam::DVec3;
use serde::Serialize;
use sinew_geom::{
    Handle, Mesh,
    character::{compute_default_center, find_borders},
};
use std::collections::HashMap;

const SHAPE: &str = r#"expected {"handles":[{"name":"hand","vertices":[0,1]}]}"#;

#[derive(Serialize)]
struct File {
    handles: Vec<Entry>,
}

#[derive(Serialize)]
struct Entry {
    name: String,
    vertices: Vec<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    weights: Option<Vec<f32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    center: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    secondary: Vec<String>,
}

/// Read handles of a mesh: `{"handles":[{"name", "vertices", "weights"?, "center"?, "secondary"?}]}`. Weights
/// default to 1, the centre to that of the border with surface that belongs to no handle.
///
/// # Errors
/// All faults with their JSON paths: unknown keys, vertices that do not exist, weights outside 0..=1, names used
/// twice, unknown secondary handles.
pub fn read_handles(bytes: &[u8], mesh: &Mesh, name: &str) -> Result<Vec<Handle>, FormatError> {
    let entries = read_json(bytes, name, (SHAPE, "correct it there"), |root| {
        let list = root.fields(&["handles"], SHAPE)?.get("handles")?;
        let entries = list.each(read_entry)?;
        check(&entries, &list, mesh).then_some(entries)
    })?;
    let mut is_soft = vec![true; mesh.n_vertices()];
    entries.iter().flat_map(|entry| &entry.vertices).for_each(|&v| is_soft[v as usize] = false);
    let on_border = find_borders(mesh, &is_soft);
    Ok(entries.into_iter().map(|entry| build(entry, mesh, &on_border)).collect())
}

fn read_entry(node: &Node<'_>) -> Option<Entry> {
    let fields = node.fields(&["name", "vertices", "weights", "center", "secondary"], SHAPE)?;
    let name = fields.required("name", |node| node.text("a name"));
    let vertices = fields.required("vertices", |list| {
        list.values("the number of a vertex", |v| v.as_u64().and_then(|v| u32::try_from(v).ok()))
    });
    let weights = fields.optional("weights", |list| {
        list.values("a weight from 0 to 1", |w| {
            w.as_f64().map(|w| w as f32).filter(|w| (0.0..=1.0).contains(w))
        })
    });
    let center = fields.optional("center", Node::numbers);
    let secondary = fields.or("secondary", Vec::new(), |list| list.names("the name of a handle"));
    Some(Entry {
        name: name?,
        vertices: vertices?,
        weights: weights?,
        center: center?,
        secondary: secondary?,
    })
}

/// Check the handles against each other and the mesh; faults are recorded.
fn check(entries: &[Entry], list: &Node<'_>, mesh: &Mesh) -> bool {
    // Each name with the first handle that has it.
    let mut names = HashMap::new();
    for (index, entry) in entries.iter().enumerate() {
        names.entry(entry.name.as_str()).or_insert(index);
    }
    let mut is_sound = true;
    for (index, entry) in entries.iter().enumerate() {
        let mut fault = |path: String, cause: String| {
            list.fault_below(&format!("{index}/{path}"), cause);
            is_sound = false;
        };
        if names.get(entry.name.as_str()).is_some_and(|&first| first < index) {
            fault("name".into(), format!("there are two handles named {:?}", entry.name));
        }
        let n = mesh.n_vertices();
        if let Some(at) = entry.vertices.iter().position(|&v| v as usize >= n) {
            let cause = format!("the mesh has no vertex {}, it has {n} vertices", entry.vertices[at]);
            fault(format!("vertices/{at}"), cause);
        }
        let n_weights = entry.weights.as_ref().map_or(entry.vertices.len(), Vec::len);
        if n_weights != entry.vertices.len() {
            fault("weights".into(), format!("{n_weights} weights for {} vertices", entry.vertices.len()));
        }
        for (at, other) in entry.secondary.iter().enumerate() {
            if !names.contains_key(other.as_str()) {
                fault(format!("secondary/{at}"), format!("there is no handle named {other:?}"));
            }
        }
    }
    is_sound
}

fn build(entry: Entry, mesh: &Mesh, on_border: &[bool]) -> Handle {
    let weights = entry.weights.unwrap_or_else(|| vec![1.0; entry.vertices.len()]);
    let mut pairs: Vec<(u32, f32)> = entry.vertices.into_iter().zip(weights).collect();
    pairs.sort_by_key(|&(v, _)| v);
    pairs.dedup_by_key(|&mut (v, _)| v);
    let (vertices, weights): (Vec<u32>, Vec<f32>) = pairs.into_iter().unzip();
    let center = match entry.center {
        Some(center) => DVec3::from_array(center),
        None => compute_default_center(mesh, &vertices, on_border),
    };
    Handle { name: entry.name, vertices, weights, center, secondary: entry.secondary }
}

/// Text of a `handles.json`.
pub fn write_handles(handles: &[Handle]) -> Vec<u8> {
    let entry = |h: &Handle| Entry {
        name: h.name.clone(),
        vertices: h.vertices.clone(),
        weights: h.weights.iter().any(|&w| w != 1.0).then(|| h.weights.clone()),
        center: Some(h.center.to_array()),
        secondary: h.secondary.clone(),
    };
    // Plain numbers and strings always serialise.
    serde_json::to_vec(&File { handles: handles.iter().map(entry).collect() }).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mesh() -> Mesh {
        Mesh::new(vec![DVec3::ZERO, DVec3::X, DVec3::Y], vec![[0, 1, 2]]).unwrap()
    }

    #[test]
    fn a_round_trip_keeps_everything() {
        let text = br#"{"handles":[{"name":"a","vertices":[1,0]},{"name":"b","vertices":[2],"weights":[0.5],"center":[1,2,3],"secondary":["a"]}]}"#;
        let handles = read_handles(text, &mesh(), "h.json").unwrap();
        assert_eq!(handles[0].vertices, [0, 1]);
        assert_eq!(handles[0].center, DVec3::X / 2.0, "both ends border on nothing soft");
        assert_eq!(read_handles(&write_handles(&handles), &mesh(), "h.json").unwrap(), handles);
    }

    #[test]
    fn every_fault_is_named() {
        let faults = |text: &str| read_handles(text.as_bytes(), &mesh(), "h.json").unwrap_err().to_string();
        let message = faults(
            r#"{"handles":[{"name":"a","vertices":[9],"weights":[1,1]},{"name":"a","vertices":[],"secondary":["x"]}]}"#,
        );
        for part in
            ["/handles/0/vertices/0", "/handles/0/weights", "/handles/1/name", "/handles/1/secondary/0"]
        {
            assert!(message.contains(part), "{part} not in {message}");
        }
        let message = faults(r#"{"handles":[{"name":"a","vertices":[0,-1],"weights":[2],"centre":[1]}]}"#);
        for part in ["/handles/0/vertices/1", "/handles/0/weights/0", r#"did you mean "center"?"#] {
            assert!(message.contains(part), "{part} not in {message}");
        }
    }
}
