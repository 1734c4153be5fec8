//! The energy of a blend: how far its pose is from the best one.
//!
//! # Source
//! Hansen (2006), §7.4 and §7.5.2: only the centre of each handle is moved, not its vertices.

use super::{
    blend::{Blend, Places},
    objective::{GAUSSIAN_WIDTH, MIN_USED_WEIGHT, Objective, Term},
    space::PoseSpace,
};
use glam::DVec3;

/// A place that a handle should reach.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    /// Which handle.
    pub handle: usize,
    /// Where the middle of its vertices should be.
    pub position: DVec3,
    /// Whether it must be there: [`Optimiser::Newton`] with residual motion keeps it there to round-off, and all
    /// searches count its distance ten times.
    ///
    /// [`Optimiser::Newton`]: super::Optimiser::Newton
    pub is_pinned: bool,
}

impl Target {
    pub(super) fn strength(&self) -> f64 {
        if self.is_pinned { 10.0 } else { 1.0 }
    }
}

/// One problem: find weights of least energy.
#[derive(Debug)]
pub(super) struct Energy<'a> {
    pub space: &'a PoseSpace,
    pub blend: Blend,
    pub objective: &'a Objective,
    pub targets: &'a [Target],
    /// Targets, by number, that carry the body, with their shares.
    pub anchors: &'a [(usize, f64)],
    /// Where the grips were in the last frame, without the shift of the body.
    pub last: Option<&'a [DVec3]>,
    /// Handles whose places matter, parents first.
    pub wanted: Vec<usize>,
    pub places: Places,
    pub evaluations: usize,
}

impl<'a> Energy<'a> {
    pub fn new(
        space: &'a PoseSpace,
        blend: Blend,
        objective: &'a Objective,
        targets: &'a [Target],
        anchors: &'a [(usize, f64)],
        last: Option<&'a [DVec3]>,
    ) -> Self {
        let all = objective.factor(Term::DifferenceFromExamples) > 0.0
            || (objective.factor(Term::DistanceToLast) > 0.0 && last.is_some());
        let mut is_wanted = vec![all; space.n_handles()];
        for target in targets {
            let up = std::iter::successors(Some(target.handle), |&h| space.tree.parent[h]);
            up.for_each(|h| is_wanted[h] = true);
        }
        let wanted = space.tree.order.iter().copied().filter(|&h| is_wanted[h]).collect();
        let places = Places::new(space.n_handles());
        Self { space, blend, objective, targets, anchors, last, wanted, places, evaluations: 0 }
    }

    /// The energy of weights.
    pub fn of(&mut self, weights: &[f64]) -> f64 {
        self.place(weights);
        self.objective.terms().iter().map(|(term, factor)| self.term(*term, *factor, weights)).sum()
    }

    /// The value of each term, its factor included.
    pub fn values(&mut self, weights: &[f64]) -> Vec<(Term, f64)> {
        self.place(weights);
        let value = |&(term, factor): &(Term, f64)| (term, self.term(term, factor, weights));
        self.objective.terms().iter().map(value).collect()
    }

    fn place(&mut self, weights: &[f64]) {
        self.evaluations += 1;
        self.space.place(&self.blend, weights, &self.wanted, &mut self.places);
    }

    /// How far the body is shifted so that what carries it is at its targets (§7.6.2.1).
    pub fn shift(&self, grips: &[DVec3]) -> DVec3 {
        let one = |&(at, share): &(usize, f64)| {
            let target = &self.targets[at];
            share * (target.position - grips[target.handle])
        };
        self.anchors.iter().map(one).sum()
    }

    fn term(&self, term: Term, k: f64, weights: &[f64]) -> f64 {
        let sum = || weights.iter().sum::<f64>();
        match term {
            Term::DistanceToTarget => {
                let shift = self.shift(&self.places.grip);
                let distance =
                    |t: &Target| t.strength() * t.position.distance(self.places.grip[t.handle] + shift);
                k * self.targets.iter().map(distance).sum::<f64>() / self.space.unit
            }
            Term::ExamplesUsed { free } => k * excess(weights, free).powi(2),
            Term::DistanceToLast => {
                let Some(last) = self.last else { return 0.0 };
                let moved: f64 = last.iter().zip(&self.places.grip).map(|(a, b)| a.distance(*b)).sum();
                (k * moved / self.space.unit).powi(2)
            }
            Term::SumOfWeights => k * sum().abs(),
            Term::OneMinusSum => k * (1.0 - sum()).abs(),
            Term::NumberOfWeights => {
                let sum: f64 = weights.iter().map(|w| w.max(0.0)).sum();
                let roots: f64 = weights.iter().map(|w| w.max(0.0).sqrt()).sum();
                if sum > 0.0 { k * roots / sum } else { 0.0 }
            }
            Term::DifferenceFromExamples => {
                let examples = 0..self.space.n_examples();
                k * examples.map(|e| 1.0 - bell(self.space.unlikeness(e, &self.places.grip))).sum::<f64>()
            }
        }
    }
}

/// `G` of eq. 7.7, of a squared distance.
pub(super) fn bell(squared: f64) -> f64 {
    (-squared / (GAUSSIAN_WIDTH * GAUSSIAN_WIDTH)).exp()
}

/// Examples in use beyond a number.
pub(super) fn excess(weights: &[f64], free: usize) -> f64 {
    let used = weights.iter().filter(|w| **w > MIN_USED_WEIGHT).count();
    used.saturating_sub(free) as f64
}
