//! Bodies whose system is assembled: cells of any shape, and nonlinear materials.
//!
//! # Source
//! Newton's method on the incremental potential of implicit Euler, with a line search, so that no step increases it
//! (Gast et al., *Optimization integrator for large time steps*, 2015).
//! # Cost
//! One assembly and one solve per Newton step; linear strain needs a single step.
//! # Limits
//! When held nodes jump, the energy stored by a nonlinear material grows with the cube of the stretch: carry bodies
//! along where bones jump, as `Baker` does.

use crate::{
    FleshError, Mode, PinMethod,
    blended::Blended,
    body::ElasticBody,
    loads::Loads,
    newton::NewtonStep,
    response::{SkinShape, add_stiffness, add_twists, deformations, energy_of, respond},
    step::{SolveResult, StepContext, hold_by_multipliers},
    system::{
        BlockMatrix, Conjugate, Direct, KrylovParams, Nodes, Outcome, invert_block, rotation_matrices,
        times_blocks,
    },
    warped::step_warped,
};
use glam::{DMat3, DQuat, DVec3};

/// A system kept as a matrix.
#[derive(Debug)]
pub(crate) struct Assembled {
    stiffness: BlockMatrix,
    damping: BlockMatrix,
    system: BlockMatrix,
    conjugate: Conjugate<f64>,
    direct: Option<Direct>,
    blended: Option<Blended>,
}

impl Assembled {
    pub fn new(body: &ElasticBody) -> Self {
        let blocks = BlockMatrix::new(&body.lattice);
        Self {
            damping: blocks.clone(),
            system: blocks.clone(),
            stiffness: blocks,
            conjugate: Conjugate::default(),
            direct: None,
            blended: None,
        }
    }

    pub fn step(
        &mut self,
        context: &StepContext,
        rotations: &mut [DQuat],
        change: &mut Nodes<f64>,
    ) -> Result<SolveResult, FleshError> {
        let StepContext { body, state, input, loads, secs } = *context;
        if body.params.mode == Mode::Blended {
            if input.cell_rotations.len() == rotations.len() {
                rotations.copy_from_slice(&input.cell_rotations);
            }
            let blended = self.blended.get_or_insert_with(|| Blended::new(body));
            return blended.step(context, change).map(SolveResult::iterated);
        }
        if body.params.mode == Mode::Warped {
            if self.stiffness.is_zero() {
                let identity = vec![DMat3::IDENTITY; body.lattice.n_cells()];
                add_stiffness(body, &identity, 1.0, &mut self.stiffness);
            }
            return step_warped(&self.stiffness, context, change).map(SolveResult::iterated);
        }
        let is_nonlinear = energy_of(body.params.mode).is_some();
        let skin = SkinShape::new(body, input);
        // Places that frames belong to: those at the beginning, moved along with the skin.
        let mut start = state.positions.clone();
        let mut shapes = Vec::new();
        if let Some(skin) = &skin {
            for (p, (to, from)) in start.iter_mut().zip(input.skinned.iter().zip(&input.skinned_before)) {
                *p += *to - *from;
            }
            shapes = deformations(body, &start);
            skin.frames.turn(body.polar_steps(input), &mut shapes, rotations);
        } else if !is_nonlinear {
            shapes = deformations(body, &start);
            body.turn(&shapes, input, rotations);
        }
        let turned = rotation_matrices(rotations);
        change.copy_from_slice(&loads.start);
        if skin.is_some() && loads.pins.rows.is_empty() {
            for (node, change) in change.iter_mut().enumerate().filter(|(node, _)| !body.is_held[*node]) {
                let v = (start[node] - state.positions[node]) / secs - state.velocities[node];
                (0..3).for_each(|k| change[k] = v[k]);
            }
            body.lattice.ties().spread(change);
        }
        let rest = skin.as_ref().map(|skin| skin.corners.as_slice());
        let step = NewtonStep { context, rotations: &turned, rest };
        let rounds = if is_nonlinear { body.params.newton_rounds.max(1) } else { 1 };
        let mut total = SolveResult::iterated(Outcome { converged: true, ..Outcome::default() });
        for round in 0..rounds {
            let places = step.places(change);
            let mut response = respond(body, &step.configuration(&places), Some(&mut self.stiffness));
            if round == 0 {
                self.damping.assign(&self.stiffness, secs * body.params.stiffness_damping);
            }
            if body.resists_turning(input) {
                let way = |(p, x): (&DVec3, &DVec3)| [p.x - x.x, p.y - x.y, p.z - x.z, 0.0];
                let ways: Nodes<f64> = places.iter().zip(&start).map(way).collect();
                self.system.clear();
                add_twists(body, &shapes, &turned, &mut self.system);
                self.system.apply(&ways, &mut response.gradient);
                self.stiffness.add(&self.system);
            }
            let mut r = step.residual(&response.gradient, &self.damping, change);
            let mut delta = vec![[0.0; 4]; r.len()];
            self.assemble(&step);
            total.add(self.solve(body, loads, &mut r, &mut delta)?);
            let largest = step.search(response.energy, &self.damping, &delta, change, is_nonlinear);
            if largest * secs < 1e-6 * body.lattice.size() {
                break;
            }
        }
        Ok(total)
    }

