//! The energy with its corners smoothed, its gradient and its curvature: what a Newton step needs.
//!
//! # Source
//! Sinew's own. Lengths `|r|` of the objective are smoothed to `√(r² + ε²)`. The second derivative of a grip is the sum
//! over its chain of `τ × v`, where `v` is the velocity that one handle of the chain gives the grip and `τ` the
//! rotation of the chain up to the centre of that handle; this is exact if each handle turns about one axis.
//! # Symbols
//! `J` derivative of grips by weights; `H` curvature, `g` gradient of the smoothed energy; `ε` smoothing
//! # Cost
//! One evaluation of the handles that have targets, and `n²` for every row of `J`. Rows are stored four weights to a
//! lane.

use super::super::{
    blend::{Blend, Places},
    energy::{Energy, Target, bell},
    objective::{GAUSSIAN_WIDTH, Term},
    screw::Screw,
    space::PoseSpace,
};
use super::{
    lanes::{Lane, add, get, put},
    rows::{Length, add_three, carry},
};
use glam::{DMat3, DQuat, DVec3};
use sinew_geom::linalg::{Kernel, dispatch, dot};

/// Smaller weights count as zero: the slope of a square root is unbounded towards zero.
const MIN_ROOT_WEIGHT: f64 = 1e-4;
/// A Gaussian lower than this counts as zero.
const MIN_GAUSSIAN: f64 = 1e-6;

/// What an example alone does to a handle, relative to the handle that carries it.
#[derive(Debug, Clone, Copy)]
struct Own {
    example: usize,
    turn: DVec3,
    pivot: DVec3,
}

/// Smoothed energy at some weights.
#[derive(Debug)]
pub struct Model {
    n: usize,
    /// Lanes per row.
    width: usize,
    /// Whether eq. 7.6 is part of it.
    pub with_roots: bool,
    pub gradient: Vec<f64>,
    /// Lower triangle, one row per weight.
    hessian: Vec<Lane>,
    /// To be added to the curvature together with its transpose.
    half: Vec<Lane>,
    /// Which of its rows are not zero.
    bent: Vec<bool>,
    /// Mean of the turns of a handle and of what carries it.
    middle: Vec<Lane>,
    /// How each slot is pulled at its grip, then with all that it carries; and the moment of that, see `add_bends`.
    pull: Vec<DVec3>,
    moment: Vec<DMat3>,
    places: Places,
    /// Place of each handle among those that are wanted.
    slot: Vec<usize>,
    /// Derivatives of turns, pivots and grips: three rows per slot.
    turn: Vec<Lane>,
    pivot: Vec<Lane>,
    grip: Vec<Lane>,
    own: Vec<Own>,
    /// Where the list of a slot begins in `own`.
    begin: Vec<usize>,
    /// Distance of each target, smoothed.
    lengths: Vec<f64>,
    /// Terms that smoothing does not change.
    smooth: f64,
    sum: f64,
    /// Scratch of terms: one number per example.
    slope: Vec<f64>,
    bells: Vec<f64>,
    /// Three rows: slopes of a target while others carry the body.
    rows: Vec<Lane>,
}

impl Model {
    pub fn new(energy: &Energy<'_>) -> Self {
        let (n, n_slots) = (energy.space.n_examples(), energy.wanted.len());
        let width = n.div_ceil(4);
        let zeros = |rows: usize| vec![[0.0; 4]; rows * width];
        let mut slot = vec![usize::MAX; energy.space.n_handles()];
        energy.wanted.iter().enumerate().for_each(|(at, &h)| slot[h] = at);
        Self {
            n,
            width,
            with_roots: false,
            gradient: vec![0.0; n],
            hessian: zeros(n),
            half: zeros(n),
            bent: vec![false; n],
            slope: vec![0.0; n],
            bells: vec![0.0; n],
            middle: zeros(3),
            pull: vec![DVec3::ZERO; n_slots],
            moment: vec![DMat3::ZERO; n_slots],
            places: Places::new(energy.space.n_handles()),
            slot,
            turn: zeros(3 * n_slots),
            pivot: zeros(3 * n_slots),
            grip: zeros(3 * n_slots),
            own: Vec::with_capacity(4 * n_slots),
            begin: vec![0; n_slots + 1],
            lengths: vec![f64::INFINITY; energy.targets.len()],
            smooth: 0.0,
            sum: 0.0,
            rows: zeros(3),
        }
    }

