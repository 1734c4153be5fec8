//! A character with flesh on its bones, simulated pose by pose; hands may hold and push it meanwhile.
//!
//! # Cost
//! new: the lattice, and the bones in it. change: constants of cells. step: one step of the solver.

use crate::{
    Anchor, Attachment, BakeParams, Body, BodyPoint, Drive, FleshError, FleshSolver, FleshState, Material,
    Pin, Pull, Skeleton, SmoothEmbedding, StepReport, paint::cell_factors, rig::RigDrive, skeleton::feelers,
};
use glam::{DAffine3, DVec3, Vec3};
use sinew_geom::{Character, Pose, Rig, Skin, Warnings};

/// Bones that go this far in a step, in diagonals of the body, have jumped; flesh jumps along.
const JUMP: f64 = 0.25;
/// Steps and seconds a step until a body has come to rest: long steps of implicit Euler lose their energy at once.
const SETTLE: (usize, f64) = (30, 0.2);
/// Rigs that change stiffness by less than this share are not worth new constants of all cells.
const STIFFENED: f64 = 0.02;
/// Stiffness of a hand, in units of the flesh's own.
const HAND: f64 = 10.0;
/// Cells that a hand reaches around the place it holds.
const HAND_REACH: f64 = 1.5;

/// A character that is simulated. It keeps its own copy of skeleton and skin.
#[derive(Debug)]
pub struct Simulation {
    pub(crate) rigged: Option<(Rig, Skin, Skeleton)>,
    pub(crate) body: Body,
    smooth: Option<SmoothEmbedding>,
    attachment: Attachment,
    pub(crate) solver: FleshSolver,
    pub(crate) state: FleshState,
    pub(crate) drive: Drive,
    matrices: Vec<DAffine3>,
    diagonal: f64,
    n_jumps: usize,
    materials: Vec<Material>,
    rigs: Option<RigDrive>,
    /// Polar steps asked for, which rigs do without.
    polar_steps: usize,
    /// Factors of stiffness the solver was made with, because of rigs.
    stiffened: Vec<f64>,
    time: f64,
}

/// A part of the surface in a hand.
#[derive(Debug, Clone, PartialEq)]
pub struct Grip {
    /// Points, their shares of the hand's strength, and where they are from its middle.
    points: Vec<(BodyPoint, f64, DVec3)>,
}

impl Simulation {
    /// Fill a character with flesh, at rest. Without a skin it falls freely.
    ///
    /// # Errors
    /// Surfaces without an inside, skeletons outside of it, parameters out of range.
    pub fn new(
        character: &Character,
        params: &BakeParams,
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
        params: &BakeParams,
        warnings: &mut Warnings,
    ) -> Result<Self, FleshError> {
        params.material.check()?;
        tell_uncovered(&body, character.mesh.positions(), warnings);
        let smooth = match params.smooth {
            true => Some(SmoothEmbedding::new(&body, character.mesh.positions())?),
            false => None,
        };
        let uniform = vec![params.material; body.lattice.n_cells()];
        let mut rigged = None;
        if let (Some(rig), Some(skin)) = (&character.rig, &character.skin) {
            let mesh = &character.mesh;
            let skeleton = Skeleton::new(mesh, (rig, skin), &body, &uniform, &params.bones, warnings)?;
            rigged = Some((rig.clone(), skin.clone(), skeleton));
        }
        let mut attachment = Attachment { feelers: feelers(&character.mesh, &body), ..Attachment::default() };
        let materials = materials(&body, rigged.as_ref(), params)?;
        if let Some((.., skeleton)) = &mut rigged {
            skeleton.set_materials(&body.lattice, &materials, &params.bones);
            attachment = skeleton.attachment();
        }
        let solver = FleshSolver::new(&body.lattice, &materials, &attachment, &params.flesh)?;
        let state = FleshState::at_rest(&body.lattice);
        let obstacles = params.obstacles.clone();
        let pins = pins(&body, &params.pins)?;
        let drive = Drive { obstacles, pins, ..Drive::at_rest(&body.lattice, &attachment) };
        let (diagonal, matrices) = (character.mesh.diagonal(), Vec::new());
        Ok(Self {
            rigged,
            body,
            smooth,
            attachment,
            solver,
            state,
            drive,
            matrices,
            diagonal,
            n_jumps: 0,
            materials,
            rigs: None,
            polar_steps: params.flesh.polar_steps,
            stiffened: Vec::new(),
            time: 0.0,
        })
    }

