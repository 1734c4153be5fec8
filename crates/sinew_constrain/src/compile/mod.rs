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
use sinew_geom::path::Site;
use std::sync::Arc;

/// What surrounds the skeleton.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scene {
    /// Named points, in metres.
    pub markers: Vec<(String, DVec3)>,
    /// Named planes: a point and the normal, which points out of what is solid.
    pub planes: Vec<(String, [DVec3; 2])>,
    /// The ground, which rules call `Ground`, where it lies.
    pub ground: Option<Site>,
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
    /// Where it stands.
    pub span: Span,
    /// Index of its case.
    pub case: Option<usize>,
    /// What kind of rule.
    pub form: FormId,
    /// How much it counts.
    pub weight: f64,
    /// By how much it may be missed, in its unit.
    pub soft: Option<f64>,
    /// 1 goes first.
    pub priority: u32,
    /// Whether its value must vanish, must not exceed zero, or is to be as small as possible.
    pub aim: Aim,
    /// What its residual measures.
    pub quantity: Quantity,
    /// How its residual follows from its equations.
    pub(crate) measure: Measure,
    /// Equations are residuals in metres times this.
    pub(crate) scale: f64,
}

/// What a rule wants of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aim {
    /// Zero.
    Zero,
    /// At most zero.
    AtMostZero,
    /// As small as possible.
    Least,
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

/// How the norm `n` of a rule's equations, freed from weight and scale, becomes its residual.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    Norm,
    /// Difference of unit vectors: the angle is `2 asin(n/2)`.
    Chord,
    /// Sine of the angle.
    Sine,
}

/// Equations that belong together, in closed form where there is one. `a`, `b`, … number arrows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
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
    Height { a: usize, site: Arc<Site>, sign: f64, by: f64 },
    /// Any expression of the arena.
    Scalar { expr: Expr },
}

impl Kind {
    pub fn n_rows(&self) -> usize {
        match self {
            Self::Zero { .. } | Self::Unit { .. } => 3,
            _ => 1,
        }
    }

    /// The same about arrows with other numbers.
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

/// A kind with the rule it serves and what its rows are multiplied by.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    pub rule: usize,
    pub kind: Kind,
    pub scale: f64,
}

/// A rule about several frames, for clips; a single pose leaves it out.
#[derive(Debug, Clone)]
pub struct ClipRule {
    /// Where it stands.
    pub span: Span,
    /// [`FormId::Hold`] or [`FormId::Limit`].
    pub form: FormId,
    /// The joint it is about.
    pub bone: usize,
    /// Of a limit: metres a second, or a second squared.
    pub limit: Option<f64>,
    /// Of a limit: whether it is about acceleration.
    pub is_acceleration: bool,
    /// First and last frame.
    pub during: Option<[f64; 2]>,
    /// Frames over which it comes and goes.
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
    /// How firmly each degree of freedom stays near its start, 1 by default.
    pub(crate) keep: Vec<f64>,
}

impl Problem {
    /// Compile a text. Lines with errors are left out; the problem is that of the others.
    pub fn new(
        script: &Script,
        skeleton: &Skeleton,
        scene: &Scene,
        params: &CompileParams,
    ) -> (Self, Vec<Diagnostic>) {
        let mut diagnostics = Vec::new();
        let skeleton = with_freedom(script, skeleton, &mut diagnostics);
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
        problem.tell_immovable(&mut diagnostics);
        diagnostics.sort_by_key(|diagnostic| diagnostic.span.start);
        (problem, diagnostics)
    }

    /// The skeleton with the freedom and ranges the rules gave it.
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

    /// Numbers of the arrows a block uses.
    pub(crate) fn arrows_of(&self, kind: &Kind) -> Vec<usize> {
        match kind {
            Kind::Zero { a } | Kind::Length { a, .. } | Kind::Along { a, .. } | Kind::Height { a, .. } => {
                vec![*a]
            }
            Kind::Unit { a, b } | Kind::Split { a, b } => vec![*a, *b],
            Kind::Clear { ends, .. } => ends.to_vec(),
            Kind::Scalar { expr } => {
                let n = self.skeleton.n_freedoms();
                let mut arrows: Vec<usize> =
                    self.arena.symbols(*expr).into_iter().filter(|s| *s >= n).map(|s| (s - n) / 3).collect();
                arrows.dedup();
                arrows
            }
        }
    }

