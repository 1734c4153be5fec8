//! Rules and refitted clips, as pages ask for them and see them.

use crate::{examples::net, requests::job, studio::Studio};
use serde_json::{Value, json};
use sinew::{
    constrain::{
        compile::Aim,
        language::{self, Diagnostic, FUNCTIONS, SUFFIXES, Severity, Span, UNITS, VERBS, is_plain_name},
        solve::Stop,
    },
    session::{
        ClipGround, Command, Document, RefitSettings, Ruled, SessionError, Solved, find_contact_track,
        refit_clip,
    },
};

/// Faults of a text that pages show.
const MAX_FAULTS: usize = 200;
/// Moments of a clip that tell where its ground is drawn.
const MOMENTS: usize = 24;

/// Words of the language, for completing what is typed.
pub fn language() -> Value {
    let verbs = VERBS.iter().filter(|verb| !verb.name.is_empty()).map(|verb| {
        let form = verb.forms.first();
        json!({
            "name": verb.name,
            "meaning": form.map_or("", |form| form.meaning),
            "example": form.map_or("", |form| form.example),
        })
    });
    json!({
        "verbs": verbs.collect::<Vec<_>>(),
        "functions": FUNCTIONS.iter().map(|f| f.name).collect::<Vec<_>>(),
        "suffixes": SUFFIXES.iter().map(|suffix| suffix.name).collect::<Vec<_>>(),
        "units": UNITS.iter().map(|unit| unit.name).collect::<Vec<_>>(),
    })
}

/// The same text, written evenly.
pub fn format(text: &str) -> Value {
    json!({ "text": language::format(text) })
}

/// What the rules come to; null if nobody has looked.
pub fn state(studio: &Studio) -> Value {
    let Some(ruled) = studio.ruled() else { return Value::Null };
    let Ruled { diagnostics, is_stale, solved, .. } = &*ruled;
    let text = ruled.text();
    let faults: Vec<Value> =
        diagnostics.iter().take(MAX_FAULTS).map(|fault| diagnostic(fault, text)).collect();
    let solved = solved.as_ref();
    json!({
        "stale": is_stale,
        "diagnostics": faults,
        "solved": solved.map(|solved| report(solved)),
        "joints": solved.map_or_else(Vec::new, |solved| joints(solved)),
        "marks": solved.map_or_else(Vec::new, |solved| marks(solved)),
    })
}

/// A fault with its place in letters as browsers count them.
fn diagnostic(fault: &Diagnostic, text: &str) -> Value {
    let Diagnostic { span, severity, message } = fault;
    let Span { line, column, start, end } = *span;
    let letters = |end: u32| text.get(..end as usize).map_or(0, |part| part.encode_utf16().count());
    let severity = match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    json!({
        "line": line, "column": column, "from": letters(start), "to": letters(end),
        "severity": severity, "message": message,
    })
}

fn report(solved: &Solved) -> Value {
    let report = &solved.solution.report;
    let problem = solved.solver.problem();
    let line = |rule: usize| problem.rules()[rule].span.line;
    let names = |freedoms: &[usize]| {
        freedoms.iter().map(|&freedom| problem.skeleton().dof_name(freedom)).collect::<Vec<_>>()
    };
    let rules = problem.rules().iter().zip(&report.rules).map(|(rule, found)| {
        let (residual, unit) = found.in_unit();
        json!({
            "line": rule.span.line, "residual": residual, "unit": unit, "holds": found.holds,
            "objective": rule.aim == Aim::Objective, "soft": rule.soft.is_some() || rule.priority > 1,
        })
    });
    let conflicts = report.conflicts.iter().map(|conflict| {
        json!({
            "lines": conflict.rules.iter().map(|&rule| line(rule)).collect::<Vec<_>>(),
            "ranges": names(&conflict.ranges),
            "message": solved.solver.describe_conflict(report, conflict),
        })
    });
    json!({
        "converged": report.stop == Stop::Converged,
        "stop": report.stop.name(),
        "rules": rules.collect::<Vec<_>>(),
        "conflicts": conflicts.collect::<Vec<_>>(),
        "redundant": report.redundant.iter().map(|&rule| line(rule)).collect::<Vec<_>>(),
        "dof": problem.skeleton().n_dofs(),
        "dof_left": report.free.len(),
        "free": names(&report.free),
        "at_limit": names(&report.at_limit),
        "ms": solved.time.as_secs_f64() * 1e3,
    })
}

/// Joints of the pose. A name that must be quoted in rules comes in quotes.
fn joints(solved: &Solved) -> Vec<Value> {
    let bones = solved.solver.problem().skeleton().joints();
    let joint = |(bone, at): (&sinew::constrain::SkeletonJoint, &glam::DVec3)| {
        let word = if is_plain_name(&bone.name) { bone.name.clone() } else { format!("\"{}\"", bone.name) };
        json!({ "name": bone.name, "word": word, "parent": bone.parent, "position": at.to_array() })
    };
    bones.iter().zip(&solved.world.positions).map(joint).collect()
}

fn marks(solved: &Solved) -> Vec<Value> {
    let (rules, found) = (solved.solver.problem().rules(), &solved.solution.report.rules);
    let mark = |mark: &sinew::constrain::RuleGizmo| {
        json!({
            "line": rules[mark.rule].span.line, "joint": mark.joint, "holds": found[mark.rule].holds,
            "from": mark.from.to_array(), "to": mark.to.to_array(),
        })
    };
    solved.marks.iter().map(mark).collect()
}

/// Grounds that clips were refitted to, as they are drawn.
pub fn grounds(document: &Document) -> Vec<Value> {
    let Some(rig) = &document.body.rig else { return Vec::new() };
    let drawn = |ground: &ClipGround| {
        let (site, at) = (ground.site().ok()?, document.find_clip(&ground.clip).ok()?);
        let clip = &document.clips[at];
        let moment = |k: usize| clip.sample(rig, clip.duration_secs() * k as f32 / MOMENTS as f32);
        let way = (0..=MOMENTS).filter_map(|k| Some(moment(k).locals.first()?.translation.to_array()));
        let net = net(&|x, z| site.height(x, z), way, document.mesh().diagonal());
        Some(json!({ "clip": ground.clip, "ground": net }))
    };
    document.rules.grounds.iter().filter_map(drawn).collect()
}

/// When feet stand in a clip.
///
/// # Errors
/// If there is no such clip or skeleton.
pub fn contacts(studio: &Studio, clip: &str) -> anyhow::Result<Value> {
    let document = studio.session().document().clone();
    Ok(json!(find_contact_track(&document, clip)?))
}

/// Refit a clip as a job that can be stopped, and keep the result as a clip.
///
/// # Errors
/// As [`sinew::session::refit_clip`].
pub fn refit(studio: &Studio, settings: &RefitSettings) -> anyhow::Result<Value> {
    job(studio, &format!("Refitting {}", settings.clip), |job| {
        let before = studio.session().document().clone();
        let (after, numbers) = refit_clip(&before, settings, &mut |share| job.update(share))?;
        let command = Command::Refit { settings: Box::new(settings.clone()) };
        studio.session().commit(&command, &before, after).ok_or(SessionError::Cancelled)?;
        Ok(json!(numbers))
    })
}
