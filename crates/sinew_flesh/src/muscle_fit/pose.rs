//! The pose of a skeleton at which features of a character match those of another surface.
//!
//! # Source
//! Capell (2004), §6.5.1 (after Allen et al. 2002): the minimum of `1/N Σ |p_k − p̄_k|²` over joint angles and the
//! position of the root. Differs: `p` are skinned, not simulated, and the search is Levenberg–Marquardt, which needs a
//! tenth of the rounds of L-BFGS-B here; angles have a small cost, so that joints that no feature determines stay at
//! rest.
//! # Symbols
//! `ω` rotation of a joint in the world; `∂p/∂ω` of a vertex is `Σ w ω × (x − o)` over the slots below the joint at `o`
//! # Cost
//! Per round, one dense system with three unknowns per joint.
//! # Limits
//! Finds the pose nearest to the start.

use super::posed::{on_surface, used_vertices};
use crate::{FleshError, muscle::MuscleError};
use glam::{DAffine3, DQuat, DVec3};
use sinew_geom::{Character, Mesh, Pose, Rig, Skin, linalg::DenseCholesky};

/// A vertex of the character, and the vertex of the target it corresponds to.
pub type Feature = (u32, u32);

/// A pose, found.
#[derive(Debug, Clone)]
pub struct PoseFit {
    /// The pose.
    pub pose: Pose,
    /// Root of the mean square distance of features, in metres: at rest, and in the pose.
    pub distances: [f64; 2],
    /// Rounds it took.
    pub rounds: usize,
    /// Joints that no feature moves with; they stay as they are at rest.
    pub unmoved: Vec<String>,
}

/// Rounds at most.
const MAX_ROUNDS: usize = 200;
/// What a turn of one radian costs, in squared diagonals.
const TURN_COST: f64 = 1e-6;

/// Find the pose in which features of a skinned character lie where they are on the target.
///
/// # Errors
/// Features that are no vertices, that no face uses, or that are too few to fix a pose.
pub fn fit_pose(character: &Character, target: &Mesh, features: &[Feature]) -> Result<PoseFit, FleshError> {
    let (Some(rig), Some(skin)) = (&character.rig, &character.skin) else {
        return Err(MuscleError::NotHeld.into());
    };
    let (own, other) = (used_vertices(&character.mesh), used_vertices(target));
    let mut points = Vec::new();
    for (k, &(from, to)) in features.iter().enumerate() {
        let p = on_surface(&character.mesh, &own, (k, from as usize), "character")?;
        points.push((from as usize, p, on_surface(target, &other, (k, to as usize), "target")?));
    }
    check_spread(&points)?;
    let problem = Problem::new(rig, skin, &points, character.mesh.diagonal());
    let mut pose = rig.rest_pose();
    let (mut value, first) = (problem.value(&pose)?, problem.distance(&pose)?);
    let (mut damping, mut rounds) = (1e-3, 0);
    while rounds < MAX_ROUNDS && damping < 1e12 {
        rounds += 1;
        let next = problem.step(&pose, damping)?;
        let reached = problem.value(&next)?;
        if reached < value {
            let gained = value - reached;
            (pose, value) = (next, reached);
            damping = (damping * 0.3f64).max(1e-9);
            if gained < 1e-7 * value {
                break;
            }
        } else {
            damping *= 4.0;
        }
    }
    let distances = [first, problem.distance(&pose)?];
    let moved = |joint: usize| problem.unknown_of[joint].is_some();
    let bound = |joint: &usize| skin.slots.iter().any(|slot| slot.joint == *joint);
    let unmoved = (0..rig.n_joints()).filter(bound).filter(|&joint| !moved(joint));
    let unmoved = unmoved.map(|joint| rig.joints()[joint].name.clone()).collect();
    Ok(PoseFit { pose, distances, rounds, unmoved })
}

