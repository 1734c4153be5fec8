//! Clips in which the character walks.

use super::Capability;
use crate::wire::{Context, Registry, Request};
use serde::Deserialize;
use sinew::session::{Command, SessionError, WalkNumbers, WalkSettings, add_walk};
use ts_rs::TS;

/// Gaits.
#[derive(Debug, Default)]
pub struct WalkCapability;

impl Capability for WalkCapability {
    fn register(&self, registry: &mut Registry) {
        registry.request::<Walk>();
    }
}

/// Add a clip in which the character walks, and say what it does.
#[derive(Debug, Deserialize, TS)]
struct Walk {
    /// Any of them.
    #[ts(type = "Partial<WalkSettings>")]
    settings: WalkSettings,
}

impl Request for Walk {
    const NAME: &'static str = "walk";
    type Reply = WalkNumbers;

    fn run(self, context: &Context<'_>) -> anyhow::Result<WalkNumbers> {
        let before = context.studio.document();
        let (after, numbers) = add_walk(&before, &self.settings)?;
        let command = Command::Walk { settings: Box::new(self.settings) };
        context.studio.session().commit(&command, &before, after).ok_or(SessionError::Cancelled)?;
        Ok(numbers)
    }
}
