//! Flesh: milliseconds per step by size and stiffness, lattices, accuracy, and a long run of bad treatment.
//!
//! Clamped bars of 5 × 5 × 24, 9 × 9 × 32 and 13 × 13 × 50 cells, 1.7 m long, and lattices around the armadillo, with
//! the settings at which rapier's FEM, MuJoCo's flex and Vega were measured for comparison: 30 kPa, ν 0.45, steps of 10
//! ms, tolerance 1e-3, with a surface of 15 000 vertices, on one thread.

mod adaptive;
mod scenes;

use crate::{
    measure::{in_pool, thread_secs},
    places,
};
use anyhow::Context;
use glam::{DQuat, DVec3, Vec3};
use sinew::{
    flesh::{
        Attachment, BakeParams, Baker, ElementKind, Embedding, FleshParams, FleshSolver, FleshState, Lattice,
        LatticeParams, Material, Mode, StepInput, build_body,
    },
    formats::read_any,
    geom::{
        Mesh, Warnings,
        query::SurfaceTree,
        sample::{Sample, build_character},
    },
};
use std::{path::PathBuf, time::Instant};

/// Steps measured, after some that are not; more of small bodies, since processor time is counted in ticks of 4 ms.
const STEPS: usize = 60;
const MANY_DOF: usize = 1_200_000;
const SECS: f64 = 0.01;

/// Print the tables; `--peers` compares with rapier and MuJoCo, `--scenes DIR` draws the scenes of Capell (2004),
/// `--adaptive` shows cells that are halved and joined, `--lattices` how long lattices take, `--long` runs the ten
/// thousand steps of bad treatment.
pub fn run(args: &[String]) -> anyhow::Result<()> {
    if args.iter().any(|arg| arg == "--peers") {
        return in_pool(1, peers);
    }
    if let Some(at) = args.iter().position(|arg| arg == "--scenes") {
        let folder = args.get(at + 1).map_or("flesh-scenes", String::as_str);
        return scenes::run(std::path::Path::new(folder));
    }
    if args.iter().any(|arg| arg == "--adaptive") {
        return adaptive::run();
    }
    if args.iter().any(|arg| arg == "--lattices") {
        return lattices();
    }
    if args.iter().any(|arg| arg == "--long") {
        return abuse();
    }
    in_pool(1, || -> anyhow::Result<()> {
        sizes()?;
        stiffness()?;
        modes()
    })?;
    lattices()?;
    characters()
}

pub fn data(name: &str) -> anyhow::Result<Mesh> {
    let data = places::data();
    let path = data.join("meshes").join(name);
    let read = read_any(&path, &mut Warnings::default()).with_context(|| path.display().to_string())?;
    Ok(read.into_character().unwrap_or_default().mesh)
}

/// A body to step, with a surface of about 15 000 vertices.
struct Problem {
    name: String,
    lattice: Lattice,
    held: Vec<u32>,
    surface: Embedding,
}

impl Problem {
    fn bar(n: [usize; 3]) -> anyhow::Result<Self> {
        let size = 1.7 / n[2] as f64;
        let lattice = Lattice::block(n, size, DVec3::ZERO)?;
        let held = (0..lattice.n_nodes() as u32).filter(|&k| lattice.nodes()[k as usize].z < 1e-9).collect();
        let points = (0..15_000).map(|k| ((k * 7919) % lattice.n_cells(), spread(k)));
        let surface = Embedding::from_cells(points);
        Ok(Self { name: format!("bar {}×{}×{}", n[0], n[1], n[2]), lattice, held, surface })
    }

