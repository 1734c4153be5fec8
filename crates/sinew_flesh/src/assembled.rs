//! Bodies whose system is assembled: cells of any shape, nonlinear materials, and the thesis's warped nodes.
//!
//! # Source
//! Newton's method on the incremental potential of implicit Euler, with a line search, so that no step makes it worse
//! (Gast et al. 2015); Capell 2004, §5.2.2, eq. 5.10 for warped nodes: `Q_i = R_i Σ_j S_ij (R_iᵀ x_j − X_j)`, in which
//! translations cancel since rows of `S` sum to zero.
//! # Cost
//! An assembly and a solve a Newton step; linear strain needs one.
//! # Limits
//! Nonlinear materials store the cube of what a jump of held nodes stretches them by: carry bodies along where bones jump,
//! as `Baker` does.

use crate::{
    Drive, FleshError, FleshState, Material, Mode,
    element::{Definite, ElementKind, Energy, Stiffness, cell_response, gauss_gradients, stiffness},
    loads::Loads,
    solver::ElasticBody,
    system::{
        BlockMatrix, Conjugate, Direct, Goal, Nodes, Outcome, apply_points, bicgstab, invert_block,
        to_matrices,
    },
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
        for cell in 0..lattice.n_cells() {
            let material = &materials[cell];
            let known = ratios.iter().position(|&ratio| lattice.is_cubes() && ratio == material.poisson);
            let at = match known {
                Some(at) => at,
                None => {
                    let unit = Material { young: 1.0, ..*material };
                    made.matrices.push(stiffness(&lattice.corners(cell), &unit, kind)?);
                    ratios.push(material.poisson);
                    ratios.len() - 1
                }
            };
            made.of_cell.push((at as u32, material.young * lattice.inside()[cell]));
        }
        Ok(made)
    }

    fn of(&self, cell: usize) -> (&Stiffness, f64) {
        let (at, factor) = self.of_cell[cell];
        (&self.matrices[at as usize], factor)
    }
}

