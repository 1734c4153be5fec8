//! Steps of an elastic body.
//!
//! # Source
//! Capell (2004): implicit Euler with one linearisation per step (§4.5; eqs. 4.6 and 4.7 in §4.8, after Baraff and
//! Witkin 1998), bones as nodes whose motion is given (§5.1) and as an energy around them (§5.3). Differs: rotations
//! belong to cells, not to nodes (Müller and Gross 2004), predicted from the bones as in §5.2.2, so that `Σ R K Rᵀ` is
//! symmetric and positive.
//! # Symbols
//! `(M (1 + h α) + (h² + h β) K) Δv = h (f − α M v) − (h² + h β) K v`; `h` length of the step, `α`, `β` damping
//! # Cost
//! new: masses and constants of cells. step: one gradient in double precision, then one matrix-free application of `K`
//! per iteration in single precision; stiff bodies are factorised from time to time instead.
//! # Limits
//! The same bits on any number of threads. Obstacles act on contact_points only.

use crate::{
    Attachment, FleshError, FleshParams, FleshState, Lattice, Material, Mode, StepInput,
    assembled::Assembled,
    body::ElasticBody,
    carry::{carry, is_jerked},
    loads::{Loads, check},
    matrix_free::CubeEngine,
    params::check_step,
    response::{SkinShape, deformations, elastic_energy, gradient},
    step::StepContext,
};
use glam::DVec3;

/// Rounds of polar steps after which cells are turned as far as they will.
const MAX_POLAR_ROUNDS: usize = 30;

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
    /// Contact points that touch something.
    pub contacts: usize,
    /// Whether what holds the body jumped: the body was carried along, or its flesh given no momentum.
    pub carried: bool,
}

/// An elastic body. Keeps scratch and a factorisation; all that is simulated is in a [`FleshState`].
#[derive(Debug)]
pub struct FleshSolver {
    pub(crate) body: ElasticBody,
    engine: Engine,
    pin_forces: Vec<DVec3>,
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
        Ok(Self { body, engine, pin_forces: Vec::new() })
    }

    /// The same body of other materials.
    pub(crate) fn with_materials(&self, materials: &[Material]) -> Result<Self, FleshError> {
        let ElasticBody { lattice, attachment, params, .. } = &self.body;
        Self::new(lattice, materials, attachment, params)
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

    /// Force that held each pin in the last step, in newtons, with [`crate::PinMethod::Multipliers`]; else empty. A pin that
    /// says what others say already has none.
    pub fn pin_forces(&self) -> &[DVec3] {
        &self.pin_forces
    }

    /// Move on by `secs`.
    ///
    /// # Errors
    /// An input that does not fit, pins that contradict each other, or numbers that are not finite; the state is then
    /// as it was.
    pub fn step(
        &mut self,
        state: &mut FleshState,
        input: &StepInput,
        secs: f64,
    ) -> Result<StepReport, FleshError> {
        check_step(secs)?;
        self.body.check_state(state)?;
        check(&self.body.scene(), input)?;
        let carried = carry(&self.body, state, input);
        let from = carried.as_ref().unwrap_or(state);
        let loads = Loads::gather(&self.body.scene(), from, input, secs)?;
        let mut change = vec![[0.0; 4]; from.positions.len()];
        let mut rotations = from.rotations.clone();
        let context = StepContext { body: &self.body, state: from, input, loads: &loads, secs };
        let solved = match &mut self.engine {
            Engine::Cubes(engine) => engine.step(&context, &mut rotations, &mut change)?,
            Engine::Assembled(engine) => engine.step(&context, &mut rotations, &mut change)?,
        };
        if let Some(index) = change.iter().position(|c| !c.iter().all(|x| x.is_finite())) {
            return Err(FleshError::NonFinite { what: "velocity of node", index });
        }
        let is_jerked = is_jerked(&self.body, from, input);
        let is_carried = carried.is_some() || is_jerked;
        if let Some(carried) = carried {
            *state = carried;
        }
        state.rotations = rotations;
        self.pin_forces.clear();
        if !solved.multipliers.is_empty() {
            self.pin_forces.resize(input.pins.len(), DVec3::ZERO);
            for ((pin, _), impulse) in loads.pins.rows.iter().zip(&solved.multipliers) {
                self.pin_forces[*pin] = -*impulse / secs;
            }
        }
        for (node, change) in change.iter().enumerate() {
            let v = state.velocities[node] + DVec3::new(change[0], change[1], change[2]);
            state.positions[node] += secs * v;
            if !is_jerked {
                state.velocities[node] = v;
            }
        }
        for (&node, target) in self.body.attachment.held.iter().zip(&input.held) {
            state.positions[node as usize] = *target;
        }
        self.body.lattice.ties().spread_places(&mut state.positions);
        Ok(StepReport {
            iterations: solved.outcome.iterations,
            residual: solved.outcome.residual,
            converged: solved.outcome.converged,
            direct: solved.direct,
            contacts: loads.n_contacts,
            carried: is_carried,
        })
    }

    /// Turn the cells of a state as its shape and the bones do, until they turn no further.
    pub(crate) fn turn(&self, state: &mut FleshState, input: &StepInput) {
        let deformations = deformations(&self.body, &state.positions);
        let skin = SkinShape::new(&self.body, input);
        for _ in 0..MAX_POLAR_ROUNDS {
            match &skin {
                Some(skin) => {
                    let steps = self.body.polar_steps(input);
                    skin.frames.turn(steps, &mut deformations.clone(), &mut state.rotations);
                }
                None => self.body.turn(&deformations, input, &mut state.rotations),
            }
        }
    }

    /// Elastic energy and that of motion, in joules.
    ///
    /// # Errors
    /// A state that does not fit.
    pub fn energies(&self, state: &FleshState) -> Result<[f64; 2], FleshError> {
        self.body.check_state(state)?;
        let speed = state.velocities.iter().zip(&self.body.masses).map(|(v, m)| 0.5 * m * v.length_squared());
        Ok([elastic_energy(&self.body, state), speed.sum()])
    }

    /// Gradient of the elastic energy at given places, with cells turned as the state says (nonlinear modes ignore
    /// that). Forces are its negative.
    ///
    /// # Errors
    /// A state that does not fit.
    pub fn gradient(&self, state: &FleshState) -> Result<Vec<DVec3>, FleshError> {
        self.body.check_state(state)?;
        Ok(gradient(&self.body, state, None))
    }
}