/// At least three features that span a plane.
fn check_spread(points: &[(usize, DVec3, DVec3)]) -> Result<(), MuscleError> {
    let too_few = |extra| MuscleError::TooFewFeatures { actual: points.len(), extra };
    if points.len() < 3 {
        return Err(too_few(""));
    }
    let far = |from: DVec3| {
        let distance = |p: &&(usize, DVec3, DVec3)| p.1.distance_squared(from);
        points.iter().max_by(|a, b| distance(a).total_cmp(&distance(b))).map_or(from, |p| p.1)
    };
    let a = points[0].1;
    let b = far(a);
    let along = (b - a).try_normalize().unwrap_or(DVec3::X);
    let off = points.iter().map(|(_, p, _)| (*p - a).reject_from(along).length()).fold(0.0, f64::max);
    if off <= 1e-3 * a.distance(b) { Err(too_few(" on one line")) } else { Ok(()) }
}

struct Problem<'a> {
    rig: &'a Rig,
    skin: &'a Skin,
    points: &'a [(usize, DVec3, DVec3)],
    /// First unknown of each joint that moves a feature.
    unknown_of: Vec<Option<usize>>,
    /// Unknowns of the shift of each root.
    shifts: Vec<(usize, usize)>,
    n: usize,
    turn_cost: f64,
}

impl<'a> Problem<'a> {
    fn new(rig: &'a Rig, skin: &'a Skin, points: &'a [(usize, DVec3, DVec3)], diagonal: f64) -> Self {
        let mut moves = vec![false; rig.n_joints()];
        for (vertex, ..) in points {
            for (slot, _) in skin.vertex(*vertex).filter(|(_, w)| *w > 0.05) {
                ancestors(rig, skin.slots[slot as usize].joint).for_each(|joint| moves[joint] = true);
            }
        }
        let (mut n, mut shifts) = (0, Vec::new());
        let mut unknown_of = vec![None; rig.n_joints()];
        for joint in (0..rig.n_joints()).filter(|&joint| moves[joint]) {
            unknown_of[joint] = Some(n);
            n += 3;
            if rig.joints()[joint].parent.is_none() {
                shifts.push((joint, n));
                n += 3;
            }
        }
        Self { rig, skin, points, unknown_of, shifts, n, turn_cost: TURN_COST * diagonal * diagonal }
    }

    fn world(&self, pose: &Pose) -> Result<(Vec<DAffine3>, Vec<DAffine3>), FleshError> {
        let mut world = Vec::new();
        self.rig.forward(pose, &mut world)?;
        let matrices = self.skin.matrices(&world);
        Ok((world, matrices))
    }

    fn skinned(&self, matrices: &[DAffine3], vertex: usize, p: DVec3) -> DVec3 {
        let one = |(slot, w): (u16, f32)| matrices[slot as usize].transform_point3(p) * f64::from(w);
        self.skin.vertex(vertex).map(one).sum()
    }

    fn squares(&self, pose: &Pose) -> Result<f64, FleshError> {
        let (_, matrices) = self.world(pose)?;
        let one = |(v, p, target): &(usize, DVec3, DVec3)| {
            self.skinned(&matrices, *v, *p).distance_squared(*target)
        };
        Ok(self.points.iter().map(one).sum::<f64>() / self.points.len() as f64)
    }

    fn distance(&self, pose: &Pose) -> Result<f64, FleshError> {
        Ok(self.squares(pose)?.sqrt())
    }

    /// How a joint is turned from rest, in its own frame.
    fn turn(&self, pose: &Pose, joint: usize) -> DVec3 {
        let turn = self.rig.joints()[joint].rest.rotation.inverse() * pose.locals[joint].rotation;
        let turn = if turn.w < 0.0 { -turn } else { turn };
        turn.to_scaled_axis()
    }

    fn is_root(&self, joint: usize) -> bool {
        self.rig.joints()[joint].parent.is_none()
    }

    fn value(&self, pose: &Pose) -> Result<f64, FleshError> {
        let moving = (0..self.rig.n_joints()).filter(|&j| self.unknown_of[j].is_some() && !self.is_root(j));
        let turns: f64 = moving.map(|joint| self.turn(pose, joint).length_squared()).sum();
        Ok(self.squares(pose)? + self.turn_cost * turns)
    }