/// Add `scale · Σ R K Rᵀ`.
pub(crate) fn add_stiffness(
    body: &ElasticBody,
    rotations: &[DMat3],
    scale: f64,
    blocks: &mut BlockMatrix,
) -> Result<(), FleshError> {
    for cell in 0..body.lattice.n_cells() {
        let (matrix, factor) = body.stiffness.of(cell);
        blocks.add_cell(cell, matrix, Some(&rotations[cell]), scale * factor);
    }
    Ok(())
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
struct Response {
    energy: f64,
    gradient: Nodes<f64>,
}

fn respond(
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

fn matrices(rotations: &[DQuat]) -> Vec<DMat3> {
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
fn deformations(body: &ElasticBody, x: &[DVec3]) -> Vec<DMat3> {
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

/// Halvings of a Newton step at most.
const HALVINGS: usize = 12;

impl Assembled {
    pub fn new(body: &ElasticBody) -> Result<Self, FleshError> {
        let blocks = BlockMatrix::new(&body.lattice);
        Ok(Self {
            damping: blocks.clone(),
            system: blocks.clone(),
            stiffness: blocks,
            conjugate: Conjugate::default(),
            direct: None,
        })
    }

    #[allow(clippy::too_many_arguments)]
    pub fn step(
        &mut self,
        body: &ElasticBody,
        state: &FleshState,
        drive: &Drive,
        loads: &Loads,
        secs: f64,
        rotations: &mut [DQuat],
        change: &mut Nodes<f64>,
    ) -> Result<(Outcome, bool), FleshError> {
        if body.params.mode == Mode::Warped {
            return self.step_warped(body, state, drive, loads, secs, change).map(|outcome| (outcome, false));
        }
        let is_nonlinear = energy_of(body.params.mode).is_some();
        if !is_nonlinear {
            body.turn(&deformations(body, &state.positions), drive, rotations);
        }
        let turned = matrices(rotations);
        change.copy_from_slice(&loads.start);
        let step = NewtonStep { body, state, loads, secs, rotations: &turned };
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
        let drag = 1.0 + step.secs * step.body.params.mass_damping;
        self.system.assign(&self.stiffness, step.secs * step.secs);
        self.system.add(&self.damping);
        step.body.masses.iter().enumerate().for_each(|(node, m)| self.system.add_diagonal(node, m * drag));
        step.loads.points.iter().for_each(|point| self.system.add_point(point));
    }

    fn solve(
        &mut self,
        body: &ElasticBody,
        loads: &Loads,
        r: &mut Nodes<f64>,
        delta: &mut Nodes<f64>,
    ) -> Result<(Outcome, bool), FleshError> {
        let inverse: Vec<[f64; 6]> = (0..body.lattice.n_nodes())
            .map(|node| if body.is_held[node] { [0.0; 6] } else { invert_block(self.system.diagonal(node)) })
            .collect();
        let system = &self.system;
        let apply = |x: &[[f64; 4]], out: &mut [[f64; 4]]| system.apply(x, out);
        let jacobi = |r: &[[f64; 4]], z: &mut [[f64; 4]]| times_blocks(&inverse, r, z);
        let limit = body.iteration_limit();
        let goal = Goal { reference: 0.0, tolerance: body.params.tolerance, limit };
        let outcome = self.conjugate.solve(apply, jacobi, &loads.pins, (r, delta), goal);
        if outcome.converged {
            return Ok((outcome, false));
        }
        // A system too ill-conditioned to factorise is left as iterations left it, and that is told.
        let made = match self.direct.take() {
            Some(mut direct) => direct.refactor(system).map(|()| direct),
            None => Direct::new(system, &body.is_held),
        };
        self.direct = made.ok();
        let Some(direct) = &mut self.direct else { return Ok((outcome, false)) };
        let solve = |r: &[[f64; 4]], z: &mut [[f64; 4]]| direct.solve(r, z);
        let tolerance = (body.params.tolerance / outcome.residual.max(1e-300)).clamp(1e-9, 1e-1);
        let goal = Goal { reference: 0.0, tolerance, limit: 50 };
        let direct_outcome = self.conjugate.solve(apply, solve, &loads.pins, (r, delta), goal);
        let iterations = outcome.iterations + direct_outcome.iterations;
        let residual = outcome.residual * direct_outcome.residual;
        Ok((Outcome { iterations, residual, converged: direct_outcome.converged }, true))
    }

    fn step_warped(
        &mut self,
        body: &ElasticBody,
        state: &FleshState,
        drive: &Drive,
        loads: &Loads,
        secs: f64,
        change: &mut Nodes<f64>,
    ) -> Result<Outcome, FleshError> {
        if !drive.pins.is_empty() {
            let (name, value) = ("number of pins", drive.pins.len() as f64);
            let expected = "mode warped has no pins; choose mode predicted";
            return Err(FleshError::Parameter { name, value, expected });
        }
        let params = &body.params;
        if self.stiffness.is_zero() {
            let identity = vec![DMat3::IDENTITY; body.lattice.n_cells()];
            add_stiffness(body, &identity, 1.0, &mut self.stiffness)?;
        }
        let n = body.lattice.n_nodes();
        let turned = match drive.node_rotations.is_empty() {
            true => vec![DMat3::IDENTITY; n],
            false => matrices(&drive.node_rotations),
        };
        let (scale, drag) = (secs * secs + secs * params.stiffness_damping, secs * params.mass_damping);
        let (matrix, rest) = (&self.stiffness, body.lattice.nodes());
        // Row i of R_i S (R_iᵀ p − X), with or without the shape at rest.
        let warp = |node: usize, p: &dyn Fn(usize) -> DVec3, with_rest: bool| {
            let (r, origin) = (&turned[node], p(node));
            let sum = matrix.row_times(node, |other| {
                let at = r.transpose() * (p(other) - origin);
                (if with_rest { at - (rest[other] - rest[node]) } else { at }).to_array()
            });
            *r * DVec3::from_array(sum)
        };
        let is_held = &body.is_held;
        let apply = |x: &[[f64; 4]], out: &mut [[f64; 4]]| {
            let at = |node: usize| DVec3::new(x[node][0], x[node][1], x[node][2]);
            for node in (0..n).filter(|node| !is_held[*node]) {
                let f = warp(node, &at, false) * scale + at(node) * (body.masses[node] * (1.0 + drag));
                out[node] = [f.x, f.y, f.z, 0.0];
            }
            apply_points(&loads.points, x, out);
            (0..n).filter(|node| is_held[*node]).for_each(|node| out[node] = [0.0; 4]);
        };
        let w = |node: usize| state.velocities[node] + DVec3::from_slice(&loads.start[node][..3]);
        let place = |node: usize| state.positions[node];
        let mut reaction = vec![[0.0; 4]; n];
        apply_points(&loads.points, &loads.start, &mut reaction);
        let mut b = vec![[0.0; 4]; n];
        for node in (0..n).filter(|node| !is_held[*node]) {
            let inner = warp(node, &place, true) * secs + warp(node, &w, false) * scale;
            let inertia = (w(node) * drag + DVec3::from_slice(&loads.start[node][..3])) * body.masses[node];
            let outer =
                DVec3::from_slice(&loads.impulse[node][..3]) - DVec3::from_slice(&reaction[node][..3]);
            let sum = outer - inner - inertia;
            b[node] = [sum.x, sum.y, sum.z, 0.0];
        }
        let block = |node: usize| {
            let stiff = matrix.diagonal(node).map(|x| scale * x);
            let m = body.masses[node] * (1.0 + drag);
            invert_block([stiff[0] + m, stiff[1] + m, stiff[2] + m, stiff[3], stiff[4], stiff[5]])
        };
        let inverse: Vec<[f64; 6]> =
            (0..n).map(|node| if is_held[node] { [0.0; 6] } else { block(node) }).collect();
        // In the frame of the node, where the block was made.
        let precondition = |r: &[[f64; 4]], z: &mut [[f64; 4]]| {
            for node in 0..n {
                let local = turned[node].transpose() * DVec3::new(r[node][0], r[node][1], r[node][2]);
                let mut out = [[0.0; 4]];
                times_blocks(&inverse[node..=node], &[[local.x, local.y, local.z, 0.0]], &mut out);
                let world = turned[node] * DVec3::new(out[0][0], out[0][1], out[0][2]);
                z[node] = [world.x, world.y, world.z, 0.0];
            }
        };
        let mut delta = vec![[0.0; 4]; n];
        let outcome = bicgstab(apply, precondition, &b, &mut delta, (params.tolerance, 2000));
        for (node, delta) in delta.iter().enumerate() {
            (0..3).for_each(|k| change[node][k] = loads.start[node][k] + delta[k]);
        }
        Ok(outcome)
    }
}

fn times_blocks(inverse: &[[f64; 6]], r: &[[f64; 4]], z: &mut [[f64; 4]]) {
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

/// One step's potential: `Φ(Δv)`, whose minimum is the implicit Euler step.
struct NewtonStep<'a> {
    body: &'a ElasticBody,
    state: &'a FleshState,
    loads: &'a Loads,
    secs: f64,
    rotations: &'a [DMat3],
}

impl NewtonStep<'_> {
    fn speed(&self, node: usize, change: &[[f64; 4]]) -> DVec3 {
        self.state.velocities[node] + DVec3::new(change[node][0], change[node][1], change[node][2])
    }

    fn places(&self, change: &[[f64; 4]]) -> Vec<DVec3> {
        (0..change.len()).map(|n| self.state.positions[n] + self.secs * self.speed(n, change)).collect()
    }

    fn padded_speeds(&self, change: &[[f64; 4]]) -> Nodes<f64> {
        let one = |node: usize| {
            let w = self.speed(node, change);
            [w.x, w.y, w.z, 0.0]
        };
        (0..change.len()).map(one).collect()
    }

    /// `−∂Φ/∂Δv`; zero for held nodes.
    fn residual(&self, gradient: &[[f64; 4]], damping: &BlockMatrix, change: &[[f64; 4]]) -> Nodes<f64> {
        let w = self.padded_speeds(change);
        let n = w.len();
        let mut drag = vec![[0.0; 4]; n];
        damping.apply(&w, &mut drag);
        apply_points(&self.loads.points, change, &mut drag);
        let alpha = self.secs * self.body.params.mass_damping;
        let at = |node: usize| {
            if self.body.is_held[node] {
                return [0.0; 4];
            }
            let m = self.body.masses[node];
            std::array::from_fn(|k| {
                let inertia = m * (change[node][k] + alpha * w[node][k]);
                self.loads.impulse[node][k] - self.secs * gradient[node][k] - drag[node][k] - inertia
            })
        };
        (0..n).map(at).collect()
    }

    /// `Φ` less its elastic part.
    fn potential(&self, damping: &BlockMatrix, change: &[[f64; 4]]) -> f64 {
        let w = self.padded_speeds(change);
        let (mut drag, mut reaction) = (vec![[0.0; 4]; w.len()], vec![[0.0; 4]; w.len()]);
        damping.apply(&w, &mut drag);
        apply_points(&self.loads.points, change, &mut reaction);
        let alpha = self.secs * self.body.params.mass_damping;
        let at = |node: usize| {
            let m = self.body.masses[node];
            let one = |k: usize| {
                let (c, w) = (change[node][k], w[node][k]);
                0.5 * (m * (c * c + alpha * w * w) + w * drag[node][k] + c * reaction[node][k])
                    - self.loads.impulse[node][k] * c
            };
            (0..3).map(one).sum::<f64>()
        };
        (0..w.len()).map(at).sum()
    }

    /// Take the step, or as much of it as lowers the potential; the largest change of a velocity.
    fn search(
        &self,
        energy: f64,
        damping: &BlockMatrix,
        delta: &[[f64; 4]],
        change: &mut Nodes<f64>,
        is_nonlinear: bool,
    ) -> f64 {
        let before = change.clone();
        let start = if is_nonlinear { energy + self.potential(damping, change) } else { 0.0 };
        let mut share = 1.0;
        let mut is_better = !is_nonlinear;
        for _ in 0..HALVINGS {
            for (to, (from, delta)) in change.iter_mut().zip(before.iter().zip(delta)) {
                (0..3).for_each(|k| to[k] = from[k] + share * delta[k]);
            }
            if is_better {
                break;
            }
            let energy = respond(self.body, &self.places(change), self.rotations, None).energy;
            is_better = energy + self.potential(damping, change) <= start + 1e-9 * start.abs();
            if is_better {
                break;
            }
            share *= 0.5;
        }
        if !is_better {
            change.copy_from_slice(&before);
            return 0.0;
        }
        let length = |d: &[f64; 4]| DVec3::new(d[0], d[1], d[2]).length();
        share * delta.iter().map(length).fold(0.0, f64::max)
    }
}
