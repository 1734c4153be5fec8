//! Rules into equations over a skeleton.
//!
//! ```text
//! Script ─► Scope: names and expressions ─► rules: verbs become blocks of equations ─► Problem
//! ```

mod algebra;
mod arrow;
mod equation;
mod explain;
mod rules;
mod scope;
mod symbols;
mod value;
mod verbs;

pub(crate) use arrow::{Arrow, Carrier};
pub use symbols::SymbolicSystem;

use crate::{
    Skeleton,
    language::{Argument, Diagnostic, Dimension, FormId, Script, Severity, Span, Statement},
    symbolic::{Arena, Expr},
};
use glam::DVec3;
use scope::Scope;
use sinew_geom::path::PlacedGround;
use std::sync::Arc;

/// Surroundings of the skeleton.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scene {
    /// Named points, in metres.
    pub markers: Vec<(String, DVec3)>,
    /// Named planes: a point and the normal, which points out of what is solid.
    pub planes: Vec<(String, [DVec3; 2])>,
    /// The placed ground, which rules call `Ground`.
    pub ground: Option<PlacedGround>,
}

/// How rules are compiled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CompileParams {
    /// Replace equations that are hard to solve by others with the same solutions (default `true`).
    pub rewrite: bool,
    /// Frame of the clip the pose is of; rules with `during` are left out without one (default none).
    pub frame: Option<f64>,
}

impl Default for CompileParams {
    fn default() -> Self {
        Self { rewrite: true, frame: None }
    }
}

/// One rule as compiled.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Where it was written.
    pub span: Span,
    /// Index of its case.
    pub case: Option<usize>,
    /// What kind of rule.
    pub form: FormId,
    /// Weight.
    pub weight: f64,
    /// Tolerance, in its unit.
    pub soft: Option<f64>,
    /// 1 is the highest.
    pub priority: u32,
    /// Whether its value must vanish, must not exceed zero, or is to be minimised.
    pub aim: Aim,
    /// What its residual measures.
    pub quantity: Quantity,
    /// How its residual follows from its equations.
    pub(crate) measure: Measure,
    /// Equations are residuals in metres times this.
    pub(crate) scale: f64,
}

/// What a rule requires of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aim {
    /// Zero.
    Zero,
    /// At most zero.
    AtMostZero,
    /// To be minimised.
    Objective,
}

/// What a residual measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Metres.
    Length,
    /// Radians.
    Angle,
    /// Something else, such as square metres.
    Other,
}

/// How the norm `n` of a rule's equations, divided by weight and scale, becomes its residual.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    Norm,
    /// Difference of unit vectors: the angle is `2 asin(n/2)`.
    Chord,
    /// Sine of the angle.
    Sine,
}

/// Equations that belong together, in closed form where there is one. `a`, `b`, … are indices of arrows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum EquationKind {
    /// `a = 0`, three rows.
    Zero { a: usize },
    /// `a/|a| = b/|b|`, three rows of rank two.
    Unit { a: usize, b: usize },
    /// `|a| = target`.
    Length { a: usize, target: f64 },
    /// `normal · a = offset`.
    Along { a: usize, normal: DVec3, offset: f64 },
    /// `a · b/|b| = 0`.
    Split { a: usize, b: usize },
    /// Distance of the segments from `a` to `b` and from `c` to `d`, up to `by`.
    Clear { ends: [usize; 4], by: f64 },
    /// Height of `a` above (sign 1) or below (−1) the ground, less `by`.
    Height { a: usize, site: Arc<PlacedGround>, sign: f64, by: f64 },
    /// Any expression of the arena.
    Scalar { expr: Expr },
}

impl EquationKind {
    pub fn n_rows(&self) -> usize {
        match self {
            Self::Zero { .. } | Self::Unit { .. } => 3,
            _ => 1,
        }
    }