    /// Exchange material, paint, obstacles and how it is simulated. Lattice and thickness of bones stay, and so does all
    /// that moves: nothing jumps.
    ///
    /// # Errors
    /// Parameters out of range; then it is as it was.
    pub fn change(&mut self, params: &BakeParams) -> Result<(), FleshError> {
        let materials = materials(&self.body, self.rigged.as_ref(), params)?;
        let mut attachment = self.attachment.clone();
        if let Some((.., skeleton)) = &mut self.rigged {
            skeleton.set_materials(&self.body.lattice, &materials, &params.bones);
            attachment = skeleton.attachment();
        }
        self.solver = FleshSolver::new(&self.body.lattice, &materials, &attachment, &params.flesh)?;
        self.attachment = attachment;
        self.materials = materials;
        self.stiffened.clear();
        self.polar_steps = params.flesh.polar_steps;
        self.hold_frames();
        self.drive.obstacles.clone_from(&params.obstacles);
        Ok(())
    }

    /// Go over to other cells of the same surface, with what is simulated on them. Hands let go.
    ///
    /// # Errors
    /// As [`Self::in_body`]; then it is as it was.
    pub(crate) fn exchange(
        &mut self,
        body: Body,
        state: FleshState,
        character: &Character,
        params: &BakeParams,
    ) -> Result<(), FleshError> {
        // All that could be told was told when it was made.
        let mut next = Self::in_body(body, character, params, &mut Warnings::default())?;
        if let Some((.., skeleton)) = &next.rigged {
            skeleton.drive(&self.matrices, &mut next.drive)?;
        }
        next.state = state;
        (next.time, next.n_jumps) = (self.time, self.n_jumps);
        next.matrices = std::mem::take(&mut self.matrices);
        *self = next;
        Ok(())
    }

    /// Let force rigs act from the next step on; `None` takes them off. Their curves begin when [`Self::begin`] is called.
    pub fn set_rigs(&mut self, rigs: Option<RigDrive>) {
        self.rigs = rigs;
        self.hold_frames();
        if self.rigs.is_none() {
            self.drive.forces.clear();
            self.drive.pins.clear();
        }
    }

    /// Under rigs, cells are rotated only as the bones prescribe: forces and displacements then correspond (Capell
    /// (2004), eq. 6.1).
    fn hold_frames(&mut self) {
        let is_held = self.rigs.is_some() && self.rigged.is_some();
        self.solver.body.params.polar_steps = if is_held { 0 } else { self.polar_steps };
    }

    /// The rigs that act, for values set by hand.
    pub fn rigs_mut(&mut self) -> Option<&mut RigDrive> {
        self.rigs.as_mut()
    }

    /// The lattice and what lies in it.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// The lattice alone, for another simulation of the same surface.
    pub fn into_body(self) -> Body {
        self.body
    }

    /// Newtons that press a cell flat, or nearly.
    pub fn unit_force(&self) -> f64 {
        self.solver.mean_young() * self.body.lattice.size().powi(2)
    }

    /// The skeleton it hangs on; none if it falls freely.
    pub fn rig(&self) -> Option<&Rig> {
        self.rigged.as_ref().map(|(rig, ..)| rig)
    }

