//! Rules for a whole clip: in which frames each line holds, and ranges of joints.

use super::{
    limits::Limit,
    rules::{FrameRule, RuleKind},
};
use crate::{
    ConstrainError, Skeleton,
    compile::{CompileParams, Problem, Scene, has_errors},
    equations::Equations,
    language::{Diagnostic, Expression, FormId, Script, Severity, Statement, Term, suggest},
};
use sinew_geom::{
    Dof, DofKind, Rig,
    path::{Ground, PlacedGround},
};
use std::ops::Range;

/// Rules of a text, ready for a clip.
#[derive(Debug, Clone)]
pub struct ClipRules {
    /// Rules with their frames.
    pub rules: Vec<FrameRule>,
    /// The rig with the ranges of the text.
    pub rig: Rig,
    /// All diagnostics; if there are errors, nothing should be solved.
    pub diagnostics: Vec<Diagnostic>,
}

impl ClipRules {
    /// Compile a text for a rig. Lines with errors are left out and reported.
    ///
    /// # Errors
    /// A rig that cannot be posed.
    pub fn new(script: &Script, rig: &Rig, scene: &Scene) -> Result<Self, ConstrainError> {
        let skeleton = Skeleton::from_rig(rig)?;
        // Every clip has a ground; its placement is known when the clip is fitted.
        let scene = &Scene { ground: Some(PlacedGround::of(Ground::default())), ..scene.clone() };
        let params = CompileParams { frame: Some(0.0), ..CompileParams::default() };
        // All lines together for diagnostics, then each line alone for its frames.
        let (whole, mut diagnostics) = Problem::new(script, &skeleton, scene, &params);
        diagnostics.retain(|diagnostic| diagnostic.severity > Severity::Note);
        let mut made = Self { rules: Vec::new(), rig: with_ranges(rig, whole.skeleton())?, diagnostics };
        if !has_errors(&made.diagnostics) {
            for statement in &script.statements {
                made.add(script, statement, whole.skeleton(), scene);
            }
        }
        Ok(made)
    }

    fn add(&mut self, script: &Script, statement: &Statement, skeleton: &Skeleton, scene: &Scene) {
        if statement.form.id == FormId::Keep {
            let message = "a clip always stays near its source; the line is left out";
            self.diagnostics.push(Diagnostic::warning(statement.span, message));
        }
        if is_definition(statement.form.id) {
            return;
        }
        match compile(script, statement, skeleton, scene) {
            Ok(rules) => self.rules.extend(rules),
            Err(diagnostic) => self.diagnostics.push(diagnostic),
        }
    }
}

fn is_definition(id: FormId) -> bool {
    use FormId as Id;
    let definitions = [Id::Use, Id::Free, Id::Lock, Id::Range, Id::Case, Id::Keep];
    definitions.contains(&id) || is_name(id)
}

fn is_name(id: FormId) -> bool {
    matches!(id, FormId::Point | FormId::Vector | FormId::Number | FormId::Plane | FormId::Line)
}

/// One line of a text, with the names that others define.
fn compile(
    script: &Script,
    statement: &Statement,
    skeleton: &Skeleton,
    scene: &Scene,
) -> Result<Vec<FrameRule>, Diagnostic> {
    let mut alone = statement.clone();
    (alone.suffixes.during, alone.suffixes.contact) = (None, None);
    let names = script.statements.iter().filter(|other| is_name(other.form.id));
    let statements = names.cloned().chain([alone]).collect();
    let one = Script { statements, cases: script.cases.clone() };
    let (problem, _) = Problem::new(&one, skeleton, scene, &CompileParams::default());
    let span = statement.span;
    let mut rules = Vec::new();
    for held in problem.clip_rules() {
        let what = match held.limit {
            Some(most) if most < 0.0 => {
                return Err(Diagnostic::error(span, "a limit must not be negative; give a positive one"));
            }
            Some(most) => {
                RuleKind::Limit(Limit { joint: held.joint, most, is_acceleration: held.is_acceleration })
            }
            None => RuleKind::Hold(Box::new(Equations::hold(held.joint))),
        };
        rules.push(FrameRule::new(what, 0..usize::MAX, span));
    }
    if !problem.rules().is_empty() {
        rules.push(FrameRule::of_problem(&problem, 0..usize::MAX, span));
    }
    let frames = during(statement)?;
    let fade = statement.suffixes.fade.as_ref().map_or(Ok(0.0), number)?;
    let contact =
        statement.suffixes.contact.as_ref().map(|joint| named_joint(joint, skeleton)).transpose()?;
    for rule in &mut rules {
        (rule.frames, rule.fade, rule.contact) = (frames.clone(), fade, contact);
    }
    Ok(rules)
}

/// Frames of a line, the last one included as it is written.
fn during(statement: &Statement) -> Result<Range<usize>, Diagnostic> {
    let Some((first, last)) = &statement.suffixes.during else { return Ok(0..usize::MAX) };
    let (from, to) = (number(first)?, number(last)?);
    if !(from >= 0.0 && to >= from && to < 1e9) {
        return Err(Diagnostic::error(
            first.span.to(last.span),
            "frames count from 0 and do not run backwards",
        ));
    }
    Ok(from.ceil() as usize..to.floor() as usize + 1)
}

fn number(expression: &Expression) -> Result<f64, Diagnostic> {
    match expression.term {
        Term::Number(number, _) => Ok(number),
        _ => Err(Diagnostic::error(expression.span, "give the number of a frame")),
    }
}

fn named_joint(expression: &Expression, skeleton: &Skeleton) -> Result<usize, Diagnostic> {
    match &expression.term {
        Term::Name(name) => skeleton.find(name).ok_or_else(|| {
            let near = suggest(name, skeleton.joints().iter().map(|joint| joint.name.as_str()));
            let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            Diagnostic::error(expression.span, format!("there is no joint `{name}`{hint}"))
        }),
        _ => Err(Diagnostic::error(expression.span, "give the name of a joint")),
    }
}

/// A rig whose joints turn within the ranges of a skeleton made of it. Joints that get one can turn about all their
/// axes.
fn with_ranges(rig: &Rig, skeleton: &Skeleton) -> Result<Rig, ConstrainError> {
    let mut joints = rig.joints().to_vec();
    for (joint, of) in joints.iter_mut().zip(skeleton.joints()) {
        let dofs = &skeleton.dofs()[of.dofs.clone()];
        let ranges = dofs.iter().filter(|f| f.is_rotation() && f.range.iter().any(|x| x.is_finite()));
        for limited in ranges {
            if joint.dofs.iter().all(|dof| dof.kind < DofKind::Rx) {
                let free = [f64::NEG_INFINITY, f64::INFINITY];
                joint.dofs.extend(DofKind::ALL[3..].iter().map(|&kind| Dof { kind, range: free }));
            }
            for dof in joint.dofs.iter_mut().filter(|dof| dof.kind == limited.kind) {
                dof.range = limited.range;
            }
        }
    }
    Ok(Rig::new(joints)?)
}
