//! Skin weights of a body plan, as a function of position alone, so that every resolution moves in the same way.
//!
//! # Source
//! Sinew's own. Each bone takes a fraction of the weight that reaches its parent: a smooth step along the bone across
//! the joint, gated by the distance to the flesh of the bone and all its descendants.
//! # Symbols
//! `D(b)` distance to the flesh of `b` and its descendants; `share(b) = share(parent) · step · gate`;
//! `w(b) = share(b) − Σ share(children)`
//! # Cost
//! One distance per primitive and vertex.
//! # Limits
//! At most four joints per vertex; a bone of one side never moves the other.

use super::field::mirror;
use super::plan::{Plan, Side};
use crate::{GeomError, Mesh, Rig, Skin, Warnings};
use glam::DVec3;
use rayon::prelude::*;

/// Joints per vertex.
const JOINTS_PER_VERTEX: usize = 4;
/// Half width of the blend across a joint, relative to the bone's radius.
const BLEND_HALF_WIDTH: f64 = 1.0;

/// Data of a bone for the weights.
struct Reach {
    bone: usize,
    /// Position of the parent in the list.
    parent: Option<usize>,
    head: DVec3,
    along: DVec3,
    radius: f64,
    /// Left bone on a central one: its share must vanish on the mirror plane.
    leaves_center: bool,
    grandchildren: Vec<usize>,
}

/// Weights of every vertex on the plan's rig.
pub(super) fn build_skin(plan: &Plan, rig: &Rig, mesh: &Mesh) -> Result<Skin, GeomError> {
    let half = half_body(plan);
    let slot_of: Vec<usize> = {
        let mut slots = vec![0; plan.bones.len()];
        half.iter().enumerate().for_each(|(i, reach)| slots[reach.bone] = i);
        slots
    };
    let weigh = |&p: &DVec3| vertex_weights(plan, &half, &slot_of, p);
    let rows: Vec<[(u16, f32); JOINTS_PER_VERTEX]> = mesh.positions().par_iter().map(weigh).collect();
    let indices = rows.iter().flatten().map(|entry| entry.0).collect();
    let weights = rows.iter().flatten().map(|entry| entry.1).collect();
    Skin::new(Skin::slots_at_rest(rig), JOINTS_PER_VERTEX, indices, weights, &mut Warnings::default())
}

/// Central and left bones, parents first.
fn half_body(plan: &Plan) -> Vec<Reach> {
    let bones: Vec<usize> = (0..plan.bones.len()).filter(|&b| plan.bones[b].side != Side::Right).collect();
    let slot = |bone: usize| bones.iter().position(|&b| b == bone);
    let mut half: Vec<Reach> = bones.iter().map(|&b| reach_of(plan, b, &slot)).collect();
    for i in 0..half.len() {
        if let Some(grand) = half[i].parent.and_then(|p| half[p].parent) {
            let mut at = Some(grand);
            while let Some(g) = at {
                half[g].grandchildren.push(i);
                at = half[g].parent;
            }
        }
    }
    half
}

fn reach_of(plan: &Plan, b: usize, slot: &impl Fn(usize) -> Option<usize>) -> Reach {
    let bone = &plan.bones[b];
    let own = (bone.tail - bone.head).normalize_or(DVec3::Y);
    // Where the bone goes on from its parent's end, the border between them halves the bend.
    let incoming = bone.parent.map(|p| &plan.bones[p]).filter(|p| p.tail.distance(bone.head) < 1e-6);
    let along = incoming.map_or(own, |p| ((p.tail - p.head).normalize_or(own) + own).normalize_or(own));
    let from_center = bone.parent.is_some_and(|p| plan.bones[p].side == Side::Center);
    Reach {
        bone: b,
        parent: bone.parent.and_then(slot),
        head: bone.head,
        along,
        radius: bone.radius,
        leaves_center: bone.side == Side::Left && from_center,
        grandchildren: Vec::new(),
    }
}

