//! A skeleton made by the user: joints placed in the body, the skin that follows from them, and how they are turned.

use crate::{Document, SessionError};
use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};
use sinew_flesh::{JointSite, build_skeleton};
use sinew_geom::{Character, Clip, Pose, Rig, rig::JointTrack};
use std::sync::Arc;

/// A joint placed by the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JointData {
    /// Unique name.
    pub name: String,
    /// The joint it hangs on.
    #[serde(default)]
    pub parent: Option<String>,
    /// Where it is, at rest.
    pub position: [f64; 3],
}

/// A joint as it is seen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FleshJoint {
    /// Its name.
    pub name: String,
    /// The joint it hangs on.
    pub parent: Option<usize>,
    /// Where it is in the pose.
    pub position: [f64; 3],
    /// How it is turned from rest.
    pub turn: [f64; 4],
}

/// The joints in the order in which none comes before the one it hangs on.
fn sites(joints: &[JointData]) -> Vec<JointSite> {
    let mut sites: Vec<JointSite> = Vec::new();
    let mut left: Vec<&JointData> = joints.iter().collect();
    while !left.is_empty() {
        let before = left.len();
        left.retain(|joint| {
            let parent = joint.parent.as_ref().map(|name| sites.iter().position(|site| site.name == *name));
            // One that hangs on nothing known is a root.
            let is_known = |name: &String| joints.iter().any(|other| other.name == *name);
            if parent == Some(None) && joint.parent.as_ref().is_some_and(is_known) {
                return true;
            }
            let (name, position) = (joint.name.clone(), DVec3::from_array(joint.position));
            sites.push(JointSite { name, parent: parent.flatten(), position });
            false
        });
        if left.len() == before {
            break;
        }
    }
    sites
}

/// Make the joints placed by the user the skeleton of the character, with weights that follow from them.
pub(crate) fn bind(document: &mut Document) -> Result<(), SessionError> {
    let has_own = document.body.skin.is_some() && !document.flesh.bound;
    if has_own {
        let cause =
            "the character has a skeleton and a skin already; joints can be placed only on one without";
        return Err(SessionError::Value { what: "skeleton", cause: cause.into() });
    }
    let (rig, skin) = build_skeleton(document.mesh(), &sites(&document.flesh.joints))?;
    let before = document.body.rig.clone().unwrap_or_default();
    document.clips =
        document.clips.iter().filter_map(|clip| on_other(clip, &before, &rig).map(Arc::new)).collect();
    let turns = document.flesh.turns.iter().filter(|(name, _)| rig.find(name).is_some()).cloned().collect();
    document.flesh = Arc::new(super::FleshData { bound: true, turns, ..(*document.flesh).clone() });
    document.body = Arc::new(Character { rig: Some(rig), skin: Some(skin), ..(*document.body).clone() });
    Ok(())
}

/// A clip of a skeleton whose joints were others: turns stay with joints of the same name, places do not. Nothing is left
/// of one that moved only joints that are gone.
fn on_other(clip: &Clip, before: &Rig, after: &Rig) -> Option<Clip> {
    let track = |track: &JointTrack| {
        let joint = after.find(&before.joints().get(track.joint)?.name)?;
        Some(JointTrack { joint, translation: None, ..track.clone() })
    };
    let joints: Vec<JointTrack> = clip.joints.iter().filter_map(track).collect();
    let is_something = !joints.is_empty() || !clip.morphs.is_empty();
    is_something.then(|| Clip { joints, ..clip.clone() })
}

/// The pose to which the joints of a document are turned; none without a skeleton.
pub fn turned_pose(document: &Document) -> Option<Pose> {
    let rig = document.body.rig.as_ref()?;
    let mut pose = rig.rest_pose();
    for (name, turn) in &document.flesh.turns {
        if let Some(joint) = rig.find(name) {
            let local = &mut pose.locals[joint];
            local.rotation = (local.rotation * DQuat::from_array(*turn)).normalize();
        }
    }
    Some(pose)
}

/// The joints as they are seen: those placed by the user until they are bound, then those of the skeleton, in their pose.
///
/// # Errors
/// None that a document can cause.
pub fn posed_joints(document: &Document) -> Result<Vec<FleshJoint>, SessionError> {
    let data = &document.flesh;
    let turn_of = |name: &str| {
        let found = data.turns.iter().find(|(own, _)| own == name);
        found.map_or(DQuat::IDENTITY.to_array(), |(_, turn)| *turn)
    };
    let (Some(rig), Some(pose)) = (document.body.rig.as_ref(), turned_pose(document)) else {
        let joint = |site: &JointSite| FleshJoint {
            name: site.name.clone(),
            parent: site.parent,
            position: site.position.to_array(),
            turn: DQuat::IDENTITY.to_array(),
        };
        return Ok(sites(&data.joints).iter().map(joint).collect());
    };
    let mut world = Vec::new();
    rig.forward(&pose, &mut world)?;
    let joint = |(joint, at): (&sinew_geom::Joint, &glam::DAffine3)| FleshJoint {
        name: joint.name.clone(),
        parent: joint.parent,
        position: at.translation.to_array(),
        turn: turn_of(&joint.name),
    };
    Ok(rig.joints().iter().zip(&world).map(joint).collect())
}
