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
    assembled::{Assembled, CellStiffness},
    element::CubeMaterial,
    loads::{Loads, Scene},
    params::check_step,
    system::{
        BlockMatrix, Conjugate, Cubes, Direct, Goal, Nodes, Outcome, PointTerm, apply_points, invert_block,
        to_matrices,
    },
};
use glam::{DMat3, DQuat, DVec3};
use sinew_geom::linalg::fit_rotations;

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

/// What a solver simulates.
#[derive(Debug)]
pub(crate) struct ElasticBody {
    pub lattice: Lattice,
    pub materials: Vec<Material>,
    pub attachment: Attachment,
    pub params: FleshParams,
    pub masses: Vec<f64>,
    pub is_held: Vec<bool>,
    pub contact_stiffness: f64,
    pub stiffness: CellStiffness,
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
        let engine = if lattice.is_cubes() && is_linear {
            Engine::Cubes(Box::new(CubeEngine::new(&body)))
        } else {
            Engine::Assembled(Box::new(Assembled::new(&body)?))
        };
        Ok(Self { body, engine })
    }

    /// Mass of every node, in kilograms.
    pub fn masses(&self) -> &[f64] {
        &self.body.masses
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
        let outcome = match &mut self.engine {
            Engine::Cubes(engine) => {
                engine.step(&self.body, state, drive, &loads, secs, &mut rotations, &mut change)?
            }
            Engine::Assembled(engine) => {
                engine.step(&self.body, state, drive, &loads, secs, &mut rotations, &mut change)?
            }
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
        let (outcome, direct) = outcome;
        Ok(StepReport {
            iterations: outcome.iterations,
            residual: outcome.residual,
            converged: outcome.converged,
            direct,
            contacts: loads.n_contacts,
        })
    }

    /// Elastic energy and that of motion, in joules.
    pub fn energies(&self, state: &FleshState) -> Result<[f64; 2], FleshError> {
        self.body.check_state(state)?;
        let speed = state.velocities.iter().zip(&self.body.masses).map(|(v, m)| 0.5 * m * v.length_squared());
        Ok([crate::assembled::elastic_energy(&self.body, state)?, speed.sum()])
    }

    /// Gradient of the elastic energy at given places, with cells turned as the state says (nonlinear modes ignore
    /// that). Forces are its negative.
    ///
    /// # Errors
    /// A state that does not fit.
    pub fn gradient(&self, state: &FleshState) -> Result<Vec<DVec3>, FleshError> {
        self.body.check_state(state)?;
        crate::assembled::gradient(&self.body, state)
    }
}

impl ElasticBody {
    fn new(
        lattice: &Lattice,
        materials: &[Material],
        attachment: &Attachment,
        params: &FleshParams,
    ) -> Result<Self, FleshError> {
        params.check()?;
        materials.iter().try_for_each(Material::check)?;
        let materials = match materials {
            [one] => vec![*one; lattice.n_cells()],
            many if many.len() == lattice.n_cells() => many.to_vec(),
            many => {
                let (expected, actual) = (lattice.n_cells(), many.len());
                return Err(FleshError::Length { what: "materials", expected, actual });
            }
        };
        let mut is_held = vec![false; lattice.n_nodes()];
        for &node in &attachment.held {
            let n_nodes = lattice.n_nodes();
            let held = is_held.get_mut(node as usize);
            *held.ok_or(FleshError::CellNode { cell: 0, node: node as usize, n_nodes })? = true;
        }
        let masses = masses(lattice, &materials);
        let mean = materials.iter().map(|m| m.young).sum::<f64>() / materials.len() as f64;
        let contact_stiffness = params.contact_stiffness * mean * lattice.size();
        let stiffness = CellStiffness::new(lattice, &materials, params.element)?;
        let (lattice, attachment, params) = (lattice.clone(), attachment.clone(), params.clone());
        Ok(Self { lattice, materials, attachment, params, masses, is_held, contact_stiffness, stiffness })
    }

