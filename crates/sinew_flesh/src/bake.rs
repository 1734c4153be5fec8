//! A clip with flesh on its bones, frame by frame.
//!
//! # Cost
//! new: the lattice, and the bones in it. Each frame: as many steps as it is longer than the longest allowed.

use crate::{
    AdaptiveParams, Body, BoneParams, FleshError, FleshParams, FleshState, LatticeParams, LatticeSource,
    Material, Obstacle, Simulation, StepReport, adapted::Adapted, rig::RigDrive,
};
use glam::{DVec3, Vec3};
use sinew_geom::{Character, Clip, Pose, Warnings};

/// How a clip is baked.
#[derive(Debug, Clone, PartialEq)]
pub struct BakeParams {
    /// How fine the lattice is.
    pub lattice: LatticeParams,
    /// Where its cells come from. Default cubes of one size.
    pub source: LatticeSource,
    /// Whether cells are halved where flesh deforms and joined where it does not; `lattice` is then that of the smallest, and
    /// `source` does not count. Force rigs and smooth display need cells that stay. Default not.
    pub adaptive: Option<AdaptiveParams>,
    /// Whether the surface is smoothed between cells. Default false.
    pub smooth: bool,
    /// What the flesh is made of.
    pub material: Material,
    /// Joints around which it is stiffer or softer, with factors.
    pub stiffer: Vec<(usize, f64)>,
    /// How much stiffer each vertex is painted, see [`crate::cell_factors`]; empty if nothing is painted.
    pub paint: Vec<f32>,
    /// How it hangs on bones.
    pub bones: BoneParams,
    /// How it is simulated.
    pub flesh: FleshParams,
    /// What is in its way.
    pub obstacles: Vec<Obstacle>,
    /// Vertices that are held exactly, and where. Rigs with belts take their place.
    pub pins: Vec<(u32, DVec3)>,
    /// Longest step in seconds. Default 1/100.
    pub max_step: f64,
    /// Whether it has come to rest in the first pose when the clip begins. Default true.
    pub settle: bool,
}

impl Default for BakeParams {
    fn default() -> Self {
        Self {
            lattice: LatticeParams::default(),
            source: LatticeSource::default(),
            adaptive: None,
            smooth: false,
            material: Material::default(),
            stiffer: Vec::new(),
            paint: Vec::new(),
            bones: BoneParams::default(),
            flesh: FleshParams::default(),
            obstacles: Vec::new(),
            pins: Vec::new(),
            max_step: 0.01,
            settle: true,
        }
    }
}

/// Steps a frame at most; slower clips get longer steps.
const MAX_STEPS: usize = 200;

/// A character being baked.
#[derive(Debug)]
pub struct Baker<'a> {
    simulation: Simulation,
    adapted: Option<Box<Adapted>>,
    clip: Option<&'a Clip>,
    time: f64,
    max_step: f64,
}

impl<'a> Baker<'a> {
    /// Fill a character with flesh and put it where its clip begins. Without a skin it falls freely.
    ///
    /// # Errors
    /// Surfaces without an inside, skeletons outside of it, parameters out of range.
    pub fn new(
        character: &Character,
        clip: Option<&'a Clip>,
        params: &BakeParams,
        warnings: &mut Warnings,
    ) -> Result<Self, FleshError> {
        crate::params::check_step(params.max_step)?;
        if clip.is_some_and(|clip| !clip.morphs.is_empty()) {
            warnings.push("morph targets of the clip are left out; flesh follows bones");
        }
        params.material.check()?;
        let (simulation, adapted) = match &params.adaptive {
            None => (Simulation::new(character, params, warnings)?, None),
            Some(adaptive) => {
                let (adapted, body) = Adapted::new(character, params, adaptive)?;
                (Simulation::in_body(body, character, params, warnings)?, Some(Box::new(adapted)))
            }
        };
        let mut baker = Self { simulation, adapted, clip, time: 0.0, max_step: params.max_step };
        let pose = baker.pose_at(0.0);
        baker.simulation.begin(pose.as_ref(), params.settle)?;
        Ok(baker)
    }

    /// Let force rigs act, and begin anew with them.
    ///
    /// # Errors
    /// Joints that rigs follow and there are not; pins that contradict each other.
    pub fn set_rigs(&mut self, rigs: RigDrive, settle: bool) -> Result<(), FleshError> {
        self.simulation.set_rigs(Some(rigs));
        let pose = self.pose_at(0.0);
        self.simulation.begin(pose.as_ref(), settle)
    }

    /// What is simulated.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// The lattice and what lies in it.
    pub fn body(&self) -> &Body {
        self.simulation.body()
    }

    /// Nodes held by bones.
    pub fn n_held(&self) -> usize {
        self.simulation.n_held()
    }

    /// Times that cells were halved or joined.
    pub fn n_changes(&self) -> usize {
        self.adapted.as_ref().map_or(0, |adapted| adapted.changes)
    }

    /// Times that bones jumped and flesh was carried along.
    pub fn n_jumps(&self) -> usize {
        self.simulation.n_jumps()
    }

    /// Everything that is simulated.
    pub fn state(&self) -> &FleshState {
        self.simulation.state()
    }

    /// Where the surface is.
    ///
    /// # Errors
    /// None that a baker can cause.
    pub fn positions(&self, out: &mut Vec<Vec3>) -> Result<(), FleshError> {
        self.simulation.positions(out)
    }

    /// Go on to a time of the clip, in steps that are told one by one.
    ///
    /// # Errors
    /// Numbers that are not finite.
    pub fn advance(&mut self, time: f64, mut each: impl FnMut(&StepReport)) -> Result<(), FleshError> {
        let way = time - self.time;
        if way.is_nan() || way <= 0.0 {
            return Ok(());
        }
        let n_steps = ((way / self.max_step - 1e-6).ceil() as usize).clamp(1, MAX_STEPS);
        let (start, secs) = (self.time, way / n_steps as f64);
        for step in 1..=n_steps {
            let pose = self.pose_at(start + secs * step as f64);
            each(&self.simulation.step(pose.as_ref(), secs)?);
            if let Some(adapted) = &mut self.adapted {
                adapted.follow(&mut self.simulation)?;
            }
        }
        self.time = time;
        Ok(())
    }

    fn pose_at(&self, time: f64) -> Option<Pose> {
        let (clip, rig) = (self.clip?, self.simulation.rig()?);
        Some(clip.sample(rig, time as f32))
    }
}
