//! Partial derivatives, taken backwards through the graph: one sweep gives those by all symbols.

use super::arena::{Arena, Expr, Op};

impl Arena {
    /// Derivatives of an expression by every symbol it depends on, in rising order of symbols.
    pub fn gradient(&mut self, of: Expr) -> Vec<(usize, Expr)> {
        let n = of.0 as usize + 1;
        let mut adjoint: Vec<Option<Expr>> = vec![None; n];
        adjoint[of.0 as usize] = Some(self.number(1.0));
        let mut result = Vec::new();
        for i in (0..n).rev() {
            let Some(g) = adjoint[i] else { continue };
            let node = self.nodes[i];
            if node.op == Op::Symbol {
                if self.as_number(g) != Some(0.0) {
                    result.push((node.a as usize, g));
                }
                continue;
            }
            let (first, second) = self.partials(Expr(i as u32), g);
            for (operand, term) in [(node.a, first), (node.b, second)] {
                if let Some(term) = term {
                    let sum = match adjoint[operand as usize] {
                        Some(sum) => self.add(sum, term),
                        None => term,
                    };
                    adjoint[operand as usize] = Some(sum);
                }
            }
        }
        result.sort_unstable_by_key(|(symbol, _)| *symbol);
        result
    }

    /// Derivative by one symbol.
    pub fn differentiate(&mut self, of: Expr, symbol: usize) -> Expr {
        let gradient = self.gradient(of);
        match gradient.iter().find(|(by, _)| *by == symbol) {
            Some((_, derivative)) => *derivative,
            None => self.number(0.0),
        }
    }

    /// What an adjoint `g` of a node adds to those of its operands.
    fn partials(&mut self, of: Expr, g: Expr) -> (Option<Expr>, Option<Expr>) {
        let node = self.node(of);
        let (a, b) = (Expr(node.a), Expr(node.b));
        match node.op {
            Op::Number | Op::Symbol => (None, None),
            Op::Add => (Some(g), Some(g)),
            Op::Sub => (Some(g), Some(self.neg(g))),
            Op::Neg => (Some(self.neg(g)), None),
            Op::Mul => (Some(self.mul(g, b)), Some(self.mul(g, a))),
            Op::Div => {
                let first = self.div(g, b);
                let second = self.mul(first, of);
                (Some(first), Some(self.neg(second)))
            }
            _ => {
                let (first, second) = self.slopes(of);
                (Some(self.mul(g, first)), second.map(|second| self.mul(g, second)))
            }
        }
    }

    /// Derivatives of a function by its arguments.
    fn slopes(&mut self, of: Expr) -> (Expr, Option<Expr>) {
        let node = self.node(of);
        let (a, b) = (Expr(node.a), Expr(node.b));
        match node.op {
            Op::Sqrt => {
                let half = self.number(0.5);
                (self.div(half, of), None)
            }
            Op::Sin => (self.cos(a), None),
            Op::Cos => {
                let sine = self.sin(a);
                (self.neg(sine), None)
            }
            Op::Tan => {
                let (one, square) = (self.number(1.0), self.mul(of, of));
                (self.add(one, square), None)
            }
            Op::Abs => (self.div(a, of), None),
            Op::Power => {
                let (exponent, less) = (self.number(node.value), self.power(a, node.value - 1.0));
                (self.mul(exponent, less), None)
            }
            _ => {
                // atan2(a, b): (b, −a) / (a² + b²)
                let (aa, bb) = (self.mul(a, a), self.mul(b, b));
                let square = self.add(aa, bb);
                let (first, second) = (self.div(b, square), self.div(a, square));
                (first, Some(self.neg(second)))
            }
        }
    }

    /// The same expression with every symbol replaced; expressions given must be of this arena.
    pub fn substitute(&mut self, expr: Expr, mut replace: impl FnMut(&mut Self, usize) -> Expr) -> Expr {
        let n = expr.0 as usize + 1;
        let mut is_needed = vec![false; n];
        is_needed[expr.0 as usize] = true;
        for i in (0..n).rev().filter(|&i| self.nodes[i].op.arity() > 0) {
            if is_needed[i] {
                let node = self.nodes[i];
                is_needed[node.a as usize] = true;
                is_needed[node.b as usize] |= node.op.arity() > 1;
            }
        }
        let mut new: Vec<Expr> = (0..n as u32).map(Expr).collect();
        for i in (0..n).filter(|&i| is_needed[i]) {
            let node = self.nodes[i];
            new[i] = match node.op {
                Op::Number => Expr(i as u32),
                Op::Symbol => replace(self, node.a as usize),
                op => {
                    let a = new[node.a as usize];
                    let b = if op.arity() > 1 { new[node.b as usize] } else { a };
                    self.rebuild(op, a, b, node.value)
                }
            };
        }
        new[expr.0 as usize]
    }

    fn rebuild(&mut self, op: Op, a: Expr, b: Expr, value: f64) -> Expr {
        match op {
            Op::Add => self.add(a, b),
            Op::Sub => self.sub(a, b),
            Op::Mul => self.mul(a, b),
            Op::Div => self.div(a, b),
            Op::Neg => self.neg(a),
            Op::Sqrt => self.sqrt(a),
            Op::Sin => self.sin(a),
            Op::Cos => self.cos(a),
            Op::Tan => self.tan(a),
            Op::Abs => self.abs(a),
            Op::Power => self.power(a, value),
            Op::Atan2 => self.atan2(a, b),
            Op::Number | Op::Symbol => a,
        }
    }
}
