//! Expressions as a list of instructions, for repeated evaluation.

use super::arena::{Arena, Expr, Op, apply};

#[derive(Debug, Clone, Copy)]
struct Instruction {
    op: Op,
    a: u32,
    b: u32,
}

/// Slots hold the symbols, then the numbers, then one result per instruction.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tape {
    n_symbols: usize,
    numbers: Vec<f64>,
    instructions: Vec<Instruction>,
    /// Slot of each expression it was made for.
    pub outputs: Vec<u32>,
}

impl Tape {
    pub fn new(arena: &Arena, n_symbols: usize, outputs: &[Expr]) -> Self {
        let n = outputs.iter().map(|expr| expr.0 as usize + 1).max().unwrap_or(0);
        let mut is_live = vec![false; n];
        outputs.iter().for_each(|expr| is_live[expr.0 as usize] = true);
        for i in (0..n).rev().filter(|&i| arena.nodes[i].op.arity() > 0) {
            if is_live[i] {
                let node = arena.nodes[i];
                is_live[node.a as usize] = true;
                is_live[node.b as usize] |= node.op.arity() > 1;
            }
        }
        let mut tape = Self { n_symbols, ..Self::default() };
        let mut slots = vec![0; n];
        for i in (0..n).filter(|&i| is_live[i]) {
            let node = arena.nodes[i];
            match node.op {
                Op::Symbol => slots[i] = node.a,
                Op::Number => slots[i] = tape.number(node.value),
                Op::Power => slots[i] = tape.number(node.value),
                _ => {}
            }
        }
        let first = (n_symbols + tape.numbers.len()) as u32;
        for i in (0..n).filter(|&i| is_live[i] && arena.nodes[i].op.arity() > 0) {
            let node = arena.nodes[i];
            // The exponent of a power was put among the numbers.
            let b = match node.op {
                Op::Power => slots[i],
                op if op.arity() > 1 => slots[node.b as usize],
                _ => slots[node.a as usize],
            };
            slots[i] = first + tape.instructions.len() as u32;
            tape.instructions.push(Instruction { op: node.op, a: slots[node.a as usize], b });
        }
        tape.outputs = outputs.iter().map(|expr| slots[expr.0 as usize]).collect();
        tape
    }

    fn number(&mut self, value: f64) -> u32 {
        self.numbers.push(value);
        (self.n_symbols + self.numbers.len() - 1) as u32
    }

    /// Slots with the numbers in place; the first are the symbols.
    pub fn slots(&self) -> Vec<f64> {
        let mut slots = vec![0.0; self.n_symbols];
        slots.extend(&self.numbers);
        slots.resize(self.n_symbols + self.numbers.len() + self.instructions.len(), 0.0);
        slots
    }

    /// Run on the symbols in the first slots.
    #[inline(always)]
    pub fn run(&self, slots: &mut [f64]) {
        let first = self.n_symbols + self.numbers.len();
        for (i, instruction) in self.instructions.iter().enumerate() {
            let (a, b) = (slots[instruction.a as usize], slots[instruction.b as usize]);
            slots[first + i] = apply(instruction.op, a, b);
        }
    }

    /// Bytes it takes with its slots.
    pub fn n_bytes(&self) -> usize {
        let n_slots = self.n_symbols + self.numbers.len() + self.instructions.len();
        std::mem::size_of::<Instruction>() * self.instructions.len()
            + 8 * (self.numbers.len() + n_slots)
            + 4 * self.outputs.len()
    }
}
