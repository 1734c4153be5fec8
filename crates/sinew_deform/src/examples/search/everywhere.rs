//! Global searches, which can leave the local minimum they start in.
//!
//! # Source
//! Hansen (2006), §7.5.4.3 (simulated annealing, described there but not implemented; Kirkpatrick, Gelatt and Vecchi,
//! *Optimization by simulated annealing*, 1983) and §7.5.4.4, algorithm 6 (exhaustive search).

use super::Energy;

/// Weights tried of each example by the exhaustive search: 560 evaluations for ten examples, as in table 9.6.
const SAMPLES_PER_EXAMPLE: usize = 56;
/// Steps of annealing per example.
const STEPS_PER_EXAMPLE: usize = 200;

/// Algorithm 6: one example after the other, all its weights are tried and the best is kept.
pub fn exhaustive(energy: &mut Energy<'_>, order: &[usize], limits: &[[f64; 2]], weights: &mut [f64]) {
    for &e in order {
        let [low, high] = limits[e];
        let mut best = (f64::INFINITY, weights[e]);
        for i in 0..SAMPLES_PER_EXAMPLE {
            weights[e] = low + (high - low) * i as f64 / (SAMPLES_PER_EXAMPLE - 1) as f64;
            let tried = energy.of(weights);
            if tried < best.0 {
                best = (tried, weights[e]);
            }
        }
        weights[e] = best.1;
    }
}

/// Steps at random, worse ones too while it is hot; the best pose met is kept.
pub fn anneal(energy: &mut Energy<'_>, limits: &[[f64; 2]], seed: u64, weights: &mut [f64]) {
    let n = weights.len();
    let mut random = Random::new(seed);
    let mut here = energy.of(weights);
    let mut best = (here, weights.to_vec());
    let (n_steps, hot) = (STEPS_PER_EXAMPLE * n, 0.3 * here.max(1e-12));
    for step in 0..n_steps {
        let cooling = (-7.0 * step as f64 / n_steps as f64).exp();
        let e = random.below(n);
        let [low, high] = limits[e];
        let old = weights[e];
        // Steps become smaller as it cools, so that the end is a fine search.
        let way = (random.unit() - 0.5) * (high - low) * 2.0 * cooling.sqrt().max(0.02);
        weights[e] = (old + way).clamp(low, high);
        let tried = energy.of(weights);
        if tried <= here || random.unit() < ((here - tried) / (hot * cooling)).exp() {
            here = tried;
            if here < best.0 {
                best = (here, weights.to_vec());
            }
        } else {
            weights[e] = old;
        }
    }
    weights.copy_from_slice(&best.1);
}

/// SplitMix64: small, and good enough to shake weights.
pub(super) struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed ^ 0x9E37_79B9_7F4A_7C15)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }

    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn below(&mut self, n: usize) -> usize {
        ((self.unit() * n as f64) as usize).min(n.saturating_sub(1))
    }
}
