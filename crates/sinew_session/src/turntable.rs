//! A turntable: a clip that turns the character once about its vertical axis, for looking at it from all sides.

use crate::{
    DEFAULT_FPS, Document, SessionError,
    command::{check_name, within},
};
use glam::{DAffine3, DQuat, DVec3};
use serde::{Deserialize, Serialize};
use sinew_geom::{Character, Clip, Joint, Pose, Rig, Skin, Transform, Warnings, rig::SkinSlot};
use std::{f64::consts::TAU, sync::Arc};

/// Joint that a mesh without a skeleton gets.
const JOINT: &str = "turntable";

/// What a user can choose about a turntable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct TurntableSettings {
    /// Name of the clip.
    pub clip: String,
    /// Duration of the turn in seconds.
    pub seconds: f64,
}

impl Default for TurntableSettings {
    fn default() -> Self {
        Self { clip: "turntable".into(), seconds: 4.0 }
    }
}

/// The document with the clip. A mesh without a skeleton gets one joint that moves all of it.
///
/// # Errors
/// A name that is taken, an invalid duration, or a skeleton that does not move the mesh.
pub fn add_turntable(document: &Document, settings: &TurntableSettings) -> Result<Document, SessionError> {
    let TurntableSettings { clip, seconds } = settings;
    check_name("clip", clip, document.find_clip(clip).is_ok())?;
    within("seconds", *seconds, [0.1, 3600.0])?;
    let mut after = document.clone();
    if document.body.rig.as_ref().is_none_or(|rig| rig.n_joints() == 0) {
        let (rig, skin) = one_joint(document)?;
        after.body = Arc::new(Character { rig: Some(rig), skin: Some(skin), ..(*document.body).clone() });
    } else if document.body.skin.is_none() && document.mesh().n_vertices() > 0 {
        let cause = "the skeleton does not move the mesh; bind it first".into();
        return Err(SessionError::Value { what: "skeleton", cause });
    }
    let rig = crate::rules::rig_of(&after)?;
    let n_frames = (seconds * DEFAULT_FPS).round().max(1.0) as usize;
    let axis = axis_of(&after, rig);
    let poses: Vec<Pose> =
        (0..=n_frames).map(|k| turned(rig, axis, TAU * k as f64 / n_frames as f64)).collect();
    let made = Clip::from_poses(clip, rig, &poses, n_frames as f64 / seconds)?;
    after.clips.push(Arc::new(made));
    Ok(after)
}

/// A point of the vertical axis: the middle of the mesh, or of the joints.
fn axis_of(document: &Document, rig: &Rig) -> DVec3 {
    let middle = if document.mesh().n_vertices() > 0 {
        let [low, high] = document.mesh().bounds();
        0.5 * (low + high)
    } else {
        let world = rig.rest_world();
        world.iter().map(|joint| joint.translation).sum::<DVec3>() / world.len().max(1) as f64
    };
    DVec3::new(middle.x, 0.0, middle.z)
}

/// The rest pose, turned about the axis.
fn turned(rig: &Rig, axis: DVec3, angle: f64) -> Pose {
    let turn = DQuat::from_rotation_y(angle);
    let mut pose = rig.rest_pose();
    for (joint, local) in
        rig.joints().iter().zip(&mut pose.locals).filter(|(joint, _)| joint.parent.is_none())
    {
        local.translation = axis + turn * (joint.rest.translation - axis);
        local.rotation = turn * joint.rest.rotation;
    }
    pose
}

/// A skeleton of one joint at the origin that moves every vertex.
fn one_joint(document: &Document) -> Result<(Rig, Skin), SessionError> {
    let n = document.mesh().n_vertices();
    let rig = Rig::new(vec![Joint::new(JOINT, None, Transform::IDENTITY)])?;
    let slots = vec![SkinSlot { joint: 0, inverse_bind: DAffine3::IDENTITY }];
    let skin = Skin::new(slots, 1, vec![0; n], vec![1.0; n], &mut Warnings::default())?;
    Ok((rig, skin))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Command;
    use sinew_geom::sample::{Sample, build_character};

    /// Where vertices are at a share of the turn, beside where a rotation puts them.
    fn miss(document: &Document, share: f64) -> f64 {
        let settings = TurntableSettings::default();
        let after = Command::Turntable { settings: settings.clone() }.apply(document).unwrap();
        let clip = &after.clips[after.find_clip("turntable").unwrap()];
        let time = (share * settings.seconds) as f32;
        let shown = after.body.positions_at(Some(clip), time).unwrap();
        let axis = axis_of(&after, after.body.rig.as_ref().unwrap());
        let turn = DQuat::from_rotation_y(TAU * share);
        let rest = document.mesh().positions().iter();
        rest.zip(shown).map(|(p, q)| (axis + turn * (*p - axis)).distance(q.as_dvec3())).fold(0.0, f64::max)
    }

    #[test]
    fn characters_and_bare_meshes_turn_rigidly_once() {
        let biped = Document::new(build_character(Sample::Biped, 1_000).unwrap());
        let bare = Document::new(Character { mesh: biped.mesh().clone(), ..Character::default() });
        for document in [&biped, &bare] {
            for share in [0.0, 0.25, 0.5, 0.8, 1.0] {
                assert!(miss(document, share) < 1e-4, "{share}: {}", miss(document, share));
            }
        }
        assert!(
            Command::Turntable { settings: TurntableSettings { seconds: 0.0, ..Default::default() } }
                .apply(&biped)
                .is_err()
        );
    }
}
