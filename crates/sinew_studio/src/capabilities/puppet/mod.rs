//! Puppetry: an actor is followed, and shown beside the character.

mod pairs;
mod state;
mod takes;

pub use state::ActPart;

use super::{Capability, Shape, file::with_upload};
use crate::{
    engine::Engine,
    locks::{Held, Ranked},
    studio::{Looks, Studio},
    wire::{Context, Done, Gesture, GestureId, JobKind, Registry, Request, Work},
};
use anyhow::Context as _;
use pairs::{Calibrate, PairPoses};
use serde::{Deserialize, Serialize};
use sinew::{
    geom::{Warnings, sample::Sample},
    puppet::BodyPose,
    session::{
        Acted, Actor, ActorSource, Document, MAX_TAKE_FRAMES, Puppet, SessionError, add_demo, demo_actor,
        grow_sample, read_actor,
    },
};
use state::{ActorPart, PuppetPart};
use std::{path::Path, sync::Arc};
use takes::{BeginTake, EndTake, PerformAll};
use ts_rs::TS;

/// Frames of a recording that may be left out before it was a jump to elsewhere.
const MAX_SKIP: usize = 15;
/// Vertices of the samples of the demonstration.
const DEMO_VERTICES: usize = 10_000;

/// An actor, and the character that follows.
#[derive(Debug, Default)]
pub struct PuppetCapability {
    theatre: Ranked<Theatre>,
}

#[derive(Debug, Default)]
struct Theatre {
    /// The recording that can be played, with its name.
    actor: Option<(String, Arc<Actor>)>,
    /// The performance in progress.
    live: Option<Live>,
    /// Rises when a performance ends, so that what is worked out meanwhile is forgotten.
    n_ended: u64,
    /// Whether poses are being paired: then the character shows the pose it is to be paired in.
    is_pairing: bool,
}

/// A performance in progress.
#[derive(Debug, Default)]
struct Live {
    /// Absent while the engine works with it, and if the character does not follow.
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

impl Theatre {
    fn end(&mut self) {
        self.live = None;
        self.n_ended += 1;
    }

    /// Whether the character does something.
    fn is_acting(&self) -> bool {
        !self.is_pairing && self.live.as_ref().is_some_and(|live| live.acted.is_some())
    }
}

impl Capability for PuppetCapability {
    fn register(&self, registry: &mut Registry) {
        registry
            .request::<OpenActor>()
            .request::<UploadActor>()
            .request::<OpenDemo>()
            .request::<EndAct>()
            .request::<SetPairing>()
            .request::<PairPoses>()
            .request::<Calibrate>()
            .request::<BeginTake>()
            .request::<EndTake>()
            .request::<PerformAll>()
            .gesture::<Cue>()
            .part::<PuppetPart>()
            .part::<ActorPart>()
            .part::<ActPart>();
    }

    fn reset(&self, studio: &Studio) {
        self.theatre().end();
        studio.raise::<ActPart>();
    }

    fn is_shown(&self) -> bool {
        self.theatre().is_acting()
    }

    /// The puppet is taken out for as long as the surface is solved, so that no other request waits for it.
    fn shape(
        &self,
        engine: &mut Engine<'_>,
        document: &Document,
        _: &Looks,
    ) -> Option<Result<Shape, SessionError>> {
        let (puppet, shape, n_ended) = {
            let mut theatre = self.theatre();
            let (is_acting, n_ended) = (theatre.is_acting(), theatre.n_ended);
            let live = theatre.live.as_mut().filter(|_| is_acting)?;
            let shape = live.acted.as_ref()?.shape.clone();
            (live.puppet.take()?, shape, n_ended)
        };
        let found = match puppet.is_by_handles() {
            true => engine.prepare(document).map(Some),
            false => Ok(engine.stage.ready(document).cloned()),
        };
        let found = found.and_then(|prepared| puppet.frame(document, &shape, prepared.as_deref()));
        self.give_back(n_ended, Some(puppet));
        Some(found.map(|frame| (frame, None)))
    }
}

impl PuppetCapability {
    fn theatre(&self) -> Held<'_, Theatre> {
        self.theatre.lock()
    }

