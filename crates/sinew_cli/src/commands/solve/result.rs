//! What was found, as text, as an object, and as files.

use super::{
    super::output::{Origin, OutputOptions, write_character},
    body::Body,
    named_values,
};
use anyhow::{Context, bail};
use serde_json::{Map, Value, json};
use sinew::{
    constrain::{
        Kinematics, SkeletonFrames,
        compile::Aim,
        solve::{Solution, Solver, Stop},
    },
    formats::write_atomic,
    geom::{Character, Clip, Warnings},
    session::DEFAULT_FPS,
};
use std::path::Path;

pub fn check_name(path: &Path) -> anyhow::Result<()> {
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    match ending.as_str() {
        "glb" | "bvh" | "json" => Ok(()),
        _ => bail!("{}: a pose is written as .glb, .bvh or .json", path.display()),
    }
}

pub fn describe(solver: &Solver, solution: &Solution, text: &str) -> anyhow::Result<Value> {
    let report = &solution.report;
    let skeleton = solver.problem().skeleton();
    let lines: Vec<&str> = text.split('\n').collect();
    let source = |line: u32| lines.get(line as usize - 1).map_or("", |line| line.trim());
    let names = |freedoms: &[usize]| freedoms.iter().map(|&f| skeleton.dof_name(f)).collect::<Vec<_>>();
    let line_of = |rule: usize| solver.problem().rules()[rule].span.line;
    let rules: Vec<Value> = solver
        .problem()
        .rules()
        .iter()
        .zip(&report.rules)
        .map(|(rule, found)| {
            let (residual, unit) = found.in_unit();
            let is_objective = rule.aim == Aim::Objective;
            json!({
                "line": rule.span.line, "text": source(rule.span.line), "residual": residual, "unit": unit,
                "holds": found.holds, "objective": is_objective, "case": rule.case,
            })
        })
        .collect();
    let conflicts: Vec<Value> = report
        .conflicts
        .iter()
        .map(|conflict| {
            let (residual, unit) = report.rules[conflict.rules[0]].in_unit();
            json!({
                "line": line_of(conflict.rules[0]),
                "with": conflict.rules[1..].iter().map(|&rule| line_of(rule)).collect::<Vec<_>>(),
                "ranges": names(&conflict.ranges),
                "residual": residual,
                "unit": unit,
                "message": solver.describe_conflict(report, conflict),
            })
        })
        .collect();
    let kinematics = Kinematics::new(skeleton);
    let mut frames = SkeletonFrames::default();
    kinematics.compute(&solution.values, &mut frames);
    let joints: Map<String, Value> = skeleton
        .joints()
        .iter()
        .zip(&frames.positions)
        .map(|(bone, at)| (bone.name.clone(), json!(at.to_array())))
        .collect();
    let iterations = report.iterations;
    Ok(json!({
        "converged": report.stop == Stop::Converged,
        "stop": report.stop.name(),
        "iterations": iterations.feasible,
        "iterations_nearest": iterations.nearest,
        "iterations_objective": iterations.objective,
        "restarts": iterations.restarts,
        "residual": report.residual,
        "dof": skeleton.n_dofs(),
        "equations": report.n_equations,
        "rank": report.rank,
        "dof_left": report.free.len(),
        "free": names(&report.free),
        "groups": solver.n_groups(),
        "distance": report.distance,
        "at_limit": names(&report.at_limit),
        "redundant": report.redundant.iter().map(|&rule| line_of(rule)).collect::<Vec<_>>(),
        "rules": rules,
        "conflicts": conflicts,
        "values": named_values(solver, &solution.values),
        "joints": joints,
    }))
}

pub fn as_text(report: &Value) -> String {
    let x = |key: &str| report[key].as_f64().unwrap_or(f64::NAN);
    let list = |key: &str| -> Vec<String> {
        let items = report[key].as_array().into_iter().flatten();
        items.map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned)).collect()
    };
    let mut lines: Vec<String> = list("explanation");
    if let Some(path) = report["written"].as_str() {
        lines.push(format!("{path}  {} bytes", report["bytes"]));
    }
    for rule in report["rules"].as_array().into_iter().flatten() {
        let mark = match (rule["objective"] == true, rule["holds"] == true) {
            (true, _) => "=",
            (false, true) => " ",
            (false, false) => "!",
        };
        let (residual, unit) =
            (rule["residual"].as_f64().unwrap_or(f64::NAN), rule["unit"].as_str().unwrap_or(""));
        let text = rule["text"].as_str().unwrap_or_default();
        lines.push(format!(
            "{mark} {residual:10.4} {unit:<3}  {:>4}: {text}",
            rule["line"].as_u64().unwrap_or(0)
        ));
    }
    let how = if report["converged"] == true {
        "all rules hold".into()
    } else {
        format!("not all rules hold ({})", report["stop"].as_str().unwrap_or(""))
    };
    let n = ["iterations", "iterations_nearest", "iterations_objective"].map(&x);
    lines.push(format!("  {how}, after {} iterations, {:.2} ms", n.iter().sum::<f64>(), x("solve_us") / 1e3));
    let free = list("free");
    let shown = free.iter().take(12).cloned().collect::<Vec<_>>().join(" ");
    let more = if free.len() > 12 { " …" } else { "" };
    lines.push(format!(
        "  {} equations of rank {} on {} degrees of freedom; {} left: {shown}{more}",
        report["equations"], report["rank"], report["dof"], report["dof_left"]
    ));
    if !list("redundant").is_empty() {
        lines.push(format!("  redundant lines: {}", list("redundant").join(", ")));
    }
    if !list("at_limit").is_empty() {
        lines.push(format!("  at a limit: {}", list("at_limit").join(" ")));
    }
    lines.extend(list("notes").into_iter().map(|note| format!("  note: {note}")));
    lines.join("\n")
}

/// Write the pose; returns the number of bytes.
pub fn write(
    path: &Path,
    body: &Body,
    solver: &Solver,
    solution: &Solution,
    report: &Value,
    warnings: &mut Warnings,
) -> anyhow::Result<u64> {
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json")) {
        let pose = json!({ "unit": "m", "values": report["values"], "joints": report["joints"] });
        let bytes = serde_json::to_vec_pretty(&pose)?;
        write_atomic(path, &bytes)?;
        return Ok(bytes.len() as u64);
    }
    let rig = body.character.rig.clone().context("a rig was read")?;
    let pose = solver.problem().skeleton().pose_at(&solution.values)?;
    let clip = Clip::from_pose("solved", &rig, &pose)?;
    let character = Character { clips: vec![clip], ..body.character.clone() };
    let options =
        OutputOptions { clip: None, fps: Some(DEFAULT_FPS), influences: 4, origin: Origin::default() };
    write_character(&character, path, &options, warnings)
}