    fn scene(&self) -> Scene<'_> {
        Scene {
            lattice: &self.lattice,
            attachment: &self.attachment,
            is_held: &self.is_held,
            masses: &self.masses,
            gravity: self.params.gravity,
            contact_stiffness: self.contact_stiffness,
        }
    }

    fn check_state(&self, state: &FleshState) -> Result<(), FleshError> {
        let n = self.lattice.n_nodes();
        let lists = [("positions", &state.positions), ("velocities", &state.velocities)];
        for (what, list) in lists {
            if list.len() != n {
                return Err(FleshError::Length { what, expected: n, actual: list.len() });
            }
            if let Some(index) = list.iter().position(|p| !p.is_finite()) {
                return Err(FleshError::NonFinite { what: "position or velocity of node", index });
            }
        }
        let (expected, actual) = (self.lattice.n_cells(), state.rotations.len());
        let fits = expected == actual;
        if fits { Ok(()) } else { Err(FleshError::Length { what: "rotations", expected, actual }) }
    }

    /// Iterations after which factorising costs less; grows with the lattice, since factors fill up.
    pub fn iteration_limit(&self) -> usize {
        self.params.switch_after.unwrap_or(150 + self.lattice.n_nodes() / 20)
    }

    /// Cells turned as the mode has it.
    pub fn turn(&self, deformations: &[DMat3], drive: &Drive, rotations: &mut [DQuat]) {
        match self.params.mode {
            Mode::Linear => rotations.fill(DQuat::IDENTITY),
            Mode::Quasi => {
                let mut whole = [rotations.first().copied().unwrap_or_default()];
                let sum = deformations.iter().zip(self.lattice.inside()).map(|(f, share)| *f * *share);
                fit_rotations(&[sum.fold(DMat3::ZERO, |sum, f| sum + f)], &mut whole, 8);
                rotations.fill(whole[0].normalize());
            }
            _ => {
                // The better of the two guesses: as the bones turn, or as it was.
                for (at, predicted) in drive.cell_rotations.iter().enumerate() {
                    let fit = |q: &DQuat| trace_of_product(&DMat3::from_quat(*q), &deformations[at]);
                    if self.params.polar_steps == 0 || fit(predicted) >= fit(&rotations[at]) {
                        rotations[at] = *predicted;
                    }
                }
                fit_rotations(deformations, rotations, self.params.polar_steps);
            }
        }
    }
}

fn trace_of_product(a: &DMat3, b: &DMat3) -> f64 {
    a.x_axis.dot(b.x_axis) + a.y_axis.dot(b.y_axis) + a.z_axis.dot(b.z_axis)
}

/// Mass of every node: an eighth of each of its cells.
fn masses(lattice: &Lattice, materials: &[Material]) -> Vec<f64> {
    let mut masses = vec![0.0; lattice.n_nodes()];
    for (cell, corners) in lattice.cells().iter().enumerate() {
        let points = crate::element::gauss_gradients(&lattice.corners(cell));
        let volume: f64 = points.iter().map(|(_, volume)| volume).sum();
        let mass = volume * lattice.inside()[cell] * materials[cell].density;
        corners.iter().for_each(|&node| masses[node as usize] += mass / 8.0);
    }
    masses
}

/// Steps during which a factorisation is tried first, once it was needed.
const DIRECT_STEPS: usize = 50;
/// Iterations with an old factor after which a new one is made.
const STALE: usize = 12;

/// Cubes whose strain is linear: no matrix is ever made, unless the body is stiff.
#[derive(Debug)]
struct CubeEngine {
    exact: Cubes<f64>,
    fast: Cubes<f32>,
    /// Diagonal block of a corner of each cell, see [`CubeMaterial::corner_block`].
    blocks: Vec<[f64; 2]>,
    deformations: Vec<DMat3>,
    matrices: Vec<DMat3>,
    inverse: Vec<[f32; 6]>,
    conjugate: Conjugate<f32>,
    slow: Conjugate<f64>,
    direct: Option<(Direct, BlockMatrix)>,
    direct_left: usize,
}

