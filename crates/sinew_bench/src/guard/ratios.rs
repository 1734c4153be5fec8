//! What counts as slower: statistics of paired times of two builds.

/// Ratios beyond this are worth a look.
pub const LIMIT: f64 = 1.05;

/// Times now over times then, one ratio per round.
pub struct Ratios {
    sorted: Vec<f64>,
}

impl Ratios {
    /// Of `[then, now]` in seconds. Both of a pair were measured one after the other, so that what disturbs the machine
    /// for longer cancels.
    pub fn new(rounds: &[[f64; 2]]) -> Self {
        let mut sorted: Vec<f64> = rounds.iter().map(|[then, now]| now / then).collect();
        sorted.sort_by(f64::total_cmp);
        Self { sorted }
    }

    /// The middle one; of an even number, the mean of the two in the middle.
    pub fn median(&self) -> f64 {
        let n = self.sorted.len();
        0.5 * (self.sorted[(n - 1) / 2] + self.sorted[n / 2])
    }

    /// Smallest and largest.
    pub fn spread(&self) -> [f64; 2] {
        [self.sorted[0], self.sorted[self.sorted.len() - 1]]
    }

    /// Slower than the limit in the median, and slower at all in every round: what lies outside the spread of the ratios is
    /// that nothing has changed. Chance alone makes all of five rounds slower once in 32 times.
    pub fn is_slower(&self) -> bool {
        self.median() > LIMIT && self.spread()[0] > 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ratios: &[f64]) -> Ratios {
        // Whatever the times are, and however the machine drifts from round to round.
        let pair =
            |(round, ratio): (usize, &f64)| [0.3 * (round + 1) as f64, 0.3 * (round + 1) as f64 * ratio];
        Ratios::new(&ratios.iter().enumerate().map(pair).collect::<Vec<_>>())
    }

    #[test]
    fn medians_and_spreads() {
        let odd = of(&[1.3, 0.9, 1.1]);
        assert!((odd.median() - 1.1).abs() < 1e-12);
        assert!((odd.spread()[0] - 0.9).abs() < 1e-12 && (odd.spread()[1] - 1.3).abs() < 1e-12);
        assert!((of(&[1.0, 1.2, 0.8, 1.1]).median() - 1.05).abs() < 1e-12);
        assert!((of(&[2.0]).median() - 2.0).abs() < 1e-12);
    }

    #[test]
    fn slower_is_beyond_the_limit_and_outside_the_spread() {
        assert!(of(&[1.10, 1.08, 1.12, 1.09, 1.11]).is_slower());
        // One lucky round makes it uncertain.
        assert!(!of(&[1.10, 1.08, 1.12, 0.99, 1.11]).is_slower());
        // One unlucky round proves nothing.
        assert!(!of(&[1.01, 1.02, 3.0, 1.01, 1.02]).is_slower());
        // Slower in every round, but hardly.
        assert!(!of(&[1.04, 1.04, 1.04, 1.04, 1.04]).is_slower());
        assert!(!of(&[1.0; 5]).is_slower());
        assert!(!of(&[0.5; 5]).is_slower());
    }
}
