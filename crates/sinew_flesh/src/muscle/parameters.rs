//! Control parameters and the maps from them to the parameters of a muscle.
//!
//! # Source
//! Capell (2004), §6.1 (pose and abstract parameters) and §6.3: each muscle follows one control parameter by linear
//! interpolation of recorded samples (algorithm 6.1).
//! # Symbols
//! `Θ` values of all control parameters; `γ` the one a muscle follows; `η` parameters of a muscle; `τ : γ ↦ η`

use super::MuscleError;
use glam::DQuat;
use sinew_geom::{Pose, Rig};

/// Where the value of a control parameter comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ControlSource {
    /// Set by the user or by a curve.
    Free,
    /// Angle by which a joint is turned from its rest, whatever the axis.
    Bend {
        /// Name of the joint.
        joint: String,
    },
    /// Angle of a joint about one of its own axes.
    Angle {
        /// Name of the joint.
        joint: String,
        /// 0, 1, 2 for x, y, z.
        axis: usize,
    },
}

impl ControlSource {
    /// The joint it follows.
    pub fn joint(&self) -> Option<&str> {
        match self {
            Self::Free => None,
            Self::Bend { joint } | Self::Angle { joint, .. } => Some(joint),
        }
    }

    /// `elbow.L.bend`, `head.ry`; anything else is free.
    pub fn parse(text: &str, rig: Option<&Rig>) -> Self {
        let parts = text.rsplit_once('.').filter(|(joint, _)| rig.is_none_or(|r| r.find(joint).is_some()));
        match parts {
            Some((joint, "bend")) => Self::Bend { joint: joint.to_owned() },
            Some((joint, axis @ ("rx" | "ry" | "rz"))) => {
                Self::Angle { joint: joint.to_owned(), axis: (axis.as_bytes()[1] - b'x') as usize }
            }
            _ => Self::Free,
        }
    }

    /// The text that [`Self::parse`] reads; `None` if free.
    pub fn text(&self) -> Option<String> {
        match self {
            Self::Free => None,
            Self::Bend { joint } => Some(format!("{joint}.bend")),
            Self::Angle { joint, axis } => Some(format!("{joint}.r{}", ["x", "y", "z"][*axis])),
        }
    }
}

/// One number that shapes a character: an angle of its pose, or a value that means what muscles make of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Control {
    /// Name, unique among the controls of a character.
    pub name: String,
    /// Where its value comes from.
    pub source: ControlSource,
    /// Of a free one: where a slider ends. Default 0 to 1.
    pub range: [f64; 2],
}

impl Control {
    /// A free one from 0 to 1.
    pub fn free(name: impl Into<String>) -> Self {
        Self { name: name.into(), source: ControlSource::Free, range: [0.0, 1.0] }
    }

    /// Free, or of a joint if its name ends in `.bend`, `.rx`, `.ry` or `.rz`.
    pub fn parse(text: &str, rig: Option<&Rig>) -> Self {
        Self { source: ControlSource::parse(text, rig), ..Self::free(text) }
    }

    /// Its value in a pose, in radians; `None` if free.
    ///
    /// # Errors
    /// A joint that does not exist.
    pub fn in_pose(&self, posed: Option<(&Rig, &Pose)>) -> Result<Option<f64>, MuscleError> {
        let Some(name) = self.source.joint() else { return Ok(None) };
        let Some((rig, pose)) = posed else {
            return Err(MuscleError::NoSkeleton { name: self.name.clone(), joint: name.to_owned() });
        };
        let joint = find_joint(rig, name)?;
        let (at, local) = (&rig.joints()[joint], &pose.locals[joint]);
        let turn: DQuat = at.rest.rotation.inverse() * local.rotation;
        Ok(Some(match &self.source {
            ControlSource::Angle { axis, .. } => at.euler.to_angles(turn)[*axis],
            _ => 2.0 * turn.xyz().length().atan2(turn.w.abs()),
        }))
    }
}

/// A joint by its name.
///
/// # Errors
/// A name no joint has, with those there are.
pub fn find_joint(rig: &Rig, name: &str) -> Result<usize, MuscleError> {
    let known = || rig.joints().iter().map(|joint| joint.name.as_str()).collect::<Vec<_>>().join(", ");
    let unknown = || MuscleError::Unknown { what: "joint", name: name.to_owned(), known: known() };
    rig.find(name).ok_or_else(unknown)
}

/// The piecewise-linear map `τ` of one muscle: samples recorded at values of its control parameter.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Samples {
    list: Vec<(f64, Vec<f64>)>,
}

impl Samples {
    /// Record that at `gamma` the muscle has the parameters `eta` (alg. 6.1); a sample at the same value is replaced.
    pub fn record(&mut self, gamma: f64, eta: Vec<f64>) {
        match self.list.binary_search_by(|(at, _)| at.total_cmp(&gamma)) {
            Ok(at) => self.list[at].1 = eta,
            Err(at) => self.list.insert(at, (gamma, eta)),
        }
    }

    /// What was recorded, by rising value.
    pub fn list(&self) -> &[(f64, Vec<f64>)] {
        &self.list
    }

    /// Forget the sample at a value.
    pub fn remove(&mut self, gamma: f64) {
        self.list.retain(|(at, _)| *at != gamma);
    }

    /// `τ(γ)`: linear between samples, constant beyond; empty without any.
    pub fn at(&self, gamma: f64) -> Vec<f64> {
        let Some((low, high, share)) = bracket(&self.list, gamma) else { return Vec::new() };
        let (low, high) = (&self.list[low].1, &self.list[high].1);
        low.iter().zip(high).map(|(a, b)| a + (b - a) * share).collect()
    }
}

/// The samples around a value, and how far it is from the first to the second.
pub(super) fn bracket<T>(list: &[(f64, T)], gamma: f64) -> Option<(usize, usize, f64)> {
    let last = list.len().checked_sub(1)?;
    let after = list.partition_point(|(at, _)| *at < gamma);
    Some(match after {
        0 => (0, 0, 0.0),
        n if n > last => (last, last, 0.0),
        n => (n - 1, n, (gamma - list[n - 1].0) / (list[n].0 - list[n - 1].0)),
    })
}
