//! Poses all over the pose space, tried once for all searches: looking through them costs less than a few evaluations
//! of the energy, and the best of them lies in the best valley or beside it.

use super::super::{
    blend::{Blend, Places},
    energy::{Energy, Target, bell, excess},
    objective::Term,
    space::PoseSpace,
};
use super::everywhere::Random;
use glam::DVec3;

/// How many are sent out.
const SCOUTS: usize = 512;
/// An example that moves a handle by less than this share of a unit does not matter to it.
const MATTERS: f64 = 0.05;

/// A pose that was tried.
#[derive(Debug, Clone)]
pub struct Scout {
    weights: Vec<f64>,
    sum: f64,
    roots: f64,
    /// Unlikeness to the examples, eq. 7.8 without its constant.
    unlike: f64,
    grips: Vec<DVec3>,
}

/// Examples that move a handle.
fn movers(space: &PoseSpace, handle: usize) -> Vec<usize> {
    let moves =
        |e: &usize| space.examples[*e].grips[handle].distance(space.grip[handle]) > MATTERS * space.unit;
    (0..space.n_examples()).filter(moves).collect()
}

/// Rest, every example alone, and mixtures of a few that move the same handle.
pub fn send(space: &PoseSpace) -> Vec<Scout> {
    let n = space.n_examples();
    let groups: Vec<Vec<usize>> =
        (0..space.n_handles()).map(|h| movers(space, h)).filter(|group| !group.is_empty()).collect();
    let mut random = Random::new(1);
    let mut places = Places::new(space.n_handles());
    let mut scouts = Vec::with_capacity(SCOUTS);
    for at in 0..SCOUTS.max(n + 1) {
        let mut weights = vec![0.0; n];
        match at {
            0 => {}
            _ if at <= n => weights[at - 1] = 1.0,
            _ if groups.is_empty() => {}
            _ => {
                let group = &groups[random.below(groups.len())];
                for _ in 0..1 + at % 4 {
                    weights[group[random.below(group.len())]] = 0.15 + 0.85 * random.unit();
                }
            }
        }
        space.place_free(&weights, &[], &space.tree.order, &mut places);
        let distance = |e: usize| {
            let there = &space.examples[e].grips;
            let sum: f64 = there.iter().zip(&places.grip).map(|(a, b)| a.distance_squared(*b)).sum();
            sum / (there.len() as f64 * space.unit * space.unit)
        };
        scouts.push(Scout {
            sum: weights.iter().sum(),
            roots: weights.iter().map(|w| w.sqrt()).sum(),
            unlike: (0..n).map(|e| 1.0 - bell(distance(e))).sum(),
            grips: places.grip.clone(),
            weights,
        });
    }
    scouts
}

/// Where to set out from: the given start, the best scout, and the best scouts of each target put together.
pub fn best(energy: &mut Energy<'_>, limits: &[[f64; 2]], start: &[f64]) -> Vec<Vec<f64>> {
    let within = |weights: &[f64]| -> Vec<f64> {
        weights.iter().zip(limits).map(|(w, [low, high])| w.clamp(*low, *high)).collect()
    };
    let (space, n) = (energy.space, limits.len());
    let mut starts = vec![start.to_vec()];
    let add = |weights: Vec<f64>, starts: &mut Vec<Vec<f64>>| {
        let apart = |other: &Vec<f64>| (0..n).any(|e| (other[e] - weights[e]).abs() > 1e-3);
        if starts.iter().all(apart) {
            starts.push(weights);
        }
    };
    if energy.blend == Blend::Free {
        let least = |value: &dyn Fn(&Scout) -> f64| {
            space.scouts.iter().map(|scout| (value(scout), scout)).min_by(|a, b| a.0.total_cmp(&b.0))
        };
        if let Some((_, scout)) = least(&|scout| value(energy, scout)) {
            add(within(&scout.weights), &mut starts);
        }
        if energy.targets.len() > 1 && energy.anchors.is_empty() {
            let mut together = vec![0f64; n];
            for target in energy.targets {
                let missed = |scout: &Scout| target.position.distance_squared(scout.grips[target.handle]);
                let Some((_, scout)) = least(&missed) else { continue };
                movers(space, target.handle)
                    .into_iter()
                    .for_each(|e| together[e] = together[e].max(scout.weights[e]));
            }
            add(within(&together), &mut starts);
        }
    } else {
        // What was tried beforehand was not loaded in this order.
        let alone = |e: usize| within(&(0..n).map(|o| f64::from(u8::from(o == e))).collect::<Vec<_>>());
        let tried = (0..n).map(|e| (energy.of(&alone(e)), e)).min_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((_, e)) = tried {
            add(alone(e), &mut starts);
        }
    }
    starts
}

fn value(energy: &Energy<'_>, scout: &Scout) -> f64 {
    let unit = energy.space.unit;
    let term = |&(term, k): &(Term, f64)| match term {
        Term::DistanceToTarget => {
            let shift = energy.shift(&scout.grips);
            let distance = |t: &Target| t.strength() * t.position.distance(scout.grips[t.handle] + shift);
            k * energy.targets.iter().map(distance).sum::<f64>() / unit
        }
        Term::ExamplesUsed { free } => k * excess(&scout.weights, free).powi(2),
        Term::DistanceToLast => {
            let Some(last) = energy.last else { return 0.0 };
            let moved: f64 = last.iter().zip(&scout.grips).map(|(a, b)| a.distance(*b)).sum();
            (k * moved / unit).powi(2)
        }
        Term::SumOfWeights => k * scout.sum,
        Term::OneMinusSum => k * (1.0 - scout.sum).abs(),
        Term::NumberOfWeights if scout.sum > 0.0 => k * scout.roots / scout.sum,
        Term::NumberOfWeights => 0.0,
        Term::DifferenceFromExamples => k * scout.unlike,
    };
    energy.objective.terms().iter().map(term).sum()
}
