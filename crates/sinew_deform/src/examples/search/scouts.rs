//! Poses all over the pose space, evaluated once for all searches: comparing them costs no more than a few evaluations
//! of the energy, and the best of them are in or beside the deepest minima.

use super::super::{
    blend::{Blend, Places},
    energy::{Energy, bell},
    objective::{MIN_USED_WEIGHT, Term},
    space::{PoseSpace, Scouts},
};
use super::everywhere::Random;
use glam::Vec3;

/// Number of scouts.
const N_SCOUTS: usize = 1024;
/// An example that moves a handle by less than this share of a unit does not matter to it.
const MIN_EFFECT: f64 = 0.05;
/// Number of the best scouts that are evaluated exactly.
const N_EVALUATED: usize = 24;
/// Poses per limb that are explored.
const MAX_ALTERNATIVES: usize = 6;
/// Scouts whose weights differ by less than this are near the same minimum.
const MIN_WEIGHT_DISTANCE: f64 = 0.3;

/// Examples that move a handle, by itself or by what carries it.
fn movers(space: &PoseSpace, handle: usize) -> Vec<usize> {
    let moves =
        |e: &usize| space.examples[*e].grips[handle].distance(space.grip[handle]) > MIN_EFFECT * space.unit;
    (0..space.n_examples()).filter(moves).collect()
}

impl Scouts {
    /// Rest, every example alone, mixtures of a few that move the same handle, and mixtures of many.
    pub fn send(space: &PoseSpace) -> Self {
        let n = space.n_examples();
        let groups: Vec<Vec<usize>> =
            (0..space.n_handles()).map(|h| movers(space, h)).filter(|group| !group.is_empty()).collect();
        let mut random = Random::new(1);
        let mut places = Places::new(space.n_handles());
        let mut scouts = Self { grips: vec![Vec::new(); 3 * space.n_handles()], ..Self::default() };
        for at in 0..N_SCOUTS.max(n + 1) {
            let mut weights = vec![0.0; n];
            match at {
                0 => {}
                _ if at <= n => weights[at - 1] = 1.0,
                _ if groups.is_empty() => {}
                _ => mix(&groups[random.below(groups.len())], at, &mut random, &mut weights),
            }
            space.place_free(&weights, &[], &space.tree.order, &mut places);
            scouts.report(space, &weights, &places);
        }
        scouts
    }

    fn report(&mut self, space: &PoseSpace, weights: &[f64], places: &Places) {
        let sum: f64 = weights.iter().sum();
        let roots: f64 = weights.iter().map(|w| w.sqrt()).sum();
        let unlike = |e: usize| 1.0 - bell(space.unlikeness(e, &places.grip));
        self.weights.extend(weights);
        self.sum.push(sum as f32);
        self.roots.push(if sum > 0.0 { (roots / sum) as f32 } else { 0.0 });
        self.used.push(weights.iter().filter(|w| **w > MIN_USED_WEIGHT).count() as f32);
        self.unlike.push((0..weights.len()).map(unlike).sum::<f64>() as f32);
        for (h, grip) in places.grip.iter().enumerate() {
            (0..3).for_each(|axis| self.grips[3 * h + axis].push(grip[axis] as f32));
        }
    }

    fn len(&self) -> usize {
        self.sum.len()
    }

    fn of(&self, at: usize, n: usize) -> &[f64] {
        &self.weights[at * n..(at + 1) * n]
    }

    fn grip(&self, handle: usize, at: usize) -> Vec3 {
        Vec3::from_array([0, 1, 2].map(|axis| self.grips[3 * handle + axis][at]))
    }

    /// Add the terms that are not distances.
    fn add_others(&self, energy: &Energy<'_>, values: &mut [f32]) {
        for &(term, k) in energy.objective.terms() {
            let k = k as f32;
            match term {
                Term::ExamplesUsed { free } => {
                    add(values, &self.used, |used| k * (used - free as f32).max(0.0).powi(2));
                }
                Term::SumOfWeights => add(values, &self.sum, |sum| k * sum),
                Term::OneMinusSum => add(values, &self.sum, |sum| k * (1.0 - sum).abs()),
                Term::NumberOfWeights => add(values, &self.roots, |roots| k * roots),
                Term::DifferenceFromExamples => add(values, &self.unlike, |unlike| k * unlike),
                Term::DistanceToTarget | Term::DistanceToLast => {}
            }
        }
    }