    /// Forget the previous steps: the next step is the first.
    pub fn restart(&mut self) {
        self.lengths.fill(f64::INFINITY);
    }

    /// The value with another smoothing.
    pub fn value(&self, energy: &Energy<'_>, rounding: f64) -> f64 {
        let (unit, shift) = (energy.space.unit, energy.shift(&self.places.grip));
        let target = |t: &Target| {
            let missed = (self.places.grip[t.handle] + shift).distance(t.position);
            t.strength() * (missed * missed / (unit * unit) + rounding * rounding).sqrt()
        };
        let term = |&(term, k): &(Term, f64)| match term {
            Term::DistanceToTarget => k * energy.targets.iter().map(target).sum::<f64>(),
            Term::DistanceToLast => energy.last.map_or(0.0, |last| {
                let moved = |&h: &usize| rounded((self.places.grip[h] - last[h]) / unit, rounding);
                (k * energy.wanted.iter().map(moved).sum::<f64>()).powi(2)
            }),
            Term::OneMinusSum => k * (1.0 - self.sum).hypot(rounding),
            _ => 0.0,
        };
        self.smooth + energy.objective.terms().iter().map(term).sum::<f64>()
    }

    /// `H` at a pair of weights.
    pub fn curvature(&self, a: usize, b: usize) -> f64 {
        let (row, column) = (a.max(b), a.min(b));
        self.hessian[row * self.width + column / 4][column % 4]
    }

    /// Compute value, slope and curvature, coming from another place. Returns the value.
    pub fn at(&mut self, energy: &mut Energy<'_>, weights: &[f64], rounding: f64, from: &Self) -> f64 {
        dispatch(Evaluation { model: self, energy, weights, rounding, from })
    }

    #[inline(always)]
    fn evaluate<const FMA: bool>(
        &mut self,
        energy: &mut Energy<'_>,
        weights: &[f64],
        rounding: f64,
        from: &Self,
    ) -> f64 {
        energy.evaluations += 1;
        self.with_roots = from.with_roots;
        match energy.blend {
            Blend::Free => self.place::<FMA>(energy.space, &energy.wanted, weights),
            Blend::Sequential(_) => self.place_sequential(energy, weights),
        }
        self.gradient.fill(0.0);
        self.hessian.fill([0.0; 4]);
        self.pull.fill(DVec3::ZERO);
        self.sum = weights.iter().sum();
        self.smooth = 0.0;
        let mut value = 0.0;
        for &(term, k) in energy.objective.terms() {
            match term {
                Term::DistanceToTarget => value += self.add_targets::<FMA>(energy, k, rounding, from),
                Term::DistanceToLast => value += self.add_last::<FMA>(energy, k, rounding),
                Term::OneMinusSum => value += self.add_sum(k, rounding),
                Term::SumOfWeights => {
                    self.gradient.iter_mut().for_each(|g| *g += k);
                    self.smooth += k * self.sum;
                }
                Term::NumberOfWeights if self.with_roots => self.smooth += self.add_roots(weights, k),
                Term::DifferenceFromExamples => self.smooth += self.add_examples::<FMA>(energy, k),
                Term::ExamplesUsed { .. } | Term::NumberOfWeights => {}
            }
        }
        // Algorithm 3 has no derivatives of turns and does not need them.
        if energy.blend == Blend::Free {
            self.add_bends::<FMA>(energy.space, &energy.wanted);
        }
        value + self.smooth
    }

