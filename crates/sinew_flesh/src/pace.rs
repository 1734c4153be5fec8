//! Steps that keep pace with real time.
//!
//! The caller reports how much time has passed; steps are at most as long as is safe. Where steps take longer than the
//! time they simulate, motion slows down instead of lagging: time that cannot be made up is dropped.
//!
//! # Source
//! Capell (2004), §4.9: the length of a step follows the elapsed time. Differs: it is divided into sub-steps.

/// Plans steps of a simulation that is watched while it runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Pacer {
    max_step: f64,
    /// Seconds that a step took lately.
    cost: f64,
    /// Seconds simulated a second lately.
    speed: f64,
}

/// How much of the last measurement is believed.
const TRUST: f64 = 0.1;
/// Longer pauses are not made up for: nobody was watching.
const LONGEST: f64 = 0.25;

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
        let wanted = elapsed.min(LONGEST);
        let needed = (wanted / self.max_step - 1e-9).ceil().max(1.0);
        let affordable = if self.cost > 0.0 { (budget / self.cost).floor().max(1.0) } else { needed };
        let n = needed.min(affordable);
        let secs = (wanted / n).min(self.max_step);
        self.speed += TRUST * (n * secs / elapsed - self.speed);
        (n as usize, secs)
    }

    /// Tell how many seconds a step took.
    pub fn took(&mut self, secs: f64) {
        let trust = if self.cost > 0.0 { TRUST } else { 1.0 };
        self.cost += trust * (secs - self.cost);
    }

    /// Seconds that a step took lately.
    pub fn cost(&self) -> f64 {
        self.cost
    }

    /// Seconds simulated a second lately; 1 keeps up.
    pub fn speed(&self) -> f64 {
        self.speed
    }
}
