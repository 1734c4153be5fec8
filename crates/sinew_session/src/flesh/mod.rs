//! Flesh of the document: what it is made of, how stiff it is painted, what is in its way, and joints placed by the user.

mod bake;
mod live;
mod muscle_bench;
mod muscle_file;
mod muscles;
mod settings;
mod simulate;
mod skeleton;
#[cfg(test)]
mod tests;

pub use bake::{FleshBake, FleshReport, bake_flesh};
pub(crate) use bake::{FleshKey, Fleshed};
pub use live::{FleshStatus, LiveFlesh};
pub use muscle_bench::{MuscleBench, MusclePlace};
pub use muscle_file::{muscles_from_json, muscles_to_json, read_muscles};
pub(crate) use muscles::pose_in;
pub use muscles::{MuscleCurve, MuscleData, ShownMuscle, control_value_in, shown_muscles};
pub use settings::{ColliderData, FleshExtras, FleshSettings};
pub use simulate::{FleshRunner, FleshSteps, flesh_timing, simulate_flesh};
pub(crate) use skeleton::bind;
pub use skeleton::{FleshJoint, JointData, posed_joints, turned_pose};

use crate::{Document, SessionError};
use serde::{Deserialize, Serialize};
use sinew_flesh::BakeParams;
use std::sync::Arc;

/// Flesh of a document.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FleshData {
    /// What it is made of, and how it is simulated.
    pub settings: FleshSettings,
    /// Joints placed by the user.
    pub joints: Vec<JointData>,
    /// Whether the skeleton of the character was made of them.
    pub bound: bool,
    /// How joints of the skeleton are turned from rest, in their own axes: names, and x, y, z, w.
    pub turns: Vec<(String, [f64; 4])>,
    /// Muscles that shape it; files of older versions call them `rigs`.
    #[serde(alias = "rigs")]
    pub muscles: MuscleData,
    /// How much stiffer each vertex is; nothing if it is not painted. Kept as bytes beside the rest.
    #[serde(skip)]
    pub paint: Option<Arc<Vec<f32>>>,
}

impl FleshData {
    /// What the simulation of a document is given.
    ///
    /// # Errors
    /// If a setting is invalid.
    pub fn params(&self, document: &Document) -> Result<BakeParams, SessionError> {
        let paint = self.paint.as_ref().map(|paint| paint.to_vec()).unwrap_or_default();
        let mut params = self.settings.params(document)?;
        params.simulation.paint = paint;
        Ok(params)
    }

    /// Of a body of another size. Stiffness that was given stays, stiffness by size follows.
    pub(crate) fn scaled(&self, factor: f64) -> Self {
        let mut scaled = self.clone();
        scaled.joints.iter_mut().flat_map(|joint| &mut joint.position).for_each(|x| *x *= factor);
        scaled.settings.scale(factor);
        scaled.muscles.scale(factor);
        scaled
    }

    pub(crate) fn n_bytes(&self) -> usize {
        let paint = self.paint.as_ref().map_or(0, |paint| size_of_val(&paint[..]));
        size_of::<Self>() + 128 * (self.joints.len() + self.turns.len()) + paint
    }
}
