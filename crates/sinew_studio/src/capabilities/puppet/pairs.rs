//! Poses of the actor and the character that belong together.

use crate::wire::{Context, Done, Request, Work};
use anyhow::{Context as _, bail, ensure};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde::Deserialize;
use sinew::{
    formats::pairs::{PairTarget, PosePair},
    geom::{Pose, Rig, Transform},
    puppet::Calibration,
    session::{ActorSource, Command, Display, Document, Prepared, PuppetSettings, Stage, draw_thumbnail},
};
use std::ops::ControlFlow;
use ts_rs::TS;

/// Pair the actor's pose of this moment with one of the character.
#[derive(Debug, Deserialize, TS)]
pub struct PairPoses {
    name: String,
    target: Target,
}

/// Which pose of the character is paired.
#[derive(Debug, Clone, PartialEq, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(rename = "PairTarget")]
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

impl Request for PairPoses {
    const NAME: &'static str = "pair";
    const WORK: Work = Work::Long;
    type Reply = Done;

    fn run(self, context: &Context<'_>) -> anyhow::Result<Done> {
        let (studio, Self { name, target }) = (context.studio, self);
        let document = studio.document();
        let body = studio.capabilities.puppet.theatre().live.as_ref().and_then(|live| live.body.clone());
        let body = body.context("there is no actor; open a recording or start the camera")?;
        let params = document.puppet.settings.params(ActorSource::default())?;
        if let Some((limb, joint)) = body.missing_limb(&|limb| params.tracker.ignored.contains(&limb)) {
            bail!(
                "the body is not fully seen ({joint} is missing); step back, choose another frame, or ignore {}",
                limb.name()
            );
        }
        let body = params.tracker.whole(&params.tracker.taken(&body));
        let (kind, positions) = find_target(&document, &name, &target)?;
        let picture = format!(
            "data:image/png;base64,{}",
            BASE64_STANDARD.encode(draw_thumbnail(&document.body, &positions))
        );
        let pair = PosePair { name: name.clone(), body: body.joints.to_vec(), target: kind };
        let command = Command::PutPair { pair: Box::new(pair), thumbnail: Some(picture.clone()) };
        let gesture = Some(studio.next_gesture());
        let mut session = studio.session();
        if target == Target::Posed {
            session.apply(&Command::SaveExample { name, thumbnail: Some(picture) }, gesture)?;
        }
        session.apply(&command, gesture)?;
        Ok(Done {})
    }
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
#[derive(Debug, Deserialize, TS)]
pub struct Calibrate {
    on: bool,
}

impl Request for Calibrate {
    const NAME: &'static str = "calibrate";
    type Reply = Done;

    fn run(self, context: &Context<'_>) -> anyhow::Result<Done> {
        let studio = context.studio;
        let body = studio.capabilities.puppet.theatre().live.as_ref().and_then(|live| live.body.clone());
        let calibration = match self.on {
            true => {
                let found = Calibration::of_standing(&body.context("there is no actor to calibrate by")?)?;
                Some((found.upright.to_array(), found.trunk))
            }
            false => None,
        };
        let mut session = studio.session();
        let settings = PuppetSettings { calibration, ..session.document().puppet.settings.clone() };
        session.apply(&Command::SetPuppet { settings }, None)?;
        Ok(Done {})
    }
}
