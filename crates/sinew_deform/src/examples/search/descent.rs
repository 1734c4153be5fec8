//! Descent to the local minimum near a start: damped Newton steps within limits.
//!
//! # Source
//! Levenberg (1944) and Marquardt (1963); limits by an active set. Sinew's own: the smoothing of the energy's corners
//! is reduced from step to step.
//! # Symbols
//! `d` step, `g` gradient, `H` curvature, `μ` damping

use super::{Energy, model::Model};
use sinew_geom::linalg::solve_definite;

/// Smoothing of the first step, of the first step near a minimum, and of the last, in units of length and of weight.
const SMOOTHINGS: [f64; 3] = [3e-2, 1e-3, 1e-6];
const SMOOTHING_FACTOR: f64 = 0.1;
/// Steps after which a descent is abandoned; reached only where the energy falls slowly.
const MAX_STEPS: usize = 60;
/// A descent ends when a step at the last smoothing gains less than this fraction of the energy.
const MIN_RELATIVE_GAIN: f64 = 1e-7;
/// Shorter steps are treated as zero.
const MIN_STEP_LENGTH: f64 = 1e-9;
/// A descent is abandoned if it would stay above the best even with this many times the predicted gain of its step.
const GAIN_MARGIN: f64 = 1.5;

/// Goes down from one start after another.
pub struct Descent<'e, 'a> {
    pub energy: &'e mut Energy<'a>,
    pub limits: Vec<[f64; 2]>,
    pub model: Model,
    /// The same at the end of the step.
    next: Model,
    step: Vec<f64>,
    tried: Vec<f64>,
    /// For the step: weights that may move, their matrix and right-hand side.
    free: Vec<usize>,
    held: Vec<usize>,
    small: Vec<f64>,
    right: Vec<f64>,
}

impl<'e, 'a> Descent<'e, 'a> {
    pub fn new(energy: &'e mut Energy<'a>, limits: &[[f64; 2]]) -> Self {
        let n = limits.len();
        let (model, next) = (Model::new(energy), Model::new(energy));
        Self {
            energy,
            limits: limits.to_vec(),
            model,
            next,
            step: vec![0.0; n],
            tried: vec![0.0; n],
            free: Vec::with_capacity(n),
            held: Vec::with_capacity(n),
            small: Vec::with_capacity(n * n),
            right: Vec::with_capacity(n),
        }
    }

    /// Descend from weights, at most this many steps, and abandon it when the possible gain cannot beat `best`. If
    /// the minimum is near already, corners are smoothed less.
    pub fn descend(&mut self, weights: &mut [f64], max_steps: usize, best: f64, is_near: bool) -> f64 {
        let n = weights.len();
        let (mut damping, mut rounding) = (1e-3, if is_near { SMOOTHINGS[1] } else { SMOOTHINGS[0] });
        self.model.restart();
        self.next.restart();
        self.next.with_roots = self.model.with_roots;
        let mut here = self.model.at(self.energy, weights, rounding, &self.next);
        let mut was_good = true;
        for count in 0..max_steps.min(MAX_STEPS) {
            let is_last = rounding <= SMOOTHINGS[2];
            self.solve_in_box(weights, damping);
            let moves = self.step.iter().any(|d| d.abs() > MIN_STEP_LENGTH);
            let finer =
                if was_good || !moves { (rounding * SMOOTHING_FACTOR).max(SMOOTHINGS[2]) } else { rounding };
            if !moves {
                if is_last {
                    break;
                }
                // No gain is possible at this smoothing.
                (rounding, damping) = (finer, 1e-4);
                std::mem::swap(&mut self.model, &mut self.next);
                here = self.model.at(self.energy, weights, rounding, &self.next);
                continue;
            }
            let [slope, bend] = self.model.along(&self.step);
            let promised = -slope - 0.5 * bend;
            if count > 1 && here - GAIN_MARGIN * promised > best {
                break;
            }
            for e in 0..n {
                self.tried[e] = (weights[e] + self.step[e]).clamp(self.limits[e][0], self.limits[e][1]);
            }
            let there = self.next.at(self.energy, &self.tried, finer, &self.model);
            if finer < rounding {
                here = self.model.value(self.energy, finer);
            }
            if there < here {
                let gain = here - there;
                weights.copy_from_slice(&self.tried);
                std::mem::swap(&mut self.model, &mut self.next);
                (here, rounding, was_good) = (there, finer, true);
                damping = if gain > 0.7 * promised { (damping * 0.1).max(1e-9) } else { damping * 0.7 };
                if is_last && gain < MIN_RELATIVE_GAIN * here {
                    break;
                }
            } else {
                was_good = false;
                damping = (damping * 10.0).max(1e-3);
                if damping > 1e3 {
                    if is_last {
                        break;
                    }
                    (rounding, damping, was_good) =
                        ((rounding * SMOOTHING_FACTOR).max(SMOOTHINGS[2]), 1e-4, true);
                    std::mem::swap(&mut self.model, &mut self.next);
                    here = self.model.at(self.energy, weights, rounding, &self.next);
                } else {
                    here = self.model.value(self.energy, rounding);
                }
            }
        }
        here
    }

    /// Step of least `g·d + ½ d·(H + μ) d` that stays within the limits: go towards it until the first weight meets a
    /// limit, hold that weight there, and go on with the rest.
    fn solve_in_box(&mut self, weights: &[f64], mut damping: f64) {
        let n = self.step.len();
        self.step.fill(0.0);
        self.free.clear();
        for e in 0..n {
            let [low, high] = self.limits[e];
            let (at_low, at_high) = (weights[e] <= low, weights[e] >= high);
            let slope = self.model.gradient[e];
            if !((at_low && slope >= 0.0) || (at_high && slope <= 0.0)) {
                self.free.push(e);
            }
        }
        while !self.free.is_empty() {
            let m = self.free.len();
            self.small.resize(m * m, 0.0);
            self.right.resize(m, 0.0);
            self.held.clear();
            self.held.extend((0..n).filter(|&o| self.step[o] != 0.0 && !self.free.contains(&o)));
            for (i, &a) in self.free.iter().enumerate() {
                // Weights held at a limit contribute to the gradient of the others.
                let pull: f64 = self.held.iter().map(|&o| self.model.curvature(a, o) * self.step[o]).sum();
                self.right[i] = -(self.model.gradient[a] + pull);
                for (j, &b) in self.free[..=i].iter().enumerate() {
                    self.small[i * m + j] = self.model.curvature(a, b);
                }
                let own = self.small[i * m + i];
                self.small[i * m + i] = own + damping * (1.0 + own.abs()) + 1e-12;
            }
            if solve_definite(&mut self.small, &mut self.right, m).is_none() {
                // The energy is not convex here: more damping makes it so.
                if damping > 1e6 {
                    return self.step.fill(0.0);
                }
                damping = (damping * 10.0).max(1e-2);
                continue;
            }
            let (mut share, mut blocked) = (1.0, None);
            for i in 0..m {
                let (e, way) = (self.free[i], self.right[i] - self.step[self.free[i]]);
                let limit = if way > 0.0 { self.limits[e][1] } else { self.limits[e][0] };
                let room = limit - weights[e] - self.step[e];
                if way * share > room.max(0.0) && way > 0.0 || way * share < room.min(0.0) && way < 0.0 {
                    (share, blocked) = (room / way, Some(i));
                }
            }
            for i in 0..m {
                let e = self.free[i];
                self.step[e] += share * (self.right[i] - self.step[e]);
            }
            let Some(i) = blocked else { return };
            self.free.swap_remove(i);
        }
    }
}
