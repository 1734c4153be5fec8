//! Commands on muscles.

use crate::{Document, FleshData, MuscleCurve, MuscleData, SessionError, muscles_from_json};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sinew_flesh::{FleshError, muscle::MuscleShape};
use std::sync::Arc;

/// Keys nearer to each other than this are one, in seconds.
const SAME_TIME: f64 = 1e-4;

/// One change of the muscles. Angles are radians, as in the library; the value `muscles` has the format of a muscle file.
/// The names of older journals, `rigs` and `rig`, are read as well.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum MuscleChange {
    /// Replace all control parameters and muscles.
    Set {
        #[serde(alias = "rigs")]
        #[cfg_attr(feature = "ts", ts(type = "unknown"))]
        muscles: Value,
    },
    /// Add muscles, and control parameters that do not exist yet.
    Add {
        #[serde(alias = "rigs")]
        #[cfg_attr(feature = "ts", ts(type = "unknown"))]
        muscles: Value,
    },
    Remove {
        #[serde(alias = "rig")]
        muscle: String,
    },
    /// Parameters of a template at a value of its control parameter.
    Record {
        #[serde(alias = "rig")]
        muscle: String,
        at: f64,
        eta: Vec<f64>,
    },
    Forget {
        #[serde(alias = "rig")]
        muscle: String,
        at: f64,
    },
    /// How many times as stiff flesh is where the muscle acts fully.
    Stiffen {
        #[serde(alias = "rig")]
        muscle: String,
        factor: f64,
    },
    /// Value of the slider of a free control parameter.
    Value { control: String, value: f64 },
    /// A key of a curve over a clip; without a value, the one at that time is taken out.
    Key { clip: String, control: String, time: f64, value: Option<f64> },
}

impl MuscleChange {
    pub(super) fn label(&self) -> String {
        match self {
            Self::Set { .. } => "Set muscles".into(),
            Self::Add { .. } => "Add muscle".into(),
            Self::Remove { muscle } => format!("Remove muscle {muscle}"),
            Self::Record { muscle, .. } => format!("Shape muscle {muscle}"),
            Self::Forget { muscle, .. } => format!("Remove sample of {muscle}"),
            Self::Stiffen { muscle, .. } => format!("Stiffen by {muscle}"),
            Self::Value { control, .. } => format!("Set {control}"),
            Self::Key { control, value: None, .. } => format!("Remove key of {control}"),
            Self::Key { control, .. } => format!("Key {control}"),
        }
    }

    pub(super) fn merge_key(&self) -> Option<String> {
        match self {
            Self::Record { muscle, at, .. } => Some(format!("muscle {muscle} {at}")),
            Self::Stiffen { muscle, .. } => Some(format!("stiffen {muscle}")),
            Self::Value { control, .. } => Some(format!("control {control}")),
            _ => None,
        }
    }
}

pub(super) fn change(document: &mut Document, change: &MuscleChange) -> Result<(), SessionError> {
    let mut data = document.flesh.muscles.clone();
    apply(document, &mut data, change)?;
    data.check()?;
    document.flesh = Arc::new(FleshData { muscles: data, ..(*document.flesh).clone() });
    Ok(())
}

fn apply(document: &Document, data: &mut MuscleData, change: &MuscleChange) -> Result<(), SessionError> {
    let find = |data: &MuscleData, muscle: &str| data.set.muscle(muscle).map_err(FleshError::from);
    match change {
        MuscleChange::Set { muscles } => {
            data.set = muscles_from_json(muscles)?;
            keep_known(data);
        }
        MuscleChange::Add { muscles } => {
            let added = muscles_from_json(muscles)?;
            let is_new = |name: &str| !data.set.controls.iter().any(|control| control.name == name);
            let controls: Vec<_> = added.controls.into_iter().filter(|c| is_new(&c.name)).collect();
            data.set.controls.extend(controls);
            data.set.muscles.extend(added.muscles);
        }
        MuscleChange::Remove { muscle } => {
            let removed = data.set.muscles.remove(find(data, muscle)?);
            if !data.set.muscles.iter().any(|other| other.control == removed.control) {
                data.set.controls.retain(|control| control.name != removed.control);
            }
            keep_known(data);
        }
        MuscleChange::Record { muscle, at, eta } => {
            let muscle = find(data, muscle)?;
            match &mut data.set.muscles[muscle].shape {
                MuscleShape::Template { samples, .. } => samples.record(*at, eta.clone()),
                MuscleShape::Surface { .. } => {
                    let cause = "one made of a surface has no parameters to record".into();
                    return Err(SessionError::Value { what: "muscle", cause });
                }
            }
        }
        MuscleChange::Forget { muscle, at } => {
            let muscle = find(data, muscle)?;
            match &mut data.set.muscles[muscle].shape {
                MuscleShape::Template { samples, .. } => samples.remove(*at),
                MuscleShape::Surface { samples, .. } => samples.retain(|(own, _)| own != at),
            }
        }
        MuscleChange::Stiffen { muscle, factor } => {
            let muscle = find(data, muscle)?;
            data.set.muscles[muscle].stiffen = *factor;
        }
        MuscleChange::Value { control, value } => {
            data.values.retain(|(name, _)| name != control);
            data.values.push((control.clone(), *value));
        }
        MuscleChange::Key { clip, control, time, value } => {
            document.find_clip(clip)?;
            super::within("time of a key", *time, [0.0, 1e6])?;
            set_key(data, clip, control, *time, *value);
        }
    }
    Ok(())
}

fn set_key(data: &mut MuscleData, clip: &str, control: &str, time: f64, value: Option<f64>) {
    let mut keys = data.curve(clip, control).map(|curve| curve.keys.clone()).unwrap_or_default();
    keys.retain(|(own, _)| (own - time).abs() > SAME_TIME);
    keys.extend(value.map(|value| (time, value)));
    keys.sort_by(|a, b| a.0.total_cmp(&b.0));
    data.curves.retain(|curve| curve.clip != clip || curve.control != control);
    if !keys.is_empty() {
        data.curves.push(MuscleCurve { clip: clip.to_owned(), control: control.to_owned(), keys });
    }
}

/// Values and curves of control parameters that are gone go with them.
fn keep_known(data: &mut MuscleData) {
    let names: Vec<String> = data.set.controls.iter().map(|control| control.name.clone()).collect();
    data.values.retain(|(name, _)| names.contains(name));
    data.curves.retain(|curve| names.contains(&curve.control));
}

/// Curves over a clip are those of it under its new name, or of none.
pub(crate) fn rename_clip(document: &mut Document, clip: &str, to: Option<&str>) {
    if !document.flesh.muscles.curves.iter().any(|curve| curve.clip == clip) {
        return;
    }
    let mut flesh = (*document.flesh).clone();
    match to {
        Some(to) => {
            let own = flesh.muscles.curves.iter_mut().filter(|curve| curve.clip == clip);
            own.for_each(|curve| to.clone_into(&mut curve.clip));
        }
        None => flesh.muscles.curves.retain(|curve| curve.clip != clip),
    }
    document.flesh = Arc::new(flesh);
}
