//! Bodies whose system is assembled: cells of any shape, and nonlinear materials.
//!
//! # Source
//! Newton's method on the incremental potential of implicit Euler, with a line search, so that no step makes it worse
//! (Gast et al., *Optimization integrator for large time steps*, 2015).
//! # Cost
//! An assembly and a solve a Newton step; linear strain needs one.
//! # Limits
//! Nonlinear materials store the cube of what a jump of held nodes stretches them by: carry bodies along where bones jump,
//! as `Baker` does.

use crate::{
    FleshError, FleshState, Material, Mode,
    body::ElasticBody,
    element::{Definite, ElementKind, Energy, Stiffness, cell_response, gauss_gradients, stiffness},
    loads::Loads,
    newton::NewtonStep,
    solver::Task,
    system::{BlockMatrix, Conjugate, Direct, Goal, Nodes, Outcome, invert_block, to_matrices},
    warped::step_warped,
};
use glam::{DMat3, DQuat, DVec3};
use rayon::prelude::*;

/// Stiffness of every cell: shared where cells are alike but for a factor.
#[derive(Debug)]
pub(crate) struct CellStiffness {
    matrices: Vec<Box<Stiffness>>,
    of_cell: Vec<(u32, f64)>,
}

impl CellStiffness {
    pub fn new(
        lattice: &crate::Lattice,
        materials: &[Material],
        kind: ElementKind,
    ) -> Result<Self, FleshError> {
        let mut made = Self { matrices: Vec::new(), of_cell: Vec::new() };
        let mut ratios: Vec<f64> = Vec::new();
        let unit_size = lattice.cell_size(0);
        for cell in 0..lattice.n_cells() {
            let material = &materials[cell];
            let known = ratios.iter().position(|&ratio| lattice.is_aligned() && ratio == material.poisson);
            let at = match known {
                Some(at) => at,
                None => {
                    let unit = Material { young: 1.0, ..*material };
                    let like = if lattice.is_aligned() { 0 } else { cell };
                    made.matrices.push(stiffness(&lattice.corners(like), &unit, kind)?);
                    ratios.push(material.poisson);
                    ratios.len() - 1
                }
            };
            // Stiffness of cubes is in proportion to their side.
            let scale = if lattice.is_aligned() { lattice.cell_size(cell) / unit_size } else { 1.0 };
            made.of_cell.push((at as u32, material.young * lattice.inside()[cell] * scale));
        }
        Ok(made)
    }

    fn of(&self, cell: usize) -> (&Stiffness, f64) {
        let (at, factor) = self.of_cell[cell];
        (&self.matrices[at as usize], factor)
    }
}

/// Add `scale · Σ R K Rᵀ`.
pub(crate) fn add_stiffness(body: &ElasticBody, rotations: &[DMat3], scale: f64, blocks: &mut BlockMatrix) {
    for cell in 0..body.lattice.n_cells() {
        let (matrix, factor) = body.stiffness.of(cell);
        blocks.add_cell(cell, matrix, Some(&rotations[cell]), scale * factor);
    }
}

/// Energy and its gradient by corners of a cell with linear strain in its own frame.
fn turned_cell(body: &ElasticBody, cell: usize, at: &[DVec3; 8], r: &DMat3) -> (f64, [DVec3; 8]) {
    let rest = body.lattice.corners(cell);
    let (matrix, factor) = body.stiffness.of(cell);
    let u: [DVec3; 8] = std::array::from_fn(|c| r.transpose() * (at[c] - at[0]) - (rest[c] - rest[0]));
    let flat: [f64; 24] = std::array::from_fn(|i| u[i / 3][i % 3]);
    let force: [f64; 24] =
        std::array::from_fn(|i| factor * matrix[i].iter().zip(&flat).map(|(k, u)| k * u).sum::<f64>());
    let energy = 0.5 * force.iter().zip(&flat).map(|(f, u)| f * u).sum::<f64>();
    (energy, std::array::from_fn(|c| *r * DVec3::new(force[3 * c], force[3 * c + 1], force[3 * c + 2])))
}

fn energy_of(mode: Mode) -> Option<Energy> {
    match mode {
        Mode::Stvk => Some(Energy::StVenantKirchhoff),
        Mode::NeoHookean => Some(Energy::NeoHookean),
        _ => None,
    }
}

/// Energy, gradient and tangent of every cell at some places.
pub(crate) struct Response {
    pub energy: f64,
    pub gradient: Nodes<f64>,
}