fn smooth_step(low: f64, high: f64, x: f64) -> f64 {
    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

fn vertex_weights(
    plan: &Plan,
    half: &[Reach],
    slot_of: &[usize],
    p: DVec3,
) -> [(u16, f32); JOINTS_PER_VERTEX] {
    let q = mirror(p);
    let n = half.len();
    let mut near = vec![1e9f64; n];
    for prim in plan.field.prims.iter().filter(|prim| !prim.carve) {
        let d = &mut near[slot_of[prim.joint]];
        *d = d.min(prim.shape.distance(q));
    }
    let home = (0..n).min_by(|&a, &b| near[a].total_cmp(&near[b])).unwrap_or(0);
    let mut flesh = near;
    for i in (0..n).rev() {
        if let Some(parent) = half[i].parent {
            flesh[parent] = flesh[parent].min(flesh[i]);
        }
    }
    let share = shares(half, &flesh, home, q, p.x.abs());
    let mut weight = share.clone();
    for i in 0..n {
        if let Some(parent) = half[i].parent {
            weight[parent] -= share[i];
        }
    }
    let other_side = |b: usize| if p.x < 0.0 && plan.bones[b].side == Side::Left { b + 1 } else { b };
    strongest(weight.iter().enumerate().map(|(i, &w)| (other_side(half[i].bone), w)))
}

/// Share of the vertex that moves with each bone or its descendants.
fn shares(half: &[Reach], flesh: &[f64], home: usize, q: DVec3, from_plane: f64) -> Vec<f64> {
    let mut shares: Vec<f64> =
        (0..half.len()).map(|i| requested(half, flesh, home, q, from_plane, i)).collect();
    let mut sums = vec![0.0; half.len()];
    for i in 0..half.len() {
        if let Some(parent) = half[i].parent {
            sums[parent] += shares[i];
        }
    }
    for i in 0..half.len() {
        shares[i] = half[i].parent.map_or(1.0, |parent| shares[parent] * shares[i] / sums[parent].max(1.0));
    }
    shares
}

/// Fraction of its parent's share that a bone requests.
fn requested(half: &[Reach], flesh: &[f64], home: usize, q: DVec3, from_plane: f64, i: usize) -> f64 {
    let bone = &half[i];
    let r = bone.radius;
    let gate = 1.0 - smooth_step(0.15 * r, 0.9 * r, flesh[i]);
    if gate == 0.0 {
        return 0.0;
    }
    let width = BLEND_HALF_WIDTH * r;
    // Far along the limb the border is behind, however the limb curls.
    let past = bone.grandchildren.contains(&home);
    let depth = (q - bone.head).dot(bone.along);
    let step = if past { 1.0 } else { smooth_step(-width, width, depth) };
    // Where two limbs separate, both yield to their parent; further out each is independent.
    let side = if bone.leaves_center && !past {
        smooth_step(0.0, 0.5 * r, from_plane).max(smooth_step(r, 2.2 * r, depth))
    } else {
        1.0
    };
    // Siblings share the border between them, and nothing further inside.
    let rivals =
        (0..half.len()).filter(|&j| j != i && half[j].parent == bone.parent && bone.parent.is_some());
    let rival = rivals.map(|j| flesh[j]).fold(f64::INFINITY, f64::min);
    let tie = 0.35 * r;
    let won = if rival.is_finite() { 1.0 - smooth_step(-tie, tie, flesh[i] - rival) } else { 1.0 };
    gate * step * side * won
}

/// The four largest weights, scaled to sum to one.
fn strongest(weights: impl Iterator<Item = (usize, f64)>) -> [(u16, f32); JOINTS_PER_VERTEX] {
    let mut all: Vec<(usize, f64)> = weights.filter(|&(_, w)| w > 1e-3).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    all.truncate(JOINTS_PER_VERTEX);
    let sum: f64 = all.iter().map(|&(_, w)| w).sum();
    let mut row = [(0, 0.0); JOINTS_PER_VERTEX];
    for (entry, (bone, w)) in row.iter_mut().zip(all) {
        *entry = (bone as u16, (w / sum) as f32);
    }
    row
}
