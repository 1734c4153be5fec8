//! The actor: a body over time, from whatever holds one.

use crate::{DEFAULT_FPS, SessionError, limits::MAX_RECORDED_FRAMES};
use glam::{DQuat, DVec3};
use sinew_formats::{Content, read_any_within};
use sinew_geom::{BodyLayout, Character, Clip, Rig, Warnings, body_map::BodyMap};
use sinew_puppet::{BodyJoint, BodyPose, RigBody};
use std::path::Path;

/// A body over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Actor {
    /// Times in seconds and poses.
    pub frames: Vec<(f64, BodyPose)>,
    /// Frames per second.
    pub fps: f64,
    /// Where it comes from.
    pub source: ActorSource,
}

/// What is known of an actor by where it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ActorSource {
    /// Whether the hips move in the world; landmarks are about them.
    pub knows_height: bool,
    /// Whether every joint is measured, as in motion files: no frame is mistracked, and nothing needs smoothing.
    pub is_exact: bool,
    /// Height of the ankles when they stand, if the whole motion is known.
    pub floor: Option<f64>,
    /// Downward slope of the feet when they stand, in radians.
    pub foot_slope: Option<f64>,
}

impl ActorSource {
    /// Landmarks about the hips.
    pub const LANDMARKS: Self = Self { knows_height: false, is_exact: false, floor: None, foot_slope: None };
    /// A depth camera, or trackers worn on the body.
    pub const TRACKED: Self = Self { knows_height: true, ..Self::LANDMARKS };
    /// A motion file.
    pub const MOTION: Self = Self { is_exact: true, ..Self::TRACKED };
}

impl Actor {
    /// Height of the ankles when they stand, if the actor moves in the world: that of the lower one in nearly all frames.
    pub fn floor(&self) -> Option<f64> {
        let low = |(_, body): &(f64, BodyPose)| {
            let ankles = [BodyJoint::AnkleLeft, BodyJoint::AnkleRight].map(|joint| body.at(joint).y);
            ankles[0].min(ankles[1])
        };
        let mut low: Vec<f64> = self.frames.iter().map(low).filter(|y| y.is_finite()).collect();
        low.sort_by(f64::total_cmp);
        let nearly_lowest = low.get(low.len() / 20).copied();
        nearly_lowest.filter(|_| self.source.knows_height)
    }
}

/// Cosine of the angle within which a body stands along an axis.
const CLEARLY_UP: f64 = 0.85;
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
            let fps =
                if n > 1 && secs > 0.0 { ((n - 1) as f64 / secs).round().max(1.0) } else { DEFAULT_FPS };
            let source = match recording.layout {
                BodyLayout::Kinect20 => ActorSource::TRACKED,
                _ => ActorSource::LANDMARKS,
            };
            Actor { frames, fps, source }
        }
        Content::Bvh(file) => {
            let fps = 1.0 / file.frame_secs;
            from_character(&file.character, clip, fps).map_err(unusable)?
        }
        content => {
            let character = content
                .into_character()
                .ok_or_else(|| unusable("a folder of frames holds no body".into()))?;
            from_character(&character, clip, DEFAULT_FPS).map_err(unusable)?
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
    let map = BodyMap::read(rig, &character.clips);
    let body = RigBody::find(rig).map_err(|error| error.to_string())?;
    let mut frames = sample(rig, clip, &body, fps)?;
    let upright = DQuat::from_rotation_arc(up_of(&frames), DVec3::Y);
    for (_, pose) in &mut frames {
        pose.joints.iter_mut().for_each(|joint| *joint = upright * *joint);
    }
    let foot_slope = body.foot_slope(&map);
    Ok(Actor { frames, fps, source: ActorSource { foot_slope, ..ActorSource::MOTION } })
}

/// The axis along which a body mostly stands: y, unless another one is clear.
fn up_of(frames: &[(f64, BodyPose)]) -> DVec3 {
    let standing = |(_, body): &(f64, BodyPose)| {
        let feet = body.at(BodyJoint::AnkleLeft).midpoint(body.at(BodyJoint::AnkleRight));
        (body.at(BodyJoint::ShoulderCenter) - feet).normalize_or_zero()
    };
    let mean = frames.iter().map(standing).filter(|up| up.is_finite()).sum::<DVec3>().normalize_or_zero();
    let others = [DVec3::Z, DVec3::NEG_Z, DVec3::NEG_Y, DVec3::X, DVec3::NEG_X];
    others.into_iter().find(|axis| mean.dot(*axis) > CLEARLY_UP).unwrap_or(DVec3::Y)
}

fn sample(rig: &Rig, clip: &Clip, body: &RigBody, fps: f64) -> Result<Vec<(f64, BodyPose)>, String> {
    let n = (f64::from(clip.duration_secs()) * fps).round() + 1.0;
    if n > MAX_RECORDED_FRAMES as f64 {
        return Err(format!("{n} frames are more than {MAX_RECORDED_FRAMES}"));
    }
    let mut world = Vec::new();
    let mut frame = |k: usize| {
        let time = k as f64 / fps;
        let pose = body.pose(rig, &clip.sample(rig, time as f32), &mut world);
        pose.map(|pose| (time, pose)).map_err(|error| error.to_string())
    };
    (0..n as usize).map(&mut frame).collect()
}