pub(crate) fn respond(
    body: &ElasticBody,
    x: &[DVec3],
    rotations: &[DMat3],
    tangent: Option<&mut BlockMatrix>,
) -> Response {
    let lattice = &body.lattice;
    let energy = energy_of(body.params.mode);
    let wanted = tangent.is_some();
    let shared = gauss_gradients(&lattice.corners(0));
    let cell = |cell: usize| {
        let at = lattice.cells()[cell].map(|node| x[node as usize]);
        match energy {
            Some(energy) => {
                let own;
                let points = if lattice.is_cubes() {
                    &shared
                } else {
                    own = gauss_gradients(&lattice.corners(cell));
                    &own
                };
                let definite = wanted.then_some(Definite::Clamped);
                let share = lattice.inside()[cell];
                let done = cell_response(energy, points, &at, &body.materials[cell], share, definite);
                (done.energy, done.gradient, done.tangent)
            }
            None => {
                let (energy, gradient) = turned_cell(body, cell, &at, &rotations[cell]);
                (energy, gradient, None)
            }
        }
    };
    let cells: Vec<_> = (0..lattice.n_cells()).into_par_iter().map(cell).collect();
    let mut response = Response { energy: 0.0, gradient: vec![[0.0; 4]; x.len()] };
    let mut tangent = tangent;
    if let Some(blocks) = &mut tangent {
        blocks.clear();
    }
    // Summed in order, so that threads do not change a bit.
    for (cell, (energy, gradient, stiffness)) in cells.iter().enumerate() {
        response.energy += energy;
        for (node, g) in lattice.cells()[cell].iter().zip(gradient) {
            (0..3).for_each(|k| response.gradient[*node as usize][k] += g[k]);
        }
        if let Some(blocks) = &mut tangent {
            match stiffness {
                Some(stiffness) => blocks.add_cell(cell, stiffness, None, 1.0),
                None => {
                    let (matrix, factor) = body.stiffness.of(cell);
                    blocks.add_cell(cell, matrix, Some(&rotations[cell]), factor);
                }
            }
        }
    }
    response
}

pub(crate) fn matrices(rotations: &[DQuat]) -> Vec<DMat3> {
    let mut out = vec![DMat3::IDENTITY; rotations.len()];
    to_matrices(rotations, &mut out);
    out
}

pub(crate) fn elastic_energy(body: &ElasticBody, state: &FleshState) -> Result<f64, FleshError> {
    Ok(respond(body, &state.positions, &matrices(&state.rotations), None).energy)
}

pub(crate) fn gradient(body: &ElasticBody, state: &FleshState) -> Result<Vec<DVec3>, FleshError> {
    let response = respond(body, &state.positions, &matrices(&state.rotations), None);
    Ok(response.gradient.iter().map(|g| DVec3::new(g[0], g[1], g[2])).collect())
}

/// Deformation gradient in the middle of a cell of any shape.
pub(crate) fn deformations(body: &ElasticBody, x: &[DVec3]) -> Vec<DMat3> {
    let lattice = &body.lattice;
    let one = |cell: usize| {
        let at = lattice.cells()[cell].map(|node| x[node as usize]);
        let points = gauss_gradients(&lattice.corners(cell));
        let volume: f64 = points.iter().map(|(_, v)| v).sum();
        let mut f = DMat3::ZERO;
        for (gradients, v) in &points {
            for (p, g) in at.iter().zip(gradients) {
                f += DMat3::from_cols(*p * g.x, *p * g.y, *p * g.z) * (v / volume);
            }
        }
        f
    };
    (0..lattice.n_cells()).map(one).collect()
}

