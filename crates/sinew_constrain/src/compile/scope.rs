//! Evaluates names and expressions to values.

use super::{
    Scene,
    arrow::{Arrow, Arrows},
    value::{Flat, Scalar, Shape, Solid, Value, Vector, VectorBody},
};
use crate::{
    Skeleton,
    language::{Diagnostic, Dimension, Expression, FUNCTIONS, Operator, Span, Term, find_function, suggest},
    symbolic::{Arena, Expr},
};
use glam::DVec3;
use sinew_geom::DofKind;
use std::{collections::HashMap, sync::Arc};

/// Name of the ground in rules.
const GROUND: &str = "Ground";

pub(crate) type CompileResult<T> = Result<T, Diagnostic>;

/// Names that are defined while a text is compiled, and the expressions made so far.
pub(crate) struct Scope<'a> {
    pub skeleton: &'a Skeleton,
    pub arena: Arena,
    pub arrows: Arrows,
    names: HashMap<String, Value>,
    /// Names whose definitions have errors.
    pub broken: Vec<String>,
    /// Joint of each name; `None` where several share it.
    joints: HashMap<&'a str, Option<usize>>,
}

impl<'a> Scope<'a> {
    pub fn new(skeleton: &'a Skeleton, scene: &Scene) -> Self {
        let mut joints = HashMap::with_capacity(skeleton.n_joints());
        for (index, joint) in skeleton.joints().iter().enumerate() {
            joints.entry(joint.name.as_str()).and_modify(|joint| *joint = None).or_insert(Some(index));
        }
        let marker =
            |(name, at): &(String, DVec3)| (name.clone(), Value::Vector(Vector::point(Arrow::constant(*at))));
        let plane = |(name, [through, normal]): &(String, [DVec3; 2])| {
            let through = Vector::point(Arrow::constant(*through));
            // A plane without a normal is level.
            let normal = Arrow::constant(normal.try_normalize().unwrap_or(DVec3::Y));
            (name.clone(), Value::Plane(Flat { through, direction: Vector::direction(normal) }))
        };
        let mut names: HashMap<String, Value> =
            scene.markers.iter().map(marker).chain(scene.planes.iter().map(plane)).collect();
        if let Some(site) = &scene.ground {
            // The first definition of a name counts.
            names.entry(GROUND.into()).or_insert_with(|| Value::Ground(Arc::new(site.clone())));
        }
        Self {
            skeleton,
            arena: Arena::default(),
            arrows: Arrows::default(),
            names,
            broken: Vec::new(),
            joints,
        }
    }

    pub fn define(&mut self, name: &str, span: Span, value: Value) -> CompileResult<()> {
        if self.joints.contains_key(name) {
            return Err(Diagnostic::error(span, format!("`{name}` is a joint already; choose another name")));
        }
        if self.names.insert(name.to_owned(), value).is_some() {
            return Err(Diagnostic::error(span, format!("`{name}` is defined already; choose another name")));
        }
        Ok(())
    }

    fn find_joint(&self, name: &str, span: Span) -> CompileResult<Option<usize>> {
        match self.joints.get(name) {
            Some(None) => {
                Err(Diagnostic::error(span, format!("several joints are called `{name}`; rename them")))
            }
            Some(joint) => Ok(*joint),
            None => Ok(None),
        }
    }

    /// The joint an expression names.
    pub fn joint(&self, expression: &Expression) -> CompileResult<usize> {
        let Term::Name(name) = &expression.term else {
            return Err(Diagnostic::error(expression.span, "this must be the name of a joint"));
        };
        match self.find_joint(name, expression.span)? {
            Some(joint) => Ok(joint),
            None if self.names.contains_key(name) => {
                Err(Diagnostic::error(expression.span, format!("`{name}` is not a joint")))
            }
            None => Err(self.unknown(name, expression.span, true)),
        }
    }