    /// The armadillo, 1.7 m tall, its deepest nodes held.
    fn armadillo(mesh: &Mesh, cells: usize) -> anyhow::Result<Self> {
        let [low, high] = mesh.bounds();
        let scale = 1.7 / (high - low).max_element();
        let mesh = mesh.with_positions(mesh.positions().iter().map(|p| (*p - low) * scale).collect())?;
        let body = build_body(&mesh, &LatticeParams { cells, size: None })?;
        let tree = SurfaceTree::new(&mesh);
        let depth = |p: &DVec3| match tree.contains(*p) {
            true => tree.closest_point(*p).map_or(0.0, |near| near.distance),
            false => 0.0,
        };
        let depths: Vec<f64> = body.lattice.nodes().iter().map(depth).collect();
        let mut order: Vec<u32> = (0..body.lattice.n_nodes() as u32).collect();
        order.sort_by(|a, b| depths[*b as usize].total_cmp(&depths[*a as usize]));
        order.truncate((0.06 * order.len() as f64) as usize);
        let points = (0..15_000).map(|k| ((k * 7919) % body.lattice.n_cells(), spread(k)));
        let surface = Embedding::from_cells(points);
        Ok(Self { name: "armadillo".into(), lattice: body.lattice, held: order, surface })
    }

    fn attachment(&self) -> Attachment {
        Attachment { held: self.held.clone(), ..Attachment::default() }
    }
}

/// Places spread evenly over a unit cube.
fn spread(k: usize) -> DVec3 {
    let u = |x: f64| (k as f64 * x).fract();
    DVec3::new(u(0.618_034), u(0.754_877), u(0.569_840))
}

/// What a run of steps cost.
struct Timing {
    step_ms: f64,
    /// Mean of the processor's own time, whatever else it had to do.
    cpu_ms: f64,
    surface_ms: f64,
    iterations: f64,
    n_direct: usize,
    n_open: usize,
    sag: f64,
}

fn measure(problem: &Problem, young: f64, params: &FleshParams, secs: f64) -> anyhow::Result<Timing> {
    let attachment = problem.attachment();
    let material = Material { young, ..Material::default() };
    let mut solver = FleshSolver::new(&problem.lattice, &[material], &attachment, params)?;
    let mut state = FleshState::at_rest(&problem.lattice);
    let drive = StepInput::at_rest(&problem.lattice, &attachment);
    let mut positions = vec![Vec3::ZERO; problem.surface.len()];
    let (mut steps, mut cpu_secs, mut surfaces, mut iterations) = (Vec::new(), 0.0, Vec::new(), 0);
    let (mut n_direct, mut n_open) = (0, 0);
    let n_steps = if params.mode == Mode::Stvk || params.mode == Mode::NeoHookean {
        10
    } else {
        STEPS.max(MANY_DOF / (3 * problem.lattice.n_nodes()))
    };
    for step in 0..n_steps + 3 {
        let (start, cpu) = (Instant::now(), thread_secs());
        let report = solver.step(&mut state, &drive, secs)?;
        let (stepped, cpu) = (start.elapsed().as_secs_f64(), thread_secs() - cpu);
        problem.surface.evaluate(&problem.lattice, &state.positions, &mut positions)?;
        if step >= 3 {
            steps.push(1e3 * stepped);
            cpu_secs += cpu;
            surfaces.push(1e3 * (start.elapsed().as_secs_f64() - stepped));
            iterations += report.iterations;
            n_direct += usize::from(report.direct);
            n_open += usize::from(!report.converged);
        }
    }
    let moved = state.positions.iter().zip(problem.lattice.nodes()).map(|(a, b)| a.distance(*b));
    Ok(Timing {
        step_ms: median(steps),
        cpu_ms: 1e3 * cpu_secs / n_steps as f64,
        surface_ms: median(surfaces),
        iterations: iterations as f64 / n_steps as f64,
        n_direct,
        n_open,
        sag: moved.fold(0.0, f64::max),
    })
}

fn median(mut list: Vec<f64>) -> f64 {
    list.sort_by(f64::total_cmp);
    list[list.len() / 2]
}