    /// Places with derivatives.
    #[inline(always)]
    fn place<const FMA: bool>(&mut self, space: &PoseSpace, wanted: &[usize], weights: &[f64]) {
        let (n, width) = (self.n, self.width);
        self.own.clear();
        for (at, &h) in wanted.iter().enumerate() {
            self.begin[at] = self.own.len();
            let parent = space.tree.parent[h];
            let carrier = parent.map_or(DQuat::IDENTITY, |p| self.places.rotation[p]);
            let (movers, screws) = (&space.movers[h], &space.screws[h * n..(h + 1) * n]);
            if movers.is_empty() {
                space.put(h, DQuat::IDENTITY, DVec3::ZERO, &mut self.places);
            } else if space.only_turns[h] {
                let turn = movers.iter().map(|&e| weights[e] * screws[e].turn).sum();
                let (rotation, v) = Screw::turn_with_derivative(turn);
                space.put(h, rotation, DVec3::ZERO, &mut self.places);
                let v = DMat3::from_quat(carrier) * v;
                let own =
                    |&example: &usize| Own { example, turn: v * screws[example].turn, pivot: DVec3::ZERO };
                self.own.extend(movers.iter().map(own));
            } else {
                let (rotation, shift, v, by_turn) = space.sum(weights, &[], h).motion_with_derivatives();
                space.put(h, rotation, shift, &mut self.places);
                let carrier = DMat3::from_quat(carrier);
                let (v, by_turn) = (carrier * v, carrier * by_turn);
                self.own.extend(movers.iter().map(|&example| {
                    let Screw { turn, speed, shift } = screws[example];
                    Own { example, turn: v * turn, pivot: v * speed + by_turn * turn + carrier * shift }
                }));
            }
            let lever = self.places.pivot[h] - parent.map_or(DVec3::ZERO, |p| self.places.pivot[p]);
            let arm = self.places.grip[h] - self.places.pivot[h];
            let cut = 3 * at * width;
            let (turn_before, turn) = self.turn.split_at_mut(cut);
            let (pivot_before, pivot) = self.pivot.split_at_mut(cut);
            let (turn, pivot) = (&mut turn[..3 * width], &mut pivot[..3 * width]);
            match parent {
                Some(p) => {
                    let from = 3 * self.slot[p] * width;
                    turn.copy_from_slice(&turn_before[from..from + 3 * width]);
                    carry::<FMA>(turn, lever, &pivot_before[from..from + 3 * width], pivot);
                }
                None => {
                    turn.fill([0.0; 4]);
                    pivot.fill([0.0; 4]);
                }
            }
            for own in &self.own[self.begin[at]..] {
                for axis in 0..3 {
                    put(&mut turn[axis * width..], own.example, own.turn[axis]);
                    put(&mut pivot[axis * width..], own.example, own.pivot[axis]);
                }
            }
            carry::<FMA>(turn, arm, pivot, &mut self.grip[cut..cut + 3 * width]);
        }
        self.begin[wanted.len()] = self.own.len();
    }

    /// Algorithm 3 has no short derivative: the axis of every move depends on all moves before it.
    fn place_sequential(&mut self, energy: &mut Energy<'_>, weights: &[f64]) {
        const STEP: f64 = 1e-6;
        let (width, mut moved, mut beside) = (self.width, weights.to_vec(), self.places.clone());
        energy.space.place(&energy.blend, weights, &energy.wanted, &mut self.places);
        for e in 0..self.n {
            moved[e] += STEP;
            energy.evaluations += 1;
            energy.space.place(&energy.blend, &moved, &energy.wanted, &mut beside);
            moved[e] = weights[e];
            for (at, &h) in energy.wanted.iter().enumerate() {
                let slope = (beside.grip[h] - self.places.grip[h]) / STEP;
                for axis in 0..3 {
                    self.grip[(3 * at + axis) * width + e / 4][e % 4] = slope[axis];
                }
            }
        }
    }

    /// `Σ |r|`. While a target comes nearer fast, its length is taken for a square that ends at `r = 0`.
    #[inline(always)]
    fn add_targets<const FMA: bool>(
        &mut self,
        energy: &Energy<'_>,
        k: f64,
        rounding: f64,
        from: &Self,
    ) -> f64 {
        let (unit, width) = (energy.space.unit, self.width);
        let shift = energy.shift(&self.places.grip);
        let mut value = 0.0;
        for (at, target) in energy.targets.iter().enumerate() {
            let r = (self.places.grip[target.handle] + shift - target.position) / unit;
            let length = rounded(r, rounding);
            let is_slow = length > 0.5 * from.lengths[at];
            self.lengths[at] = length;
            let (along, tau) = (r / length, if is_slow { 1.0 - rounding / length } else { 0.0 });
            let k = k * target.strength();
            value += k * length;
            let slot = self.slot[target.handle];
            let pull = k / unit * along;
            let terms = Length { gradient: pull, scale: k / (length * unit * unit), along, tau };
            if energy.anchors.is_empty() {
                terms.add::<FMA>(
                    self.n,
                    &self.grip[3 * slot * width..][..3 * width],
                    &mut self.gradient,
                    &mut self.hessian,
                );
            } else {
                self.rows.copy_from_slice(&self.grip[3 * slot * width..][..3 * width]);
                for &(other, share) in energy.anchors {
                    let from = 3 * self.slot[energy.targets[other].handle] * width;
                    add::<FMA>(&mut self.rows, -share, &self.grip[from..]);
                }
                terms.add::<FMA>(self.n, &self.rows, &mut self.gradient, &mut self.hessian);
            }
            if tau > 0.0 {
                self.pull[slot] += pull;
                for &(other, share) in energy.anchors {
                    self.pull[self.slot[energy.targets[other].handle]] -= share * pull;
                }
            }
        }
        value
    }