impl CubeEngine {
    fn new(body: &ElasticBody) -> Self {
        let lattice = &body.lattice;
        let constants = |cell: usize| {
            let share = lattice.inside()[cell];
            CubeMaterial::new(&body.materials[cell], body.params.element, lattice.size(), share)
        };
        let materials: Vec<CubeMaterial> = (0..lattice.n_cells()).map(constants).collect();
        Self {
            exact: Cubes::new(lattice, &materials),
            fast: Cubes::new(lattice, &materials),
            blocks: materials.iter().map(CubeMaterial::corner_block).collect(),
            deformations: vec![DMat3::IDENTITY; lattice.n_cells()],
            matrices: vec![DMat3::IDENTITY; lattice.n_cells()],
            inverse: vec![[0.0; 6]; lattice.n_nodes()],
            conjugate: Conjugate::default(),
            slow: Conjugate::default(),
            direct: None,
            direct_left: 0,
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn step(
        &mut self,
        body: &ElasticBody,
        state: &FleshState,
        drive: &Drive,
        loads: &Loads,
        secs: f64,
        rotations: &mut [DQuat],
        change: &mut Nodes<f64>,
    ) -> Result<(Outcome, bool), FleshError> {
        let x: Nodes<f64> = state.positions.iter().map(|p| [p.x, p.y, p.z, 0.0]).collect();
        self.exact.deformations(&x, &mut self.deformations);
        body.turn(&self.deformations, drive, rotations);
        to_matrices(rotations, &mut self.matrices);
        self.exact.set_rotations(&self.matrices);
        self.fast.set_rotations(&self.matrices);
        let system = System::new(body, &loads.points, secs);
        change.copy_from_slice(&loads.start);
        let mut gradient = vec![[0.0; 4]; x.len()];
        self.exact.add_gradient(&x, &mut gradient);
        let mut r = system.residual(&self.exact, body, state, loads, &gradient, change);
        self.invert(&system, body);
        let floor = system.floor(&self.inverse, body, secs);
        let tolerance = body.params.tolerance;
        if self.direct_left == 0 {
            let outcome = self.iterate(&system, body, loads, &mut r, change, floor);
            if outcome.converged {
                return Ok((outcome, false));
            }
            self.direct_left = DIRECT_STEPS;
            r = system.residual(&self.exact, body, state, loads, &gradient, change);
        }
        self.direct_left -= 1;
        let outcome = self.solve_direct(&system, body, loads, (&mut r, change), tolerance)?;
        Ok((outcome, true))
    }

    /// Conjugate gradients in single precision, restarted from the true residual for tolerances below its own.
    fn iterate(
        &mut self,
        system: &System,
        body: &ElasticBody,
        loads: &Loads,
        r: &mut Nodes<f64>,
        change: &mut Nodes<f64>,
        floor: f64,
    ) -> Outcome {
        let points: Vec<PointTerm<f32>> = loads.points.iter().map(lower).collect();
        let limit = body.iteration_limit();
        let (fast, inverse) = (&self.fast, &self.inverse);
        let factors: Vec<f32> = system.masses.iter().map(|m| *m as f32).collect();
        let scale = system.scale as f32;
        let apply = |x: &[[f32; 4]], out: &mut [[f32; 4]]| {
            fast.apply(x, out);
            for ((out, x), m) in out.iter_mut().zip(x).zip(&factors) {
                (0..4).for_each(|k| out[k] = scale * out[k] + m * x[k]);
            }
            apply_points(&points, x, out);
        };
        let mut total = Outcome::default();
        let mut reference = 0.0;
        for _ in 0..8 {
            let mut r32: Nodes<f32> = r.iter().map(|r| r.map(|x| x as f32)).collect();
            let mut step = vec![[0f32; 4]; r.len()];
            if reference == 0.0 {
                reference = measure(&r32, inverse).max(floor);
            }
            let now = measure(&r32, inverse);
            // One run in single precision gains five digits at most.
            let goal = (body.params.tolerance * (reference / now.max(f64::MIN_POSITIVE)).sqrt()).max(1e-5);
            let goal = Goal { reference: now, tolerance: goal, limit: limit - total.iterations };
            let precondition = |r: &[[f32; 4]], z: &mut [[f32; 4]]| precondition(inverse, r, z);
            let outcome = self.conjugate.solve(apply, precondition, &loads.pins, (&mut r32, &mut step), goal);
            total.iterations += outcome.iterations;
            total.residual = outcome.residual * (now / reference).sqrt();
            for (to, from) in change.iter_mut().zip(&step) {
                (0..3).for_each(|k| to[k] += f64::from(from[k]));
            }
            // What single precision says of itself is believed for a few dozen iterations.
            if outcome.iterations <= 60 && total.residual <= body.params.tolerance {
                total.converged = true;
                return total;
            }
            system.subtract(&self.exact, &step, r);
            let mut left: Nodes<f32> = r.iter().map(|r| r.map(|x| x as f32)).collect();
            loads.pins.project(&mut left);
            total.residual = (measure(&left, inverse) / reference).sqrt();
            total.converged = total.residual <= 1.5 * body.params.tolerance;
            if total.converged || total.iterations >= limit || !total.residual.is_finite() {
                return total;
            }
        }
        total
    }

    fn solve_direct(
        &mut self,
        system: &System,
        body: &ElasticBody,
        loads: &Loads,
        (r, change): (&mut Nodes<f64>, &mut Nodes<f64>),
        tolerance: f64,
    ) -> Result<Outcome, FleshError> {
        let mut total = Outcome { residual: 1.0, ..Outcome::default() };
        let mut reference = 0.0;
        for round in 0..2 {
            let is_fresh = self.direct.is_none() || round == 1;
            // A system too ill-conditioned to factorise is left as iterations left it, and that is told.
            if is_fresh && self.factor(system, body, loads).is_err() {
                break;
            }
            let Some((direct, _)) = &mut self.direct else { break };
            let exact = &self.exact;
            let apply = |x: &[[f64; 4]], out: &mut [[f64; 4]]| system.apply(exact, x, out);
            let solve = |r: &[[f64; 4]], z: &mut [[f64; 4]]| direct.solve(r, z);
            let limit = if is_fresh { 200 } else { STALE };
            let goal = Goal { reference, tolerance, limit };
            let outcome = self.slow.solve(apply, solve, &loads.pins, (r, change), goal);
            total.iterations += outcome.iterations;
            (total.residual, total.converged) = (outcome.residual, outcome.converged);
            if outcome.converged {
                break;
            }
            reference = 0.0;
        }
        Ok(total)
    }

    fn factor(&mut self, system: &System, body: &ElasticBody, loads: &Loads) -> Result<(), FleshError> {
        let (direct, mut blocks) = match self.direct.take() {
            Some((direct, blocks)) => (Some(direct), blocks),
            None => (None, BlockMatrix::new(&body.lattice)),
        };
        blocks.clear();
        crate::assembled::add_stiffness(body, &self.matrices, system.scale, &mut blocks)?;
        system.masses.iter().enumerate().for_each(|(node, m)| blocks.add_diagonal(node, *m));
        loads.points.iter().for_each(|point| blocks.add_point(point));
        let direct = match direct {
            Some(mut direct) => {
                direct.refactor(&blocks)?;
                direct
            }
            None => Direct::new(&blocks, &body.is_held)?,
        };
        self.direct = Some((direct, blocks));
        Ok(())
    }

    /// Inverse diagonal blocks; none for held nodes.
    fn invert(&mut self, system: &System, body: &ElasticBody) {
        let mut blocks: Vec<[f64; 6]> = system.masses.iter().map(|m| [*m, *m, *m, 0.0, 0.0, 0.0]).collect();
        let cells = body.lattice.cells().iter().zip(&self.blocks).zip(&self.matrices);
        for ((corners, [diagonal, beside]), r) in cells {
            let (even, beside) = (system.scale * (diagonal - beside), system.scale * beside);
            for c in 0..4 {
                // Opposite corners have the same block: s and −s.
                let side = |k: usize| if c >> k & 1 == 1 { 1.0 } else { -1.0 };
                let s = r.x_axis * side(0) + r.y_axis * side(1) - r.z_axis;
                let block = [
                    even + beside * s.x * s.x,
                    even + beside * s.y * s.y,
                    even + beside * s.z * s.z,
                    beside * s.x * s.y,
                    beside * s.x * s.z,
                    beside * s.y * s.z,
                ];
                for node in [corners[c], corners[7 - c]] {
                    let to = &mut blocks[node as usize];
                    (0..6).for_each(|k| to[k] += block[k]);
                }
            }
        }
        for point in &system.points[..] {
            for (node, w) in point.nodes.iter().zip(point.weights) {
                let to = &mut blocks[*node as usize];
                (0..6).for_each(|k| to[k] += w * w * point.matrix[k]);
            }
        }
        for ((inverse, block), held) in self.inverse.iter_mut().zip(&blocks).zip(&body.is_held) {
            *inverse = if *held { [0.0; 6] } else { invert_block(*block).map(|x| x as f32) };
        }
    }
}

/// The system of one step.
struct System<'a> {
    /// Mass of each node with its damping.
    masses: Vec<f64>,
    /// Factor of the stiffness.
    scale: f64,
    drag: f64,
    secs: f64,
    points: &'a [PointTerm<f64>],
}

impl<'a> System<'a> {
    fn new(body: &ElasticBody, points: &'a [PointTerm<f64>], secs: f64) -> Self {
        let params = &body.params;
        let drag = secs * params.mass_damping;
        Self {
            masses: body.masses.iter().map(|m| m * (1.0 + drag)).collect(),
            scale: secs * secs + secs * params.stiffness_damping,
            drag,
            secs,
            points,
        }
    }

