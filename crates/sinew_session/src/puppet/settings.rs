//! How a body moves the character, as it is kept in projects and sent by pages.

use super::ActorSource;
use crate::SessionError;
use glam::DQuat;
use serde::{Deserialize, Serialize};
use sinew_puppet::{
    Calibration, GroundParams, Interpolation, Limb, PerformerParams, Projection, ProjectionParams,
    PuppeteerParams, TrackerParams,
};

/// Settings of a performance; see the fields of [`PerformerParams`] for what they mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(default, deny_unknown_fields)]
pub struct PuppetSettings {
    /// `linear`, `positive`, `l1` or `radial`.
    pub projection: String,
    /// Price of negative weights for `l1`.
    pub lambda: f64,
    /// `fk` or `linear`.
    #[cfg_attr(feature = "ts", ts(type = "'fk' | 'linear'"))]
    pub interpolation: String,
    /// 0 leaves the body as it comes, 1 makes it slow and smooth; if absent, what cameras see is smoothed.
    pub smoothing: Option<f64>,
    /// Whether left and right are exchanged.
    pub mirror: bool,
    /// Names of limbs that are not listened to.
    #[cfg_attr(feature = "ts", ts(type = "Limb[]"))]
    pub ignored: Vec<String>,
    /// Seconds after which a lost body begins to stand.
    pub hold: f64,
    /// The most that negative weights sum to.
    pub limit: f64,
    /// Whether the body is projected as a whole.
    pub whole_body: bool,
    /// Whether the character travels with the actor.
    pub travel: bool,
    /// Whether it stands on its feet.
    pub feet: bool,
    /// Metres of the character for one of the actor; the ratio of their heights if absent.
    pub scale: Option<f64>,
    /// What is known of camera and actor: a rotation (x, y, z, w) that brings the body upright, and the trunk's length.
    pub calibration: Option<([f64; 4], f64)>,
}

impl Default for PuppetSettings {
    fn default() -> Self {
        let (tracker, puppeteer) = (TrackerParams::default(), PuppeteerParams::default());
        Self {
            projection: Projection::default().name().into(),
            lambda: Projection::LAMBDA,
            interpolation: Interpolation::default().name().into(),
            smoothing: None,
            mirror: tracker.mirror,
            ignored: Vec::new(),
            hold: tracker.hold_secs,
            limit: puppeteer.limit,
            whole_body: false,
            travel: true,
            feet: true,
            scale: None,
            calibration: None,
        }
    }
}

impl PuppetSettings {
    /// What they mean for an actor of some source.
    ///
    /// # Errors
    /// A name that is unknown, or a number out of range.
    pub fn params(&self, source: ActorSource) -> Result<PerformerParams, SessionError> {
        let within = |what, value: f64, [low, high]: [f64; 2]| match (low..=high).contains(&value) {
            true => Ok(value),
            false => {
                Err(SessionError::Value { what, cause: format!("{value} is not within {low} and {high}") })
            }
        };
        let limb = |name: &String| {
            Limb::from_name(name)
                .ok_or_else(|| SessionError::absent("limb", name, Limb::ALL.map(Limb::name).into_iter()))
        };
        let ways = || Interpolation::ALL.map(Interpolation::name).into_iter();
        let tracker = TrackerParams {
            smoothing: match self.smoothing {
                Some(smoothing) => within("smoothing", smoothing, [0.0, 1.0])?,
                None if source.is_exact => 0.0,
                None => TrackerParams::default().smoothing,
            },
            is_exact: source.is_exact,
            mirror: self.mirror,
            ignored: self.ignored.iter().map(limb).collect::<Result<_, _>>()?,
            hold_secs: within("hold", self.hold, [0.0, 1e6])?,
            calibration: self.calibration(),
            ..TrackerParams::default()
        };
        let ground = GroundParams {
            scale: self.scale.map(|scale| within("scale", scale, [0.0, 1e6])).transpose()?,
            travel: self.travel,
            feet: self.feet,
            jumps: source.knows_height,
            floor: source.floor,
            ..GroundParams::default()
        };
        Ok(PerformerParams {
            tracker,
            puppeteer: PuppeteerParams {
                projection: ProjectionParams {
                    projection: self.projection()?,
                    ..ProjectionParams::default()
                },
                limit: within("limit", self.limit, [0.0, 1e6])?,
            },
            interpolation: Interpolation::from_name(&self.interpolation)
                .ok_or_else(|| SessionError::absent("interpolation", &self.interpolation, ways()))?,
            ground,
            whole_body: self.whole_body,
            limbs: Vec::new(),
            foot_slope: source.foot_slope,
        })
    }

    fn projection(&self) -> Result<Projection, SessionError> {
        if self.lambda.is_nan() || self.lambda < 0.0 {
            let cause = format!("{} is negative", self.lambda);
            return Err(SessionError::Value { what: "lambda", cause });
        }
        let name = &self.projection;
        Projection::from_name(name, self.lambda)
            .ok_or_else(|| SessionError::absent("projection", name, Projection::NAMES.into_iter()))
    }

    /// What is known of camera and actor.
    pub fn calibration(&self) -> Option<Calibration> {
        let (rotation, trunk) = self.calibration?;
        let upright = DQuat::from_array(rotation);
        let is_sound =
            upright.is_finite() && upright.length_squared() > 1e-6 && trunk.is_finite() && trunk > 0.0;
        is_sound.then(|| Calibration { upright: upright.normalize(), trunk })
    }
}
