//! Commands on handles.

use super::{check_name, moves, within};
use crate::{Document, SessionError};
use glam::DVec3;
use serde::{Deserialize, Serialize};
use sinew_deform::HandleSet;
use sinew_geom::{
    Handle, Warnings,
    character::{compute_default_center, find_borders},
};
use std::sync::Arc;

/// How painted vertices meet those a handle has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum PaintOp {
    Add,
    Remove,
    Replace,
}

impl PaintOp {
    /// What the history calls it.
    pub(super) fn label(self, handle: &str) -> String {
        let verb = if self == Self::Remove { "Erase from" } else { "Paint" };
        format!("{verb} {handle}")
    }
}

/// A handle in its serial form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct HandleData {
    pub name: String,
    pub vertices: Vec<u32>,
    pub weights: Vec<f32>,
    pub center: [f64; 3],
    pub secondary: Vec<String>,
}

impl From<&Handle> for HandleData {
    fn from(handle: &Handle) -> Self {
        Self {
            name: handle.name.clone(),
            vertices: handle.vertices.clone(),
            weights: handle.weights.clone(),
            center: handle.center.to_array(),
            secondary: handle.secondary.clone(),
        }
    }
}

impl From<HandleData> for Handle {
    fn from(data: HandleData) -> Self {
        let HandleData { name, vertices, weights, center, secondary } = data;
        Self { name, vertices, weights, center: DVec3::from_array(center), secondary }
    }
}

pub(super) fn add(document: &mut Document, name: &str) -> Result<(), SessionError> {
    check_name("handle", name, document.find_handle(name).is_ok())?;
    let [low, high] = document.mesh().bounds();
    let center = (low + high) / 2.0;
    document.handles.push(Arc::new(Handle { name: name.to_owned(), center, ..Handle::default() }));
    Ok(())
}

pub(super) fn remove(document: &mut Document, name: &str) -> Result<(), SessionError> {
    document.handles.remove(document.find_handle(name)?);
    rename_references(document, |other| (other != name).then(|| other.to_owned()));
    Ok(())
}

pub(super) fn rename(document: &mut Document, name: &str, to: &str) -> Result<(), SessionError> {
    let at = document.find_handle(name)?;
    if name == to {
        return Ok(());
    }
    check_name("handle", to, document.find_handle(to).is_ok())?;
    change(document, at, |handle| handle.name = to.to_owned());
    rename_references(document, |other| Some(if other == name { to } else { other }.to_owned()));
    Ok(())
}

pub(super) fn set_center(document: &mut Document, name: &str, center: [f64; 3]) -> Result<(), SessionError> {
    let at = document.find_handle(name)?;
    let center = DVec3::from_array(center);
    if !center.as_vec3().is_finite() {
        return Err(SessionError::Value { what: "centre", cause: format!("{center} is out of range") });
    }
    change(document, at, |handle| handle.center = center);
    Ok(())
}

pub(super) fn reset_center(document: &mut Document, name: &str) -> Result<(), SessionError> {
    let at = document.find_handle(name)?;
    let center = default_center(document, at);
    change(document, at, |handle| handle.center = center);
    Ok(())
}

/// Add or exchange one handle with everything it has.
pub(super) fn put(document: &mut Document, data: HandleData) -> Result<(), SessionError> {
    let handle = Handle::from(data);
    check_name("handle", &handle.name, false)?;
    // Only checked here.
    HandleSet::new(document.mesh(), std::slice::from_ref(&handle), &mut Warnings::default())?;
    let mut is_taken = vec![false; document.mesh().n_vertices()];
    handle.vertices.iter().for_each(|&v| is_taken[v as usize] = true);
    take_from_others(document, &handle.name, &is_taken);
    match document.find_handle(&handle.name) {
        Ok(at) => document.handles[at] = Arc::new(handle),
        Err(_) => document.handles.push(Arc::new(handle)),
    }
    Ok(())
}

/// Every vertex belongs to one handle at most.
fn take_from_others(document: &mut Document, name: &str, is_taken: &[bool]) {
    for other in 0..document.handles.len() {
        let handle = &document.handles[other];
        if handle.name != name && handle.vertices.iter().any(|&v| is_taken[v as usize]) {
            change(document, other, |handle| keep(handle, |v| !is_taken[v as usize]));
        }
    }
}

pub(super) fn set_secondary(
    document: &mut Document,
    name: &str,
    secondary: &[String],
) -> Result<(), SessionError> {
    let at = document.find_handle(name)?;
    for other in secondary {
        document.find_handle(other)?;
    }
    let mut list: Vec<String> = Vec::new();
    for other in secondary.iter().filter(|other| *other != name) {
        if !list.contains(other) {
            list.push(other.clone());
        }
    }
    change(document, at, |handle| handle.secondary = list);
    Ok(())
}

