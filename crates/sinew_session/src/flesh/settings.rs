//! What a user can choose about flesh, as it is kept in projects and sent by pages.

use crate::{
    Document, SessionError,
    command::within,
    limits::{BONE_RADIUS, FLESH_CELLS, FLESH_STEP_SECS, FRICTION, SOFTNESS},
};
use glam::DVec3;
use serde::{Deserialize, Serialize};
use sinew_flesh::{
    AdaptiveParams, BakeParams, BoneParams, Collider, ElementKind, FleshParams, LatticeParams, LatticeSource,
    Material, Mode, Obstacle, SimulationParams,
};
use sinew_geom::{Character, Mesh};

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

/// What only the command line can choose about flesh; see [`SimulationParams`] for what it means.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub struct FleshExtras {
    /// Side of the cells in metres, instead of their number.
    pub cell_size: Option<f64>,
    pub source: LatticeSource,
    pub smooth: bool,
    pub softness: f64,
    pub stiffer: Vec<(usize, f64)>,
    pub paint: Vec<f32>,
    pub element: ElementKind,
    pub tolerance: f64,
    /// Beside those of the settings.
    pub obstacles: Vec<Obstacle>,
    pub pins: Vec<(u32, DVec3)>,
    /// Whether handles hold it instead of bones.
    pub on_handles: bool,
    pub adaptive: Option<AdaptiveParams>,
    pub looped: Option<bool>,
    pub settle: bool,
}

impl Default for FleshExtras {
    fn default() -> Self {
        let BakeParams { simulation, adaptive, looped, settle, .. } = BakeParams::default();
        Self {
            cell_size: simulation.lattice.size,
            source: simulation.source,
            smooth: simulation.smooth,
            softness: simulation.softness,
            stiffer: simulation.stiffer,
            paint: simulation.paint,
            element: simulation.flesh.element,
            tolerance: simulation.flesh.tolerance,
            obstacles: simulation.obstacles,
            pins: simulation.pins,
            on_handles: false,
            adaptive,
            looped,
            settle,
        }
    }
}

impl FleshExtras {
    /// Whether nothing but the settings would keep a body from falling for ever.
    fn lets_fall(&self) -> bool {
        !self.on_handles && self.obstacles.is_empty() && self.pins.is_empty()
    }
}

impl FleshSettings {
    /// Stiffness of a body that has none of its own.
    pub fn usual_stiffness(mesh: &Mesh) -> f64 {
        let [low, high] = mesh.bounds();
        Material::of_size((high - low).max_element()).young
    }

    pub(crate) fn params(&self, document: &Document) -> Result<BakeParams, SessionError> {
        self.bake_params(&document.body, FleshExtras::default())
    }

    /// What the simulation of a character is given.
    ///
    /// # Errors
    /// If a number is outside its range.
    pub fn bake_params(&self, body: &Character, extras: FleshExtras) -> Result<BakeParams, SessionError> {
        self.check(&extras)?;
        let material = Material {
            young: self.stiffness.unwrap_or_else(|| Self::usual_stiffness(&body.mesh)),
            poisson: self.poisson,
            density: self.density,
        };
        material.check()?;
        let simulation = SimulationParams {
            lattice: LatticeParams { cells: self.cells, size: extras.cell_size },
            material,
            safe_stiffness: self.stiffness.is_none(),
            bones: BoneParams { radius: self.bone_radius, ..BoneParams::default() },
            flesh: self.flesh_params(&extras)?,
            obstacles: self.obstacles(body, &extras)?,
            source: extras.source,
            smooth: extras.smooth,
            softness: extras.softness,
            stiffer: extras.stiffer,
            paint: extras.paint,
            pins: extras.pins,
        };
        let FleshExtras { adaptive, looped, settle, .. } = extras;
        Ok(BakeParams { simulation, adaptive, max_step: self.step, looped, settle })
    }

    fn check(&self, extras: &FleshExtras) -> Result<(), SessionError> {
        within("thickness of bones", self.bone_radius, BONE_RADIUS)?;
        within("longest step", self.step, FLESH_STEP_SECS)?;
        within("friction", self.friction, FRICTION)?;
        within("softness", extras.softness, SOFTNESS)?;
        within("number of cells", self.cells as f64, FLESH_CELLS)?;
        within("number of colliders", self.colliders.len() as f64, [0.0, MAX_COLLIDERS as f64])?;
        Ok(())
    }

    fn flesh_params(&self, extras: &FleshExtras) -> Result<FleshParams, SessionError> {
        let names = Mode::ALL.map(Mode::name).into_iter();
        let mode = Mode::from_name(&self.mode)
            .ok_or_else(|| SessionError::absent("mode of flesh", &self.mode, names))?;
        let flesh = FleshParams {
            mode,
            element: extras.element,
            gravity: DVec3::from_array(self.gravity),
            stiffness_damping: self.damping,
            tolerance: extras.tolerance,
            ..FleshParams::default()
        };
        flesh.check()?;
        Ok(flesh)
    }

    fn obstacles(&self, body: &Character, extras: &FleshExtras) -> Result<Vec<Obstacle>, SessionError> {
        let ground = || if extras.lets_fall() { ground_of(body) } else { None };
        let floor = self.floor.or_else(ground);
        let shapes = floor.map(Collider::floor).into_iter().chain(self.colliders.iter().map(collider));
        let own = shapes.map(|shape| Obstacle { shape, friction: self.friction });
        let obstacles: Vec<Obstacle> = own.chain(extras.obstacles.iter().cloned()).collect();
        obstacles.iter().try_for_each(|obstacle| obstacle.shape.check())?;
        Ok(obstacles)
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
fn ground_of(body: &Character) -> Option<f64> {
    let is_hung = body.skin.is_some() && body.rig.is_some();
    (!is_hung).then(|| body.mesh.bounds()[0].y)
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
