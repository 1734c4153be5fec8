//! Bodies at rest: the linear map from forces to displacements in one pose, and its inverse.
//!
//! # Source
//! Capell (2004), eqs. 6.1 and 6.5: `A(α) q_F = b(α) + R_F Q_F`. In one pose, forces and displacements correspond. `A`
//! is the stiffness of the cells in their current rotation, with the springs of bones. [`holding_forces`] computes the
//! inverse for any material: the forces that hold a shape are the gradient of its energy.
//! # Cost
//! new: one sparse Cholesky factorisation; solve: one back-substitution for three right-hand sides.
//! # Limits
//! Linear about the given rotations: large forces rotate cells further.

use crate::{
    BodyPoint, FleshError, FleshSolver, FleshState, Lattice, Mode, StepInput, StepReport,
    muscle::MuscleError,
    response::{SkinShape, add_stiffness, gradient},
    system::{BlockMatrix, PointTerm, rotation_matrices},
};
use glam::{DMat3, DVec3};
use sinew_geom::linalg::{Cholesky, SparseMatrix};

/// Stiffness of pins within the linear map, in units of a cell's own.
const PIN_STIFFNESS: f64 = 1e4;

/// The factorised `A(α)` of one pose.
#[derive(Debug)]
pub struct StaticSolver {
    factor: Cholesky,
    /// `T`: degrees of freedom of all nodes out of those that are free.
    spread: SparseMatrix,
    gather: SparseMatrix,
}

impl StaticSolver {
    /// Factor the system of a body whose cells are turned as `state` says.
    ///
    /// # Errors
    /// A body that nothing holds.
    pub fn new(solver: &FleshSolver, state: &FleshState, input: &StepInput) -> Result<Self, FleshError> {
        let body = &solver.body;
        body.check_state(state)?;
        let n_holds = body.attachment.held.len() + body.attachment.anchors.len() + input.pins.len();
        if n_holds < 3 {
            return Err(MuscleError::NotHeld.into());
        }
        let mut blocks = BlockMatrix::new(&body.lattice);
        add_stiffness(body, &rotation_matrices(&state.rotations), 1.0, &mut blocks);
        let spring = |point: &BodyPoint, stiffness: f64| {
            let cell = &body.lattice.cells()[point.cell as usize];
            PointTerm::new(cell, &point.weights, &DMat3::from_diagonal(DVec3::splat(stiffness)))
        };
        for anchor in &body.attachment.anchors {
            blocks.add_point(&spring(&anchor.point, anchor.stiffness));
        }
        if body.is_relative(input) {
            body.skin_pull.iter().enumerate().for_each(|(node, k)| blocks.add_diagonal(node, *k));
        }
        let mean = body.materials.iter().map(|m| m.young).sum::<f64>() / body.materials.len() as f64;
        for pin in &input.pins {
            blocks.add_point(&spring(&pin.point, PIN_STIFFNESS * mean * body.lattice.size()));
        }
        let (rows, n) = free_nodes(&body.lattice, &body.is_held);
        let entries = rows.iter().enumerate().flat_map(|(node, row)| {
            row.iter().flat_map(move |&(free, w)| (0..3).map(move |k| (3 * node as u32 + k, 3 * free + k, w)))
        });
        let n_nodes = body.lattice.n_nodes();
        let spread = SparseMatrix::from_triplets(3 * n_nodes, 3 * n, entries);
        let gather = spread.transpose();
        let every: Vec<u32> = (0..n_nodes as u32).collect();
        let whole = blocks.to_sparse(&every, n_nodes);
        let factor = Cholesky::new(&gather.multiply(&whole).multiply(&spread))?;
        Ok(Self { factor, spread, gather })
    }

    /// Displacements of all nodes under forces on them; forces on held nodes do nothing.
    ///
    /// # Errors
    /// Another number of nodes.
    pub fn solve(&self, forces: &[DVec3]) -> Result<Vec<DVec3>, FleshError> {
        let f: Vec<[f64; 1]> = forces.iter().flat_map(|f| f.to_array().map(|x| [x])).collect();
        let x = self.apply(&f)?;
        Ok(x.as_chunks::<3>().0.iter().map(|[x, y, z]| DVec3::new(x[0], y[0], z[0])).collect())
    }

    /// For each axis, how forces on nodes move a point along it: `p = Σ_nodes g · f`.
    ///
    /// # Errors
    /// None that a point of the lattice can cause.
    pub fn compliance(&self, nodes: &[u32; 8], weights: &[f64; 8]) -> Result<[Vec<DVec3>; 3], FleshError> {
        let mut f = vec![[0.0; 3]; self.spread.n_rows()];
        for (&node, w) in nodes.iter().zip(weights) {
            (0..3).for_each(|k| f[3 * node as usize + k][k] += w);
        }
        let x = self.apply(&f)?;
        let column = |k: usize| {
            x.as_chunks::<3>().0.iter().map(|rows| DVec3::new(rows[0][k], rows[1][k], rows[2][k])).collect()
        };
        Ok([column(0), column(1), column(2)])
    }

