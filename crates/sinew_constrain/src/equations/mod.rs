//! Equations of rules, compiled once: each is evaluated from the places and axes of joints, with its derivatives.
//!
//! ```text
//! frames of joints ─► arrows ─► rows: residual, derivatives by arrows ─► columns: derivatives by degrees of freedom
//! ```
//!
//! # Source
//! Sinew's own arrangement. Equations are closed forms or recorded expressions (tapes) over arrows, that is, over points
//! and directions carried by joints. What moves the joints enters only through the screws of [`Columns`]: the degrees of
//! freedom of a skeleton for a single pose, corrections of joints for a clip.
//! # Cost
//! One pass over the terms of the arrows, one over the velocities of the arrows, one over the rows.

mod closed;
mod columns;
mod dofs;

pub(crate) use closed::{RowSink, VectorDerivative};
pub(crate) use columns::{Columns, JacobianRows};
pub(crate) use dofs::NamedDof;

use crate::{
    compile::{Aim, Arrow, Carrier, EquationKind, Problem},
    joint_frames::{Carriers, JointFrames},
    symbolic::{Arena, Expr, Tape},
};
use glam::DVec3;

/// Equations that can be evaluated.
#[derive(Debug, Clone, Default)]
pub(crate) struct Equations {
    pub arrows: Vec<Arrow>,
    pub blocks: Vec<EquationBlock>,
    /// Degrees of freedom that expressions name, such as `Knee.rx`.
    pub named: Vec<NamedDof>,
    tape: Tape,
    /// Arrows that the tape reads, with the first of their three slots.
    arrow_slots: Vec<(u32, u32)>,
}

/// Equations that belong together.
#[derive(Debug, Clone)]
pub(crate) struct EquationBlock {
    /// Index of the rule they serve.
    pub rule: usize,
    pub aim: Aim,
    /// Factor of all rows.
    pub scale: f64,
    pub form: Form,
}

/// How the rows of a block are computed; numbers of arrows are those of [`Equations::arrows`].
#[derive(Debug, Clone)]
pub(crate) enum Form {
    Closed(EquationKind),
    Tape(TapeRow),
}

/// Slots of an expression.
#[derive(Debug, Clone)]
pub(crate) struct TapeRow {
    value: u32,
    /// Derivatives by the components of arrows.
    by_arrow: Vec<(u32, [u32; 3])>,
    /// Derivatives by named degrees of freedom (index into [`Equations::named`]).
    by_dof: Vec<(u32, u32)>,
}

impl EquationBlock {
    pub fn n_rows(&self) -> usize {
        match &self.form {
            Form::Closed(kind) => kind.n_rows(),
            Form::Tape(_) => 1,
        }
    }

    /// Arrows whose derivatives are zero at some poses and not at others.
    pub fn piecewise_arrows(&self) -> &[usize] {
        match &self.form {
            Form::Closed(EquationKind::Clear { ends, .. }) => ends,
            Form::Closed(EquationKind::Height { a, .. }) => std::slice::from_ref(a),
            _ => &[],
        }
    }
}

/// Values of the arrows and of the tape at one pose.
#[derive(Debug, Clone, Default)]
pub(crate) struct EquationState {
    pub arrows: Vec<DVec3>,
    slots: Vec<f64>,
}

impl Equations {
    /// Compile all blocks of a problem.
    pub fn new(problem: &Problem) -> Self {
        let mut compiler = Compiler {
            problem,
            equations: Self::default(),
            local: vec![u32::MAX; problem.arrows.len()],
            arena: None,
            outputs: Vec::new(),
        };
        for block in &problem.blocks {
            let form = match &block.kind {
                EquationKind::Scalar { expr } => Form::Tape(compiler.tape_row(*expr)),
                kind => Form::Closed(kind.renumbered(|arrow| compiler.arrow(arrow))),
            };
            let aim = problem.rules[block.rule].aim;
            compiler.equations.blocks.push(EquationBlock { rule: block.rule, aim, scale: block.scale, form });
        }
        compiler.finish()
    }

