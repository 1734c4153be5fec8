//! The actor: a body over time, from whatever holds one.

use super::super::{input::with_path, output::find_clip};
use anyhow::{Context, bail, ensure};
use sinew::{
    formats::{Content, read_any},
    geom::{BodyLayout, Character, Clip, Rig, Warnings},
    puppet::{BodyPose, RigBody},
};
use std::path::Path;

/// A body over time.
pub struct Actor {
    /// Times in seconds and poses.
    pub frames: Vec<(f64, BodyPose)>,
    /// Frames a second.
    pub fps: f64,
    /// Whether the hips move in the world; landmarks are about them.
    pub knows_height: bool,
}

/// Frames a second of clips that do not say.
const FPS: f64 = 30.0;
/// Frames beyond which somebody mistyped.
const MAX_FRAMES: f64 = 1e6;

/// Read `FILE` or `FILE@CLIP`.
pub fn read_actor(source: &str, warnings: &mut Warnings) -> anyhow::Result<Actor> {
    let (path, clip) = split(source);
    let path = Path::new(path);
    let actor = match read_any(path, warnings)? {
        Content::Recording(recording) => {
            let frames = BodyPose::from_recording(&recording).map_err(|error| with_path(error, path))?;
            let n = frames.len();
            let secs = frames.last().map_or(0.0, |(time, _)| *time);
            let fps = if n > 1 && secs > 0.0 { ((n - 1) as f64 / secs).round().max(1.0) } else { FPS };
            Actor { frames, fps, knows_height: recording.layout == BodyLayout::Kinect20 }
        }
        Content::Bvh(file) => from_character(&file.character, clip, 1.0 / file.frame_secs, path)?,
        content => {
            let character = content.into_character().context("a folder of frames holds no body")?;
            from_character(&character, clip, FPS, path)?
        }
    };
    ensure!(!actor.frames.is_empty(), "{}: there are no frames", path.display());
    Ok(actor)
}

/// The part before the last `@`, and what follows it.
pub fn split(text: &str) -> (&str, Option<&str>) {
    // A file may have the sign in its own name.
    match text.rsplit_once('@') {
        Some((path, at)) if !Path::new(text).exists() => (path, Some(at)),
        _ => (text, None),
    }
}

fn from_character(character: &Character, clip: Option<&str>, fps: f64, path: &Path) -> anyhow::Result<Actor> {
    let shown = path.display();
    let rig = character
        .rig
        .as_ref()
        .with_context(|| format!("{shown}: there is no skeleton to take a body from"))?;
    let clip = find_clip(character, clip).map_err(|error| with_path(error, path))?;
    if !(fps.is_finite() && fps > 0.0) {
        bail!("{shown}: {fps} frames a second are impossible");
    }
    let body = RigBody::find(rig).map_err(|error| with_path(error, path))?;
    Ok(Actor { frames: sample(rig, clip, &body, fps)?, fps, knows_height: true })
}

fn sample(rig: &Rig, clip: &Clip, body: &RigBody, fps: f64) -> anyhow::Result<Vec<(f64, BodyPose)>> {
    let n = (f64::from(clip.duration_secs()) * fps).round() + 1.0;
    ensure!(n <= MAX_FRAMES, "{n} frames are more than {MAX_FRAMES}");
    let mut world = Vec::new();
    let frame = |k: usize| {
        let time = k as f64 / fps;
        Ok((time, body.pose(rig, &clip.sample(rig, time as f32), &mut world)?))
    };
    (0..n as usize).map(frame).collect()
}
