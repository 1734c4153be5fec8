//! A clip with flesh on its bones, frame by frame.
//!
//! # Cost
//! new: the lattice, and the bones in it. Each frame: as many steps as it is longer than the longest allowed.

use crate::{
    AdaptiveParams, Body, FleshError, FleshState, Simulation, SimulationParams, StepReport,
    lattice_adapter::LatticeAdapter, muscle::MuscleDrive, pace::Clock,
};
use glam::Vec3;
use sinew_geom::{Character, Clip, Pose, Warnings};

/// How a clip is baked.
#[derive(Debug, Clone, PartialEq)]
pub struct BakeParams {
    /// What is simulated, and how.
    pub simulation: SimulationParams,
    /// Whether cells are halved where flesh deforms and joined where it does not; `simulation.lattice` is then that of the
    /// smallest, and `simulation.source` is ignored. Muscles and smooth display need cells that stay. Default `None`.
    pub adaptive: Option<AdaptiveParams>,
    /// Longest step in seconds. Default 1/100.
    pub max_step: f64,
    /// Whether the clip is a loop, which flesh repeats too. Default `None`: if its last pose is its first.
    pub looped: Option<bool>,
    /// Whether flesh has settled in the first pose when the clip begins. Default true.
    pub settle: bool,
}

impl Default for BakeParams {
    fn default() -> Self {
        Self {
            simulation: SimulationParams::default(),
            adaptive: None,
            max_step: 0.01,
            looped: None,
            settle: true,
        }
    }
}

impl From<SimulationParams> for BakeParams {
    fn from(simulation: SimulationParams) -> Self {
        Self { simulation, ..Self::default() }
    }
}

/// A character being baked.
#[derive(Debug)]
pub struct Baker<'a> {
    simulation: Simulation,
    adapter: Option<Box<LatticeAdapter>>,
    clip: Option<&'a Clip>,
    clock: Clock,
    looped: Option<bool>,
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
        let clock = Clock::new(params.max_step)?;
        if clip.is_some_and(|clip| !clip.morphs.is_empty()) {
            warnings.push("morph targets of the clip are left out; flesh follows bones");
        }
        params.simulation.material.check()?;
        let (simulation, adapter) = match &params.adaptive {
            None => (Simulation::new(character, &params.simulation, warnings)?, None),
            Some(adaptive) => {
                let (adapter, body) = LatticeAdapter::new(character, &params.simulation, adaptive)?;
                (Simulation::in_body(body, character, &params.simulation, warnings)?, Some(Box::new(adapter)))
            }
        };
        let mut baker = Self { simulation, adapter, clip, clock, looped: params.looped };
        let clips: Vec<&Clip> = clip.into_iter().collect();
        baker.simulation.limit_stiffness(&clips, &params.simulation, warnings)?;
        baker.begin(params.settle)?;
        Ok(baker)
    }

    /// Let muscles act, and start again with them.
    ///
    /// # Errors
    /// Joints that muscles follow but that do not exist; pins that contradict each other.
    pub fn set_muscles(&mut self, muscles: MuscleDrive, settle: bool) -> Result<(), FleshError> {
        self.simulation.set_muscles(Some(muscles));
        self.begin(settle)
    }

    fn begin(&mut self, settle: bool) -> Result<(), FleshError> {
        let pose = self.pose_at(0.0);
        self.simulation.begin(pose.as_ref(), settle)?;
        // Cells that change do not return to what they were.
        let (Some(clip), Some(rig), None) = (self.clip, self.simulation.rig().cloned(), &self.adapter) else {
            return Ok(());
        };
        let is_loop = match self.looped {
            Some(looped) => looped,
            None => settle && self.simulation.is_loop(clip)?,
        };
        let period = is_loop.then(|| f64::from(clip.duration_secs()));
        let pose_at = |time: f64| Some(clip.sample(&rig, time as f32));
        self.simulation.warm_up(period, self.clock.max_step, pose_at).map(|_| ())
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
        self.adapter.as_ref().map_or(0, |adapter| adapter.changes)
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

    /// Advance to a time of the clip, reporting each step.
    ///
    /// # Errors
    /// Numbers that are not finite.
    pub fn advance(&mut self, time: f64, mut each: impl FnMut(&StepReport)) -> Result<(), FleshError> {
        let Some(steps) = self.clock.plan(time) else { return Ok(()) };
        for now in steps.times() {
            let pose = self.pose_at(now);
            each(&self.simulation.step(pose.as_ref(), steps.secs)?);
            if let Some(adapter) = &mut self.adapter {
                adapter.follow(&mut self.simulation)?;
            }
        }
        self.clock.time = time;
        Ok(())
    }

    fn pose_at(&self, time: f64) -> Option<Pose> {
        let (clip, rig) = (self.clip?, self.simulation.rig()?);
        Some(clip.sample(rig, time as f32))
    }
}
