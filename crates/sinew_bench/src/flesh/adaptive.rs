//! Flesh that adapts, beside the same body of finest cells and of large ones: where halving cells pays, and where not.

#[path = "../../../sinew/examples/draw_lattices/tip.rs"]
mod tip;

use super::data;
use crate::measure::{in_pool, thread_secs};
use glam::{DAffine3, DQuat, DVec3, Vec3};
use sinew::{
    flesh::{
        AdaptiveFlesh, AdaptiveParams, Clamp, FleshParams, LatticeParams, Material, SmoothEmbedding,
        build_body,
    },
    geom::{
        Mesh,
        sample::{Sample, build_character},
    },
};

use tip::hold_tip;

const STEPS: usize = 100;
const SECS: f64 = 0.01;

/// A body, what holds it, and how that moves.
struct Scene {
    name: &'static str,
    mesh: Mesh,
    clamps: Vec<Clamp>,
    motion: fn(f64, &[Clamp]) -> Vec<DAffine3>,
    gravity: f64,
    cells: usize,
}

fn ramp(time: f64) -> f64 {
    (2.0 * time).min(1.0)
}

/// The second clamp goes away from the first.
fn pull(time: f64, clamps: &[Clamp]) -> Vec<DAffine3> {
    let away = (clamps[1].center - clamps[0].center).normalize_or_zero() * 0.25 * ramp(time);
    vec![DAffine3::IDENTITY, DAffine3::from_translation(away)]
}

/// The second clamp turns by 90 degrees around the line between both.
fn twist(time: f64, clamps: &[Clamp]) -> Vec<DAffine3> {
    let axis = (clamps[1].center - clamps[0].center).normalize_or(DVec3::Y);
    let turn = DQuat::from_axis_angle(axis, ramp(time) * std::f64::consts::FRAC_PI_2);
    let middle = clamps[1].center;
    vec![DAffine3::IDENTITY, DAffine3::from_rotation_translation(turn, middle - turn * middle)]
}

fn still(_: f64, clamps: &[Clamp]) -> Vec<DAffine3> {
    vec![DAffine3::IDENTITY; clamps.len()]
}

/// One run: the surface at the end, and what it cost.
struct Run {
    positions: Vec<Vec3>,
    cpu_ms: f64,
    cells: f64,
    dof: f64,
    changes: usize,
    /// Iterations per step, and steps that were factorised.
    iterations: f64,
    direct: usize,
}

fn simulate(scene: &Scene, size: f64, thresholds: &[[f64; 2]]) -> anyhow::Result<Run> {
    let adaptive = AdaptiveParams { thresholds: thresholds.to_vec(), ..AdaptiveParams::default() };
    let params = FleshParams { gravity: DVec3::new(0.0, -scene.gravity, 0.0), ..FleshParams::default() };
    let lattice = LatticeParams { cells: 0, size: Some(size) };
    let material = Material { young: 3e4, ..Material::default() };
    let mut flesh = AdaptiveFlesh::new(&scene.mesh, &lattice, &material, &scene.clamps, &params, &adaptive)?;
    let (mut cells, mut dof, mut iterations, mut direct) = (0, 0, 0, 0);
    let mut positions = vec![Vec3::ZERO; scene.mesh.n_vertices()];
    let start = thread_secs();
    for step in 1..=STEPS {
        let report = flesh.step(&(scene.motion)(step as f64 * SECS, &scene.clamps), SECS)?;
        iterations += report.iterations;
        direct += usize::from(report.direct);
        cells += flesh.lattice().n_cells();
        dof += flesh.n_dof();
    }
    let cpu_ms = 1e3 * (thread_secs() - start) / STEPS as f64;
    flesh.positions(&mut positions)?;
    let mean = |sum: usize| sum as f64 / STEPS as f64;
    let (cells, dof, iterations) = (mean(cells), mean(dof), mean(iterations));
    Ok(Run { positions, cpu_ms, cells, dof, changes: flesh.n_changes(), iterations, direct })
}

