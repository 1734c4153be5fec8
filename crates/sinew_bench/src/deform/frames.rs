//! Frames of the guided method in wall and processor time, and many small pieces.

use super::speed::waving;
use crate::measure::{cpu_secs, in_pool};
use sinew::{
    deform::{EditParams, HandleMotion, HandlePose, HandleSet, SurfaceEditor},
    geom::{
        Handle, Mesh, Warnings,
        sample::{Sample, build_character},
    },
};
use std::time::Instant;

/// Frames of a run; the best of them is what the machine can do, the median what it does.
const FRAMES: usize = 300;

/// Print a line for each model and number of threads.
pub fn run() -> anyhow::Result<()> {
    println!(
        "\n{:<32}{:>9}{:>12}{:>14}{:>13}{:>16}",
        "guided", "threads", "prepare ms", "best ms", "median ms", "processor ms"
    );
    let biped = build_character(Sample::Biped, 43_000)?;
    let handles = HandleSet::new(&biped.mesh, &biped.handles, &mut Warnings::default())?;
    let pose = HandlePose::from_moves(&biped.mesh, &handles, &waving(&biped))?;
    for threads in [1, 2] {
        in_pool(threads, || row("biped, 43 k", threads, &biped.mesh, &handles, &pose))?;
    }
    for n in [20_000, 200_000] {
        let mesh = build_character(Sample::Biped, n)?.mesh;
        let handles = sprinkled(&mesh)?;
        let motions = (0..handles.len()).map(|k| {
            let turn = glam::DQuat::from_rotation_y(0.02 * k as f64);
            HandleMotion::rigid(turn, glam::DVec3::new(0.0, 0.001 * k as f64, 0.0))
        });
        let pose = HandlePose::from_motions(&handles, motions.collect())?;
        let name = format!("sprinkled over 80 % of {} k", n / 1000);
        in_pool(2, || row(&name, 2, &mesh, &handles, &pose))?;
    }
    Ok(())
}

/// Ten handles over four fifths of the vertices, without any order: thousands of small soft pieces.
fn sprinkled(mesh: &Mesh) -> anyhow::Result<HandleSet> {
    let mut handles: Vec<Handle> =
        (0..10).map(|k| Handle { name: format!("h{k}"), ..Handle::default() }).collect();
    for v in 0..mesh.n_vertices() as u32 {
        let noise = (u64::from(v) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
        if noise % 5 != 0 {
            let handle = &mut handles[(noise / 5 % 10) as usize];
            handle.vertices.push(v);
            handle.weights.push(1.0);
        }
    }
    Ok(HandleSet::new(mesh, &handles, &mut Warnings::default())?)
}

fn row(
    name: &str,
    threads: usize,
    mesh: &Mesh,
    handles: &HandleSet,
    pose: &HandlePose,
) -> anyhow::Result<()> {
    let start = Instant::now();
    let editor = SurfaceEditor::new(mesh, handles, &EditParams::default(), &mut Warnings::default())?;
    let prepare = start.elapsed().as_secs_f64() * 1e3;
    let mut out = mesh.positions().to_vec();
    editor.solve(pose, &mut out)?;
    let (before, begun) = (cpu_secs(), Instant::now());
    let mut times = Vec::new();
    while times.len() < FRAMES && begun.elapsed().as_secs_f64() < 5.0 {
        let start = Instant::now();
        editor.solve(pose, &mut out)?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    let cpu = before.zip(cpu_secs()).map(|(a, b)| (b - a) * 1e3 / times.len() as f64);
    times.sort_by(f64::total_cmp);
    println!(
        "{name:<32}{threads:>9}{prepare:>12.1}{:>14.2}{:>13.2}{:>16}",
        times[0],
        times[times.len() / 2],
        cpu.map_or_else(|| "-".to_owned(), |ms| format!("{ms:.2}")),
    );
    Ok(())
}
