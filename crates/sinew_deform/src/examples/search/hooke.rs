//! Direct search with a shrinking step.
//!
//! # Source
//! Hooke and Jeeves, *"Direct search" solution of numerical and statistical problems* (1961); Hansen (2006), §7.5.4.2
//! and algorithm 5. Differs: as printed, algorithm 5 reduces the step only once it is already below `ε`; here the step
//! is halved until it is below `ε`, as the text of §7.5.4.2 describes.

use super::Energy;

/// First step of the whole method, and the one at which it ends.
const FULL_STEPS: [f64; 2] = [0.25, 1e-3];
/// The same for the simple method.
const SIMPLE_STEPS: [f64; 2] = [0.2, 0.05];
/// Evaluations after which the whole method, which may "run loose", is stopped.
const MAX_EVALUATIONS: usize = 20_000;

/// Explore all weights around a base; if that helped, leap on in the same direction; else halve the step.
pub fn full(energy: &mut Energy<'_>, limits: &[[f64; 2]], weights: &mut [f64]) {
    let (mut step, end) = (FULL_STEPS[0], energy.evaluations + MAX_EVALUATIONS);
    let mut base = weights.to_vec();
    let mut best = energy.of(&base);
    while step >= FULL_STEPS[1] && energy.evaluations < end {
        let mut point = base.clone();
        let mut reached = explore(energy, step, limits, &mut point, best);
        if reached >= best {
            step *= 0.5;
            continue;
        }
        while reached < best && energy.evaluations < end {
            let leap: Vec<f64> = (0..base.len())
                .map(|e| (2.0 * point[e] - base[e]).clamp(limits[e][0], limits[e][1]))
                .collect();
            (base, best) = (point, reached);
            point = leap;
            let there = energy.of(&point);
            reached = explore(energy, step, limits, &mut point, there);
        }
    }
    weights.copy_from_slice(&base);
}

/// Try each weight both ways and keep what helps.
fn explore(energy: &mut Energy<'_>, step: f64, limits: &[[f64; 2]], point: &mut [f64], mut best: f64) -> f64 {
    for e in 0..point.len() {
        let old = point[e];
        for way in [step, -step] {
            point[e] = (old + way).clamp(limits[e][0], limits[e][1]);
            if point[e] == old {
                continue;
            }
            let tried = energy.of(point);
            if tried < best {
                best = tried;
                break;
            }
            point[e] = old;
        }
    }
    best
}

/// Algorithm 5: every weight once, down and then up, with a step that is halved where it does not help.
pub fn simple(energy: &mut Energy<'_>, order: &[usize], limits: &[[f64; 2]], weights: &mut [f64]) {
    let mut best = energy.of(weights);
    for &e in order {
        for way in [-1.0, 1.0] {
            let mut step = SIMPLE_STEPS[0];
            while step >= SIMPLE_STEPS[1] {
                let old = weights[e];
                weights[e] = (old + way * step).clamp(limits[e][0], limits[e][1]);
                if weights[e] == old {
                    break;
                }
                let tried = energy.of(weights);
                if tried < best {
                    best = tried;
                } else {
                    weights[e] = old;
                    step *= 0.5;
                }
            }
        }
    }
}