    /// The degree of freedom an expression names, if it names one.
    pub fn dof(&self, expression: &Expression) -> CompileResult<usize> {
        let Term::Name(name) = &expression.term else {
            return Err(Diagnostic::error(
                expression.span,
                "this must be a degree of freedom such as KneeR.rx",
            ));
        };
        let parts =
            name.rsplit_once('.').and_then(|(joint, kind)| Some((joint, DofKind::from_suffix(kind)?)));
        let Some((joint, kind)) = parts else {
            return Err(Diagnostic::error(
                expression.span,
                format!("`{name}` is not a degree of freedom; write for example `{name}.rx`"),
            ));
        };
        let Some(index) = self.find_joint(joint, expression.span)? else {
            return Err(self.unknown(joint, expression.span, true));
        };
        self.skeleton.find_dof(index, kind).ok_or_else(|| {
            let has: Vec<&str> = self.skeleton.joints()[index]
                .dofs
                .clone()
                .map(|f| self.skeleton.dofs()[f].kind.suffix())
                .collect();
            let has =
                if has.is_empty() { "it cannot move".into() } else { format!("it has {}", has.join(" ")) };
            let message = format!(
                "`{joint}` has no degree of freedom {}; {has}; write `free {joint}: …` to change that",
                kind.suffix()
            );
            Diagnostic::error(expression.span, message)
        })
    }

    fn unknown(&self, name: &str, span: Span, is_joint: bool) -> Diagnostic {
        let joints = self.skeleton.joints().iter().map(|joint| joint.name.as_str());
        let mut known: Vec<&str> = joints.collect();
        if !is_joint {
            let mut others: Vec<&str> = self.names.keys().map(String::as_str).collect();
            others.sort_unstable();
            known.extend(others);
        }
        let what = if is_joint { "joint" } else { "name" };
        if self.broken.iter().any(|broken| broken == name) {
            return Diagnostic::error(
                span,
                format!("`{name}` is not known, since its definition has an error"),
            );
        }
        if name == GROUND && !is_joint {
            let message = "there is no ground here; give one with `--ground`, or define `plane Ground = …`";
            return Diagnostic::error(span, message);
        }
        let hint = match suggest(name, known.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "no joint, marker or definition has this name".into(),
        };
        Diagnostic::error(span, format!("unknown {what} `{name}`; {hint}"))
    }

    pub fn number(&mut self, value: f64) -> Expr {
        self.arena.number(value)
    }

    /// Symbol of a component of an arrow. Degrees of freedom come first among the symbols.
    fn symbol(&mut self, arrow: usize, axis: usize) -> Expr {
        self.arena.symbol(self.skeleton.n_dofs() + 3 * arrow + axis)
    }

    /// Coordinates of a vector as expressions.
    pub fn coordinates(&mut self, vector: &Vector) -> [Expr; 3] {
        match &vector.body {
            VectorBody::Any(coordinates) => *coordinates,
            VectorBody::Arrow(arrow) if arrow.is_constant() => {
                arrow.constant.to_array().map(|x| self.arena.number(x))
            }
            VectorBody::Arrow(arrow) => {
                let index = self.arrows.intern(arrow);
                [0, 1, 2].map(|axis| self.symbol(index, axis))
            }
        }
    }

    pub fn value(&mut self, expression: &Expression) -> CompileResult<Value> {
        match &expression.term {
            Term::Number(value, dimension) => Ok(Value::Scalar(Scalar {
                expr: self.arena.number(*value),
                dimension: *dimension,
                shape: Shape::Other,
            })),
            Term::Name(name) => self.name(name, expression.span),
            Term::Call(name, arguments) => self.call(name, arguments, expression.span),
            Term::Negative(inner) => {
                let minus = Scalar {
                    expr: self.arena.number(-1.0),
                    dimension: Some(Dimension::NUMBER),
                    shape: Shape::Other,
                };
                let inner = self.value(inner)?;
                self.product(Value::Scalar(minus), inner, expression.span)
            }
            Term::Vector(coordinates) => self.triple(coordinates, expression.span),
            Term::Binary(operator, sides) => {
                if *operator == Operator::Arrow {
                    let (from, to) = (self.point(&sides[0])?, self.point(&sides[1])?);
                    return Ok(Value::Vector(self.difference(&to, &from)));
                }
                let (left, right) = (self.value(&sides[0])?, self.value(&sides[1])?);
                match operator {
                    Operator::Add => self.sum(1.0, left, right, expression.span),
                    Operator::Subtract => self.sum(-1.0, left, right, expression.span),
                    Operator::Multiply => self.product(left, right, expression.span),
                    Operator::Divide => self.quotient(left, right, expression.span),
                    _ => self.power(left, right, expression.span),
                }
            }
        }
    }

