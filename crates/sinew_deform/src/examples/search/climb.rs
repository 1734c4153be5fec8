//! Hill climbing, one weight at a time.
//!
//! # Source
//! Hansen (2006), §7.5.4.1 and algorithm 4.

use super::Energy;

/// Step of a weight: a twentieth of its whole span.
const WEIGHT_STEP: f64 = 0.05;

/// Algorithm 4: every weight once, down as long as that helps, else up.
pub fn simple(energy: &mut Energy<'_>, order: &[usize], limits: &[[f64; 2]], weights: &mut [f64]) {
    let mut best = energy.of(weights);
    for &e in order {
        let before = weights[e];
        best = walk(energy, e, -WEIGHT_STEP, limits[e], weights, best);
        if weights[e] == before {
            best = walk(energy, e, WEIGHT_STEP, limits[e], weights, best);
        }
    }
}

/// Every weight is tried both ways, and the best is followed as long as that helps; repeated until nothing helps, at
/// most once per example.
pub fn steepest(energy: &mut Energy<'_>, limits: &[[f64; 2]], weights: &mut [f64]) {
    let mut best = energy.of(weights);
    for _ in 0..weights.len() {
        let mut found: Option<(usize, f64, f64)> = None;
        for e in 0..weights.len() {
            for step in [-WEIGHT_STEP, WEIGHT_STEP] {
                let old = weights[e];
                weights[e] = (old + step).clamp(limits[e][0], limits[e][1]);
                if weights[e] != old {
                    let tried = energy.of(weights);
                    if tried < found.map_or(best, |(_, _, least)| least) {
                        found = Some((e, step, tried));
                    }
                }
                weights[e] = old;
            }
        }
        let Some((e, step, tried)) = found else { return };
        weights[e] = (weights[e] + step).clamp(limits[e][0], limits[e][1]);
        best = walk(energy, e, step, limits[e], weights, tried);
    }
}

/// Move a weight by steps as long as that helps. Returns the energy reached.
fn walk(
    energy: &mut Energy<'_>,
    e: usize,
    step: f64,
    [low, high]: [f64; 2],
    weights: &mut [f64],
    mut best: f64,
) -> f64 {
    loop {
        let old = weights[e];
        weights[e] = (old + step).clamp(low, high);
        if weights[e] == old {
            return best;
        }
        let tried = energy.of(weights);
        if tried >= best {
            weights[e] = old;
            return best;
        }
        best = tried;
    }
}