fn scenes() -> anyhow::Result<Vec<Scene>> {
    let mut scenes = Vec::new();
    if let Ok(mesh) = data("libigl-armadillo.obj") {
        let (mesh, clamps) = hold_tip(&mesh)?;
        let (clamp, clamps) = (vec![clamps[0]], clamps.to_vec());
        scenes.push(Scene {
            name: "armadillo, one tip pulled",
            mesh: mesh.clone(),
            clamps,
            motion: pull,
            gravity: 0.0,
            cells: 8000,
        });
        scenes.push(Scene {
            name: "armadillo, sags",
            mesh,
            clamps: clamp,
            motion: still,
            gravity: 9.81,
            cells: 8000,
        });
    }
    let bar = build_character(Sample::Bar, 6000)?.mesh;
    let [low, high] = bar.bounds();
    let axis = (0..3).max_by(|a, b| (high - low)[*a].total_cmp(&(high - low)[*b])).unwrap_or(0);
    let end = |side: f64| {
        let mut p = (low + high) / 2.0;
        p[axis] = if side > 0.0 { high[axis] } else { low[axis] };
        Clamp { center: p, radius: 0.35 * (high - low).min_element() }
    };
    let clamps = vec![end(-1.0), end(1.0)];
    scenes.push(Scene { name: "bar, twisted", mesh: bar, clamps, motion: twist, gravity: 0.0, cells: 6000 });
    Ok(scenes)
}

/// The table.
pub fn run() -> anyhow::Result<()> {
    in_pool(1, || table().and_then(|()| smooth()))
}

/// What smooth display costs, once and per frame.
fn smooth() -> anyhow::Result<()> {
    println!("\ndisplay of 15 000 vertices in 1000 cells, processor time");
    for sample in [Sample::Biped, Sample::Quadruped] {
        let mesh = build_character(sample, 15_000)?.mesh;
        let body = build_body(&mesh, &LatticeParams::default())?;
        let start = thread_secs();
        let smooth = SmoothEmbedding::new(&body, mesh.positions())?;
        let once = thread_secs() - start;
        let mut out = vec![Vec3::ZERO; mesh.n_vertices()];
        let nodes = body.lattice.nodes();
        let start = thread_secs();
        for _ in 0..100 {
            body.embedding.evaluate(&body.lattice, nodes, &mut out)?;
        }
        let plain = thread_secs() - start;
        let start = thread_secs();
        for _ in 0..100 {
            smooth.evaluate(nodes, &mut out)?;
        }
        let each = thread_secs() - start;
        println!(
            "{:<12} once {once:.2} s; a frame {:.2} ms plain, {:.2} ms smooth",
            sample.name(),
            10.0 * plain,
            10.0 * each
        );
    }
    Ok(())
}

fn table() -> anyhow::Result<()> {
    println!(
        "{STEPS} steps of {SECS} s, 30 kPa, processor time with all changes of cells; off from the finest cells, % of the diagonal"
    );
    println!(
        "{:<28} {:<22} {:>7} {:>7} {:>9} {:>7} {:>7} {:>7} {:>8} {:>8} {:>8}",
        "", "", "cells", "dof", "ms", "faster", "iter", "direct", "changes", "rms %", "max %"
    );
    for scene in scenes()? {
        let lattice = LatticeParams { cells: scene.cells, size: None };
        let size = build_body(&scene.mesh, &lattice)?.lattice.size();
        let finest = simulate(&scene, size, &[])?;
        let print = |name: &str, run: &Run| {
            let off: Vec<f64> =
                run.positions.iter().zip(&finest.positions).map(|(a, b)| f64::from(a.distance(*b))).collect();
            let percent = 100.0 / scene.mesh.diagonal();
            let rms = (off.iter().map(|x| x * x).sum::<f64>() / off.len() as f64).sqrt();
            println!(
                "{:<28} {name:<22} {:>7.0} {:>7.0} {:>9.2} {:>6.1}x {:>7.1} {:>7} {:>8} {:>8.3} {:>8.3}",
                scene.name,
                run.cells,
                run.dof,
                run.cpu_ms,
                finest.cpu_ms / run.cpu_ms,
                run.iterations,
                run.direct,
                run.changes,
                rms * percent,
                off.iter().copied().fold(0.0, f64::max) * percent
            );
        };
        print("finest", &finest);
        print("twice as large", &simulate(&scene, 2.0 * size, &[])?);
        for (name, thresholds) in [
            ("adaptive, 0.05 / 0.02", [[0.05, 0.02]; 2]),
            ("adaptive, 0.10 / 0.04", [[0.1, 0.04]; 2]),
            ("adaptive, 0.20 / 0.08", [[0.2, 0.08]; 2]),
        ] {
            print(name, &simulate(&scene, size, &thresholds)?);
        }
    }
    Ok(())
}
