//! Hash-consed expressions, simplified while they are built.

/// An expression of an [`Arena`]; equal numbers mean equal expressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Expr(pub(super) u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Op {
    Number,
    Symbol,
    Add,
    Sub,
    Mul,
    Div,
    Neg,
    Power,
    Sqrt,
    Sin,
    Cos,
    Tan,
    Abs,
    Atan2,
}

impl Op {
    /// How many operands it has.
    pub(super) fn arity(self) -> usize {
        match self {
            Self::Number | Self::Symbol => 0,
            Self::Add | Self::Sub | Self::Mul | Self::Div | Self::Atan2 => 2,
            _ => 1,
        }
    }
}

/// Operands are indices of earlier nodes; `a` of a symbol is its number; `value` is that of a number or the exponent of
/// a power.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    pub op: Op,
    pub a: u32,
    pub b: u32,
    pub value: f64,
}

/// All expressions of one problem. Operands always precede the nodes that use them.
#[derive(Debug, Clone)]
pub struct Arena {
    pub(super) nodes: Vec<Node>,
    /// Open addressing: index of a node, or `FREE`.
    table: Vec<u32>,
}

const FREE: u32 = u32::MAX;

impl Default for Arena {
    fn default() -> Self {
        Self { nodes: Vec::with_capacity(128), table: vec![FREE; 512] }
    }
}

