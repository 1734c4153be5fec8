//! Compiles lines into rules: blocks of equations (`verbs`) with weights.

use super::{
    Aim, Block, ClipRule, CompileParams, EquationKind, Measure, Quantity, Rule,
    arrow::Arrow,
    scope::{CompileResult, Scope},
    value::{Flat, Value, Vector},
};
use crate::language::{Argument, Diagnostic, Dimension, Expression, FormId, Relation, Statement, Term};
use glam::DVec3;

/// Metres that an error of one radian counts as, so that directions and distances have similar weights.
pub(super) const METRES_PER_RADIAN: f64 = 0.1;

pub(super) struct Compiler<'a> {
    pub scope: Scope<'a>,
    pub rules: Vec<Rule>,
    pub clip_rules: Vec<ClipRule>,
    pub blocks: Vec<Block>,
    pub keep: Vec<f64>,
    pub diagnostics: Vec<Diagnostic>,
    pub params: CompileParams,
}

/// Result of compiling a verb: blocks with a sign, and how they are measured.
pub(super) struct CompiledRule {
    pub kinds: Vec<EquationKind>,
    pub aim: Aim,
    pub quantity: Quantity,
    pub measure: Measure,
    /// −1 turns "at least" into "at most".
    pub sign: f64,
}

impl CompiledRule {
    pub fn lengths(kinds: Vec<EquationKind>) -> Self {
        Self { kinds, aim: Aim::Zero, quantity: Quantity::Length, measure: Measure::Norm, sign: 1.0 }
    }

    pub fn angles(kinds: Vec<EquationKind>, measure: Measure) -> Self {
        Self { quantity: Quantity::Angle, measure, ..Self::lengths(kinds) }
    }

    pub fn related(self, relation: Relation) -> Self {
        match relation {
            Relation::Equal => self,
            Relation::AtMost => Self { aim: Aim::AtMostZero, ..self },
            Relation::AtLeast => Self { aim: Aim::AtMostZero, sign: -1.0, ..self },
        }
    }
}

impl<'a> Compiler<'a> {
    pub fn new(scope: Scope<'a>, params: CompileParams) -> Self {
        let keep = vec![1.0; scope.skeleton.n_dofs()];
        Self {
            scope,
            rules: Vec::new(),
            clip_rules: Vec::new(),
            blocks: Vec::new(),
            keep,
            diagnostics: Vec::new(),
            params,
        }
    }

    pub fn statement(&mut self, statement: &Statement) -> CompileResult<()> {
        use FormId as Id;
        match statement.form.id {
            Id::Use | Id::Free | Id::Lock | Id::Range | Id::Case => return Ok(()),
            Id::Point | Id::Vector | Id::Number | Id::Plane | Id::Line => return self.definition(statement),
            Id::Keep => return self.keep(statement),
            Id::Hold | Id::Limit => return self.clip_rule(statement),
            _ => {}
        }
        let made = match self.position_rule(statement)? {
            Some(made) => Some(made),
            None => self.direction_rule(statement)?,
        };
        match made {
            Some(made) => self.finish(statement, made),
            None => Err(Diagnostic::error(statement.span, "this line is not understood")),
        }
    }