fn print(problem: &Problem, what: &str, timing: &Timing, bar: &str) {
    println!(
        "{:<14} {what:<26} {:>6} {:>6} {:>9.3} {:>9.3} {:>9.3} {:>8.1} {:>6} {:>6} {:>9.4}  {bar}",
        problem.name,
        problem.lattice.n_cells(),
        3 * problem.lattice.n_nodes(),
        timing.step_ms,
        timing.cpu_ms,
        timing.surface_ms,
        timing.iterations,
        timing.n_direct,
        timing.n_open,
        timing.sag,
    );
}

fn head(title: &str) {
    println!("\n{title}");
    println!(
        "{:<14} {:<26} {:>6} {:>6} {:>9} {:>9} {:>9} {:>8} {:>6} {:>6} {:>9}",
        "", "", "cells", "dof", "step ms", "cpu ms", "15k ms", "iter", "direct", "open", "moved m"
    );
}

fn problems() -> anyhow::Result<Vec<(Problem, &'static str)>> {
    let mut problems = vec![
        (Problem::bar([5, 5, 24])?, "bar 1 ms"),
        (Problem::bar([9, 9, 32])?, "bar 5 ms"),
        (Problem::bar([13, 13, 50])?, "bar 30 ms"),
    ];
    match data("libigl-armadillo.obj") {
        Ok(mesh) => {
            for (cells, bar) in [(447, "bar 1 ms"), (1683, "bar 5 ms"), (5066, "bar 30 ms")] {
                problems.push((Problem::armadillo(&mesh, cells)?, bar));
            }
        }
        Err(error) => println!("without the armadillo: {error:#}"),
    }
    Ok(problems)
}

fn sizes() -> anyhow::Result<()> {
    head("a step of 10 ms, E 30 kPa, ν 0.45, tolerance 1e-3, one thread");
    for (problem, bar) in problems()? {
        print(&problem, "predicted", &measure(&problem, 3e4, &FleshParams::default(), SECS)?, bar);
    }
    Ok(())
}

