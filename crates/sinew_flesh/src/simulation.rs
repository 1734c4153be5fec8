//! A character with flesh on its bones, simulated pose by pose; the user may hold and push it meanwhile.
//!
//! # Cost
//! new: the lattice, and the bones in it. change: constants of cells. step: one step of the solver.

use crate::{
    Attachment, Body, FleshError, FleshSolver, FleshState, Material, SimulationParams, Skeleton,
    SmoothEmbedding, StepInput, StepReport,
    muscle::MuscleDrive,
    simulation_params::{build_pins, compute_materials},
    skeleton::contact_points,
};
use glam::{DAffine3, DVec3, Vec3};
use sinew_geom::{Character, Mesh, Pose, Rig, Skin, Warnings};

/// Mean distance that bones move in one step, in diagonals of the body, from which on flesh is moved along.
const JUMP_DIAGONALS: f64 = 0.25;
/// Number and length in seconds of the steps that bring a body to rest: long steps of implicit Euler lose their energy at
/// once.
const SETTLE_STEPS: (usize, f64) = (30, 0.2);
/// Relative change of stiffness by muscles below which the constants of cells are not computed again.
const LEAST_STIFFENING: f64 = 0.02;

/// A character that is simulated. It keeps its own copy of skeleton and skin.
#[derive(Debug)]
pub struct Simulation {
    pub(crate) rigged: Option<(Rig, Skin, Skeleton)>,
    pub(crate) body: Body,
    smooth: Option<SmoothEmbedding>,
    pub(crate) attachment: Attachment,
    pub(crate) solver: FleshSolver,
    pub(crate) state: FleshState,
    pub(crate) input: StepInput,
    matrices: Vec<DAffine3>,
    diagonal: f64,
    n_jumps: usize,
    materials: Vec<Material>,
    muscles: Option<MuscleDrive>,
    /// Factors of stiffness the solver was made with, because of muscles.
    stiffened: Vec<f64>,
    time: f64,
}

impl Simulation {
    /// Fill a character with flesh, at rest. Without a skin it falls freely.
    ///
    /// # Errors
    /// Surfaces without an inside, skeletons outside of it, parameters out of range.
    pub fn new(
        character: &Character,
        params: &SimulationParams,
        warnings: &mut Warnings,
    ) -> Result<Self, FleshError> {
        params.material.check()?;
        let joints: Vec<DVec3> = match &character.skin {
            Some(skin) => skin.slots.iter().map(|slot| slot.inverse_bind.inverse().translation).collect(),
            None => Vec::new(),
        };
        let body = params.source.build(&character.mesh, &params.lattice, &joints)?;
        Self::in_body(body, character, params, warnings)
    }

    /// The same in a lattice that is there already: that of another simulation of the same surface.
    ///
    /// # Errors
    /// Skeletons outside of the surface, parameters out of range.
    pub fn in_body(
        body: Body,
        character: &Character,
        params: &SimulationParams,
        warnings: &mut Warnings,
    ) -> Result<Self, FleshError> {
        let mut rigged = None;
        if let (Some(rig), Some(skin)) = (&character.rig, &character.skin) {
            let (mesh, uniform) = (&character.mesh, vec![params.material; body.lattice.n_cells()]);
            let skeleton = Skeleton::new(mesh, (rig, skin), &body, &uniform, &params.bones, warnings)?;
            rigged = Some((rig.clone(), skin.clone(), skeleton));
        }
        let materials = compute_materials(&body, rigged.as_ref(), params)?;
        let attachment = match &mut rigged {
            Some((.., skeleton)) => {
                skeleton.set_materials(&body.lattice, &materials, &params.bones);
                skeleton.attachment()
            }
            None => {
                Attachment { contact_points: contact_points(&character.mesh, &body), ..Attachment::default() }
            }
        };
        let simulation = Self::attached(body, &character.mesh, (materials, attachment), params, warnings)?;
        Ok(Self { rigged, ..simulation })
    }

    /// A body at rest with given materials, held as an attachment prescribes.
    pub(crate) fn attached(
        body: Body,
        mesh: &Mesh,
        (materials, attachment): (Vec<Material>, Attachment),
        params: &SimulationParams,
        warnings: &mut Warnings,
    ) -> Result<Self, FleshError> {
        params.material.check()?;
        warn_uncovered(&body, mesh.positions(), warnings);
        let smooth = match params.smooth {
            true => Some(SmoothEmbedding::new(&body, mesh.positions())?),
            false => None,
        };
        let solver = FleshSolver::new(&body.lattice, &materials, &attachment, &params.flesh)?;
        let state = FleshState::at_rest(&body.lattice);
        let (obstacles, pins) = (params.obstacles.clone(), build_pins(&body, &params.pins)?);
        let input = StepInput { obstacles, pins, ..StepInput::at_rest(&body.lattice, &attachment) };
        Ok(Self {
            rigged: None,
            body,
            smooth,
            attachment,
            solver,
            state,
            input,
            matrices: Vec::new(),
            diagonal: mesh.diagonal(),
            n_jumps: 0,
            materials,
            muscles: None,
            stiffened: Vec::new(),
            time: 0.0,
        })
    }

