//! Sums, products and functions of values.

use super::{
    arrow::Arrow,
    scope::{CompileResult, Scope},
    value::{Scalar, Shape, Value, Vector, VectorBody},
};
use crate::{
    language::{Diagnostic, Dimension, Expression, Span, Term},
    symbolic::Expr,
};
use glam::DVec3;

fn plain(expr: Expr, dimension: Option<Dimension>) -> Value {
    Value::Scalar(Scalar { expr, dimension, shape: Shape::Other })
}

impl Scope<'_> {
    pub fn difference(&mut self, a: &Vector, b: &Vector) -> Vector {
        let points = match (a.points, b.points) {
            (Some(a), Some(b)) => Some(a - b),
            _ => Some(0.0),
        };
        Vector { points, ..self.added(a, -1.0, b) }
    }

    fn added(&mut self, a: &Vector, factor: f64, b: &Vector) -> Vector {
        let body = match (&a.body, &b.body) {
            (VectorBody::Arrow(a), VectorBody::Arrow(b)) => VectorBody::Arrow(a.plus(factor, b)),
            _ => {
                let (x, y) = (self.coordinates(a), self.coordinates(b));
                let number = self.number(factor);
                VectorBody::Any([0, 1, 2].map(|i| {
                    let term = self.arena.mul(number, y[i]);
                    self.arena.add(x[i], term)
                }))
            }
        };
        let points = match (a.points, b.points) {
            (Some(a), Some(b)) => Some(a + factor * b),
            (known, None) | (None, known) => known,
        };
        Vector { body, dimension: a.dimension.or(b.dimension), points }
    }

    pub fn sum(&mut self, factor: f64, a: Value, b: Value, span: Span) -> CompileResult<Value> {
        match (a, b) {
            (Value::Scalar(a), Value::Scalar(b)) => {
                let dimension = a.dimension.or(b.dimension);
                let (x, y) = match dimension {
                    Some(d) => (self.settle(a, d, span)?, self.settle(b, d, span)?),
                    None => (a.expr, b.expr),
                };
                let expr = if factor > 0.0 { self.arena.add(x, y) } else { self.arena.sub(x, y) };
                Ok(plain(expr, dimension))
            }
            (Value::Vector(a), Value::Vector(b)) => {
                let (a, b) = match (a.dimension, b.dimension) {
                    (Some(x), Some(y)) if x != y => {
                        let message = format!("{} and {} cannot be added", x.describe(), y.describe());
                        return Err(Diagnostic::error(span, message));
                    }
                    (Some(Dimension { length: 1, .. }), None) => {
                        let points = b.points;
                        (a, Vector { points, ..self.in_metres(b) })
                    }
                    (None, Some(Dimension { length: 1, .. })) => {
                        let points = a.points;
                        (Vector { points, ..self.in_metres(a) }, b)
                    }
                    _ => (a, b),
                };
                Ok(Value::Vector(self.added(&a, factor, &b)))
            }
            (a, b) => {
                let word = if factor > 0.0 { "added to" } else { "subtracted from" };
                Err(Diagnostic::error(span, format!("{} cannot be {word} {}", b.kind(), a.kind())))
            }
        }
    }

    pub fn product(&mut self, a: Value, b: Value, span: Span) -> CompileResult<Value> {
        match (a, b) {
            (Value::Scalar(a), Value::Scalar(b)) => {
                let dimension = match (a.dimension, b.dimension) {
                    (Some(a), Some(b)) => Some(a.times(b, 1)),
                    (known, None) | (None, known) => known,
                };
                Ok(plain(self.arena.mul(a.expr, b.expr), dimension))
            }
            (Value::Scalar(s), Value::Vector(v)) | (Value::Vector(v), Value::Scalar(s)) => {
                let by = s.dimension.unwrap_or(Dimension::NUMBER);
                let dimension =
                    v.dimension.map(|d| d.times(by, 1)).or(s.dimension.filter(|d| *d != Dimension::NUMBER));
                let factor = self.arena.as_number(s.expr);
                let points = v.points.map(|points| points * factor.unwrap_or(f64::NAN));
                // A vector times a number is a vector.
                let points = if v.points == Some(0.0) { Some(0.0) } else { points };
                let body = match (&v.body, factor) {
                    (VectorBody::Arrow(arrow), Some(factor)) => VectorBody::Arrow(arrow.scaled(factor)),
                    _ => VectorBody::Any(self.coordinates(&v).map(|c| self.arena.mul(s.expr, c))),
                };
                Ok(Value::Vector(Vector { body, dimension, points }))
            }
            (Value::Vector(_), Value::Vector(_)) => Err(Diagnostic::error(
                span,
                "two vectors cannot be multiplied with `*`; write dot(a, b) or cross(a, b)",
            )),
            (a, b) => {
                Err(Diagnostic::error(span, format!("{} cannot be multiplied by {}", a.kind(), b.kind())))
            }
        }
    }

    pub fn quotient(&mut self, a: Value, b: Value, span: Span) -> CompileResult<Value> {
        let Value::Scalar(b) = b else {
            return Err(Diagnostic::error(span, format!("nothing can be divided by {}", b.kind())));
        };
        if self.arena.as_number(b.expr) == Some(0.0) {
            return Err(Diagnostic::error(span, "nothing can be divided by zero"));
        }
        let one = self.number(1.0);
        let inverse = Scalar {
            expr: self.arena.div(one, b.expr),
            dimension: b.dimension.map(|d| Dimension::NUMBER.times(d, -1)),
            shape: Shape::Other,
        };
        match a {
            // Written as a quotient it is shorter than as a product with an inverse.
            Value::Scalar(a) => {
                let dimension = match (a.dimension, b.dimension) {
                    (Some(a), Some(b)) => Some(a.times(b, -1)),
                    (known, None) => known,
                    (None, Some(_)) => inverse.dimension,
                };
                Ok(plain(self.arena.div(a.expr, b.expr), dimension))
            }
            a => self.product(a, Value::Scalar(inverse), span),
        }
    }

    pub fn power(&mut self, a: Value, b: Value, span: Span) -> CompileResult<Value> {
        let (Value::Scalar(a), Value::Scalar(b)) = (&a, &b) else {
            return Err(Diagnostic::error(
                span,
                format!("{} to the power of {} means nothing", a.kind(), b.kind()),
            ));
        };
        let exponent =
            self.arena.as_number(b.expr).filter(|_| b.dimension.is_none_or(|d| d == Dimension::NUMBER));
        let Some(exponent) = exponent else {
            return Err(Diagnostic::error(span, "an exponent must be a number without a unit"));
        };
        // The unit of a bare number to a power follows from its context: 40^2 beside an area is 40 cm squared.
        let whole = exponent.fract() == 0.0 && exponent.abs() <= 8.0;
        let dimension = match a.dimension {
            Some(d) if d == Dimension::NUMBER => Some(d),
            Some(d) if whole => {
                let sign = exponent.signum() as i8;
                Some((0..exponent.abs() as i32).fold(Dimension::NUMBER, |product, _| product.times(d, sign)))
            }
            Some(_) => return Err(Diagnostic::error(span, "a length or an angle needs a whole exponent")),
            None => None,
        };
        let shape = match a.shape {
            Shape::Length(arrow) if exponent == 2.0 => Shape::Dot(arrow, arrow),
            _ => Shape::Other,
        };
        Ok(Value::Scalar(Scalar { expr: self.arena.power(a.expr, exponent), dimension, shape }))
    }

    pub fn dot(&mut self, a: &Vector, b: &Vector) -> Expr {
        let (x, y) = (self.coordinates(a), self.coordinates(b));
        let terms = [0, 1, 2].map(|i| self.arena.mul(x[i], y[i]));
        let sum = self.arena.add(terms[0], terms[1]);
        self.arena.add(sum, terms[2])
    }

    pub fn length(&mut self, a: &Vector) -> Expr {
        let square = self.dot(a, a);
        self.arena.sqrt(square)
    }

    pub fn cross(&mut self, a: &Vector, b: &Vector) -> Vector {
        let (x, y) = (self.coordinates(a), self.coordinates(b));
        let body = VectorBody::Any([0, 1, 2].map(|i| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            let (left, right) = (self.arena.mul(x[j], y[k]), self.arena.mul(x[k], y[j]));
            self.arena.sub(left, right)
        }));
        let dimension = match (a.dimension, b.dimension) {
            (Some(a), Some(b)) => Some(a.times(b, 1)),
            (known, None) | (None, known) => known,
        };
        Vector { body, dimension, points: Some(0.0) }
    }

    pub fn unit(&mut self, a: &Vector) -> Vector {
        if let VectorBody::Arrow(arrow) = &a.body
            && arrow.is_constant()
        {
            return Vector::direction(Arrow::constant(arrow.constant.normalize_or_zero()));
        }
        let length = self.length(a);
        let body = VectorBody::Any(self.coordinates(a).map(|c| self.arena.div(c, length)));
        Vector { body, dimension: Some(Dimension::NUMBER), points: Some(0.0) }
    }

    /// Angle between two vectors, exact also where they are nearly parallel.
    pub fn angle(&mut self, a: &Vector, b: &Vector) -> Expr {
        let cross = self.cross(a, b);
        let (sine, cosine) = (self.length(&cross), self.dot(a, b));
        self.arena.atan2(sine, cosine)
    }

    /// Index of the arrow, if the vector is one.
    pub fn arrow(&mut self, vector: &Vector) -> Option<usize> {
        match &vector.body {
            VectorBody::Arrow(arrow) => Some(self.arrows.intern(arrow)),
            VectorBody::Any(_) => None,
        }
    }

    fn vector(&mut self, expression: &Expression) -> CompileResult<Vector> {
        match self.value(expression)? {
            Value::Vector(vector) => Ok(vector),
            other => Err(Diagnostic::error(
                expression.span,
                format!("this is {}, but a vector is needed", other.kind()),
            )),
        }
    }

    pub fn function(&mut self, name: &str, arguments: &[Expression], span: Span) -> CompileResult<Value> {
        match name {
            "distance" | "length" => {
                let vector = if name == "length" {
                    self.vector(&arguments[0])?
                } else {
                    let (a, b) = (self.point(&arguments[0])?, self.point(&arguments[1])?);
                    self.difference(&a, &b)
                };
                let shape = self.arrow(&vector).map_or(Shape::Other, Shape::Length);
                Ok(Value::Scalar(Scalar { expr: self.length(&vector), dimension: vector.dimension, shape }))
            }
            "dot" => {
                let (a, b) = (self.vector(&arguments[0])?, self.vector(&arguments[1])?);
                let shape = match (self.arrow(&a), self.arrow(&b)) {
                    (Some(a), Some(b)) => Shape::Dot(a, b),
                    _ => Shape::Other,
                };
                let expr = self.dot(&a, &b);
                let dimension = match (a.dimension, b.dimension) {
                    (Some(a), Some(b)) => Some(a.times(b, 1)),
                    (known, None) | (None, known) => known,
                };
                Ok(Value::Scalar(Scalar { expr, dimension, shape }))
            }
            "cross" => {
                let (a, b) = (self.vector(&arguments[0])?, self.vector(&arguments[1])?);
                Ok(Value::Vector(self.cross(&a, &b)))
            }
            "normalize" => {
                let a = self.direction(&arguments[0])?;
                Ok(Value::Vector(self.unit(&a)))
            }
            "mid" => {
                let (a, b) = (self.point(&arguments[0])?, self.point(&arguments[1])?);
                Ok(Value::Vector(self.middle(&a, &b)))
            }
            "angle" => {
                let (a, b) = (self.direction(&arguments[0])?, self.direction(&arguments[1])?);
                Ok(plain(self.angle(&a, &b), Some(Dimension::ANGLE)))
            }
            "up" | "forward" | "left" => {
                let joint = self.joint(&arguments[0])?;
                let axis = match name {
                    "up" => DVec3::Y,
                    "forward" => DVec3::Z,
                    _ => DVec3::X,
                };
                Ok(Value::Vector(Vector::direction(Arrow::direction(self.skeleton, joint, axis))))
            }
            "centre" => Ok(Value::Vector(self.centre())),
            "toes" => self.toes(&arguments[0], span),
            "x" | "y" | "z" => {
                let vector = self.vector(&arguments[0])?;
                Ok(self.coordinate(&vector, usize::from(name.as_bytes()[0] - b'x')))
            }
            _ => self.number_function(name, arguments),
        }
    }

    fn number_function(&mut self, name: &str, arguments: &[Expression]) -> CompileResult<Value> {
        let first = self.scalar(&arguments[0])?;
        let angle = |scope: &mut Self| scope.settle(first, Dimension::ANGLE, arguments[0].span);
        Ok(match name {
            "sin" => {
                let a = angle(self)?;
                plain(self.arena.sin(a), Some(Dimension::NUMBER))
            }
            "cos" => {
                let a = angle(self)?;
                plain(self.arena.cos(a), Some(Dimension::NUMBER))
            }
            "tan" => {
                let a = angle(self)?;
                plain(self.arena.tan(a), Some(Dimension::NUMBER))
            }
            "abs" => plain(self.arena.abs(first.expr), first.dimension),
            "sqrt" => {
                let half = |d: Dimension| Dimension {
                    length: d.length / 2,
                    angle: d.angle / 2,
                    time: d.time / 2,
                    ..d
                };
                if first.dimension.is_some_and(|d| d.length % 2 != 0 || d.angle % 2 != 0 || d.time % 2 != 0) {
                    return Err(Diagnostic::error(arguments[0].span, "the root of this has no unit"));
                }
                let shape = match first.shape {
                    Shape::Dot(a, b) if a == b => Shape::Length(a),
                    _ => Shape::Other,
                };
                Value::Scalar(Scalar {
                    expr: self.arena.sqrt(first.expr),
                    dimension: first.dimension.map(half),
                    shape,
                })
            }
            _ => {
                let second = self.scalar(&arguments[1])?;
                let dimension = first.dimension.or(second.dimension).unwrap_or(Dimension::NUMBER);
                let y = self.settle(first, dimension, arguments[0].span)?;
                let x = self.settle(second, dimension, arguments[1].span)?;
                plain(self.arena.atan2(y, x), Some(Dimension::ANGLE))
            }
        })
    }

    pub fn middle(&mut self, a: &Vector, b: &Vector) -> Vector {
        let sum = self.added(a, 1.0, b);
        let body = match &sum.body {
            VectorBody::Arrow(arrow) => VectorBody::Arrow(arrow.scaled(0.5)),
            VectorBody::Any(coordinates) => {
                let half = self.number(0.5);
                VectorBody::Any(coordinates.map(|c| self.arena.mul(half, c)))
            }
        };
        Vector { body, dimension: Some(Dimension::LENGTH), points: Some(1.0) }
    }

    /// Centre of all bones, each a rod between a joint and its parent.
    fn centre(&mut self) -> Vector {
        let mut sum = Arrow::default();
        let mut total = 0.0;
        for (index, joint) in self.skeleton.joints().iter().enumerate() {
            if let Some(parent) = joint.parent {
                let length = joint.offset.length();
                let rod = Arrow::place(index).plus(1.0, &Arrow::place(parent)).scaled(0.5);
                sum = sum.plus(length, &rod);
                total += length;
            }
        }
        Vector::point(if total > 0.0 { sum.scaled(1.0 / total) } else { Arrow::place(0) })
    }

    /// Joints of a side with `toe` in their name.
    fn toes(&mut self, side: &Expression, span: Span) -> CompileResult<Value> {
        let side = match &side.term {
            Term::Name(name) if matches!(name.as_str(), "L" | "R") => name.as_str(),
            _ => return Err(Diagnostic::error(side.span, "write toes(L) or toes(R)")),
        };
        let long = if side == "L" { "left" } else { "right" };
        let is_toe = |name: &str| {
            let lower = name.to_lowercase();
            lower.contains("toe") && (name.ends_with(side) || lower.contains(long))
        };
        let joints = self.skeleton.joints().iter().enumerate().filter(|(_, joint)| is_toe(&joint.name));
        let toes: Vec<Vector> = joints.map(|(index, _)| Vector::point(Arrow::place(index))).collect();
        if toes.is_empty() {
            return Err(Diagnostic::error(
                span,
                format!("no joint of side {side} has `toe` in its name; name the points"),
            ));
        }
        Ok(Value::Points(toes))
    }
}
