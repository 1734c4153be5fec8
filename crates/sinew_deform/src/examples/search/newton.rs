//! Derivatives instead of probing: few evaluations, and a lower energy than probing finds.
//!
//! # Source
//! Ours. Damped Newton steps within bounds: Levenberg (1944), Marquardt (1963). Lengths `|r|` of the objective are
//! rounded to `√(r² + ε²)`, with `ε` falling to nothing.
//! # Symbols
//! `J` derivative of grips by weights; `H` curvature, `g` gradient of the rounded energy; `μ` damping

use super::super::{
    blend::{Blend, Places, Slopes},
    energy::bell,
    objective::{BELL, Term, USED},
};
use super::{Energy, scouts, solve_definite};
use glam::DVec3;

/// Rounding of the first step and of the last, in units of length and of weight; each good step takes it down.
const ROUNDINGS: [f64; 2] = [3e-2, 1e-7];
const FINER: f64 = 0.12;
/// Steps after which a descent is given up; reached only where the energy falls slowly.
const MAX_STEPS: usize = 60;
/// A descent ends when a step at the last rounding gains less than this share of the energy.
const GAIN: f64 = 1e-8;
/// Weights below this do not count as being there: the slope of a root has no end towards zero.
const ROOT_FLOOR: f64 = 1e-4;

/// Least energy near the start or, `anywhere`, near the best of many poses that were tried beforehand.
pub fn search(energy: &mut Energy<'_>, limits: &[[f64; 2]], anywhere: bool, weights: &mut [f64]) {
    let sparse = energy.objective.factor("now") + energy.objective.factor("neu") > 0.0;
    let mut best = (f64::INFINITY, weights.to_vec());
    let starts = if anywhere { scouts::best(energy, limits, weights) } else { vec![weights.to_vec()] };
    let mut descent = Descent::new(energy, limits);
    for start in starts {
        descent.try_from(start, sparse, &mut best);
    }
    weights.copy_from_slice(&best.1);
}

struct Descent<'e, 'a> {
    energy: &'e mut Energy<'a>,
    limits: Vec<[f64; 2]>,
    /// Whether eq. 7.6 is part of what is minimised now.
    with_roots: bool,
    slopes: Slopes,
    places: Places,
    gradient: Vec<f64>,
    /// Row-major, n × n.
    hessian: Vec<f64>,
    /// Distance of each target at the last step.
    before: Vec<f64>,
    /// For the step: weights that may move, their matrix and right-hand side.
    free: Vec<usize>,
    small: Vec<f64>,
    right: Vec<f64>,
}

impl<'e, 'a> Descent<'e, 'a> {
    fn new(energy: &'e mut Energy<'a>, limits: &[[f64; 2]]) -> Self {
        let (n, n_handles, n_targets) = (limits.len(), energy.space.n_handles(), energy.targets.len());
        Self {
            energy,
            limits: limits.to_vec(),
            with_roots: false,
            slopes: Slopes::default(),
            places: Places::new(n_handles),
            gradient: vec![0.0; n],
            hessian: vec![0.0; n * n],
            before: vec![0.0; n_targets],
            free: Vec::with_capacity(n),
            small: Vec::with_capacity(n * n),
            right: Vec::with_capacity(n),
        }
    }

    /// Go down from a start, and keep what is found if it is better.
    fn try_from(&mut self, start: Vec<f64>, sparse: bool, best: &mut (f64, Vec<f64>)) {
        let mut weights = start.clone();
        self.with_roots = false;
        self.descend(&mut weights);
        self.keep(&weights, best);
        if sparse {
            self.keep(&start, best);
            self.thin_out(weights, best);
        }
    }

    fn keep(&mut self, weights: &[f64], best: &mut (f64, Vec<f64>)) {
        let found = self.energy.of(weights);
        if found < best.0 {
            *best = (found, weights.to_vec());
        }
    }

    /// For terms that want few examples: drop the weight that does least, again and again, and settle the rest.
    fn thin_out(&mut self, mut weights: Vec<f64>, best: &mut (f64, Vec<f64>)) {
        const PATIENCE: usize = 4;
        let limits = self.limits.clone();
        self.with_roots = self.energy.objective.factor("now") > 0.0;
        let mut in_vain = 0;
        while in_vain < PATIENCE {
            for (e, w) in weights.iter_mut().enumerate().filter(|(e, w)| **w <= USED && limits[*e][0] <= 0.0)
            {
                *w = 0.0;
                self.limits[e] = [0.0, 0.0];
            }
            self.descend(&mut weights);
            let before = best.0;
            self.keep(&weights, best);
            in_vain = if best.0 < before { 0 } else { in_vain + 1 };
            let n = weights.len();
            let effect = |e: usize| {
                let moved = |t: &super::Target| self.slopes.grip[t.handle * n + e].length();
                weights[e]
                    * (self.energy.targets.iter().map(moved).sum::<f64>() + 0.05 * self.energy.space.unit)
            };
            let least = (0..n).filter(|&e| weights[e] > 0.0 && limits[e][0] <= 0.0);
            let Some(least) = least.min_by(|a, b| effect(*a).total_cmp(&effect(*b))) else { break };
            weights[least] = 0.0;
        }
        self.limits = limits;
    }

