//! Steps of cubes with linear strain, without a matrix unless the body is stiff.
//!
//! # Source
//! Conjugate gradients in single precision with inverse diagonal blocks, restarted from the residual in double
//! precision where more digits are required (iterative refinement). Bodies too stiff for that use a factorisation as
//! preconditioner, which is kept over several steps.

use crate::{
    FleshError, Mode, PinMethod, StepInput,
    body::ElasticBody,
    cube_system::{System, lower, size},
    element::{CubeMaterial, Modes, twist},
    loads::Loads,
    response::add_stiffness,
    skin_frames::SkinFrames,
    step::{SolveResult, StepContext, hold_by_multipliers},
    system::{
        BlockMatrix, CellPart, Coarse, Conjugate, Cubes, Direct, KrylovParams, Nodes, Outcome, PointTerm,
        apply_points, dot, invert_block, times_blocks, to_matrices,
    },
};
use glam::{DMat3, DQuat, DVec3};

/// Steps during which a factorisation is tried first, once it was needed.
const DIRECT_STEPS: usize = 50;
/// Iterations of a step from which a coarse lattice helps.
const COARSE_FROM_ITERATIONS: usize = 24;
/// Iterations that bringing it up to date costs, about.
const COARSE_UPDATE_ITERATIONS: usize = 12;
/// Iterations with an old factor after which a new one is made.
const STALE_ITERATIONS: usize = 12;

/// Iterations without a coarse lattice that one with it costs, about.
const COARSE_COST: f64 = 2.0;
/// Steps until a coarse lattice is tried again that did not help enough.
const COARSE_PAUSE_STEPS: usize = 200;

/// A coarse lattice, and what using it has cost.
#[derive(Debug)]
struct Kept {
    coarse: Coarse,
    /// Iterations of the last step without it.
    plain: usize,
    /// Iterations of the first step with it.
    fresh: Option<usize>,
    /// Iterations that later steps took more.
    excess: usize,
}

impl Kept {
    /// Called after each step with its number of iterations.
    fn is_stale(&mut self, last: usize) -> bool {
        let fresh = *self.fresh.get_or_insert(last);
        self.excess += last.saturating_sub(fresh);
        self.excess > COARSE_UPDATE_ITERATIONS
    }

    /// Whether steps cost less without it: it takes few iterations away from thin or scattered bodies.
    fn is_waste(&self, last: usize) -> bool {
        self.fresh.unwrap_or(last) as f64 * COARSE_COST >= self.plain as f64
    }
}

/// The skinned shape that a body deforms from during a step.
#[derive(Debug)]
struct SkinReference {
    frames: SkinFrames,
    /// Skinned cells, turned back.
    modes: Vec<Modes<f64>>,
    /// How far skinning moves each node during the step.
    ways: Vec<DVec3>,
}

/// Cubes whose strain is linear: no matrix is ever made, unless the body is stiff.
#[derive(Debug)]
pub(crate) struct CubeEngine {
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
    coarse: Option<Kept>,
    /// Steps for which no coarse lattice is tried.
    coarse_rest: usize,
    /// Iterations of the last step.
    last: usize,
}

impl CubeEngine {
    pub fn new(body: &ElasticBody) -> Self {
        let lattice = &body.lattice;
        let constants = |cell: usize| {
            let share = lattice.inside()[cell];
            CubeMaterial::new(&body.materials[cell], body.params.element, lattice.cell_size(cell), share)
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
            coarse: None,
            coarse_rest: 0,
            last: 0,
        }
    }