    /// Degrees of freedom that an expression names itself, such as `Knee.rx`.
    pub(crate) fn freedoms_named(&self, expr: Expr) -> Vec<usize> {
        self.arena.symbols(expr).into_iter().filter(|s| *s < self.skeleton.n_freedoms()).collect()
    }

    /// Degrees of freedom that move what a block is about.
    pub(crate) fn freedoms_of(&self, kind: &Kind) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        for arrow in self.arrows_of(kind) {
            for (carrier, _) in &self.arrows[arrow].terms {
                found.extend(moving(&self.skeleton, *carrier));
            }
        }
        if let Kind::Scalar { expr } = kind {
            found.extend(self.freedoms_named(*expr));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn tell_immovable(&self, diagnostics: &mut Vec<Diagnostic>) {
        let mut can_move = vec![false; self.rules.len()];
        for block in self.blocks.iter() {
            can_move[block.rule] = can_move[block.rule] || !self.freedoms_of(&block.kind).is_empty();
        }
        for (rule, _) in self.rules.iter().zip(&can_move).filter(|(_, can_move)| !**can_move) {
            let message = "nothing in this rule can move; give a joint freedom with `free JOINT: rx …`";
            diagnostics.push(Diagnostic::warning(rule.span, message));
        }
    }
}

/// Degrees of freedom that move what a joint carries: those of its ancestors, its own translations, and, for its
/// axes, its own rotations.
pub(crate) fn moving(skeleton: &Skeleton, carrier: Carrier) -> impl Iterator<Item = usize> + '_ {
    let of = carrier.bone();
    let is_axis = matches!(carrier, Carrier::Axis(..));
    skeleton.ancestry(of).flat_map(move |bone| {
        skeleton.bones()[bone].freedoms.clone().filter(move |&freedom| {
            let is_rotation = skeleton.freedoms()[freedom].is_rotation();
            if is_axis { is_rotation } else { bone != of || !is_rotation }
        })
    })
}

/// The skeleton as the definitions of a text want it: `free`, `lock` and `range` act on all lines.
fn with_freedom(script: &Script, skeleton: &Skeleton, diagnostics: &mut Vec<Diagnostic>) -> Skeleton {
    let mut result = skeleton.clone();
    let changes = |id: FormId| matches!(id, FormId::Free | FormId::Lock);
    for statement in script.statements.iter().filter(|statement| changes(statement.form.id)) {
        match change_freedom(statement, &result) {
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

fn change_freedom(statement: &Statement, skeleton: &Skeleton) -> Result<Skeleton, Diagnostic> {
    let Some(Argument::Expression(joint)) = statement.arguments.first() else { return Ok(skeleton.clone()) };
    let bone = Scope::new(skeleton, &Scene::default()).joint(joint)?;
    match statement.arguments.get(1) {
        Some(Argument::Kinds(kinds)) => Ok(skeleton.with_freedom(bone, kinds)),
        _ => Ok(skeleton.with_freedom(bone, &[])),
    }
}

fn change_range(statement: &Statement, skeleton: &mut Skeleton) -> Result<(), Diagnostic> {
    let (Some(Argument::Expression(freedom)), Some(Argument::Range(low, high))) =
        (statement.arguments.first(), statement.arguments.get(1))
    else {
        return Ok(());
    };
    let (freedom, range) = {
        let mut scope = Scope::new(skeleton, &Scene::default());
        let freedom = scope.freedom(freedom)?;
        let is_angle = skeleton.freedoms()[freedom].is_rotation();
        let dimension = if is_angle { Dimension::ANGLE } else { Dimension::LENGTH };
        (freedom, [scope.constant(low, dimension)?, scope.constant(high, dimension)?])
    };
    skeleton.set_range(freedom, range).map_err(|_| {
        Diagnostic::error(low.span.to(high.span), "this range is empty; write the smaller number first")
    })
}

/// Whether any of some diagnostics is an error.
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
}
