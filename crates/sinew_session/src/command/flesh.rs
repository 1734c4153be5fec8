//! Commands on flesh: settings, painted stiffness, joints placed by the user and how they are turned.

use crate::{Document, FleshData, FleshSettings, JointData, SessionError, turned_pose};
use glam::DQuat;
use serde::{Deserialize, Serialize};
use sinew_geom::Clip;
use std::sync::Arc;

/// Factors between which stiffness is painted.
const FACTORS: [f64; 2] = [1e-3, 1e3];
/// Maximum number of joints; more are taken for a mistake: a skin has 16-bit numbers, and few players support more.
const MAX_JOINTS: usize = 256;

/// One change of the flesh.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum FleshChange {
    Settings {
        settings: Box<FleshSettings>,
    },
    /// How much stiffer some vertices are.
    Paint {
        vertices: Vec<u32>,
        factors: Vec<f32>,
    },
    ClearPaint {},
    /// Put a joint, or move the one of that name.
    Joint {
        joint: JointData,
    },
    RenameJoint {
        name: String,
        to: String,
    },
    /// Take out a joint; what hangs on it hangs on the one above.
    RemoveJoint {
        name: String,
    },
    /// Turn a joint of the skeleton from rest, about its own axes: x, y, z, w.
    Turn {
        joint: String,
        rotation: [f64; 4],
    },
    /// All joints as they rest.
    ResetTurns {},
}

impl FleshChange {
    pub(super) fn label(&self) -> String {
        match self {
            Self::Settings { .. } => "Change flesh settings".into(),
            Self::Paint { .. } => "Paint stiffness".into(),
            Self::ClearPaint {} => "Clear painted stiffness".into(),
            Self::Joint { joint } => format!("Place joint {}", joint.name),
            Self::RenameJoint { to, .. } => format!("Rename joint to {to}"),
            Self::RemoveJoint { name } => format!("Remove joint {name}"),
            Self::Turn { joint, .. } => format!("Turn {joint}"),
            Self::ResetTurns {} => "Reset joints".into(),
        }
    }

    pub(super) fn merge_key(&self) -> Option<String> {
        match self {
            Self::Settings { .. } => Some("flesh".into()),
            Self::Turn { joint, .. } => Some(format!("turn {joint}")),
            _ => None,
        }
    }
}

pub(super) fn change(document: &mut Document, change: &FleshChange) -> Result<(), SessionError> {
    let mut flesh = (*document.flesh).clone();
    match change {
        FleshChange::Settings { settings } => {
            settings.params(document)?;
            flesh.settings = (**settings).clone();
        }
        FleshChange::Paint { vertices, factors } => paint(document, &mut flesh, vertices, factors)?,
        FleshChange::ClearPaint {} => flesh.paint = None,
        FleshChange::Joint { joint } => put_joint(document, &mut flesh, joint)?,
        FleshChange::RenameJoint { name, to } => rename_joint(&mut flesh, name, to)?,
        FleshChange::RemoveJoint { name } => {
            let removed = flesh.joints.remove(find_joint(&flesh, name)?);
            let below = flesh.joints.iter_mut().filter(|joint| joint.parent.as_ref() == Some(name));
            below.for_each(|joint| joint.parent.clone_from(&removed.parent));
        }
        FleshChange::Turn { joint, rotation } => turn(document, &mut flesh, joint, *rotation)?,
        FleshChange::ResetTurns {} => flesh.turns.clear(),
    }
    document.flesh = Arc::new(flesh);
    Ok(())
}

