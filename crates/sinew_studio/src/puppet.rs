//! Puppetry as pages ask for it and see it: an actor is followed, and shown beside the character.

use crate::{
    news::Topic,
    requests::job,
    studio::{Studio, lock},
};
use anyhow::{Context, bail, ensure};
use base64::{Engine, prelude::BASE64_STANDARD};
use serde::Deserialize;
use serde_json::{Value, json};
use sinew::{
    formats::pairs::{PairTarget, PosePair},
    geom::{Pose, Rig, Transform, Warnings, sample::Sample},
    puppet::{BodyPose, Calibration, Limb, Projection},
    session::{
        Acted, Actor, Command, Display, Document, MAX_TAKE_FRAMES, Pair, Prepared, Puppet, PuppetSettings,
        SessionError, Stage, TakeData, add_demo, demo_actor, draw_thumbnail, grow_sample, perform_take,
        read_actor,
    },
};
use std::{ops::ControlFlow, path::Path, sync::Arc};

/// Frames a second of clips out of cameras, whose own frames come unevenly.
const CAMERA_FPS: f64 = 30.0;
/// Frames of a recording that may be left out before it was a jump to elsewhere.
const MAX_SKIP: usize = 15;

/// What is shared of puppetry.
#[derive(Debug, Default)]
pub struct Theatre {
    /// The recording that can be played, with its name.
    pub actor: Option<(String, Arc<Actor>)>,
    /// The performance in progress.
    pub live: Option<Live>,
    /// Whether poses are being paired: then the character shows the pose it is to be paired in.
    is_pairing: bool,
}

/// A performance in progress.
#[derive(Debug, Default)]
pub struct Live {
    puppet: Option<Puppet>,
    /// Why the character does not follow.
    fault: Option<String>,
    /// The body as it came.
    body: Option<BodyPose>,
    time: f64,
    /// Frame of the recording; none for a camera.
    frame: Option<usize>,
    acted: Option<Acted>,
    /// Frames of the take that is being recorded.
    take: Option<Vec<(f64, BodyPose)>>,
}

/// What a page says of its actor.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cue {
    /// A frame of the recording.
    Frame(usize),
    /// What a camera saw.
    Camera(Sight),
}

/// Landmarks of one picture; none if nobody was seen.
#[derive(Debug, Deserialize)]
pub struct Sight {
    /// Seconds.
    time: f64,
    /// Metres about the hips, y down, and how sure it is.
    #[serde(default)]
    world: Option<Vec<[f64; 4]>>,
    /// Shares of the picture, y down.
    #[serde(default)]
    image: Option<Vec<[f64; 2]>>,
    /// Width of the picture for a height of one.
    #[serde(default = "square")]
    aspect: f64,
}

fn square() -> f64 {
    1.0
}

/// Which pose of the character belongs to the actor's.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// As it was made.
    Rest,
    /// As its handles were moved; it is stored under the pair's name.
    Posed,
    /// A stored pose.
    Example(String),
    /// A moment of a clip of the skeleton.
    Clip(String, f32),
}

impl Theatre {
    /// Follow the actor by one frame. The character follows if it can; why it cannot is kept for the pages.
    ///
    /// # Errors
    /// If the message makes no sense.
    pub fn follow(&mut self, document: &Document, cue: Cue) -> Result<(), SessionError> {
        let fail = |cause: &str| Err(SessionError::Value { what: "puppet", cause: cause.into() });
        let (time, body, frame, jumps) = match cue {
            Cue::Camera(sight) => {
                if !sight.time.is_finite() {
                    return fail("a time is a number of seconds");
                }
                let body =
                    BodyPose::from_camera(sight.world.as_deref(), sight.image.as_deref(), sight.aspect)?;
                (sight.time, body, None, false)
            }
            Cue::Frame(at) => {
                let Some((_, actor)) = &self.actor else { return fail("there is no recording; open one") };
                let Some((time, body)) = actor.frames.get(at) else { return fail("there is no such frame") };
                (*time, body.clone(), Some(at), actor.knows_height)
            }
        };
        let live = self.live.get_or_insert_default();
        live.prepare(document, jumps);
        let is_next = match (live.frame, frame) {
            (Some(last), Some(at)) => at >= last && at - last <= MAX_SKIP,
            (None, None) => time >= live.time,
            _ => false,
        };
        if let Some(puppet) = live.puppet.as_mut().filter(|_| !is_next) {
            puppet.restart();
        }
        (live.time, live.frame) = (time, frame);
        if let Some(take) = live.take.as_mut().filter(|take| take.len() < MAX_TAKE_FRAMES) {
            take.push((time, body.clone()));
        }
        let acted = live.puppet.as_mut().map_or(Ok(None), |puppet| puppet.step(time, &body));
        live.body = Some(body);
        live.acted = acted?;
        Ok(())
    }