    fn descend(&mut self, weights: &mut [f64]) {
        let n = weights.len();
        let (mut damping, mut rounding) = (1e-2, ROUNDINGS[0]);
        let (mut step, mut tried) = (vec![0.0; n], vec![0.0; n]);
        self.before.fill(f64::INFINITY);
        let mut here = self.model(weights, rounding);
        for _ in 0..MAX_STEPS {
            let is_last = rounding <= ROUNDINGS[1];
            self.solve_in_box(weights, damping, &mut step);
            let there = match step.iter().any(|d| d.abs() > 1e-9) {
                true => {
                    (0..n).for_each(|e| {
                        tried[e] = (weights[e] + step[e]).clamp(self.limits[e][0], self.limits[e][1]);
                    });
                    self.rounded(&tried, rounding)
                }
                false => here,
            };
            if there < here {
                weights.copy_from_slice(&tried);
                damping = (damping * 0.1).max(1e-9);
                if is_last && here - there < GAIN * here {
                    break;
                }
            } else {
                damping = (damping * 10.0).max(1e-3);
                if damping <= 1e3 && step.iter().any(|d| d.abs() > 1e-9) {
                    continue;
                }
                if is_last {
                    break;
                }
                damping = 1e-4;
            }
            rounding = (rounding * FINER).max(ROUNDINGS[1]);
            here = self.model(weights, rounding);
        }
    }

    /// The energy with its corners rounded off, and without what only counts examples.
    fn rounded(&mut self, weights: &[f64], rounding: f64) -> f64 {
        self.energy.evaluations += 1;
        self.energy.space.place(&self.energy.blend, weights, &self.energy.wanted, &mut self.places);
        self.sum_terms(weights, rounding)
    }

    /// The same, with gradient and curvature.
    fn model(&mut self, weights: &[f64], rounding: f64) -> f64 {
        self.place_with_slopes(weights);
        self.gradient.fill(0.0);
        self.hessian.fill(0.0);
        let energy = &*self.energy;
        for (term, k) in energy.objective.terms() {
            match term {
                Term::DistanceToTarget => self.add_targets(*k, rounding),
                Term::DistanceToLast => self.add_last(*k, rounding),
                Term::SumOfWeights => self.gradient.iter_mut().for_each(|g| *g += k),
                Term::OneMinusSum => {
                    let over = weights.iter().sum::<f64>() - 1.0;
                    let length = over.hypot(rounding);
                    self.gradient.iter_mut().for_each(|g| *g += k * over / length);
                    self.hessian.iter_mut().for_each(|h| *h += k / length);
                }
                Term::NumberOfWeights if self.with_roots => {
                    let sum: f64 = weights.iter().sum();
                    let roots: f64 = weights.iter().map(|w| w.max(0.0).sqrt()).sum();
                    if sum > ROOT_FLOOR {
                        for (g, w) in self.gradient.iter_mut().zip(weights).filter(|(_, w)| **w > 0.0) {
                            *g += k * (0.5 / w.max(ROOT_FLOOR).sqrt() / sum - roots / (sum * sum));
                        }
                    }
                }
                Term::DifferenceFromExamples => self.add_examples(*k),
                Term::ExamplesUsed { .. } | Term::NumberOfWeights => {}
            }
        }
        self.sum_terms(weights, rounding)
    }

    fn place_with_slopes(&mut self, weights: &[f64]) {
        let energy = &mut *self.energy;
        energy.evaluations += 1;
        if energy.blend == Blend::Free {
            return energy.space.place_with_slopes(
                weights,
                &[],
                &energy.wanted,
                &mut self.places,
                &mut self.slopes,
            );
        }
        // Algorithm 3 has no short derivative: the axis of every move depends on all moves before it.
        const STEP: f64 = 1e-6;
        let (n, mut moved, mut beside) = (weights.len(), weights.to_vec(), self.places.clone());
        energy.space.place(&energy.blend, weights, &energy.wanted, &mut self.places);
        self.slopes.grip.resize(energy.space.n_handles() * n, DVec3::ZERO);
        for e in 0..n {
            moved[e] += STEP;
            energy.evaluations += 1;
            energy.space.place(&energy.blend, &moved, &energy.wanted, &mut beside);
            moved[e] = weights[e];
            for &h in &energy.wanted {
                self.slopes.grip[h * n + e] = (beside.grip[h] - self.places.grip[h]) / STEP;
            }
        }
    }

