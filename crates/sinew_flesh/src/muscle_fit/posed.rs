//! A character in one pose, at rest, on which muscles are configured (Capell (2004), §6.3).
//!
//! Cells are rotated only as the bones prescribe, as in Capell (2004), eq. 6.1, so that forces and displacements
//! correspond one to one. With frames that follow the flesh there are other shapes at rest under the same forces.
//!
//! # Cost
//! new: the lattice, and the bones in it. set_pose and push: a few dozen long steps.

use crate::{
    Body, BodyPoint, FleshError, FleshSolver, FleshState, Simulation, SimulationParams, Skeleton, StepInput,
    element::corner_volumes,
    muscle::MuscleError,
    skinned_surface::SkinnedSurface,
    statics::{RestReport, StaticSolver, find_rest},
};
use glam::{DQuat, DVec3};
use sinew_geom::{Character, Mesh, Pose, Rig, Skin, Warnings};

/// Long steps at most until a body is at rest, and the motion per step, in cells, below which it is.
const REST_LIMITS: (usize, f64) = (60, 1e-3);

/// A character with flesh, held in a pose.
#[derive(Debug)]
pub struct PosedBody {
    pub(super) rig: Rig,
    pub(super) skin: Skin,
    pub(super) skeleton: Skeleton,
    pub(super) body: Body,
    pub(super) solver: FleshSolver,
    pub(super) state: FleshState,
    pub(super) input: StepInput,
    pose: Pose,
    surface: SkinnedSurface,
    /// Offset of the displayed surface from the lattice at each vertex.
    offsets: Vec<DVec3>,
}

impl PosedBody {
    /// Fill a character with flesh and let it come to rest in its rest pose.
    ///
    /// # Errors
    /// A character without skeleton or inside; parameters out of range.
    pub fn new(
        character: &Character,
        params: &SimulationParams,
        warnings: &mut Warnings,
    ) -> Result<Self, FleshError> {
        let joints: Vec<DVec3> =
            character.rig.iter().flat_map(|rig| rig.rest_world()).map(|world| world.translation).collect();
        let body = params.source.build(&character.mesh, &params.lattice, &joints)?;
        Self::from_simulation(Simulation::in_body(body, character, params, warnings)?)
    }

    /// The body of a simulation, held in its rest pose.
    ///
    /// # Errors
    /// A character without skeleton.
    pub fn from_simulation(simulation: Simulation) -> Result<Self, FleshError> {
        let Simulation { rigged, body, solver, state, input, surface, .. } = simulation;
        let Some((rig, skin, skeleton)) = rigged else { return Err(MuscleError::NotHeld.into()) };
        let input = StepInput { obstacles: Vec::new(), fixed_frames: true, ..input };
        let pose = rig.rest_pose();
        let mut posed = Self {
            rig,
            skin,
            skeleton,
            body,
            solver,
            state,
            input,
            pose: pose.clone(),
            surface,
            offsets: Vec::new(),
        };
        posed.set_pose(&pose)?;
        Ok(posed)
    }

    /// Take another pose and come to rest in it, without muscles.
    ///
    /// # Errors
    /// A pose of another skeleton, or numbers that are not finite.
    pub fn set_pose(&mut self, pose: &Pose) -> Result<RestReport, FleshError> {
        let mut world = Vec::new();
        self.rig.forward(pose, &mut world)?;
        let matrices = self.skin.matrices(&world);
        self.input.skinned.clear();
        self.skeleton.prescribe(&self.body.lattice, &matrices, &mut self.input)?;
        self.state.positions.clone_from(&self.input.skinned);
        let offset = |v| self.surface.offset((&self.skin, &matrices), &self.body, &self.input.skinned, v);
        self.offsets = (0..self.body.embedding.len()).map(offset).collect();
        self.state.rotations.clone_from(&self.input.cell_rotations);
        self.pose = pose.clone();
        self.input.forces.clear();
        find_rest(&mut self.solver, &mut self.state, &self.input, REST_LIMITS)
    }

    /// Come to rest under forces on nodes, in the frame of the pose.
    ///
    /// # Errors
    /// Another number of nodes, or numbers that are not finite.
    pub fn push(&mut self, forces: Vec<DVec3>) -> Result<RestReport, FleshError> {
        self.input.forces = forces;
        find_rest(&mut self.solver, &mut self.state, &self.input, REST_LIMITS)
    }

