//! A clip with flesh on its bones, frame by frame.
//!
//! # Cost
//! new: the lattice, and the bones in it. Each frame: as many steps as it is longer than the longest allowed.

use crate::{
    Attachment, Body, BoneParams, Drive, FleshError, FleshParams, FleshSolver, FleshState, LatticeParams,
    LatticeSource, Material, Obstacle, Skeleton, SmoothEmbedding, StepReport, skeleton::feelers,
};
use glam::{DAffine3, DVec3, Vec3};
use sinew_geom::{Character, Clip, Rig, Skin, Warnings};

/// How a clip is baked.
#[derive(Debug, Clone, PartialEq)]
pub struct BakeParams {
    /// How fine the lattice is.
    pub lattice: LatticeParams,
    /// Where its cells come from. Default cubes of one size.
    pub source: LatticeSource,
    /// Whether the surface is smoothed between cells. Default false.
    pub smooth: bool,
    /// What the flesh is made of.
    pub material: Material,
    /// Joints around which it is stiffer or softer, with factors.
    pub stiffer: Vec<(usize, f64)>,
    /// How it hangs on bones.
    pub bones: BoneParams,
    /// How it is simulated.
    pub flesh: FleshParams,
    /// What is in its way.
    pub obstacles: Vec<Obstacle>,
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
            smooth: false,
            material: Material::default(),
            stiffer: Vec::new(),
            bones: BoneParams::default(),
            flesh: FleshParams::default(),
            obstacles: Vec::new(),
            max_step: 0.01,
            settle: true,
        }
    }
}

/// Bones that go this far in a step, in diagonals of the body, have jumped; flesh jumps along.
const JUMP: f64 = 0.25;
/// Steps a frame at most; slower clips get longer steps.
const MAX_STEPS: usize = 200;
/// Steps and seconds a step until a body has come to rest: long steps of implicit Euler lose their energy at once.
const SETTLE: (usize, f64) = (30, 0.2);

/// A character being baked.
#[derive(Debug)]
pub struct Baker<'a> {
    rigged: Option<(&'a Rig, &'a Skin, Skeleton)>,
    clip: Option<&'a Clip>,
    body: Body,
    smooth: Option<SmoothEmbedding>,
    solver: FleshSolver,
    state: FleshState,
    drive: Drive,
    matrices: Vec<DAffine3>,
    time: f64,
    max_step: f64,
    diagonal: f64,
    n_jumps: usize,
}

impl<'a> Baker<'a> {
    /// Fill a character with flesh and put it where its clip begins. Without a skin it falls freely.
    ///
    /// # Errors
    /// Surfaces without an inside, skeletons outside of it, parameters out of range.
    pub fn new(
        character: &'a Character,
        clip: Option<&'a Clip>,
        params: &BakeParams,
        warnings: &mut Warnings,
    ) -> Result<Self, FleshError> {
        params.material.check()?;
        crate::params::check_step(params.max_step)?;
        let joints: Vec<DVec3> = match &character.skin {
            Some(skin) => skin.slots.iter().map(|slot| slot.inverse_bind.inverse().translation).collect(),
            None => Vec::new(),
        };
        let body = params.source.build(&character.mesh, &params.lattice, &joints)?;
        tell_uncovered(&body, character.mesh.positions(), warnings);
        let smooth = match params.smooth {
            true => Some(SmoothEmbedding::new(&body, character.mesh.positions())?),
            false => None,
        };
        if clip.is_some_and(|clip| !clip.morphs.is_empty()) {
            warnings.push("morph targets of the clip are left out; flesh follows bones");
        }
        let mut materials = vec![params.material; body.lattice.n_cells()];
        let (rigged, attachment) = match (&character.rig, &character.skin) {
            (Some(rig), Some(skin)) => {
                let bind = |materials: &[Material], warnings: &mut Warnings| {
                    let mesh = &character.mesh;
                    Skeleton::new(mesh, (rig, skin), &body, materials, &params.bones, warnings)
                };
                let mut skeleton = bind(&materials, warnings)?;
                if !params.stiffer.is_empty() {
                    stiffen(&mut materials, skin, &skeleton, &params.stiffer);
                    materials.iter().try_for_each(Material::check)?;
                    skeleton = bind(&materials, &mut Warnings::default())?;
                }
                let attachment = skeleton.attachment();
                (Some((rig, skin, skeleton)), attachment)
            }
            _ => {
                let feelers = feelers(&character.mesh, &body);
                (None, Attachment { feelers, ..Attachment::default() })
            }
        };
        let solver = FleshSolver::new(&body.lattice, &materials, &attachment, &params.flesh)?;
        let state = FleshState::at_rest(&body.lattice);
        let drive =
            Drive { obstacles: params.obstacles.clone(), ..Drive::at_rest(&body.lattice, &attachment) };
        let (diagonal, max_step) = (character.mesh.diagonal(), params.max_step);
        let mut baker = Self {
            rigged,
            clip,
            body,
            smooth,
            solver,
            state,
            drive,
            matrices: Vec::new(),
            time: 0.0,
            max_step,
            diagonal,
            n_jumps: 0,
        };
        baker.begin(params.settle)?;
        Ok(baker)
    }

    /// The lattice and what lies in it.
    pub fn body(&self) -> &Body {
        &self.body
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
    /// None that a baker can cause.
    pub fn positions(&self, out: &mut Vec<Vec3>) -> Result<(), FleshError> {
        out.resize(self.body.embedding.len(), Vec3::ZERO);
        if let Some(smooth) = &self.smooth {
            return smooth.evaluate(&self.state.positions, out);
        }
        self.body.embedding.evaluate(&self.body.lattice, &self.state.positions, out)
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
            self.follow(start + secs * step as f64)?;
            each(&self.solver.step(&mut self.state, &self.drive, secs)?);
        }
        self.time = time;
        Ok(())
    }

    fn begin(&mut self, settle: bool) -> Result<(), FleshError> {
        self.matrices = self.matrices_at(0.0)?;
        if let Some((.., skeleton)) = &self.rigged {
            self.state.positions = skeleton.skinned(&self.matrices);
            self.body.lattice.ties().spread_places(&mut self.state.positions);
            skeleton.drive(&self.matrices, &mut self.drive)?;
            self.state.rotations = self.drive.cell_rotations.clone();
            if settle {
                for _ in 0..SETTLE.0 {
                    self.solver.step(&mut self.state, &self.drive, SETTLE.1)?;
                }
                self.state.velocities.fill(DVec3::ZERO);
            }
        }
        Ok(())
    }

    fn matrices_at(&self, time: f64) -> Result<Vec<DAffine3>, FleshError> {
        let Some((rig, skin, _)) = &self.rigged else { return Ok(Vec::new()) };
        let pose = self.clip.map_or_else(|| rig.rest_pose(), |clip| clip.sample(rig, time as f32));
        let mut world = Vec::new();
        rig.forward(&pose, &mut world)?;
        Ok(skin.matrices(&world))
    }

    /// Bring the bones to a time; flesh is carried along where they jump.
    fn follow(&mut self, time: f64) -> Result<(), FleshError> {
        let matrices = self.matrices_at(time)?;
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

/// Flesh around some joints, stiffer by the weight they have there.
fn stiffen(materials: &mut [Material], skin: &Skin, skeleton: &Skeleton, factors: &[(usize, f64)]) {
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