    /// How pulls on grips change as the grips move on: `pull · ∂²g/∂w∂w`. For a handle of a chain `across = v × pull`
    /// summed over all grips that it carries; with `v = p + t × arm` that is `p × P + M t`, where `P` sums the pulls
    /// and
    /// `M` sums `arm pullᵀ − (arm · pull) I`.
    #[inline(always)]
    fn add_bends<const FMA: bool>(&mut self, space: &PoseSpace, wanted: &[usize]) {
        let (n, width) = (self.n, self.width);
        for (at, &h) in wanted.iter().enumerate() {
            self.moment[at] = moment(self.places.grip[h] - self.places.pivot[h], self.pull[at]);
        }
        for (at, &h) in wanted.iter().enumerate().rev() {
            if let Some(p) = space.tree.parent[h] {
                let (to, pull) = (self.slot[p], self.pull[at]);
                let below = self.moment[at] + moment(self.places.pivot[h] - self.places.pivot[p], pull);
                self.moment[to] += below;
                self.pull[to] += pull;
            }
        }
        self.half.fill([0.0; 4]);
        self.bent.fill(false);
        for (at, &h) in wanted.iter().enumerate() {
            let own = &self.own[self.begin[at]..self.begin[at + 1]];
            let (pull, moment) = (self.pull[at], self.moment[at]);
            if own.is_empty() || (pull == DVec3::ZERO && moment == DMat3::ZERO) {
                continue;
            }
            let turn = &self.turn[3 * at * width..][..3 * width];
            self.middle.copy_from_slice(turn);
            if let Some(p) = space.tree.parent[h] {
                add::<FMA>(&mut self.middle, 1.0, &self.turn[3 * self.slot[p] * width..]);
            }
            for own in own {
                self.bent[own.example] = true;
                let across = 0.5 * (own.pivot.cross(pull) + moment * own.turn);
                add_three::<FMA>(&mut self.half[own.example * width..][..width], across, &self.middle);
            }
        }
        for a in 0..n {
            let (row, to) = (&self.half[a * width..], &mut self.hessian[a * width..][..a / 4 + 1]);
            if self.bent[a] {
                add::<FMA>(to, 1.0, row);
            }
            for b in (0..=a).filter(|&b| self.bent[b]) {
                to[b / 4][b % 4] += get(&self.half[b * width..], a);
            }
        }
    }

    /// `(k Σ |Δ|)²`.
    #[inline(always)]
    fn add_last<const FMA: bool>(&mut self, energy: &Energy<'_>, k: f64, rounding: f64) -> f64 {
        let Some(last) = energy.last else { return 0.0 };
        let (unit, width) = (energy.space.unit, self.width);
        let missed = |h: usize| (self.places.grip[h] - last[h]) / unit;
        let total: f64 = energy.wanted.iter().map(|&h| rounded(missed(h), rounding)).sum();
        let mut slope = std::mem::take(&mut self.slope);
        slope.fill(0.0);
        let factor = 2.0 * k * k * total;
        for (at, &h) in energy.wanted.iter().enumerate() {
            let r = (self.places.grip[h] - last[h]) / unit;
            let length = rounded(r, rounding);
            let along = r / length;
            let terms =
                Length { gradient: along / unit, scale: factor / (length * unit * unit), along, tau: 1.0 };
            terms.add::<FMA>(
                self.n,
                &self.grip[3 * at * width..][..3 * width],
                &mut slope,
                &mut self.hessian,
            );
            self.pull[at] += factor / unit * along;
        }
        for (e, lane) in self.rows.iter_mut().take(width).enumerate() {
            *lane = [0, 1, 2, 3].map(|i| slope.get(4 * e + i).copied().unwrap_or(0.0));
        }
        for a in 0..self.n {
            self.gradient[a] += factor * slope[a];
            add::<FMA>(&mut self.hessian[a * width..][..a / 4 + 1], 2.0 * k * k * slope[a], &self.rows);
        }
        self.slope = slope;
        (k * total).powi(2)
    }