    /// Rules about points and distances.
    fn position_rule(&mut self, statement: &Statement) -> CompileResult<Option<CompiledRule>> {
        use FormId as Id;
        Ok(Some(match (statement.form.id, statement.arguments.as_slice()) {
            (Id::Pin, [Argument::Expression(a), Argument::Expression(b)]) => self.pin(a, b)?,
            (Id::PutOn, [Argument::Expression(a), Argument::Expression(b)]) => self.put_on(a, b)?,
            (
                Id::PutSide,
                [Argument::Expression(a), Argument::Word(side), Argument::Expression(plane), by @ ..],
            ) => {
                let (point, solid) = (self.scope.point(a)?, self.scope.solid(plane)?);
                self.side(&[point], (&solid, a.span), *side == 0, by)?
            }
            (
                Id::PutBehind,
                [
                    Argument::Expression(a),
                    Argument::Word(side),
                    Argument::Expression(b),
                    by @ ..,
                    Argument::Expression(toward),
                ],
            ) => self.put_behind([a, b], *side == 0, by, toward)?,
            (id @ (Id::Above | Id::Below), [Argument::List(points), Argument::Expression(plane)]) => {
                let solid = self.scope.solid(plane)?;
                let mut all = Vec::new();
                for point in points {
                    all.extend(self.scope.points(point)?);
                }
                self.side(&all, (&solid, statement.span), id == Id::Above, &[])?
            }
            (
                Id::Distance,
                [
                    Argument::Expression(a),
                    Argument::Expression(b),
                    Argument::Relation(relation),
                    Argument::Expression(length),
                ],
            ) => self.distance(a, b, *relation, length)?,
            (
                Id::Ratio,
                [
                    Argument::Expression(a),
                    Argument::Expression(b),
                    Argument::Expression(c),
                    Argument::Expression(d),
                    Argument::Relation(relation),
                    Argument::Expression(times),
                ],
            ) => {
                let (first, second) = (self.between(a, b)?, self.between(c, d)?);
                let times = self.scope.measured(times, Dimension::NUMBER)?;
                let (first, second) = (self.scope.length(&first), self.scope.length(&second));
                let product = self.scope.arena.mul(times, second);
                let expr = self.scope.arena.sub(first, product);
                CompiledRule::lengths(vec![EquationKind::Scalar { expr }]).related(*relation)
            }
            (
                id @ (Id::Midpoint | Id::Halfway),
                [Argument::Expression(p), Argument::Expression(a), Argument::Expression(b)],
            ) => {
                let (point, first, second) =
                    (self.scope.point(p)?, self.scope.point(a)?, self.scope.point(b)?);
                let middle = self.scope.middle(&first, &second);
                let off = self.scope.difference(&point, &middle);
                if id == Id::Midpoint {
                    self.vanish(&off)
                } else {
                    let between = self.between(a, b)?;
                    self.split(&off, &between)
                }
            }
            (Id::Mirror, [Argument::Expression(a), Argument::Expression(b), Argument::Expression(plane)]) => {
                self.mirror(a, b, plane)?
            }
            (Id::Over, [Argument::Expression(point), Argument::List(corners), by @ ..]) => {
                self.over(point, corners, by)?
            }
            (
                Id::Clear,
                [
                    Argument::Expression(a),
                    Argument::Expression(b),
                    Argument::Expression(c),
                    Argument::Expression(d),
                    by @ ..,
                ],
            ) => self.clear([a, b, c, d], by)?,
            _ => return Ok(None),
        }))
    }

    /// Rules about directions and angles, objectives and free equations.
    fn direction_rule(&mut self, statement: &Statement) -> CompileResult<Option<CompiledRule>> {
        use FormId as Id;
        Ok(Some(match (statement.form.id, statement.arguments.as_slice()) {
            (
                id @ (Id::Aim | Id::Parallel | Id::Perpendicular),
                [Argument::Expression(a), Argument::Expression(b)],
            ) => {
                let (a, b) = (self.scope.direction(a)?, self.scope.direction(b)?);
                match id {
                    Id::Aim => self.aim(&a, &b),
                    Id::Parallel => self.parallel(&a, &b),
                    _ => self.perpendicular(&a, &b),
                }
            }
            (
                Id::Bend,
                [
                    Argument::Expression(a),
                    Argument::Expression(b),
                    Argument::Expression(c),
                    Argument::Relation(relation),
                    Argument::Expression(angle),
                ],
            ) => {
                let (first, second) = (self.between(b, a)?, self.between(b, c)?);
                self.angle(&first, &second, *relation, angle)?
            }
            (
                Id::Angle,
                [
                    Argument::Expression(a),
                    Argument::Expression(b),
                    Argument::Relation(relation),
                    Argument::Expression(angle),
                ],
            ) => {
                let (a, b) = (self.scope.direction(a)?, self.scope.direction(b)?);
                self.angle(&a, &b, *relation, angle)?
            }
            (Id::Flat, [Argument::Expression(joint), Argument::Expression(plane)]) => {
                let (joint, plane) = (self.scope.joint(joint)?, self.scope.plane(plane)?);
                let up = Vector::direction(Arrow::direction(self.scope.skeleton, joint, DVec3::Y));
                self.aim(&up, &plane.direction)
            }
            (Id::Look, [Argument::Expression(joint), Argument::Expression(at)]) => {
                let to = self.between(joint, at)?;
                let joint = self.scope.joint(joint)?;
                let forward = Vector::direction(Arrow::direction(self.scope.skeleton, joint, DVec3::Z));
                self.aim(&forward, &to)
            }
            (id @ (Id::Maximize | Id::Minimize), [Argument::Expression(value)]) => {
                let scalar = self.scope.scalar(value)?;
                let sign = if id == Id::Maximize { -1.0 } else { 1.0 };
                let quantity = quantity(scalar.dimension.unwrap_or(Dimension::NUMBER));
                CompiledRule {
                    aim: Aim::Objective,
                    quantity,
                    sign,
                    ..CompiledRule::lengths(vec![EquationKind::Scalar { expr: scalar.expr }])
                }
            }
            (
                Id::Equation,
                [Argument::Expression(a), Argument::Relation(relation), Argument::Expression(b)],
            ) => self.equation(a, *relation, b, statement.span)?,
            _ => return Ok(None),
        }))
    }