fn paint(
    document: &Document,
    flesh: &mut FleshData,
    vertices: &[u32],
    factors: &[f32],
) -> Result<(), SessionError> {
    let n = document.mesh().n_vertices();
    let fail = |cause: String| Err(SessionError::Value { what: "painted stiffness", cause });
    if vertices.len() != factors.len() {
        return fail(format!("{} factors for {} vertices; give one each", factors.len(), vertices.len()));
    }
    if let Some(vertex) = vertices.iter().find(|v| **v as usize >= n) {
        return fail(format!("there is no vertex {vertex}, there are {n}"));
    }
    factors
        .iter()
        .try_for_each(|f| super::within("painted stiffness", f64::from(*f), FACTORS).map(|_| ()))?;
    let mut layer = flesh.paint.take().map_or_else(|| vec![1.0; n], |layer| layer.to_vec());
    vertices.iter().zip(factors).for_each(|(v, factor)| layer[*v as usize] = *factor);
    flesh.paint = Some(Arc::new(layer)).filter(|layer| layer.iter().any(|factor| *factor != 1.0));
    Ok(())
}

fn find_joint(flesh: &FleshData, name: &str) -> Result<usize, SessionError> {
    let names = || flesh.joints.iter().map(|joint| joint.name.as_str());
    names().position(|own| own == name).ok_or_else(|| SessionError::absent("joint", name, names()))
}

fn put_joint(document: &Document, flesh: &mut FleshData, joint: &JointData) -> Result<(), SessionError> {
    if document.body.skin.is_some() && !flesh.bound {
        let cause = "the character has a skeleton and a skin already; joints are put into one without";
        return Err(SessionError::Value { what: "joint", cause: cause.into() });
    }
    if joint.position.iter().any(|x| !x.is_finite()) {
        return Err(SessionError::Value { what: "joint", cause: "its place is not finite".into() });
    }
    // From the one above upwards, it must not be met again.
    let mut above = joint.parent.as_ref();
    for _ in 0..=flesh.joints.len() {
        let Some(name) = above else { break };
        if *name == joint.name {
            let cause = format!("{name:?} would be its own ancestor; choose another parent");
            return Err(SessionError::Value { what: "joint", cause });
        }
        above = flesh.joints[find_joint(flesh, name)?].parent.as_ref();
    }
    match find_joint(flesh, &joint.name) {
        Ok(at) => flesh.joints[at] = joint.clone(),
        Err(_) => {
            super::check_name("joint", &joint.name, false)?;
            super::within("number of joints", (flesh.joints.len() + 1) as f64, [1.0, MAX_JOINTS as f64])?;
            flesh.joints.push(joint.clone());
        }
    }
    Ok(())
}

fn rename_joint(flesh: &mut FleshData, name: &str, to: &str) -> Result<(), SessionError> {
    let at = find_joint(flesh, name)?;
    super::check_name("joint", to, name != to && find_joint(flesh, to).is_ok())?;
    to.clone_into(&mut flesh.joints[at].name);
    let parents = flesh.joints.iter_mut().filter_map(|joint| joint.parent.as_mut());
    parents.filter(|parent| *parent == name).for_each(|parent| to.clone_into(parent));
    Ok(())
}

fn turn(
    document: &Document,
    flesh: &mut FleshData,
    joint: &str,
    rotation: [f64; 4],
) -> Result<(), SessionError> {
    let rig = crate::rules::rig_of(document)?;
    let names = rig.joints().iter().map(|joint| joint.name.as_str());
    rig.find(joint).ok_or_else(|| SessionError::absent("joint", joint, names))?;
    let turn = DQuat::from_array(rotation);
    if !turn.is_finite() || turn.length_squared() < 1e-12 {
        return Err(SessionError::Value { what: "turn", cause: "it is not a rotation".into() });
    }
    let turn = turn.normalize();
    flesh.turns.retain(|(name, _)| name != joint);
    if turn.angle_between(DQuat::IDENTITY) > 1e-9 {
        flesh.turns.push((joint.to_owned(), turn.to_array()));
    }
    Ok(())
}

/// The pose of the joints, as a clip of one frame. One of the same name that is one is replaced.
pub(super) fn keep_turns(document: &mut Document, clip: &str) -> Result<(), SessionError> {
    let rig = crate::rules::rig_of(document)?;
    let pose = turned_pose(document).unwrap_or_else(|| rig.rest_pose());
    let kept = Clip::from_pose(clip, rig, &pose)?;
    super::character::store_pose(document, kept)
}
