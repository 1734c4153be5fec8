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
    FleshError, FleshState, Material, Mode, PinMethod,
    blended::Blended,
    body::ElasticBody,
    element::{
        CellResponse, Definite, ElementKind, Energy, Integrals, MeanCell, Stiffness, cell_response,
        exact_gradients, gauss_gradients, mean_response, stiffness, twist, twist_matrix,
    },
    loads::Loads,
    newton::NewtonStep,
    solver::{Solved, Task, hold_by_multipliers},
    system::{BlockMatrix, Conjugate, Direct, Goal, Nodes, Outcome, invert_block, times_blocks, to_matrices},
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

    /// Unscaled stiffness of a cell, and its factor.
    pub fn of(&self, cell: usize) -> (&Stiffness, f64) {
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
    let shapes = Shapes::new(body);
    let cell = |cell: usize| {
        let at = lattice.cells()[cell].map(|node| x[node as usize]);
        match energy {
            Some(energy) => {
                let done = shapes.respond(body, energy, cell, &at, wanted);
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

/// Points with gradients and volumes, and their means.
type Shape = ([([DVec3; 8], f64); 8], MeanCell);

/// What nonlinear cells know of their shape at rest: once if all are alike.
struct Shapes {
    shared: Option<Shape>,
    integrals: Option<Integrals>,
}

impl Shapes {
    fn new(body: &ElasticBody) -> Self {
        let (lattice, params) = (&body.lattice, &body.params);
        let is_wanted = lattice.is_cubes() && energy_of(params.mode).is_some();
        let corners = lattice.corners(0);
        let points = gauss_gradients(&corners);
        let by_integrals = params.integrals && is_wanted && params.mode == Mode::Stvk;
        Self {
            shared: is_wanted.then(|| (points, MeanCell::new(&corners, &points))),
            integrals: (by_integrals && params.element == ElementKind::Trilinear)
                .then(|| Integrals::new(&exact_gradients(&corners))),
        }
    }

    fn respond(
        &self,
        body: &ElasticBody,
        energy: Energy,
        cell: usize,
        at: &[DVec3; 8],
        tangent: bool,
    ) -> CellResponse {
        let (material, share) = (&body.materials[cell], body.lattice.inside()[cell]);
        let own;
        let (points, mean) = match &self.shared {
            Some(shared) => shared,
            None => {
                let corners = body.lattice.corners(cell);
                let points = gauss_gradients(&corners);
                own = (points, MeanCell::new(&corners, &points));
                &own
            }
        };
        if body.params.element == ElementKind::Incompatible {
            return mean_response(energy, mean, at, (material, share), body.stiffness.of(cell), tangent);
        }
        let definite = tangent.then_some(Definite::Clamped);
        if let (Some(integrals), false) = (&self.integrals, tangent) {
            let rest = body.lattice.corners(cell);
            let q = std::array::from_fn(|c| at[c] - rest[c]);
            let (energy, gradient) = integrals.response(&q, material, share);
            return CellResponse { energy, gradient, tangent: None };
        }
        cell_response(energy, points, at, material, share, definite)
    }
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

/// Mean gradients of a cell's functions, and its volume.
fn mean_gradients(body: &ElasticBody, cell: usize) -> ([DVec3; 8], f64) {
    let points = gauss_gradients(&body.lattice.corners(cell));
    let volume: f64 = points.iter().map(|(_, v)| v).sum();
    let mean = |c: usize| points.iter().map(|(gradients, v)| gradients[c] * (v / volume)).sum();
    (std::array::from_fn(mean), volume)
}

/// Add what keeps stretched cells from being turned out of their frames.
fn add_twists(body: &ElasticBody, deformations: &[DMat3], rotations: &[DMat3], blocks: &mut BlockMatrix) {
    for (cell, (f, r)) in deformations.iter().zip(rotations).enumerate() {
        if let Some(stiffness) = twist(f, r, &body.materials[cell]) {
            let (gradients, volume) = mean_gradients(body, cell);
            let matrix = twist_matrix(&gradients, volume, &stiffness);
            blocks.add_cell(cell, &matrix, Some(r), body.lattice.inside()[cell]);
        }
    }
}

/// Deformation gradient in the middle of a cell of any shape.
pub(crate) fn deformations(body: &ElasticBody, x: &[DVec3]) -> Vec<DMat3> {
    let lattice = &body.lattice;
    let one = |cell: usize| {
        let at = lattice.cells()[cell].map(|node| x[node as usize]);
        let column = |p: &DVec3, g: &DVec3| DMat3::from_cols(*p * g.x, *p * g.y, *p * g.z);
        let (gradients, _) = mean_gradients(body, cell);
        at.iter().zip(&gradients).fold(DMat3::ZERO, |f, (p, g)| f + column(p, g))
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
        task: &Task,
        rotations: &mut [DQuat],
        change: &mut Nodes<f64>,
    ) -> Result<Solved, FleshError> {
        let Task { body, state, drive, loads, secs } = *task;
        if body.params.mode == Mode::Blended {
            if drive.cell_rotations.len() == rotations.len() {
                rotations.copy_from_slice(&drive.cell_rotations);
            }
            let blended = self.blended.get_or_insert_with(|| Blended::new(body));
            return blended.step(task, change).map(Solved::iterated);
        }
        if body.params.mode == Mode::Warped {
            if self.stiffness.is_zero() {
                let identity = vec![DMat3::IDENTITY; body.lattice.n_cells()];
                add_stiffness(body, &identity, 1.0, &mut self.stiffness);
            }
            return step_warped(&self.stiffness, task, change).map(Solved::iterated);
        }
        let is_nonlinear = energy_of(body.params.mode).is_some();
        let mut shapes = Vec::new();
        if !is_nonlinear {
            shapes = deformations(body, &state.positions);
            body.turn(&shapes, drive, rotations);
        }
        let turned = matrices(rotations);
        change.copy_from_slice(&loads.start);
        let step = NewtonStep { task, rotations: &turned };
        let rounds = if is_nonlinear { body.params.newton_rounds.max(1) } else { 1 };
        let mut total = Solved::iterated(Outcome { converged: true, ..Outcome::default() });
        for round in 0..rounds {
            let places = step.places(change);
            let mut response = respond(body, &places, &turned, Some(&mut self.stiffness));
            if round == 0 {
                self.damping.assign(&self.stiffness, secs * body.params.stiffness_damping);
            }
            if body.resists_turning() {
                let way = |(p, x): (&DVec3, &DVec3)| [p.x - x.x, p.y - x.y, p.z - x.z, 0.0];
                let ways: Nodes<f64> = places.iter().zip(&state.positions).map(way).collect();
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
    ) -> Result<Solved, FleshError> {
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
        let goal = Goal { reference: 0.0, tolerance: body.params.tolerance, limit };
        let outcome = self.conjugate.solve(apply, jacobi, &loads.pins, (r, delta), goal);
        if outcome.converged {
            return Ok(Solved::iterated(outcome));
        }
        // A system too ill-conditioned to factorise is left as iterations left it, and that is told.
        let made = match self.direct.take() {
            Some(mut direct) => direct.refactor(system).map(|()| direct),
            None => Direct::new(system, &is_fixed),
        };
        self.direct = made.ok();
        let Some(direct) = &mut self.direct else { return Ok(Solved::iterated(outcome)) };
        let solve = |r: &[[f64; 4]], z: &mut [[f64; 4]]| ties.around(r, z, |r, z| direct.solve(r, z));
        let tolerance = (body.params.tolerance / outcome.residual.max(1e-300)).clamp(1e-9, 1e-1);
        let goal = Goal { reference: 0.0, tolerance, limit: 50 };
        let direct_outcome = self.conjugate.solve(apply, solve, &loads.pins, (r, delta), goal);
        let iterations = outcome.iterations + direct_outcome.iterations;
        let residual = outcome.residual * direct_outcome.residual;
        let outcome = Outcome { iterations, residual, converged: direct_outcome.converged };
        Ok(Solved { direct: true, ..Solved::iterated(outcome) })
    }
}
