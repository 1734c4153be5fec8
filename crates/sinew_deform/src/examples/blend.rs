//! Blends of example poses.
//!
//! # Source
//! Hansen (2006), §7.2, algorithms 2 (`loadExample`) and 3 (`blendExamples`): each example is replayed on top of the
//! previous one, with its angles and translations scaled by its weight. Sinew's default adds up screws instead, see
//! `space.rs`.

use super::{
    screw::Screw,
    space::{Act, PoseSpace, Step},
};
use crate::{HandleMotion, HandlePose, Twist, pose::nearest_turn};
use glam::{DMat3, DQuat, DVec3};

/// How examples are combined.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Blend {
    /// All at once; the order does not matter.
    #[default]
    Free,
    /// One after the other in this order, as algorithm 3 does.
    Sequential(Vec<usize>),
}

/// Positions of handles under a blend; reused between evaluations.
#[derive(Debug, Clone, Default)]
pub(super) struct Places {
    pub rotation: Vec<DQuat>,
    pub pivot: Vec<DVec3>,
    pub grip: Vec<DVec3>,
    motions: Vec<HandleMotion>,
}

/// Derivatives of places.
#[derive(Debug, Clone, Default)]
pub(super) struct Slopes {
    /// Of grip `h` by weight `e`, at `h n + e`.
    pub grip: Vec<DVec3>,
    pivot: Vec<DVec3>,
    turn: Vec<DVec3>,
    /// Per handle, how its own screw turns it (`R_p V`) and shifts its pivot by turning (`R_p ∂(V υ)/∂ω`).
    pub by_screw: Vec<[DMat3; 2]>,
}

impl Places {
    pub fn new(n_handles: usize) -> Self {
        Self {
            rotation: vec![DQuat::IDENTITY; n_handles],
            pivot: vec![DVec3::ZERO; n_handles],
            grip: vec![DVec3::ZERO; n_handles],
            motions: Vec::new(),
        }
    }
}

impl PoseSpace {
    /// Positions of the requested handles under a blend, parents before children.
    pub(super) fn place(&self, blend: &Blend, weights: &[f64], wanted: &[usize], places: &mut Places) {
        match blend {
            Blend::Free => self.place_free(weights, &[], wanted, places),
            Blend::Sequential(order) => {
                let mut motions = std::mem::take(&mut places.motions);
                self.replay(weights, order, &mut motions);
                for &h in wanted {
                    let motion = &motions[h];
                    places.rotation[h] = motion.rotation;
                    places.pivot[h] = motion.rotation * self.pivot[h] + motion.translation;
                    places.grip[h] = motion.rotation * self.grip[h] + motion.translation;
                }
                places.motions = motions;
            }
        }
    }

    /// The same for summed screws, with an additional screw per handle unless `residual` is empty.
    pub(super) fn place_free(
        &self,
        weights: &[f64],
        residual: &[Screw],
        wanted: &[usize],
        places: &mut Places,
    ) {
        for &h in wanted {
            let (rotation, shift) = self.sum(weights, residual, h).motion();
            self.put(h, rotation, shift, places);
        }
    }

    /// Places with derivatives by weight and by screw.
    pub(super) fn place_with_slopes(
        &self,
        weights: &[f64],
        residual: &[Screw],
        wanted: &[usize],
        places: &mut Places,
        slopes: &mut Slopes,
    ) {
        let n = self.n_examples();
        slopes.resize(self.n_handles(), n);
        for &h in wanted {
            let (rotation, shift, v, by_turn) = self.sum(weights, residual, h).motion_with_derivatives();
            self.put(h, rotation, shift, places);
            let parent = self.tree.parent[h];
            let carrier = parent.map_or(DQuat::IDENTITY, |p| places.rotation[p]);
            let carrier = DMat3::from_quat(carrier);
            let [v, by_turn] = [carrier * v, carrier * by_turn];
            slopes.by_screw[h] = [v, by_turn];
            let lever = places.pivot[h] - parent.map_or(DVec3::ZERO, |p| places.pivot[p]);
            let arm = places.grip[h] - places.pivot[h];
            for e in 0..n {
                let screw = &self.screws[h * n + e];
                let mut turn = v * screw.turn;
                let mut pivot = v * screw.speed + by_turn * screw.turn + carrier * screw.shift;
                if let Some(p) = parent {
                    let above = slopes.turn[p * n + e];
                    turn += above;
                    pivot += slopes.pivot[p * n + e] + above.cross(lever);
                }
                slopes.turn[h * n + e] = turn;
                slopes.pivot[h * n + e] = pivot;
                slopes.grip[h * n + e] = pivot + turn.cross(arm);
            }
        }
    }

    pub(super) fn sum(&self, weights: &[f64], residual: &[Screw], h: usize) -> Screw {
        let n = self.n_examples();
        let mut sum = residual.get(h).copied().unwrap_or_default();
        for (weight, screw) in weights.iter().zip(&self.screws[h * n..]).filter(|(weight, _)| **weight != 0.0)
        {
            sum.add(*weight, screw);
        }
        sum
    }

    pub(super) fn put(&self, h: usize, rotation: DQuat, shift: DVec3, places: &mut Places) {
        let (carrier, base) = match self.tree.parent[h] {
            Some(p) => (places.rotation[p], places.pivot[p]),
            None => (DQuat::IDENTITY, DVec3::ZERO),
        };
        places.rotation[h] = carrier * rotation;
        places.pivot[h] = base + carrier * (self.offset[h] + shift);
        places.grip[h] = places.pivot[h] + places.rotation[h] * (self.grip[h] - self.pivot[h]);
    }

