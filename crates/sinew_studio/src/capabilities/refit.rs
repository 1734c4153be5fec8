//! Clips of the skeleton on other ground, and when their feet stand.

use super::{
    Capability,
    motion::{Relief, relief},
};
use crate::{
    studio::Studio,
    wire::{Context, JobKind, Registry, Request},
};
use serde::{Deserialize, Serialize};
use sinew::session::{
    ClipGround, Command, ContactTrack, Document, RefitNumbers, RefitSettings, SessionError,
    find_contact_track, refit_clip,
};
use ts_rs::TS;

/// Moments of a clip that say where its ground is drawn.
const MOMENTS: usize = 24;

/// Refitted clips.
#[derive(Debug, Default)]
pub struct RefitCapability;

impl Capability for RefitCapability {
    fn register(&self, registry: &mut Registry) {
        registry.request::<Contacts>();
    }
}

/// When feet stand in a clip.
#[derive(Debug, Deserialize, TS)]
struct Contacts {
    clip: String,
}

impl Request for Contacts {
    const NAME: &'static str = "contacts";
    type Reply = ContactTrack;

    fn run(self, context: &Context<'_>) -> anyhow::Result<ContactTrack> {
        Ok(find_contact_track(&context.studio.document(), &self.clip)?)
    }
}

/// Refit a clip as a job that can be cancelled, and store the result as a clip.
///
/// # Errors
/// As [`sinew::session::refit_clip`].
pub fn refit(studio: &Studio, settings: &RefitSettings) -> anyhow::Result<RefitNumbers> {
    studio.job(JobKind::Refit, &format!("Refitting {}", settings.clip), |job| {
        let before = studio.document();
        let (after, numbers) = refit_clip(&before, settings, &mut |share| job.update(share))?;
        let command = Command::Refit { settings: Box::new(settings.clone()) };
        studio.session().commit(&command, &before, after).ok_or(SessionError::Cancelled)?;
        Ok(numbers)
    })
}

/// The ground that a clip was refitted to, as it is drawn.
#[derive(Debug, Serialize, TS)]
pub struct DrawnGround {
    clip: String,
    ground: Relief,
}

/// Grounds that clips were refitted to.
pub fn grounds(document: &Document) -> Vec<DrawnGround> {
    let Some(rig) = &document.body.rig else { return Vec::new() };
    let drawn = |ground: &ClipGround| {
        let (site, at) = (ground.site().ok()?, document.find_clip(&ground.clip).ok()?);
        let clip = &document.clips[at];
        let moment = |k: usize| clip.sample(rig, clip.duration_secs() * k as f32 / MOMENTS as f32);
        let way = (0..=MOMENTS).filter_map(|k| Some(moment(k).locals.first()?.translation.to_array()));
        let relief = relief(&|x, z| site.height(x, z), way, document.mesh().diagonal());
        Some(DrawnGround { clip: ground.clip.clone(), ground: relief })
    };
    document.rules.grounds.iter().filter_map(drawn).collect()
}