    /// A joint at a place, which [`Equations::set_place`] sets.
    pub fn hold(joint: usize) -> Self {
        let form = Form::Closed(EquationKind::Zero { a: 0 });
        let block = EquationBlock { rule: 0, aim: Aim::Zero, scale: 1.0, form };
        Self { arrows: vec![Arrow::place(joint)], blocks: vec![block], ..Self::default() }
    }

    /// Set the place of [`Equations::hold`].
    pub fn set_place(&mut self, place: DVec3) {
        self.arrows[0].constant = -place;
    }

    /// Buffers for one evaluation after another.
    pub fn state(&self) -> EquationState {
        EquationState { arrows: vec![DVec3::ZERO; self.arrows.len()], slots: self.tape.slots() }
    }

    /// Joints that the equations read, those of named degrees of freedom included.
    pub fn joints(&self) -> impl Iterator<Item = usize> + '_ {
        let carried = self.arrows.iter().flat_map(|arrow| arrow.terms.iter().map(|(c, _)| c.joint()));
        carried.chain(self.named.iter().flat_map(|dof| [Some(dof.joint), dof.parent]).flatten())
    }

    /// Whether moving the whole skeleton changes nothing.
    pub fn is_relative(&self) -> bool {
        let stays = |arrow: &Arrow| {
            let places = arrow.terms.iter().filter(|(carrier, _)| matches!(carrier, Carrier::Place(_)));
            let sum: f64 = places.map(|(_, weight)| weight).sum();
            sum.abs() < 1e-9 && !arrow.terms.is_empty()
        };
        self.named.iter().all(|dof| dof.parent.is_some()) && self.arrows.iter().all(stays)
    }

    /// Read the frames of joints. Expressions follow in [`Equations::run_tape`], after the values of the degrees of
    /// freedom they name were set.
    #[inline(always)]
    pub fn update_arrows(&self, frames: &impl Carriers, state: &mut EquationState) {
        for (arrow, value) in self.arrows.iter().zip(&mut state.arrows) {
            *value = arrow.at(frames);
        }
    }

    #[inline(always)]
    pub fn set_dof(&self, state: &mut EquationState, named: usize, value: f64) {
        state.slots[self.named[named].dof] = value;
    }

    #[inline(always)]
    pub fn run_tape(&self, state: &mut EquationState) {
        if state.slots.is_empty() {
            return;
        }
        for &(arrow, slot) in &self.arrow_slots {
            let value = state.arrows[arrow as usize].to_array();
            state.slots[slot as usize..slot as usize + 3].copy_from_slice(&value);
        }
        self.tape.run(&mut state.slots);
    }

    /// Read everything from frames of joints, the values of named degrees of freedom included.
    pub fn evaluate(&self, frames: &JointFrames, state: &mut EquationState) {
        self.update_arrows(frames, state);
        for (index, dof) in self.named.iter().enumerate() {
            self.set_dof(state, index, dof.measure(frames).value);
        }
        self.run_tape(state);
    }

    /// Hand the rows of a block to a sink.
    #[inline(always)]
    pub fn write<S: RowSink>(&self, block: &EquationBlock, state: &EquationState, sink: &mut S) {
        match &block.form {
            Form::Closed(kind) => closed::write(kind, block.scale, &state.arrows, sink),
            Form::Tape(TapeRow { value, by_arrow, by_dof }) => {
                let at = |slot: u32| state.slots[slot as usize];
                let by_arrow = by_arrow
                    .iter()
                    .map(|(arrow, slots)| (*arrow as usize, DVec3::from_array(slots.map(at)) * block.scale));
                let by_dof = by_dof.iter().map(|(dof, slot)| (*dof as usize, block.scale * at(*slot)));
                sink.expression(block.scale * at(*value), by_arrow, by_dof);
            }
        }
    }

    /// Bytes that an evaluation touches.
    pub fn n_bytes(&self) -> usize {
        let arrows: usize = self.arrows.iter().map(|arrow| 24 * arrow.terms.len()).sum();
        let of_tape = |block: &EquationBlock| match &block.form {
            Form::Tape(row) => 16 * row.by_arrow.len() + 8 * row.by_dof.len(),
            Form::Closed(_) => 0,
        };
        let blocks: usize = self.blocks.iter().map(|block| of_tape(block) + size_of::<EquationBlock>()).sum();
        arrows + self.arrows.len() * (size_of::<Arrow>() + 24) + blocks + self.tape.n_bytes()
    }
}