    /// The same with other indices of arrows.
    pub fn renumbered(&self, mut new: impl FnMut(usize) -> usize) -> Self {
        let mut kind = self.clone();
        match &mut kind {
            Self::Zero { a } | Self::Length { a, .. } | Self::Along { a, .. } | Self::Height { a, .. } => {
                *a = new(*a);
            }
            Self::Unit { a, b } | Self::Split { a, b } => (*a, *b) = (new(*a), new(*b)),
            Self::Clear { ends, .. } => *ends = ends.map(new),
            Self::Scalar { .. } => {}
        }
        kind
    }
}

/// A kind with its rule and the factor of its rows.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    pub rule: usize,
    pub kind: EquationKind,
    pub scale: f64,
}

/// A rule about several frames, for clips; a single pose leaves it out.
#[derive(Debug, Clone)]
pub struct ClipRule {
    /// Where it was written.
    pub span: Span,
    /// [`FormId::Hold`] or [`FormId::Limit`].
    pub form: FormId,
    /// The joint it is about.
    pub joint: usize,
    /// Of a limit: metres per second, or per second squared.
    pub limit: Option<f64>,
    /// Of a limit: whether it is about acceleration.
    pub is_acceleration: bool,
    /// First and last frame.
    pub during: Option<[f64; 2]>,
    /// Frames over which it fades in and out.
    pub fade: f64,
}

/// Rules on a skeleton, ready to be solved.
#[derive(Debug, Clone)]
pub struct Problem {
    pub(crate) skeleton: Skeleton,
    pub(crate) rules: Vec<Rule>,
    pub(crate) clip_rules: Vec<ClipRule>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) arrows: Vec<Arrow>,
    pub(crate) arena: Arena,
    /// Stiffness of each degree of freedom towards its start, 1 by default.
    pub(crate) keep: Vec<f64>,
}

impl Problem {
    /// Compile a text. Lines with errors are left out.
    pub fn new(
        script: &Script,
        skeleton: &Skeleton,
        scene: &Scene,
        params: &CompileParams,
    ) -> (Self, Vec<Diagnostic>) {
        let mut diagnostics = Vec::new();
        let skeleton = with_dofs(script, skeleton, &mut diagnostics);
        let mut compiler = rules::Compiler::new(Scope::new(&skeleton, scene), *params);
        for statement in &script.statements {
            if let Err(diagnostic) = compiler.statement(statement) {
                compiler.diagnostics.push(diagnostic);
            }
        }
        let rules::Compiler { scope, rules, clip_rules, blocks, keep, diagnostics: found, .. } = compiler;
        let (arena, arrows) = (scope.arena, scope.arrows.list);
        diagnostics.extend(found);
        let problem = Self { skeleton, rules, clip_rules, blocks, arrows, arena, keep };
        problem.report_immovable(&mut diagnostics);
        diagnostics.sort_by_key(|diagnostic| diagnostic.span.start);
        (problem, diagnostics)
    }

    /// The skeleton with the degrees of freedom and ranges of the rules.
    pub fn skeleton(&self) -> &Skeleton {
        &self.skeleton
    }

    /// Rules on a single pose, in order.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Rules about several frames, in order.
    pub fn clip_rules(&self) -> &[ClipRule] {
        &self.clip_rules
    }

    /// Number of equations.
    pub fn n_equations(&self) -> usize {
        self.blocks.iter().map(|block| block.kind.n_rows()).sum()
    }

    /// Indices of the arrows a block uses.
    pub(crate) fn arrows_of(&self, kind: &EquationKind) -> Vec<usize> {
        match kind {
            EquationKind::Zero { a }
            | EquationKind::Length { a, .. }
            | EquationKind::Along { a, .. }
            | EquationKind::Height { a, .. } => {
                vec![*a]
            }
            EquationKind::Unit { a, b } | EquationKind::Split { a, b } => vec![*a, *b],
            EquationKind::Clear { ends, .. } => ends.to_vec(),
            EquationKind::Scalar { expr } => {
                let n = self.skeleton.n_dofs();
                let mut arrows: Vec<usize> =
                    self.arena.symbols(*expr).into_iter().filter(|s| *s >= n).map(|s| (s - n) / 3).collect();
                arrows.dedup();
                arrows
            }
        }
    }

