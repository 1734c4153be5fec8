//! Partial derivatives, by reverse accumulation through the graph: one sweep gives those by all symbols.

use super::arena::{Arena, Expr, Op};

impl Arena {
    /// Derivatives of an expression by every symbol it depends on, in ascending order of symbols.
    pub fn gradient(&mut self, of: Expr) -> Vec<(usize, Expr)> {
        let parts = self.parts(of);
        let mut adjoint: Vec<Option<Expr>> = vec![None; parts.len()];
        adjoint[0] = Some(self.number(1.0));
        let mut result = Vec::new();
        for at in 0..parts.len() {
            let Some(g) = adjoint[at] else { continue };
            let i = parts[at];
            let node = self.nodes[i as usize];
            if node.op == Op::Symbol {
                if self.as_number(g) != Some(0.0) {
                    result.push((node.a as usize, g));
                }
                continue;
            }
            let (first, second) = self.partials(Expr(i), g);
            for (operand, term) in [(node.a, first), (node.b, second)] {
                if let Some(term) = term
                    && let Ok(place) = parts.binary_search_by(|part| operand.cmp(part))
                {
                    let sum = match adjoint[place] {
                        Some(sum) => self.add(sum, term),
                        None => term,
                    };
                    adjoint[place] = Some(sum);
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
        let parts = self.parts(expr);
        let mut new: Vec<Expr> = parts.iter().map(|&part| Expr(part)).collect();
        let place = |operand: u32| parts.binary_search_by(|part| operand.cmp(part)).unwrap_or_default();
        for at in (0..parts.len()).rev() {
            let node = self.nodes[parts[at] as usize];
            new[at] = match node.op {
                Op::Number => new[at],
                Op::Symbol => replace(self, node.a as usize),
                op => {
                    let a = new[place(node.a)];
                    let b = if op.arity() > 1 { new[place(node.b)] } else { a };
                    self.rebuild(op, a, b, node.value)
                }
            };
        }
        new[0]
    }

    /// Numbers of all nodes an expression is made of, itself first, in descending order.
    fn parts(&self, expr: Expr) -> Vec<u32> {
        let mut pending = std::collections::BinaryHeap::from([expr.0]);
        let mut parts: Vec<u32> = Vec::new();
        while let Some(part) = pending.pop() {
            if parts.last() == Some(&part) {
                continue;
            }
            parts.push(part);
            let node = self.nodes[part as usize];
            if node.op.arity() > 0 {
                pending.push(node.a);
            }
            if node.op.arity() > 1 {
                pending.push(node.b);
            }
        }
        parts
    }

    /// Symbols an expression depends on, in ascending order.
    pub fn symbols(&self, expr: Expr) -> Vec<usize> {
        let parts = self.parts(expr);
        let nodes = parts.iter().map(|&part| self.nodes[part as usize]);
        let mut found: Vec<usize> =
            nodes.filter(|node| node.op == Op::Symbol).map(|node| node.a as usize).collect();
        found.sort_unstable();
        found
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
