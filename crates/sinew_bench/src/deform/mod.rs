//! Handles: quality of the standard edits, and speed beside libigl.

#[path = "../../../sinew/tests/edits.rs"]
mod edits;
mod frames;
mod speed;
mod thesis;

pub use speed::waving;

use crate::places;
use edits::Edit;
use glam::DVec3;
use sinew::{
    deform::{EditParams, Method, SurfaceEditor, SurfaceRefiner, quality::measure_quality},
    geom::Warnings,
};
use std::{ops::ControlFlow, time::Instant};

/// Print the tables.
pub fn run() -> anyhow::Result<()> {
    standard_edits()?;
    frames::run()?;
    speed::run()?;
    thesis::run()
}

/// Print the quality of the standard edits alone.
pub fn standard_edits() -> anyhow::Result<()> {
    let data = places::data();
    if data.is_dir() {
        quality(&data).map_err(|error| anyhow::anyhow!("{error}"))
    } else {
        println!("{}: no data, so no quality of the standard edits", data.display());
        Ok(())
    }
}

/// Print the frame times of the guided method alone.
pub fn frames() -> anyhow::Result<()> {
    frames::run()
}

fn quality(data: &std::path::Path) -> edits::Tried<()> {
    println!(
        "{:<14}{:<10}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>10}{:>11}{:>10}",
        "edit",
        "method",
        "volume %",
        "edges %",
        "energy",
        "flipped",
        "selfint",
        "twist °",
        "section",
        "prepare ms",
        "frame ms"
    );
    let bars = [edits::bar(data, 135.0)?, edits::bar(data, 180.0)?];
    for edit in
        bars.into_iter().chain([edits::cylinder(data)?, edits::cactus(data)?, edits::arm_raise(data)?])
    {
        for method in Method::ALL {
            row(&edit, method)?;
        }
        refined(&edit)?;
    }
    Ok(())
}

fn row(edit: &Edit, method: Method) -> edits::Tried<()> {
    let params = EditParams { method, ..EditParams::default() };
    let start = Instant::now();
    let editor = SurfaceEditor::new(&edit.mesh, &edit.handles, &params, &mut Warnings::default())?;
    let prepare = start.elapsed().as_secs_f64() * 1e3;
    let mut positions = edit.mesh.positions().to_vec();
    let frame = crate::measure::time(3, || drop(editor.solve(&edit.pose, &mut positions)));
    print(edit, method.name(), &positions, [prepare, frame]);
    Ok(())
}

/// The guided method with fine iterations after it; the time of a frame is that of one of them.
fn refined(edit: &Edit) -> edits::Tried<()> {
    let editor =
        SurfaceEditor::new(&edit.mesh, &edit.handles, &EditParams::default(), &mut Warnings::default())?;
    let start = Instant::now();
    let refiner = SurfaceRefiner::new(&edit.mesh, &edit.handles, &editor, &|_| ControlFlow::Continue(()))?;
    let prepare = start.elapsed().as_secs_f64() * 1e3;
    let mut positions = edit.mesh.positions().to_vec();
    editor.solve(&edit.pose, &mut positions)?;
    for step in 1..=10 {
        let start = Instant::now();
        refiner.refine(&edit.pose, 1, &mut positions)?;
        let frame = start.elapsed().as_secs_f64() * 1e3;
        if [1, 2, 5, 10].contains(&step) {
            print(edit, &format!("+ {step} fine"), &positions, [prepare, frame]);
        }
    }
    Ok(())
}

fn print(edit: &Edit, method: &str, positions: &[DVec3], [prepare, frame]: [f64; 2]) {
    let q = measure_quality(&edit.mesh, positions);
    let limb = edit.measure_limb(positions);
    let number = |x: Option<f64>| x.map_or_else(|| "-".to_owned(), |x| format!("{x:.2}"));
    println!(
        "{:<14}{method:<10}{:>9.2}{:>9.2}{:>9.4}{:>9}{:>9}{:>9}{:>10}{prepare:>11.1}{frame:>10.2}",
        edit.name,
        (q.volume_ratio - 1.0) * 100.0,
        q.edge_rms * 100.0,
        q.arap_energy,
        q.flipped,
        q.self_intersections,
        number(limb.and_then(|l| l.0)),
        number(limb.map(|l| l.1)),
    );
}