    pub fn step(
        &mut self,
        context: &StepContext,
        rotations: &mut [DQuat],
        change: &mut Nodes<f64>,
    ) -> Result<SolveResult, FleshError> {
        let StepContext { body, state, input, secs, .. } = *context;
        let system = System::new(body, context.loads, secs);
        change.copy_from_slice(&context.loads.start);
        let turns = matches!(body.params.mode, Mode::Quasi | Mode::Predicted);
        let rounds = if turns { body.params.frame_rounds.max(1) } else { 1 };
        let mut total = SolveResult::iterated(Outcome { converged: true, ..Outcome::default() });
        let mut places: Nodes<f64> = state.positions.iter().map(|p| [p.x, p.y, p.z, 0.0]).collect();
        let x = places.clone();
        let skin = body.is_relative(input).then(|| self.skin_reference(input));
        for round in 0..rounds {
            if round > 0 {
                for (node, place) in places.iter_mut().enumerate() {
                    let v = state.velocities[node];
                    (0..3).for_each(|k| place[k] = x[node][k] + secs * (v[k] + change[node][k]));
                }
            }
            match &skin {
                Some(skin) => {
                    if round == 0 {
                        let ways = places.iter_mut().zip(&skin.ways);
                        ways.for_each(|(place, way)| (0..3).for_each(|k| place[k] += way[k]));
                    }
                    self.exact.deformations(&places, &mut self.deformations);
                    skin.frames.turn(body.polar_steps(input), &mut self.deformations, rotations);
                }
                None => {
                    self.exact.deformations(&places, &mut self.deformations);
                    body.turn(&self.deformations, input, rotations);
                }
            }
            to_matrices(rotations, &mut self.matrices);
            self.exact.set_rotations(&self.matrices);
            self.fast.set_rotations(&self.matrices);
            self.resist_turning(body, input, secs);
            total.add(self.solve(context, &system, (&x, skin.as_ref()), change)?);
        }
        Ok(total)
    }

    /// The skinned shape of a step.
    fn skin_reference(&self, input: &StepInput) -> SkinReference {
        let places: Nodes<f64> = input.skinned.iter().map(|p| [p.x, p.y, p.z, 0.0]).collect();
        let mut gradients = vec![DMat3::IDENTITY; self.matrices.len()];
        self.exact.deformations(&places, &mut gradients);
        let frames = SkinFrames::new(gradients, &input.cell_rotations);
        let mut modes = Vec::new();
        self.exact.modes(&frames.matrices(), &places, &mut modes);
        let ways = input.skinned.iter().zip(&input.skinned_before).map(|(to, from)| *to - *from).collect();
        SkinReference { frames, modes, ways }
    }

    /// Gradient of the elastic energy, and of what damps changes of shape relative to the skin.
    fn gradient(&self, x: &Nodes<f64>, skin: Option<&SkinReference>, damping: f64) -> Nodes<f64> {
        let mut gradient = vec![[0.0; 4]; x.len()];
        match skin {
            None => self.exact.add_gradient(x, &mut gradient),
            Some(skin) => {
                let damped = |(x, way): (&[f64; 4], &DVec3)| {
                    [x[0] - damping * way.x, x[1] - damping * way.y, x[2] - damping * way.z, 0.0]
                };
                let x: Nodes<f64> = x.iter().zip(&skin.ways).map(damped).collect();
                self.exact.add_gradient_from(&skin.modes, &x, &mut gradient);
                // Frames are those at the end of the step, so that turning with the skin is not resisted.
                let ways: Nodes<f64> = skin.ways.iter().map(|w| [w.x, w.y, w.z, 0.0]).collect();
                let mut twist = vec![[0.0; 4]; x.len()];
                if self.exact.apply_twists(&ways, &mut twist) {
                    for (g, t) in gradient.iter_mut().zip(&twist) {
                        (0..3).for_each(|k| g[k] -= (1.0 + damping) * t[k]);
                    }
                }
            }
        }
        gradient
    }

    /// Start from the motion of the skin where that is nearer to the solution: stiff bodies would otherwise be off by the
    /// tolerance times that motion.
    fn start_from_skin(
        &self,
        context: &StepContext,
        (system, gradient): (&System, &Nodes<f64>),
        ways: &[DVec3],
        (r, change): (&mut Nodes<f64>, &mut Nodes<f64>),
    ) {
        let StepContext { body, state, secs, .. } = *context;
        let mut guess = change.clone();
        for (node, guess) in guess.iter_mut().enumerate().filter(|(node, _)| !body.is_held[*node]) {
            let v = ways[node] / secs - state.velocities[node];
            (0..3).for_each(|k| guess[k] = v[k]);
        }
        body.lattice.ties().spread(&mut guess);
        let other = system.residual(&self.exact, body, state, gradient, &guess);
        let weigh = |r: &Nodes<f64>| {
            let r: Nodes<f32> = r.iter().map(|r| r.map(|x| x as f32)).collect();
            let mut z = vec![[0f32; 4]; r.len()];
            times_blocks(&self.inverse, &r, &mut z);
            dot(&r, &z)
        };
        if weigh(&other) < weigh(r) {
            r.copy_from_slice(&other);
            change.copy_from_slice(&guess);
        }
    }