    /// Nodes held by bones.
    pub fn n_held(&self) -> usize {
        self.drive.held.len()
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
            skeleton.drive(&self.matrices, &mut self.drive)?;
            self.state.rotations = self.drive.cell_rotations.clone();
        }
        self.exert(pose)?;
        if settle && is_held {
            for _ in 0..SETTLE.0 {
                self.solver.step(&mut self.state, &self.drive, SETTLE.1)?;
            }
            self.state.velocities.fill(DVec3::ZERO);
        }
        Ok(())
    }

    /// Go on by a step, at the end of which the bones are in a pose (without one, that of rest).
    ///
    /// # Errors
    /// A pose of another skeleton, or numbers that are not finite.
    pub fn step(&mut self, pose: Option<&Pose>, secs: f64) -> Result<StepReport, FleshError> {
        self.follow(pose)?;
        self.time += secs;
        self.exert(pose)?;
        self.solver.step(&mut self.state, &self.drive, secs)
    }

    /// Forces, pins and stiffness of the rigs in a pose, now.
    fn exert(&mut self, pose: Option<&Pose>) -> Result<(), FleshError> {
        let Some(rigs) = &mut self.rigs else { return Ok(()) };
        let rig = self.rigged.as_ref().map(|(rig, ..)| rig);
        let rest = rig.map(Rig::rest_pose);
        let posed = rig.zip(pose.or(rest.as_ref()));
        rigs.apply(&self.body.lattice, posed, &self.matrices, self.time, &mut self.drive)?;
        let Some(factors) = rigs.stiffness(&self.body.lattice) else { return Ok(()) };
        let is_near = |(a, b): (&f64, &f64)| (a / b).ln().abs() < STIFFENED;
        if factors.len() != self.stiffened.len() || !factors.iter().zip(&self.stiffened).all(is_near) {
            let each = self.materials.iter().zip(&factors);
            let materials: Vec<Material> = each.map(|(material, by)| material.stiffened(*by)).collect();
            let params = self.solver.body.params.clone();
            self.solver = FleshSolver::new(&self.body.lattice, &materials, &self.attachment, &params)?;
            self.stiffened = factors;
        }
        Ok(())
    }

    /// The part of the surface around a vertex, to be held or pushed.
    ///
    /// # Errors
    /// If there is no such vertex.
    pub fn grip(&self, vertex: usize) -> Result<Grip, FleshError> {
        let (embedding, lattice) = (&self.body.embedding, &self.body.lattice);
        if vertex >= embedding.len() {
            let (what, len) = ("vertex", embedding.len());
            return Err(FleshError::OutOfLattice { what, index: vertex, len });
        }
        let weights = embedding.weights(vertex).map(f64::from);
        let middle = BodyPoint { cell: embedding.cell(vertex) as u32, weights };
        let at_rest = |point: &BodyPoint| point.evaluate(lattice, lattice.nodes());
        let now = |point: &BodyPoint| point.evaluate(lattice, &self.state.positions);
        let (center, reach) = (at_rest(&middle), HAND_REACH * lattice.size());
        let strength = |point: &BodyPoint| 1.0 - (at_rest(point).distance(center) / reach).powi(2);
        let around = self.attachment.feelers.iter().map(|point| (*point, strength(point)));
        let mut points: Vec<(BodyPoint, f64, DVec3)> = around
            .chain([(middle, 1.0)])
            .filter(|(_, share)| *share > 0.0)
            .map(|(point, share)| (point, share, now(&point) - now(&middle)))
            .collect();
        let sum: f64 = points.iter().map(|(_, share, _)| share).sum();
        points.iter_mut().for_each(|(_, share, _)| *share /= sum);
        Ok(Grip { points })
    }

    /// Draw a part of the surface to a place by a spring until told otherwise; `None` lets go.
    pub fn hold(&mut self, grip: Option<(&Grip, DVec3)>) {
        let strength = HAND * self.solver.mean_young() * self.body.lattice.size();
        let pull = |(point, share, offset): &(BodyPoint, f64, DVec3), target: DVec3| Pull {
            anchor: Anchor { point: *point, stiffness: strength * share },
            target: target + *offset,
        };
        self.drive.pulls = grip.map_or_else(Vec::new, |(grip, target)| {
            grip.points.iter().map(|point| pull(point, target)).collect()
        });
    }

    /// Push a part of the surface with a force in newtons until told otherwise; `None` stops.
    pub fn push(&mut self, grip: Option<(&Grip, DVec3)>) {
        self.drive.pushes = grip.map_or_else(Vec::new, |(grip, force)| {
            grip.points.iter().map(|(point, share, _)| (*point, force * *share)).collect()
        });
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
        let before = self.drive.held.iter().chain(&self.drive.anchors).copied().collect::<Vec<DVec3>>();
        skeleton.drive(&matrices, &mut self.drive)?;
        let after = self.drive.held.iter().chain(&self.drive.anchors);
        let way = before.iter().zip(after).map(|(a, b)| a.distance(*b)).sum::<f64>() / before.len() as f64;
        if way > JUMP * self.diagonal {
            self.n_jumps += 1;
            let (from, to) = (skeleton.skinned(&self.matrices), skeleton.skinned(&matrices));
            let nodes = self.state.positions.iter_mut().zip(from.iter().zip(&to));
            nodes.for_each(|(p, (from, to))| *p += *to - *from);
            self.body.lattice.ties().spread_places(&mut self.state.positions);
            self.state.velocities.fill(DVec3::ZERO);
            self.state.rotations = self.drive.cell_rotations.clone();
        }
        self.matrices = matrices;
        Ok(())
    }
}

