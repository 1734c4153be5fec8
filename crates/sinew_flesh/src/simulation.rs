//! A character with flesh on its bones, simulated pose by pose; the user may hold and push it meanwhile.
//!
//! # Cost
//! new: the lattice, and the bones in it. change: constants of cells. step: one step of the solver.

use crate::{
    Attachment, Body, FleshError, FleshSolver, FleshState, Material, SimulationParams, Skeleton,
    SmoothEmbedding, StepInput, StepReport,
    element::corner_volumes,
    muscle::MuscleDrive,
    simulation_params::{build_pins, compute_materials},
    skeleton::{contact_points, contact_vertices},
    skinned_surface::SkinnedSurface,
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
    pub(crate) diagonal: f64,
    n_jumps: usize,
    pub(crate) materials: Vec<Material>,
    pub(crate) muscles: Option<MuscleDrive>,
    /// Factors of stiffness the solver was made with, because of muscles.
    stiffened: Vec<f64>,
    /// Least stiffness of each cell, in pascals; empty if nothing asks for one.
    pub(crate) stiffness_floor: Vec<f64>,
    /// Factor of the forces of muscles on each node: they were made for a body that was not stiffened.
    force_factors: Vec<f64>,
    pub(crate) time: f64,
    pub(crate) surface: SkinnedSurface,
    /// Places at which vertices are pinned.
    pins: Vec<(u32, DVec3)>,
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
        let vertices = contact_vertices(&character.mesh, &body);
        let materials = compute_materials(&body, rigged.as_ref(), params)?;
        let attachment = match &mut rigged {
            Some((.., skeleton)) => {
                skeleton.set_materials(&body.lattice, &materials, &params.bones);
                skeleton.attachment()
            }
            None => Attachment { contact_points: contact_points(&body, &vertices), ..Attachment::default() },
        };
        let simulation = Self::attached(body, &character.mesh, (materials, attachment), params, warnings)?;
        Ok(Self { rigged, surface: SkinnedSurface::new(&character.mesh, vertices), ..simulation })
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
            stiffness_floor: Vec::new(),
            force_factors: Vec::new(),
            time: 0.0,
            surface: SkinnedSurface::default(),
            pins: params.pins.clone(),
        })
    }

    /// Exchange material, paint, obstacles and how it is simulated. Lattice and thickness of bones stay, and so does all
    /// that moves: nothing jumps.
    ///
    /// # Errors
    /// Parameters out of range; then it is as it was.
    pub fn change(&mut self, params: &SimulationParams) -> Result<(), FleshError> {
        let mut materials = compute_materials(&self.body, self.rigged.as_ref(), params)?;
        let base: Vec<f64> = materials.iter().map(|m| m.young).collect();
        self.apply_floor(&mut materials, params);
        self.force_factors = node_factors(&self.body, &materials, &base);
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
            skeleton.prescribe(&next.body.lattice, &self.matrices, &mut next.input)?;
        }
        next.state = state;
        // The state was carried over relative to the skin.
        next.state.positions.iter_mut().zip(&next.input.skinned).for_each(|(p, s)| *p += *s);
        (next.time, next.n_jumps) = (self.time, self.n_jumps);
        next.matrices = std::mem::take(&mut self.matrices);
        *self = next;
        Ok(())
    }

    /// Let muscles act from the next step on; `None` removes them. Their curves begin when [`Self::begin`] is called.
    ///
    /// While muscles act, cells are rotated only as the bones prescribe: forces and displacements then correspond (Capell
    /// (2004), eq. 6.1).
    pub fn set_muscles(&mut self, muscles: Option<MuscleDrive>) {
        self.muscles = muscles;
        self.input.fixed_frames = false;
        if self.muscles.is_none() {
            self.input.forces.clear();
            self.input.pins.clear();
        }
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
        let Some((_, skin, _)) = self.rigged.as_ref().filter(|_| !self.input.skinned.is_empty()) else {
            return self.evaluate(&self.state.positions, out);
        };
        let both = self.state.positions.iter().zip(&self.input.skinned);
        self.evaluate(&both.map(|(x, s)| *x - *s).collect::<Vec<DVec3>>(), out)?;
        self.surface.add(skin, &self.matrices, out);
        Ok(())
    }

    /// Where skinning alone puts the surface; `false` if there is no skin.
    pub fn skin_positions(&self, out: &mut Vec<DVec3>) -> bool {
        let Some((_, skin, _)) = self.rigged.as_ref().filter(|_| !self.matrices.is_empty()) else {
            return false;
        };
        out.clear();
        out.extend((0..self.body.embedding.len()).map(|v| self.surface.vertex(skin, &self.matrices, v)));
        true
    }

    /// Name of the joint that a vertex follows most; empty without a skin.
    pub fn part_of(&self, vertex: usize) -> String {
        let Some((rig, skin, _)) = self.rigged.as_ref().filter(|(_, skin, _)| vertex < skin.n_vertices())
        else {
            return String::new();
        };
        let strongest = skin.vertex(vertex).max_by(|a, b| a.1.total_cmp(&b.1));
        strongest
            .map_or_else(String::new, |(slot, _)| rig.joints()[skin.slots[slot as usize].joint].name.clone())
    }

    /// Cells that are folded over though skinning does not fold them.
    pub fn n_folded_cells(&self) -> usize {
        let is_folded = |cell: &[u32; 8], nodes: &[DVec3]| {
            corner_volumes(&cell.map(|n| nodes[n as usize])).iter().sum::<f64>() <= 0.0
        };
        let skinned =
            if self.input.skinned.is_empty() { self.body.lattice.nodes() } else { &self.input.skinned };
        let cells = self.body.lattice.cells().iter();
        cells.filter(|cell| is_folded(cell, &self.state.positions) && !is_folded(cell, skinned)).count()
    }

    /// Values of the nodes at the vertices.
    fn evaluate(&self, nodes: &[DVec3], out: &mut [Vec3]) -> Result<(), FleshError> {
        match &self.smooth {
            Some(smooth) => smooth.evaluate(nodes, out),
            None => self.body.embedding.evaluate(&self.body.lattice, nodes, out),
        }
    }

    /// Offset of the displayed surface from the lattice at a vertex.
    pub(crate) fn surface_offset(&self, vertex: usize) -> DVec3 {
        match self.rigged.as_ref().filter(|_| !self.input.skinned.is_empty()) {
            Some((_, skin, _)) => {
                self.surface.offset((skin, &self.matrices), &self.body, &self.input.skinned, vertex)
            }
            None => DVec3::ZERO,
        }
    }

    /// Put it into a pose (without one, that of rest), and let it settle there if `settle` is set.
    ///
    /// # Errors
    /// A pose of another skeleton, or numbers that are not finite.
    pub fn begin(&mut self, pose: Option<&Pose>, settle: bool) -> Result<(), FleshError> {
        self.matrices = self.matrices_of(pose)?;
        self.state = FleshState::at_rest(&self.body.lattice);
        self.time = 0.0;
        let is_held = self.rigged.is_some();
        if let Some((.., skeleton)) = &self.rigged {
            self.input.skinned.clear();
            skeleton.prescribe(&self.body.lattice, &self.matrices, &mut self.input)?;
            self.state.positions.clone_from(&self.input.skinned);
            self.state.rotations = self.input.cell_rotations.clone();
            self.follow_surface();
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
        // A muscle that does not act changes nothing.
        let acts = self.input.forces.iter().any(|force| *force != DVec3::ZERO) || !self.input.pins.is_empty();
        self.input.fixed_frames = acts && self.rigged.is_some();
        let forces = self.input.forces.iter_mut().zip(&self.force_factors);
        forces.for_each(|(force, factor)| *force *= *factor);
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

    pub(crate) fn matrices_of(&self, pose: Option<&Pose>) -> Result<Vec<DAffine3>, FleshError> {
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
        skeleton.prescribe(&self.body.lattice, &matrices, &mut self.input)?;
        let ways = self.input.skinned.iter().zip(&self.input.skinned_before).map(|(a, b)| a.distance(*b));
        if ways.sum::<f64>() > JUMP_DIAGONALS * self.diagonal * self.input.skinned.len() as f64 {
            self.n_jumps += 1;
            let ways = self.input.skinned.iter().zip(&self.input.skinned_before);
            self.state.positions.iter_mut().zip(ways).for_each(|(p, (to, from))| *p += *to - *from);
            self.state.velocities.fill(DVec3::ZERO);
            self.state.rotations = self.input.cell_rotations.clone();
            self.input.skinned_before.clone_from(&self.input.skinned);
        }
        self.matrices = matrices;
        self.follow_surface();
        Ok(())
    }

    /// Let contacts and pins act on the displayed surface.
    fn follow_surface(&mut self) {
        let Some((_, skin, _)) = &self.rigged else { return };
        let StepInput { skinned, contact_offsets, obstacles, .. } = &mut self.input;
        if !obstacles.is_empty() {
            self.surface.contact_offsets((skin, &self.matrices), &self.body, skinned, contact_offsets);
        }
        if self.muscles.is_none() {
            let targets: Vec<DVec3> =
                self.pins.iter().map(|(vertex, to)| *to - self.surface_offset(*vertex as usize)).collect();
            self.input.pins.iter_mut().zip(targets).for_each(|(pin, target)| pin.target = target);
        }
    }
}

/// Mean over the cells around each node of how much stiffer they were made; empty if nothing was.
fn node_factors(body: &Body, materials: &[Material], base: &[f64]) -> Vec<f64> {
    let factors: Vec<f64> = materials.iter().zip(base).map(|(m, base)| m.young / base).collect();
    if factors.iter().all(|factor| *factor == 1.0) {
        return Vec::new();
    }
    let mut sums = vec![(0.0, 0.0); body.lattice.n_nodes()];
    for (cell, factor) in body.lattice.cells().iter().zip(&factors) {
        cell.iter().for_each(|&node| {
            let (sum, n) = &mut sums[node as usize];
            (*sum, *n) = (*sum + factor, *n + 1.0);
        });
    }
    sums.iter().map(|(sum, n)| sum / f64::max(*n, 1.0)).collect()
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