    /// Cells that are stretched far resist being turned out of their frames.
    fn resist_turning(&mut self, body: &ElasticBody, input: &StepInput, secs: f64) {
        if !body.resists_turning(input) {
            return;
        }
        let lattice = &body.lattice;
        // Not damped: turning is no change of shape.
        let share = secs / (secs + body.params.stiffness_damping);
        let of = |cell: usize| {
            let k = twist(&self.deformations[cell], &self.matrices[cell], &body.materials[cell])?;
            Some(k * (share * lattice.cell_size(cell) / 2.0 * lattice.inside()[cell]))
        };
        let twists: Vec<Option<DMat3>> = (0..lattice.n_cells()).map(of).collect();
        let is_stretched = twists.iter().any(Option::is_some);
        let all = |twists: Vec<Option<DMat3>>| twists.into_iter().map(|k| k.unwrap_or(DMat3::ZERO)).collect();
        let twists: Vec<DMat3> = if is_stretched { all(twists) } else { Vec::new() };
        self.exact.set_twists(&twists);
        self.fast.set_twists(&twists);
    }

    /// Solve with the cells turned as they are.
    fn solve(
        &mut self,
        context: &StepContext,
        system: &System,
        (x, skin): (&Nodes<f64>, Option<&SkinReference>),
        change: &mut Nodes<f64>,
    ) -> Result<SolveResult, FleshError> {
        let StepContext { body, state, loads, secs, .. } = *context;
        let gradient = self.gradient(x, skin, body.params.stiffness_damping / secs);
        let mut r = system.residual(&self.exact, body, state, &gradient, change);
        self.invert(system, body);
        if let Some(skin) = skin.filter(|_| loads.pins.rows.is_empty()) {
            self.start_from_skin(context, (system, &gradient), &skin.ways, (&mut r, change));
        }
        if body.params.pins == PinMethod::Multipliers && !loads.pins.rows.is_empty() {
            let inverse: Vec<[f64; 6]> = self.inverse.iter().map(|m| m.map(f64::from)).collect();
            let apply = |x: &[[f64; 4]], out: &mut [[f64; 4]]| system.apply(&self.exact, x, out);
            return Ok(hold_by_multipliers(apply, &inverse, body, loads, (&r, change)));
        }
        let floor = system.floor(&self.inverse, body, secs);
        let tolerance = body.params.tolerance;
        if self.direct_left == 0 {
            self.prepare_coarse(system, body, loads);
            let outcome = self.iterate(system, body, loads, &mut r, change, floor);
            if outcome.converged {
                self.last = outcome.iterations;
                return Ok(SolveResult::iterated(outcome));
            }
            self.direct_left = DIRECT_STEPS;
            r = system.residual(&self.exact, body, state, &gradient, change);
        }
        self.direct_left -= 1;
        let outcome = self.solve_direct(system, body, loads, (&mut r, change), tolerance)?;
        Ok(SolveResult { direct: true, ..SolveResult::iterated(outcome) })
    }

