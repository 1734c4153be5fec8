//! Rules of poses: what they say, and what they come to.

use super::{
    Capability,
    refit::{DrawnGround, grounds},
};
use crate::{
    engine::Engine,
    locks::Ranked,
    studio::{Looks, Studio},
    wire::{Choices, Context, Gesture, GestureId, Part, Point3, Registry, Request, Snapshot},
};
use serde::{Deserialize, Serialize};
use sinew::{
    constrain::{
        compile::Aim,
        language::{self, Diagnostic, FUNCTIONS, SUFFIXES, Span, UNITS, VERBS, is_plain_name},
        solve::Stop,
    },
    session::{Command, Display, Document, Event, Ruled, RulesChange, RulesData, SessionError, Solved},
};
use std::sync::Arc;
use ts_rs::TS;

/// Faults of a text that pages show.
const MAX_FAULTS: usize = 200;

/// The solution of the document's rules, if a page has asked for it.
#[derive(Debug, Default)]
pub struct RulesCapability {
    ruled: Ranked<Option<Arc<Ruled>>>,
}

impl Capability for RulesCapability {
    fn register(&self, registry: &mut Registry) {
        registry
            .request::<FormatRules>()
            .gesture::<RulesChange>()
            .part::<RulesPart>()
            .part::<RuledPart>()
            .choices::<Language>();
    }

    /// Solve the rules for pages that look, and for those that write in another view.
    fn observe(&self, engine: &mut Engine<'_>, document: &Document, looks: &Looks) {
        let is_wanted = looks.display == Display::Ruled || !document.rules.text.is_empty();
        let ruled = match document.body.rig.as_ref().filter(|_| is_wanted) {
            None => None,
            Some(_) => engine.stage.ruled(document).map_err(|error| engine.fail(&error.to_string())).ok(),
        };
        let mut shared = self.ruled.lock();
        if shared.as_ref().map(Arc::as_ptr) != ruled.as_ref().map(Arc::as_ptr) {
            *shared = ruled;
            drop(shared);
            engine.studio.raise::<RuledPart>();
        }
    }
}

impl Gesture for RulesChange {
    const NAME: &'static str = "rules";

    fn apply(self, engine: &mut Engine<'_>, gesture: GestureId) -> Result<(), SessionError> {
        engine.studio.session().apply(&Command::Rules(self), Some(gesture.of_drag())).map(|_| ())
    }
}

/// Format the text of rules.
#[derive(Debug, Deserialize, TS)]
struct FormatRules {
    text: String,
}

/// The same text, formatted.
#[derive(Debug, Serialize, TS)]
struct FormattedRules {
    text: String,
}

impl Request for FormatRules {
    const NAME: &'static str = "format_rules";
    type Reply = FormattedRules;

    fn run(self, _: &Context<'_>) -> anyhow::Result<FormattedRules> {
        Ok(FormattedRules { text: language::format(&self.text) })
    }
}

/// Rules of the document, what surrounds its skeleton, and grounds that clips were refitted to.
#[derive(Debug)]
pub struct RulesPart;

#[derive(Debug, Serialize, TS)]
pub struct RulesState {
    rules: RulesData,
    grounds: Vec<DrawnGround>,
}

impl Part for RulesPart {
    type Value = RulesState;
    type Sent = ();

    fn follows(event: &Event) -> bool {
        matches!(event, Event::Changed(changes) if changes.rules || changes.clips)
    }

    fn value(Snapshot { document, .. }: &Snapshot<'_>, (): &mut ()) -> Option<RulesState> {
        Some(RulesState { rules: (*document.rules).clone(), grounds: grounds(document) })
    }
}

/// Result of solving the rules.
#[derive(Debug)]
pub struct RuledPart;

#[derive(Debug, Serialize, TS)]
pub struct RuledState {
    /// Null until a page asks for it.
    ruled: Option<RuledInfo>,
}

/// Result of solving the rules.
#[derive(Debug, Serialize, TS)]
#[ts(rename = "Ruled")]
struct RuledInfo {
    /// Whether the text has errors, and the pose is that of the last text without.
    stale: bool,
    diagnostics: Vec<Fault>,
    solved: Option<SolvedInfo>,
    joints: Vec<RuledJoint>,
    /// Where rules would have joints.
    marks: Vec<RuleMark>,
}

/// A fault of the text.
#[derive(Debug, Serialize, TS)]
struct Fault {
    line: u32,
    column: u32,
    /// Letters of the text, as browsers count them.
    from: usize,
    to: usize,
    severity: Severity,
    message: String,
}

/// How bad a fault is.
#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "snake_case")]
enum Severity {
    Error,
    Warning,
    Note,
}

/// How solving went.
#[derive(Debug, Serialize, TS)]
struct SolvedInfo {
    converged: bool,
    stop: &'static str,
    rules: Vec<RuleInfo>,
    conflicts: Vec<ConflictInfo>,
    /// Lines that follow from others.
    redundant: Vec<u32>,
    dof: usize,
    dof_left: usize,
    /// Names of degrees of freedom that are left.
    free: Vec<String>,
    at_limit: Vec<String>,
    ms: f64,
}

/// How well a rule holds.
#[derive(Debug, Serialize, TS)]
struct RuleInfo {
    line: u32,
    residual: f64,
    unit: &'static str,
    holds: bool,
    /// Whether it is to be as small as possible.
    objective: bool,
    soft: bool,
}

/// Rules that cannot hold together.
#[derive(Debug, Serialize, TS)]
struct ConflictInfo {
    lines: Vec<u32>,
    ranges: Vec<String>,
    message: String,
}

/// A joint of the pose.
#[derive(Debug, Serialize, TS)]
struct RuledJoint {
    name: String,
    /// The name as rules write it.
    word: String,
    parent: Option<usize>,
    position: Point3,
}

