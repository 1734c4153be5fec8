//! Muscles of one character on another.
//!
//! # Source
//! Capell (2004), §6.7.2: forces become displacements, displacements are carried by the map (eq. 6.9), and become
//! forces of the other body, which may be stiffer, finer or larger. Templates are sampled first (§6.8, footnote 3).
//! Differs: the target keeps a lattice of its own, at whose nodes displacements are read, and forces also keep cells
//! open that the carried pose or the muscle would invert.

use super::{
    CharacterMap, PosedBody,
    unfold::{Unfolded, unfold},
};
use crate::{
    FleshError,
    muscle::{
        Control, ControlSource, Muscle, MuscleError, MuscleEvaluator, MuscleSet, MuscleShape, find_joint,
        rest_forces,
    },
    statics::holding_forces,
};
use glam::{DAffine3, DVec3};
use sinew_geom::{
    Character, Joint, Mesh, Pose, Rig, Skin, SkinSlot, Transform, Warnings, query::SurfaceTree,
};

/// Joints of two skeletons that mean the same.
pub type JointPairs = Vec<(usize, usize)>;

/// What became of the muscles.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TransferReport {
    /// Cells that the pose and a muscle would have folded over, and that the forces keep open.
    pub unfolded_cells: usize,
    /// Cells that could not be kept open.
    pub folded_cells: usize,
    /// Least volume at a corner of a cell in any pose of a muscle, relative to that at rest.
    pub least_volume: f64,
}

/// Pair joints by name, or as `by_hand` says (source, target). Only those that move flesh have to have a partner.
///
/// # Errors
/// The joints that have none.
pub fn match_joints(
    source: &Character,
    target: &Character,
    by_hand: &[(String, String)],
) -> Result<JointPairs, MuscleError> {
    let (Some(from), Some(to)) = (&source.rig, &target.rig) else { return Err(MuscleError::NotHeld) };
    let moves = |joint: usize| source.skin.as_ref().is_some_and(|s| s.slots.iter().any(|t| t.joint == joint));
    let plain = |name: &str| name.to_lowercase().replace([' ', '_', '-', '.', ':'], "");
    let names = |rig: &Rig| rig.joints().iter().map(|j| j.name.clone()).collect::<Vec<_>>();
    let (mut pairs, mut unmatched) = (Vec::new(), Vec::new());
    for (a, b) in by_hand {
        find_joint(from, a)?;
        find_joint(to, b)?;
    }
    for (joint, name) in names(from).iter().enumerate() {
        let hand = by_hand.iter().find(|(a, _)| a == name).map(|(_, b)| b.as_str());
        let partner = to
            .find(hand.unwrap_or(name))
            .or_else(|| names(to).iter().position(|other| plain(other) == plain(name)));
        match partner {
            Some(other) => pairs.push((joint, other)),
            None if moves(joint) => unmatched.push(format!("{name:?}")),
            None => {}
        }
    }
    if unmatched.is_empty() {
        return Ok(pairs);
    }
    let verb = if unmatched.len() == 1 { "has" } else { "have" };
    Err(MuscleError::UnmatchedBones { unmatched: unmatched.join(", "), verb, target: names(to).join(", ") })
}

/// A pose of one skeleton on another: turns from rest are the same, ways grow with the body.
pub fn carry_pose(pose: &Pose, (from, to): (&Rig, &Rig), pairs: &[(usize, usize)], scale: f64) -> Pose {
    let mut carried = to.rest_pose();
    for &(a, b) in pairs {
        let (rest, local, other) = (&from.joints()[a].rest, &pose.locals[a], &to.joints()[b].rest);
        carried.locals[b] = Transform {
            translation: other.translation + (local.translation - rest.translation) * scale,
            rotation: (other.rotation * (rest.rotation.inverse() * local.rotation)).normalize(),
            scale: other.scale,
        };
    }
    carried
}

