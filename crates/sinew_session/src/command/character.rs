//! Commands on the character as a whole: name, size, mesh, clips.

use super::{check_name, within};
use crate::{Document, Placement, SessionError, parse_axis, parts};
use sinew_geom::{Clip, Morph, mesh::RepairParams};
use std::sync::Arc;

pub(super) fn rename(document: &mut Document, name: &str) -> Result<(), SessionError> {
    name.clone_into(&mut document.name);
    Ok(())
}

pub(super) fn scale(document: &mut Document, factor: f64) -> Result<(), SessionError> {
    within("scale", factor, [1e-6, 1e6])?;
    parts::scale(document, factor)
}

/// Turn the character. What has directions of its own would not turn with it, and is refused.
pub(super) fn turn(
    document: &mut Document,
    up: Option<&str>,
    facing: Option<&str>,
) -> Result<(), SessionError> {
    let axis = |name: Option<&str>| name.map(parse_axis).transpose();
    let placement = Placement::new(axis(up)?, axis(facing)?, 1.0)?;
    let kept = parts::directed(document);
    if !kept.is_empty() {
        let cause =
            format!("{} would not turn with the character; turn it before they are made", kept.join(", "));
        return Err(SessionError::Value { what: "turn", cause });
    }
    document.set_character(placement.apply(&document.character())?);
    Ok(())
}

/// Repair the mesh. Layers of values per vertex come along as morph targets, which are such values as well.
pub(super) fn repair(document: &mut Document) -> Result<(), SessionError> {
    let mut whole = document.character();
    let n_morphs = whole.morphs.len();
    parts::map_layers(document, &mut |layer| {
        let offsets = layer.iter().map(|x| glam::Vec3::X * *x).collect();
        whole.morphs.push(Morph { name: String::new(), offsets, default_weight: 0.0 });
        layer.clone()
    });
    let mut repaired = whole.repaired(&RepairParams::default())?.0;
    let mut layers = repaired.morphs.split_off(n_morphs).into_iter();
    parts::map_layers(document, &mut |layer| {
        let new = layers.next().map(|morph| morph.offsets.iter().map(|offset| offset.x).collect());
        new.map_or_else(|| layer.clone(), Arc::new)
    });
    document.set_character(repaired);
    Ok(())
}

pub(super) fn rename_clip(document: &mut Document, clip: &str, to: &str) -> Result<(), SessionError> {
    let at = document.find_clip(clip)?;
    if clip != to {
        check_name("clip", to, document.find_clip(to).is_ok())?;
    }
    document.clips[at] = Arc::new(Clip { name: to.to_owned(), ..(*document.clips[at]).clone() });
    parts::clip_renamed(document, clip, Some(to));
    Ok(())
}

/// Add a pose as a clip of one frame. One of the same name that is one is replaced.
pub(super) fn store_pose(document: &mut Document, pose: Clip) -> Result<(), SessionError> {
    let name = pose.name.clone();
    if let Ok(at) = document.find_clip(&name) {
        check_name("clip", &name, document.clips[at].duration_secs() > 0.0)?;
        crate::motion::remove_clip(document, &name)?;
    }
    check_name("clip", &name, false)?;
    document.clips.push(Arc::new(pose));
    Ok(())
}

pub(super) fn remove_clip(document: &mut Document, clip: &str) -> Result<(), SessionError> {
    crate::motion::remove_clip(document, clip)?;
    parts::clip_renamed(document, clip, None);
    Ok(())
}