    fn add_distances(&self, energy: &Energy<'_>, k: f32, values: &mut [f32]) {
        let n = self.len();
        // How far the body of each scout is shifted: zero if nothing carries it.
        let mut shifts = vec![vec![0f32; if energy.anchors.is_empty() { 0 } else { n }]; 3];
        for &(at, share) in energy.anchors {
            let target = &energy.targets[at];
            for (axis, shift) in shifts.iter_mut().enumerate() {
                let (to, grips) = (target.position[axis] as f32, &self.grips[3 * target.handle + axis]);
                shift.iter_mut().zip(grips).for_each(|(s, g)| *s += share as f32 * (to - g));
            }
        }
        for target in energy.targets {
            let k = k * (target.strength() / energy.space.unit) as f32;
            let to = target.position.as_vec3();
            let rows = [0, 1, 2].map(|axis| &self.grips[3 * target.handle + axis][..n]);
            let [x, y, z] = rows;
            if energy.anchors.is_empty() {
                for (at, value) in values[..n].iter_mut().enumerate() {
                    let (dx, dy, dz) = (x[at] - to.x, y[at] - to.y, z[at] - to.z);
                    *value += k * (dx * dx + dy * dy + dz * dz).sqrt();
                }
            } else {
                for (at, value) in values.iter_mut().enumerate() {
                    let shift = Vec3::new(shifts[0][at], shifts[1][at], shifts[2][at]);
                    *value += k * (self.grip(target.handle, at) + shift).distance(to);
                }
            }
        }
    }

    /// Distance of a scout from the last pose: too expensive to be computed for all.
    fn away_from_last(&self, energy: &Energy<'_>, at: usize) -> f32 {
        let Some(last) = energy.last else { return 0.0 };
        let moved: f32 = last.iter().enumerate().map(|(h, p)| p.as_vec3().distance(self.grip(h, at))).sum();
        (energy.objective.factor(Term::DistanceToLast) as f32 * moved / energy.space.unit as f32).powi(2)
    }

    /// Where to start from.
    pub fn best(&self, energy: &mut Energy<'_>, limits: &[[f64; 2]], start: &[f64], count: usize) -> Starts {
        let n = limits.len();
        let within = |weights: &[f64]| -> Vec<f64> {
            weights.iter().zip(limits).map(|(w, [low, high])| w.clamp(*low, *high)).collect()
        };
        let mut starts = Starts { whole: vec![start.to_vec()], limbs: Vec::new() };
        if energy.blend != Blend::Free {
            // The scouts were not blended in this order.
            let alone = |e: usize| within(&(0..n).map(|o| f64::from(u8::from(o == e))).collect::<Vec<_>>());
            let tried = (0..n).map(|e| (energy.of(&alone(e)), e)).min_by(|a, b| a.0.total_cmp(&b.0));
            starts.whole.extend(tried.map(|(_, e)| alone(e)));
            return starts;
        }
        let mut values = vec![0f32; self.len()];
        self.add_distances(energy, energy.objective.factor(Term::DistanceToTarget) as f32, &mut values);
        let nearest = least(&values, 1);
        self.add_others(energy, &mut values);
        let mut near = least(&values, N_EVALUATED);
        if energy.objective.factor(Term::DistanceToLast) > 0.0 {
            near.iter().for_each(|&at| values[at] += self.away_from_last(energy, at));
            near.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
        }
        // The start is one of many, unless it is better than they are.
        let from_start = energy.of(start) as f32;
        let better = near.iter().filter(|&&at| values[at] < from_start).count();
        if better >= count {
            starts.whole.clear();
        }
        self.put_together(energy, limits, &mut starts);
        // The pose that comes nearest to the targets may do so far away from all others.
        for (at, most) in
            near.into_iter().map(|at| (at, count)).chain(nearest.into_iter().map(|at| (at, count + 1)))
        {
            let weights = within(self.of(at, n));
            let is_apart =
                |other: &Vec<f64>| (0..n).any(|e| (other[e] - weights[e]).abs() > MIN_WEIGHT_DISTANCE);
            if starts.whole.len() < most && starts.whole.iter().all(is_apart) {
                starts.whole.push(weights);
            }
        }
        starts
    }

