//! Muscles of the document: control parameters, muscles, slider values, and curves over clips.

use super::{muscles_from_json, muscles_to_json};
use crate::{Display, Document, SessionError, turned_pose};
use glam::DVec3;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sinew_flesh::{
    FleshError, Lattice,
    muscle::{Control, Curve, Guide, Muscle, MuscleDrive, MuscleSet, MuscleShape},
};
use sinew_geom::Pose;

/// Muscles of a document.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "MuscleText", into = "MuscleText")]
pub struct MuscleData {
    /// Control parameters and muscles.
    pub set: MuscleSet,
    /// Values of free control parameters, as set by their sliders; 0 if not named.
    pub values: Vec<(String, f64)>,
    /// Values over clips.
    pub curves: Vec<MuscleCurve>,
}

/// A control parameter over a clip.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct MuscleCurve {
    /// The clip, by name.
    pub clip: String,
    /// The control parameter.
    pub control: String,
    /// Seconds and values, by rising time.
    pub keys: Vec<(f64, f64)>,
}

/// How it is written: muscles as in a muscle file.
#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct MuscleText {
    set: Value,
    values: Vec<(String, f64)>,
    curves: Vec<MuscleCurve>,
}

impl From<MuscleData> for MuscleText {
    fn from(data: MuscleData) -> Self {
        Self { set: muscles_to_json(&data.set), values: data.values, curves: data.curves }
    }
}

impl TryFrom<MuscleText> for MuscleData {
    type Error = String;

    fn try_from(text: MuscleText) -> Result<Self, String> {
        let set = match text.set {
            Value::Null => MuscleSet::default(),
            set => muscles_from_json(&set).map_err(|error| error.to_string())?,
        };
        let data = Self { set, values: text.values, curves: text.curves };
        data.check().map_err(|error| error.to_string())?;
        Ok(data)
    }
}

impl MuscleData {
    /// Every name known, every number finite.
    ///
    /// # Errors
    /// The first thing that is not so.
    pub fn check(&self) -> Result<(), SessionError> {
        self.set.check().map_err(FleshError::from)?;
        for (name, value) in &self.values {
            self.set.control(name).map_err(FleshError::from)?;
            if !value.is_finite() {
                let cause = format!("the value of {name:?} is not finite");
                return Err(SessionError::Value { what: "control parameter", cause });
            }
        }
        for curve in &self.curves {
            self.set.control(&curve.control).map_err(FleshError::from)?;
            Curve::new(curve.keys.clone()).map_err(FleshError::from)?;
        }
        Ok(())
    }

    /// Slider value of a free control parameter.
    pub fn value(&self, control: &str) -> f64 {
        self.values.iter().find(|(name, _)| name == control).map_or(0.0, |(_, value)| *value)
    }

    /// The curve of a control parameter over a clip.
    pub fn curve(&self, clip: &str, control: &str) -> Option<&MuscleCurve> {
        self.curves.iter().find(|curve| curve.clip == clip && curve.control == control)
    }

    /// Value of a free control parameter in what is shown: that of its curve, else that of its slider.
    pub fn value_in(&self, control: &str, display: &Display) -> f64 {
        let of_clip = match display {
            Display::Clip { clip, time } => self
                .curve(clip, control)
                .and_then(|curve| Curve::new(curve.keys.clone()).ok())
                .map(|curve| curve.at(f64::from(*time))),
            _ => None,
        };
        of_clip.unwrap_or_else(|| self.value(control))
    }

    /// What acts in a simulation over a clip, or at rest; `None` without muscles.
    ///
    /// # Errors
    /// Muscles that do not fit the lattice.
    pub fn drive(&self, lattice: &Lattice, clip: Option<&str>) -> Result<Option<MuscleDrive>, SessionError> {
        if self.set.muscles.is_empty() {
            return Ok(None);
        }
        let curve = |control: &Control| {
            let own = clip.and_then(|clip| self.curve(clip, &control.name));
            let curve = match own {
                Some(curve) => Curve::new(curve.keys.clone())?,
                None => Curve::constant(self.value(&control.name)),
            };
            Ok((control.name.clone(), curve))
        };
        let curves = self.set.controls.iter().map(curve).collect::<Result<_, FleshError>>()?;
        Ok(Some(MuscleDrive::new(&self.set, lattice, curves, Vec::new())?))
    }

