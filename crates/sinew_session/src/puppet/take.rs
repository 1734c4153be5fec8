//! A take: what an actor did, performed and kept as a clip. The actor is in the command, so that a journal replays it.

use super::{Acted, ActedShape, Actor, ActorSource, Puppet};
use crate::{Document, Prepared, SessionError, command::check_name, limits::check_sequence, motion};
use base64::{Engine, prelude::BASE64_STANDARD};
use glam::{DAffine3, DVec3, Vec3};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use sinew_geom::{Clip, Pose};
use sinew_puppet::{BodyPose, Interpolation};
use std::{ops::ControlFlow, sync::Arc, time::Instant};

/// Frames a take may have: an hour and a half at 20 fps.
pub const MAX_TAKE_FRAMES: usize = 108_000;
/// Share of the work that following the actor takes; the surface takes the rest.
const FOLLOW_SHARE: f64 = 0.2;
/// Numbers of a frame: its time, and three of each joint.
const WIDTH: usize = 1 + 3 * 20;

/// What an actor did, to be performed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct TakeData {
    /// Frames per second of the clip.
    pub fps: f64,
    /// Whether the source knows how high the actor is.
    pub knows_height: bool,
    /// Whether every joint was measured, as in motion files.
    #[serde(default)]
    pub is_exact: bool,
    /// Downward slope of the feet when they stand, in radians.
    #[serde(default)]
    pub foot_slope: Option<f64>,
    /// Times and joints as 32-bit floats; joints that were not seen are no numbers.
    #[serde(serialize_with = "to_text", deserialize_with = "from_text")]
    #[cfg_attr(feature = "ts", ts(type = "string"))]
    pub frames: Arc<Vec<f32>>,
}

impl TakeData {
    /// Of an actor.
    pub fn new(actor: &Actor) -> Self {
        let frame = |(time, body): &(f64, BodyPose)| {
            let joint = |(p, seen): (&DVec3, &bool)| if *seen { p.as_vec3() } else { Vec3::NAN }.to_array();
            let joints = body.joints.iter().zip(&body.seen).flat_map(joint);
            [*time as f32].into_iter().chain(joints.collect::<Vec<f32>>()).collect::<Vec<f32>>()
        };
        let frames = Arc::new(actor.frames.iter().flat_map(frame).collect());
        let ActorSource { knows_height, is_exact, foot_slope, .. } = actor.source;
        Self { fps: actor.fps, knows_height, is_exact, foot_slope, frames }
    }

    /// The actor again.
    ///
    /// # Errors
    /// If the numbers are no frames, or a rate is invalid.
    pub fn actor(&self) -> Result<Actor, SessionError> {
        let fail = |cause: String| Err(SessionError::Value { what: "take", cause });
        if !(self.fps.is_finite() && (1.0..=1000.0).contains(&self.fps)) {
            return fail(format!("{} fps is impossible", self.fps));
        }
        let n = self.frames.len() / WIDTH;
        if !self.frames.len().is_multiple_of(WIDTH) || n > MAX_TAKE_FRAMES {
            return fail(format!("{} numbers cannot be frames of a body", self.frames.len()));
        }
        let frame = |row: &[f32]| {
            let joints = std::array::from_fn(|k| Vec3::from_slice(&row[1 + 3 * k..]).as_dvec3());
            let mut body = BodyPose::new(joints);
            for k in 0..joints.len() {
                body.seen[k] = joints[k].is_finite();
            }
            (f64::from(row[0]), body)
        };
        let frames = self.frames.chunks_exact(WIDTH).map(frame).collect();
        let &Self { fps, knows_height, is_exact, foot_slope, .. } = self;
        Ok(Actor { frames, fps, source: ActorSource { knows_height, is_exact, foot_slope, floor: None } })
    }
}

fn to_text<S: Serializer>(frames: &Arc<Vec<f32>>, serializer: S) -> Result<S::Ok, S::Error> {
    let bytes: Vec<u8> = frames.iter().flat_map(|x| x.to_le_bytes()).collect();
    serializer.serialize_str(&BASE64_STANDARD.encode(bytes))
}

