//! A traditional rig from handles: one bone per handle, and at most four convex weights per vertex.
//!
//! # Source
//! Hansen (2006), §10.5, proposes it as future work. Weights are harmonic between handles (as in Baran and Popović,
//! *Automatic rigging and animation of 3D characters*, 2007, without the heat term, because handles define where bones
//! reach the surface).
//! # Cost
//! One sparse Cholesky factorisation per soft piece and one solve per handle that holds it.

use crate::{
    DeformError, EditParams, HandlePose, HandleSet, SurfaceEditor,
    arap::ArapPiece,
    closed::ClosedMesh,
    progress::{ProgressMeter, no_progress},
    skinned::strongest,
    soft::SoftSurface,
};
use glam::{DAffine3, DQuat, DVec3, Vec3};
use sinew_geom::{
    Clip, GeomError, Joint, Mesh, Move, Rig, Skin, Transform, Warnings,
    rig::{Interpolation, JointTrack, Keys, skin_linear},
};

/// Bones per vertex: what every player supports.
pub(crate) const BONES_PER_VERTEX: usize = 4;

/// Key times of a pose that is held, in seconds: some players cannot show a clip without duration.
const HOLD_KEY_SECS: [f32; 2] = [0.0, 1.0];

/// A rig with a joint at every handle's centre, and a skin that follows it.
///
/// A joint's parent is the handle that carries it: the one with the fewest secondary handles among those that
/// name it.
///
/// # Errors
/// If the handles belong to another mesh, or a soft piece cannot be solved.
pub fn build_skin(
    mesh: &Mesh,
    handles: &HandleSet,
    warnings: &mut Warnings,
) -> Result<(Rig, Skin), DeformError> {
    let (rig, joint_of) = build_rig(handles)?;
    let closed = ClosedMesh::new(mesh, handles)?;
    let held = closed.held();
    let soft = SoftSurface::new(held, warnings);
    let meter = ProgressMeter::new(&no_progress)?;
    let n = closed.mesh.n_vertices();
    let mut indices = vec![0u16; n * BONES_PER_VERTEX];
    let mut weights = vec![0f32; n * BONES_PER_VERTEX];
    for (v, carrier) in soft.carrier.iter().enumerate() {
        if let Some(handle) = carrier {
            indices[v * BONES_PER_VERTEX] = joint_of[*handle as usize];
            weights[v * BONES_PER_VERTEX] = 1.0;
        }
    }
    let solved = soft.build_pieces(&meter, 1.0, |piece, span| ArapPiece::new(held, piece, span))?;
    for (piece, solved) in soft.pieces.iter().zip(&solved) {
        let (names, rows) = solved.harmonic_weights();
        for (&v, row) in piece.vertices.iter().zip(rows) {
            for (k, (handle, w)) in strongest(names, row).into_iter().enumerate() {
                indices[v as usize * BONES_PER_VERTEX + k] =
                    if w > 0.0 { joint_of[handle as usize] } else { 0 };
                weights[v as usize * BONES_PER_VERTEX + k] = w as f32;
            }
        }
    }
    // Copies of a vertex along a seam follow alike.
    if let Some(of) = &closed.of {
        indices = of.iter().flat_map(|&v| row(&indices, v).to_vec()).collect();
        weights = of.iter().flat_map(|&v| row(&weights, v).to_vec()).collect();
    }
    let skin = Skin::new(Skin::slots_at_rest(&rig), BONES_PER_VERTEX, indices, weights, warnings)?;
    Ok((rig, skin))
}

/// What one vertex has.
fn row<T>(all: &[T], vertex: u32) -> &[T] {
    &all[vertex as usize * BONES_PER_VERTEX..][..BONES_PER_VERTEX]
}

/// Joints in an order with parents first, and the joint of each handle.
fn build_rig(handles: &HandleSet) -> Result<(Rig, Vec<u16>), DeformError> {
    let all = handles.handles();
    let taken_by = |child: usize| {
        let takes = |h: &usize| *h != child && all[*h].secondary.contains(&all[child].name);
        (0..all.len()).filter(takes).min_by_key(|&h| (all[h].secondary.len(), h))
    };
    let parents: Vec<Option<usize>> = (0..all.len()).map(taken_by).collect();
    let mut order: Vec<usize> = Vec::with_capacity(all.len());
    let mut joint_of = vec![u16::MAX; all.len()];
    // Handles may name each other in a circle; then the first of them becomes a root.
    while order.len() < all.len() {
        let open = |h: &usize| joint_of[*h] == u16::MAX;
        let ready = |h: &usize| parents[*h].is_none_or(|p| joint_of[p] != u16::MAX);
        let next = (0..all.len()).filter(open).find(ready).or_else(|| (0..all.len()).find(open)).unwrap_or(0);
        joint_of[next] = order.len() as u16;
        order.push(next);
    }
    let joints = order.iter().enumerate().map(|(at, &h)| {
        let parent = parents[h].filter(|&p| usize::from(joint_of[p]) < at);
        let from = parent.map_or(DVec3::ZERO, |p| all[p].center);
        Joint::new(
            all[h].name.clone(),
            parent.map(|p| usize::from(joint_of[p])),
            Transform::from_translation(all[h].center - from),
        )
    });
    Ok((Rig::new(joints.collect())?, joint_of))
}

