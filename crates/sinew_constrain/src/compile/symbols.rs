//! The equations as expressions over degrees of freedom: the full symbolic system, for printing and as an independent check.
//!
//! # Source
//! Abdelhay (2008), §3.6 (symbols and expressions) and §3.7 (symbolic Jacobian over the degrees of freedom of the
//! skeleton).

use super::{Block, Carrier, EquationKind, Problem};
use crate::symbolic::{Arena, Expr};

/// Equations and derivatives as expressions over degrees of freedom, one symbol each.
#[derive(Debug, Clone)]
pub struct SymbolicSystem {
    /// All expressions.
    pub arena: Arena,
    /// One per row; rows of a rule are adjacent.
    pub equations: Vec<Expr>,
    /// Rule of each row.
    pub rules: Vec<usize>,
    /// Row, degree of freedom, derivative; rows in order.
    pub jacobian: Vec<(usize, usize, Expr)>,
}

impl Problem {
    /// Expand all equations to degrees of freedom and differentiate them.
    ///
    /// Clearances, which choose the nearest points of two segments, have no expression and are left out.
    pub fn symbolic(&self) -> SymbolicSystem {
        let mut layer = self.arena.clone();
        let mut chains = Chains {
            problem: self,
            places: vec![None; self.skeleton.n_joints()],
            turns: vec![None; self.skeleton.n_joints()],
        };
        let (mut equations, mut rules, mut jacobian) = (Vec::new(), Vec::new(), Vec::new());
        for block in &self.blocks {
            for expr in self.rows(block, &mut layer) {
                let n = self.skeleton.n_dofs();
                let full = layer.substitute(expr, |arena, symbol| match symbol.checked_sub(n) {
                    None => arena.symbol(symbol),
                    Some(component) => chains.arrow(arena, component / 3)[component % 3],
                });
                equations.push(full);
                rules.push(block.rule);
            }
        }
        for (row, equation) in equations.iter().enumerate() {
            let gradient = layer.gradient(*equation);
            jacobian.extend(gradient.into_iter().map(|(dof, derivative)| (row, dof, derivative)));
        }
        SymbolicSystem { arena: layer, equations, rules, jacobian }
    }

    /// Rows of a block as expressions over arrows, scaled as they are solved.
    pub(crate) fn rows(&self, block: &Block, arena: &mut Arena) -> Vec<Expr> {
        let scale = arena.number(block.scale);
        let mut rows = self.plain_rows(&block.kind, arena);
        rows.iter_mut().for_each(|row| *row = arena.mul(scale, *row));
        rows
    }

    /// The same without weight and scale.
    pub(crate) fn plain_rows(&self, kind: &EquationKind, arena: &mut Arena) -> Vec<Expr> {
        match kind {
            EquationKind::Zero { a } => self.components(*a, arena).to_vec(),
            EquationKind::Unit { a, b } => {
                let (a, b) = (self.components(*a, arena), self.components(*b, arena));
                let (a, b) = (unit(arena, a), unit(arena, b));
                (0..3).map(|i| arena.sub(a[i], b[i])).collect()
            }
            EquationKind::Length { a, target } => {
                let a = self.components(*a, arena);
                let (length, target) = (length(arena, a), arena.number(*target));
                vec![arena.sub(length, target)]
            }
            EquationKind::Along { a, normal, offset } => {
                let a = self.components(*a, arena);
                let normal = normal.to_array().map(|x| arena.number(x));
                let (height, offset) = (dot(arena, normal, a), arena.number(*offset));
                vec![arena.sub(height, offset)]
            }
            EquationKind::Split { a, b } => {
                let (a, b) = (self.components(*a, arena), self.components(*b, arena));
                let (product, length) = (dot(arena, a, b), length(arena, b));
                vec![arena.div(product, length)]
            }
            EquationKind::Clear { .. } | EquationKind::Height { .. } => Vec::new(),
            EquationKind::Scalar { expr } => vec![*expr],
        }
    }

    fn components(&self, arrow: usize, arena: &mut Arena) -> [Expr; 3] {
        let of = &self.arrows[arrow];
        if of.is_constant() {
            return of.constant.to_array().map(|x| arena.number(x));
        }
        [0, 1, 2].map(|axis| arena.symbol(self.skeleton.n_dofs() + 3 * arrow + axis))
    }
}