/// A system kept as a matrix.
#[derive(Debug)]
pub(crate) struct Assembled {
    stiffness: BlockMatrix,
    damping: BlockMatrix,
    system: BlockMatrix,
    conjugate: Conjugate<f64>,
    direct: Option<Direct>,
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
        }
    }

    pub fn step(
        &mut self,
        task: &Task,
        rotations: &mut [DQuat],
        change: &mut Nodes<f64>,
    ) -> Result<(Outcome, bool), FleshError> {
        let Task { body, state, drive, loads, secs } = *task;
        if body.params.mode == Mode::Warped {
            if self.stiffness.is_zero() {
                let identity = vec![DMat3::IDENTITY; body.lattice.n_cells()];
                add_stiffness(body, &identity, 1.0, &mut self.stiffness);
            }
            return step_warped(&self.stiffness, task, change).map(|outcome| (outcome, false));
        }
        let is_nonlinear = energy_of(body.params.mode).is_some();
        if !is_nonlinear {
            body.turn(&deformations(body, &state.positions), drive, rotations);
        }
        let turned = matrices(rotations);
        change.copy_from_slice(&loads.start);
        let step = NewtonStep { task, rotations: &turned };
        let rounds = if is_nonlinear { body.params.newton_rounds.max(1) } else { 1 };
        let (mut total, mut direct) = (Outcome { converged: true, ..Outcome::default() }, false);
        for round in 0..rounds {
            let places = step.places(change);
            let response = respond(body, &places, &turned, Some(&mut self.stiffness));
            if round == 0 {
                self.damping.assign(&self.stiffness, secs * body.params.stiffness_damping);
            }
            let mut r = step.residual(&response.gradient, &self.damping, change);
            let mut delta = vec![[0.0; 4]; r.len()];
            self.assemble(&step);
            let (outcome, was_direct) = self.solve(body, loads, &mut r, &mut delta)?;
            total.iterations += outcome.iterations;
            total.residual = total.residual.max(outcome.residual);
            total.converged &= outcome.converged;
            direct |= was_direct;
            let largest = step.search(response.energy, &self.damping, &delta, change, is_nonlinear);
            if largest * secs < 1e-6 * body.lattice.size() {
                break;
            }
        }
        Ok((total, direct))
    }

    /// `M (1 + h α) + h² K + h β K₀ + points`.
    fn assemble(&mut self, step: &NewtonStep) {
        let drag = 1.0 + step.task.secs * step.task.body.params.mass_damping;
        self.system.assign(&self.stiffness, step.task.secs * step.task.secs);
        self.system.add(&self.damping);
        step.task
            .body
            .masses
            .iter()
            .enumerate()
            .for_each(|(node, m)| self.system.add_diagonal(node, m * drag));
        step.task.loads.points.iter().for_each(|point| self.system.add_point(point));
    }

    fn solve(
        &mut self,
        body: &ElasticBody,
        loads: &Loads,
        r: &mut Nodes<f64>,
        delta: &mut Nodes<f64>,
    ) -> Result<(Outcome, bool), FleshError> {
        let (ties, is_fixed) = (body.lattice.ties(), body.is_fixed());
        let mut blocks: Vec<[f64; 6]> =
            (0..body.lattice.n_nodes()).map(|n| self.system.diagonal(n)).collect();
        ties.gather_blocks(&mut blocks);
        let invert =
            |(block, fixed): (&[f64; 6], &bool)| if *fixed { [0.0; 6] } else { invert_block(*block) };
        let inverse: Vec<[f64; 6]> = blocks.iter().zip(&is_fixed).map(invert).collect();
        let system = &self.system;
        let apply = |x: &[[f64; 4]], out: &mut [[f64; 4]]| system.apply(x, out);
        let jacobi = |r: &[[f64; 4]], z: &mut [[f64; 4]]| {
            ties.around(r, z, |r, z| times_blocks(&inverse, r, z));
        };
        let limit = body.iteration_limit();
        let goal = Goal { reference: 0.0, tolerance: body.params.tolerance, limit };
        let outcome = self.conjugate.solve(apply, jacobi, &loads.pins, (r, delta), goal);
        if outcome.converged {
            return Ok((outcome, false));
        }
        // A system too ill-conditioned to factorise is left as iterations left it, and that is told.
        let made = match self.direct.take() {
            Some(mut direct) => direct.refactor(system).map(|()| direct),
            None => Direct::new(system, &is_fixed),
        };
        self.direct = made.ok();
        let Some(direct) = &mut self.direct else { return Ok((outcome, false)) };
        let solve = |r: &[[f64; 4]], z: &mut [[f64; 4]]| ties.around(r, z, |r, z| direct.solve(r, z));
        let tolerance = (body.params.tolerance / outcome.residual.max(1e-300)).clamp(1e-9, 1e-1);
        let goal = Goal { reference: 0.0, tolerance, limit: 50 };
        let direct_outcome = self.conjugate.solve(apply, solve, &loads.pins, (r, delta), goal);
        let iterations = outcome.iterations + direct_outcome.iterations;
        let residual = outcome.residual * direct_outcome.residual;
        Ok((Outcome { iterations, residual, converged: direct_outcome.converged }, true))
    }
}

/// `z = D⁻¹ r`, block by block.
pub(crate) fn times_blocks(inverse: &[[f64; 6]], r: &[[f64; 4]], z: &mut [[f64; 4]]) {
    for ((z, r), m) in z.iter_mut().zip(r).zip(inverse) {
        let [xx, yy, zz, xy, xz, yz] = *m;
        *z = [
            xx * r[0] + xy * r[1] + xz * r[2],
            xy * r[0] + yy * r[1] + yz * r[2],
            xz * r[0] + yz * r[1] + zz * r[2],
            0.0,
        ];
    }
}
