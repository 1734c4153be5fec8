//! Commands on paths and motions.

use crate::{Document, Follow, SessionError, motion};
use sinew_formats::paths::{GroundData, PathsData};
use std::{ops::ControlFlow, sync::Arc};

/// Exchange the paths, if their handles and examples exist and their numbers are valid. A line of
/// one point may stay: it is being drawn.
pub(super) fn set_paths(document: &mut Document, paths: &PathsData) -> Result<(), SessionError> {
    for path in &paths.paths {
        document.find_handle(&path.handle)?;
        path.build()?;
    }
    if let Some(walk) = &paths.walk {
        walk.feet.iter().try_for_each(|foot| document.find_handle(foot).map(|_| ()))?;
        if walk.line.iter().flatten().any(|x| !x.is_finite()) {
            return Err(SessionError::Value { what: "walk", cause: "a point is not finite".into() });
        }
    }
    paths.ground.as_ref().map(GroundData::build).transpose()?;
    if let Some(keys) = &paths.keyframes {
        keys.examples.iter().try_for_each(|name| document.find_example(name).map(|_| ()))?;
        super::within("seconds from one example to the next", keys.seconds, [1e-3, 3600.0])?;
    }
    document.paths = Arc::new(paths.clone());
    Ok(())
}

pub(super) fn bake(
    document: &mut Document,
    clip: &str,
    fps: f64,
    follow: Follow,
) -> Result<(), SessionError> {
    *document = motion::bake(document, clip, fps, follow, &|_| ControlFlow::Continue(()))?.0;
    Ok(())
}

/// Give every handle its new name; paths of those that have none any more go.
pub(super) fn renamed(paths: &PathsData, new_name: &impl Fn(&str) -> Option<String>) -> PathsData {
    let mut renamed = paths.clone();
    renamed.paths = paths
        .paths
        .iter()
        .filter_map(|path| {
            Some(sinew_formats::paths::PathData { handle: new_name(&path.handle)?, ..path.clone() })
        })
        .collect();
    renamed.walk = paths.walk.clone().and_then(|mut walk| {
        walk.feet = [new_name(&walk.feet[0])?, new_name(&walk.feet[1])?];
        Some(walk)
    });
    renamed
}

/// Paths of a body of another size.
pub(crate) fn scaled(paths: &PathsData, factor: f64) -> PathsData {
    let mut scaled = paths.clone();
    scaled.paths.iter_mut().flat_map(|path| &mut path.points).flatten().for_each(|x| *x *= factor);
    scaled.way.iter_mut().flat_map(|way| &mut way.points).flatten().for_each(|x| *x *= factor);
    if let Some(walk) = &mut scaled.walk {
        walk.line.iter_mut().flatten().for_each(|x| *x *= factor);
        walk.stride.iter_mut().chain(&mut walk.lift).for_each(|length| *length *= factor);
    }
    match &mut scaled.ground {
        Some(GroundData::Flat(height)) => *height *= factor,
        Some(GroundData::Steps { rise, run, start, .. }) => {
            [rise, run, start].into_iter().for_each(|x| *x *= factor);
        }
        Some(GroundData::Hills { height, length }) => [height, length].into_iter().for_each(|x| *x *= factor),
        Some(GroundData::Field { origin, cell, heights }) => {
            let all = origin.iter_mut().chain([cell]).chain(heights.iter_mut().flatten());
            all.for_each(|x| *x *= factor);
        }
        Some(GroundData::Slope(_)) | None => {}
    }
    scaled
}