/// Carry all muscles of a character over. Both bodies are left in some pose.
///
/// # Errors
/// Muscles that do not fit the source.
pub fn transfer_muscles(
    source: &mut PosedBody,
    set: &MuscleSet,
    map: &CharacterMap,
    target: &mut PosedBody,
    pairs: &[(usize, usize)],
) -> Result<(MuscleSet, TransferReport), FleshError> {
    MuscleEvaluator::new(set, &source.body.lattice)?;
    let scale = target.body.lattice.nodes().first().map_or(1.0, |_| extent(target) / extent(source));
    let mut report = TransferReport { least_volume: 1.0, ..TransferReport::default() };
    let mut out = MuscleSet { controls: controls(set, source, target, pairs), muscles: Vec::new() };
    for muscle in &set.muscles {
        let pose = muscle.pose_on(&source.rig);
        let other = carry_pose(&pose, (&source.rig, &target.rig), pairs, scale);
        let mut samples = Vec::new();
        for gamma in muscle.sampled_at() {
            let moved = displacements(source, muscle, &pose, gamma)?;
            let carried = map.carry(&moved, target.body.lattice.nodes());
            samples.push((gamma, hold(target, &other, carried, &mut report)?));
        }
        let shape =
            MuscleShape::Surface { cell_size: target.body.lattice.size(), levels: Vec::new(), samples };
        let mut carried = Muscle { shape, pose: Vec::new(), ..muscle.clone() };
        carried.set_pose(&target.rig, &other);
        out.muscles.push(carried);
    }
    Ok((out, report))
}

fn extent(posed: &PosedBody) -> f64 {
    let [low, high] = sinew_geom::mesh::bounds(posed.body.lattice.nodes());
    low.distance(high)
}

/// The controls, following the joints of the other skeleton.
fn controls(
    set: &MuscleSet,
    source: &PosedBody,
    target: &PosedBody,
    pairs: &[(usize, usize)],
) -> Vec<Control> {
    let partner = |name: &str| {
        let joint = source.rig.find(name)?;
        let (_, other) = pairs.iter().find(|(a, _)| *a == joint)?;
        Some(target.rig.joints()[*other].name.clone())
    };
    let one = |control: &Control| {
        let mut control = control.clone();
        match &mut control.source {
            ControlSource::Free => {}
            ControlSource::Bend { joint } | ControlSource::Angle { joint, .. } => {
                *joint = partner(joint).unwrap_or_else(|| joint.clone());
            }
        }
        control
    };
    set.controls.iter().map(one).collect()
}

/// What a muscle does to a body in a pose, in the frame of rest.
fn displacements(
    source: &mut PosedBody,
    muscle: &Muscle,
    pose: &Pose,
    gamma: f64,
) -> Result<Vec<DVec3>, FleshError> {
    let mut forces = Vec::new();
    rest_forces(muscle, &source.body.lattice, gamma, &mut forces);
    if forces.iter().all(|f| *f == DVec3::ZERO) {
        return Ok(forces);
    }
    source.set_pose(pose)?;
    let before = source.state.positions.clone();
    source.push(source.to_pose(&forces))?;
    let moved: Vec<DVec3> = source.state.positions.iter().zip(&before).map(|(a, b)| *a - *b).collect();
    Ok(source.to_rest(&moved))
}

/// Forces that hold a body in a pose with displacements of the rest frame.
fn hold(
    target: &mut PosedBody,
    pose: &Pose,
    moved: Vec<DVec3>,
    report: &mut TransferReport,
) -> Result<Vec<DVec3>, FleshError> {
    if moved.iter().all(|d| *d == DVec3::ZERO) {
        return Ok(moved);
    }
    let opened = take(target, pose, &moved)?;
    report.least_volume = report.least_volume.min(opened.least_volume);
    report.unfolded_cells += opened.n_folded;
    report.folded_cells += opened.n_left;
    let holding = holding_forces(&target.solver, &mut target.state, &target.input)?;
    Ok(target.to_rest(&holding))
}

/// Least share of the way to a pose that is gone at once.
const MIN_PATH_SHARE: f64 = 1.0 / 256.0;

