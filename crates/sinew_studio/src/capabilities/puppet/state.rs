//! What pages see of puppetry.

use crate::{
    capabilities::examples::digest,
    wire::{Part, Point3, Snapshot},
};
use serde::Serialize;
use sinew::{
    formats::pairs::PairTarget,
    puppet::{BodyPose, Limb, Projection},
    session::{ActorSource, Event, Pair, PuppetSettings},
};
use std::sync::Arc;
use ts_rs::TS;

/// Pairs of poses, and how they are used.
#[derive(Debug)]
pub struct PuppetPart;

#[derive(Debug, Serialize, TS)]
pub struct PuppetState {
    puppet: PuppetInfo,
}

/// Pairs of poses, and how they are used.
#[derive(Debug, Serialize, TS)]
#[ts(rename = "Puppet")]
struct PuppetInfo {
    pairs: Vec<PairInfo>,
    settings: PuppetSettings,
    #[ts(type = "string[]")]
    projections: Vec<&'static str>,
}

/// Two poses that belong together.
#[derive(Debug, Serialize, TS)]
struct PairInfo {
    name: String,
    /// Address of a small picture.
    thumbnail: Option<String>,
    target: PairedWith,
    /// The actor's 20 joints.
    #[ts(as = "Vec<Point3>")]
    body: Vec<[f32; 3]>,
}

/// The pose of the character: a stored one, or one of some joints.
#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "snake_case")]
enum PairedWith {
    Example(String),
    Joints(usize),
}

impl Part for PuppetPart {
    type Value = PuppetState;
    type Sent = ();

    fn follows(event: &Event) -> bool {
        matches!(event, Event::Changed(changes) if changes.puppet)
    }

    fn value(Snapshot { document, .. }: &Snapshot<'_>, (): &mut ()) -> Option<PuppetState> {
        let data = &document.puppet;
        let pair = |(at, pair): (usize, &Arc<Pair>)| PairInfo {
            name: pair.pair.name.clone(),
            thumbnail: pair.thumbnail.as_ref().map(|png| format!("/pair/{at}?{:016x}", digest(png))),
            target: match &pair.pair.target {
                PairTarget::Example(name) => PairedWith::Example(name.clone()),
                PairTarget::Joints(joints) => PairedWith::Joints(joints.len()),
            },
            body: pair.pair.body.iter().map(|p| p.as_vec3().to_array()).collect(),
        };
        let pairs = data.pairs.iter().enumerate().map(pair).collect();
        let projections = Projection::NAMES.to_vec();
        Some(PuppetState { puppet: PuppetInfo { pairs, settings: data.settings.clone(), projections } })
    }
}

/// The recording that is open.
#[derive(Debug)]
pub struct ActorPart;

#[derive(Debug, Serialize, TS)]
pub struct ActorState {
    /// Null if there is none.
    actor: Option<ActorInfo>,
}

/// The recording of an actor.
#[derive(Debug, Serialize, TS)]
#[ts(rename = "Actor")]
struct ActorInfo {
    name: String,
    frames: usize,
    fps: f64,
}

impl Part for ActorPart {
    type Value = ActorState;
    type Sent = ();

    fn value(snapshot: &Snapshot<'_>, (): &mut ()) -> Option<ActorState> {
        let actor = snapshot.studio.capabilities.puppet.theatre().actor.clone();
        let info = |(name, actor): (String, Arc<sinew::session::Actor>)| ActorInfo {
            name,
            frames: actor.frames.len(),
            fps: actor.fps,
        };
        Some(ActorState { actor: actor.map(info) })
    }
}

/// The performance in progress; alone in messages while an actor performs.
#[derive(Debug)]
pub struct ActPart;

#[derive(Debug, Serialize, TS)]
pub struct ActState {
    /// Null if there is none.
    pub act: Option<Act>,
}

/// The performance in progress.
#[derive(Debug, Serialize, TS)]
pub struct Act {
    /// Frame of the recording; null for a camera.
    frame: Option<usize>,
    time: f64,
    /// The actor's 20 joints; those that are not seen may be null.
    #[ts(type = "([number, number, number] | [null, null, null])[] | null")]
    body: Option<Vec<[f32; 3]>>,
    /// Which of them are seen.
    #[ts(as = "Option<Vec<bool>>")]
    seen: Option<Vec<bool>>,
    /// A limb that is missing, and the joint of it.
    #[ts(type = "[Limb, string] | null")]
    pub missing: Option<(&'static str, &'static str)>,
    weights: Option<Vec<f64>>,
    residual: Option<f64>,
    held: bool,
    /// Why the character does not follow.
    fault: Option<String>,
    /// Frames recorded so far.
    take: Option<usize>,
}

impl Part for ActPart {
    type Value = ActState;
    type Sent = ();

    fn value(Snapshot { studio, document }: &Snapshot<'_>, (): &mut ()) -> Option<ActState> {
        let settings = &document.puppet.settings;
        let theatre = studio.capabilities.puppet.theatre();
        let Some(live) = &theatre.live else { return Some(ActState { act: None }) };
        let taken = |body: &BodyPose| {
            settings.params(ActorSource::default()).map_or(body.clone(), |p| p.tracker.taken(body))
        };
        let body = live.body.as_ref().map(taken);
        let ignored = |limb: &Limb| settings.ignored.iter().any(|name| name == limb.name());
        let missing = body.as_ref().and_then(|body| body.missing_limb(&|limb| ignored(&limb)));
        let act = Act {
            frame: live.frame,
            time: live.time,
            body: body.as_ref().map(|body| body.joints.iter().map(|p| p.as_vec3().to_array()).collect()),
            seen: body.as_ref().map(|body| body.seen.to_vec()),
            missing: missing.map(|(limb, joint)| (limb.name(), joint)),
            weights: live.acted.as_ref().map(|acted| acted.weights.clone()),
            residual: live.acted.as_ref().map(|acted| acted.residual),
            held: live.acted.as_ref().is_some_and(|acted| acted.held),
            fault: live.fault.clone(),
            take: live.take.as_ref().map(Vec::len),
        };
        Some(ActState { act: Some(act) })
    }
}