fn from_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<Vec<f32>>, D::Error> {
    let bytes = BASE64_STANDARD.decode(String::deserialize(deserializer)?).map_err(D::Error::custom)?;
    Ok(Arc::new(bytes.as_chunks::<4>().0.iter().map(|word| f32::from_le_bytes(*word)).collect()))
}

/// How a take became.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TakeReport {
    /// Frames of the clip.
    pub n_frames: usize,
    /// Frames of the actor that were not trusted.
    pub n_held: usize,
    /// Root mean square distance of the actor from the pairs' blends, in metres of the standard body.
    pub residual: f64,
}

/// What a character does when an actor moves it, at an even rate.
#[derive(Debug)]
pub struct Performance {
    puppet: Puppet,
    shapes: Vec<ActedShape>,
    /// Frames per second.
    pub fps: f64,
    /// How it went.
    pub report: TakeReport,
    /// The frames of the actor that were followed, with their times.
    pub acted: Vec<(f64, Acted)>,
    /// Seconds that following the actor took.
    pub seconds: f64,
}

impl Performance {
    /// Follow an actor. `progress` is given the share done and may stop it.
    ///
    /// # Errors
    /// As [`Puppet::new`]; an actor who was never seen; or it was stopped.
    pub fn new(
        document: &Document,
        actor: &Actor,
        progress: &dyn Fn(f64) -> ControlFlow<()>,
    ) -> Result<Self, SessionError> {
        let mut puppet = Puppet::new(document, ActorSource { floor: actor.floor(), ..actor.source })?;
        let start = Instant::now();
        let (acted, mut report) = act(&mut puppet, actor, progress)?;
        let seconds = start.elapsed().as_secs_f64();
        let shapes = evenly(&puppet, &acted, actor);
        report.n_frames = shapes.len();
        Ok(Self { puppet, shapes, fps: actor.fps, report, acted, seconds })
    }

    /// What follows the actor.
    pub fn puppet(&self) -> &Puppet {
        &self.puppet
    }

    /// The joints in every frame; nothing for characters that are moved by handles.
    pub(super) fn worlds(&self) -> Vec<&[DAffine3]> {
        let mut worlds = Vec::with_capacity(self.shapes.len());
        for shape in &self.shapes {
            if let ActedShape::Joints { world, .. } = shape {
                worlds.push(world.as_slice());
            }
        }
        worlds
    }

    /// Whether it is a motion of the skeleton. Blended matrices that shear are no poses of one, and handles have none: then
    /// only the surface moves.
    pub fn is_of_skeleton(&self) -> bool {
        !self.puppet.is_by_handles() && self.puppet.interpolation() == Interpolation::ForwardKinematics
    }

    /// The motion of the skeleton.
    ///
    /// # Errors
    /// If the document has no skeleton.
    pub fn clip(&self, document: &Document, name: &str) -> Result<Clip, SessionError> {
        let rig = crate::rules::rig_of(document)?;
        let poses: Vec<Pose> = self.shapes.iter().cloned().filter_map(into_pose).collect();
        let mut made = Clip::from_poses(name, rig, &poses, self.fps)?;
        // Joints that rest say so: players that hold what another clip did would leave them there.
        let moved: Vec<usize> = made.joints.iter().map(|track| track.joint).collect();
        made.joints
            .extend(motion::still_joints(rig)?.into_iter().filter(|track| !moved.contains(&track.joint)));
        Ok(made)
    }

    /// The surface in every frame.
    ///
    /// # Errors
    /// If the surface cannot follow, or it was stopped.
    pub fn surfaces(
        &self,
        document: &Document,
        progress: &(dyn Fn(f64) -> ControlFlow<()> + Sync),
    ) -> Result<Vec<Vec<Vec3>>, SessionError> {
        if !self.puppet.is_by_handles() && document.body.skin.is_none() {
            let cause = "there is no skin, so blended matrices move nothing".into();
            return Err(SessionError::Value { what: "interpolation", cause });
        }
        check_sequence(self.shapes.len() as f64, document.mesh().n_vertices())?;
        let prepared = self.puppet.is_by_handles().then(|| Prepared::new(document, progress)).transpose()?;
        let mut frames = Vec::with_capacity(self.shapes.len());
        for (at, shape) in self.shapes.iter().enumerate() {
            frames.push(self.puppet.frame(document, shape, prepared.as_ref())?.positions);
            if progress((at + 1) as f64 / self.shapes.len() as f64).is_break() {
                return Err(SessionError::Cancelled);
            }
        }
        Ok(frames)
    }
}

