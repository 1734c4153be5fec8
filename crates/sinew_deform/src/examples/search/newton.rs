//! Derivatives instead of probing: few evaluations, and a lower energy than probing finds.
//!
//! # Source
//! Ours: descents from the best of many poses that were tried beforehand, and for terms that count examples a search
//! over which of them are in use.

use super::super::objective::USED;
use super::{Energy, descent::Descent};

/// Valleys that are looked into.
const STARTS: usize = 5;
/// Steps after which a descent is compared with the others.
const QUICK: usize = 5;
/// Steps of a descent that is not stopped.
const WHOLE: usize = 60;
/// Nothing is better than this.
const PERFECT: f64 = 1e-7;

/// Least energy near the start or, `anywhere`, near the best of many poses that were tried beforehand.
pub fn search(energy: &mut Energy<'_>, limits: &[[f64; 2]], anywhere: bool, weights: &mut [f64]) {
    let counts = energy.objective.factor("now") + energy.objective.factor("neu") > 0.0;
    let mut starts = vec![weights.to_vec()];
    if anywhere {
        let space = energy.space;
        starts.extend(space.scouts.best(energy, limits, STARTS));
    }
    let mut search = Search { descent: Descent::new(energy, limits), best: (f64::INFINITY, weights.to_vec()) };
    if starts.len() > 1 {
        starts = search.race(starts);
    }
    for start in starts {
        search.settle(start, counts);
        if search.best.0 < PERFECT {
            break;
        }
    }
    weights.copy_from_slice(&search.best.1);
}

struct Search<'e, 'a> {
    descent: Descent<'e, 'a>,
    best: (f64, Vec<f64>),
}

impl Search<'_, '_> {
    /// A few steps from every start. Returns the places reached, the best first.
    fn race(&mut self, starts: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
        let mut reached: Vec<(f64, Vec<f64>)> = Vec::new();
        let mut best = f64::INFINITY;
        for mut weights in starts {
            let value = self.descent.descend(&mut weights, QUICK, best);
            best = best.min(value);
            reached.push((value, weights));
        }
        reached.sort_by(|a, b| a.0.total_cmp(&b.0));
        reached.into_iter().map(|(_, weights)| weights).collect()
    }

    fn keep(&mut self, weights: &[f64]) {
        let found = self.descent.energy.of(weights);
        if found < self.best.0 {
            self.best = (found, weights.to_vec());
        }
    }

    fn settle(&mut self, mut weights: Vec<f64>, counts: bool) {
        self.descent.model.with_roots = false;
        self.descent.descend(&mut weights, WHOLE, self.best.0);
        self.keep(&weights);
        if counts {
            self.thin_out(weights);
        }
    }

    /// For terms that want few examples: drop the weight that does least, again and again, and settle the rest.
    fn thin_out(&mut self, mut weights: Vec<f64>) {
        const PATIENCE: usize = 4;
        let (n, limits) = (weights.len(), self.descent.limits.clone());
        self.descent.model.with_roots = self.descent.energy.objective.factor("now") > 0.0;
        let mut in_vain = 0;
        while in_vain < PATIENCE {
            for e in (0..n).filter(|&e| weights[e] <= USED && limits[e][0] <= 0.0) {
                self.descent.limits[e][1] = limits[e][1].min(USED);
            }
            self.descent.descend(&mut weights, WHOLE, f64::INFINITY);
            let before = self.best.0;
            self.keep(&weights);
            in_vain = if self.best.0 < before { 0 } else { in_vain + 1 };
            let effect = |e: usize| {
                let moved = self.descent.model.effect(self.descent.energy, e);
                weights[e] * (moved + 0.05 * self.descent.energy.space.unit)
            };
            let least = (0..n).filter(|&e| weights[e] > USED && limits[e][0] <= 0.0);
            let Some(least) = least.min_by(|a, b| effect(*a).total_cmp(&effect(*b))) else { break };
            weights[least] = USED;
        }
        self.descent.limits = limits;
    }
}