    fn give_back(&self, n_ended: u64, puppet: Option<Puppet>) {
        let mut theatre = self.theatre();
        if theatre.n_ended == n_ended
            && let Some(live) = &mut theatre.live
        {
            live.puppet = puppet;
        }
    }
}

/// What an actor does: a frame of the recording, or what a camera saw. The character follows, and is sent as `act`.
#[derive(Debug, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
enum Cue {
    /// A frame of the recording.
    Frame(usize),
    /// What a camera saw: landmarks of MediaPipe.
    Camera(Sight),
}

/// Landmarks of one picture; none if no body was found.
#[derive(Debug, Deserialize, TS)]
struct Sight {
    /// Seconds.
    time: f64,
    /// 33 landmarks in metres about the hips, y down, and how sure each is.
    #[ts(type = "number[][] | null")]
    world: Option<Vec<[f64; 4]>>,
    /// Shares of the picture, y down.
    #[ts(type = "number[][] | null")]
    image: Option<Vec<[f64; 2]>>,
    /// Width of the picture for a height of one.
    #[serde(default = "square")]
    aspect: f64,
}

fn square() -> f64 {
    1.0
}

impl Gesture for Cue {
    const NAME: &'static str = "puppet";

    /// Follow the actor by one frame. The character follows if it can; why it cannot is stored for the pages.
    fn apply(self, engine: &mut Engine<'_>, _: GestureId) -> Result<(), SessionError> {
        let studio = engine.studio;
        let followed = self.follow(&studio.capabilities.puppet, &studio.document());
        studio.raise::<ActPart>();
        followed
    }
}

impl Cue {
    fn follow(self, capability: &PuppetCapability, document: &Document) -> Result<(), SessionError> {
        let fail = |cause: &str| Err(SessionError::Value { what: "puppet", cause: cause.into() });
        let actor = capability.theatre().actor.clone();
        let (time, body, frame, source) = match self {
            Self::Camera(sight) => {
                if !sight.time.is_finite() {
                    return fail("a time is a number of seconds");
                }
                let body =
                    BodyPose::from_camera(sight.world.as_deref(), sight.image.as_deref(), sight.aspect)?;
                (sight.time, body, None, ActorSource::LANDMARKS)
            }
            Self::Frame(at) => {
                let Some((_, actor)) = &actor else { return fail("there is no recording; open one") };
                let Some((time, body)) = actor.frames.get(at) else { return fail("there is no such frame") };
                (*time, body.clone(), Some(at), ActorSource { floor: actor.floor(), ..actor.source })
            }
        };
        let (mut puppet, is_next, n_ended) = {
            let mut theatre = capability.theatre();
            let n_ended = theatre.n_ended;
            let live = theatre.live.get_or_insert_default();
            let is_next = match (live.frame, frame) {
                (Some(last), Some(at)) => at >= last && at - last <= MAX_SKIP,
                (None, None) => time >= live.time,
                _ => false,
            };
            (live.puppet.take(), is_next, n_ended)
        };
        let mut fault = None;
        if !puppet.as_ref().is_some_and(|puppet| puppet.serves(document, source)) {
            puppet = Puppet::new(document, source).map_err(|error| fault = Some(error.to_string())).ok();
        }
        if let Some(puppet) = puppet.as_mut().filter(|_| !is_next) {
            puppet.restart();
        }
        crate::locks::check_none_held();
        let acted = puppet.as_mut().map_or(Ok(None), |puppet| puppet.step(time, &body));
        let mut theatre = capability.theatre();
        if theatre.n_ended != n_ended {
            return Ok(());
        }
        let live = theatre.live.get_or_insert_default();
        (live.puppet, live.fault, live.time, live.frame) = (puppet, fault, time, frame);
        if let Some(take) = live.take.as_mut().filter(|take| take.len() < MAX_TAKE_FRAMES) {
            take.push((time, body.clone()));
        }
        live.body = Some(body);
        live.acted = acted?;
        Ok(())
    }
}

/// Open the recording of an actor.
#[derive(Debug, Deserialize, TS)]
struct OpenActor {
    path: String,
}

/// What was found in a recording.
#[derive(Debug, Serialize, TS)]
struct OpenedActor {
    warnings: Vec<String>,
}

