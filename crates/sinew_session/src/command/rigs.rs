//! Commands on force rigs.

use crate::{Document, FleshData, RigCurve, RigData, SessionError};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sinew_flesh::{
    FleshError,
    rig::{RigShape, file},
};
use std::sync::Arc;

/// Keys nearer to each other than this are one, in seconds.
const SAME_TIME: f64 = 1e-4;

/// One change of the rigs. Angles are radians here, as the library has them; `rigs` are as in rigs.json.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum RigChange {
    /// Exchange all control parameters and rigs.
    Set {
        rigs: Value,
    },
    /// Add rigs, and control parameters that are not there yet.
    Add {
        rigs: Value,
    },
    Remove {
        rig: String,
    },
    /// Parameters of a template at a value of its control parameter.
    Record {
        rig: String,
        at: f64,
        eta: Vec<f64>,
    },
    Forget {
        rig: String,
        at: f64,
    },
    /// How many times as stiff flesh is where the rig acts fully.
    Stiffen {
        rig: String,
        factor: f64,
    },
    /// How the slider of a free control parameter stands.
    Value {
        control: String,
        value: f64,
    },
    /// A key of a curve over a clip; without a value, the one at that time is taken out.
    Key {
        clip: String,
        control: String,
        time: f64,
        value: Option<f64>,
    },
}

impl RigChange {
    pub(super) fn label(&self) -> String {
        match self {
            Self::Set { .. } => "Set rigs".into(),
            Self::Add { .. } => "Add rig".into(),
            Self::Remove { rig } => format!("Remove rig {rig}"),
            Self::Record { rig, .. } => format!("Shape rig {rig}"),
            Self::Forget { rig, .. } => format!("Forget sample of {rig}"),
            Self::Stiffen { rig, .. } => format!("Stiffen by {rig}"),
            Self::Value { control, .. } => format!("Set {control}"),
            Self::Key { control, value: None, .. } => format!("Remove key of {control}"),
            Self::Key { control, .. } => format!("Key {control}"),
        }
    }

    pub(super) fn merge_key(&self) -> Option<String> {
        match self {
            Self::Record { rig, at, .. } => Some(format!("rig {rig} {at}")),
            Self::Stiffen { rig, .. } => Some(format!("stiffen {rig}")),
            Self::Value { control, .. } => Some(format!("control {control}")),
            _ => None,
        }
    }
}

pub(super) fn change(document: &mut Document, change: &RigChange) -> Result<(), SessionError> {
    let mut data = document.flesh.rigs.clone();
    apply(document, &mut data, change)?;
    data.check()?;
    document.flesh = Arc::new(FleshData { rigs: data, ..(*document.flesh).clone() });
    Ok(())
}

fn apply(document: &Document, data: &mut RigData, change: &RigChange) -> Result<(), SessionError> {
    let find = |data: &RigData, rig: &str| data.set.rig(rig).map_err(FleshError::from);
    match change {
        RigChange::Set { rigs } => {
            data.set = file::from_json(rigs).map_err(FleshError::from)?;
            keep_known(data);
        }
        RigChange::Add { rigs } => {
            let added = file::from_json(rigs).map_err(FleshError::from)?;
            let is_new = |name: &str| !data.set.controls.iter().any(|control| control.name == name);
            let controls: Vec<_> = added.controls.into_iter().filter(|c| is_new(&c.name)).collect();
            data.set.controls.extend(controls);
            data.set.rigs.extend(added.rigs);
        }
        RigChange::Remove { rig } => {
            let removed = data.set.rigs.remove(find(data, rig)?);
            if !data.set.rigs.iter().any(|other| other.control == removed.control) {
                data.set.controls.retain(|control| control.name != removed.control);
            }
            keep_known(data);
        }
        RigChange::Record { rig, at, eta } => {
            let rig = find(data, rig)?;
            match &mut data.set.rigs[rig].shape {
                RigShape::Template { samples, .. } => samples.record(*at, eta.clone()),
                RigShape::Surface { .. } => {
                    let cause = "one made of a surface has no parameters to record".into();
                    return Err(SessionError::Value { what: "rig", cause });
                }
            }
        }
        RigChange::Forget { rig, at } => {
            let rig = find(data, rig)?;
            match &mut data.set.rigs[rig].shape {
                RigShape::Template { samples, .. } => samples.remove(*at),
                RigShape::Surface { samples, .. } => samples.retain(|(own, _)| own != at),
            }
        }
        RigChange::Stiffen { rig, factor } => {
            let rig = find(data, rig)?;
            data.set.rigs[rig].stiffen = *factor;
        }
        RigChange::Value { control, value } => {
            data.values.retain(|(name, _)| name != control);
            data.values.push((control.clone(), *value));
        }
        RigChange::Key { clip, control, time, value } => {
            document.find_clip(clip)?;
            super::within("time of a key", *time, [0.0, 1e6])?;
            set_key(data, clip, control, *time, *value);
        }
    }
    Ok(())
}

fn set_key(data: &mut RigData, clip: &str, control: &str, time: f64, value: Option<f64>) {
    let mut keys = data.curve(clip, control).map(|curve| curve.keys.clone()).unwrap_or_default();
    keys.retain(|(own, _)| (own - time).abs() > SAME_TIME);
    keys.extend(value.map(|value| (time, value)));
    keys.sort_by(|a, b| a.0.total_cmp(&b.0));
    data.curves.retain(|curve| curve.clip != clip || curve.control != control);
    if !keys.is_empty() {
        data.curves.push(RigCurve { clip: clip.to_owned(), control: control.to_owned(), keys });
    }
}

/// Values and curves of control parameters that are gone go with them.
fn keep_known(data: &mut RigData) {
    let names: Vec<String> = data.set.controls.iter().map(|control| control.name.clone()).collect();
    data.values.retain(|(name, _)| names.contains(name));
    data.curves.retain(|curve| names.contains(&curve.control));
}

/// Curves over a clip are those of it under its new name, or of none.
pub(super) fn rename_clip(document: &mut Document, clip: &str, to: Option<&str>) {
    if !document.flesh.rigs.curves.iter().any(|curve| curve.clip == clip) {
        return;
    }
    let mut flesh = (*document.flesh).clone();
    match to {
        Some(to) => {
            let own = flesh.rigs.curves.iter_mut().filter(|curve| curve.clip == clip);
            own.for_each(|curve| to.clone_into(&mut curve.clip));
        }
        None => flesh.rigs.curves.retain(|curve| curve.clip != clip),
    }
    document.flesh = Arc::new(flesh);
}