/// A peer's numbers: processor milliseconds per step, wall milliseconds, how far it moved.
fn ask(program: &mut std::process::Command) -> anyhow::Result<[f64; 3]> {
    let shown = program.get_program().to_string_lossy().into_owned();
    let output =
        program.output().with_context(|| format!("{shown}: run crates/sinew_bench/peers/install-flesh"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut numbers = text.split_whitespace().filter_map(|x| x.parse::<f64>().ok());
    let mut next = || numbers.next().with_context(|| format!("{shown} printed {text:?}"));
    Ok([next()?, next()?, next()?])
}

/// Rapier's FEM on the same nodes (five linear tetrahedra per cube), before and after ours, at equal tolerance; and MuJoCo's
/// flex (six), where it is installed.
fn peers() -> anyhow::Result<()> {
    let folder = places::tools("SINEW_PEERS_FLESH", "peers-flesh");
    let rapier = folder.join("release/peer_flesh");
    let python = folder.join("mujoco/bin/python");
    let script = places::peer("flesh_mujoco.py");
    println!(
        "a step of 10 ms, processor time, one thread; rapier 0.36.1 FEM, one substep, at most 500 iterations; \
         MuJoCo flex, discrete integrator"
    );
    println!(
        "{:<14} {:>8} {:>7} {:>9} {:>6} {:>10} {:>8} {:>10} {:>8} {:>8} {:>8} {:>8}",
        "",
        "E",
        "dof",
        "ours ms",
        "iter",
        "rapier ms",
        "ratio",
        "MuJoCo ms",
        "ratio",
        "moved",
        "rapier",
        "MuJoCo"
    );
    for young in [3e4, 3e5] {
        for n in [[5, 5, 24], [9, 9, 32], [13, 13, 50]] {
            let problem = Problem::bar(n)?;
            let sizes = n.map(|n| n.to_string());
            let numbers = [young.to_string(), "0.001".to_owned()];
            let measured = || ask(std::process::Command::new(&rapier).args(&sizes).args(&numbers));
            let before = measured()?;
            let ours = measure(&problem, young, &FleshParams::default(), SECS)?;
            let after = measured()?;
            let theirs = before[0].min(after[0]);
            let flex = match python.exists() {
                true => ask(std::process::Command::new(&python).arg(&script).args(&sizes).arg(&numbers[0]))?,
                false => [f64::NAN; 3],
            };
            println!(
                "{:<14} {young:>8.0e} {:>7} {:>9.3} {:>6.1} {theirs:>10.3} {:>7.2}x {:>10.3} {:>7.2}x {:>8.3} {:>8.3} {:>8.3}",
                problem.name,
                3 * problem.lattice.n_nodes(),
                ours.cpu_ms,
                ours.iterations,
                theirs / ours.cpu_ms,
                flex[0],
                flex[0] / ours.cpu_ms,
                ours.sag,
                after[2],
                flex[2]
            );
        }
    }
    Ok(())
}

fn stiffness() -> anyhow::Result<()> {
    head("stiffness and length of steps");
    for (problem, _) in problems()?.into_iter().filter(|(p, _)| p.lattice.n_nodes() < 5000) {
        for (young, secs) in
            [(3e4, 0.01), (3e5, 0.01), (3e5, 1.0 / 30.0), (3e6, 1.0 / 30.0), (1e8, 1.0 / 24.0)]
        {
            let timing = measure(&problem, young, &FleshParams::default(), secs)?;
            print(&problem, &format!("E {young:.0e}, h {secs:.3}"), &timing, "");
        }
    }
    Ok(())
}

fn modes() -> anyhow::Result<()> {
    head("modes");
    let problem = Problem::bar([5, 5, 24])?;
    for mode in Mode::ALL {
        let params = FleshParams { mode, ..FleshParams::default() };
        print(&problem, mode.name(), &measure(&problem, 3e4, &params, SECS)?, "");
    }
    println!("\nforces of St. Venant–Kirchhoff cells, microseconds each");
    for (name, element, integrals) in [
        ("bending (one point)", ElementKind::Incompatible, false),
        ("trilinear, 2×2×2 points", ElementKind::Trilinear, false),
        ("trilinear, integrals", ElementKind::Trilinear, true),
    ] {
        let params = FleshParams { mode: Mode::Stvk, element, integrals, ..FleshParams::default() };
        let solver =
            FleshSolver::new(&problem.lattice, &[Material::default()], &problem.attachment(), &params)?;
        let state = FleshState::at_rest(&problem.lattice);
        let start = thread_secs();
        for _ in 0..20 {
            std::hint::black_box(solver.gradient(&state)?);
        }
        let micros = 1e6 * (thread_secs() - start) / (20 * problem.lattice.n_cells()) as f64;
        println!("{name:<28} {micros:>8.2}");
    }
    Ok(())
}

/// Lattices around the meshes of the data set.
fn lattices() -> anyhow::Result<()> {
    println!("\nlattices of about 1000 cells (all threads)");
    println!(
        "{:<28} {:>9} {:>6} {:>6} {:>7} {:>9} {:>8}",
        "", "vertices", "cells", "split", "nodes", "uncovered", "s"
    );
    let data = places::data();
    let Ok(entries) = std::fs::read_dir(data.join("meshes")) else { return Ok(()) };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        let Ok(content) = read_any(&path, &mut Warnings::default()) else { continue };
        let mesh = content.into_character().unwrap_or_default().mesh;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let start = Instant::now();
        match build_body(&mesh, &LatticeParams::default()) {
            Ok(body) => println!(
                "{name:<28} {:>9} {:>6} {:>6} {:>7} {:>9} {:>8.2}",
                mesh.n_vertices(),
                body.lattice.n_cells(),
                body.n_split,
                body.lattice.n_nodes(),
                body.uncovered.len(),
                start.elapsed().as_secs_f64()
            ),
            Err(error) => println!("{name:<28} {error}"),
        }
    }
    Ok(())
}

/// Whole clips of the samples.
fn characters() -> anyhow::Result<()> {
    println!("\nclips of samples, 15 000 vertices, 1000 cells, 30 kPa, steps of 10 ms (all threads)");
    for sample in [Sample::Biped, Sample::Quadruped, Sample::Octopus] {
        let character = build_character(sample, 15_000)?;
        let clip = character.clips.first();
        let start = Instant::now();
        let mut baker = Baker::new(&character, clip, &BakeParams::default(), &mut Warnings::default())?;
        let prepared = start.elapsed().as_secs_f64();
        let (mut millis, mut iterations) = (Vec::new(), 0);
        let mut last = Instant::now();
        baker.advance(1.0, |report| {
            millis.push(1e3 * last.elapsed().as_secs_f64());
            iterations += report.iterations;
            last = Instant::now();
        })?;
        println!(
            "{:<12} prepared in {prepared:.2} s, {:.2} ms per step, {:.1} iterations, {} nodes in bones of {}",
            sample.name(),
            median(millis.clone()),
            iterations as f64 / millis.len() as f64,
            baker.n_held(),
            baker.body().lattice.n_nodes()
        );
    }
    Ok(())
}

/// Ten thousand steps of random poses, turns by 180 degrees, jumps, stiffnesses and lengths of steps.
fn abuse() -> anyhow::Result<()> {
    println!("\nten thousand steps of bad treatment");
    let lattice = Lattice::block([4, 4, 12], 0.1, DVec3::ZERO)?;
    let held: Vec<u32> = (0..lattice.n_nodes() as u32)
        .filter(|&k| {
            let z = lattice.nodes()[k as usize].z;
            !(0.15..1.05).contains(&z)
        })
        .collect();
    let attachment = Attachment { held, ..Attachment::default() };
    let rest = StepInput::at_rest(&lattice, &attachment).held;
    let cases = [1e3, 1e4, 1e5, 1e6, 1e8];
    println!("held ends move by up to 80 m/s; more than 5 m away counts as an explosion");
    for (case, young) in cases.into_iter().enumerate() {
        let (mut farthest, mut n_open, mut fastest): (f64, usize, f64) = (0.0, 0, 0.0);
        let material = Material { young, ..Material::default() };
        let mut solver = FleshSolver::new(&lattice, &[material], &attachment, &FleshParams::default())?;
        let mut state = FleshState::at_rest(&lattice);
        let mut drive = StepInput::at_rest(&lattice, &attachment);
        for step in 0..10_000 / cases.len() {
            let seed = case * 10_000 + step / 5;
            let noise = |k: usize| ((seed * 7 + k) as f64 * 12.9898).sin();
            let axis = DVec3::new(noise(1), noise(2), noise(3)).normalize_or(DVec3::Y);
            let turn = DQuat::from_axis_angle(axis, std::f64::consts::PI * noise(4).signum());
            let jump =
                if step % 100 == 0 { DVec3::new(noise(5), noise(6), noise(7)) * 20.0 } else { DVec3::ZERO };
            let middle = DVec3::new(0.2, 0.2, 0.6);
            for (target, &p) in drive.held.iter_mut().zip(&rest) {
                *target = if p.z > 0.6 { turn * (p - middle) + middle } else { p } + jump;
            }
            let secs = 1.0 / [24.0, 30.0, 60.0, 120.0, 240.0][step / 7 % 5];
            let report = solver.step(&mut state, &drive, secs)?;
            n_open += usize::from(!report.converged);
            let reach = state.positions.iter().map(|p| p.distance(middle + jump)).fold(0.0, f64::max);
            farthest = farthest.max(reach);
            fastest = fastest.max(state.velocities.iter().map(|v| v.length()).fold(0.0, f64::max));
            anyhow::ensure!(
                reach < 5.0,
                "E {young:e}, step {step}: a node of a bar of 1.2 m is {reach:.1} m away"
            );
        }
        println!("E {young:.0e}: farthest {farthest:.2} m, fastest {fastest:.0} m/s, unsolved {n_open}");
    }
    Ok(())
}
