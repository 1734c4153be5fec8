//! Derivatives instead of probing: few evaluations, and a lower energy than probing finds.
//!
//! # Source
//! Ours: descents from the best of many poses that were tried beforehand. For terms that count examples, a search over
//! which of them are in use: fewer and fewer, each time without the one that is missed least (Hassibi, Stork, *Second
//! order derivatives for network pruning: optimal brain surgeon*, 1993), and those of the best poses tried beforehand.

use super::super::objective::USED;
use super::{Energy, descent::Descent, scouts::Starts, solve_definite};

/// Valleys that are looked into.
const STARTS: usize = 4;
/// Steps after which a descent is compared with the others.
const QUICK: usize = 3;
/// Steps of a descent that is not stopped.
const WHOLE: usize = 60;
/// Steps that settle the rest when one example is dropped.
const SETTLING: usize = 8;
/// Another valley is followed to its bottom if a few steps brought it as near to the best as this share.
const NEAR: f64 = 0.15;
/// Nothing is better than this.
const PERFECT: f64 = 1e-7;
/// Rounding at which it is judged which example is missed least.
const BROAD: f64 = 0.1;

/// Least energy near the start or, `anywhere`, near the best of many poses that were tried beforehand.
pub fn search(energy: &mut Energy<'_>, limits: &[[f64; 2]], anywhere: bool, weights: &mut [f64]) {
    let counts = energy.objective.factor("now") + energy.objective.factor("neu") > 0.0;
    let space = energy.space;
    let starts = match anywhere {
        true => space.scouts.best(energy, limits, weights, STARTS),
        false => Starts { whole: vec![weights.to_vec()], limbs: Vec::new() },
    };
    let mut search = Search { descent: Descent::new(energy, limits), best: (f64::INFINITY, weights.to_vec()) };
    let bottom = search.continuous(&starts);
    if counts {
        search.thin_out(bottom);
        starts.whole.into_iter().for_each(|start| search.settle_few(start));
        search.polish();
    }
    weights.copy_from_slice(&search.best.1);
}

/// Whether two places lead to the same bottom, as far as can be told.
fn is_same(a: &[f64], b: &[f64]) -> bool {
    const SAME: f64 = 0.05;
    a.iter().zip(b).all(|(a, b)| (a - b).abs() < SAME)
}

struct Search<'e, 'a> {
    descent: Descent<'e, 'a>,
    best: (f64, Vec<f64>),
}

impl Search<'_, '_> {
    /// The lowest of the bottoms below many starts, if nothing is counted.
    fn continuous(&mut self, starts: &Starts) -> Vec<f64> {
        let mut reached: Vec<(f64, Vec<f64>)> = Vec::new();
        let is_near = starts.whole.len() > 1;
        let mut least = f64::INFINITY;
        for start in &starts.whole {
            let mut weights = start.clone();
            if is_near {
                let value = self.descent.descend(&mut weights, QUICK, least, false);
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
                *low < PERFECT || value > low * (1.0 + NEAR) || is_same(&weights, bottom)
            };
            if !lowest.as_ref().is_some_and(is_hopeless) {
                self.follow(weights, is_near, &mut lowest);
            }
        }
        for limb in &starts.limbs {
            let Some((low, bottom)) = lowest.as_ref().filter(|(low, _)| *low > PERFECT) else { break };
            let mut weights = bottom.clone();
            limb.iter().for_each(|&(e, w)| weights[e] = w);
            let value = self.descent.descend(&mut weights, QUICK, *low, false);
            if value < low * (1.0 + NEAR) && !is_same(&weights, bottom) {
                self.follow(weights, true, &mut lowest);
            }
        }
        lowest.map_or_else(|| self.best.1.clone(), |(_, bottom)| bottom)
    }

