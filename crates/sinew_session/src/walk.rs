//! A gait for a character with a skeleton, along a line.
//!
//! # Source
//! The method is that of `sinew_gait`; this file defines its inputs.

use crate::{DEFAULT_FPS, SessionError, skeleton::has_skeleton};
use serde::{Deserialize, Serialize};
use sinew_formats::paths::GroundData;
use sinew_gait::{GaitParams, Gaited, make_gait};
use sinew_geom::Character;

/// What a user can choose about a gait.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(default, deny_unknown_fields)]
pub struct WalkSettings {
    /// Name of the clip.
    pub clip: String,
    /// walk, run, trot, pace or gallop; by the speed if absent.
    pub gait: Option<String>,
    /// Metres per second; what suits the body if absent.
    pub speed: Option<f64>,
    /// Points to go along, in metres from where it stands: to its left, and ahead. Steady steps that can be repeated if empty.
    pub line: Vec<[f64; 2]>,
    /// What it goes over; level ground if absent.
    pub ground: Option<GroundData>,
    /// Whether it stays on the spot.
    pub in_place: bool,
}

impl Default for WalkSettings {
    fn default() -> Self {
        Self { clip: "walk".into(), gait: None, speed: None, line: Vec::new(), ground: None, in_place: false }
    }
}

/// The clip of a character that walks, and what it does.
///
/// # Errors
/// No skeleton, no legs, or numbers outside their range.
pub fn make_walk(character: &Character, settings: &WalkSettings) -> Result<Gaited, SessionError> {
    let Some(rig) = character.rig.as_ref().filter(|_| has_skeleton(character)) else {
        let cause = "a walk needs a skeleton; add one first".into();
        return Err(SessionError::Value { what: "character", cause });
    };
    let refuse =
        |cause: sinew_gait::GaitError| SessionError::Value { what: "walk", cause: cause.to_string() };
    let params = GaitParams {
        name: settings.clip.clone(),
        gait: settings.gait.as_deref().map(str::parse).transpose().map_err(refuse)?,
        speed: settings.speed,
        line: settings.line.clone(),
        ground: settings.ground.as_ref().map(GroundData::build).transpose()?.unwrap_or_default(),
        in_place: settings.in_place,
        fps: DEFAULT_FPS,
        unit: None,
    };
    make_gait(character, rig, &params).map_err(refuse)
}