/// A clip that holds a pose of the handles, for a rig of [`build_skin`]: every joint is keyed to the motion of its
/// handle, so that the clip can be shown at any time and blended with others.
///
/// # Errors
/// If a move does not fit the handles.
pub fn build_pose_clip(
    mesh: &Mesh,
    handles: &HandleSet,
    rig: &Rig,
    name: &str,
    moves: &[Move],
) -> Result<Clip, DeformError> {
    let pose = HandlePose::from_moves(mesh, handles, moves)?;
    let (_, joint_of) = build_rig(handles)?;
    let mut world = vec![(DQuat::IDENTITY, DVec3::ZERO); handles.len()];
    for ((handle, motion), &joint) in handles.handles().iter().zip(pose.motions()).zip(&joint_of) {
        world[usize::from(joint)] = (motion.rotation_at(handle.center), motion.position(handle.center));
    }
    let track = |(joint, of): (usize, &Joint)| {
        let (rotation, position) = world[joint];
        let (turn, from) = of.parent.map_or((DQuat::IDENTITY, DVec3::ZERO), |parent| world[parent]);
        let local = (turn.inverse() * rotation, turn.inverse() * (position - from));
        let (rotation, translation) = (local.0.normalize().as_quat(), local.1.as_vec3());
        Ok(JointTrack {
            joint,
            rotation: Some(Keys::new(HOLD_KEY_SECS.to_vec(), vec![rotation; 2], Interpolation::Linear, 1)?),
            translation: Some(Keys::new(
                HOLD_KEY_SECS.to_vec(),
                vec![translation; 2],
                Interpolation::Linear,
                1,
            )?),
            scale: None,
        })
    };
    let joints = rig.joints().iter().enumerate().map(track).collect::<Result<_, GeomError>>()?;
    Ok(Clip { name: name.to_owned(), joints, morphs: Vec::new() })
}

/// Deviation of a skin from the handles it was made from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SkinDeviation {
    /// Root mean square distance over vertices and poses, over the diagonal of the mesh.
    pub rms: f64,
    /// Largest distance, over the diagonal.
    pub max: f64,
    /// Number of poses compared.
    pub n_poses: usize,
}

