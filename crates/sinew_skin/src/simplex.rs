//! Convex weights of few candidates: `min wᵀ G w`, `w ≥ 0`, `Σ w = 1`, at most `k` of them positive.
//!
//! # Source
//! The weights of Antonopoulos (2010), §5.3, eqs. 5.13–5.21, as one small quadratic programme per vertex: with residual
//! vectors `d_j = M_j u − v` and `Σ w = 1`, the squared error is `wᵀ G w`, `G = D Dᵀ`. Active set: on a set of positive
//! weights the minimum is `G⁻¹ 1`, scaled. Differs: Antonopoulos corrects given weights; here the bones themselves are
//! exchanged, one in and one out, as long as that lowers the error.
//! # Cost
//! A few Cholesky factorisations of at most 9 × 9.
//! # Limits
//! Exchanges are greedy, so a better set of `k` bones may exist.

use crate::params::{MAX_CANDIDATES, MAX_INFLUENCES};

/// Row length of Gram matrices.
pub(crate) const GRAM_STRIDE: usize = MAX_CANDIDATES;
/// Smaller weights count as zero.
const MIN_WEIGHT: f64 = 1e-6;
/// Share of the error that a swap must promise or gain.
const MIN_RELATIVE_GAIN: f64 = 1e-6;
const MAX_MEMBERS: usize = MAX_INFLUENCES + 1;

/// A set of candidates with their weights and the error they leave.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Blend {
    pub members: [u8; MAX_MEMBERS],
    pub weights: [f64; MAX_MEMBERS],
    pub n: usize,
    pub error: f64,
}

impl Blend {
    /// A set that starts with some weights and is optimised.
    pub fn new(gram: &[f64], start: impl Iterator<Item = (u8, f64)>) -> Self {
        let mut blend = Self { members: [0; MAX_MEMBERS], weights: [0.0; MAX_MEMBERS], n: 0, error: 0.0 };
        for (member, weight) in start.take(MAX_MEMBERS - 1) {
            blend.members[blend.n] = member;
            blend.weights[blend.n] = weight;
            blend.n += 1;
        }
        blend.solve(gram);
        blend.trim();
        blend
    }

    /// Swap members for better candidates, with at most `k` members.
    pub fn improve(&mut self, gram: &[f64], n_candidates: usize, k: usize) {
        for _ in 0..2 * k {
            let Some((entering, step)) = self.most_promising(gram, n_candidates) else { return };
            let mut wider = *self;
            wider.weights[..self.n].iter_mut().for_each(|w| *w *= 1.0 - step);
            wider.members[self.n] = entering;
            wider.weights[self.n] = step;
            wider.n += 1;
            wider.solve(gram);
            wider.trim();
            let limit = self.error * (1.0 - MIN_RELATIVE_GAIN);
            let better = match wider.n <= k {
                true => Some(wider),
                false => wider.best_without_one(gram, entering, limit),
            };
            match better.filter(|better| better.error < limit) {
                Some(better) => *self = better,
                None => return,
            }
        }
    }

    /// The candidate whose entry alone lowers the error most, and how far it would go.
    fn most_promising(&self, gram: &[f64], n_candidates: usize) -> Option<(u8, f64)> {
        let mut best = None;
        let mut gain = MIN_RELATIVE_GAIN * self.error + 1e-30;
        for candidate in 0..n_candidates {
            let row = &gram[candidate * GRAM_STRIDE..(candidate + 1) * GRAM_STRIDE];
            let mut along = 0.0;
            let mut is_member = false;
            for at in 0..self.n {
                is_member |= self.members[at] as usize == candidate;
                along += row[self.members[at] as usize] * self.weights[at];
            }
            let slope = self.error - along;
            if is_member || slope <= 0.0 {
                continue;
            }
            let curvature = row[candidate] - 2.0 * along + self.error + 1e-30;
            if slope * slope > gain * curvature {
                gain = slope * slope / curvature;
                best = Some((candidate as u8, (slope / curvature).min(1.0)));
            }
        }
        best
    }

    /// The best set without one of the members other than `keep`, if its error is below `limit`.
    fn best_without_one(&self, gram: &[f64], keep: u8, limit: f64) -> Option<Self> {
        let bounds = self.errors_without(gram);
        let mut order: [usize; MAX_MEMBERS] = std::array::from_fn(|at| at);
        let order = &mut order[..self.n];
        order.sort_unstable_by(|&a, &b| bounds[a].total_cmp(&bounds[b]));
        let mut best: Option<Self> = None;
        for &leaving in order.iter().filter(|&&at| self.members[at] != keep) {
            if bounds[leaving] > best.map_or(limit, |best| best.error) {
                break;
            }
            let mut fewer = *self;
            fewer.remove(leaving);
            fewer.solve(gram);
            fewer.trim();
            if fewer.error < best.map_or(limit, |best| best.error) {
                best = Some(fewer);
            }
        }
        best
    }