/// Places that are named of vertices in no cell.
const TOLD: usize = 3;

fn tell_uncovered(body: &Body, positions: &[DVec3], warnings: &mut Warnings) {
    let n = body.uncovered.len();
    if n == 0 {
        return;
    }
    let show = |&vertex: &u32| format!("{vertex} at {:.4}", positions[vertex as usize]);
    let first: Vec<String> = body.uncovered.iter().take(TOLD).map(show).collect();
    let more = if n > TOLD { ", …" } else { "" };
    let first = first.join(", ");
    warnings.push(format!("{n} vertices lie in no cell (vertex {first}{more}); they follow the nearest"));
}

/// Points of vertices that are held exactly.
fn pins(body: &Body, wanted: &[(u32, DVec3)]) -> Result<Vec<Pin>, FleshError> {
    let pin = |&(vertex, target): &(u32, DVec3)| {
        let (what, index, len) = ("vertex of a pin", vertex as usize, body.embedding.len());
        if index >= len {
            return Err(FleshError::OutOfLattice { what, index, len });
        }
        let weights = body.embedding.weights(index).map(f64::from);
        Ok(Pin { point: BodyPoint { cell: body.embedding.cell(index) as u32, weights }, target })
    };
    wanted.iter().map(pin).collect()
}

/// What each cell is made of: the material, by paint and by joints.
fn materials(
    body: &Body,
    rigged: Option<&(Rig, Skin, Skeleton)>,
    params: &BakeParams,
) -> Result<Vec<Material>, FleshError> {
    let mut materials = vec![params.material; body.lattice.n_cells()];
    if !params.paint.is_empty() {
        let factors = cell_factors(body, &params.paint)?;
        materials.iter_mut().zip(factors).for_each(|(material, by)| *material = material.stiffened(by));
    }
    if let Some((_, skin, skeleton)) = rigged {
        stiffen(&mut materials, skin, skeleton, &params.stiffer);
    }
    materials.iter().try_for_each(Material::check)?;
    Ok(materials)
}

/// Flesh around some joints, stiffer by the weight they have there.
fn stiffen(materials: &mut [Material], skin: &Skin, skeleton: &Skeleton, factors: &[(usize, f64)]) {
    if factors.is_empty() {
        return;
    }
    for (cell, material) in materials.iter_mut().enumerate() {
        let mut log = 0.0;
        for (slot, bound) in skin.slots.iter().enumerate() {
            for (_, factor) in factors.iter().filter(|(joint, _)| *joint == bound.joint) {
                log += skeleton.cell_weight(cell, slot) * factor.ln();
            }
        }
        *material = material.stiffened(log.exp());
    }
}
