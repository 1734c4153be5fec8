//! Search with derivatives: fewer evaluations and a lower energy than searches without them.
//!
//! # Source
//! Sinew's own: descents from the best of many poses that were evaluated in advance. For terms that count examples, a
//! search over the set of examples in use: smaller and smaller sets, each without the example whose removal costs
//! least; the sets of the best poses evaluated in advance; and exchanges of single examples.

use super::super::objective::{MIN_USED_WEIGHT, Term};
use super::{Energy, descent::Descent, scouts::Starts};

/// Local minima that are explored.
const MAX_MINIMA: usize = 2;
/// Steps after which a descent is compared with the others.
const QUICK_STEPS: usize = 2;
/// Steps of a descent that is not abandoned.
const FULL_STEPS: usize = 60;
/// Steps that adapt the other weights when one example is dropped.
const SETTLING_STEPS: usize = 4;
/// Another local minimum is followed to the end if a few steps brought it within this fraction of the best.
const NEAR_BEST_SHARE: f64 = 0.05;
/// Energies below this count as zero.
const MIN_ENERGY: f64 = 1e-7;
/// Number of examples that are tried for being dropped or replaced.
const N_CANDIDATES: usize = 2;
/// First weight of an example that is added.
const ADDED_WEIGHT: f64 = 0.2;
/// How often examples are replaced by others.
const MAX_SWAPS: usize = 3;

/// Lowest energy near the start or, with `multi_start`, near the best of many poses evaluated in advance.
pub fn search(energy: &mut Energy<'_>, limits: &[[f64; 2]], multi_start: bool, weights: &mut [f64]) {
    let counts = energy.objective.factor(Term::NumberOfWeights)
        + energy.objective.factor(Term::ExamplesUsed { free: 0 })
        > 0.0;
    let space = energy.space;
    let starts = match multi_start {
        true => space.scouts.best(energy, limits, weights, MAX_MINIMA),
        false => Starts { whole: vec![weights.to_vec()], limbs: Vec::new() },
    };
    let mut search =
        Search { descent: Descent::new(energy, limits), best: (f64::INFINITY, weights.to_vec()) };
    let bottom = search.continuous(&starts);
    if counts {
        search.thin_out(bottom);
        if !starts.limbs.is_empty() {
            search.build_up(&starts.limbs);
        }
        starts.whole.into_iter().for_each(|start| {
            let best = search.best.0;
            search.settle(start, SETTLING_STEPS, best);
        });
        search.polish();
    }
    weights.copy_from_slice(&search.best.1);
}

/// Whether two sets of weights lead to the same minimum, as far as can be decided.
fn is_same(a: &[f64], b: &[f64]) -> bool {
    const SAME_MINIMUM_DISTANCE: f64 = 0.05;
    a.iter().zip(b).all(|(a, b)| (a - b).abs() < SAME_MINIMUM_DISTANCE)
}

struct Search<'e, 'a> {
    descent: Descent<'e, 'a>,
    best: (f64, Vec<f64>),
}

impl Search<'_, '_> {
    /// The lowest of the minima below many starts, if no term counts examples.
    fn continuous(&mut self, starts: &Starts) -> Vec<f64> {
        let mut reached: Vec<(f64, Vec<f64>)> = Vec::new();
        let is_near = starts.whole.len() > 1;
        let mut least = f64::INFINITY;
        for start in &starts.whole {
            let mut weights = start.clone();
            if is_near {
                let value = self.descent.descend(&mut weights, QUICK_STEPS, least, false);
                least = least.min(value);
                reached.push((value, weights));
            } else {
                reached.push((0.0, weights));
            }
        }
        reached.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut lowest: Option<(f64, Vec<f64>)> = None;
        for (value, weights) in reached {
            let is_hopeless = |(low, bottom): &(f64, Vec<f64>)| {
                *low < MIN_ENERGY || value > low * (1.0 + NEAR_BEST_SHARE) || is_same(&weights, bottom)
            };
            if !lowest.as_ref().is_some_and(is_hopeless) {
                self.follow(weights, is_near, &mut lowest);
            }
        }
        for limb in &starts.limbs {
            let Some((low, bottom)) = lowest.as_ref().filter(|(low, _)| *low > MIN_ENERGY) else { break };
            let mut weights = bottom.clone();
            limb.iter().for_each(|&(e, w)| weights[e] = w);
            let value = self.descent.descend(&mut weights, QUICK_STEPS, *low, false);
            if value < low * (1.0 + NEAR_BEST_SHARE) && !is_same(&weights, bottom) {
                self.follow(weights, true, &mut lowest);
            }
        }
        lowest.map_or_else(|| self.best.1.clone(), |(_, bottom)| bottom)
    }