/// Compare a skin of [`build_skin`] with the guided method: every handle is turned by 40° about each axis, together
/// with the handles it carries.
///
/// # Errors
/// If the handles belong to another mesh.
pub fn measure_skin(mesh: &Mesh, handles: &HandleSet, skin: &Skin) -> Result<SkinDeviation, DeformError> {
    let editor = SurfaceEditor::new(mesh, handles, &EditParams::default(), &mut Warnings::default())?;
    let (_, joint_of) = build_rig(handles)?;
    let rest: Vec<Vec3> = mesh.positions().iter().map(|p| p.as_vec3()).collect();
    let (mut skinned, mut posed) = (rest.clone(), mesh.positions().to_vec());
    let (mut sum, mut max, mut n_poses) = (0.0, 0.0f64, 0);
    for handle in handles.handles().iter().filter(|h| !h.vertices.is_empty()) {
        for axis in DVec3::AXES {
            let turn = Move::Rotate {
                main: handle.name.clone(),
                handles: vec![],
                axis,
                radians: 40f64.to_radians(),
            };
            let pose = HandlePose::from_moves(mesh, handles, &[turn])?;
            editor.solve(&pose, &mut posed)?;
            let mut matrices = vec![DAffine3::IDENTITY; handles.len()];
            for (h, motion) in pose.motions().iter().enumerate() {
                matrices[usize::from(joint_of[h])] = motion.affine();
            }
            skin_linear(skin, &matrices, &rest, &mut skinned)?;
            for (a, b) in posed.iter().zip(&skinned) {
                let d = a.distance_squared(b.as_dvec3());
                sum += d;
                max = max.max(d);
            }
            n_poses += 1;
        }
    }
    let count = (n_poses * mesh.n_vertices()).max(1) as f64;
    let size = mesh.diagonal().max(f64::MIN_POSITIVE);
    Ok(SkinDeviation { rms: (sum / count).sqrt() / size, max: max.sqrt() / size, n_poses })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_geom::{
        Character,
        sample::{Sample, build_character},
    };

    #[test]
    fn a_biped_with_handles_becomes_one_with_bones() {
        let character = build_character(Sample::Biped, 3000).unwrap();
        let handles = HandleSet::new(&character.mesh, &character.handles, &mut Warnings::default()).unwrap();
        let (rig, skin) = build_skin(&character.mesh, &handles, &mut Warnings::default()).unwrap();
        assert_eq!(rig.n_joints(), handles.len());
        let joint = |name: &str| rig.find(name).unwrap();
        assert_eq!(rig.joints()[joint("hand.L")].parent, Some(joint("forearm.L")));
        assert_eq!(rig.joints()[joint("forearm.L")].parent, Some(joint("elbow.L")));
        for v in 0..skin.n_vertices() {
            let sum: f32 = skin.vertex(v).map(|(_, w)| w).sum();
            assert!((sum - 1.0).abs() < 1e-5);
            if let Some(h) = handles.owner(v).filter(|_| handles.is_rigid(v)) {
                let own = joint(&handles.handles()[h].name) as u16;
                assert!(skin.vertex(v).any(|(j, w)| j == own && w == 1.0));
            }
        }
        let error = measure_skin(&character.mesh, &handles, &skin).unwrap();
        assert!(error.rms < 0.01 && error.max < 0.08, "{error:?}");
    }

    /// The method of that name shows what the exported skin shows.
    #[test]
    fn the_skin_method_is_the_skin() {
        let character = build_character(Sample::Biped, 2000).unwrap();
        let (mesh, mut warnings) = (&character.mesh, Warnings::default());
        let handles = HandleSet::new(mesh, &character.handles, &mut warnings).unwrap();
        let (rig, skin) = build_skin(mesh, &handles, &mut warnings).unwrap();
        let params = EditParams { method: crate::Method::Skin, ..EditParams::default() };
        let editor = SurfaceEditor::new(mesh, &handles, &params, &mut warnings).unwrap();
        let turn =
            |main: &str, axis: DVec3| Move::Rotate { main: main.into(), handles: vec![], axis, radians: 1.1 };
        let moves = [turn("elbow.L", DVec3::Z), turn("knee.R", DVec3::X), turn("head", DVec3::Y)];
        let clip = build_pose_clip(mesh, &handles, &rig, "held", &moves).unwrap();
        let pose = HandlePose::from_moves(mesh, &handles, &moves).unwrap();
        let mut posed = mesh.positions().to_vec();
        editor.solve(&pose, &mut posed).unwrap();
        let skinned = Character { rig: Some(rig), skin: Some(skin), ..character.clone() };
        let shown = skinned.positions_at(Some(&clip), 0.5).unwrap();
        let off = posed.iter().zip(&shown).map(|(p, q)| p.distance(q.as_dvec3())).fold(0.0, f64::max);
        assert!(off < 1e-5, "{off}");
        let moved = posed.iter().zip(mesh.positions()).map(|(p, q)| p.distance(*q)).fold(0.0, f64::max);
        assert!(moved > 0.1, "{moved}");
    }

    /// Bones follow their handles, and vertices of a single bone follow that bone.
    #[test]
    fn a_pose_becomes_a_clip_that_holds_it() {
        let character = build_character(Sample::Biped, 2000).unwrap();
        let (mesh, mut warnings) = (&character.mesh, Warnings::default());
        let handles = HandleSet::new(mesh, &character.handles, &mut warnings).unwrap();
        let (rig, skin) = build_skin(mesh, &handles, &mut warnings).unwrap();
        let turn = |main: &str, axis: DVec3, radians: f64| Move::Rotate {
            main: main.into(),
            handles: vec![],
            axis,
            radians,
        };
        let shift = Move::Translate { handles: vec!["head".into()], vector: DVec3::new(0.05, 0.1, 0.0) };
        let moves = [turn("elbow.L", DVec3::Z, 1.2), turn("forearm.L", DVec3::Y, -0.7), shift];
        let clip = build_pose_clip(mesh, &handles, &rig, "held", &moves).unwrap();
        let pose = HandlePose::from_moves(mesh, &handles, &moves).unwrap();
        let skinned = Character { rig: Some(rig), skin: Some(skin), ..character.clone() };
        assert_eq!((clip.name.as_str(), clip.duration_secs()), ("held", 1.0));
        for time in [0.0, 0.4, 1.0] {
            let positions = skinned.positions_at(Some(&clip), time).unwrap();
            for (v, p) in positions.iter().enumerate() {
                if let Some(h) = handles.owner(v).filter(|_| handles.is_rigid(v)) {
                    let expected = pose.motions()[h].position(mesh.positions()[v]);
                    assert!(p.as_dvec3().distance(expected) < 1e-5, "{v} {p} {expected}");
                }
            }
        }
    }
}