    /// The pose of a blend, with an additional screw per handle unless `residual` is empty.
    pub(super) fn pose_with(&self, blend: &Blend, weights: &[f64], residual: &[Screw]) -> HandlePose {
        let motions = match blend {
            Blend::Sequential(order) => {
                let mut motions = vec![HandleMotion::default(); self.n_handles()];
                self.steps(weights, order, |weight, step| {
                    apply(&self.pivot, weight, step, &mut motions, |motion, axis, angle, center| {
                        motion.rotate(axis, angle, center);
                    });
                });
                motions
            }
            Blend::Free if residual.is_empty() => return self.blend_each(|_| weights),
            Blend::Free => {
                let mut places = Places::new(self.n_handles());
                self.place_free(weights, residual, &self.tree.order, &mut places);
                (0..self.n_handles()).map(|h| self.motion(h, weights, &places)).collect()
            }
        };
        HandlePose::from_checked(motions)
    }

    /// The pose of a free blend in which every handle has its own weights, for its motion relative to the handle that
    /// carries it. Where all have the weights of one example, it is that example.
    pub fn blend_each<'w>(&self, weights_of: impl Fn(usize) -> &'w [f64]) -> HandlePose {
        let mut places = Places::new(self.n_handles());
        for &h in &self.tree.order {
            let (rotation, shift) = self.sum(weights_of(h), &[], h).motion();
            self.put(h, rotation, shift, &mut places);
        }
        let motions = (0..self.n_handles()).map(|h| self.motion(h, weights_of(h), &places));
        HandlePose::from_checked(motions.collect())
    }

    /// Squared distance of a handle between two examples, relative to the handle that carries it: angle, and shift of
    /// its pivot in extents of the body.
    pub fn distance(&self, handle: usize, i: usize, k: usize) -> f64 {
        let at = |e: usize| &self.screws[handle * self.n_examples() + e];
        let (_, shift_i) = at(i).motion();
        let (_, shift_k) = at(k).motion();
        let shift = (shift_i - shift_k) / self.extent();
        (at(i).turn - at(k).turn).length_squared() + shift.length_squared()
    }

    fn motion(&self, h: usize, weights: &[f64], places: &Places) -> HandleMotion {
        let rotation = places.rotation[h].normalize();
        let poses = || self.examples.iter().map(|e| &e.pose.motions()[h]).zip(weights);
        let turn: DVec3 = poses().map(|(motion, &w)| w * motion.turn).sum();
        // Twists of different examples are sorted so that the result does not depend on the order of the examples;
        // those of one example keep theirs.
        let mut twists: Vec<(usize, Twist)> = Vec::new();
        for (motion, &w) in poses().filter(|(_, w)| **w != 0.0) {
            for (at, twist) in motion.twists.iter().enumerate() {
                twists.push((at, Twist { radians: w * twist.radians, ..*twist }));
            }
        }
        let key = |(at, t): &(usize, Twist)| (*at, t.axis.to_array(), t.origin.to_array(), t.radians);
        twists.sort_by(|a, b| key(a).partial_cmp(&key(b)).unwrap_or(std::cmp::Ordering::Equal));
        HandleMotion {
            rotation,
            translation: places.pivot[h] - rotation * self.pivot[h],
            turn: nearest_turn(rotation, turn),
            twists: twists.into_iter().map(|(_, twist)| twist).collect(),
        }
    }

    /// Algorithm 3 for the centres alone: whole turns are not counted.
    fn replay(&self, weights: &[f64], order: &[usize], motions: &mut Vec<HandleMotion>) {
        motions.clear();
        motions.resize(self.n_handles(), HandleMotion::default());
        self.steps(weights, order, |weight, step| {
            apply(&self.pivot, weight, step, motions, |motion, axis, angle, center| {
                motion.carry(DQuat::from_axis_angle(axis, angle), center);
            });
        });
    }

    fn steps(&self, weights: &[f64], order: &[usize], mut each: impl FnMut(f64, &Step)) {
        for &e in order {
            let weight = weights[e];
            if weight != 0.0 {
                self.examples[e].steps.iter().for_each(|step| each(weight, step));
            }
        }
    }
}

impl Slopes {
    fn resize(&mut self, n_handles: usize, n_examples: usize) {
        for list in [&mut self.grip, &mut self.pivot, &mut self.turn] {
            list.resize(n_handles * n_examples, DVec3::ZERO);
        }
        self.by_screw.resize(n_handles, [DMat3::ZERO; 2]);
    }
}

/// Algorithm 2 for one move: its angle or shift scaled by the weight, its axis and centre where the moves before have
/// carried them.
fn apply(
    pivots: &[DVec3],
    weight: f64,
    step: &Step,
    motions: &mut [HandleMotion],
    rotate: impl Fn(&mut HandleMotion, DVec3, f64, DVec3),
) {
    for (h, twist) in &step.twists {
        motions[*h].twists.push(Twist { radians: weight * twist.radians, ..*twist });
    }
    match step.act {
        Act::Turn { main, axis, radians } => {
            let center = motions[main].position(pivots[main]);
            let axis = (motions[main].rotation * axis).normalize();
            step.handles.iter().for_each(|&h| rotate(&mut motions[h], axis, weight * radians, center));
        }
        Act::Shift { vector } => {
            step.handles.iter().for_each(|&h| motions[h].translation += weight * vector);
        }
    }
}
