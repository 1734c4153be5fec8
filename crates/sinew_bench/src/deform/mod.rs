//! Handles: quality of the standard edits, and speed beside libigl.

mod edits;

use edits::Edit;
use sinew::{
    deform::{
        EditParams, Method, SurfaceEditor,
        quality::{measure_quality, measure_sections},
    },
    geom::Warnings,
};
use std::time::Instant;

/// Print the tables.
pub fn run() -> anyhow::Result<()> {
    quality()
}

fn quality() -> anyhow::Result<()> {
    println!(
        "{:<14}{:<10}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>10}{:>9}{:>9}",
        "edit",
        "method",
        "volume %",
        "edges %",
        "energy",
        "flips",
        "selfint",
        "twist °",
        "section",
        "prep ms",
        "frame ms"
    );
    for edit in
        [edits::bar(135.0)?, edits::bar(180.0)?, edits::cylinder()?, edits::cactus()?, edits::arm_raise()?]
    {
        for method in Method::ALL {
            row(&edit, method.name(), &EditParams { method, ..EditParams::default() })?;
        }
    }
    Ok(())
}

fn row(edit: &Edit, name: &str, params: &EditParams) -> anyhow::Result<()> {
    let start = Instant::now();
    let editor = SurfaceEditor::new(&edit.mesh, &edit.handles, params, &mut Warnings::default())?;
    let prepare = start.elapsed();
    let mut positions = edit.mesh.positions().to_vec();
    let start = Instant::now();
    editor.solve(&edit.pose, &mut positions)?;
    let frame = start.elapsed();
    if let Ok(folder) = std::env::var("DUMP") {
        let character = sinew::geom::Character {
            mesh: edit.mesh.with_positions(positions.clone())?,
            ..Default::default()
        };
        std::fs::write(
            format!("{folder}/{}-{name}.obj", edit.name.replace(' ', "_")),
            sinew::formats::obj::write_obj(&character),
        )?;
    }
    let q = measure_quality(&edit.mesh, &positions);
    let mut section = (f64::NAN, f64::NAN);
    if let Some((axis, [low, high])) = edit.limb {
        let slices = measure_sections(edit.mesh.positions(), &positions, axis, [low, high], 24);
        section.1 = slices.iter().map(|s| s.area_ratio).fold(f64::INFINITY, f64::min);
        if let Some(twist) = edit.twist {
            let off = |s: &sinew::deform::quality::Section| {
                let want = twist * (s.place - low) / (high - low);
                let d = (s.twist - want).rem_euclid(std::f64::consts::TAU);
                d.min(std::f64::consts::TAU - d)
            };
            section.0 = slices.iter().map(off).fold(0.0, f64::max).to_degrees();
        }
    }
    println!(
        "{:<14}{name:<10}{:>9.2}{:>9.2}{:>9.4}{:>9}{:>9}{:>9.2}{:>10.3}{:>9.1}{:>9.2}",
        edit.name,
        (q.volume_ratio - 1.0) * 100.0,
        q.edge_rms * 100.0,
        q.arap_energy,
        q.flipped,
        q.self_intersections,
        section.0,
        section.1,
        prepare.as_secs_f64() * 1e3,
        frame.as_secs_f64() * 1e3
    );
    Ok(())
}