    fn sum_terms(&self, weights: &[f64], rounding: f64) -> f64 {
        let energy = &*self.energy;
        let unit = energy.space.unit;
        let sum: f64 = weights.iter().sum();
        let value = |&(term, k): &(Term, f64)| match term {
            Term::DistanceToTarget => {
                let shift = energy.shift(&self.places.grip);
                let distance = |t: &super::Target| {
                    let missed = (self.places.grip[t.handle] + shift).distance(t.position);
                    t.strength() * (missed / unit).hypot(rounding)
                };
                k * energy.targets.iter().map(distance).sum::<f64>()
            }
            Term::DistanceToLast => energy.last.map_or(0.0, |last| (k * self.moved(last, rounding)).powi(2)),
            Term::SumOfWeights => k * sum,
            Term::OneMinusSum => k * (1.0 - sum).hypot(rounding),
            Term::NumberOfWeights if self.with_roots && sum > 0.0 => {
                k * weights.iter().map(|w| w.max(0.0).sqrt()).sum::<f64>() / sum
            }
            Term::DifferenceFromExamples => {
                let n = energy.space.n_examples();
                k * (0..n).map(|e| 1.0 - bell(self.mean_square_distance(e))).sum::<f64>()
            }
            Term::ExamplesUsed { .. } | Term::NumberOfWeights => 0.0,
        };
        energy.objective.terms().iter().map(value).sum()
    }

    fn moved(&self, last: &[DVec3], rounding: f64) -> f64 {
        let unit = self.energy.space.unit;
        last.iter().zip(&self.places.grip).map(|(a, b)| (a.distance(*b) / unit).hypot(rounding)).sum()
    }

    fn mean_square_distance(&self, example: usize) -> f64 {
        let (there, unit) = (&self.energy.space.examples[example].grips, self.energy.space.unit);
        let sum: f64 = there.iter().zip(&self.places.grip).map(|(a, b)| a.distance_squared(*b)).sum();
        sum / (there.len() as f64 * unit * unit)
    }

    /// `Σ |r|`: gradient `Jᵀ r/|r|`, curvature `Jᵀ (I − τ r rᵀ/|r|²) J / |r|`. With `τ = 1` that is the curvature of
    /// a length; with `τ = 0` the step aims at `r = 0`, which is better as long as the target comes nearer.
    fn add_targets(&mut self, k: f64, rounding: f64) {
        let energy = &*self.energy;
        let (n, unit) = (self.gradient.len(), energy.space.unit);
        let shift = energy.shift(&self.places.grip);
        let mut shifting = vec![DVec3::ZERO; n];
        for &(at, share) in energy.anchors {
            let h = energy.targets[at].handle;
            (0..n).for_each(|e| shifting[e] -= share * self.slopes.grip[h * n + e]);
        }
        let mut j = vec![DVec3::ZERO; n];
        for (at, target) in energy.targets.iter().enumerate() {
            let r = (self.places.grip[target.handle] + shift - target.position) / unit;
            let length = r.length().hypot(rounding);
            let far = (length / self.before[at]).min(1.0);
            self.before[at] = length;
            let (along, tau) = (r / length, if far > 0.5 { 1.0 - rounding / length } else { 0.0 });
            let k = k * target.strength();
            (0..n).for_each(|e| j[e] = self.slopes.grip[target.handle * n + e] + shifting[e]);
            add_square(&mut self.hessian, &j, k / (length * unit * unit), along, tau);
            // Algorithm 3 has no slopes of turns, and does without.
            if tau > 0.0 && energy.blend == Blend::Free {
                let own = std::iter::once((target.handle, 1.0));
                let carriers = energy.anchors.iter().map(|&(at, share)| (energy.targets[at].handle, -share));
                for (h, share) in own.chain(carriers) {
                    let pull = share * k / unit * along;
                    energy.space.add_curvature(h, pull, &self.places, &self.slopes, &mut self.hessian);
                }
            }
            for (g, j) in self.gradient.iter_mut().zip(&j) {
                *g += k * j.dot(along) / unit;
            }
        }
    }

