//! `handles.json`: painted regions in a file of their own.

use crate::{
    Fault, FormatError,
    text::{Faults, without_mark},
};
use glam::DVec3;
use serde::{Deserialize, Serialize};
use sinew_geom::{
    Handle, Mesh,
    character::{compute_default_center, find_borders},
};
use std::collections::HashMap;

#[derive(Serialize, Deserialize)]
struct File {
    handles: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    name: String,
    vertices: Vec<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    weights: Option<Vec<f32>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    center: Option<[f64; 3]>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    secondary: Vec<String>,
}

/// Read handles of a mesh: `{"handles":[{"name", "vertices", "weights"?, "center"?, "secondary"?}]}`. Weights
/// default to 1, the centre to that of the border with surface that belongs to no handle.
///
/// # Errors
/// All faults with their JSON paths: vertices that do not exist, weights outside 0..=1, names twice, unknown
/// secondary handles.
pub fn read_handles(bytes: &[u8], mesh: &Mesh, name: &str) -> Result<Vec<Handle>, FormatError> {
    let file: File = serde_json::from_slice(without_mark(bytes)).map_err(|error| {
        let fault = Fault::new(crate::Place::Line(error.line()), error.to_string());
        let shape = "expected {\"handles\":[{\"name\":\"hand\",\"vertices\":[0,1]}]}";
        FormatError::faults(name, vec![fault.with_remedy(shape)])
    })?;
    let mut faults = Faults::default();
    // Each name with the first handle that has it.
    let mut names = HashMap::new();
    for (index, entry) in file.handles.iter().enumerate() {
        names.entry(entry.name.as_str()).or_insert(index);
    }
    for (index, entry) in file.handles.iter().enumerate() {
        check(entry, index, &names, mesh, &mut faults);
    }
    faults.finish(name)?;
    let mut is_soft = vec![true; mesh.n_vertices()];
    file.handles.iter().flat_map(|entry| &entry.vertices).for_each(|&v| is_soft[v as usize] = false);
    let on_border = find_borders(mesh, &is_soft);
    Ok(file.handles.into_iter().map(|entry| build(entry, mesh, &on_border)).collect())
}

fn check(entry: &Entry, index: usize, names: &HashMap<&str, usize>, mesh: &Mesh, faults: &mut Faults) {
    let mut fault =
        |path: String, cause: String| faults.push(Fault::json(format!("/handles/{index}{path}"), cause));
    if names.get(entry.name.as_str()).is_some_and(|&first| first < index) {
        fault("/name".into(), format!("there are two handles named {:?}", entry.name));
    }
    let n = mesh.n_vertices();
    if let Some(at) = entry.vertices.iter().position(|&v| v as usize >= n) {
        fault(format!("/vertices/{at}"), format!("the mesh has no vertex {}, only {n}", entry.vertices[at]));
    }
    if let Some(weights) = &entry.weights {
        if weights.len() != entry.vertices.len() {
            fault(
                "/weights".into(),
                format!("{} weights for {} vertices", weights.len(), entry.vertices.len()),
            );
        }
        if let Some(at) = weights.iter().position(|w| !(0.0..=1.0).contains(w)) {
            fault(format!("/weights/{at}"), format!("weight {} is not within 0 and 1", weights[at]));
        }
    }
    for (at, other) in
        entry.secondary.iter().enumerate().filter(|(_, other)| !names.contains_key(other.as_str()))
    {
        fault(format!("/secondary/{at}"), format!("there is no handle named {other:?}"));
    }
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
        let text = br#"{"handles":[{"name":"a","vertices":[9],"weights":[2]},{"name":"a","vertices":[],"secondary":["x"]}]}"#;
        let message = read_handles(text, &mesh(), "h.json").unwrap_err().to_string();
        for part in
            ["/handles/0/vertices/0", "/handles/0/weights/0", "/handles/1/name", "/handles/1/secondary/0"]
        {
            assert!(message.contains(part), "{part} not in {message}");
        }
    }
}
