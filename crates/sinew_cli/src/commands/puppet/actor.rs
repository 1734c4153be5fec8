//! The actor, as it is named on the command line.

use sinew::{
    geom::Warnings,
    session::{Actor, demo_actor, read_actor as read},
};
use std::path::Path;

/// The actor of the demonstration, which is no file.
const DEMO: &str = "demo";

/// Read `FILE` or `FILE@CLIP`.
pub fn read_actor(source: &str, warnings: &mut Warnings) -> anyhow::Result<Actor> {
    let (path, clip) = split(source);
    if path == DEMO && !Path::new(path).exists() {
        return Ok(demo_actor());
    }
    Ok(read(Path::new(path), clip, None, warnings)?)
}

/// The part before the last `@`, and what follows it.
pub fn split(text: &str) -> (&str, Option<&str>) {
    // A file may have the sign in its own name.
    match text.rsplit_once('@') {
        Some((path, at)) if !Path::new(text).exists() => (path, Some(at)),
        _ => (text, None),
    }
}
