//! How far the hips come down so that legs reach where the actor's feet are.
//!
//! # Source
//! Sinew's own. Legs that are too short for a step would pull the hips down in every one of them. A body that takes such steps
//! goes a little lower all the time instead: what was needed within the last second counts.

/// Seconds in which a need fades, and how fast hips follow it: a critically damped spring, per second.
const FADE_SECS: f64 = 1.0;
const SPRING: f64 = 8.0;

/// How low a body goes.
#[derive(Debug, Clone, Default)]
pub(super) struct Crouch {
    is_begun: bool,
    need: f64,
    depth: f64,
    speed: f64,
}

impl Crouch {
    /// Its depth, given what is needed at this moment.
    pub fn step(&mut self, needed: f64, secs: f64) -> f64 {
        if !self.is_begun {
            *self = Self { is_begun: true, need: needed, depth: needed, speed: 0.0 };
        }
        self.need = needed.max(self.need * (-secs / FADE_SECS).exp());
        // Exact over any time: (x + (v + ω x) t) exp(−ω t).
        let away = self.depth - self.need;
        let drift = self.speed + SPRING * away;
        let decay = (-SPRING * secs).exp();
        let after = (away + drift * secs) * decay;
        self.speed = drift * decay - SPRING * after;
        self.depth = self.need + after;
        self.depth
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_that_need_it_lower_the_hips_once() {
        let mut crouch = Crouch::default();
        assert_eq!(crouch.step(0.0, 0.0), 0.0);
        let depths: Vec<f64> = (0..480)
            .map(|k| crouch.step(if k % 60 < 6 && k > 60 { 0.05 } else { 0.0 }, 1.0 / 120.0))
            .collect();
        let steady = &depths[240..];
        let [low, high] = [f64::min, f64::max].map(|f| steady.iter().copied().reduce(f).unwrap());
        assert!(low > 0.02 && high < 0.05 && high - low < 0.02, "{low} to {high}");
        let speed = |pair: &[f64]| (pair[1] - pair[0]).abs() * 120.0;
        let fastest = depths.windows(2).map(speed).fold(0.0, f64::max);
        assert!(fastest < 0.25, "it comes down at {fastest} m/s");
    }

    #[test]
    fn what_is_needed_from_the_start_is_there_at_once() {
        let mut crouch = Crouch::default();
        assert!((0..100).all(|_| (crouch.step(0.03, 0.01) - 0.03).abs() < 1e-12));
    }
}
