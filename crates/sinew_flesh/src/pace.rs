//! Steps that keep pace with real time.
//!
//! The caller reports how much time has passed; steps are at most as long as is safe. Where steps take longer than the
//! time they simulate, motion slows down instead of lagging: time that cannot be made up is dropped.
//!
//! # Source
//! Capell (2004), §4.9: the length of a step follows the elapsed time. Differs: it is divided into sub-steps.

use crate::{FleshError, params::check_step};

/// Steps per call at most; slower clips get longer steps.
const MAX_STEPS: usize = 200;

/// Time of a baked simulation, advanced in steps of limited length.
#[derive(Debug, Clone)]
pub(crate) struct Clock {
    pub time: f64,
    pub max_step: f64,
}

/// Steps of equal length.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Steps {
    start: f64,
    n: usize,
    /// Length of a step in seconds.
    pub secs: f64,
}

impl Clock {
    /// # Errors
    /// A longest step that is not positive.
    pub fn new(max_step: f64) -> Result<Self, FleshError> {
        check_step(max_step)?;
        Ok(Self { time: 0.0, max_step })
    }

    /// Steps from now to a time; none if that is not later.
    pub fn plan(&self, time: f64) -> Option<Steps> {
        let way = time - self.time;
        if way.is_nan() || way <= 0.0 {
            return None;
        }
        let n = ((way / self.max_step - 1e-6).ceil() as usize).clamp(1, MAX_STEPS);
        Some(Steps { start: self.time, n, secs: way / n as f64 })
    }
}

impl Steps {
    /// Times at which the steps end.
    pub fn times(self) -> impl Iterator<Item = f64> {
        (1..=self.n).map(move |step| self.start + self.secs * step as f64)
    }
}

/// Plans steps of a simulation that is watched while it runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Pacer {
    max_step: f64,
    /// Recent cost of a step in seconds.
    cost: f64,
    /// Recent simulated seconds per second of real time.
    speed: f64,
}

/// Weight of the last measurement in the running mean.
const SMOOTHING: f64 = 0.1;
/// Pauses beyond this many seconds are not caught up.
const MAX_CATCH_UP_SECS: f64 = 0.25;

impl Pacer {
    /// Steps of at most `max_step` seconds.
    pub fn new(max_step: f64) -> Self {
        Self { max_step, cost: 0.0, speed: 1.0 }
    }

    /// How many steps to take for `elapsed` seconds, and how long they are. They take no longer than `budget` seconds by
    /// what steps took lately, but there is at least one.
    pub fn plan(&mut self, elapsed: f64, budget: f64) -> (usize, f64) {
        if elapsed.is_nan() || elapsed <= 0.0 {
            return (0, 0.0);
        }
        let wanted = elapsed.min(MAX_CATCH_UP_SECS);
        let needed = (wanted / self.max_step - 1e-9).ceil().max(1.0);
        let affordable = if self.cost > 0.0 { (budget / self.cost).floor().max(1.0) } else { needed };
        let n = needed.min(affordable);
        let secs = (wanted / n).min(self.max_step);
        self.speed += SMOOTHING * (n * secs / elapsed - self.speed);
        (n as usize, secs)
    }

    /// Report the duration of a step in seconds.
    pub fn took(&mut self, secs: f64) {
        let trust = if self.cost > 0.0 { SMOOTHING } else { 1.0 };
        self.cost += trust * (secs - self.cost);
    }

    /// Recent cost of a step in seconds.
    pub fn cost(&self) -> f64 {
        self.cost
    }

    /// Recent simulated seconds per second of real time; 1 keeps up.
    pub fn speed(&self) -> f64 {
        self.speed
    }
}