fn dot(arena: &mut Arena, a: [Expr; 3], b: [Expr; 3]) -> Expr {
    let terms = [0, 1, 2].map(|i| arena.mul(a[i], b[i]));
    let sum = arena.add(terms[0], terms[1]);
    arena.add(sum, terms[2])
}

fn length(arena: &mut Arena, a: [Expr; 3]) -> Expr {
    let square = dot(arena, a, a);
    arena.sqrt(square)
}

fn unit(arena: &mut Arena, a: [Expr; 3]) -> [Expr; 3] {
    let length = length(arena, a);
    a.map(|x| arena.div(x, length))
}

/// Places and rotations of joints as expressions, created on first use.
struct Chains<'a> {
    problem: &'a Problem,
    places: Vec<Option<[Expr; 3]>>,
    /// Columns of the rotation.
    turns: Vec<Option<[[Expr; 3]; 3]>>,
}

impl Chains<'_> {
    fn arrow(&mut self, arena: &mut Arena, arrow: usize) -> [Expr; 3] {
        let of = &self.problem.arrows[arrow];
        let mut sum = of.constant.to_array().map(|x| arena.number(x));
        for (carrier, weight) in &of.terms {
            self.joint(arena, carrier.joint());
            let value = match *carrier {
                Carrier::Place(joint) => self.places[joint as usize],
                Carrier::Axis(joint, axis) => self.turns[joint as usize].map(|turn| turn[axis as usize]),
            };
            sum = plus(arena, sum, *weight, value.unwrap_or(sum));
        }
        sum
    }

    fn joint(&mut self, arena: &mut Arena, joint: usize) {
        let chain: Vec<usize> = self.problem.skeleton.ancestry(joint).collect();
        for &at in chain.iter().rev().filter(|&&at| at <= joint) {
            if self.places[at].is_none() {
                self.add_joint(arena, at);
            }
        }
    }

    fn add_joint(&mut self, arena: &mut Arena, index: usize) {
        let skeleton = &self.problem.skeleton;
        let joint = &skeleton.joints()[index];
        let (zero, one) = (arena.number(0.0), arena.number(1.0));
        let above = joint.parent.and_then(|parent| Some((self.places[parent]?, self.turns[parent]?)));
        let (origin, from) =
            above.unwrap_or(([zero; 3], [[one, zero, zero], [zero, one, zero], [zero, zero, one]]));
        let mut offset = joint.offset.to_array().map(|x| arena.number(x));
        for dof in joint.dofs.clone().filter(|&f| !skeleton.dofs()[f].is_rotation()) {
            offset[skeleton.dofs()[dof].axis()] = arena.symbol(dof);
        }
        let place = [0, 1, 2].map(|row| {
            let moved = dot(arena, [from[0][row], from[1][row], from[2][row]], offset);
            arena.add(origin[row], moved)
        });
        let rest = glam::DMat3::from_quat(joint.rest_rotation());
        let mut turn = [0, 1, 2].map(|column| {
            let weights = rest.col(column).to_array();
            let mut sum = [zero; 3];
            for k in 0..3 {
                sum = plus(arena, sum, weights[k], from[k]);
            }
            sum
        });
        for axis in joint.euler.axes() {
            let kind = sinew_geom::DofKind::ALL[3 + axis];
            if let Some(dof) = skeleton.find_dof(index, kind) {
                let symbol = arena.symbol(dof);
                let (sine, cosine) = (arena.sin(symbol), arena.cos(symbol));
                let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
                for row in 0..3 {
                    let (a, b) = (turn[u][row], turn[v][row]);
                    let terms =
                        [arena.mul(a, cosine), arena.mul(b, sine), arena.mul(b, cosine), arena.mul(a, sine)];
                    turn[u][row] = arena.add(terms[0], terms[1]);
                    turn[v][row] = arena.sub(terms[2], terms[3]);
                }
            }
        }
        self.places[index] = Some(place);
        self.turns[index] = Some(turn);
    }
}

fn plus(arena: &mut Arena, sum: [Expr; 3], weight: f64, of: [Expr; 3]) -> [Expr; 3] {
    let weight = arena.number(weight);
    [0, 1, 2].map(|i| {
        let term = arena.mul(weight, of[i]);
        arena.add(sum[i], term)
    })
}
