//! Commands on stored poses: kept, mirrored, blended, sculpted.

use super::{check_name, decode_thumbnail, moves};
use crate::{Document, Example, SessionError};
use sinew_deform::examples::blend_details;
use sinew_geom::{Move, query::SurfaceTree};
use std::sync::Arc;

pub(super) fn save(document: &mut Document, name: &str, thumbnail: Option<&str>) -> Result<(), SessionError> {
    check_name("example", name, false)?;
    let thumbnail = thumbnail.map(decode_thumbnail).transpose()?.map(Arc::new);
    let (moves, detail) = (document.pose.clone(), document.detail.clone());
    let example = Arc::new(Example { name: name.to_owned(), moves, detail, thumbnail });
    match document.find_example(name) {
        Ok(at) => document.examples[at] = example,
        Err(_) => document.examples.push(example),
    }
    Ok(())
}

pub(super) fn load(document: &mut Document, name: &str) -> Result<(), SessionError> {
    let example = &document.examples[document.find_example(name)?];
    (document.pose, document.detail) = (example.moves.clone(), example.detail.clone());
    Ok(())
}

pub(super) fn rename(document: &mut Document, name: &str, to: &str) -> Result<(), SessionError> {
    let at = document.find_example(name)?;
    if name != to {
        check_name("example", to, document.find_example(to).is_ok())?;
    }
    let example = &document.examples[at];
    document.examples[at] = Arc::new(Example { name: to.to_owned(), ..(**example).clone() });
    edit_keyframes(document, |keys| {
        keys.iter_mut().filter(|used| *used == name).for_each(|used| to.clone_into(used));
    });
    super::puppet::rename_example(document, name, to);
    Ok(())
}

pub(super) fn remove(document: &mut Document, name: &str) -> Result<(), SessionError> {
    document.examples.remove(document.find_example(name)?);
    edit_keyframes(document, |keys| keys.retain(|used| used != name));
    Ok(())
}

fn edit_keyframes(document: &mut Document, edit: impl FnOnce(&mut Vec<String>)) {
    if document.paths.keyframes.is_some()
        && let Some(keys) = &mut Arc::make_mut(&mut document.paths).keyframes
    {
        edit(&mut keys.examples);
    }
}

/// A pose that was reached becomes the pose, with the detail of the examples it is blended of.
pub(super) fn reach(
    document: &mut Document,
    moves: &[Move],
    weights: &[(String, f64)],
) -> Result<(), SessionError> {
    let mut layers = Vec::new();
    for (name, weight) in weights {
        let example = &document.examples[document.find_example(name)?];
        if !weight.is_finite() {
            let cause = format!("{weight} of {name:?} is not finite");
            return Err(SessionError::Value { what: "weight", cause });
        }
        layers.extend(example.detail.clone().map(|detail| (*weight, detail)));
    }
    moves::set_pose(document, moves)?;
    document.detail = blend_details(layers.iter().map(|(w, detail)| (*w, detail.as_slice()))).map(Arc::new);
    Ok(())
}

/// Give vertices offsets along the normal, in the current pose and, with `example`, in the stored pose it is.
pub(super) fn sculpt(
    document: &mut Document,
    example: Option<&str>,
    vertices: &[u32],
    offsets: &[f32],
) -> Result<(), SessionError> {
    let refuse = |cause: String| Err(SessionError::Value { what: "detail", cause });
    let n = document.mesh().n_vertices();
    if vertices.len() != offsets.len() {
        return refuse(format!("{} offsets for {} vertices", offsets.len(), vertices.len()));
    }
    if let Some(vertex) = vertices.iter().find(|v| **v as usize >= n) {
        return refuse(format!("there is no vertex {vertex}; the mesh has {n}"));
    }
    if offsets.iter().any(|offset| !offset.is_finite()) {
        return refuse("an offset is not finite".into());
    }
    let mut layer = document.detail.as_ref().map_or_else(|| vec![0.0; n], |detail| detail.to_vec());
    vertices.iter().zip(offsets).for_each(|(v, offset)| layer[*v as usize] = *offset);
    put_detail(document, example, layer.iter().any(|x| *x != 0.0).then_some(layer))
}

/// Take away the detail layer of the current pose and of a stored one.
pub(super) fn clear_detail(document: &mut Document, example: Option<&str>) -> Result<(), SessionError> {
    put_detail(document, example, None)
}