    /// Whether the surface must be prepared for handles.
    pub fn needs_editor(&self) -> bool {
        let live = self.live.as_ref();
        !self.is_pairing
            && live.is_some_and(|live| {
                live.acted.is_some() && live.puppet.as_ref().is_some_and(Puppet::is_by_handles)
            })
    }

    /// What the character does now.
    pub fn acting(&self) -> Option<(&Puppet, &Acted)> {
        let live = self.live.as_ref().filter(|_| !self.is_pairing)?;
        Some((live.puppet.as_ref()?, live.acted.as_ref()?))
    }
}

impl Live {
    fn prepare(&mut self, document: &Document, jumps: bool) {
        if self.puppet.as_ref().is_some_and(|puppet| puppet.serves(document, jumps)) {
            return;
        }
        match Puppet::new(document, jumps) {
            Ok(puppet) => (self.puppet, self.fault) = (Some(puppet), None),
            Err(error) => (self.puppet, self.fault) = (None, Some(error.to_string())),
        }
    }
}

/// What of the performance pages show; null if there is none.
pub fn act(studio: &Studio) -> Value {
    // Before the theatre: nobody waits for the session while holding it.
    let settings = studio.session().document().puppet.settings.clone();
    let theatre = studio.theatre();
    let Some(live) = &theatre.live else { return Value::Null };
    let taken = |body: &BodyPose| settings.params(true).map_or(body.clone(), |p| p.tracker.taken(body));
    let body = live.body.as_ref().map(taken);
    let ignored = |limb: &Limb| settings.ignored.iter().any(|name| name == limb.name());
    json!({
        "frame": live.frame,
        "time": live.time,
        "body": body.as_ref().map(|body| body.joints.map(|p| [p.x as f32, p.y as f32, p.z as f32])),
        "seen": body.as_ref().map(|body| body.seen),
        "missing": body.as_ref().and_then(|body| body.missing_limb(&|limb| ignored(&limb))).map(|(limb, joint)| json!([limb.name(), joint])),
        "weights": live.acted.as_ref().map(|acted| acted.weights.clone()),
        "residual": live.acted.as_ref().map(|acted| acted.residual),
        "held": live.acted.as_ref().is_some_and(|acted| acted.held),
        "fault": live.fault,
        "take": live.take.as_ref().map(Vec::len),
    })
}

/// Pairs and settings of a document.
pub fn state(document: &Document) -> Value {
    let data = &document.puppet;
    let pair = |(at, pair): (usize, &Arc<Pair>)| {
        let picture =
            pair.thumbnail.as_ref().map(|png| format!("/pair/{at}?{:016x}", crate::state::digest(png)));
        let target = match &pair.pair.target {
            PairTarget::Example(name) => json!({ "example": name }),
            PairTarget::Joints(joints) => json!({ "joints": joints.len() }),
        };
        let body: Vec<[f32; 3]> = pair.pair.body.iter().map(|p| p.as_vec3().to_array()).collect();
        json!({ "name": pair.pair.name, "thumbnail": picture, "target": target, "body": body })
    };
    json!({
        "pairs": data.pairs.iter().enumerate().map(pair).collect::<Vec<_>>(),
        "settings": data.settings,
        "projections": Projection::NAMES,
    })
}

/// The recording that is open, in numbers.
pub fn actor(studio: &Studio) -> Value {
    let theatre = studio.theatre();
    let Some((name, actor)) = &theatre.actor else { return Value::Null };
    json!({ "name": name, "frames": actor.frames.len(), "fps": actor.fps })
}

/// Read a recording to be played.
///
/// # Errors
/// If there is no body in it.
pub fn open_actor(studio: &Studio, path: &Path, root: Option<&Path>) -> anyhow::Result<Value> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    job(studio, &format!("Reading {name}"), |job| {
        let mut warnings = Warnings::default();
        let mut actor = read_actor(path, None, root, &mut warnings)?;
        if job.is_cancelled() {
            return Err(SessionError::Cancelled);
        }
        actor.frames.sort_by(|a, b| a.0.total_cmp(&b.0));
        set_actor(studio, name.clone(), actor);
        Ok(json!({ "warnings": warnings.messages }))
    })
}

/// Vertices of the samples of the demonstration.
const DEMO_VERTICES: usize = 10_000;