    /// Go on to the bottom.
    fn follow(&mut self, mut weights: Vec<f64>, is_near: bool, lowest: &mut Option<(f64, Vec<f64>)>) {
        let low = lowest.as_ref().map_or(f64::INFINITY, |(low, _)| *low);
        let value = self.descent.descend(&mut weights, WHOLE, low, is_near);
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

    /// Hold what is not in use below what counts as use. Returns the limits there were.
    fn hold_unused(&mut self, weights: &mut [f64]) -> Vec<[f64; 2]> {
        let before = self.descent.limits.clone();
        self.descent.model.with_roots = self.descent.energy.objective.factor("now") > 0.0;
        for (e, w) in weights.iter().enumerate().filter(|(e, w)| **w <= USED && before[*e][0] <= 0.0) {
            // With eq. 7.6 a trace of an example costs more than it gives.
            let most = if self.descent.model.with_roots { *w } else { USED };
            self.descent.limits[e][1] = before[e][1].min(most);
        }
        before
    }

    /// With the examples of a pose and no others.
    fn settle_few(&mut self, mut weights: Vec<f64>) {
        let limits = self.hold_unused(&mut weights);
        self.descent.descend(&mut weights, SETTLING, self.best.0, false);
        self.keep(&weights);
        self.descent.limits = limits;
    }

    /// For terms that want few examples: drop the one that is missed least, again and again, and settle the rest.
    fn thin_out(&mut self, mut weights: Vec<f64>) {
        const PATIENCE: usize = 2;
        let limits = self.descent.limits.clone();
        let mut in_vain = 0;
        while in_vain < PATIENCE {
            let roots = self.descent.energy.objective.factor("now") > 0.0;
            for (e, w) in weights.iter_mut().enumerate() {
                if *w <= USED && limits[e][0] <= 0.0 && roots {
                    *w = 0.0;
                }
            }
            self.hold_unused(&mut weights);
            self.descent.descend(&mut weights, SETTLING, f64::INFINITY, true);
            in_vain = if self.keep(&weights) { 0 } else { in_vain + 1 };
            let Some(least) = self.least_missed(&weights, &limits) else { break };
            weights[least] = if roots { 0.0 } else { USED };
        }
        self.descent.limits = limits;
    }

    /// The example in use whose absence costs least once the others have settled: `½ w² / (H⁻¹)ₑₑ`.
    fn least_missed(&mut self, weights: &[f64], limits: &[[f64; 2]]) -> Option<usize> {
        let Descent { energy, model, next, .. } = &mut self.descent;
        model.at(energy, weights, BROAD, next);
        let used: Vec<usize> =
            (0..weights.len()).filter(|&e| weights[e] > USED && limits[e][0] <= 0.0).collect();
        let m = used.len();
        let mut least: Option<(f64, usize)> = None;
        for (i, &e) in used.iter().enumerate() {
            let mut matrix = vec![0.0; m * m];
            for (a, b) in (0..m).flat_map(|a| (0..=a).map(move |b| (a, b))) {
                matrix[a * m + b] = model.curvature(used[a], used[b]) + if a == b { 1e-2 } else { 0.0 };
            }
            let mut column = vec![0.0; m];
            column[i] = 1.0;
            let own = match solve_definite(&mut matrix, &mut column, m) {
                Some(()) => 1.0 / column[i],
                None => model.curvature(e, e).max(1e-2),
            };
            let cost = 0.5 * weights[e] * weights[e] * own - model.gradient[e] * weights[e];
            if least.is_none_or(|(other, _)| cost < other) {
                least = Some((cost, e));
            }
        }
        least.map(|(_, e)| e)
    }

    /// Go to the bottom with the examples of the best pose; then try a trace of each of the others.
    fn polish(&mut self) {
        let mut weights = self.best.1.clone();
        let limits = self.hold_unused(&mut weights);
        self.descent.descend(&mut weights, WHOLE, f64::INFINITY, true);
        self.keep(&weights);
        self.descent.limits = limits;
    }
}