impl Arena {
    /// Number of different expressions made so far.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether none was made.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub(super) fn node(&self, expr: Expr) -> Node {
        self.nodes[expr.0 as usize]
    }

    fn hash(node: &Node) -> usize {
        let operands = (u64::from(node.a) << 32) | u64::from(node.b);
        let mut h = ((node.op as u64) << 58)
            ^ operands.wrapping_mul(0x9E37_79B9_7F4A_7C15)
            ^ node.value.to_bits().wrapping_mul(0xD6E8_FEB8_6659_FD93);
        h ^= h >> 29;
        h = h.wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (h ^ (h >> 32)) as usize
    }

    fn intern(&mut self, op: Op, a: u32, b: u32, value: f64) -> Expr {
        if self.nodes.len() * 2 >= self.table.len() {
            self.grow();
        }
        let node = Node { op, a, b, value };
        let mut slot = Self::hash(&node) & (self.table.len() - 1);
        loop {
            let at = self.table[slot];
            if at == FREE {
                let id = self.nodes.len() as u32;
                self.nodes.push(node);
                self.table[slot] = id;
                return Expr(id);
            }
            let other = &self.nodes[at as usize];
            if other.op == op && other.a == a && other.b == b && other.value.to_bits() == value.to_bits() {
                return Expr(at);
            }
            slot = (slot + 1) & (self.table.len() - 1);
        }
    }

    fn grow(&mut self) {
        let size = self.table.len() * 2;
        self.table.clear();
        self.table.resize(size, FREE);
        for (id, node) in self.nodes.iter().enumerate() {
            let mut slot = Self::hash(node) & (size - 1);
            while self.table[slot] != FREE {
                slot = (slot + 1) & (size - 1);
            }
            self.table[slot] = id as u32;
        }
    }

    /// A number.
    pub fn number(&mut self, value: f64) -> Expr {
        // There is one zero.
        let value = if value == 0.0 { 0.0 } else { value };
        self.intern(Op::Number, 0, 0, value)
    }

    /// The symbol of that number; its name is given when printing.
    pub fn symbol(&mut self, index: usize) -> Expr {
        self.intern(Op::Symbol, index as u32, 0, 0.0)
    }

    /// Value of an expression that is a number.
    pub fn as_number(&self, expr: Expr) -> Option<f64> {
        let node = self.node(expr);
        (node.op == Op::Number).then_some(node.value)
    }

    fn negated(&self, expr: Expr) -> Option<Expr> {
        let node = self.node(expr);
        (node.op == Op::Neg).then_some(Expr(node.a))
    }

    /// `a + b`.
    pub fn add(&mut self, a: Expr, b: Expr) -> Expr {
        match (self.as_number(a), self.as_number(b)) {
            (Some(x), Some(y)) => return self.number(x + y),
            (Some(0.0), _) => return b,
            (_, Some(0.0)) => return a,
            _ => {}
        }
        if let Some(b) = self.negated(b) {
            return self.sub(a, b);
        }
        if let Some(a) = self.negated(a) {
            return self.sub(b, a);
        }
        if a == b {
            let two = self.number(2.0);
            return self.mul(two, a);
        }
        if self.is_pythagoras(a, b) || self.is_pythagoras(b, a) {
            return self.number(1.0);
        }
        let (a, b) = if a < b { (a, b) } else { (b, a) };
        self.intern(Op::Add, a.0, b.0, 0.0)
    }

    /// Whether `a` is the square of a sine and `b` that of the cosine of the same angle.
    fn is_pythagoras(&self, a: Expr, b: Expr) -> bool {
        let square_of = |expr: Expr| {
            let node = self.node(expr);
            (node.op == Op::Mul && node.a == node.b).then(|| self.node(Expr(node.a)))
        };
        match (square_of(a), square_of(b)) {
            (Some(a), Some(b)) => a.op == Op::Sin && b.op == Op::Cos && a.a == b.a,
            _ => false,
        }
    }

    /// `a − b`.
    pub fn sub(&mut self, a: Expr, b: Expr) -> Expr {
        if a == b {
            return self.number(0.0);
        }
        match (self.as_number(a), self.as_number(b)) {
            (Some(x), Some(y)) => return self.number(x - y),
            (Some(0.0), _) => return self.neg(b),
            (_, Some(0.0)) => return a,
            _ => {}
        }
        match self.negated(b) {
            Some(b) => self.add(a, b),
            None => self.intern(Op::Sub, a.0, b.0, 0.0),
        }
    }

    /// `−a`.
    pub fn neg(&mut self, a: Expr) -> Expr {
        if let Some(x) = self.as_number(a) {
            return self.number(-x);
        }
        let node = self.node(a);
        match node.op {
            Op::Neg => Expr(node.a),
            Op::Sub => self.intern(Op::Sub, node.b, node.a, 0.0),
            _ => self.intern(Op::Neg, a.0, 0, 0.0),
        }
    }

    /// `a · b`.
    pub fn mul(&mut self, a: Expr, b: Expr) -> Expr {
        let (a, b) = match (self.as_number(a), self.as_number(b)) {
            (Some(x), Some(y)) => return self.number(x * y),
            // Numbers stand first.
            (None, Some(_)) => (b, a),
            _ => (a, b),
        };
        if let Some(x) = self.as_number(a) {
            return self.scaled(x, a, b);
        }
        match (self.negated(a), self.negated(b)) {
            (Some(a), Some(b)) => return self.mul(a, b),
            (Some(a), None) => {
                let product = self.mul(a, b);
                return self.neg(product);
            }
            (None, Some(b)) => {
                let product = self.mul(a, b);
                return self.neg(product);
            }
            _ => {}
        }
        let node = self.node(a);
        if a == b && node.op == Op::Sqrt {
            return Expr(node.a);
        }
        let (a, b) = if a < b { (a, b) } else { (b, a) };
        self.intern(Op::Mul, a.0, b.0, 0.0)
    }

    /// A number times an expression that is not a number.
    fn scaled(&mut self, x: f64, number: Expr, b: Expr) -> Expr {
        if x == 0.0 {
            return number;
        }
        if x == 1.0 {
            return b;
        }
        if x == -1.0 {
            return self.neg(b);
        }
        let node = self.node(b);
        match node.op {
            Op::Neg => {
                let number = self.number(-x);
                self.mul(number, Expr(node.a))
            }
            // c · (d · e) has one number.
            Op::Mul => match self.as_number(Expr(node.a)) {
                Some(y) => {
                    let number = self.number(x * y);
                    self.mul(number, Expr(node.b))
                }
                None => self.intern(Op::Mul, number.0, b.0, 0.0),
            },
            _ => self.intern(Op::Mul, number.0, b.0, 0.0),
        }
    }

    /// `a / b`.
    pub fn div(&mut self, a: Expr, b: Expr) -> Expr {
        if let Some(y) = self.as_number(b).filter(|&y| y != 0.0) {
            let inverse = self.number(1.0 / y);
            return self.mul(inverse, a);
        }
        if self.as_number(a) == Some(0.0) {
            return a;
        }
        if a == b {
            return self.number(1.0);
        }
        match self.negated(a) {
            Some(a) => {
                let quotient = self.div(a, b);
                self.neg(quotient)
            }
            None => self.intern(Op::Div, a.0, b.0, 0.0),
        }
    }

    /// `a` to a constant power.
    pub fn power(&mut self, a: Expr, exponent: f64) -> Expr {
        if let Some(x) = self.as_number(a) {
            return self.number(x.powf(exponent));
        }
        match exponent {
            0.0 => self.number(1.0),
            1.0 => a,
            2.0 => self.mul(a, a),
            3.0 => {
                let square = self.mul(a, a);
                self.mul(square, a)
            }
            0.5 => self.sqrt(a),
            -1.0 => {
                let one = self.number(1.0);
                self.div(one, a)
            }
            _ => self.intern(Op::Power, a.0, 0, exponent),
        }
    }

    fn unary(&mut self, op: Op, a: Expr, f: fn(f64) -> f64) -> Expr {
        match self.as_number(a) {
            Some(x) => self.number(f(x)),
            None => self.intern(op, a.0, 0, 0.0),
        }
    }

    /// Square root.
    pub fn sqrt(&mut self, a: Expr) -> Expr {
        self.unary(Op::Sqrt, a, f64::sqrt)
    }

    /// Sine; `sin(−a)` is `−sin(a)`.
    pub fn sin(&mut self, a: Expr) -> Expr {
        match self.negated(a) {
            Some(a) => {
                let sine = self.sin(a);
                self.neg(sine)
            }
            None => self.unary(Op::Sin, a, f64::sin),
        }
    }

    /// Cosine; `cos(−a)` is `cos(a)`.
    pub fn cos(&mut self, a: Expr) -> Expr {
        let a = self.negated(a).unwrap_or(a);
        self.unary(Op::Cos, a, f64::cos)
    }

    /// Tangent.
    pub fn tan(&mut self, a: Expr) -> Expr {
        self.unary(Op::Tan, a, f64::tan)
    }

    /// Absolute value.
    pub fn abs(&mut self, a: Expr) -> Expr {
        let a = self.negated(a).unwrap_or(a);
        self.unary(Op::Abs, a, f64::abs)
    }

    /// Angle of the point (`x`, `y`) from the x axis.
    pub fn atan2(&mut self, y: Expr, x: Expr) -> Expr {
        match (self.as_number(y), self.as_number(x)) {
            (Some(y), Some(x)) => self.number(y.atan2(x)),
            _ => self.intern(Op::Atan2, y.0, x.0, 0.0),
        }
    }

    /// Value at given values of the symbols. A missing symbol evaluates to NaN.
    pub fn evaluate(&self, expr: Expr, symbols: &[f64]) -> f64 {
        let mut values = Vec::with_capacity(expr.0 as usize + 1);
        for node in &self.nodes[..=expr.0 as usize] {
            let at = |i: u32| values[i as usize];
            let value = match node.op {
                Op::Symbol => symbols.get(node.a as usize).copied().unwrap_or(f64::NAN),
                Op::Number => node.value,
                op => apply(
                    op,
                    if op.arity() > 0 { at(node.a) } else { 0.0 },
                    if op.arity() > 1 { at(node.b) } else { node.value },
                ),
            };
            values.push(value);
        }
        values[expr.0 as usize]
    }
}

/// An operation on numbers; the second operand of a power is its exponent.
#[inline(always)]
pub(super) fn apply(op: Op, a: f64, b: f64) -> f64 {
    match op {
        Op::Add => a + b,
        Op::Sub => a - b,
        Op::Mul => a * b,
        Op::Div => a / b,
        Op::Neg => -a,
        Op::Sqrt => a.sqrt(),
        Op::Sin => a.sin(),
        Op::Cos => a.cos(),
        Op::Tan => a.tan(),
        Op::Abs => a.abs(),
        Op::Atan2 => a.atan2(b),
        Op::Power => a.powf(b),
        Op::Number | Op::Symbol => a,
    }
}
