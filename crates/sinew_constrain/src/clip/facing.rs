//! A motion brought into the space of another body: its up, and where it faces.
//!
//! # Symbols
//! `turn` rotation of the source's world; `upright` rotation of the target's space that makes +Y its up

use super::{JointFrames, counterparts::MappedRig};
use crate::ConstrainError;
use glam::{DQuat, DVec3};
use sinew_geom::{
    Pose, Rig,
    body_map::{BodyMap, Part, ReferenceStance},
    rig::Side,
};

/// Rotations nearer to none than this are none, so that numbers stay what they are.
const NO_TURN: f64 = 1e-9;
/// A body that is this near to an axis in the mean stands along it.
const STANDS_COSINE: f64 = 0.75;

/// How a source and a target are turned so that both stand along +Y and face the same way.
#[derive(Debug, Clone, Copy)]
pub struct Facing {
    /// Of the reference poses of source and target.
    pub references: [DQuat; 2],
    /// Of the source's motion.
    pub source: DQuat,
    /// Of the target.
    pub target: DQuat,
}

impl Facing {
    /// Up and facing of both bodies; what is up in the motion of the source is seen from the motion. The result of the same
    /// skeleton stays in the space of the motion.
    pub fn of(source: &MappedRig, worlds: &[JointFrames], target: &BodyMap, is_same: bool) -> Self {
        let upright = near_none(DQuat::from_rotation_arc(target.up, DVec3::Y));
        let body = near_none(upright * target.basis() * source.map.basis().inverse());
        let motion = near_none(body * DQuat::from_rotation_arc(up_of_motion(source, worlds), source.map.up));
        let turned = near_none(body * upright.inverse());
        // A target that rests as the source does moves in the same world, whatever is up there.
        let stays = is_same && turned == DQuat::IDENTITY;
        Self { references: [body, upright], source: motion, target: if stays { motion } else { upright } }
    }
}

fn near_none(turn: DQuat) -> DQuat {
    if 1.0 - turn.w.abs() < NO_TURN { DQuat::IDENTITY } else { turn.normalize() }
}

/// Up of the world of a motion: that of the body map, unless the body hardly ever stands along it and mostly along another axis.
fn up_of_motion(source: &MappedRig, worlds: &[JointFrames]) -> DVec3 {
    let reference = source.map.reference(source.rig, ReferenceStance::ArmsOut);
    let hips = source.map.find(Part::Hips, Side::Middle);
    let Some(hips) = hips else { return source.map.up };
    let local = reference[hips].inverse() * source.map.up;
    let sum: DVec3 = worlds.iter().map(|world| world.rotations[hips] * local).sum();
    let mean = sum / worlds.len().max(1) as f64;
    if mean.dot(source.map.up) > 1.0 - STANDS_COSINE {
        return source.map.up;
    }
    let axes = DVec3::AXES.into_iter().flat_map(|axis| [axis, -axis]);
    axes.into_iter().find(|axis| axis.dot(mean) > STANDS_COSINE).unwrap_or(source.map.up)
}

/// A rig turned about the origin at rest.
pub fn turned_rig(rig: &Rig, turn: DQuat) -> Result<Rig, ConstrainError> {
    let mut joints = rig.joints().to_vec();
    for root in joints.iter_mut().filter(|joint| joint.parent.is_none()) {
        root.rest.translation = turn * root.rest.translation;
        root.rest.rotation = (turn * root.rest.rotation).normalize();
    }
    Ok(Rig::new(joints)?)
}

/// Turn poses about the origin.
pub fn turn_poses(rig: &Rig, poses: &mut [Pose], turn: DQuat) {
    if turn == DQuat::IDENTITY {
        return;
    }
    for pose in poses {
        let roots = rig.joints().iter().zip(&mut pose.locals).filter(|(joint, _)| joint.parent.is_none());
        for (_, local) in roots {
            local.translation = turn * local.translation;
            local.rotation = (turn * local.rotation).normalize();
        }
    }
}
