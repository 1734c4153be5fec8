//! User-written equations, and better-conditioned forms of them.
//!
//! # Source
//! Abdelhay (2008), §4.1.1 and §4.2: equations are written as there. Differs: equations whose derivative vanishes where
//! they hold, or whose scale depends on lengths, are replaced by others with the same solutions, and this is reported.

use super::{
    EquationKind, Measure, Quantity,
    rules::{CompiledRule, Compiler, quantity},
    scope::CompileResult,
    value::{Scalar, Shape, Value, Vector},
};
use crate::language::{Diagnostic, Dimension, Expression, Relation, Span};

impl Compiler<'_> {
    pub(super) fn equation(
        &mut self,
        a: &Expression,
        relation: Relation,
        b: &Expression,
        span: Span,
    ) -> CompileResult<CompiledRule> {
        let (left, right) = (self.scope.value(a)?, self.scope.value(b)?);
        match (left, right) {
            (Value::Scalar(left), Value::Scalar(right)) => {
                self.numbers((left, a.span), relation, (right, b.span), span)
            }
            (Value::Vector(left), Value::Vector(right)) => self.vectors(left, relation, right, span),
            (Value::Vector(vector), Value::Scalar(zero)) if self.is_zero(&zero) && vector.is_vector() => {
                self.vectors(vector.clone(), relation, zero_like(&vector), span)
            }
            (left, right) => {
                let message = format!("{} cannot equal {}", left.kind(), right.kind());
                Err(Diagnostic::error(span, message))
            }
        }
    }

    fn is_zero(&self, scalar: &Scalar) -> bool {
        self.scope.arena.as_number(scalar.expr) == Some(0.0)
    }

    fn vectors(
        &mut self,
        left: Vector,
        relation: Relation,
        right: Vector,
        span: Span,
    ) -> CompileResult<CompiledRule> {
        if relation != Relation::Equal {
            return Err(Diagnostic::error(
                span,
                "points and vectors cannot be compared by size; compare lengths or coordinates",
            ));
        }
        let difference = match self.scope.sum(-1.0, Value::Vector(left), Value::Vector(right), span)? {
            Value::Vector(vector) if vector.is_vector() => vector,
            _ => return Err(Diagnostic::error(span, "a point cannot equal a vector")),
        };
        let made = self.vanish(&difference);
        Ok(CompiledRule { quantity: quantity(difference.dimension.unwrap_or(Dimension::NUMBER)), ..made })
    }

    fn numbers(
        &mut self,
        (left, left_span): (Scalar, Span),
        relation: Relation,
        (right, right_span): (Scalar, Span),
        span: Span,
    ) -> CompileResult<CompiledRule> {
        let dimension = left.dimension.or(right.dimension).unwrap_or(Dimension::NUMBER);
        let x = self.scope.settle(left, dimension, left_span)?;
        let y = self.scope.settle(right, dimension, right_span)?;
        if self.params.rewrite
            && let Some(made) = self.rewritten([(left.shape, x), (right.shape, y)], relation, dimension, span)
        {
            return Ok(made);
        }
        let expr = self.scope.arena.sub(x, y);
        let made = CompiledRule {
            quantity: quantity(dimension),
            ..CompiledRule::lengths(vec![EquationKind::Scalar { expr }])
        };
        Ok(made.related(relation))
    }

    /// A better form of an equation between numbers, if there is one.
    fn rewritten(
        &mut self,
        sides: [(Shape, crate::symbolic::Expr); 2],
        relation: Relation,
        dimension: Dimension,
        span: Span,
    ) -> Option<CompiledRule> {
        let [(left, x), (right, y)] = sides;
        let constants = [self.scope.arena.as_number(x), self.scope.arena.as_number(y)];
        match (left, right, constants) {
            // a·u = |a| with a fixed unit vector u
            (Shape::Dot(a, u), Shape::Length(b), _) | (Shape::Length(b), Shape::Dot(a, u), _)
                if relation == Relation::Equal =>
            {
                let (arrow, unit) = if a == b { (a, u) } else { (u, a) };
                let of = &self.scope.arrows.list[unit];
                if arrow != b || !of.is_constant() || (of.constant.length() - 1.0).abs() > 1e-9 {
                    return None;
                }
                self.note(span, "a·u = |a| has no slope where it holds; solved as `aim a along u`");
                Some(CompiledRule::angles(vec![EquationKind::Unit { a: arrow, b: unit }], Measure::Chord))
            }
            // |a|² = |b|², or a number
            (Shape::Dot(a, b), Shape::Dot(c, d), _) if a == b && c == d => {
                self.note(span, "squared lengths are compared as lengths");
                let (first, second) = (self.scope.arena.sqrt(x), self.scope.arena.sqrt(y));
                let expr = self.scope.arena.sub(first, second);
                Some(CompiledRule::lengths(vec![EquationKind::Scalar { expr }]).related(relation))
            }
            (Shape::Dot(a, b), _, [_, Some(square)]) if a == b && square >= 0.0 && dimension.length == 2 => {
                self.note(span, "squared lengths are compared as lengths");
                Some(
                    CompiledRule::lengths(vec![EquationKind::Length { a, target: square.sqrt() }])
                        .related(relation),
                )
            }
            (Shape::Length(a), _, [_, Some(target)]) if dimension == Dimension::LENGTH => {
                Some(CompiledRule::lengths(vec![EquationKind::Length { a, target }]).related(relation))
            }
            // a·b = 0
            (Shape::Dot(a, b), _, [_, Some(0.0)]) if relation == Relation::Equal && dimension.length == 2 => {
                self.note(span, "a·b = 0 is solved as the length of the part of a along b");
                let made = CompiledRule::lengths(vec![EquationKind::Split { a, b }]);
                Some(CompiledRule { quantity: Quantity::Length, ..made })
            }
            _ => None,
        }
    }

    fn note(&mut self, span: Span, message: &str) {
        self.diagnostics.push(Diagnostic::note(span, message));
    }
}

fn zero_like(vector: &Vector) -> Vector {
    let zero = super::arrow::Arrow::default();
    Vector { body: super::value::VectorBody::Arrow(zero), dimension: vector.dimension, points: Some(0.0) }
}
