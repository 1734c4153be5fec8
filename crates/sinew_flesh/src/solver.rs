//! Steps of an elastic body.
//!
//! # Source
//! Capell, *Interactive Character Animation Using Dynamic Elastic Simulation* (2004): implicit Euler with one
//! linearisation a step (§4.5, eqs. 4.6 and 4.7, after Baraff and Witkin 1998), bones as nodes whose motion is given
//! (§5.1) and as an energy around them (§5.3). Differs: rotations belong to cells, not to nodes (Müller and Gross 2004),
//! predicted from the bones as §5.2.2 does, so that `Σ R K Rᵀ` is symmetric and positive.
//! # Symbols
//! `(M (1 + h α) + (h² + h β) K) Δv = h (f − α M v) − (h² + h β) K v`; `h` length of the step, `α`, `β` damping
//! # Cost
//! new: masses and constants of cells. step: a gradient in double precision, then an application of `K` an iteration in
//! single precision, without any matrix; stiff bodies are factorised every now and then instead.
//! # Limits
//! The same bits on any number of threads. Obstacles act on feelers only.

use crate::{
    Attachment, Drive, FleshError, FleshParams, FleshState, Lattice, Material, Mode,
    assembled::{Assembled, deformations, elastic_energy, gradient},
    body::ElasticBody,
    loads::Loads,
    matrix_free::CubeEngine,
    params::check_step,
};
use glam::DVec3;

/// Rounds of polar steps after which cells are turned as far as they will.
const TURNS: usize = 30;

/// How a step went.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StepReport {
    /// Iterations of the linear solver.
    pub iterations: usize,
    /// Relative residual that is left.
    pub residual: f64,
    /// Whether it is as small as asked for.
    pub converged: bool,
    /// Whether a factorisation was used.
    pub direct: bool,
    /// Feelers that touch something.
    pub contacts: usize,
}

/// An elastic body. Keeps scratch and a factorisation; all that is simulated is in a [`FleshState`].
#[derive(Debug)]
pub struct FleshSolver {
    pub(crate) body: ElasticBody,
    engine: Engine,
}

/// One step of a body: what an engine is given to solve.
#[derive(Clone, Copy)]
pub(crate) struct Task<'a> {
    pub body: &'a ElasticBody,
    pub state: &'a FleshState,
    pub drive: &'a Drive,
    pub loads: &'a Loads,
    pub secs: f64,
}

#[derive(Debug)]
enum Engine {
    Cubes(Box<CubeEngine>),
    Assembled(Box<Assembled>),
}

impl FleshSolver {
    /// A body of one or, cell by cell, several materials.
    ///
    /// # Errors
    /// Materials or parameters out of range, lists that do not fit the lattice.
    pub fn new(
        lattice: &Lattice,
        materials: &[Material],
        attachment: &Attachment,
        params: &FleshParams,
    ) -> Result<Self, FleshError> {
        let body = ElasticBody::new(lattice, materials, attachment, params)?;
        let is_linear = matches!(params.mode, Mode::Linear | Mode::Quasi | Mode::Predicted);
        let engine = if lattice.is_aligned() && is_linear {
            Engine::Cubes(Box::new(CubeEngine::new(&body)))
        } else {
            Engine::Assembled(Box::new(Assembled::new(&body)))
        };
        Ok(Self { body, engine })
    }

    /// Mass of every node, in kilograms.
    pub fn masses(&self) -> &[f64] {
        &self.body.masses
    }

    /// Mean stiffness of its cells, in pascals.
    pub(crate) fn mean_young(&self) -> f64 {
        let materials = &self.body.materials;
        materials.iter().map(|material| material.young).sum::<f64>() / materials.len() as f64
    }

    /// The lattice it was made for.
    pub fn lattice(&self) -> &Lattice {
        &self.body.lattice
    }

    /// Move on by `secs`.
    ///
    /// # Errors
    /// A drive that does not fit, pins that contradict each other, or numbers that are not finite; the state is then
    /// as it was.
    pub fn step(
        &mut self,
        state: &mut FleshState,
        drive: &Drive,
        secs: f64,
    ) -> Result<StepReport, FleshError> {
        check_step(secs)?;
        self.body.check_state(state)?;
        let loads = Loads::gather(&self.body.scene(), state, drive, secs)?;
        let mut change = vec![[0.0; 4]; state.positions.len()];
        let mut rotations = state.rotations.clone();
        let task = Task { body: &self.body, state, drive, loads: &loads, secs };
        let (outcome, direct) = match &mut self.engine {
            Engine::Cubes(engine) => engine.step(&task, &mut rotations, &mut change)?,
            Engine::Assembled(engine) => engine.step(&task, &mut rotations, &mut change)?,
        };
        if let Some(index) = change.iter().position(|c| !c.iter().all(|x| x.is_finite())) {
            return Err(FleshError::NonFinite { what: "velocity of node", index });
        }
        state.rotations = rotations;
        for (node, change) in change.iter().enumerate() {
            state.velocities[node] += DVec3::new(change[0], change[1], change[2]);
            state.positions[node] += secs * state.velocities[node];
        }
        for (&node, target) in self.body.attachment.held.iter().zip(&drive.held) {
            state.positions[node as usize] = *target;
        }
        self.body.lattice.ties().spread_places(&mut state.positions);
        Ok(StepReport {
            iterations: outcome.iterations,
            residual: outcome.residual,
            converged: outcome.converged,
            direct,
            contacts: loads.n_contacts,
        })
    }

    /// Turn the cells of a state as its shape and the bones do, until they turn no further.
    pub(crate) fn turn(&self, state: &mut FleshState, drive: &Drive) {
        let deformations = deformations(&self.body, &state.positions);
        for _ in 0..TURNS {
            self.body.turn(&deformations, drive, &mut state.rotations);
        }
    }

    /// Elastic energy and that of motion, in joules.
    ///
    /// # Errors
    /// A state that does not fit.
    pub fn energies(&self, state: &FleshState) -> Result<[f64; 2], FleshError> {
        self.body.check_state(state)?;
        let speed = state.velocities.iter().zip(&self.body.masses).map(|(v, m)| 0.5 * m * v.length_squared());
        Ok([elastic_energy(&self.body, state)?, speed.sum()])
    }

    /// Gradient of the elastic energy at given places, with cells turned as the state says (nonlinear modes ignore
    /// that). Forces are its negative.
    ///
    /// # Errors
    /// A state that does not fit.
    pub fn gradient(&self, state: &FleshState) -> Result<Vec<DVec3>, FleshError> {
        self.body.check_state(state)?;
        gradient(&self.body, state)
    }
}