    /// Degrees of freedom that an expression names directly, such as `Knee.rx`.
    pub(crate) fn named_dofs(&self, expr: Expr) -> Vec<usize> {
        self.arena.symbols(expr).into_iter().filter(|s| *s < self.skeleton.n_dofs()).collect()
    }

    /// Degrees of freedom that move what a block is about.
    pub(crate) fn dofs_of(&self, kind: &EquationKind) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        for arrow in self.arrows_of(kind) {
            for (carrier, _) in &self.arrows[arrow].terms {
                found.extend(moving(&self.skeleton, *carrier));
            }
        }
        if let EquationKind::Scalar { expr } = kind {
            found.extend(self.named_dofs(*expr));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn report_immovable(&self, diagnostics: &mut Vec<Diagnostic>) {
        let mut can_move = vec![false; self.rules.len()];
        for block in self.blocks.iter() {
            can_move[block.rule] = can_move[block.rule] || !self.dofs_of(&block.kind).is_empty();
        }
        for (rule, _) in self.rules.iter().zip(&can_move).filter(|(_, can_move)| !**can_move) {
            let message =
                "nothing in this rule can move; give a joint degrees of freedom with `free JOINT: rx …`";
            diagnostics.push(Diagnostic::warning(rule.span, message));
        }
    }
}

/// Degrees of freedom that move what a joint carries: those of its ancestors, its own translations, and, for its
/// axes, its own rotations.
pub(crate) fn moving(skeleton: &Skeleton, carrier: Carrier) -> impl Iterator<Item = usize> + '_ {
    let of = carrier.joint();
    let is_axis = matches!(carrier, Carrier::Axis(..));
    skeleton.ancestry(of).flat_map(move |joint| {
        skeleton.joints()[joint].dofs.clone().filter(move |&dof| {
            let is_rotation = skeleton.dofs()[dof].is_rotation();
            if is_axis { is_rotation } else { joint != of || !is_rotation }
        })
    })
}

/// The skeleton after the definitions of a text: `free`, `lock` and `range` act on all lines.
fn with_dofs(script: &Script, skeleton: &Skeleton, diagnostics: &mut Vec<Diagnostic>) -> Skeleton {
    let mut result = skeleton.clone();
    let changes = |id: FormId| matches!(id, FormId::Free | FormId::Lock);
    for statement in script.statements.iter().filter(|statement| changes(statement.form.id)) {
        match change_dofs(statement, &result) {
            Ok(changed) => result = changed,
            Err(diagnostic) => diagnostics.push(diagnostic),
        }
    }
    for statement in script.statements.iter().filter(|statement| statement.form.id == FormId::Range) {
        if let Err(diagnostic) = change_range(statement, &mut result) {
            diagnostics.push(diagnostic);
        }
    }
    result
}

fn change_dofs(statement: &Statement, skeleton: &Skeleton) -> Result<Skeleton, Diagnostic> {
    let Some(Argument::Expression(joint)) = statement.arguments.first() else { return Ok(skeleton.clone()) };
    let joint = Scope::new(skeleton, &Scene::default()).joint(joint)?;
    match statement.arguments.get(1) {
        Some(Argument::Kinds(kinds)) => Ok(skeleton.with_dofs(joint, kinds)),
        _ => Ok(skeleton.with_dofs(joint, &[])),
    }
}

fn change_range(statement: &Statement, skeleton: &mut Skeleton) -> Result<(), Diagnostic> {
    let (Some(Argument::Expression(dof)), Some(Argument::Range(low, high))) =
        (statement.arguments.first(), statement.arguments.get(1))
    else {
        return Ok(());
    };
    let (dof, range) = {
        let mut scope = Scope::new(skeleton, &Scene::default());
        let dof = scope.dof(dof)?;
        let is_angle = skeleton.dofs()[dof].is_rotation();
        let dimension = if is_angle { Dimension::ANGLE } else { Dimension::LENGTH };
        (dof, [scope.constant(low, dimension)?, scope.constant(high, dimension)?])
    };
    skeleton.set_range(dof, range).map_err(|_| {
        Diagnostic::error(low.span.to(high.span), "this range is empty; write the smaller number first")
    })
}

/// Whether any diagnostic is an error.
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
}
