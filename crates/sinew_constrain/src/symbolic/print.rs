//! Expressions as text.

use super::arena::{Arena, Expr, Op};
use std::{collections::HashMap, fmt::Write};

/// Prints expressions of an arena. Parts that are used more than once and are longer than a product are given names
/// (`t1`, `t2`, …) the first time, so that the text is as small as the graph.
pub struct Printer<'a> {
    arena: &'a Arena,
    symbols: &'a dyn Fn(usize) -> String,
    uses: Vec<u32>,
    names: HashMap<Expr, usize>,
}

/// How tightly the outermost operation binds.
#[derive(PartialEq, PartialOrd, Clone, Copy)]
enum Level {
    Sum,
    Product,
    Sign,
    Whole,
}

impl<'a> Printer<'a> {
    /// A printer for these expressions; `symbols` names the symbols.
    pub fn new(arena: &'a Arena, exprs: &[Expr], symbols: &'a dyn Fn(usize) -> String) -> Self {
        let n = exprs.iter().map(|expr| expr.0 as usize + 1).max().unwrap_or(0);
        let mut uses = vec![0u32; n];
        exprs.iter().for_each(|expr| uses[expr.0 as usize] += 1);
        for i in (0..n).rev().filter(|&i| arena.nodes[i].op.arity() > 0) {
            if uses[i] > 0 {
                let node = arena.nodes[i];
                uses[node.a as usize] += 1;
                if node.op.arity() > 1 {
                    uses[node.b as usize] += 1;
                }
            }
        }
        Self { arena, symbols, uses, names: HashMap::new() }
    }

    /// Lines `tN = …` of parts that have not been printed yet, and the expression in terms of them.
    pub fn print(&mut self, expr: Expr) -> (Vec<String>, String) {
        let mut lines = Vec::new();
        let mut pending = vec![(expr, false)];
        // Parts before what uses them, without recursion as deep as the graph.
        while let Some((at, is_ready)) = pending.pop() {
            let node = self.arena.node(at);
            if node.op.arity() == 0 || self.names.contains_key(&at) {
                continue;
            }
            if is_ready {
                if at != expr && self.is_shared(at) {
                    let text = self.inline(at, true).0;
                    let name = self.names.len() + 1;
                    self.names.insert(at, name);
                    lines.push(format!("t{name} = {text}"));
                }
                continue;
            }
            pending.push((at, true));
            pending.push((Expr(node.a), false));
            if node.op.arity() > 1 {
                pending.push((Expr(node.b), false));
            }
        }
        let text = self.inline(expr, false).0;
        (lines, text)
    }

    fn is_shared(&self, expr: Expr) -> bool {
        let node = self.arena.node(expr);
        let is_leaf = |i: u32| self.arena.node(Expr(i)).op.arity() == 0;
        let is_small = match node.op {
            Op::Neg => true,
            Op::Sin | Op::Cos => is_leaf(node.a),
            _ => false,
        };
        self.uses[expr.0 as usize] > 1 && !is_small
    }

    /// Text and how tightly it binds; `is_definition` prints a named part itself rather than its name.
    fn inline(&self, expr: Expr, is_definition: bool) -> (String, Level) {
        if let Some(name) = self.names.get(&expr).filter(|_| !is_definition) {
            return (format!("t{name}"), Level::Whole);
        }
        let node = self.arena.node(expr);
        let part = |i: u32, least: Level| {
            let (text, level) = self.inline(Expr(i), false);
            if level < least { format!("({text})") } else { text }
        };
        let call = |name: &str| (format!("{name}({})", self.inline(Expr(node.a), false).0), Level::Whole);
        match node.op {
            Op::Number => {
                let level = if node.value < 0.0 { Level::Sign } else { Level::Whole };
                (number(node.value), level)
            }
            Op::Symbol => ((self.symbols)(node.a as usize), Level::Whole),
            Op::Add => {
                (format!("{} + {}", part(node.a, Level::Sum), part(node.b, Level::Product)), Level::Sum)
            }
            Op::Sub => {
                (format!("{} - {}", part(node.a, Level::Sum), part(node.b, Level::Product)), Level::Sum)
            }
            Op::Mul if node.a == node.b => (format!("{}^2", part(node.a, Level::Whole)), Level::Product),
            Op::Mul => {
                (format!("{}*{}", part(node.a, Level::Product), part(node.b, Level::Sign)), Level::Product)
            }
            Op::Div => {
                (format!("{}/{}", part(node.a, Level::Product), part(node.b, Level::Whole)), Level::Product)
            }
            Op::Neg => (format!("-{}", part(node.a, Level::Product)), Level::Sign),
            Op::Power => (format!("{}^{}", part(node.a, Level::Whole), number(node.value)), Level::Product),
            Op::Sqrt => call("sqrt"),
            Op::Sin => call("sin"),
            Op::Cos => call("cos"),
            Op::Tan => call("tan"),
            Op::Abs => call("abs"),
            Op::Atan2 => {
                let (a, b) = (self.inline(Expr(node.a), false).0, self.inline(Expr(node.b), false).0);
                (format!("atan2({a}, {b})"), Level::Whole)
            }
        }
    }
}

/// At most seven digits, without trailing zeros.
fn number(value: f64) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write!(text, "{value:.7}");
    if text.contains('.') && value.abs() >= 1e-4 {
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    if value == 0.0 { "0".into() } else { format!("{value:e}") }
}

impl Arena {
    /// An expression as one line; `symbols` names the symbols.
    pub fn print(&self, expr: Expr, symbols: &dyn Fn(usize) -> String) -> String {
        let printer = Printer { arena: self, symbols, uses: Vec::new(), names: HashMap::new() };
        printer.inline(expr, false).0
    }
}