    /// Of a body of another size: forces per volume stay, and with flesh as stiff as it is large the shape does, too.
    pub(crate) fn scale(&mut self, factor: f64) {
        for muscle in &mut self.set.muscles {
            muscle.pose.iter_mut().for_each(|(_, local)| local.translation *= factor);
            let names = muscle.parameters();
            match &mut muscle.shape {
                MuscleShape::Template { guide, samples, .. } => {
                    match guide {
                        Guide::Bone { ends, .. } => ends.iter_mut().for_each(|p| *p *= factor),
                        Guide::Skin { point, .. } => *point *= factor,
                        Guide::Free => {}
                    }
                    let is_length = |name: &str| LENGTHS.contains(&name);
                    for (at, mut eta) in samples.list().to_vec() {
                        let lengths = names.iter().zip(&mut eta).filter(|(name, _)| is_length(name));
                        lengths.for_each(|(_, x)| *x *= factor);
                        samples.record(at, eta);
                    }
                }
                MuscleShape::Surface { cell_size, samples, .. } => {
                    *cell_size *= factor;
                    let forces = samples.iter_mut().flat_map(|(_, forces)| forces);
                    forces.for_each(|f: &mut DVec3| *f *= factor.powi(3));
                }
            }
        }
    }
}

/// Parameters that are lengths.
const LENGTHS: [&str; 7] = ["radius", "ring", "depth", "orbit", "x", "y", "z"];

/// A muscle as it is shown.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ShownMuscle {
    /// Its name.
    pub name: String,
    /// The control parameter it follows, and what that is now.
    pub control: String,
    /// What that is now.
    pub at: f64,
    /// The template; `None` for a muscle made from a surface.
    pub template: Option<&'static str>,
    /// What it is placed by.
    pub guide: Option<&'static str>,
    /// Names of its parameters, and their values now.
    pub parameters: Vec<(&'static str, f64)>,
    /// Values of the control parameter at which something is recorded.
    pub samples: Vec<f64>,
    /// How many times as stiff flesh is where it acts fully.
    pub stiffen: f64,
    /// Middle of its template, at rest.
    pub center: Option<[f64; 3]>,
    /// How far it reaches.
    pub reach: f64,
}

/// The muscles of a document in what is shown.
pub fn shown_muscles(document: &Document, display: &Display) -> Vec<ShownMuscle> {
    let data = &document.flesh.muscles;
    let gamma = |name: &str| control_value_in(document, display, name).unwrap_or(0.0);
    let shown = |muscle: &Muscle| {
        let at = gamma(&muscle.control);
        let mut shown = ShownMuscle {
            name: muscle.name.clone(),
            control: muscle.control.clone(),
            at,
            template: None,
            guide: None,
            parameters: Vec::new(),
            samples: muscle.sampled_at(),
            stiffen: muscle.stiffen,
            center: None,
            reach: 0.0,
        };
        if let MuscleShape::Template { template, guide, samples } = &muscle.shape {
            let eta = samples.at(at);
            let (own, rest) = eta.split_at(template.parameters().len().min(eta.len()));
            shown.template = Some(template.name());
            shown.guide = Some(guide.name());
            shown.parameters = muscle.parameters().into_iter().zip(eta.iter().copied()).collect();
            if rest.len() == guide.parameters().len() {
                shown.center = Some(guide.frame(rest).center.to_array());
                shown.reach = template.reach(own);
            }
        }
        shown
    };
    data.set.muscles.iter().map(shown).collect()
}

/// Value of a control parameter in what is shown: an angle of the pose, a curve, or a slider.
pub fn control_value_in(document: &Document, display: &Display, control: &str) -> Option<f64> {
    let data = &document.flesh.muscles;
    let known = &data.set.controls[data.set.control(control).ok()?];
    let pose = pose_in(document, display);
    let posed = document.body.rig.as_ref().zip(pose.as_ref());
    known.in_pose(posed).ok()?.or_else(|| Some(data.value_in(control, display)))
}

/// The pose of the bones in what a document shows.
pub(crate) fn pose_in(document: &Document, display: &Display) -> Option<Pose> {
    let rig = document.body.rig.as_ref()?;
    if let Display::Clip { clip, time } = display
        && let Ok(at) = document.find_clip(clip)
    {
        return Some(document.clips[at].sample(rig, *time));
    }
    turned_pose(document)
}