fn put_detail(
    document: &mut Document,
    example: Option<&str>,
    layer: Option<Vec<f32>>,
) -> Result<(), SessionError> {
    let layer = layer.map(Arc::new);
    if let Some(name) = example {
        let stored = &mut document.examples;
        let at = stored.iter().position(|found| found.name == name);
        let names = || stored.iter().map(|found| found.name.as_str());
        let at = at.ok_or_else(|| SessionError::absent("example", name, names()))?;
        if *stored[at].moves != *document.pose {
            let cause = format!("the pose is not that of {name:?}; load it first");
            return Err(SessionError::Value { what: "detail", cause });
        }
        stored[at] = Arc::new(Example { detail: layer.clone(), ..(*stored[at]).clone() });
    }
    document.detail = layer;
    Ok(())
}

/// Ends of names that say a side.
const SIDES: [(&str, &str); 12] = [
    (".L", ".R"),
    ("_L", "_R"),
    (".l", ".r"),
    ("_l", "_r"),
    (" L", " R"),
    (".left", ".right"),
    (".R", ".L"),
    ("_R", "_L"),
    (".r", ".l"),
    ("_r", "_l"),
    (" R", " L"),
    (".right", ".left"),
];

/// The name of the other side: `.L` ↔ `.R` and the like, or left ↔ right as words; nothing if it says no side.
pub fn twin_name(name: &str) -> Option<String> {
    for (here, there) in SIDES {
        if let Some(stem) = name.strip_suffix(here) {
            return Some(format!("{stem}{there}"));
        }
    }
    let words = [("left", "right"), ("Left", "Right"), ("right", "left"), ("Right", "Left")];
    let (here, there) = words.into_iter().find(|(here, _)| name.contains(here))?;
    Some(name.replacen(here, there, 1))
}

/// A stored pose with left and right exchanged, as a new one.
pub(super) fn mirror(document: &mut Document, name: &str, to: &str) -> Result<(), SessionError> {
    let example = document.examples[document.find_example(name)?].clone();
    check_name("example", to, document.find_example(to).is_ok())?;
    let twin = |name: &String| match twin_name(name) {
        None => Ok(name.clone()),
        Some(twin) => document.find_handle(&twin).map(|_| twin),
    };
    let moves = example.moves.iter().map(|step| mirrored(step, &twin)).collect::<Result<_, _>>()?;
    let detail = example.detail.as_ref().map(|detail| Arc::new(mirrored_detail(document, detail)));
    let made = Example { name: to.to_owned(), moves: Arc::new(moves), detail, thumbnail: None };
    document.examples.push(Arc::new(made));
    Ok(())
}

/// A move seen in a mirror across x. An axis of rotation keeps its part across and turns the others round.
fn mirrored(
    step: &Move,
    twin: &impl Fn(&String) -> Result<String, SessionError>,
) -> Result<Move, SessionError> {
    let all = |names: &[String]| names.iter().map(twin).collect::<Result<Vec<_>, _>>();
    let turned = |axis: glam::DVec3| glam::DVec3::new(axis.x, -axis.y, -axis.z);
    Ok(match step {
        Move::Rotate { main, handles, axis, radians } => {
            Move::Rotate { main: twin(main)?, handles: all(handles)?, axis: turned(*axis), radians: *radians }
        }
        Move::Translate { handles, vector } => Move::Translate {
            handles: all(handles)?,
            vector: glam::DVec3::new(-vector.x, vector.y, vector.z),
        },
        Move::Twist { handles, axis, radians, over } => {
            Move::Twist { handles: all(handles)?, axis: turned(*axis), radians: *radians, over: all(over)? }
        }
    })
}

/// Offsets of the other side, read off the surface at the mirror image of each vertex.
fn mirrored_detail(document: &Document, detail: &[f32]) -> Vec<f32> {
    let mesh = document.mesh();
    let [low, high] = mesh.bounds();
    let tree = SurfaceTree::new(mesh);
    let offset = |position: &glam::DVec3| {
        let image = glam::DVec3::new(low.x + high.x - position.x, position.y, position.z);
        let Some(place) = tree.closest_point(image) else { return 0.0 };
        let corners = mesh.faces()[place.face as usize];
        let parts = corners.iter().zip(place.barycentric);
        parts.map(|(v, share)| f64::from(detail[*v as usize]) * share).sum::<f64>() as f32
    };
    mesh.positions().iter().map(offset).collect()
}
