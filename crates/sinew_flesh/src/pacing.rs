//! Steps that keep up with the clock.
//!
//! # Source
//! Capell 2004, §4.9: the length of a step follows the time that went by. Differs: it is cut into sub-steps of a length that
//! suits the flesh, and time that cannot be made up for is given up, so that slow machines show slow motion instead of
//! falling ever farther behind.

use crate::{FleshError, params::check_step};

/// What to do for one picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// How many steps.
    pub n_steps: usize,
    /// Seconds each.
    pub secs: f64,
    /// Seconds given up.
    pub lost: f64,
}

/// Turns time on the clock into steps. The same times give the same steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pacer {
    step: f64,
    most: usize,
    left: f64,
}

/// Sub-steps may be this much longer than wished before their number grows.
const STRETCH: f64 = 1.05;

impl Pacer {
    /// Steps of about `step` seconds, at most `most` of them a picture.
    ///
    /// # Errors
    /// A step that is not positive, or none at all.
    pub fn new(step: f64, most: usize) -> Result<Self, FleshError> {
        check_step(step)?;
        if most == 0 {
            let (name, expected) = ("number of steps", "it must be 1 or more");
            return Err(FleshError::Parameter { name, value: 0.0, expected });
        }
        Ok(Self { step, most, left: 0.0 })
    }

    /// Steps for `elapsed` seconds since the last picture. Less than half a step waits for the next; negative and unknown
    /// times count as none.
    pub fn advance(&mut self, elapsed: f64) -> Pace {
        let owed = self.left + if elapsed.is_finite() { elapsed.max(0.0) } else { 0.0 };
        if owed < 0.5 * self.step {
            self.left = owed;
            return Pace { n_steps: 0, secs: 0.0, lost: 0.0 };
        }
        let wished = (owed / (STRETCH * self.step)).ceil();
        let n_steps = wished.min(self.most as f64) as usize;
        let secs = (owed / n_steps as f64).min(STRETCH * self.step);
        self.left = 0.0;
        Pace { n_steps, secs, lost: (owed - secs * n_steps as f64).max(0.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_kept_or_given_up() {
        let mut pacer = Pacer::new(0.01, 4).unwrap();
        // 60 pictures a second: all time is simulated, in steps near the one asked for.
        let (mut done, mut shown) = (0.0, 0.0);
        for _ in 0..600 {
            let pace = pacer.advance(1.0 / 60.0);
            assert!(pace.n_steps <= 2 && pace.lost == 0.0 && pace.secs <= 0.0105 + 1e-12, "{pace:?}");
            done += pace.n_steps as f64 * pace.secs;
            shown += 1.0 / 60.0;
            assert!((done - shown).abs() < 0.01);
        }
        // A second lost in another window: four steps, and the rest is gone for good.
        let pace = pacer.advance(1.0);
        assert_eq!(pace.n_steps, 4);
        assert!((pace.lost - (1.0 - 4.0 * pace.secs)).abs() < 1e-9 && pace.lost > 0.9, "{pace:?}");
        assert_eq!(pacer.advance(0.01).n_steps, 1);
        // Pictures faster than steps wait for each other.
        let mut fast = Pacer::new(0.01, 4).unwrap();
        let paces: Vec<usize> = (0..10).map(|_| fast.advance(0.002).n_steps).collect();
        assert!(paces.contains(&0) && paces.contains(&1), "{paces:?}");
        for odd in [f64::NAN, -1.0, f64::INFINITY] {
            assert_eq!(Pacer::new(0.01, 4).unwrap().advance(odd).n_steps, 0);
        }
        assert!(Pacer::new(0.0, 4).is_err() && Pacer::new(0.01, 0).is_err());
    }
}
