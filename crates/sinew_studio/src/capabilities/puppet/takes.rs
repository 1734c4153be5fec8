//! Takes: what an actor did, as a clip.

use super::state::ActPart;
use crate::{
    studio::Studio,
    wire::{Context, Done, JobKind, Request, Work},
};
use anyhow::{Context as _, ensure};
use serde::{Deserialize, Serialize};
use sinew::{
    puppet::BodyPose,
    session::{Actor, ActorSource, Command, MAX_TAKE_FRAMES, SessionError, TakeData, perform_take},
};
use ts_rs::TS;

/// Frames per second of clips from cameras, whose own frames come unevenly.
const CAMERA_FPS: f64 = 30.0;

/// Begin to record what the actor does.
#[derive(Debug, Deserialize, TS)]
pub struct BeginTake {}

impl Request for BeginTake {
    const NAME: &'static str = "take_begin";
    type Reply = Done;

    fn run(self, context: &Context<'_>) -> anyhow::Result<Done> {
        let mut theatre = context.studio.capabilities.puppet.theatre();
        let live =
            theatre.live.as_mut().context("there is no actor; open a recording or start the camera")?;
        live.take = Some(Vec::new());
        drop(theatre);
        context.studio.raise::<ActPart>();
        Ok(Done {})
    }
}

/// End the recording of a take; it becomes a clip, or is forgotten if it has no name.
#[derive(Debug, Deserialize, TS)]
pub struct EndTake {
    clip: Option<String>,
}

/// A take that became a clip.
#[derive(Debug, Serialize, TS)]
pub struct Performed {
    frames: usize,
    /// Frames of the actor that were not trusted.
    held: usize,
    /// Root mean square distance of the actor from the pairs' blends, in metres of the standard body.
    residual: f64,
}

impl Request for EndTake {
    const NAME: &'static str = "take_end";
    const WORK: Work = Work::Long;
    type Reply = Option<Performed>;

    fn run(self, context: &Context<'_>) -> anyhow::Result<Option<Performed>> {
        let (frames, fps, source) = {
            let mut theatre = context.studio.capabilities.puppet.theatre();
            let actor = theatre.actor.as_ref().map(|(_, actor)| actor.clone());
            let live = theatre.live.as_mut().context("there is no performance to save")?;
            let of_file = actor.filter(|_| live.frame.is_some());
            let frames = live.take.take().context("nothing is recorded")?;
            let source = of_file.as_ref().map_or(ActorSource::LANDMARKS, |actor| actor.source);
            (frames, of_file.map_or(CAMERA_FPS, |actor| actor.fps), source)
        };
        context.studio.raise::<ActPart>();
        let Some(clip) = self.clip else { return Ok(None) };
        perform(context.studio, &clip, &Actor { frames: rising(frames), fps, source }).map(Some)
    }
}

/// Frames in order of time; a recording that was played in a loop continues.
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
#[derive(Debug, Deserialize, TS)]
pub struct PerformAll {
    clip: String,
}

impl Request for PerformAll {
    const NAME: &'static str = "perform_all";
    const WORK: Work = Work::Long;
    type Reply = Performed;

    fn run(self, context: &Context<'_>) -> anyhow::Result<Performed> {
        let actor = context.studio.capabilities.puppet.theatre().actor.clone();
        let (_, actor) = actor.context("there is no recording; open one")?;
        perform(context.studio, &self.clip, &actor)
    }
}

fn perform(studio: &Studio, clip: &str, actor: &Actor) -> anyhow::Result<Performed> {
    ensure!(!actor.frames.is_empty(), "nothing was recorded");
    ensure!(actor.frames.len() <= MAX_TAKE_FRAMES, "a take may have {MAX_TAKE_FRAMES} frames");
    let take = TakeData::new(actor);
    studio.job(JobKind::Perform, &format!("Performing {clip}"), |job| {
        let before = studio.document();
        let (after, report) = perform_take(&before, clip, &take, &|share| job.update(share))?;
        let command = Command::Take { clip: clip.to_owned(), take: take.clone() };
        studio.session().commit(&command, &before, after).ok_or(SessionError::Cancelled)?;
        Ok(Performed { frames: report.n_frames, held: report.n_held, residual: report.residual })
    })
}