    /// Exchange material, paint, obstacles and how it is simulated. Lattice and thickness of bones stay, and so does all
    /// that moves: nothing jumps.
    ///
    /// # Errors
    /// Parameters out of range; then it is as it was.
    pub fn change(&mut self, params: &SimulationParams) -> Result<(), FleshError> {
        let materials = compute_materials(&self.body, self.rigged.as_ref(), params)?;
        let mut attachment = self.attachment.clone();
        if let Some((.., skeleton)) = &mut self.rigged {
            skeleton.set_materials(&self.body.lattice, &materials, &params.bones);
            attachment = skeleton.attachment();
        }
        self.solver = FleshSolver::new(&self.body.lattice, &materials, &attachment, &params.flesh)?;
        self.attachment = attachment;
        self.materials = materials;
        self.stiffened.clear();
        self.input.obstacles.clone_from(&params.obstacles);
        Ok(())
    }

    /// Replace the lattice by another one of the same surface, with the state on it. Grips are released.
    ///
    /// # Errors
    /// As [`Self::in_body`]; then it is as it was.
    pub(crate) fn exchange(
        &mut self,
        body: Body,
        state: FleshState,
        character: &Character,
        params: &SimulationParams,
    ) -> Result<(), FleshError> {
        // Warnings were reported when the simulation was built.
        let mut next = Self::in_body(body, character, params, &mut Warnings::default())?;
        if let Some((.., skeleton)) = &next.rigged {
            skeleton.prescribe(&self.matrices, &mut next.input)?;
        }
        next.state = state;
        (next.time, next.n_jumps) = (self.time, self.n_jumps);
        next.matrices = std::mem::take(&mut self.matrices);
        *self = next;
        Ok(())
    }

    /// Let muscles act from the next step on; `None` removes them. Their curves begin when [`Self::begin`] is called.
    ///
    /// Under muscles, cells are rotated only as the bones prescribe: forces and displacements then correspond (Capell
    /// (2004), eq. 6.1).
    pub fn set_muscles(&mut self, muscles: Option<MuscleDrive>) {
        self.muscles = muscles;
        self.input.fixed_frames = self.muscles.is_some() && self.rigged.is_some();
        if self.muscles.is_none() {
            self.input.forces.clear();
            self.input.pins.clear();
        }
    }

    /// Old name of [`Self::set_muscles`].
    #[doc(hidden)]
    pub fn set_rigs(&mut self, muscles: Option<MuscleDrive>) {
        self.set_muscles(muscles);
    }

    /// Old name of [`Self::muscles_mut`].
    #[doc(hidden)]
    pub fn rigs_mut(&mut self) -> Option<&mut MuscleDrive> {
        self.muscles_mut()
    }

    /// The muscles that act, for values set by the user.
    pub fn muscles_mut(&mut self) -> Option<&mut MuscleDrive> {
        self.muscles.as_mut()
    }

    /// The lattice and what lies in it.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// The lattice alone, for another simulation of the same surface.
    pub fn into_body(self) -> Body {
        self.body
    }

    /// Force in newtons that about flattens a cell.
    pub fn unit_force(&self) -> f64 {
        self.solver.mean_young() * self.body.lattice.size().powi(2)
    }

    /// The skeleton it hangs on; none if it falls freely.
    pub fn rig(&self) -> Option<&Rig> {
        self.rigged.as_ref().map(|(rig, ..)| rig)
    }

    /// Nodes held by bones.
    pub fn n_held(&self) -> usize {
        self.input.held.len()
    }

    /// Times that bones jumped and flesh was carried along.
    pub fn n_jumps(&self) -> usize {
        self.n_jumps
    }

    /// Everything that is simulated.
    pub fn state(&self) -> &FleshState {
        &self.state
    }

    /// Where the surface is.
    ///
    /// # Errors
    /// None that a simulation can cause.
    pub fn positions(&self, out: &mut Vec<Vec3>) -> Result<(), FleshError> {
        out.resize(self.body.embedding.len(), Vec3::ZERO);
        if let Some(smooth) = &self.smooth {
            return smooth.evaluate(&self.state.positions, out);
        }
        self.body.embedding.evaluate(&self.body.lattice, &self.state.positions, out)
    }

    /// Put it into a pose (without one, that of rest), and let it come to rest there if `settle` says so.
    ///
    /// # Errors
    /// A pose of another skeleton, or numbers that are not finite.
    pub fn begin(&mut self, pose: Option<&Pose>, settle: bool) -> Result<(), FleshError> {
        self.matrices = self.matrices_of(pose)?;
        self.state = FleshState::at_rest(&self.body.lattice);
        self.time = 0.0;
        let is_held = self.rigged.is_some();
        if let Some((.., skeleton)) = &self.rigged {
            self.state.positions = skeleton.skinned(&self.matrices);
            self.body.lattice.ties().spread_places(&mut self.state.positions);
            skeleton.prescribe(&self.matrices, &mut self.input)?;
            self.state.rotations = self.input.cell_rotations.clone();
        }
        self.exert(pose)?;
        if settle && is_held {
            for _ in 0..SETTLE_STEPS.0 {
                self.solver.step(&mut self.state, &self.input, SETTLE_STEPS.1)?;
            }
            self.state.velocities.fill(DVec3::ZERO);
        }
        Ok(())
    }

