//! The result as a rig and a skin: joints turned as modelling programs expect them.

use crate::{RigError, skeleton::Skeleton, vertex_weights::VertexWeights, view::View};
use glam::{DAffine3, DMat3, DQuat, DVec3};
use sinew_geom::{Joint, Rig, Skin, Transform, Warnings, rig::SkinSlot};

/// Turn a skeleton in units of the diagonal into a rig in the units of the mesh, and bind the mesh to it.
pub(crate) fn assemble(
    skeleton: &Skeleton,
    view: &View,
    weights: &[VertexWeights],
    center: DVec3,
    size: f64,
) -> Result<(Rig, Skin), RigError> {
    let world: Vec<DAffine3> = (0..skeleton.joints.len())
        .map(|k| {
            let position = center + size * skeleton.joints[k].position;
            DAffine3::from_rotation_translation(orient(skeleton, view, k), position)
        })
        .collect();
    let joint = |(k, joint): (usize, &crate::skeleton::ProposedJoint)| {
        let local = joint.parent.map_or(world[k], |parent| world[parent].inverse() * world[k]);
        let (_, rotation, translation) = local.to_scale_rotation_translation();
        let rest = Transform { translation, rotation, ..Transform::IDENTITY };
        Joint::new(joint.name.clone(), joint.parent, rest)
    };
    let rig = Rig::new(skeleton.joints.iter().enumerate().map(joint).collect())?;
    let skin = bind(Skin::slots_at_rest(&rig), weights)?;
    Ok((rig, skin))
}

/// Weights as a skin; their joints are slots.
pub(crate) fn bind(slots: Vec<SkinSlot>, weights: &[VertexWeights]) -> Result<Skin, RigError> {
    let indices = weights.iter().flat_map(|vertex| vertex.joints).collect();
    let values = weights.iter().flat_map(|vertex| vertex.weights).collect();
    Ok(Skin::new(slots, 4, indices, values, &mut Warnings::default())?)
}

/// A bone lies along +Y of its joint, as in Blender; +Z is forward, or up for bones that lie along the ground, so that knees,
/// elbows and spines bend about X.
fn orient(skeleton: &Skeleton, view: &View, k: usize) -> DQuat {
    let here = skeleton.joints[k].position;
    let child =
        skeleton.joints.iter().find(|joint| joint.parent == Some(k)).map(|child| child.position - here);
    let parent = skeleton.joints[k].parent.map(|parent| here - skeleton.joints[parent].position);
    let y = child.or(parent).and_then(DVec3::try_normalize).unwrap_or(view.up);
    let reference = if y.dot(view.forward).abs() > 0.7 { view.up } else { view.forward };
    let Some(z) = (reference - reference.dot(y) * y).try_normalize() else { return DQuat::IDENTITY };
    DQuat::from_mat3(&DMat3::from_cols(y.cross(z), y, z)).normalize()
}