    /// `T (Tᵀ A T)⁻¹ Tᵀ f`.
    fn apply<const R: usize>(&self, f: &[[f64; R]]) -> Result<Vec<[f64; R]>, FleshError> {
        let (expected, actual) = (self.spread.n_rows(), f.len());
        if expected != actual {
            return Err(FleshError::Length { what: "forces on nodes", expected, actual });
        }
        let mut x = vec![[0.0; R]; self.factor.n()];
        self.gather.mul_interleaved(f, &mut x);
        self.factor.solve(&mut x)?;
        let mut out = vec![[0.0; R]; expected];
        self.spread.mul_interleaved(&x, &mut out);
        Ok(out)
    }
}

/// For every node the free nodes it follows: itself, none if it is held, those it hangs on; and how many are free.
pub(crate) fn free_nodes(lattice: &Lattice, is_held: &[bool]) -> (Vec<Vec<(u32, f64)>>, usize) {
    let mut is_fixed = is_held.to_vec();
    lattice.ties().nodes().iter().for_each(|&node| is_fixed[node as usize] = true);
    let mut n = 0;
    let mut number = vec![u32::MAX; is_held.len()];
    for (number, _) in number.iter_mut().zip(&is_fixed).filter(|(_, fixed)| !**fixed) {
        *number = n;
        n += 1;
    }
    let own = |&free: &u32| if free == u32::MAX { Vec::new() } else { vec![(free, 1.0)] };
    let mut rows: Vec<Vec<(u32, f64)>> = number.iter().map(own).collect();
    for (node, shares) in lattice.ties().rows() {
        let free = shares.iter().map(|&(other, w)| (number[other as usize], w));
        rows[node] = free.filter(|(free, _)| *free != u32::MAX).collect();
    }
    (rows, n as usize)
}

/// Seconds of a step in which inertia counts for nothing.
const LONG_STEP_SECS: f64 = 1e3;

/// How a body came to rest.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RestReport {
    /// Rounds it took.
    pub rounds: usize,
    /// Furthest that a node went in the last, in cells.
    pub moved: f64,
    /// Whether that is less than asked for.
    pub converged: bool,
}

/// Bring a body to rest under an input: long steps until no node moves by more than `still` cells.
///
/// # Errors
/// As those of a step.
pub fn find_rest(
    solver: &mut FleshSolver,
    state: &mut FleshState,
    input: &StepInput,
    (rounds, still): (usize, f64),
) -> Result<RestReport, FleshError> {
    let mut report = RestReport::default();
    while report.rounds < rounds && !report.converged {
        state.velocities.fill(DVec3::ZERO);
        let before = state.positions.clone();
        let _: StepReport = solver.step(state, input, LONG_STEP_SECS)?;
        let ways = before.iter().zip(&state.positions).map(|(a, b)| a.distance(*b));
        report.moved = ways.fold(0.0, f64::max) / solver.lattice().size();
        report.rounds += 1;
        report.converged = report.moved <= still;
    }
    state.velocities.fill(DVec3::ZERO);
    Ok(report)
}

/// Forces on the nodes that hold a body in a shape: with them, it is at rest. Turns the cells of the state as the shape
/// does.
///
/// # Errors
/// A mode without an energy, or a state that does not fit.
pub fn holding_forces(
    solver: &FleshSolver,
    state: &mut FleshState,
    input: &StepInput,
) -> Result<Vec<DVec3>, FleshError> {
    let body = &solver.body;
    if body.params.mode == Mode::Warped {
        return Err(MuscleError::Mode { mode: Mode::Warped.name() }.into());
    }
    solver.turn(state, input);
    body.check_state(state)?;
    let mut forces = gradient(body, state, SkinShape::new(body, input).as_ref());
    if body.is_relative(input) {
        for (node, (force, k)) in forces.iter_mut().zip(&body.skin_pull).enumerate() {
            *force -= *k * (input.skinned[node] - state.positions[node]);
        }
    }
    for (force, m) in forces.iter_mut().zip(&body.masses) {
        *force -= body.params.gravity * *m;
    }
    for (anchor, target) in body.attachment.anchors.iter().zip(&input.anchors) {
        let pull = (*target - anchor.point.evaluate(&body.lattice, &state.positions)) * anchor.stiffness;
        let nodes = body.lattice.cells()[anchor.point.cell as usize];
        nodes.iter().zip(anchor.point.weights).for_each(|(n, w)| forces[*n as usize] -= pull * w);
    }
    for (point, push) in &input.pushes {
        let nodes = body.lattice.cells()[point.cell as usize];
        nodes.iter().zip(point.weights).for_each(|(n, w)| forces[*n as usize] -= *push * w);
    }
    for (force, held) in forces.iter_mut().zip(&body.is_held) {
        if *held {
            *force = DVec3::ZERO;
        }
    }
    Ok(forces)
}