/// The document with a performance as a clip: of its skeleton, or of morph targets if handles or matrices are blended.
/// `progress` is given the share done and may stop it.
///
/// # Errors
/// As [`Performance::new`]; a name that is taken; too many frames; or it was stopped.
pub fn perform_take(
    document: &Document,
    clip: &str,
    take: &TakeData,
    progress: &(dyn Fn(f64) -> ControlFlow<()> + Sync),
) -> Result<(Document, TakeReport), SessionError> {
    check_name("clip", clip, document.find_clip(clip).is_ok())?;
    let performance = Performance::new(document, &take.actor()?, &|share| progress(FOLLOW_SHARE * share))?;
    let mut after = document.clone();
    if performance.is_of_skeleton() {
        after.clips.push(Arc::new(performance.clip(document, clip)?));
    } else {
        motion::check_frames(document, performance.report.n_frames, performance.fps)?;
        let report = |share: f64| progress(FOLLOW_SHARE + (1.0 - FOLLOW_SHARE) * share);
        let frames = performance.surfaces(document, &report)?;
        crate::add_motion_clip(&mut after, clip, performance.fps, frames)?;
    }
    Ok((after, performance.report))
}

fn into_pose(shape: ActedShape) -> Option<Pose> {
    match shape {
        ActedShape::Joints { pose, .. } => Some(pose),
        ActedShape::Handles(_) => None,
    }
}

fn act(
    puppet: &mut Puppet,
    actor: &Actor,
    progress: &dyn Fn(f64) -> ControlFlow<()>,
) -> Result<(Vec<(f64, Acted)>, TakeReport), SessionError> {
    let (mut acted, mut report) = (Vec::new(), TakeReport::default());
    for (k, (time, body)) in actor.frames.iter().enumerate() {
        if let Some(done) = puppet.step(*time, body)? {
            report.n_held += usize::from(done.held);
            report.residual += done.residual * done.residual;
            acted.push((*time, done));
        }
        if progress((k + 1) as f64 / actor.frames.len() as f64).is_break() {
            return Err(SessionError::Cancelled);
        }
    }
    if acted.is_empty() {
        let cause = "the body was never fully tracked; step back until all of it is seen, or ignore limbs";
        return Err(SessionError::Value { what: "take", cause: cause.into() });
    }
    report.residual = (report.residual / acted.len() as f64).sqrt();
    Ok((acted, report))
}

/// Shapes at an even rate from the actor's first to its last frame. Until somebody is tracked the first pose is held: a take
/// keeps the time of its source.
fn evenly(puppet: &Puppet, acted: &[(f64, Acted)], actor: &Actor) -> Vec<ActedShape> {
    let fps = actor.fps;
    let start = actor.frames.first().map_or(acted[0].0, |(time, _)| time.min(acted[0].0));
    let end = acted[acted.len() - 1].0;
    // Rounding of times must not cost the last frame.
    let n = ((end - start) * fps + 1e-3).floor().max(0.0) as usize + 1;
    let mut next = 1;
    let shape = |k: usize| {
        let time = start + k as f64 / fps;
        while next + 1 < acted.len() && acted[next].0 <= time {
            next += 1;
        }
        let (before, after) = (&acted[next.min(acted.len()) - 1], &acted[next.min(acted.len() - 1)]);
        let gap = after.0 - before.0;
        let share = if gap > 0.0 { ((time - before.0) / gap).clamp(0.0, 1.0) } else { 0.0 };
        // Frames that are a millisecond off were meant to be even.
        let near = 1e-3 * fps.recip().min(1.0);
        match share * gap {
            d if d < near => before.1.shape.clone(),
            d if gap - d < near => after.1.shape.clone(),
            _ => puppet.between(&before.1, &after.1, share),
        }
    };
    (0..n.min(MAX_TAKE_FRAMES)).map(shape).collect()
}