/// Open a sample that is paired with an actor of our own.
///
/// # Errors
/// If there is no such demonstration.
pub fn open_demo(studio: &Studio, name: &str) -> anyhow::Result<Value> {
    let sample = Sample::from_name(name).with_context(|| format!("there is no sample {name:?}"))?;
    job(studio, &format!("Growing {name}"), |job| {
        let mut warnings = Warnings::default();
        let mut document = grow_sample(sample, DEMO_VERTICES, &mut |share| job.update(share), &mut warnings)?;
        if !add_demo(&mut document, sample)? {
            let cause = format!("there is none of the {name}");
            return Err(SessionError::Value { what: "demonstration", cause });
        }
        if job.is_cancelled() {
            return Err(SessionError::Cancelled);
        }
        studio.open(document, None, warnings);
        set_actor(studio, "demo".into(), demo_actor());
        Ok(json!({ "warnings": [] }))
    })
}

/// Play another recording.
pub fn set_actor(studio: &Studio, name: String, actor: Actor) {
    let mut theatre = studio.theatre();
    theatre.actor = Some((name, Arc::new(actor)));
    theatre.live = None;
    drop(theatre);
    studio.raise(Topic::Act);
    studio.raise(Topic::Actor);
    studio.ring();
}

/// Show the pose that is to be paired, or what the actor makes of the character.
pub fn set_pairing(studio: &Studio, on: bool) {
    studio.theatre().is_pairing = on;
    studio.raise(Topic::Act);
    studio.ring();
}

/// End the performance; what was being recorded is forgotten.
pub fn end(studio: &Studio) {
    studio.theatre().live = None;
    studio.raise(Topic::Act);
    studio.ring();
}

/// Pair the actor's pose of this moment with one of the character.
///
/// # Errors
/// If no actor is wholly seen, or the character has no such pose.
pub fn pair(studio: &Studio, name: &str, target: &Target) -> anyhow::Result<()> {
    let document = studio.session().document().clone();
    let body = {
        let theatre = studio.theatre();
        let body = theatre.live.as_ref().and_then(|live| live.body.clone());
        body.context("there is no actor; open a recording or start the camera")?
    };
    let params = document.puppet.settings.params(true)?;
    if let Some((limb, joint)) = body.missing_limb(&|limb| params.tracker.ignored.contains(&limb)) {
        bail!(
            "the body is not fully seen ({joint} is missing); step back, choose another frame, or do not listen to {}",
            limb.name()
        );
    }
    let body = params.tracker.whole(&params.tracker.taken(&body));
    let (kind, positions) = find_target(&document, name, target)?;
    let picture = format!(
        "data:image/png;base64,{}",
        BASE64_STANDARD.encode(draw_thumbnail(&document.body, &positions))
    );
    let pair = PosePair { name: name.to_owned(), body: body.joints.to_vec(), target: kind };
    let command = Command::PutPair { pair: Box::new(pair), thumbnail: Some(picture.clone()) };
    let gesture = Some(studio.next_gesture());
    let mut session = studio.session();
    if *target == Target::Posed {
        session.apply(&Command::SaveExample { name: name.to_owned(), thumbnail: Some(picture) }, gesture)?;
    }
    session.apply(&command, gesture)?;
    Ok(())
}

/// A pose of the character as a pair keeps it, and its surface.
fn find_target(
    document: &Document,
    name: &str,
    target: &Target,
) -> anyhow::Result<(PairTarget, Vec<glam::DVec3>)> {
    let go_on = |_| ControlFlow::Continue(());
    let surface = |document: &Document, display: &Display| -> anyhow::Result<Vec<glam::DVec3>> {
        let frame = Stage::default().show(document, display, &go_on)?;
        Ok(frame.positions.iter().map(|p| p.as_dvec3()).collect())
    };
    Ok(match target {
        Target::Rest => (PairTarget::Joints(Vec::new()), surface(document, &Display::Rest)?),
        Target::Posed => {
            ensure!(
                !document.pose.is_empty(),
                "the character is at rest; pose it first, or choose “at rest”"
            );
            (PairTarget::Example(name.to_owned()), surface(document, &Display::Posed)?)
        }
        Target::Example(example) => {
            let example = &document.examples[document.find_example(example)?];
            let positions = Prepared::new(document, &go_on)?.positions(&example.moves)?;
            (PairTarget::Example(example.name.clone()), positions)
        }
        Target::Clip(clip, time) => {
            let rig = document.body.rig.as_ref().context("the character has no skeleton to pose")?;
            let found = &document.clips[document.find_clip(clip)?];
            ensure!(!found.joints.is_empty(), "clip {clip:?} does not move the skeleton");
            let joints = moved_joints(rig, &found.sample(rig, *time));
            let display = Display::Clip { clip: clip.clone(), time: *time };
            (PairTarget::Joints(joints), surface(document, &display)?)
        }
    })
}

