//! `sinew solve`: a pose in which rules hold.

mod args;
mod body;
mod result;

pub use args::SolveArgs;

use super::input::ground_of;
use crate::console::Console;
use anyhow::{Context, bail, ensure};
use body::Body;
use serde_json::{Value, json};
use sinew::{
    constrain::{
        compile::{CompileParams, Problem, has_errors},
        language::{self, Argument, Diagnostic, FormId, Script, Severity},
        solve::{Method, SolveParams, Solver},
    },
    formats::{read_file, write_atomic},
    geom::{Warnings, path::PlacedGround},
};
use std::{
    path::{Path, PathBuf},
    time::Instant,
};

pub fn run(args: &SolveArgs, console: &Console) -> anyhow::Result<()> {
    let seed = console.seed;
    let shown = args.rules.display();
    let text = String::from_utf8(read_file(&args.rules)?)
        .with_context(|| format!("{shown}: this is not text; rules are written in UTF-8"))?;
    if args.format {
        return format(args, &text, console);
    }
    if let Some(path) = &args.output {
        result::check_name(path)?;
    }
    let begun = Instant::now();
    let (script, faults) = language::parse(&text);
    let parse_us = begun.elapsed().as_secs_f64() * 1e6;
    fail_on_errors(&args.rules, &faults)?;
    ensure!(
        !script.statements.is_empty(),
        "{shown}: there is no rule in it; write for example `pin FootR to StepMarker`"
    );
    let mut warnings = Warnings::default();
    let path = skeleton_path(args, &script)?;
    let mut body = Body::read(&path, args.variant.as_deref(), args.pose.as_deref(), console, &mut warnings)?;
    body.scene.ground = args
        .ground
        .as_deref()
        .map(|text| ground_of(text).map(|(ground, _)| PlacedGround::of(ground)))
        .transpose()?;
    let params = CompileParams { rewrite: !args.as_written, frame: body.frame };
    let begun = Instant::now();
    let (problem, diagnostics) = Problem::new(&script, &body.skeleton, &body.scene, &params);
    fail_on_errors(&args.rules, &diagnostics)?;
    let explanation = args.explain.then(|| problem.explain(&text));
    let start = body.start(problem.skeleton())?;
    let built = Instant::now();
    let mut solver = Solver::new(problem);
    let build_us = parse_us + (built - begun + built.elapsed()).as_secs_f64() * 1e6;
    print_diagnostics(&args.rules, &diagnostics, console);
    let params = SolveParams {
        method: if args.solver == "newton" { Method::Newton } else { Method::Default },
        ranges: !args.no_ranges,
        nearest: !args.any,
        seed,
        ..SolveParams::default()
    };
    let begun = Instant::now();
    let solution = solver.solve(&start, &params)?;
    let solve_us = begun.elapsed().as_secs_f64() * 1e6;
    let mut report = result::describe(&solver, &solution, &text)?;
    let iterations = solution.report.iterations;
    let n = iterations.feasible + iterations.nearest + iterations.objective;
    report["build_us"] = json!(build_us);
    report["solve_us"] = json!(solve_us);
    report["iteration_us"] = json!(solve_us / n.max(1) as f64);
    report["notes"] = json!(diagnostics.iter().map(|d| placed(&args.rules, d)).collect::<Vec<_>>());
    if let Some(explanation) = &explanation {
        report["explanation"] = json!(explanation);
    }
    if let Some(path) = &args.output {
        report["bytes"] = json!(result::write(path, &body, &solver, &solution, &report, &mut warnings)?);
        report["written"] = json!(path.display().to_string());
    }
    for conflict in report["conflicts"].as_array().into_iter().flatten() {
        let line = conflict["line"].as_u64().unwrap_or(0);
        let place = PathBuf::from(format!("{shown}:{line}"));
        let message = conflict["message"].as_str().unwrap_or_default().to_owned();
        console.warn(&place, &Warnings { messages: vec![message] });
    }
    console.warn(&path, &warnings);
    report["warnings"] = json!(warnings.messages);
    console.result(&report, || result::as_text(&report))
}

fn format(args: &SolveArgs, text: &str, console: &Console) -> anyhow::Result<()> {
    let tidy = language::format(text);
    let (_, faults) = language::parse(text);
    print_diagnostics(&args.rules, &faults, console);
    match &args.output {
        Some(path) => {
            write_atomic(path, tidy.as_bytes())?;
            let report = json!({ "written": path.display().to_string(), "bytes": tidy.len(), "changed": tidy != text });
            console.result(&report, || format!("{}  {} bytes", path.display(), tidy.len()))
        }
        None => console.result(&json!({ "text": tidy, "changed": tidy != text }), || tidy.clone()),
    }
}

/// `FILE:LINE:COLUMN: message`
fn placed(path: &Path, diagnostic: &Diagnostic) -> String {
    format!("{}:{diagnostic}", path.display())
}

fn fail_on_errors(path: &Path, diagnostics: &[Diagnostic]) -> anyhow::Result<()> {
    /// Errors reported at once; more would scroll the first away.
    const MAX_ERRORS: usize = 20;
    if !has_errors(diagnostics) {
        return Ok(());
    }
    let errors: Vec<String> =
        diagnostics.iter().filter(|d| d.severity == Severity::Error).map(|d| placed(path, d)).collect();
    let mut lines = errors[..errors.len().min(MAX_ERRORS)].to_vec();
    if errors.len() > MAX_ERRORS {
        lines.push(format!("and {} more", errors.len() - MAX_ERRORS));
    }
    bail!("{}", lines.join("\n"))
}

/// Print what is no error: warnings, and notes about what was rewritten or left out.
fn print_diagnostics(path: &Path, diagnostics: &[Diagnostic], console: &Console) {
    for diagnostic in diagnostics.iter().filter(|d| d.severity != Severity::Note) {
        let place =
            PathBuf::from(format!("{}:{}:{}", path.display(), diagnostic.span.line, diagnostic.span.column));
        console.warn(&place, &Warnings { messages: vec![diagnostic.message.clone()] });
    }
}

/// The skeleton of the command line, else the one the rules name, beside them.
fn skeleton_path(args: &SolveArgs, script: &Script) -> anyhow::Result<PathBuf> {
    if let Some(path) = &args.skeleton {
        return Ok(path.clone());
    }
    let named = script.statements.iter().find(|statement| statement.form.id == FormId::Use);
    match named.and_then(|statement| statement.arguments.first()) {
        Some(Argument::Text(name)) => Ok(args.rules.parent().unwrap_or(Path::new("")).join(name)),
        _ => bail!(
            "{}: it names no skeleton; give --skeleton FILE, or write `use skeleton \"FILE\"`",
            args.rules.display()
        ),
    }
}

/// The object of a degree of freedom's values: metres and degrees.
fn named_values(solver: &Solver, values: &[f64]) -> Value {
    let skeleton = solver.problem().skeleton();
    let value = |(freedom, x): (usize, &f64)| {
        let x = if skeleton.dofs()[freedom].is_rotation() { x.to_degrees() } else { *x };
        (skeleton.dof_name(freedom), json!(x))
    };
    values.iter().enumerate().map(value).collect::<serde_json::Map<_, _>>().into()
}