    /// `M (1 + h α) + h² K + h β K₀ + points`.
    fn assemble(&mut self, step: &NewtonStep) {
        let drag = 1.0 + step.context.secs * step.context.body.params.mass_damping;
        self.system.assign(&self.stiffness, step.context.secs * step.context.secs);
        self.system.add(&self.damping);
        step.context
            .body
            .masses
            .iter()
            .enumerate()
            .for_each(|(node, m)| self.system.add_diagonal(node, m * drag));
        let diagonal = step.context.loads.diagonal.iter().enumerate();
        diagonal.for_each(|(node, k)| self.system.add_diagonal(node, *k));
        step.context.loads.points.iter().for_each(|point| self.system.add_point(point));
    }

    fn solve(
        &mut self,
        body: &ElasticBody,
        loads: &Loads,
        r: &mut Nodes<f64>,
        delta: &mut Nodes<f64>,
    ) -> Result<SolveResult, FleshError> {
        let (ties, is_fixed) = (body.lattice.ties(), body.is_fixed());
        let mut blocks: Vec<[f64; 6]> =
            (0..body.lattice.n_nodes()).map(|n| self.system.diagonal(n)).collect();
        ties.gather_blocks(&mut blocks);
        let invert =
            |(block, fixed): (&[f64; 6], &bool)| if *fixed { [0.0; 6] } else { invert_block(*block) };
        let inverse: Vec<[f64; 6]> = blocks.iter().zip(&is_fixed).map(invert).collect();
        let system = &self.system;
        let apply = |x: &[[f64; 4]], out: &mut [[f64; 4]]| system.apply(x, out);
        if body.params.pins == PinMethod::Multipliers && !loads.pins.rows.is_empty() {
            return Ok(hold_by_multipliers(apply, &inverse, body, loads, (r, delta)));
        }
        let jacobi = |r: &[[f64; 4]], z: &mut [[f64; 4]]| {
            ties.around(r, z, |r, z| times_blocks(&inverse, r, z));
        };
        let limit = body.iteration_limit();
        let goal = KrylovParams { reference: 0.0, tolerance: body.params.tolerance, limit };
        let outcome = self.conjugate.solve(apply, jacobi, &loads.pins, (r, delta), goal);
        if outcome.converged {
            return Ok(SolveResult::iterated(outcome));
        }
        // A system too ill-conditioned to factorise keeps the result of the iterations, which is reported as not converged.
        let made = match self.direct.take() {
            Some(mut direct) => direct.refactor(system).map(|()| direct),
            None => Direct::new(system, &is_fixed),
        };
        self.direct = made.ok();
        let Some(direct) = &mut self.direct else { return Ok(SolveResult::iterated(outcome)) };
        let solve = |r: &[[f64; 4]], z: &mut [[f64; 4]]| ties.around(r, z, |r, z| direct.solve(r, z));
        let tolerance = (body.params.tolerance / outcome.residual.max(1e-300)).clamp(1e-9, 1e-1);
        let goal = KrylovParams { reference: 0.0, tolerance, limit: 50 };
        let direct_outcome = self.conjugate.solve(apply, solve, &loads.pins, (r, delta), goal);
        let iterations = outcome.iterations + direct_outcome.iterations;
        let residual = outcome.residual * direct_outcome.residual;
        let outcome = Outcome { iterations, residual, converged: direct_outcome.converged };
        Ok(SolveResult { direct: true, ..SolveResult::iterated(outcome) })
    }
}
