//! Explanation of compiled rules: equations and their derivatives.

use super::{Aim, Carrier, Problem, SymbolicSystem};
use crate::symbolic::{Arena, Printer};

impl Problem {
    /// The equations of every rule, first in terms of points, then their derivatives by degrees of freedom. `text` is
    /// the source the rules were read from.
    pub fn explain(&self, text: &str) -> Vec<String> {
        let system = self.symbolic();
        let lines: Vec<&str> = text.split('\n').collect();
        let mut out = Vec::new();
        for (index, rule) in self.rules.iter().enumerate() {
            let source = lines.get(rule.span.line as usize - 1).map_or("", |line| line.trim());
            out.push(format!("{}: {source}", rule.span.line));
            self.explain_rule(index, &mut out);
            self.explain_derivatives(index, &system, &mut out);
        }
        out
    }

    fn explain_rule(&self, index: usize, out: &mut Vec<String>) {
        let mut arena: Arena = self.arena.clone();
        let name = |symbol: usize| self.symbol_name(symbol);
        let sign = match self.rules[index].aim {
            Aim::Zero => "= 0",
            Aim::AtMostZero => "<= 0",
            Aim::Objective => "-> least",
        };
        for block in self.blocks.iter().filter(|block| block.rule == index) {
            let rows = self.plain_rows(&block.kind, &mut arena);
            for mut row in rows {
                if block.scale < 0.0 {
                    row = arena.neg(row);
                }
                out.push(format!("    {} {sign}", arena.print(row, &name)));
            }
            if let super::EquationKind::Clear { ends, by } = &block.kind {
                let [a, b, c, d] = ends.map(|end| self.arrow_name(end));
                out.push(format!("    {by} - distance of {a} .. {b} from {c} .. {d} {sign}"));
            }
            if let super::EquationKind::Height { a, by, .. } = &block.kind {
                out.push(format!("    height of {} over the ground - {by} {sign}", self.arrow_name(*a)));
            }
        }
    }

    fn explain_derivatives(&self, index: usize, system: &SymbolicSystem, out: &mut Vec<String>) {
        let name = |dof: usize| self.skeleton.dof_name(dof);
        let of_rule: Vec<_> =
            system.jacobian.iter().filter(|(row, _, _)| system.rules[*row] == index).collect();
        let exprs: Vec<_> = of_rule.iter().map(|(_, _, derivative)| *derivative).collect();
        let mut printer = Printer::new(&system.arena, &exprs, &name);
        let first = system.rules.iter().position(|rule| *rule == index).unwrap_or(0);
        for (row, dof, derivative) in of_rule {
            let (shared, text) = printer.print(*derivative);
            out.extend(shared.into_iter().map(|line| format!("      {line}")));
            out.push(format!("      d{}/d {} = {text}", row - first + 1, name(*dof)));
        }
    }

    /// Name of a symbol: a degree of freedom, or a coordinate of an arrow.
    pub(crate) fn symbol_name(&self, symbol: usize) -> String {
        match symbol.checked_sub(self.skeleton.n_dofs()) {
            None => self.skeleton.dof_name(symbol),
            Some(component) => {
                let name = self.arrow_name(component / 3);
                let axis = ["x", "y", "z"][component % 3];
                if name.contains(' ') { format!("({name}).{axis}") } else { format!("{name}.{axis}") }
            }
        }
    }

    fn arrow_name(&self, arrow: usize) -> String {
        let of = &self.arrows[arrow];
        let mut text = String::new();
        for (carrier, weight) in &of.terms {
            let joint = &self.skeleton.joints()[carrier.joint()].name;
            let name = match carrier {
                Carrier::Place(_) => joint.clone(),
                Carrier::Axis(_, axis) => {
                    format!("{joint}'s {}", ["x axis", "y axis", "z axis"][*axis as usize])
                }
            };
            let sign = match (text.is_empty(), *weight < 0.0) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            };
            text.push_str(sign);
            let size = weight.abs();
            text.push_str(&if (size - 1.0).abs() < 1e-12 { name } else { format!("{:.4} {name}", size) });
        }
        if of.constant != glam::DVec3::ZERO || text.is_empty() {
            let [x, y, z] = of.constant.to_array().map(|x| format!("{:.4}", x));
            let sign = if text.is_empty() { "" } else { " + " };
            text.push_str(&format!("{sign}({x}, {y}, {z})"));
        }
        text
    }
}
