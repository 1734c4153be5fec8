//! Compiles verbs into blocks of equations.

use super::{
    EquationKind, Measure,
    arrow::Arrow,
    rules::{CompiledRule, Compiler},
    scope::CompileResult,
    value::{Solid, Value, Vector, VectorBody},
};
use crate::{
    language::{Argument, Diagnostic, Dimension, Expression, Relation, Span},
    symbolic::Expr,
};
use glam::DVec3;
use sinew_geom::path::PlacedGround;
use std::sync::Arc;

impl Compiler<'_> {
    pub fn vanish(&mut self, vector: &Vector) -> CompiledRule {
        CompiledRule::lengths(match self.scope.arrow(vector) {
            Some(a) => vec![EquationKind::Zero { a }],
            None => self.scope.coordinates(vector).map(|expr| EquationKind::Scalar { expr }).to_vec(),
        })
    }

    pub(super) fn pin(&mut self, a: &Expression, b: &Expression) -> CompileResult<CompiledRule> {
        let (a, b) = (self.scope.point(a)?, self.scope.point(b)?);
        let off = self.scope.difference(&a, &b);
        Ok(self.vanish(&off))
    }

    pub(super) fn put_on(&mut self, point: &Expression, on: &Expression) -> CompileResult<CompiledRule> {
        let p = self.scope.point(point)?;
        match self.scope.value(on)? {
            Value::Plane(plane) => {
                let off = self.scope.difference(&p, &plane.through);
                Ok(CompiledRule::lengths(vec![self.along(&off, &plane.direction, 0.0)]))
            }
            Value::Line(line) => {
                let off = self.scope.difference(&p, &line.through);
                Ok(CompiledRule::lengths(self.across(&off, &line.direction)))
            }
            Value::Ground(site) => {
                Ok(CompiledRule::lengths(vec![self.height(&p, site, (1.0, 0.0), point.span)?]))
            }
            other => Err(Diagnostic::error(
                on.span,
                format!("this is {}, but a plane, a line or `Ground` is needed", other.kind()),
            )),
        }
    }

    /// Height above or below the ground, less a length.
    pub(super) fn height(
        &mut self,
        point: &Vector,
        site: Arc<PlacedGround>,
        (sign, by): (f64, f64),
        span: Span,
    ) -> CompileResult<EquationKind> {
        let refused =
            || Diagnostic::error(span, "only joints, and points made of them, can be put on the ground");
        let a = self.scope.arrow(point).ok_or_else(refused)?;
        Ok(EquationKind::Height { a, site, sign, by })
    }

    /// Component of a vector along a unit vector, less an offset.
    pub(super) fn along(&mut self, vector: &Vector, unit: &Vector, offset: f64) -> EquationKind {
        if let (Some(a), VectorBody::Arrow(normal)) = (self.scope.arrow(vector), &unit.body)
            && normal.is_constant()
        {
            return EquationKind::Along { a, normal: normal.constant, offset };
        }
        let (expr, offset) = (self.scope.dot(vector, unit), self.scope.number(offset));
        EquationKind::Scalar { expr: self.scope.arena.sub(expr, offset) }
    }

    /// The part of a vector across a unit vector vanishes.
    pub(super) fn across(&mut self, vector: &Vector, unit: &Vector) -> Vec<EquationKind> {
        if let VectorBody::Arrow(direction) = &unit.body
            && direction.is_constant()
        {
            let (e, f) = direction.constant.any_orthonormal_pair();
            return [e, f]
                .map(|axis| self.along(vector, &Vector::direction(Arrow::constant(axis)), 0.0))
                .to_vec();
        }
        let cross = self.scope.cross(vector, unit);
        self.scope.coordinates(&cross).map(|expr| EquationKind::Scalar { expr }).to_vec()
    }

    /// Relation and length after `by`; at least zero by default.
    pub(super) fn by(&mut self, by: &[Argument]) -> CompileResult<(Relation, f64)> {
        match by {
            [Argument::Relation(relation), Argument::Expression(length)] => {
                Ok((*relation, self.scope.constant(length, Dimension::LENGTH)?))
            }
            _ => Ok((Relation::AtLeast, 0.0)),
        }
    }

    pub(super) fn side(
        &mut self,
        points: &[Vector],
        (solid, span): (&Solid, Span),
        is_above: bool,
        by: &[Argument],
    ) -> CompileResult<CompiledRule> {
        let (relation, length) = self.by(by)?;
        let sign = if is_above { 1.0 } else { -1.0 };
        let mut kinds = Vec::new();
        let plane = match solid {
            Solid::Flat(plane) => plane,
            Solid::Ground(site) => {
                for point in points {
                    kinds.push(self.height(point, site.clone(), (sign, length), span)?);
                }
                return Ok(CompiledRule::lengths(kinds).related(relation));
            }
        };
        let up = self.turned(&plane.direction, sign);
        for point in points {
            let off = self.scope.difference(point, &plane.through);
            kinds.push(self.along(&off, &up, length));
        }
        Ok(CompiledRule::lengths(kinds).related(relation))
    }

    pub(super) fn turned(&mut self, vector: &Vector, sign: f64) -> Vector {
        let body = match &vector.body {
            VectorBody::Arrow(arrow) => VectorBody::Arrow(arrow.scaled(sign)),
            VectorBody::Any(coordinates) if sign < 0.0 => {
                VectorBody::Any(coordinates.map(|c| self.scope.arena.neg(c)))
            }
            VectorBody::Any(coordinates) => VectorBody::Any(*coordinates),
        };
        Vector { body, ..vector.clone() }
    }

    pub(super) fn put_behind(
        &mut self,
        points: [&Expression; 2],
        is_behind: bool,
        by: &[Argument],
        toward: &Expression,
    ) -> CompileResult<CompiledRule> {
        let (relation, length) = self.by(by)?;
        let (a, b) = (self.scope.point(points[0])?, self.scope.point(points[1])?);
        let direction = match self.scope.value(toward)? {
            Value::Vector(vector) if vector.is_vector() && vector.points.is_some() => {
                self.scope.direction(toward)?
            }
            _ => self.between(points[1], toward)?,
        };
        let unit = self.scope.unit(&direction);
        let off = if is_behind { self.scope.difference(&b, &a) } else { self.scope.difference(&a, &b) };
        Ok(CompiledRule::lengths(vec![self.along(&off, &unit, length)]).related(relation))
    }

    pub fn aim(&mut self, a: &Vector, b: &Vector) -> CompiledRule {
        let kinds = match (self.scope.arrow(a), self.scope.arrow(b)) {
            (Some(a), Some(b)) => vec![EquationKind::Unit { a, b }],
            _ => {
                let (a, b) = (self.scope.unit(a), self.scope.unit(b));
                let off = self.scope.difference(&a, &b);
                self.scope.coordinates(&off).map(|expr| EquationKind::Scalar { expr }).to_vec()
            }
        };
        CompiledRule::angles(kinds, Measure::Chord)
    }

    pub(super) fn parallel(&mut self, a: &Vector, b: &Vector) -> CompiledRule {
        let (a, b) = (self.scope.unit(a), self.scope.unit(b));
        let cross = self.scope.cross(&a, &b);
        let kinds = self.scope.coordinates(&cross).map(|expr| EquationKind::Scalar { expr }).to_vec();
        CompiledRule::angles(kinds, Measure::Sine)
    }

    pub(super) fn perpendicular(&mut self, a: &Vector, b: &Vector) -> CompiledRule {
        let (a, b) = (self.scope.unit(a), self.scope.unit(b));
        let expr = self.scope.dot(&a, &b);
        CompiledRule::angles(vec![EquationKind::Scalar { expr }], Measure::Sine)
    }

    pub(super) fn distance(
        &mut self,
        a: &Expression,
        b: &Expression,
        relation: Relation,
        length: &Expression,
    ) -> CompileResult<CompiledRule> {
        let (from, to) = (self.scope.point(a)?, self.scope.point(b)?);
        let off = self.scope.difference(&from, &to);
        let target = self.scope.measured(length, Dimension::LENGTH)?;
        if relation == Relation::Equal && self.scope.arena.as_number(target).is_some_and(|t| t < 0.0) {
            return Err(Diagnostic::error(length.span, "a distance cannot be negative"));
        }
        Ok(CompiledRule::lengths(vec![self.length(&off, target)]).related(relation))
    }

    /// `|vector| = target`.
    pub fn length(&mut self, vector: &Vector, target: Expr) -> EquationKind {
        match (self.scope.arrow(vector), self.scope.arena.as_number(target)) {
            (Some(a), Some(target)) => EquationKind::Length { a, target },
            _ => {
                let length = self.scope.length(vector);
                EquationKind::Scalar { expr: self.scope.arena.sub(length, target) }
            }
        }
    }

    pub(super) fn angle(
        &mut self,
        a: &Vector,
        b: &Vector,
        relation: Relation,
        angle: &Expression,
    ) -> CompileResult<CompiledRule> {
        let target = self.scope.measured(angle, Dimension::ANGLE)?;
        let between = self.scope.angle(a, b);
        let expr = self.scope.arena.sub(between, target);
        Ok(CompiledRule::angles(vec![EquationKind::Scalar { expr }], Measure::Norm).related(relation))
    }

    /// `a · b = 0`, as the length of the part of `a` along `b`.
    pub fn split(&mut self, a: &Vector, b: &Vector) -> CompiledRule {
        CompiledRule::lengths(vec![match (self.scope.arrow(a), self.scope.arrow(b)) {
            (Some(a), Some(b)) => EquationKind::Split { a, b },
            _ => {
                let unit = self.scope.unit(b);
                EquationKind::Scalar { expr: self.scope.dot(a, &unit) }
            }
        }])
    }

    pub(super) fn mirror(
        &mut self,
        a: &Expression,
        b: &Expression,
        plane: &Expression,
    ) -> CompileResult<CompiledRule> {
        let plane = self.scope.plane(plane)?;
        let (a, b) = (self.scope.point(a)?, self.scope.point(b)?);
        let middle = self.scope.middle(&a, &b);
        let (off, across) = (self.scope.difference(&middle, &plane.through), self.scope.difference(&a, &b));
        let mut kinds = vec![self.along(&off, &plane.direction, 0.0)];
        kinds.extend(self.across(&across, &plane.direction));
        Ok(CompiledRule::lengths(kinds))
    }

    /// Inside a polygon seen from above: to the inner side of every edge.
    pub(super) fn over(
        &mut self,
        point: &Expression,
        corners: &[Expression],
        by: &[Argument],
    ) -> CompileResult<CompiledRule> {
        let (relation, margin) = self.by(by)?;
        let p = self.scope.point(point)?;
        let mut all = Vec::new();
        for corner in corners {
            all.extend(self.scope.points(corner)?);
        }
        let span = corners[0].span.to(corners[corners.len() - 1].span);
        if all.len() < 3 {
            return Err(Diagnostic::error(span, "a polygon has at least three corners"));
        }
        let turn = self.turn_at_rest(&all);
        if turn == 0.0 {
            return Err(Diagnostic::error(
                span,
                "at rest this polygon has no area; name its corners in order",
            ));
        }
        let mut kinds = Vec::new();
        for i in 0..all.len() {
            let (from, to) = (&all[i], &all[(i + 1) % all.len()]);
            let (edge, off) = (self.scope.difference(to, from), self.scope.difference(&p, from));
            let (e, o) = (self.scope.coordinates(&edge), self.scope.coordinates(&off));
            let arena = &mut self.scope.arena;
            // Height of the point over the edge in the plane of x and z.
            let (left, right) = (arena.mul(e[2], o[0]), arena.mul(e[0], o[2]));
            let area = arena.sub(left, right);
            let (xx, zz) = (arena.mul(e[0], e[0]), arena.mul(e[2], e[2]));
            let square = arena.add(xx, zz);
            let length = arena.sqrt(square);
            let height = arena.div(area, length);
            let (sign, margin) = (arena.number(turn), arena.number(margin));
            let height = arena.mul(sign, height);
            kinds.push(EquationKind::Scalar { expr: arena.sub(height, margin) });
        }
        Ok(CompiledRule::lengths(kinds).related(relation))
    }

    /// Orientation of the corners at rest, seen from above: 1 or −1.
    pub(super) fn turn_at_rest(&mut self, corners: &[Vector]) -> f64 {
        let kinematics = crate::Kinematics::new(self.scope.skeleton);
        let mut frames = crate::SkeletonFrames::default();
        kinematics.compute(&self.scope.skeleton.rest_values(), &mut frames);
        let place = |vector: &Vector| match &vector.body {
            VectorBody::Arrow(arrow) => arrow.at(&frames),
            VectorBody::Any(_) => DVec3::ZERO,
        };
        let places: Vec<DVec3> = corners.iter().map(place).collect();
        let edge = |i: usize| {
            places[i].z * places[(i + 1) % places.len()].x - places[i].x * places[(i + 1) % places.len()].z
        };
        let area: f64 = (0..places.len()).map(edge).sum();
        if area.abs() < 1e-9 { 0.0 } else { area.signum() }
    }
}