    fn step(&self, pose: &Pose, damping: f64) -> Result<Pose, FleshError> {
        let n = self.n;
        let (world, matrices) = self.world(pose)?;
        let (mut square, mut right) = (vec![0.0; n * n], vec![0.0; n]);
        let share = 1.0 / self.points.len() as f64;
        for (vertex, p, target) in self.points {
            let columns = self.columns(&world, &matrices, *vertex, *p);
            let missed = *target - self.skinned(&matrices, *vertex, *p);
            for &(i, a) in &columns {
                right[i] += share * a.dot(missed);
                columns.iter().for_each(|&(j, b)| square[i * n + j] += share * a.dot(b));
            }
        }
        for (joint, at) in self.unknown_of.iter().enumerate() {
            let Some(at) = at.filter(|_| !self.is_root(joint)) else { continue };
            let (_, turned, _) = world[joint].to_scale_rotation_translation();
            let turn = turned * self.turn(pose, joint);
            for k in 0..3 {
                square[(at + k) * n + at + k] += self.turn_cost;
                right[at + k] -= self.turn_cost * turn[k];
            }
        }
        for i in 0..n {
            square[i * n + i] *= 1.0 + damping;
            square[i * n + i] += 1e-12 * self.turn_cost;
        }
        let mut x = right;
        DenseCholesky::new(n, square)?.solve(&mut x)?;
        Ok(self.moved(pose, &world, &x))
    }

    /// Derivatives of a skinned vertex by the unknowns that move it.
    fn columns(
        &self,
        world: &[DAffine3],
        matrices: &[DAffine3],
        vertex: usize,
        p: DVec3,
    ) -> Vec<(usize, DVec3)> {
        let mut sums: Vec<(usize, DVec3, f64)> = Vec::new();
        for (slot, w) in self.skin.vertex(vertex).filter(|(_, w)| *w > 0.0) {
            let x = matrices[slot as usize].transform_point3(p) * f64::from(w);
            for joint in ancestors(self.rig, self.skin.slots[slot as usize].joint) {
                match sums.iter_mut().find(|(j, ..)| *j == joint) {
                    Some((_, sum, weight)) => {
                        *sum += x;
                        *weight += f64::from(w);
                    }
                    None => sums.push((joint, x, f64::from(w))),
                }
            }
        }
        let mut out = Vec::new();
        for (joint, sum, weight) in sums {
            let Some(at) = self.unknown_of[joint] else { continue };
            let arm = sum - world[joint].translation * weight;
            out.extend((0..3).map(|k| (at + k, DVec3::AXES[k].cross(arm))));
            if let Some((_, at)) = self.shifts.iter().find(|(root, _)| *root == joint) {
                out.extend((0..3).map(|k| (at + k, DVec3::AXES[k] * weight)));
            }
        }
        out
    }

    /// The pose after small turns in the world.
    fn moved(&self, pose: &Pose, world: &[DAffine3], x: &[f64]) -> Pose {
        let mut next = pose.clone();
        for (joint, at) in self.unknown_of.iter().enumerate() {
            let Some(at) = *at else { continue };
            let turn = DVec3::new(x[at], x[at + 1], x[at + 2]).clamp_length_max(0.5);
            let above = self.rig.joints()[joint]
                .parent
                .map_or(DQuat::IDENTITY, |parent| world[parent].to_scale_rotation_translation().1);
            let local = above.inverse() * DQuat::from_scaled_axis(turn) * above;
            next.locals[joint].rotation = (local * pose.locals[joint].rotation).normalize();
        }
        for &(root, at) in &self.shifts {
            next.locals[root].translation += DVec3::new(x[at], x[at + 1], x[at + 2]);
        }
        next
    }
}

/// A joint and all above it.
fn ancestors(rig: &Rig, joint: usize) -> impl Iterator<Item = usize> + '_ {
    std::iter::successors(Some(joint), |&joint| rig.joints()[joint].parent)
}