struct Compiler<'a> {
    problem: &'a Problem,
    equations: Equations,
    /// New number of each arrow of the problem.
    local: Vec<u32>,
    arena: Option<Arena>,
    outputs: Vec<Expr>,
}

impl Compiler<'_> {
    fn arrow(&mut self, arrow: usize) -> usize {
        if self.local[arrow] == u32::MAX {
            self.local[arrow] = self.equations.arrows.len() as u32;
            self.equations.arrows.push(self.problem.arrows[arrow].clone());
        }
        self.local[arrow] as usize
    }

    fn named(&mut self, dof: usize) -> u32 {
        let named = &mut self.equations.named;
        let index = named.iter().position(|other| other.dof == dof).unwrap_or_else(|| {
            named.push(NamedDof::new(&self.problem.skeleton, dof));
            named.len() - 1
        });
        index as u32
    }

    /// Record an expression and its derivatives as outputs of the tape; numbers of outputs become slots at the end.
    fn tape_row(&mut self, expr: Expr) -> TapeRow {
        let n = self.problem.skeleton.n_dofs();
        for dof in self.problem.named_dofs(expr) {
            self.named(dof);
        }
        for arrow in self.problem.arrows_of(&EquationKind::Scalar { expr }) {
            let local = self.arrow(arrow) as u32;
            let slot = (local, (n + 3 * arrow) as u32);
            if !self.equations.arrow_slots.contains(&slot) {
                self.equations.arrow_slots.push(slot);
            }
        }
        let arena = self.arena.get_or_insert_with(|| self.problem.arena.clone());
        let gradient = arena.gradient(expr);
        let zero = arena.number(0.0);
        let mut row = TapeRow { value: self.output(expr), by_arrow: Vec::new(), by_dof: Vec::new() };
        for (symbol, derivative) in gradient {
            let output = self.output(derivative);
            match symbol.checked_sub(n) {
                None => row.by_dof.push((self.named(symbol), output)),
                Some(component) => {
                    let arrow = self.local[component / 3];
                    if row.by_arrow.last().is_none_or(|(last, _)| *last != arrow) {
                        row.by_arrow.push((arrow, [u32::MAX; 3]));
                    }
                    if let Some((_, slots)) = row.by_arrow.last_mut() {
                        slots[component % 3] = output;
                    }
                }
            }
        }
        // Components an arrow's gradient lacks are zero.
        for slot in row.by_arrow.iter_mut().flat_map(|(_, slots)| slots).filter(|slot| **slot == u32::MAX) {
            *slot = self.output(zero);
        }
        row
    }

    fn output(&mut self, expr: Expr) -> u32 {
        self.outputs.push(expr);
        self.outputs.len() as u32 - 1
    }

    fn finish(mut self) -> Equations {
        let Some(arena) = self.arena else { return self.equations };
        let n_symbols = self.problem.skeleton.n_dofs() + 3 * self.problem.arrows.len();
        let tape = Tape::new(&arena, n_symbols, &self.outputs);
        let slot = |output: &mut u32| *output = tape.outputs[*output as usize];
        for block in &mut self.equations.blocks {
            if let Form::Tape(TapeRow { value, by_arrow, by_dof }) = &mut block.form {
                slot(value);
                by_arrow.iter_mut().flat_map(|(_, slots)| slots).for_each(slot);
                by_dof.iter_mut().for_each(|(_, output)| slot(output));
            }
        }
        self.equations.tape = tape;
        self.equations
    }
}
