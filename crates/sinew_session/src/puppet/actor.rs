//! The actor: a body over time, from whatever holds one.

use crate::SessionError;
use sinew_formats::{Content, read_any_within};
use sinew_geom::{BodyLayout, Character, Clip, Rig, Warnings};
use sinew_puppet::{BodyPose, RigBody};
use std::path::Path;

/// A body over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Actor {
    /// Times in seconds and poses.
    pub frames: Vec<(f64, BodyPose)>,
    /// Frames per second.
    pub fps: f64,
    /// Whether the hips move in the world; landmarks are about them.
    pub knows_height: bool,
}

/// Frames per second of clips that do not say.
const FPS: f64 = 30.0;
/// Frames beyond which a recording is none that anybody performs.
const MAX_FRAMES: f64 = 1e6;
const REMEDY: &str = "give a Kinect or landmark recording, a BVH file or an animated GLB of a person";

/// Read the body in a file: a recording, a motion of a skeleton, or a clip of a character, by name if it has several.
/// With a `root` nothing is read that does not lie below it.
///
/// # Errors
/// As the reader of the format, and if there is no body in it.
pub fn read_actor(
    path: &Path,
    clip: Option<&str>,
    root: Option<&Path>,
    warnings: &mut Warnings,
) -> Result<Actor, SessionError> {
    let unusable = |cause: String| SessionError::Unusable { path: path.to_owned(), cause, remedy: REMEDY };
    let actor = match read_any_within(path, root, warnings)? {
        Content::Recording(recording) => {
            let frames = BodyPose::from_recording(&recording).map_err(|error| unusable(error.to_string()))?;
            let n = frames.len();
            let secs = frames.last().map_or(0.0, |(time, _)| *time);
            let fps = if n > 1 && secs > 0.0 { ((n - 1) as f64 / secs).round().max(1.0) } else { FPS };
            Actor { frames, fps, knows_height: recording.layout == BodyLayout::Kinect20 }
        }
        Content::Bvh(file) => {
            let fps = 1.0 / file.frame_secs;
            from_character(&file.character, clip, fps).map_err(unusable)?
        }
        content => {
            let character = content
                .into_character()
                .ok_or_else(|| unusable("a folder of frames holds no body".into()))?;
            from_character(&character, clip, FPS).map_err(unusable)?
        }
    };
    match actor.frames.is_empty() {
        true => Err(unusable("there are no frames".into())),
        false => Ok(actor),
    }
}

fn from_character(character: &Character, clip: Option<&str>, fps: f64) -> Result<Actor, String> {
    let rig = character.rig.as_ref().ok_or("there is no skeleton to take a body from")?;
    let names = || character.clips.iter().map(|clip| clip.name.as_str()).collect::<Vec<_>>().join(", ");
    let named = |name: &str| {
        let same = character.clips.iter().find(|clip| clip.name == name);
        same.or_else(|| character.clips.iter().find(|clip| clip.name.eq_ignore_ascii_case(name)))
    };
    let clip = match clip {
        Some(name) => {
            named(name).ok_or_else(|| format!("there is no clip {name:?} (there are: {})", names()))?
        }
        None => character.clips.first().ok_or("there is no animation")?,
    };
    if !(fps.is_finite() && fps > 0.0) {
        return Err(format!("{fps} fps is impossible"));
    }
    let body = RigBody::find(rig).map_err(|error| error.to_string())?;
    let frames = sample(rig, clip, &body, fps)?;
    Ok(Actor { frames, fps, knows_height: true })
}

fn sample(rig: &Rig, clip: &Clip, body: &RigBody, fps: f64) -> Result<Vec<(f64, BodyPose)>, String> {
    let n = (f64::from(clip.duration_secs()) * fps).round() + 1.0;
    if n > MAX_FRAMES {
        return Err(format!("{n} frames are more than {MAX_FRAMES}"));
    }
    let mut world = Vec::new();
    let mut frame = |k: usize| {
        let time = k as f64 / fps;
        let pose = body.pose(rig, &clip.sample(rig, time as f32), &mut world);
        pose.map(|pose| (time, pose)).map_err(|error| error.to_string())
    };
    (0..n as usize).map(&mut frame).collect()
}