/// Take a pose with displacements of the rest frame, and no cell folded over: at once if that can be, else from rest in steps
/// as long as no cell folds over in them.
fn take(target: &mut PosedBody, pose: &Pose, moved: &[DVec3]) -> Result<Unfolded, FleshError> {
    let rest = target.rig.rest_pose();
    let (mut gone, mut step, mut opening) = (0.0, 1.0, vec![DVec3::ZERO; moved.len()]);
    loop {
        let share = f64::min(gone + step, 1.0);
        let locals = rest.locals.iter().zip(&pose.locals).map(|(a, b)| a.lerp(b, share)).collect();
        target.set_pose(&Pose { locals })?;
        let (is_held, turned) = (&target.solver.body.is_held, target.to_pose(moved));
        let mut goal = target.state.positions.clone();
        let free = goal.iter_mut().zip(&turned).zip(is_held).filter(|(_, held)| !**held);
        free.for_each(|((p, d), _)| *p += *d * share);
        target.body.lattice.ties().spread_places(&mut goal);
        let mut places: Vec<DVec3> = goal.iter().zip(target.to_pose(&opening)).map(|(p, d)| *p + d).collect();
        let opened = unfold(&target.body.lattice, is_held, &goal, &mut places);
        if opened.n_left > 0 && step > MIN_PATH_SHARE {
            step *= 0.5;
            continue;
        }
        let ways: Vec<DVec3> = places.iter().zip(&goal).map(|(a, b)| *a - *b).collect();
        opening = target.to_rest(&ways);
        (gone, step) = (share, step * 1.5);
        if gone >= 1.0 {
            target.state.positions = places;
            return Ok(opened);
        }
    }
}

/// A mesh without a skeleton gets that of the source, carried by a map, with its weights.
///
/// # Errors
/// A source without a skeleton.
pub fn carry_skeleton(
    map: &CharacterMap,
    source: &Character,
    target: &Mesh,
    warnings: &mut Warnings,
) -> Result<Character, FleshError> {
    let (Some(rig), Some(skin)) = (&source.rig, &source.skin) else {
        return Err(MuscleError::NotHeld.into());
    };
    let worlds = rig.rest_world();
    let places = map.forward(&worlds.iter().map(|w| w.translation).collect::<Vec<_>>());
    let moved: Vec<DAffine3> = worlds
        .iter()
        .zip(&places)
        .map(|(world, p)| {
            let (_, rotation, _) = world.to_scale_rotation_translation();
            DAffine3::from_rotation_translation(rotation, *p)
        })
        .collect();
    let joint = |(at, joint): (usize, &Joint)| {
        let local = joint.parent.map_or(moved[at], |parent| moved[parent].inverse() * moved[at]);
        Joint { rest: Transform::from_affine(local).0, ..joint.clone() }
    };
    let rig = Rig::new(rig.joints().iter().enumerate().map(joint).collect())?;
    let bind = |slot: &SkinSlot| SkinSlot { joint: slot.joint, inverse_bind: moved[slot.joint].inverse() };
    let slots: Vec<SkinSlot> = skin.slots.iter().map(bind).collect();
    let tree = SurfaceTree::new(&source.mesh);
    let (mut indices, mut weights) = (Vec::new(), Vec::new());
    for p in map.backward(target.positions()) {
        let mut row: Vec<(u16, f32)> = Vec::new();
        if let Some(hit) = tree.closest_point(p) {
            let corners = source.mesh.faces()[hit.face as usize];
            for (v, share) in corners.iter().zip(hit.barycentric) {
                for (slot, w) in skin.vertex(*v as usize) {
                    let w = w * share.max(0.0) as f32;
                    match row.iter_mut().find(|(s, _)| *s == slot) {
                        Some((_, sum)) => *sum += w,
                        None => row.push((slot, w)),
                    }
                }
            }
        }
        row.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        row.resize(4, (0, 0.0));
        indices.extend(row.iter().map(|(s, _)| *s));
        weights.extend(row.iter().map(|(_, w)| *w));
    }
    // Only the four strongest of a vertex are kept, so that sums are a little off.
    let mut ignored = Warnings::default();
    let skin = Skin::new(slots, 4, indices, weights, &mut ignored)?;
    warnings.push("the target has no skeleton; it gets that of the source, carried by the map");
    Ok(Character { mesh: target.clone(), rig: Some(rig), skin: Some(skin), ..Character::default() })
}