    fn apply(&self, cubes: &Cubes<f64>, x: &[[f64; 4]], out: &mut [[f64; 4]]) {
        cubes.apply(x, out);
        for ((out, x), m) in out.iter_mut().zip(x).zip(&self.masses) {
            (0..4).for_each(|k| out[k] = self.scale * out[k] + m * x[k]);
        }
        apply_points(self.points, x, out);
    }

    /// `b − A Δv`; zero for held nodes.
    fn residual(
        &self,
        cubes: &Cubes<f64>,
        body: &ElasticBody,
        state: &FleshState,
        loads: &Loads,
        gradient: &[[f64; 4]],
        change: &[[f64; 4]],
    ) -> Nodes<f64> {
        let speed = |(v, c): (&DVec3, &[f64; 4])| [v.x + c[0], v.y + c[1], v.z + c[2], 0.0];
        let w: Nodes<f64> = state.velocities.iter().zip(change).map(speed).collect();
        let mut stress = vec![[0.0; 4]; w.len()];
        cubes.apply(&w, &mut stress);
        let mut reaction = vec![[0.0; 4]; w.len()];
        apply_points(self.points, change, &mut reaction);
        let at = |node: usize| -> [f64; 4] {
            if body.is_held[node] {
                return [0.0; 4];
            }
            let m = body.masses[node];
            std::array::from_fn(|k| {
                let inner = self.secs * gradient[node][k] + self.scale * stress[node][k];
                loads.impulse[node][k]
                    - inner
                    - m * (self.drag * w[node][k] + change[node][k])
                    - reaction[node][k]
            })
        };
        (0..w.len()).map(at).collect()
    }

