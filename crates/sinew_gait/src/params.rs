//! Parameters of a gait.

use crate::{GaitError, gait::Gait};
use sinew_geom::path::Ground;

/// Parameters of a gait. All lengths are metres.
#[derive(Debug, Clone, PartialEq)]
pub struct GaitParams {
    /// Name of the clip.
    pub name: String,
    /// The gait; by the speed if absent.
    pub gait: Option<Gait>,
    /// Metres per second; what suits the body and its gait if absent.
    pub speed: Option<f64>,
    /// Points to go along, from where it stands: to its left, and ahead. A steady gait that can be repeated if empty.
    pub line: Vec<[f64; 2]>,
    /// What it goes over.
    pub ground: Ground,
    /// Stay on the spot, as on a treadmill: for engines that move the body themselves.
    pub in_place: bool,
    /// Frames per second.
    pub fps: f64,
    /// Metres per unit of the character; guessed by its size if absent.
    pub unit: Option<f64>,
}

impl Default for GaitParams {
    fn default() -> Self {
        Self {
            name: "walk".into(),
            gait: None,
            speed: None,
            line: Vec::new(),
            ground: Ground::default(),
            in_place: false,
            fps: 30.0,
            unit: None,
        }
    }
}

impl GaitParams {
    /// # Errors
    /// Numbers outside their range.
    pub(crate) fn check(&self) -> Result<(), GaitError> {
        let is_positive = |x: f64| x.is_finite() && x > 0.0;
        let refuse =
            |name, value: f64, expected| Err(GaitError::Value { name, value: value.to_string(), expected });
        match (self.speed, self.unit) {
            (Some(speed), _) if !is_positive(speed) => refuse("speed", speed, "it must be above 0"),
            (_, Some(unit)) if !is_positive(unit) => refuse("unit", unit, "it must be above 0"),
            _ if !(1.0..=1000.0).contains(&self.fps) => {
                refuse("frames per second", self.fps, "give 1 to 1000")
            }
            _ => Ok(self.ground.check()?),
        }
    }
}