/// Exchange all handles; moves keep those that are still there.
pub(super) fn set_all(document: &mut Document, handles: Vec<HandleData>) -> Result<(), SessionError> {
    let handles: Vec<Handle> = handles.into_iter().map(Handle::from).collect();
    for (at, handle) in handles.iter().enumerate() {
        check_name("handle", &handle.name, handles[..at].iter().any(|other| other.name == handle.name))?;
    }
    if !handles.is_empty() {
        // Only checked here: what overlaps is reported when the handles are used.
        HandleSet::new(document.mesh(), &handles, &mut Warnings::default())?;
    }
    document.handles = handles.into_iter().map(Arc::new).collect();
    let known: Vec<String> = document.handles.iter().map(|handle| handle.name.clone()).collect();
    rename_references(document, |name| known.iter().find(|known| *known == name).cloned());
    Ok(())
}

/// Painted vertices belong to one handle only, the one painted last.
pub(super) fn paint(
    document: &mut Document,
    name: &str,
    op: PaintOp,
    vertices: &[u32],
    weight: f32,
) -> Result<(), SessionError> {
    within("weight", f64::from(weight), [0.0, 1.0])?;
    let n = document.mesh().n_vertices();
    if let Some(vertex) = vertices.iter().find(|&&v| v as usize >= n) {
        return Err(SessionError::Value { what: "vertex", cause: format!("{vertex} of a mesh of {n}") });
    }
    let at = match document.find_handle(name) {
        Ok(at) => at,
        Err(_) => {
            add(document, name)?;
            document.handles.len() - 1
        }
    };
    let was_default = is_center_default(document, at);
    let mut is_painted = vec![false; n];
    vertices.iter().for_each(|&v| is_painted[v as usize] = true);
    let takes = op != PaintOp::Remove && weight > 0.0;
    if takes {
        take_from_others(document, name, &is_painted);
    }
    change(document, at, |handle| {
        match op {
            PaintOp::Replace => keep(handle, |_| false),
            PaintOp::Add | PaintOp::Remove => keep(handle, |v| !is_painted[v as usize]),
        }
        if takes {
            let mut pairs: Vec<(u32, f32)> =
                handle.vertices.iter().copied().zip(handle.weights.iter().copied()).collect();
            pairs.extend((0..n as u32).filter(|&v| is_painted[v as usize]).map(|v| (v, weight)));
            pairs.sort_by_key(|&(v, _)| v);
            (handle.vertices, handle.weights) = pairs.into_iter().unzip();
        }
    });
    if was_default {
        let center = default_center(document, at);
        change(document, at, |handle| handle.center = center);
    }
    Ok(())
}

fn keep(handle: &mut Handle, is_kept: impl Fn(u32) -> bool) {
    let pairs = handle.vertices.iter().copied().zip(handle.weights.iter().copied());
    (handle.vertices, handle.weights) = pairs.filter(|&(v, _)| is_kept(v)).unzip();
}

/// Whether a handle turns where it would without the user's word, so that its centre follows what is painted.
fn is_center_default(document: &Document, at: usize) -> bool {
    let handle = &document.handles[at];
    let near = 1e-6 * document.mesh().diagonal();
    handle.vertices.is_empty() || handle.center.distance(default_center(document, at)) <= near
}

/// Middle of a handle's border with soft surface, else its own.
fn default_center(document: &Document, at: usize) -> DVec3 {
    let mut is_soft = vec![true; document.mesh().n_vertices()];
    for handle in &document.handles {
        handle.vertices.iter().for_each(|&v| is_soft[v as usize] = false);
    }
    let on_border = find_borders(document.mesh(), &is_soft);
    compute_default_center(document.mesh(), &document.handles[at].vertices, &on_border)
}

fn change(document: &mut Document, at: usize, edit: impl FnOnce(&mut Handle)) {
    edit(Arc::make_mut(&mut document.handles[at]));
}

/// Give handles their new names wherever they are referred to; `None` for those that are gone.
fn rename_references(document: &mut Document, new_name: impl Fn(&str) -> Option<String>) {
    for handle in &mut document.handles {
        let secondary: Vec<String> = handle.secondary.iter().filter_map(|name| new_name(name)).collect();
        if secondary != handle.secondary {
            Arc::make_mut(handle).secondary = secondary;
        }
    }
    moves::rename_all(document, new_name);
}