    /// `r −= A x` on free nodes.
    fn subtract(&self, cubes: &Cubes<f64>, x: &[[f32; 4]], r: &mut Nodes<f64>) {
        let x: Nodes<f64> = x.iter().map(|x| x.map(f64::from)).collect();
        let mut out = vec![[0.0; 4]; x.len()];
        self.apply(cubes, &x, &mut out);
        for (r, out) in r.iter_mut().zip(&out) {
            (0..4).for_each(|k| r[k] -= out[k]);
        }
    }

    /// A residual that is too small to matter: a hundredth of a percent of what gravity does in a step.
    fn floor(&self, inverse: &[[f32; 6]], body: &ElasticBody, secs: f64) -> f64 {
        let pull = body.params.gravity.length().max(1.0) * secs * 1e-4;
        let entries = inverse.iter().zip(&body.masses);
        entries.map(|(inverse, m)| f64::from(inverse[1]) * (m * pull).powi(2)).sum()
    }
}

fn lower(point: &PointTerm<f64>) -> PointTerm<f32> {
    PointTerm {
        nodes: point.nodes,
        weights: point.weights.map(|x| x as f32),
        matrix: point.matrix.map(|x| x as f32),
    }
}

fn precondition(inverse: &[[f32; 6]], r: &[[f32; 4]], z: &mut [[f32; 4]]) {
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

/// `rᵀ D⁻¹ r`.
fn measure(r: &[[f32; 4]], inverse: &[[f32; 6]]) -> f64 {
    let mut z = [[0f32; 4]; 1];
    let one = |(r, m): (&[f32; 4], &[f32; 6])| {
        precondition(std::slice::from_ref(m), std::slice::from_ref(r), &mut z);
        (0..3).map(|k| f64::from(z[0][k]) * f64::from(r[k])).sum::<f64>()
    };
    r.iter().zip(inverse).map(one).sum()
}
