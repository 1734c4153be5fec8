//! Values and derivatives of all equations at a pose of a skeleton.
//!
//! # Source
//! Sinew's own arrangement: joints have analytic screws (see `kinematics`), which move the arrows of `equations`.
//! # Symbols
//! `f` rows of equations, `J` their derivatives [rows × columns]
//! # Cost
//! One pass over the joints that the rules depend on, then one evaluation of the equations.

use crate::{
    Kinematics, SkeletonFrames,
    compile::{Aim, Problem, moving},
    equations::{Columns, EquationState, Equations, JacobianRows},
};
use sinew_geom::linalg::{Kernel, dispatch};

/// All equations of a problem, and scratch for their values.
#[derive(Debug, Clone)]
pub(crate) struct System {
    kinematics: Kinematics,
    frames: SkeletonFrames,
    equations: Equations,
    state: EquationState,
    columns: Columns,
    /// Degree of freedom of each column.
    pub dofs: Vec<usize>,
    /// What each row is.
    pub rows: Vec<RowInfo>,
    /// Length of a row of `J`, a multiple of four.
    pub stride: usize,
}

/// What a row is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowInfo {
    pub rule: usize,
    /// Index among the rows of all rules, in the order of the text.
    pub index: usize,
    pub aim: Aim,
    /// A residual of one metre, or of what counts as one, makes the row this large.
    pub weight: f64,
}

impl System {
    /// Prepare all blocks of a problem, a column for each degree of freedom.
    pub fn new(problem: &Problem) -> Self {
        let n = problem.skeleton.n_dofs();
        let equations = Equations::new(problem);
        // Joints of named degrees of freedom are not needed: their values are the pose's own.
        let carried = equations.arrows.iter().flat_map(|arrow| arrow.terms.iter().map(|(c, _)| c.joint()));
        let kinematics = Kinematics::of_joints(&problem.skeleton, carried);
        let named = |index: usize| vec![equations.named[index].dof as u32];
        let columns = Columns::new(&equations, |carrier| moving(&problem.skeleton, carrier), named);
        // Sizes the buffers, so that evaluating never allocates.
        let mut frames = SkeletonFrames::default();
        kinematics.compute(&problem.skeleton.rest_values(), &mut frames);
        let mut rows = Vec::new();
        for block in &equations.blocks {
            let (rule, aim, weight) = (block.rule, block.aim, problem.rules[block.rule].weight);
            let indices = rows.len()..rows.len() + block.n_rows();
            rows.extend(indices.map(|index| RowInfo { rule, index, aim, weight }));
        }
        let state = equations.state();
        let (dofs, stride) = ((0..n).collect(), stride(n));
        Self { kinematics, frames, equations, state, columns, dofs, rows, stride }
    }

    /// First row and number of rows of each block.
    pub fn blocks_rows(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.equations.blocks.iter().scan(0, |row, block| {
            let first = std::mem::replace(row, *row + block.n_rows());
            Some((first, block.n_rows()))
        })
    }

    /// Rows whose derivatives are zero at some poses and not at others, each with a column that may move it.
    pub fn piecewise(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.blocks_rows().zip(&self.equations.blocks).flat_map(|((row, _), block)| {
            let arrows = block.piecewise_arrows().iter();
            arrows.flat_map(|&arrow| self.columns.of_arrow(arrow)).map(move |(column, _)| (row, column))
        })
    }

    /// Put blocks into another order, and keep only some columns, in their order.
    pub fn rearrange(&mut self, order: &[usize], columns: &[usize]) {
        // Derivatives by columns that are left out all vanish; they go to one that nothing reads.
        let mut new_column = vec![columns.len() as u32; self.dofs.len()];
        columns.iter().enumerate().for_each(|(new, &old)| new_column[old] = new as u32);
        self.columns.renumber(&new_column);
        let sizes: Vec<(usize, usize)> = self.blocks_rows().collect();
        let rows =
            order.iter().flat_map(|&block| &self.rows[sizes[block].0..sizes[block].0 + sizes[block].1]);
        self.rows = rows.copied().collect();
        self.equations.blocks = order.iter().map(|&block| self.equations.blocks[block].clone()).collect();
        self.dofs = columns.iter().map(|&column| self.dofs[column]).collect();
        self.stride = stride(columns.len());
    }

    /// Bytes of everything an evaluation touches.
    pub fn n_bytes(&self) -> usize {
        let rows = 8 * self.rows.len() * (self.stride + 1);
        self.equations.n_bytes() + self.columns.n_bytes() + self.kinematics.n_bytes() + rows
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.rows.len()
    }

    /// Equations and derivatives at a pose (one value per degree of freedom of the skeleton). `jacobian` has rows of
    /// `stride` numbers, of which those beyond the columns stay zero.
    #[inline]
    pub fn evaluate(&mut self, pose: &[f64], f: &mut [f64], jacobian: &mut [f64]) {
        dispatch(Evaluation { system: self, pose, f, jacobian });
    }
}

fn stride(n_columns: usize) -> usize {
    (n_columns + 1).div_ceil(4) * 4
}

struct Evaluation<'a> {
    system: &'a mut System,
    pose: &'a [f64],
    f: &'a mut [f64],
    jacobian: &'a mut [f64],
}

impl Kernel for Evaluation<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Self { system: System { kinematics, frames, equations, state, columns, stride, .. }, .. } = self;
        kinematics.compute_sized(self.pose, frames);
        equations.update_arrows(frames, state);
        columns.update(frames, &frames.screws);
        for (index, dof) in equations.named.iter().enumerate() {
            equations.set_dof(state, index, self.pose[dof.dof]);
        }
        equations.run_tape(state);
        let mut rows = JacobianRows { columns, stride: *stride, row: 0, f: self.f, jacobian: self.jacobian };
        for block in &equations.blocks {
            equations.write(block, state, &mut rows);
        }
    }
}
