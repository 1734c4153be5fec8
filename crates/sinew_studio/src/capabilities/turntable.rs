//! A clip that turns the character once. The page adds it by a command of the session and needs only the defaults.

use super::Capability;
use crate::{
    studio::Studio,
    wire::{Choices, Registry},
};
use serde::Serialize;
use sinew::session::TurntableSettings;
use ts_rs::TS;

/// Turntables.
#[derive(Debug, Default)]
pub struct TurntableCapability;

impl Capability for TurntableCapability {
    fn register(&self, registry: &mut Registry) {
        registry.choices::<TurntableDefaults>();
    }
}

/// Settings that the user has not chosen.
#[derive(Debug)]
struct TurntableDefaults;

#[derive(Debug, Serialize, TS)]
struct TurntableDefaultsValue {
    turntable_defaults: TurntableSettings,
}

impl Choices for TurntableDefaults {
    type Value = TurntableDefaultsValue;

    fn value(_: &Studio) -> TurntableDefaultsValue {
        TurntableDefaultsValue { turntable_defaults: TurntableSettings::default() }
    }
}