    fn name(&mut self, name: &str, span: Span) -> CompileResult<Value> {
        if let Some(joint) = self.find_joint(name, span)? {
            return Ok(Value::Vector(Vector::point(Arrow::place(joint))));
        }
        if let Some(value) = self.names.get(name) {
            return Ok(value.clone());
        }
        let Some((before, last)) = name.rsplit_once('.') else { return Err(self.unknown(name, span, false)) };
        if DofKind::from_suffix(last).is_some() {
            let dof = self.dof(&Expression { term: Term::Name(name.to_owned()), span })?;
            let is_angle = self.skeleton.dofs()[dof].is_rotation();
            let dimension = Some(if is_angle { Dimension::ANGLE } else { Dimension::LENGTH });
            return Ok(Value::Scalar(Scalar {
                expr: self.arena.symbol(dof),
                dimension,
                shape: Shape::Other,
            }));
        }
        match (["x", "y", "z"].iter().position(|axis| *axis == last), self.name(before, span)) {
            (Some(axis), Ok(Value::Vector(vector))) => Ok(self.coordinate(&vector, axis)),
            (Some(_), Ok(other)) => {
                Err(Diagnostic::error(span, format!("{} has no coordinates", other.kind())))
            }
            (Some(_), Err(error)) => Err(error),
            (None, _) => Err(self.unknown(name, span, false)),
        }
    }

    pub fn coordinate(&mut self, vector: &Vector, axis: usize) -> Value {
        let expr = self.coordinates(vector)[axis];
        Value::Scalar(Scalar { expr, dimension: vector.dimension, shape: Shape::Other })
    }

    fn triple(&mut self, coordinates: &[Expression; 3], span: Span) -> CompileResult<Value> {
        let scalars =
            [self.scalar(&coordinates[0])?, self.scalar(&coordinates[1])?, self.scalar(&coordinates[2])?];
        let dimension = scalars.iter().find_map(|scalar| scalar.dimension);
        let exprs = match dimension {
            Some(d) => [
                self.settle(scalars[0], d, span)?,
                self.settle(scalars[1], d, span)?,
                self.settle(scalars[2], d, span)?,
            ],
            None => scalars.map(|scalar| scalar.expr),
        };
        let numbers = exprs.map(|expr| self.arena.as_number(expr));
        let body = match numbers {
            [Some(x), Some(y), Some(z)] => VectorBody::Arrow(Arrow::constant(DVec3::new(x, y, z))),
            _ => VectorBody::Any(exprs),
        };
        Ok(Value::Vector(Vector { body, dimension, points: None }))
    }

    fn call(&mut self, name: &str, arguments: &[Expression], span: Span) -> CompileResult<Value> {
        let Some(function) = find_function(name) else {
            let hint = suggest(name, FUNCTIONS.iter().map(|function| function.name))
                .map_or(String::new(), |meant| format!("; did you mean `{meant}`?"));
            return Err(Diagnostic::error(span, format!("unknown function `{name}`{hint}")));
        };
        if arguments.len() != function.arguments.len() {
            let usage = format!("{}({})", function.name, function.arguments.join(", "));
            return Err(Diagnostic::error(
                span,
                format!("`{name}` has {} arguments here; write {usage}", arguments.len()),
            ));
        }
        self.function(function.name, arguments, span)
    }

    /// A number.
    pub fn scalar(&mut self, expression: &Expression) -> CompileResult<Scalar> {
        match self.value(expression)? {
            Value::Scalar(scalar) => Ok(scalar),
            other => Err(Diagnostic::error(
                expression.span,
                format!("this is {}, but a number is needed", other.kind()),
            )),
        }
    }

    /// A number of a dimension; bare ones get its unit.
    pub fn measured(&mut self, expression: &Expression, dimension: Dimension) -> CompileResult<Expr> {
        let scalar = self.scalar(expression)?;
        self.settle(scalar, dimension, expression.span)
    }

    /// The same if it must not depend on the pose.
    pub fn constant(&mut self, expression: &Expression, dimension: Dimension) -> CompileResult<f64> {
        let expr = self.measured(expression, dimension)?;
        self.arena
            .as_number(expr)
            .ok_or_else(|| Diagnostic::error(expression.span, "this must not depend on the pose"))
    }