    /// Lower bound of the error without each member, if the weights are optimal and all positive: holding one
    /// at zero costs `w² / M`, `M = G⁻¹ − w wᵀ / e`, and the signs of the others can only cost more.
    fn errors_without(&self, gram: &[f64]) -> [f64; MAX_MEMBERS] {
        let (l, little) = self.factor(gram, &std::array::from_fn(|at| at), self.n);
        // The weights are those of the matrix with a small diagonal added.
        let error = self.error + little * self.weights[..self.n].iter().map(|w| w * w).sum::<f64>();
        std::array::from_fn(|at| {
            if at >= self.n {
                return f64::INFINITY;
            }
            let (mut column, mut diagonal) = ([0.0; MAX_MEMBERS], 0.0);
            for row in at..self.n {
                let mut v = if row == at { 1.0 } else { 0.0 };
                (at..row).for_each(|c| v -= l[row][c] * column[c]);
                column[row] = v / l[row][row];
                diagonal += column[row] * column[row];
            }
            let weight = self.weights[at] * self.weights[at];
            let open = diagonal - weight / error.max(1e-30);
            // Rounding must not discard an equally good set.
            if open > 0.0 { (error + weight / open) * (1.0 - 1e-9) - little } else { 0.0 }
        })
    }

    fn remove(&mut self, at: usize) {
        self.n -= 1;
        for k in at..self.n {
            self.members[k] = self.members[k + 1];
            self.weights[k] = self.weights[k + 1];
        }
    }

    /// Drop zero weights and scale the rest to sum to one.
    fn trim(&mut self) {
        let mut at = 0;
        while at < self.n {
            if self.weights[at] <= MIN_WEIGHT && self.n > 1 { self.remove(at) } else { at += 1 }
        }
        let sum: f64 = self.weights[..self.n].iter().sum();
        self.weights[..self.n].iter_mut().for_each(|w| *w /= sum);
    }

    /// Best weights of these members; those that would be negative become zero. Starts from the current weights.
    fn solve(&mut self, gram: &[f64]) {
        self.normalise();
        let mut is_free: [bool; MAX_MEMBERS] =
            std::array::from_fn(|at| at < self.n && self.weights[at] > 0.0);
        for _ in 0..4 * self.n {
            let target = self.minimum_on(gram, &is_free);
            // Move towards it until a weight would become negative.
            let (mut reach, mut blocking) = (1.0, None);
            for at in (0..self.n).filter(|&at| is_free[at] && target[at] < 0.0) {
                let share = self.weights[at] / (self.weights[at] - target[at]);
                if share < reach {
                    (reach, blocking) = (share, Some(at));
                }
            }
            for at in (0..self.n).filter(|&at| is_free[at]) {
                self.weights[at] += reach * (target[at] - self.weights[at]);
            }
            if let Some(at) = blocking {
                self.weights[at] = 0.0;
                is_free[at] = false;
                continue;
            }
            let slopes = self.slopes(gram);
            self.error = (0..self.n).map(|at| self.weights[at] * slopes[at]).sum();
            let mut entering = None;
            let mut steepest = -1e-9 * self.error - 1e-30;
            for at in (0..self.n).filter(|&at| !is_free[at]) {
                if slopes[at] - self.error < steepest {
                    (steepest, entering) = (slopes[at] - self.error, Some(at));
                }
            }
            match entering {
                Some(at) => is_free[at] = true,
                None => return,
            }
        }
        let slopes = self.slopes(gram);
        self.error = (0..self.n).map(|at| self.weights[at] * slopes[at]).sum();
    }

    fn normalise(&mut self) {
        let n = self.n;
        let weights = &mut self.weights[..n];
        weights.iter_mut().for_each(|w| *w = w.max(0.0));
        let sum: f64 = weights.iter().sum();
        match sum > 1e-12 {
            true => weights.iter_mut().for_each(|w| *w /= sum),
            false => weights.fill(1.0 / n as f64),
        }
    }

    fn slopes(&self, gram: &[f64]) -> [f64; MAX_MEMBERS] {
        let mut slopes = [0.0; MAX_MEMBERS];
        for a in 0..self.n {
            let row = &gram[self.members[a] as usize * GRAM_STRIDE..];
            slopes[a] = (0..self.n).map(|b| row[self.members[b] as usize] * self.weights[b]).sum();
        }
        slopes
    }

    /// Cholesky factor of the Gram matrix of the first `m` of some members, with a small diagonal added.
    fn factor(
        &self,
        gram: &[f64],
        of: &[usize; MAX_MEMBERS],
        m: usize,
    ) -> ([[f64; MAX_MEMBERS]; MAX_MEMBERS], f64) {
        let entry = |a: usize, b: usize| {
            gram[self.members[of[a]] as usize * GRAM_STRIDE + self.members[of[b]] as usize]
        };
        let trace: f64 = (0..m).map(|a| entry(a, a)).sum();
        // Bones that do the same leave the split undetermined; a fraction of the trace decides for equal shares.
        let little = 1e-9 * trace / m.max(1) as f64 + 1e-30;
        let mut l = [[0.0f64; MAX_MEMBERS]; MAX_MEMBERS];
        for a in 0..m {
            for b in 0..=a {
                let mut v = entry(a, b) + if a == b { little } else { 0.0 };
                (0..b).for_each(|c| v -= l[a][c] * l[b][c]);
                l[a][b] = if a == b { v.max(1e-3 * little).sqrt() } else { v / l[b][b] };
            }
        }
        (l, little)
    }

