//! Automatic rigging: any mesh becomes a character with named joints and smooth weights.
//!
//! ```text
//! Mesh ─► solid ─► symmetry, tips, limb profiles ─► every template on every view ─► cheapest ─► joints, names ─► weights
//! ```
//!
//! Everything is measured in units of the bounding box's diagonal. Nothing is random; the result does not depend on the
//! number of threads.

mod accessories;
mod assemble;
mod error;
mod kd_tree;
mod limb;
mod loose_parts;
mod names;
mod parts;
mod posed;
mod shape;
mod skeleton;
mod solid;
mod symmetry;
mod templates;
#[cfg(test)]
mod tests;
mod tips;
mod vertex_weights;
mod view;
mod weights;

pub use error::RigError;
pub use names::NamePreset;

use glam::DVec3;
use rayon::prelude::*;
use shape::Shape;
use sinew_geom::{
    Mesh, Rig, Skin,
    body_map::{BodyClass, BodyMap, Part},
};
use skeleton::Skeleton;
use templates::Proposal;
use vertex_weights::Role;
use view::View;

/// How to rig.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RigParams {
    /// Use this template whatever the shape looks like. Default: the one that fits best.
    pub template: Option<BodyClass>,
}

/// A skeleton for a mesh, and how the mesh follows it.
#[derive(Debug, Clone)]
pub struct AutoRig {
    /// Joints, parents first; the first is the root.
    pub rig: Rig,
    /// At most four weights per vertex.
    pub skin: Skin,
    /// What the body was taken for.
    pub report: RigReport,
}

/// What a body was taken for, and how sure that is.
#[derive(Debug, Clone, PartialEq)]
pub struct RigReport {
    /// The plan of the body.
    pub class: BodyClass,
    /// 0 (a guess) to 1 (certain).
    pub confidence: f64,
    /// Unit vector from the feet to the head.
    pub up: DVec3,
    /// Unit vector the body faces.
    pub forward: DVec3,
    /// What each limb was taken for, one sentence each.
    pub notes: Vec<String>,
    /// The best reading of every class that was possible, cheapest first: the first is the one that was used.
    pub alternatives: Vec<Alternative>,
}

/// Below this confidence a result is a guess.
const MIN_CONFIDENCE: f64 = 0.5;

impl RigReport {
    /// Whether the confidence is so low that the user should look at the result.
    pub fn is_guess(&self) -> bool {
        self.confidence < MIN_CONFIDENCE
    }
}

