//! Rules: times of compilation, evaluation, iteration and solve, on the six test cases of Abdelhay (2008); compared
//! with CasADi and Pinocchio.

mod peers;

use crate::measure::time;
use anyhow::{Context, ensure};
use sinew::{
    constrain::{
        Skeleton,
        compile::{CompileParams, Problem, Scene},
        language::parse,
        solve::{SolveParams, Solver, Stop},
    },
    formats::skeleton::{SkeletonFile, read_skeleton},
};
use std::{hint::black_box, path::PathBuf};

/// Poses and rules of the tests, which the peers read too.
pub fn files() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../sinew/tests/files"))
}

/// Rounds of each timing; medians are reported. Rounds are short, so that on a busy machine most are not interrupted.
const ROUNDS: usize = 301;

/// Our figures for one variant of the root, in microseconds.
pub struct Ours {
    pub variant: &'static str,
    pub build: f64,
    pub evaluate: f64,
    pub iteration: f64,
    /// From near and far.
    pub solve: [f64; 2],
    /// Nearest pose, from near and far.
    pub nearest: [f64; 2],
    pub symbolic: f64,
    pub bytes: usize,
}

pub fn run(options: &[String]) -> anyhow::Result<()> {
    let with_peers = match options {
        [] => false,
        [option] if option == "--peers" => true,
        _ => anyhow::bail!("usage: sinew_bench rules [--peers]"),
    };
    let text = std::fs::read_to_string(files().join("walk.rules"))?;
    let mut all = Vec::new();
    for (name, variant) in [("root3", None), ("root6", Some("root6"))] {
        let bytes = std::fs::read(files().join("skeleton.json"))?;
        all.push(measure(name, &text, &read_skeleton(&bytes, variant, "skeleton.json")?)?);
    }
    if with_peers {
        peers::run(&all)?;
    }
    Ok(())
}

fn measure(variant: &'static str, text: &str, file: &SkeletonFile) -> anyhow::Result<Ours> {
    let skeleton = Skeleton::from_rig(&file.rig)?;
    let scene = Scene { markers: file.markers.clone(), ..Scene::default() };
    let build = || {
        let (script, _) = parse(text);
        Solver::new(Problem::new(&script, &skeleton, &scene, &CompileParams::default()).0)
    };
    let per =
        |n: usize, work: &mut dyn FnMut()| time(ROUNDS, || (0..n).for_each(|_| work())) * 1e3 / n as f64;
    let build_us = per(2, &mut || _ = black_box(build()));
    let mut solver = build();
    let pose = |name: &str| -> anyhow::Result<Vec<f64>> {
        let (_, pose) = file.poses.iter().find(|(of, _)| of == name).context("a pose is missing")?;
        Ok(skeleton.values_at(pose)?)
    };
    let starts = [pose("near")?, pose("far")?];
    let evaluate = per(100, &mut || solver.evaluate_in_place(black_box(&starts[0])));
    let params = SolveParams::default();
    let mut values = starts[0].clone();
    let (mut solve, mut nearest, mut iterations) = ([0.0; 2], [0.0; 2], [0; 2]);
    for (i, start) in starts.iter().enumerate() {
        let (stop, n) = solver.solve_feasible(start, &params, &mut values)?;
        ensure!(stop == Stop::Converged, "{variant} does not converge");
        iterations[i] = n;
        solve[i] = per(4, &mut || _ = black_box(solver.solve_feasible(start, &params, &mut values)));
        nearest[i] = per(1, &mut || _ = black_box(solver.solve(start, &params)));
    }
    let symbolic = per(1, &mut || _ = black_box(solver.problem().symbolic()));
    let ours = Ours {
        variant,
        build: build_us,
        evaluate,
        iteration: solve[0] / iterations[0] as f64,
        solve,
        nearest,
        symbolic,
        bytes: solver.n_bytes(),
    };
    println!(
        "{variant}: six cases, {} equations, {} groups",
        solver.problem().n_equations(),
        solver.n_groups()
    );
    let row = |what: &str, us: f64, bar: f64| println!("  {what:<34} {us:9.2} us   bar {bar}");
    row("text to ready", ours.build, 100.0);
    row("f + J", ours.evaluate, 1.5);
    row("iteration (near)", ours.iteration, 3.0);
    row(&format!("solve near within ranges ({} it)", iterations[0]), ours.solve[0], 60.0);
    println!("  {:<34} {:9.2} us", format!("solve far within ranges ({} it)", iterations[1]), ours.solve[1]);
    row("nearest pose with report, near", ours.nearest[0], 500.0);
    row("nearest pose with report, far", ours.nearest[1], 500.0);
    println!("  {:<34} {:9.2} us", "all derivatives as symbols", ours.symbolic);
    println!("  {:<34} {:9.1} kB   bar 100", "memory", ours.bytes as f64 / 1e3);
    Ok(ours)
}