    /// If no example moves two targets, the best scouts of each target are put together, and others are kept as
    /// alternatives.
    fn put_together(&self, energy: &Energy<'_>, limits: &[[f64; 2]], starts: &mut Starts) {
        let n = limits.len();
        if energy.targets.len() < 2 || !energy.anchors.is_empty() {
            return;
        }
        let groups: Vec<Vec<usize>> = energy.targets.iter().map(|t| movers(energy.space, t.handle)).collect();
        let are_apart = (0..n).all(|e| groups.iter().filter(|group| group.contains(&e)).count() < 2);
        let n_scouts = self.len();
        let mut together = vec![0f64; n];
        let mut values = vec![0f32; n_scouts];
        for (target, group) in energy.targets.iter().zip(&groups) {
            let to = target.position.as_vec3();
            let [x, y, z] = [0, 1, 2].map(|axis| &self.grips[3 * target.handle + axis][..n_scouts]);
            for (at, value) in values.iter_mut().enumerate() {
                let (dx, dy, dz) = (x[at] - to.x, y[at] - to.y, z[at] - to.z);
                *value = dx * dx + dy * dy + dz * dz;
            }
            let mut kept: Vec<Vec<(usize, f64)>> = Vec::new();
            for at in least(&values, N_EVALUATED) {
                let of = self.of(at, n);
                let part: Vec<(usize, f64)> =
                    group.iter().map(|&e| (e, of[e].clamp(limits[e][0], limits[e][1]))).collect();
                let is_apart = |other: &Vec<(usize, f64)>| {
                    part.iter().zip(other).any(|(a, b)| (a.1 - b.1).abs() > MIN_WEIGHT_DISTANCE)
                };
                if kept.len() < MAX_ALTERNATIVES && kept.iter().all(is_apart) {
                    kept.push(part);
                }
            }
            let mut kept = kept.into_iter();
            kept.next().into_iter().flatten().for_each(|(e, w)| together[e] = together[e].max(w));
            if are_apart {
                starts.limbs.extend(kept);
            }
        }
        starts.whole.push(together);
    }
}

/// Where to start from.
pub struct Starts {
    /// Weights: the start if it is good, the best scouts of each target put together, the best scouts, no two of the
    /// same minimum, and the one nearest to the targets.
    pub whole: Vec<Vec<f64>>,
    /// Other weights of the examples of one target.
    pub limbs: Vec<Vec<(usize, f64)>>,
}

/// Weights of a scout: a few examples of a group, all of it, or many of all examples, some of them whole.
fn mix(group: &[usize], at: usize, random: &mut Random, weights: &mut [f64]) {
    match at % 4 {
        0 => group.iter().for_each(|&e| weights[e] = random.unit()),
        1 => weights.iter_mut().for_each(|w| *w = (2.0 * random.unit() - 0.5).clamp(0.0, 1.0)),
        _ => {
            for _ in 0..1 + (at / 4) % 4 {
                weights[group[random.below(group.len())]] = 0.15 + 0.85 * random.unit();
            }
        }
    }
}

fn add(values: &mut [f32], from: &[f32], term: impl Fn(f32) -> f32) {
    values.iter_mut().zip(from).for_each(|(value, x)| *value += term(*x));
}

/// Places of the least values, the least first; of equal ones the first.
fn least(values: &[f32], count: usize) -> Vec<usize> {
    /// Values per block.
    const BLOCK_VALUES: usize = 16;
    // At most as many blocks have a minimum below a bound as there are values below it.
    let mut lows: Vec<f32> = values
        .chunks(BLOCK_VALUES)
        .map(|block| block.iter().copied().fold(f32::INFINITY, f32::min))
        .collect();
    let bound = if lows.len() > count {
        let (_, bound, _) = lows.select_nth_unstable_by(count - 1, f32::total_cmp);
        *bound
    } else {
        f32::INFINITY
    };
    let mut found: Vec<usize> = Vec::with_capacity(4 * count);
    found.extend((0..values.len()).filter(|&at| values[at] <= bound));
    found.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    found.truncate(count);
    found
}