    /// A coarse lattice once steps need many iterations; brought up to date once an old one has cost as many as that, and
    /// given up where it does not help enough.
    fn prepare_coarse(&mut self, system: &System, body: &ElasticBody, loads: &Loads) {
        if self.coarse_rest > 0 {
            self.coarse_rest -= 1;
            return;
        }
        if self.last > 0 && self.coarse.as_ref().is_some_and(|kept| kept.is_waste(self.last)) {
            (self.coarse, self.coarse_rest) = (None, COARSE_PAUSE_STEPS);
            return;
        }
        let is_wanted = match &mut self.coarse {
            None => self.last > COARSE_FROM_ITERATIONS && body.lattice.is_cubes(),
            Some(coarse) => self.last > 0 && coarse.is_stale(self.last),
        };
        // Coarse cells know no hanging nodes.
        if !is_wanted || !body.lattice.ties().is_empty() {
            return;
        }
        let part = |cell: usize| {
            let (stiffness, factor) = body.stiffness.of(cell);
            CellPart { stiffness, factor, mass: body.cell_mass(cell) / 8.0 }
        };
        let (mut coarse, plain) = match self.coarse.take() {
            Some(kept) => (kept.coarse, kept.plain),
            None => (Coarse::new(&body.lattice, &body.is_held, part), self.last),
        };
        let factors = (system.scale, 1.0 + system.drag);
        // Without one, inverse blocks alone do; what failed is not tried every step.
        match coarse.refactor(&self.matrices, factors, &loads.points) {
            Ok(()) => self.coarse = Some(Kept { coarse, plain, fresh: None, excess: 0 }),
            Err(_) => self.coarse_rest = COARSE_PAUSE_STEPS,
        }
        self.last = 0;
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
        let (fast, inverse, ties) = (&self.fast, &self.inverse, body.lattice.ties());
        let factors: Vec<f32> = system.masses.iter().map(|m| *m as f32).collect();
        let scale = system.scale as f32;
        let apply = |x: &[[f32; 4]], out: &mut [[f32; 4]]| {
            fast.apply(x, out);
            for ((out, x), m) in out.iter_mut().zip(x).zip(&factors) {
                (0..4).for_each(|k| out[k] = scale * out[k] + m * x[k]);
            }
            apply_points(&points, x, out);
        };
        let coarse = &mut self.coarse;
        let mut precondition = |r: &[[f32; 4]], z: &mut [[f32; 4]]| {
            ties.around(r, z, |r, z| {
                times_blocks(inverse, r, z);
                if let Some(kept) = coarse.as_mut() {
                    kept.coarse.add(r, z);
                }
            });
        };
        let mut total = Outcome::default();
        let mut reference = 0.0;
        for _ in 0..8 {
            let mut r32: Nodes<f32> = r.iter().map(|r| r.map(|x| x as f32)).collect();
            let mut step = vec![[0f32; 4]; r.len()];
            let now = size(&mut precondition, &loads.pins, &r32);
            if reference == 0.0 {
                reference = now.max(floor);
            }
            // One run in single precision gains five digits at most.
            let goal = (body.params.tolerance * (reference / now.max(f64::MIN_POSITIVE)).sqrt()).max(1e-5);
            let goal = KrylovParams { reference: now, tolerance: goal, limit: limit - total.iterations };
            let outcome =
                self.conjugate.solve(apply, &mut precondition, &loads.pins, (&mut r32, &mut step), goal);
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
            let left: Nodes<f32> = r.iter().map(|r| r.map(|x| x as f32)).collect();
            total.residual = (size(&mut precondition, &loads.pins, &left) / reference).sqrt();
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
            // A system too ill-conditioned to factorise keeps the result of the iterations, which is reported as not converged.
            if is_fresh && self.factor(system, body, loads).is_err() {
                break;
            }
            let Some((direct, _)) = &mut self.direct else { break };
            let exact = &self.exact;
            let apply = |x: &[[f64; 4]], out: &mut [[f64; 4]]| system.apply(exact, x, out);
            let ties = body.lattice.ties();
            let solve = |r: &[[f64; 4]], z: &mut [[f64; 4]]| ties.around(r, z, |r, z| direct.solve(r, z));
            let limit = if is_fresh { 200 } else { STALE_ITERATIONS };
            let goal = KrylovParams { reference, tolerance, limit };
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
        add_stiffness(body, &self.matrices, system.scale, &mut blocks);
        system.masses.iter().enumerate().for_each(|(node, m)| blocks.add_diagonal(node, *m));
        loads.points.iter().for_each(|point| blocks.add_point(point));
        let direct = match direct {
            Some(mut direct) => {
                direct.refactor(&blocks)?;
                direct
            }
            None => Direct::new(&blocks, &body.is_fixed())?,
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
        for point in &system.loads.points {
            for (node, w) in point.nodes.iter().zip(point.weights) {
                let to = &mut blocks[*node as usize];
                (0..6).for_each(|k| to[k] += w * w * point.matrix[k]);
            }
        }
        body.lattice.ties().gather_blocks(&mut blocks);
        for ((inverse, block), fixed) in self.inverse.iter_mut().zip(&blocks).zip(&body.is_fixed()) {
            *inverse = if *fixed { [0.0; 6] } else { invert_block(*block).map(|x| x as f32) };
        }
    }
}