/// Only joints that do not rest are kept.
fn moved_joints(rig: &Rig, pose: &Pose) -> Vec<(String, Transform)> {
    let joints = rig.joints().iter().zip(&pose.locals);
    joints
        .filter(|(joint, local)| joint.rest != **local)
        .map(|(joint, local)| (joint.name.clone(), *local))
        .collect()
}

/// Learn camera and actor from a standing body, or forget them.
///
/// # Errors
/// If no actor stands there.
pub fn calibrate(studio: &Studio, on: bool) -> anyhow::Result<()> {
    let settings = studio.session().document().puppet.settings.clone();
    let calibration = match on {
        true => {
            let theatre = studio.theatre();
            let body = theatre.live.as_ref().and_then(|live| live.body.as_ref());
            let found = Calibration::of_standing(body.context("there is no actor to calibrate by")?)?;
            Some((found.upright.to_array(), found.trunk))
        }
        false => None,
    };
    let settings = PuppetSettings { calibration, ..settings };
    studio.session().apply(&Command::SetPuppet { settings }, None)?;
    Ok(())
}

/// Begin to record what the actor does.
///
/// # Errors
/// If there is no actor.
pub fn begin_take(studio: &Studio) -> anyhow::Result<()> {
    let mut theatre = studio.theatre();
    let live = theatre.live.as_mut().context("there is no actor; open a recording or start the camera")?;
    live.take = Some(Vec::new());
    drop(theatre);
    studio.raise(Topic::Act);
    Ok(())
}

/// End the recording of a take; it becomes a clip unless it has no name.
///
/// # Errors
/// If nothing was recorded, or it cannot be performed.
pub fn end_take(studio: &Studio, clip: Option<&str>) -> anyhow::Result<Value> {
    let (frames, fps, knows_height) = {
        let mut theatre = studio.theatre();
        let actor = theatre.actor.as_ref().map(|(_, actor)| actor.clone());
        let live = theatre.live.as_mut().context("nothing is performed")?;
        let of_file = actor.filter(|_| live.frame.is_some());
        let frames = live.take.take().context("nothing is recorded")?;
        let knows = of_file.as_ref().is_some_and(|actor| actor.knows_height);
        (frames, of_file.map_or(CAMERA_FPS, |actor| actor.fps), knows)
    };
    studio.raise(Topic::Act);
    let Some(clip) = clip else { return Ok(Value::Null) };
    keep_take(studio, clip, &Actor { frames: rising(frames), fps, knows_height })
}

/// Frames in order of time; a recording that was played round and round goes on.
fn rising(frames: Vec<(f64, BodyPose)>) -> Vec<(f64, BodyPose)> {
    let (mut offset, mut last) = (0.0, f64::NEG_INFINITY);
    let rise = |(time, body): (f64, BodyPose)| {
        if time + offset <= last {
            offset = last - time + 1.0 / CAMERA_FPS;
        }
        last = time + offset;
        (last, body)
    };
    frames.into_iter().map(rise).collect()
}

/// Perform the whole recording as a clip.
///
/// # Errors
/// If there is none, or it cannot be performed.
pub fn perform_all(studio: &Studio, clip: &str) -> anyhow::Result<Value> {
    let actor = studio.theatre().actor.clone();
    let (_, actor) = actor.context("there is no recording; open one")?;
    keep_take(studio, clip, &actor)
}

fn keep_take(studio: &Studio, clip: &str, actor: &Actor) -> anyhow::Result<Value> {
    ensure!(!actor.frames.is_empty(), "nothing was recorded");
    ensure!(actor.frames.len() <= MAX_TAKE_FRAMES, "a take may have {MAX_TAKE_FRAMES} frames");
    let take = TakeData::new(actor);
    job(studio, &format!("Performing {clip}"), |job| {
        let before = studio.session().document().clone();
        let (after, report) = perform_take(&before, clip, &take, &|share| job.update(share))?;
        let command = Command::Take { clip: clip.to_owned(), take: take.clone() };
        studio.session().commit(&command, &before, after).ok_or(SessionError::Cancelled)?;
        Ok(json!({ "frames": report.n_frames, "held": report.n_held, "residual": report.residual }))
    })
}

impl Studio {
    /// What is shared of puppetry, for a moment.
    pub fn theatre(&self) -> std::sync::MutexGuard<'_, Theatre> {
        lock(&self.theatre)
    }
}