    pub fn settle(&mut self, scalar: Scalar, dimension: Dimension, span: Span) -> CompileResult<Expr> {
        match scalar.dimension {
            Some(other) if other == dimension => Ok(scalar.expr),
            _ if self.arena.as_number(scalar.expr) == Some(0.0) => Ok(scalar.expr),
            Some(other) => {
                let message = format!("this is {}, but {} is needed", other.describe(), dimension.describe());
                Err(Diagnostic::error(span, message))
            }
            None => {
                let factor = self.arena.number(dimension.bare_factor());
                Ok(self.arena.mul(factor, scalar.expr))
            }
        }
    }

    pub fn point(&mut self, expression: &Expression) -> CompileResult<Vector> {
        match self.value(expression)? {
            Value::Vector(vector) if vector.is_point() => Ok(self.in_metres(vector)),
            other => Err(Diagnostic::error(
                expression.span,
                format!("this is {}, but a point is needed", other.kind()),
            )),
        }
    }

    /// Several points; functions such as `toes` give more than one.
    pub fn points(&mut self, expression: &Expression) -> CompileResult<Vec<Vector>> {
        match self.value(expression)? {
            Value::Points(points) => Ok(points),
            _ => Ok(vec![self.point(expression)?]),
        }
    }

    /// A vector whose length does not matter, but must not be zero.
    pub fn direction(&mut self, expression: &Expression) -> CompileResult<Vector> {
        match self.value(expression)? {
            Value::Vector(vector) if vector.is_vector() => self.checked(vector, expression.span),
            other => {
                let hint = "write A -> B";
                Err(Diagnostic::error(
                    expression.span,
                    format!("this is {}, but a direction is needed; {hint}", other.kind()),
                ))
            }
        }
    }

    fn checked(&mut self, vector: Vector, span: Span) -> CompileResult<Vector> {
        let is_null = match &vector.body {
            VectorBody::Arrow(arrow) => self.is_always_zero(arrow),
            VectorBody::Any(coordinates) => coordinates.iter().all(|c| self.arena.as_number(*c) == Some(0.0)),
        };
        if is_null {
            return Err(Diagnostic::error(span, "this direction has no length; its two points are the same"));
        }
        Ok(vector)
    }

    /// Whether it is zero whatever the pose: at rest and at another one.
    fn is_always_zero(&self, arrow: &Arrow) -> bool {
        if arrow.is_constant() {
            return arrow.constant.length() < 1e-12;
        }
        let kinematics =
            crate::Kinematics::of_joints(self.skeleton, arrow.terms.iter().map(|(c, _)| c.joint()));
        let mut frames = crate::SkeletonFrames::default();
        [0.0, 0.37].iter().all(|turn| {
            let values: Vec<f64> = self
                .skeleton
                .rest_values()
                .iter()
                .enumerate()
                .map(|(i, x)| x + turn * (1.0 + 0.1 * i as f64))
                .collect();
            kinematics.compute(&values, &mut frames);
            arrow.at(&frames).length() < 1e-9
        })
    }

    /// A plane, or the ground.
    pub fn solid(&mut self, expression: &Expression) -> CompileResult<Solid> {
        match self.value(expression)? {
            Value::Ground(site) => Ok(Solid::Ground(site)),
            _ => self.plane(expression).map(Solid::Flat),
        }
    }

    pub fn plane(&mut self, expression: &Expression) -> CompileResult<Flat> {
        match self.value(expression)? {
            Value::Plane(plane) => Ok(plane),
            other => {
                let message = format!(
                    "this is {}, but a plane is needed; define one with `plane NAME = through POINT normal DIRECTION`",
                    other.kind()
                );
                Err(Diagnostic::error(expression.span, message))
            }
        }
    }

    /// Bare coordinates of points are centimetres.
    pub fn in_metres(&mut self, vector: Vector) -> Vector {
        match (vector.dimension, &vector.body) {
            (None, VectorBody::Arrow(arrow)) => Vector {
                body: VectorBody::Arrow(arrow.scaled(0.01)),
                dimension: Some(Dimension::LENGTH),
                points: Some(1.0),
            },
            (None, VectorBody::Any(coordinates)) => {
                let factor = self.arena.number(0.01);
                let body = VectorBody::Any(coordinates.map(|c| self.arena.mul(factor, c)));
                Vector { body, dimension: Some(Dimension::LENGTH), points: Some(1.0) }
            }
            _ => vector,
        }
    }
}