    /// Minimum over the free members, of any sign: `G⁻¹ 1`, scaled.
    fn minimum_on(&self, gram: &[f64], is_free: &[bool; MAX_MEMBERS]) -> [f64; MAX_MEMBERS] {
        let (mut free, mut m) = ([0usize; MAX_MEMBERS], 0);
        for at in (0..self.n).filter(|&at| is_free[at]) {
            free[m] = at;
            m += 1;
        }
        let (l, _) = self.factor(gram, &free, m);
        let mut x = [0.0f64; MAX_MEMBERS];
        for a in 0..m {
            let mut v = 1.0;
            (0..a).for_each(|c| v -= l[a][c] * x[c]);
            x[a] = v / l[a][a];
        }
        for a in (0..m).rev() {
            let mut v = x[a];
            (a + 1..m).for_each(|c| v -= l[c][a] * x[c]);
            x[a] = v / l[a][a];
        }
        let sum: f64 = x[..m].iter().sum();
        let mut target = [0.0; MAX_MEMBERS];
        (0..m).for_each(|a| target[free[a]] = x[a] / sum);
        target
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn gram_of(rows: &[Vec<f64>]) -> Vec<f64> {
        let mut gram = vec![0.0; GRAM_STRIDE * GRAM_STRIDE];
        for (a, x) in rows.iter().enumerate() {
            for (b, y) in rows.iter().enumerate() {
                gram[a * GRAM_STRIDE + b] = x.iter().zip(y).map(|(x, y)| x * y).sum();
            }
        }
        gram
    }

    proptest! {
        /// Weights are convex, at most k, and no small shift between two members lowers the error.
        #[test]
        fn weights_are_convex_few_and_best(
            rows in prop::collection::vec(prop::collection::vec(-1.0..1.0f64, 12), 6..12),
            k in 1..5usize,
        ) {
            let gram = gram_of(&rows);
            let mut blend = Blend::new(&gram, [(0u8, 1.0)].into_iter());
            let start = blend.error;
            blend.improve(&gram, rows.len(), k);
            prop_assert!(blend.n >= 1 && blend.n <= k);
            prop_assert!(blend.error <= start * (1.0 + 1e-12));
            let weights = &blend.weights[..blend.n];
            prop_assert!(weights.iter().all(|w| *w > 0.0));
            prop_assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            let error = |w: &[f64]| -> f64 {
                (0..12).map(|d| {
                    (0..blend.n).map(|a| w[a] * rows[blend.members[a] as usize][d]).sum::<f64>().powi(2)
                }).sum()
            };
            prop_assert!((error(weights) - blend.error).abs() < 1e-9 * (1.0 + blend.error));
            for a in 0..blend.n {
                for b in 0..blend.n {
                    let mut moved = weights.to_vec();
                    let step = 1e-4f64.min(moved[a]);
                    moved[a] -= step;
                    moved[b] += step;
                    prop_assert!(error(&moved) >= blend.error * (1.0 - 1e-7) - 1e-12);
                }
            }
        }
    }

    proptest! {
        /// The error without a member is never less than the bound, and equal to it while all weights stay positive.
        #[test]
        fn the_error_without_a_member_is_known_before(
            rows in prop::collection::vec(prop::collection::vec(-1.0..1.0f64, 12), 5),
        ) {
            let gram = gram_of(&rows);
            let blend = Blend::new(&gram, (0..5).map(|a| (a, 0.2)));
            prop_assume!(blend.n > 1);
            let bounds = blend.errors_without(&gram);
            let (_, little) = blend.factor(&gram, &std::array::from_fn(|at| at), blend.n);
            for at in 0..blend.n {
                let mut fewer = blend;
                fewer.remove(at);
                fewer.solve(&gram);
                prop_assert!(fewer.error >= bounds[at]);
                if fewer.weights[..fewer.n].iter().all(|w| *w > 0.0) {
                    prop_assert!((fewer.error - bounds[at]).abs() < 1e-6 * fewer.error + 4.0 * little);
                }
            }
        }
    }

    #[test]
    fn a_blend_of_two_is_found_among_many() {
        let mut rows: Vec<Vec<f64>> =
            (0..10).map(|a| (0..30).map(|d| ((a * 7 + d * d) % 11) as f64).collect()).collect();
        // The zero residual is a third of the way between the candidates 3 and 8.
        rows[8] = rows[3].iter().map(|x| -0.5 * x).collect();
        let gram = gram_of(&rows);
        let mut blend = Blend::new(&gram, [(0u8, 1.0)].into_iter());
        blend.improve(&gram, 10, 4);
        let mut found: Vec<(u8, f64)> = (0..blend.n).map(|a| (blend.members[a], blend.weights[a])).collect();
        found.sort_by_key(|(member, _)| *member);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].0 == 3 && (found[0].1 - 1.0 / 3.0).abs() < 1e-6, "{found:?}");
    }
}