    /// The lattice and what lies in it.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// The pose it is in.
    pub fn pose(&self) -> &Pose {
        &self.pose
    }

    /// Its skeleton.
    pub fn rig(&self) -> &Rig {
        &self.rig
    }

    /// Everything that is simulated.
    pub fn state(&self) -> &FleshState {
        &self.state
    }

    /// Nodes held by bones.
    pub fn n_held(&self) -> usize {
        self.input.held.len()
    }

    /// How the pose turns each node.
    pub fn rotations(&self) -> &[DQuat] {
        &self.input.node_rotations
    }

    /// Bones at rest: joint, and where they begin and end.
    pub fn bones(&self) -> Vec<(String, [DVec3; 2])> {
        let name = |slot: usize| self.rig.joints()[self.skin.slots[slot].joint].name.clone();
        self.skeleton.bones().iter().map(|bone| (name(bone.slot), bone.ends)).collect()
    }

    /// The linear map from forces to displacements, here and now.
    ///
    /// # Errors
    /// A system that cannot be factorised.
    pub fn statics(&self) -> Result<StaticSolver, FleshError> {
        StaticSolver::new(&self.solver, &self.state, &self.input)
    }

    /// A vertex as a point of the body.
    ///
    /// # Errors
    /// If there is no such vertex.
    pub fn point(&self, vertex: usize) -> Result<BodyPoint, FleshError> {
        point_of(&self.body, vertex)
    }

    /// Where a point of the body is.
    pub fn place(&self, point: &BodyPoint) -> DVec3 {
        point.evaluate(&self.body.lattice, &self.state.positions)
    }

    /// Where the surface is.
    pub fn positions(&self) -> Vec<DVec3> {
        let mut positions = surface_at(&self.body, &self.state.positions);
        positions.iter_mut().zip(&self.offsets).for_each(|(p, offset)| *p += *offset);
        positions
    }

    /// Cells that are folded over, at one corner at least.
    pub fn n_folded(&self) -> usize {
        let is_folded = |cell: &&[u32; 8]| {
            let at = cell.map(|n| self.state.positions[n as usize]);
            corner_volumes(&at).into_iter().any(|v| v <= 0.0)
        };
        self.body.lattice.cells().iter().filter(is_folded).count()
    }

    /// Forces of the pose's frame in that of rest.
    pub(super) fn to_rest(&self, forces: &[DVec3]) -> Vec<DVec3> {
        forces.iter().zip(self.rotations()).map(|(f, turn)| turn.inverse() * *f).collect()
    }

    /// Vectors of the rest frame in that of the pose.
    pub(super) fn to_pose(&self, vectors: &[DVec3]) -> Vec<DVec3> {
        vectors.iter().zip(self.rotations()).map(|(v, turn)| *turn * *v).collect()
    }
}

/// A vertex as a point of the body.
pub(super) fn point_of(body: &Body, vertex: usize) -> Result<BodyPoint, FleshError> {
    let len = body.embedding.len();
    if vertex >= len {
        return Err(FleshError::OutOfLattice { what: "vertex", index: vertex, len });
    }
    Ok(body.point(vertex))
}

/// Where the surface is when the nodes are at `nodes`.
pub(super) fn surface_at(body: &Body, nodes: &[DVec3]) -> Vec<DVec3> {
    let at = |vertex: usize| {
        let corners = &body.lattice.cells()[body.embedding.cell(vertex)];
        let weights = body.embedding.weights(vertex);
        corners.iter().zip(weights).map(|(n, w)| nodes[*n as usize] * f64::from(*w)).sum()
    };
    (0..body.embedding.len()).map(at).collect()
}

/// A vertex that faces use, with its place.
pub(super) fn on_surface(
    mesh: &Mesh,
    is_used: &[bool],
    (feature, vertex): (usize, usize),
    of: &'static str,
) -> Result<DVec3, MuscleError> {
    let n_vertices = mesh.n_vertices();
    match is_used.get(vertex) {
        None => Err(MuscleError::FeatureRange { feature, vertex, of, n_vertices }),
        Some(false) => Err(MuscleError::FeatureOffSurface { feature, vertex, of }),
        Some(true) => Ok(mesh.positions()[vertex]),
    }
}

/// Which vertices belong to a face.
pub(super) fn used_vertices(mesh: &Mesh) -> Vec<bool> {
    let mut is_used = vec![false; mesh.n_vertices()];
    mesh.faces().iter().flatten().for_each(|&v| is_used[v as usize] = true);
    is_used
}