/// A class a body could belong to.
#[derive(Debug, Clone, PartialEq)]
pub struct Alternative {
    /// The plan of the body.
    pub class: BodyClass,
    /// Sum of all penalties; below 0.5 is a good fit, above 1.3 none.
    pub cost: f64,
    /// What speaks against it, the gravest first, with its penalty.
    pub doubts: Vec<(&'static str, f64)>,
}

/// Rig a mesh. All its parts are one body.
///
/// # Errors
/// A mesh without surface or extent, or a template that does not fit at all.
pub fn build_rig(mesh: &Mesh, params: &RigParams) -> Result<AutoRig, RigError> {
    if mesh.n_faces() == 0 {
        return Err(RigError::NoSurface { n_faces: 0, n_vertices: mesh.n_vertices() });
    }
    let (unit, center, size) = normalise(mesh)?;
    let shape = Shape::analyse(&unit);
    let views = view::list_views(&shape);
    let (view, proposal, alternatives) = choose(&views, params.template)?;
    let roles = vec![Role::Moves; proposal.skeleton.joints.len()];
    let weights = weights::compute_weights(&unit, &proposal.skeleton, &roles);
    let (rig, skin) = assemble::assemble(&proposal.skeleton, view, &weights, center, size)?;
    let report = RigReport {
        class: proposal.class,
        confidence: confidence(&proposal, &alternatives),
        up: view.up,
        forward: view.forward,
        notes: proposal.notes.clone(),
        alternatives,
    };
    Ok(AutoRig { rig, skin, report })
}

/// Bind a mesh to a skeleton that is already there.
///
/// With `bound`, its present skin, the mesh is taken to be in the pose in which it was bound, and the joints that moved
/// something move something again. Without, it is in the rest pose; roots, controls and helpers move nothing.
///
/// # Errors
/// A mesh without surface or extent, or a skeleton without joints.
pub fn build_skin(mesh: &Mesh, rig: &Rig, bound: Option<&Skin>) -> Result<Skin, RigError> {
    if mesh.n_faces() == 0 {
        return Err(RigError::NoSurface { n_faces: 0, n_vertices: mesh.n_vertices() });
    }
    if rig.n_joints() == 0 {
        return Err(RigError::NoJoints);
    }
    let (unit, center, size) = normalise(mesh)?;
    let slots = bound.map_or_else(|| Skin::slots_at_rest(rig), |skin| skin.slots.clone());
    let slot_of: Vec<Option<usize>> =
        (0..rig.n_joints()).map(|k| slots.iter().position(|slot| slot.joint == k)).collect();
    let map = BodyMap::read(rig, &[]);
    let is_known = |part: Part| map.joints.iter().any(|joint| joint.part == part);
    let has_trunk = [Part::Hips, Part::Spine, Part::Chest].into_iter().any(is_known);
    let is_root = |k: usize| {
        let joint = &rig.joints()[k];
        let names = ["root", "armature", "skeleton"];
        let is_called = names.iter().any(|name| joint.name.to_lowercase().contains(name));
        rig.n_joints() > 1 && joint.parent.is_none() && (is_called || has_trunk)
    };
    let moved = bound.map(|skin| joints_that_move(skin, rig.n_joints()));
    let role = |k: usize| match map.joints[k].part {
        _ if slot_of[k].is_none() => Role::Still,
        _ if moved.as_ref().is_some_and(|moved| !moved[k]) => Role::Still,
        Part::Helper if moved.is_none() => Role::Still,
        Part::Root | Part::Unknown if is_root(k) && moved.is_none() => Role::Still,
        Part::Face if rig.joints()[k].name.to_lowercase().contains("eye") => Role::MovesPart,
        Part::Root | Part::Unknown => Role::MovesInside,
        _ => Role::Moves,
    };
    let roles: Vec<Role> = (0..rig.n_joints()).map(role).collect();
    let mut skeleton = Skeleton::default();
    for (k, (joint, world)) in rig.joints().iter().zip(rig.rest_world()).enumerate() {
        let place =
            slot_of[k].map_or(world.translation, |slot| slots[slot].inverse_bind.inverse().translation);
        skeleton.add(joint.name.clone(), (place - center) / size, joint.parent);
    }
    let mut weights = weights::compute_weights(&unit, &skeleton, &roles);
    for joint in weights.iter_mut().flat_map(|vertex| &mut vertex.joints) {
        *joint = slot_of[*joint as usize].unwrap_or(0) as u16;
    }
    assemble::bind(slots, &weights)
}

/// Which joints move a part of a surface.
fn joints_that_move(skin: &Skin, n_joints: usize) -> Vec<bool> {
    let mut moves = vec![false; n_joints];
    for v in 0..skin.n_vertices() {
        skin.vertex(v)
            .filter(|(_, w)| *w > 0.0)
            .for_each(|(s, _)| moves[skin.slots[s as usize].joint] = true);
    }
    moves
}

/// The mesh with its box centred at the origin and a diagonal of 1; where and how large it was.
fn normalise(mesh: &Mesh) -> Result<(Mesh, DVec3, f64), RigError> {
    let [low, high] = mesh.bounds();
    let (center, size) = (0.5 * (low + high), low.distance(high));
    if !(size > 0.0 && size.is_finite()) {
        return Err(RigError::NoExtent);
    }
    let unit = mesh.positions().iter().map(|&p| (p - center) / size).collect();
    Ok((mesh.with_positions(unit)?, center, size))
}

type Choice<'a> = (&'a View<'a>, Proposal, Vec<Alternative>);

/// The cheapest proposal of all views, and the least cost of every class.
fn choose<'a>(views: &'a [View<'a>], template: Option<BodyClass>) -> Result<Choice<'a>, RigError> {
    let all: Vec<(usize, Proposal)> = views
        .par_iter()
        .enumerate()
        .flat_map_iter(|(k, view)| templates::propose(view, template).into_iter().map(move |p| (k, p)))
        .collect();
    let mut alternatives: Vec<Alternative> = Vec::new();
    for (_, proposal) in &all {
        let Proposal { class, cost, .. } = proposal;
        let found = Alternative { class: *class, cost: cost.total(), doubts: cost.reasons() };
        match alternatives.iter_mut().find(|other| other.class == *class) {
            Some(known) if found.cost < known.cost => *known = found,
            Some(_) => {}
            None => alternatives.push(found),
        }
    }
    alternatives.sort_by(|a, b| a.cost.total_cmp(&b.cost).then(a.class.cmp(&b.class)));
    let best = all.into_iter().reduce(|a, b| if b.1.cost.total() < a.1.cost.total() { b } else { a });
    match best {
        Some((k, proposal)) => Ok((&views[k], proposal, alternatives)),
        None => Err(RigError::NoFit {
            template: template.unwrap_or(BodyClass::Tree).name(),
            reason: "the limbs it needs were not found",
        }),
    }
}

/// From the cost of the best reading, and from how much cheaper it is than the best one of another class.
fn confidence(best: &Proposal, alternatives: &[Alternative]) -> f64 {
    let cost = best.cost.total();
    let margin =
        alternatives.iter().find(|other| other.class != best.class).map_or(1.0, |other| other.cost - cost);
    let fits = (-0.75 * cost.max(0.0)).exp();
    let is_distinct = 1.0 - 0.5 * (-margin.max(0.0) / 0.25).exp();
    (fits * is_distinct).clamp(0.02, best.most_confidence)
}