/// Where a rule would have a joint.
#[derive(Debug, Serialize, TS)]
struct RuleMark {
    line: u32,
    joint: usize,
    holds: bool,
    from: Point3,
    to: Point3,
}

impl Part for RuledPart {
    type Value = RuledState;
    type Sent = ();

    fn value(snapshot: &Snapshot<'_>, (): &mut ()) -> Option<RuledState> {
        let ruled = snapshot.studio.capabilities.rules.ruled.lock().clone();
        Some(RuledState { ruled: ruled.map(|ruled| info(&ruled)) })
    }
}

fn info(ruled: &Ruled) -> RuledInfo {
    let text = ruled.text();
    let solved = ruled.solved.as_ref();
    RuledInfo {
        stale: ruled.is_stale,
        diagnostics: ruled.diagnostics.iter().take(MAX_FAULTS).map(|fault| diagnostic(fault, text)).collect(),
        solved: solved.map(|solved| report(solved)),
        joints: solved.map_or_else(Vec::new, |solved| joints(solved)),
        marks: solved.map_or_else(Vec::new, |solved| marks(solved)),
    }
}

/// A fault with its place in letters as browsers count them.
fn diagnostic(fault: &Diagnostic, text: &str) -> Fault {
    let Span { line, column, start, end } = fault.span;
    let letters = |end: u32| text.get(..end as usize).map_or(0, |part| part.encode_utf16().count());
    let severity = match fault.severity {
        language::Severity::Error => Severity::Error,
        language::Severity::Warning => Severity::Warning,
        language::Severity::Note => Severity::Note,
    };
    Fault { line, column, from: letters(start), to: letters(end), severity, message: fault.message.clone() }
}

fn report(solved: &Solved) -> SolvedInfo {
    let report = &solved.solution.report;
    let problem = solved.solver.problem();
    let line = |rule: usize| problem.rules()[rule].span.line;
    let names = |freedoms: &[usize]| {
        freedoms.iter().map(|&freedom| problem.skeleton().dof_name(freedom)).collect::<Vec<_>>()
    };
    let rules = problem.rules().iter().zip(&report.rules).map(|(rule, found)| {
        let (residual, unit) = found.in_unit();
        RuleInfo {
            line: rule.span.line,
            residual,
            unit,
            holds: found.holds,
            objective: rule.aim == Aim::Objective,
            soft: rule.soft.is_some() || rule.priority > 1,
        }
    });
    let conflicts = report.conflicts.iter().map(|conflict| ConflictInfo {
        lines: conflict.rules.iter().map(|&rule| line(rule)).collect(),
        ranges: names(&conflict.ranges),
        message: solved.solver.describe_conflict(report, conflict),
    });
    SolvedInfo {
        converged: report.stop == Stop::Converged,
        stop: report.stop.name(),
        rules: rules.collect(),
        conflicts: conflicts.collect(),
        redundant: report.redundant.iter().map(|&rule| line(rule)).collect(),
        dof: problem.skeleton().n_dofs(),
        dof_left: report.free.len(),
        free: names(&report.free),
        at_limit: names(&report.at_limit),
        ms: solved.time.as_secs_f64() * 1e3,
    }
}

/// Joints of the pose. A name that must be quoted in rules comes in quotes.
fn joints(solved: &Solved) -> Vec<RuledJoint> {
    let bones = solved.solver.problem().skeleton().joints().iter();
    let joint = |(bone, at): (&sinew::constrain::SkeletonJoint, &glam::DVec3)| {
        let name = bone.name.clone();
        let word = if is_plain_name(&name) { name.clone() } else { format!("\"{name}\"") };
        RuledJoint { name, word, parent: bone.parent, position: at.to_array() }
    };
    bones.zip(&solved.world.positions).map(joint).collect()
}

fn marks(solved: &Solved) -> Vec<RuleMark> {
    let (rules, found) = (solved.solver.problem().rules(), &solved.solution.report.rules);
    let mark = |mark: &sinew::constrain::RuleGizmo| RuleMark {
        line: rules[mark.rule].span.line,
        joint: mark.joint,
        holds: found[mark.rule].holds,
        from: mark.from.to_array(),
        to: mark.to.to_array(),
    };
    solved.marks.iter().map(mark).collect()
}

/// Words of the language, for completing what is typed.
#[derive(Debug)]
pub struct Language;

#[derive(Debug, Serialize, TS)]
pub struct LanguageWords {
    language: LanguageInfo,
}

/// Words of the language of rules.
#[derive(Debug, Serialize, TS)]
struct LanguageInfo {
    verbs: Vec<Verb>,
    #[ts(type = "string[]")]
    functions: Vec<&'static str>,
    #[ts(type = "string[]")]
    suffixes: Vec<&'static str>,
    #[ts(type = "string[]")]
    units: Vec<&'static str>,
}

/// A verb of the language of rules.
#[derive(Debug, Serialize, TS)]
struct Verb {
    name: &'static str,
    meaning: &'static str,
    example: &'static str,
}

impl Choices for Language {
    type Value = LanguageWords;

    fn value(_: &Studio) -> LanguageWords {
        let verbs = VERBS.iter().filter(|verb| !verb.name.is_empty()).map(|verb| {
            let form = verb.forms.first();
            let (meaning, example) = form.map_or(("", ""), |form| (form.meaning, form.example));
            Verb { name: verb.name, meaning, example }
        });
        LanguageWords {
            language: LanguageInfo {
                verbs: verbs.collect(),
                functions: FUNCTIONS.iter().map(|function| function.name).collect(),
                suffixes: SUFFIXES.iter().map(|suffix| suffix.name).collect(),
                units: UNITS.iter().map(|unit| unit.name).collect(),
            },
        }
    }
}