    fn definition(&mut self, statement: &Statement) -> CompileResult<()> {
        let defined = self.define(statement);
        if let (Err(_), [Argument::Name(Expression { term: Term::Name(name), .. }), ..]) =
            (&defined, statement.arguments.as_slice())
        {
            self.scope.broken.push(name.clone());
        }
        defined
    }

    fn define(&mut self, statement: &Statement) -> CompileResult<()> {
        let [Argument::Name(Expression { term: Term::Name(name), span }), rest @ ..] =
            statement.arguments.as_slice()
        else {
            return Ok(());
        };
        let value = match (statement.form.id, rest) {
            (FormId::Point, [Argument::Expression(point)]) => Value::Vector(self.scope.point(point)?),
            (FormId::Vector, [Argument::Expression(vector)]) => Value::Vector(self.scope.direction(vector)?),
            (FormId::Number, [Argument::Expression(number)]) => Value::Scalar(self.scope.scalar(number)?),
            (id, [Argument::Expression(through), Argument::Expression(direction)]) => {
                let through = self.scope.point(through)?;
                let direction = self.scope.direction(direction)?;
                let flat = Flat { through, direction: self.scope.unit(&direction) };
                if id == FormId::Plane { Value::Plane(flat) } else { Value::Line(flat) }
            }
            _ => return Ok(()),
        };
        self.scope.define(name, *span, value)
    }

    /// Vector between two different points.
    pub(super) fn between(&mut self, from: &Expression, to: &Expression) -> CompileResult<Vector> {
        let arrow = crate::language::Term::Binary(
            crate::language::Operator::Arrow,
            Box::new([from.clone(), to.clone()]),
        );
        self.scope.direction(&Expression { term: arrow, span: from.span.to(to.span) })
    }

    fn clear(&mut self, ends: [&Expression; 4], by: &[Argument]) -> CompileResult<CompiledRule> {
        let (relation, length) = self.by(by)?;
        let mut arrows = [0; 4];
        for (arrow, end) in arrows.iter_mut().zip(ends) {
            let point = self.scope.point(end)?;
            *arrow = self.scope.arrow(&point).ok_or_else(|| {
                Diagnostic::error(end.span, "an end of a segment must be a joint, a marker or between them")
            })?;
        }
        Ok(CompiledRule::lengths(vec![EquationKind::Clear { ends: arrows, by: length }]).related(relation))
    }

    fn keep(&mut self, statement: &Statement) -> CompileResult<()> {
        let Some(Argument::Expression(what)) = statement.arguments.first() else { return Ok(()) };
        let weight = match &statement.suffixes.weight {
            Some(weight) => self.scope.constant(weight, Dimension::NUMBER)?,
            None => 1.0,
        };
        if weight <= 0.0 {
            let span = statement.suffixes.weight.as_ref().map_or(statement.span, |weight| weight.span);
            return Err(Diagnostic::error(span, "this weight must be above zero"));
        }
        let dofs = match &what.term {
            crate::language::Term::Name(name) if name == "pose" => 0..self.keep.len(),
            crate::language::Term::Name(name) if name.contains('.') && self.scope.joint(what).is_err() => {
                let dof = self.scope.dof(what)?;
                dof..dof + 1
            }
            _ => self.scope.skeleton.joints()[self.scope.joint(what)?].dofs.clone(),
        };
        self.keep[dofs].iter_mut().for_each(|keep| *keep *= weight);
        Ok(())
    }

    fn clip_rule(&mut self, statement: &Statement) -> CompileResult<()> {
        let (joint, is_acceleration, limit) = match statement.arguments.as_slice() {
            [Argument::Expression(joint)] => (joint, false, None),
            [
                Argument::Word(word),
                Argument::Expression(joint),
                Argument::Relation(relation),
                Argument::Expression(limit),
            ] => {
                if *relation != Relation::AtMost {
                    return Err(Diagnostic::error(statement.span, "a limit is written with `<=`"));
                }
                let dimension = Dimension { time: -1 - *word as i8, ..Dimension::LENGTH };
                (joint, *word == 1, Some(self.scope.constant(limit, dimension)?))
            }
            _ => return Ok(()),
        };
        let joint = self.scope.joint(joint)?;
        let (during, fade) = self.frames(statement)?;
        self.clip_rules.push(ClipRule {
            span: statement.span,
            form: statement.form.id,
            joint,
            limit,
            is_acceleration,
            during,
            fade,
        });
        let note = "this rule is about a clip and left out of a single pose";
        self.diagnostics.push(Diagnostic::note(statement.span, note));
        Ok(())
    }