    /// Advance by a step, at the end of which the bones are in a pose (without one, that of rest).
    ///
    /// # Errors
    /// A pose of another skeleton, or numbers that are not finite.
    pub fn step(&mut self, pose: Option<&Pose>, secs: f64) -> Result<StepReport, FleshError> {
        self.follow(pose)?;
        self.time += secs;
        self.exert(pose)?;
        self.solver.step(&mut self.state, &self.input, secs)
    }

    /// Advance by a step, at the end of which held nodes and anchors are at given places.
    pub(crate) fn step_attached(
        &mut self,
        held: Vec<DVec3>,
        anchors: Vec<DVec3>,
        secs: f64,
    ) -> Result<StepReport, FleshError> {
        (self.input.held, self.input.anchors) = (held, anchors);
        let report = self.solver.step(&mut self.state, &self.input, secs)?;
        self.n_jumps += usize::from(report.carried);
        Ok(report)
    }

    /// Forces, pins and stiffness of the muscles in a pose, now.
    fn exert(&mut self, pose: Option<&Pose>) -> Result<(), FleshError> {
        let Some(muscles) = &mut self.muscles else { return Ok(()) };
        let rig = self.rigged.as_ref().map(|(rig, ..)| rig);
        let rest = rig.map(Rig::rest_pose);
        let posed = rig.zip(pose.or(rest.as_ref()));
        muscles.apply(&self.body.lattice, posed, &self.matrices, self.time, &mut self.input)?;
        let Some(factors) = muscles.stiffness(&self.body.lattice) else { return Ok(()) };
        let is_near = |(a, b): (&f64, &f64)| (a / b).ln().abs() < LEAST_STIFFENING;
        if factors.len() != self.stiffened.len() || !factors.iter().zip(&self.stiffened).all(is_near) {
            let each = self.materials.iter().zip(&factors);
            let materials: Vec<Material> = each.map(|(material, by)| material.stiffened(*by)).collect();
            self.solver = self.solver.with_materials(&materials)?;
            self.stiffened = factors;
        }
        Ok(())
    }

    fn matrices_of(&self, pose: Option<&Pose>) -> Result<Vec<DAffine3>, FleshError> {
        let Some((rig, skin, _)) = &self.rigged else { return Ok(Vec::new()) };
        let rest;
        let pose = match pose {
            Some(pose) => pose,
            None => {
                rest = rig.rest_pose();
                &rest
            }
        };
        let mut world = Vec::new();
        rig.forward(pose, &mut world)?;
        Ok(skin.matrices(&world))
    }

    /// Bring the bones to a pose; flesh is carried along where they jump.
    fn follow(&mut self, pose: Option<&Pose>) -> Result<(), FleshError> {
        let matrices = self.matrices_of(pose)?;
        let Some((.., skeleton)) = &self.rigged else { return Ok(()) };
        let before = self.input.held.iter().chain(&self.input.anchors).copied().collect::<Vec<DVec3>>();
        skeleton.prescribe(&matrices, &mut self.input)?;
        let after = self.input.held.iter().chain(&self.input.anchors);
        let way = before.iter().zip(after).map(|(a, b)| a.distance(*b)).sum::<f64>() / before.len() as f64;
        if way > JUMP_DIAGONALS * self.diagonal {
            self.n_jumps += 1;
            let (from, to) = (skeleton.skinned(&self.matrices), skeleton.skinned(&matrices));
            let nodes = self.state.positions.iter_mut().zip(from.iter().zip(&to));
            nodes.for_each(|(p, (from, to))| *p += *to - *from);
            self.body.lattice.ties().spread_places(&mut self.state.positions);
            self.state.velocities.fill(DVec3::ZERO);
            self.state.rotations = self.input.cell_rotations.clone();
        }
        self.matrices = matrices;
        Ok(())
    }
}

/// Number of vertices outside all cells that a warning names.
const MAX_NAMED_VERTICES: usize = 3;

fn warn_uncovered(body: &Body, positions: &[DVec3], warnings: &mut Warnings) {
    let n = body.uncovered.len();
    if n == 0 {
        return;
    }
    let show = |&vertex: &u32| format!("{vertex} at {:.4}", positions[vertex as usize]);
    let first: Vec<String> = body.uncovered.iter().take(MAX_NAMED_VERTICES).map(show).collect();
    let more = if n > MAX_NAMED_VERTICES { ", …" } else { "" };
    let first = first.join(", ");
    warnings.push(format!("{n} vertices lie in no cell (vertex {first}{more}); they follow the nearest"));
}
