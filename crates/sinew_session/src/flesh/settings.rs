//! What a user can choose about flesh, as it is kept in projects and sent by pages.

use crate::{Document, SessionError};
use glam::DVec3;
use serde::{Deserialize, Serialize};
use sinew_flesh::{
    BakeParams, BoneParams, Collider, FleshParams, LatticeParams, Material, Mode, Obstacle, SimulationParams,
};

/// Settings of flesh; see [`BakeParams`] for what they mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(default, deny_unknown_fields)]
pub struct FleshSettings {
    /// About how many cells.
    pub cells: usize,
    /// Young's modulus in pascals; in proportion to the size of the body if absent.
    pub stiffness: Option<f64>,
    /// Poisson's ratio.
    pub poisson: f64,
    /// Kilograms per cubic metre.
    pub density: f64,
    /// Damping of changes of shape, in seconds.
    pub damping: f64,
    /// `predicted`, `neohookean` and so on.
    pub mode: String,
    /// Thickness of bones, as a share of the way to the surface.
    pub bone_radius: f64,
    /// Metres per second squared.
    pub gravity: [f64; 3],
    /// Longest step in seconds.
    pub step: f64,
    /// Height of the floor, if there is one. A body without bones always rests on one below it.
    pub floor: Option<f64>,
    /// Coulomb's coefficient of everything solid.
    pub friction: f64,
    /// Other obstacles.
    pub colliders: Vec<ColliderData>,
}

/// Something solid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "Collider"))]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum ColliderData {
    Plane { point: [f64; 3], normal: [f64; 3] },
    Ball { center: [f64; 3], radius: f64 },
    Rod { ends: [[f64; 3]; 2], radius: f64 },
}

/// Maximum number of colliders; more are taken for a mistake.
const MAX_COLLIDERS: usize = 100;

impl Default for FleshSettings {
    fn default() -> Self {
        let BakeParams { simulation, max_step, .. } = BakeParams::default();
        let SimulationParams { lattice, material, bones, flesh, .. } = simulation;
        Self {
            cells: lattice.cells,
            stiffness: None,
            poisson: material.poisson,
            density: material.density,
            damping: flesh.stiffness_damping,
            mode: flesh.mode.name().into(),
            bone_radius: bones.radius,
            gravity: flesh.gravity.to_array(),
            step: max_step,
            floor: None,
            friction: 0.5,
            colliders: Vec::new(),
        }
    }
}

impl FleshSettings {
    /// Stiffness of a document that has none of its own.
    pub fn usual_stiffness(document: &Document) -> f64 {
        let [low, high] = document.mesh().bounds();
        Material::of_size((high - low).max_element()).young
    }

    pub(crate) fn params(&self, document: &Document) -> Result<BakeParams, SessionError> {
        let within = crate::command::within;
        let names = Mode::ALL.map(Mode::name).into_iter();
        let mode = Mode::from_name(&self.mode)
            .ok_or_else(|| SessionError::absent("mode of flesh", &self.mode, names))?;
        within("thickness of bones", self.bone_radius, [0.0, 0.95])?;
        within("longest step", self.step, [1e-4, 0.1])?;
        within("friction", self.friction, [0.0, 100.0])?;
        within("number of cells", self.cells as f64, [1.0, 200_000.0])?;
        within("number of colliders", self.colliders.len() as f64, [0.0, MAX_COLLIDERS as f64])?;
        let material = Material {
            young: self.stiffness.unwrap_or_else(|| Self::usual_stiffness(document)),
            poisson: self.poisson,
            density: self.density,
        };
        material.check()?;
        let flesh = FleshParams {
            mode,
            gravity: DVec3::from_array(self.gravity),
            stiffness_damping: self.damping,
            ..FleshParams::default()
        };
        flesh.check()?;
        let floor = self.floor.or_else(|| ground_of(document));
        let shapes = floor.map(Collider::floor).into_iter().chain(self.colliders.iter().map(collider));
        let obstacles: Vec<Obstacle> =
            shapes.map(|shape| Obstacle { shape, friction: self.friction }).collect();
        obstacles.iter().try_for_each(|obstacle| obstacle.shape.check())?;
        let simulation = SimulationParams {
            lattice: LatticeParams { cells: self.cells, size: None },
            material,
            safe_stiffness: self.stiffness.is_none(),
            bones: BoneParams { radius: self.bone_radius, ..BoneParams::default() },
            flesh,
            obstacles,
            ..SimulationParams::default()
        };
        Ok(BakeParams { simulation, max_step: self.step, ..BakeParams::default() })
    }

    pub(crate) fn scale(&mut self, factor: f64) {
        self.floor.iter_mut().for_each(|height| *height *= factor);
        for collider in &mut self.colliders {
            match collider {
                ColliderData::Plane { point, .. } => point.iter_mut().for_each(|x| *x *= factor),
                ColliderData::Ball { center, radius } => {
                    center.iter_mut().chain([radius]).for_each(|x| *x *= factor);
                }
                ColliderData::Rod { ends, radius } => {
                    ends.iter_mut().flatten().chain([radius]).for_each(|x| *x *= factor);
                }
            }
        }
    }
}

/// A body without bones would fall for ever: it rests on the ground below it.
fn ground_of(document: &Document) -> Option<f64> {
    let is_hung = document.body.skin.is_some() && document.body.rig.is_some();
    (!is_hung).then(|| document.mesh().bounds()[0].y)
}

fn collider(data: &ColliderData) -> Collider {
    match data {
        ColliderData::Plane { point, normal } => {
            let (point, normal) = (DVec3::from_array(*point), DVec3::from_array(*normal));
            // A normal without direction stays what it is, and is refused.
            Collider::Plane { point, normal: normal.try_normalize().unwrap_or(normal) }
        }
        ColliderData::Ball { center, radius } => {
            Collider::Sphere { center: DVec3::from_array(*center), radius: *radius }
        }
        ColliderData::Rod { ends, radius } => {
            Collider::Capsule { ends: ends.map(DVec3::from_array), radius: *radius }
        }
    }
}