    /// First and last frame, and the frames of fading.
    fn frames(&mut self, statement: &Statement) -> CompileResult<(Option<[f64; 2]>, f64)> {
        let frames = Dimension { is_frames: true, ..Dimension::NUMBER };
        let during = match &statement.suffixes.during {
            Some((first, last)) => {
                let [from, to] = [self.scope.constant(first, frames)?, self.scope.constant(last, frames)?];
                if from > to {
                    return Err(Diagnostic::error(first.span.to(last.span), "these frames run backwards"));
                }
                Some([from, to])
            }
            None => None,
        };
        let fade = match &statement.suffixes.fade {
            Some(fade) => self.scope.constant(fade, frames)?,
            None => 0.0,
        };
        Ok((during, fade))
    }

    fn finish(&mut self, statement: &Statement, made: CompiledRule) -> CompileResult<()> {
        let suffixes = &statement.suffixes;
        let weight = match &suffixes.weight {
            Some(weight) => self.scope.constant(weight, Dimension::NUMBER)?,
            None => 1.0,
        };
        let priority = match &suffixes.priority {
            Some(priority) => self.scope.constant(priority, Dimension::NUMBER)?,
            None => 1.0,
        };
        let at = |part: &Option<Expression>| part.as_ref().map_or(statement.span, |part| part.span);
        if !(weight > 0.0 && weight.is_finite()) {
            return Err(Diagnostic::error(at(&suffixes.weight), "a weight must be above zero"));
        }
        if priority.fract() != 0.0 || !(1.0..=9.0).contains(&priority) {
            return Err(Diagnostic::error(
                at(&suffixes.priority),
                "a priority is a whole number from 1 to 9",
            ));
        }
        let dimension = if made.quantity == Quantity::Angle { Dimension::ANGLE } else { Dimension::LENGTH };
        let soft = match &suffixes.soft {
            Some(soft) => Some(self.scope.constant(soft, dimension)?),
            None => None,
        };
        if soft.is_some_and(|soft| soft <= 0.0) {
            return Err(Diagnostic::error(
                at(&suffixes.soft),
                "`soft` needs a length or an angle above zero",
            ));
        }
        if !self.is_active(statement)? {
            return Ok(());
        }
        let scale = match made.quantity {
            Quantity::Length => 1.0,
            Quantity::Angle => METRES_PER_RADIAN,
            Quantity::Other => 1.0,
        };
        let rule = self.rules.len();
        self.rules.push(Rule {
            span: statement.span,
            case: statement.case,
            form: statement.form.id,
            weight,
            soft,
            priority: priority as u32,
            aim: made.aim,
            quantity: made.quantity,
            measure: made.measure,
            scale,
        });
        let scale = scale * weight * made.sign;
        self.blocks.extend(made.kinds.into_iter().map(|kind| Block { rule, kind, scale }));
        Ok(())
    }

    /// Whether a rule holds in this pose; if it is left out, say so.
    fn is_active(&mut self, statement: &Statement) -> CompileResult<bool> {
        let (during, _) = self.frames(statement)?;
        if let Some(joint) = &statement.suffixes.contact {
            self.scope.joint(joint)?;
            let note =
                "what touches the ground is only known in a clip; this rule is left out of a single pose";
            self.diagnostics.push(Diagnostic::note(statement.span, note));
            return Ok(false);
        }
        Ok(match (during, self.params.frame) {
            (None, _) => true,
            (Some([from, to]), Some(frame)) => (from..=to).contains(&frame),
            (Some(_), None) => {
                let note = "the pose has no frame number; this rule is left out";
                self.diagnostics.push(Diagnostic::note(statement.span, note));
                false
            }
        })
    }
}

pub(super) fn quantity(dimension: Dimension) -> Quantity {
    match dimension {
        d if d == Dimension::LENGTH => Quantity::Length,
        d if d == Dimension::ANGLE => Quantity::Angle,
        _ => Quantity::Other,
    }
}