    /// `(k Σ |Δ|)²`.
    fn add_last(&mut self, k: f64, rounding: f64) {
        let Some(last) = self.energy.last else { return };
        let (n, unit) = (self.gradient.len(), self.energy.space.unit);
        let total = self.moved(last, rounding);
        let mut slope = vec![0.0; n];
        for &h in &self.energy.wanted {
            let r = (self.places.grip[h] - last[h]) / unit;
            let length = r.length().hypot(rounding);
            let j = &self.slopes.grip[h * n..(h + 1) * n];
            (0..n).for_each(|e| slope[e] += j[e].dot(r / length) / unit);
            add_square(&mut self.hessian, j, 2.0 * k * k * total / (length * unit * unit), r / length, 1.0);
        }
        for a in 0..n {
            self.gradient[a] += 2.0 * k * k * total * slope[a];
            (0..n).for_each(|b| self.hessian[a * n + b] += 2.0 * k * k * slope[a] * slope[b]);
        }
    }

    /// `Σ 1 − exp(−d²/ρ²)`.
    fn add_examples(&mut self, k: f64) {
        let space = self.energy.space;
        let (n, unit) = (self.gradient.len(), space.unit);
        let scale = 2.0 * k / (BELL * BELL * space.n_handles() as f64 * unit * unit);
        let bells: Vec<f64> = (0..n).map(|e| bell(self.mean_square_distance(e))).collect();
        let total: f64 = bells.iter().sum();
        for h in 0..space.n_handles() {
            let pull: DVec3 =
                (0..n).map(|e| bells[e] * (self.places.grip[h] - space.examples[e].grips[h])).sum();
            let j = &self.slopes.grip[h * n..(h + 1) * n];
            (0..n).for_each(|e| self.gradient[e] += scale * j[e].dot(pull));
            add_square(&mut self.hessian, j, scale * total, DVec3::ZERO, 0.0);
        }
    }

    /// Step of least `g·d + ½ d·(H + μ) d` that stays within the limits: go towards it until the first weight meets a
    /// limit, hold that weight there, and go on with the rest.
    fn solve_in_box(&mut self, weights: &[f64], mut damping: f64, step: &mut [f64]) {
        let n = step.len();
        step.fill(0.0);
        self.free.clear();
        for e in 0..n {
            let [low, high] = self.limits[e];
            let (at_low, at_high) = (weights[e] <= low, weights[e] >= high);
            if !((at_low && self.gradient[e] >= 0.0) || (at_high && self.gradient[e] <= 0.0)) {
                self.free.push(e);
            }
        }
        while !self.free.is_empty() {
            let m = self.free.len();
            self.small.resize(m * m, 0.0);
            self.right.resize(m, 0.0);
            for (i, &a) in self.free.iter().enumerate() {
                // What is held at a limit pulls on the rest.
                let held = |o: &usize| step[*o] != 0.0 && !self.free.contains(o);
                let pull: f64 = (0..n).filter(held).map(|o| self.hessian[a * n + o] * step[o]).sum();
                self.right[i] = -(self.gradient[a] + pull);
                for (j, &b) in self.free[..=i].iter().enumerate() {
                    self.small[i * m + j] = self.hessian[a * n + b];
                }
                let own = self.hessian[a * n + a];
                self.small[i * m + i] = own + damping * (1.0 + own) + 1e-12;
            }
            if solve_definite(&mut self.small, &mut self.right, m).is_none() {
                // The energy bends down here: more damping makes it bend up.
                if damping > 1e6 {
                    return step.fill(0.0);
                }
                damping = (damping * 10.0).max(1e-2);
                continue;
            }
            let (mut share, mut blocked) = (1.0, None);
            for i in 0..m {
                let (e, way) = (self.free[i], self.right[i] - step[self.free[i]]);
                let limit = if way > 0.0 { self.limits[e][1] } else { self.limits[e][0] };
                let room = limit - weights[e] - step[e];
                if way * share > room.max(0.0) && way > 0.0 || way * share < room.min(0.0) && way < 0.0 {
                    (share, blocked) = (room / way, Some(i));
                }
            }
            for i in 0..m {
                let e = self.free[i];
                step[e] += share * (self.right[i] - step[e]);
            }
            let Some(i) = blocked else { return };
            self.free.swap_remove(i);
        }
    }
}

/// Add `scale Jᵀ (I − τ u uᵀ) J`.
fn add_square(hessian: &mut [f64], j: &[DVec3], scale: f64, u: DVec3, tau: f64) {
    let n = j.len();
    for a in 0..n {
        let row = scale * (j[a] - tau * u * j[a].dot(u));
        for b in 0..=a {
            let value = row.dot(j[b]);
            hessian[a * n + b] += value;
            if a != b {
                hessian[b * n + a] += value;
            }
        }
    }
}