    /// Descend to the minimum.
    fn follow(&mut self, mut weights: Vec<f64>, is_near: bool, lowest: &mut Option<(f64, Vec<f64>)>) {
        let low = lowest.as_ref().map_or(f64::INFINITY, |(low, _)| *low);
        let value = self.descent.descend(&mut weights, FULL_STEPS, low, is_near);
        self.keep(&weights);
        if value < low {
            *lowest = Some((value, weights));
        }
    }

    fn keep(&mut self, weights: &[f64]) -> bool {
        let found = self.descent.energy.of(weights);
        let is_better = found < self.best.0;
        if is_better {
            self.best = (found, weights.to_vec());
        }
        is_better
    }

    /// Limit unused weights to what does not count as use. Returns the previous limits.
    fn hold_unused(&mut self, weights: &mut [f64]) -> Vec<[f64; 2]> {
        let before = self.descent.limits.clone();
        self.descent.model.with_roots = self.descent.energy.objective.factor(Term::NumberOfWeights) > 0.0;
        for (e, w) in
            weights.iter().enumerate().filter(|(e, w)| **w <= MIN_USED_WEIGHT && before[*e][0] <= 0.0)
        {
            // With eq. 7.6 a trace of an example costs more than it gains.
            let most = if self.descent.model.with_roots { *w } else { MIN_USED_WEIGHT };
            self.descent.limits[e][1] = before[e][1].min(most);
        }
        before
    }

    /// With the examples of a pose and no others. Returns the energy reached.
    fn settle(&mut self, mut weights: Vec<f64>, max_steps: usize, best: f64) -> (f64, Vec<f64>) {
        let limits = self.hold_unused(&mut weights);
        self.descent.descend(&mut weights, max_steps, best, false);
        self.descent.limits = limits;
        let found = self.descent.energy.of(&weights);
        if found < self.best.0 {
            self.best = (found, weights.clone());
        }
        (found, weights)
    }

    /// What an example is reduced to when it is not in use.
    fn trace(&self) -> f64 {
        if self.descent.energy.objective.factor(Term::NumberOfWeights) > 0.0 { 0.0 } else { MIN_USED_WEIGHT }
    }

    /// For terms that penalise the number of examples: repeatedly drop the one that is missed least, and adapt the
    /// rest.
    fn thin_out(&mut self, weights: Vec<f64>) {
        const MAX_FAILURES: usize = 1;
        let limits = self.descent.limits.clone();
        let (trace, mut in_vain) = (self.trace(), 0);
        let clean = |mut weights: Vec<f64>| {
            let unused =
                weights.iter_mut().zip(&limits).filter(|(w, [low, _])| **w <= MIN_USED_WEIGHT && *low <= 0.0);
            unused.for_each(|(w, _)| *w = trace);
            weights
        };
        let mut weights = self.settle(clean(weights), SETTLING_STEPS, f64::INFINITY).1;
        while in_vain < MAX_FAILURES {
            let used: Vec<usize> =
                (0..weights.len()).filter(|&e| weights[e] > MIN_USED_WEIGHT && limits[e][0] <= 0.0).collect();
            let mut without: Vec<(f64, Vec<f64>)> = used
                .iter()
                .map(|&e| {
                    let mut fewer = weights.clone();
                    fewer[e] = trace;
                    (self.descent.energy.of(&fewer), fewer)
                })
                .collect();
            without.sort_by(|a, b| a.0.total_cmp(&b.0));
            let before = self.best.0;
            let settled = without
                .into_iter()
                .take(N_CANDIDATES)
                .map(|(_, fewer)| self.settle(fewer, SETTLING_STEPS, f64::INFINITY));
            let Some((_, next)) = settled.min_by(|a, b| a.0.total_cmp(&b.0)) else { break };
            in_vain = if self.best.0 < before { 0 } else { in_vain + 1 };
            weights = clean(next);
        }
    }