impl Request for OpenActor {
    const NAME: &'static str = "actor";
    const WORK: Work = Work::Long;
    type Reply = OpenedActor;

    fn run(self, context: &Context<'_>) -> anyhow::Result<OpenedActor> {
        let files = &context.studio.files;
        open_actor(context.studio, &files.existing(&self.path)?, Some(files.root()))
    }
}

/// Open a recording that was posted to `/upload`.
#[derive(Debug, Deserialize, TS)]
struct UploadActor {
    /// The `D` of `/upload`.
    drop: String,
    name: String,
}

impl Request for UploadActor {
    const NAME: &'static str = "actor_upload";
    const WORK: Work = Work::Long;
    type Reply = OpenedActor;

    fn run(self, context: &Context<'_>) -> anyhow::Result<OpenedActor> {
        with_upload(context.studio, &self.drop, &self.name, |path| open_actor(context.studio, path, None))
    }
}

fn open_actor(studio: &Studio, path: &Path, root: Option<&Path>) -> anyhow::Result<OpenedActor> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    studio.job(JobKind::Actor, &format!("Reading {name}"), |job| {
        let mut warnings = Warnings::default();
        let mut actor = read_actor(path, None, root, &mut warnings)?;
        if job.is_cancelled() {
            return Err(SessionError::Cancelled);
        }
        actor.frames.sort_by(|a, b| a.0.total_cmp(&b.0));
        set_actor(studio, name.clone(), actor);
        Ok(OpenedActor { warnings: warnings.messages })
    })
}

/// Open a sample that is paired with an actor of our own.
#[derive(Debug, Deserialize, TS)]
struct OpenDemo {
    /// The sample.
    name: String,
}

impl Request for OpenDemo {
    const NAME: &'static str = "puppet_demo";
    const WORK: Work = Work::Long;
    type Reply = OpenedActor;

    fn run(self, context: &Context<'_>) -> anyhow::Result<OpenedActor> {
        let (studio, name) = (context.studio, self.name);
        let sample = Sample::from_name(&name).with_context(|| format!("there is no sample {name:?}"))?;
        studio.job(JobKind::Open, &format!("Growing {name}"), |job| {
            let mut warnings = Warnings::default();
            let mut document =
                grow_sample(sample, DEMO_VERTICES, &mut |share| job.update(share), &mut warnings)?;
            if !add_demo(&mut document, sample)? {
                let cause = format!("there is none of the {name}");
                return Err(SessionError::Value { what: "demonstration", cause });
            }
            if job.is_cancelled() {
                return Err(SessionError::Cancelled);
            }
            studio.open(document, None, warnings);
            set_actor(studio, "demo".into(), demo_actor());
            Ok(OpenedActor { warnings: Vec::new() })
        })
    }
}

/// Play another recording.
fn set_actor(studio: &Studio, name: String, actor: Actor) {
    let mut theatre = studio.capabilities.puppet.theatre();
    theatre.actor = Some((name, Arc::new(actor)));
    theatre.end();
    drop(theatre);
    studio.raise::<ActPart>();
    studio.raise::<ActorPart>();
    studio.ring();
}

/// End the performance; what was being recorded is forgotten.
#[derive(Debug, Deserialize, TS)]
struct EndAct {}

impl Request for EndAct {
    const NAME: &'static str = "act_end";
    type Reply = Done;

    fn run(self, context: &Context<'_>) -> anyhow::Result<Done> {
        context.studio.capabilities.puppet.theatre().end();
        context.studio.raise::<ActPart>();
        context.studio.ring();
        Ok(Done {})
    }
}

/// Show the pose that is to be paired (what `display` says) instead of what the actor makes of the character.
#[derive(Debug, Deserialize, TS)]
struct SetPairing {
    on: bool,
}

impl Request for SetPairing {
    const NAME: &'static str = "pairing";
    type Reply = Done;

    fn run(self, context: &Context<'_>) -> anyhow::Result<Done> {
        context.studio.capabilities.puppet.theatre().is_pairing = self.on;
        context.studio.raise::<ActPart>();
        context.studio.ring();
        Ok(Done {})
    }
}