    #[inline(always)]
    fn add_sum(&mut self, k: f64, rounding: f64) -> f64 {
        let over = self.sum - 1.0;
        let length = (over * over + rounding * rounding).sqrt();
        self.gradient.iter_mut().for_each(|g| *g += k * over / length);
        // More than the curvature, so that a step ends at the corner rather than beyond.
        self.hessian.iter_mut().flatten().for_each(|h| *h += k / length);
        k * length
    }

    fn add_roots(&mut self, weights: &[f64], k: f64) -> f64 {
        let sum: f64 = weights.iter().sum();
        let roots: f64 = weights.iter().map(|w| w.max(0.0).sqrt()).sum();
        if sum <= MIN_ROOT_WEIGHT {
            return if sum > 0.0 { k * roots / sum } else { 0.0 };
        }
        for (g, w) in self.gradient.iter_mut().zip(weights).filter(|(_, w)| **w > 0.0) {
            *g += k * (0.5 / w.max(MIN_ROOT_WEIGHT).sqrt() / sum - roots / (sum * sum));
        }
        k * roots / sum
    }

    /// `Σ 1 − exp(−d²/ρ²)`.
    #[inline(always)]
    fn add_examples<const FMA: bool>(&mut self, energy: &Energy<'_>, k: f64) -> f64 {
        let (space, width) = (energy.space, self.width);
        let scale =
            2.0 * k / (GAUSSIAN_WIDTH * GAUSSIAN_WIDTH * space.n_handles() as f64 * space.unit * space.unit);
        let mut bells = std::mem::take(&mut self.bells);
        (0..self.n).for_each(|e| bells[e] = bell(space.unlikeness(e, &self.places.grip)));
        let near = || bells.iter().enumerate().filter(|(_, bell)| **bell > MIN_GAUSSIAN);
        let total: f64 = near().map(|(_, bell)| bell).sum();
        for (at, &h) in energy.wanted.iter().enumerate() {
            let away = |(e, bell): (usize, &f64)| *bell * (self.places.grip[h] - space.examples[e].grips[h]);
            let pull = scale * near().map(away).sum::<DVec3>();
            let terms = Length { gradient: pull, scale: scale * total, along: DVec3::ZERO, tau: 0.0 };
            terms.add::<FMA>(
                self.n,
                &self.grip[3 * at * width..][..3 * width],
                &mut self.gradient,
                &mut self.hessian,
            );
            self.pull[at] += pull;
        }
        let value = k * bells.iter().map(|b| 1.0 - b).sum::<f64>();
        self.bells = bells;
        value
    }

    /// Slope and bend in a direction: `g·d` and `d·H d`.
    pub fn along(&self, step: &[f64]) -> [f64; 2] {
        let slope = dot(&self.gradient, step);
        let mut bend = 0.0;
        for a in (0..self.n).filter(|&a| step[a] != 0.0) {
            let below: f64 = (0..a).map(|b| self.curvature(a, b) * step[b]).sum();
            bend += step[a] * (2.0 * below + self.curvature(a, a) * step[a]);
        }
        [slope, bend]
    }
}

struct Evaluation<'m, 'e, 'a> {
    model: &'m mut Model,
    energy: &'e mut Energy<'a>,
    weights: &'m [f64],
    rounding: f64,
    from: &'m Model,
}

impl Kernel for Evaluation<'_, '_, '_> {
    type Output = f64;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> f64 {
        self.model.evaluate::<FMA>(self.energy, self.weights, self.rounding, self.from)
    }
}

/// `arm pullᵀ − (arm · pull) I`.
#[inline(always)]
fn moment(arm: DVec3, pull: DVec3) -> DMat3 {
    let along = DMat3::from_diagonal(DVec3::splat(arm.dot(pull)));
    DMat3::from_cols(arm * pull.x, arm * pull.y, arm * pull.z) - along
}

/// `√(r² + ε²)`.
#[inline(always)]
fn rounded(r: DVec3, rounding: f64) -> f64 {
    (r.length_squared() + rounding * rounding).sqrt()
}

#[cfg(test)]
mod tests;