    /// The reverse: start without examples, and repeatedly add the example that helps most, or two of the same limb.
    fn build_up(&mut self, limbs: &[Vec<(usize, f64)>]) {
        let limits = self.descent.limits.clone();
        let trace = self.trace();
        let mut weights: Vec<f64> = limits.iter().map(|[low, high]| trace.clamp(*low, *high)).collect();
        let mut reached = f64::INFINITY;
        loop {
            let mut more: Vec<(f64, Vec<f64>)> = Vec::new();
            for e in (0..weights.len())
                .filter(|&e| weights[e] <= MIN_USED_WEIGHT && limits[e][1] > MIN_USED_WEIGHT)
            {
                let same_limb =
                    limbs.iter().find(|limb| limb.iter().any(|(f, _)| *f == e)).into_iter().flatten();
                let pairs = same_limb.map(|(f, _)| *f).filter(|f| *f > e && weights[*f] <= MIN_USED_WEIGHT);
                for (f, weight) in
                    std::iter::once(e).chain(pairs).flat_map(|f| [(f, ADDED_WEIGHT), (f, 3.0 * ADDED_WEIGHT)])
                {
                    let mut other = weights.clone();
                    for at in [e, f] {
                        other[at] = weight.clamp(limits[at][0], limits[at][1]);
                    }
                    more.push((self.descent.energy.of(&other), other));
                }
            }
            more.sort_by(|a, b| a.0.total_cmp(&b.0));
            let settled = more
                .into_iter()
                .take(N_CANDIDATES)
                .map(|(_, more)| self.settle(more, SETTLING_STEPS, f64::INFINITY));
            let Some((value, next)) = settled.min_by(|a, b| a.0.total_cmp(&b.0)) else { break };
            if value >= reached {
                break;
            }
            (reached, weights) = (value, next);
        }
    }

    /// Replace one example by another, or add one, as long as that helps; then descend to the minimum.
    fn polish(&mut self) {
        let trace = self.trace();
        for _ in 0..MAX_SWAPS {
            let (before, weights) = self.best.clone();
            let limits = &self.descent.limits;
            let (used, unused): (Vec<usize>, Vec<usize>) =
                (0..weights.len()).partition(|&e| weights[e] > MIN_USED_WEIGHT);
            let mut others: Vec<(f64, Vec<f64>)> = Vec::new();
            for (&e, &f) in used.iter().flat_map(|e| unused.iter().map(move |f| (e, f))) {
                if limits[e][0] > 0.0 || limits[f][1] <= MIN_USED_WEIGHT {
                    continue;
                }
                for share in [0.5, 1.0] {
                    let mut other = weights.clone();
                    (other[e], other[f]) = (trace, (share * weights[e]).clamp(limits[f][0], limits[f][1]));
                    others.push((self.descent.energy.of(&other), other));
                }
            }
            for &f in unused.iter().filter(|&&f| limits[f][1] > MIN_USED_WEIGHT) {
                let mut other = weights.clone();
                other[f] = ADDED_WEIGHT.clamp(limits[f][0], limits[f][1]);
                others.push((self.descent.energy.of(&other), other));
            }
            others.sort_by(|a, b| a.0.total_cmp(&b.0));
            for (_, other) in others.into_iter().take(N_CANDIDATES) {
                self.settle(other, SETTLING_STEPS, before);
            }
            if self.best.0 >= before {
                break;
            }
        }
        let mut weights = self.best.1.clone();
        let limits = self.hold_unused(&mut weights);
        self.descent.descend(&mut weights, FULL_STEPS, f64::INFINITY, true);
        self.descent.limits = limits;
        self.keep(&weights);
        if trace == 0.0 {
            self.add_traces();
        }
    }

    /// With eq. 7.6 a trace of an example may cost less than it gains, and does not count as use.
    fn add_traces(&mut self) {
        let before = self.best.0;
        for e in 0..self.best.1.len() {
            let mut weights = self.best.1.clone();
            if weights[e] < MIN_USED_WEIGHT && self.descent.limits[e][1] >= MIN_USED_WEIGHT {
                weights[e] = MIN_USED_WEIGHT;
                self.keep(&weights);
            }
        }
        if self.best.0 < before {
            let mut weights = self.best.1.clone();
            let limits = self.hold_unused(&mut weights);
            self.descent.descend(&mut weights, FULL_STEPS, f64::INFINITY, true);
            self.descent.limits = limits;
            self.keep(&weights);
        }
    }
}
