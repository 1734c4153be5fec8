//! The cloth scenes: a tablecloth falling over a table, a flag in gusts, a cloth ball dropped onto a pole.
//!
//! # Source
//! Scenes after those that the mesh-animation literature tests on (such as Antonopoulos (2010), §6.2); simulated by
//! [`super::cloth`].
//! # Cost
//! Each is simulated at one fixed resolution (about 4,000 particles, at most one to two seconds) and resampled smoothly
//! to the requested count, so that every resolution shows the same motion.
//! # Limits
//! Cloth may pass through itself in deep folds.

use super::cloth::{Cloth, push_out};
use super::lattice::{BoxLattice, Sheet, split_quads};
use super::plan::v;
use crate::{GeomError, Mesh, MeshSequence};
use glam::{DVec3, IVec3};
use rayon::prelude::*;
use std::ops::ControlFlow;

/// Frames of every scene, and their rate.
const N_FRAMES: usize = 64;
const FPS: f64 = 24.0;
/// Simulation steps per frame.
const STEPS_PER_FRAME: usize = 16;

/// Called after each frame with the share done, 0..=1; may stop the work.
pub(super) type Progress<'a> = &'a mut dyn FnMut(f64) -> ControlFlow<()>;

/// Run a scene: `step` is called with the time and the length of each small step.
fn simulate(
    cloth: &mut Cloth,
    progress: Progress,
    mut step: impl FnMut(&mut Cloth, f64, f64),
) -> Result<Vec<Vec<DVec3>>, GeomError> {
    let dt = 1.0 / (FPS * STEPS_PER_FRAME as f64);
    let mut frames = vec![cloth.x.clone()];
    while frames.len() < N_FRAMES {
        for i in 0..STEPS_PER_FRAME {
            step(cloth, ((frames.len() - 1) * STEPS_PER_FRAME + i) as f64 * dt, dt);
        }
        if let Some(index) = cloth.x.iter().position(|p| !p.is_finite()) {
            return Err(GeomError::NonFinite { what: "cloth particle", index });
        }
        frames.push(cloth.x.clone());
        if progress(frames.len() as f64 / N_FRAMES as f64).is_break() {
            return Err(GeomError::Cancelled);
        }
    }
    Ok(frames)
}

/// Resample frames to the requested resolution.
fn finish(
    quads: &[[u32; 4]],
    rest: &[DVec3],
    frames: &[Vec<DVec3>],
    resample: impl Fn(&[DVec3]) -> Vec<DVec3> + Sync,
) -> Result<MeshSequence, GeomError> {
    let rest = Mesh::new(resample(rest), split_quads(quads))?;
    let to_f32 = |frame: &Vec<DVec3>| resample(frame).iter().map(|p| p.as_vec3()).collect();
    MeshSequence::new(rest, frames.par_iter().map(to_f32).collect(), FPS)
}

/// Cells of a sheet of about `n_vertices` points whose sides have the given ratio.
fn sheet_of(n_vertices: usize, ratio: f64) -> Sheet {
    let across = (n_vertices as f64 / ratio).sqrt().round().max(2.0);
    let along = (n_vertices as f64 / across).round().max(2.0);
    Sheet { cells: [along as i32 - 1, across as i32 - 1] }
}

/// Structural, shear and bending links of a sheet.
fn link_sheet(cloth: &mut Cloth, sheet: &Sheet, bend: f64) {
    cloth.link_quads(1e-7, 1e-5);
    let [n, m] = sheet.cells;
    for (i, j) in sheet.points() {
        if i + 2 <= n {
            cloth.link(sheet.index(i, j), sheet.index(i + 2, j), bend);
        }
        if j + 2 <= m {
            cloth.link(sheet.index(i, j), sheet.index(i, j + 2), bend);
        }
    }
}

/// A square cloth falls over a round table.
pub(super) fn build_tablecloth(n_vertices: usize, progress: Progress) -> Result<MeshSequence, GeomError> {
    const SIZE: f64 = 1.5;
    let sheet = Sheet { cells: [63, 63] };
    let lay = |(i, j): (i32, i32)| {
        let (x, z) = (SIZE * (f64::from(j) / 63.0 - 0.5), SIZE * (f64::from(i) / 63.0 - 0.5));
        // Slightly rotated, so that the folds are not all the same.
        let (x, z) = (x * 0.985 - z * 0.174 + 0.015, z * 0.985 + x * 0.174 - 0.01);
        v(x, 1.0 + 0.012 * (7.0 * x + 3.0 * z).sin(), z)
    };
    let mut cloth = Cloth::new(sheet.points().map(lay).collect(), sheet.quads(), 0.25);
    link_sheet(&mut cloth, &sheet, 2e-3);
    let mut wind = Vec::new();
    let frames = simulate(&mut cloth, progress, |cloth, _, dt| {
        let force = air_drag(cloth, DVec3::ZERO, 1.2, &mut wind);
        cloth.step(dt, 0.4, &force, |_, before, at| out_of_table(before, at));
    })?;
    let fine = sheet_of(n_vertices, 1.0);
    finish(&fine.quads(), &frames[0], &frames, |frame| sheet.resample(frame, &fine))
}

/// A round table top with a rounded rim, on the floor.
fn out_of_table(before: DVec3, at: DVec3) -> DVec3 {
    const RADIUS: f64 = 0.48;
    const TOP: f64 = 0.75;
    const RIM: f64 = 0.025;
    const SKIN: f64 = 0.006;
    if at.y < SKIN {
        return push_out(before, at, DVec3::Y, SKIN - at.y, 0.8);
    }
    // Distance to a disc of radius `RADIUS − RIM`, swollen by the rim.
    let flat = v(at.x, 0.0, at.z);
    let inner = flat.clamp_length_max(RADIUS - RIM) + DVec3::Y * (TOP - RIM);
    let away = at - inner;
    let distance = away.length();
    let depth = RIM + SKIN - distance;
    if depth <= 0.0 || distance < 1e-9 {
        return at;
    }
    push_out(before, at, away / distance, depth, 0.45)
}

/// A flag on a pole, in wind that gusts and turns.
pub(super) fn build_flag(n_vertices: usize, progress: Progress) -> Result<MeshSequence, GeomError> {
    const SIZE: [f64; 2] = [1.5, 1.0];
    let sheet = Sheet { cells: [77, 51] };
    let lay = |(i, j): (i32, i32)| {
        let (x, y) = (SIZE[0] * f64::from(i) / 77.0, SIZE[1] * f64::from(j) / 51.0);
        v(x, 1.2 + y, 0.02 * x * (5.0 * x + 2.0 * y).sin())
    };
    let mut cloth = Cloth::new(sheet.points().map(lay).collect(), sheet.quads(), 0.18);
    let laid_out = cloth.x.clone();
    link_sheet(&mut cloth, &sheet, 8e-4);
    for j in 0..=sheet.cells[1] {
        cloth.w[sheet.index(0, j) as usize] = 0.0;
    }
    // No particle gets further from its place on the pole than the cloth between them is long. Length constraints alone
    // would need many sweeps to enforce that, and the upper corner would stretch.
    let row = (sheet.cells[0] + 1) as usize;
    let anchors: Vec<(DVec3, f64)> =
        laid_out.iter().enumerate().map(|(i, p)| (laid_out[i - i % row], 1.03 * p.x)).collect();
    let mut normals = Vec::new();
    let mut fly = |cloth: &mut Cloth, time: f64, dt: f64| {
        let force = wind_on_flag(cloth, time, &mut normals);
        cloth.step(dt, 0.3, &force, |i, _, at| {
            anchors[i].0 + (at - anchors[i].0).clamp_length_max(anchors[i].1)
        });
    };
    // Simulate past the first flutter before the first frame.
    let dt = 1.0 / (FPS * STEPS_PER_FRAME as f64);
    for i in 0..STEPS_PER_FRAME * 24 {
        fly(&mut cloth, i as f64 * dt - 1.0, dt);
    }
    let frames = simulate(&mut cloth, progress, fly)?;
    let fine = sheet_of(n_vertices, SIZE[0] / SIZE[1]);
    finish(&fine.quads(), &laid_out, &frames, |frame| sheet.resample(frame, &fine))
}

fn wind_on_flag(cloth: &Cloth, time: f64, normals: &mut Vec<DVec3>) -> Vec<DVec3> {
    let gust = 1.0 + 0.35 * (2.1 * time).sin() + 0.2 * (5.3 * time + 1.0).sin();
    let turn = 0.2 * (1.7 * time).sin() + 0.14 * (3.9 * time + 2.0).sin();
    let wind = v(6.0 * gust * turn.cos(), 0.5 + 0.5 * (2.9 * time).sin(), 6.0 * gust * turn.sin());
    let mut force = air_drag(cloth, wind, 0.3, normals);
    // Eddies run along the flag with the wind.
    for (p, f) in cloth.x.iter().zip(force.iter_mut()) {
        let eddy = (9.0 * p.x - 22.0 * time).sin() * (3.0 * p.y + 1.3 * time).cos();
        f.z += 0.001 * p.x * gust * eddy;
    }
    force
}

/// Air that moves at `wind`; only its component across the cloth exerts force.
fn air_drag(cloth: &Cloth, wind: DVec3, density: f64, normals: &mut Vec<DVec3>) -> Vec<DVec3> {
    cloth.area_normals(normals);
    let drag = |(n, u): (&DVec3, &DVec3)| {
        let area = n.length();
        let unit = *n / area.max(1e-12);
        unit * (density * area * (wind - *u).dot(unit) * (wind - *u).length().max(0.5))
    };
    normals.iter().zip(&cloth.velocity).map(drag).collect()
}

/// A ball of cloth falls onto a pole and sags over it as its air leaks out.
pub(super) fn build_balloon(n_vertices: usize, progress: Progress) -> Result<MeshSequence, GeomError> {
    const RADIUS: f64 = 0.36;
    let ball = BoxLattice { cells: IVec3::splat(26) };
    let center = v(0.004, 1.12, 0.003);
    let place = |p: &IVec3| center + RADIUS * cube_to_sphere(p.as_dvec3() / 13.0 - 1.0);
    let mut cloth = Cloth::new(ball.points().iter().map(place).collect(), ball.quads(), 0.3);
    cloth.link_quads(2e-7, 1e-4);
    link_across(&mut cloth, 4e-3);
    let rest_volume = cloth.volume();
    // What starts above ends outside in the folds: it keeps a little more distance from the pole.
    let skin: Vec<f64> = cloth.x.iter().map(|p| if p.y > center.y { 0.022 } else { 0.006 }).collect();
    let mut normals = Vec::new();
    let frames = simulate(&mut cloth, progress, |cloth, time, dt| {
        let mut force = air_drag(cloth, DVec3::ZERO, 1.5, &mut normals);
        let held = 0.16 + 0.84 * (-4.0 * (time - 0.2).max(0.0)).exp();
        let pressure = (900.0 * (held * rest_volume / cloth.volume().max(1e-6) - 1.0)).clamp(0.0, 900.0);
        normals.iter().zip(force.iter_mut()).for_each(|(n, f)| *f += *n * pressure);
        cloth.step(dt, 0.8, &force, |i, before, at| out_of_pole(before, at, skin[i]));
    })?;
    let fine = ball_of(n_vertices);
    finish(&fine.quads(), &frames[0], &frames, |frame| ball.resample(frame, &fine))
}

/// Bending links: across each pair of neighbouring quads, end to end.
fn link_across(cloth: &mut Cloth, compliance: f64) {
    let mut sides: Vec<([u32; 2], [u32; 2])> = Vec::with_capacity(4 * cloth.quads.len());
    for q in &cloth.quads {
        for i in 0..4 {
            let (a, b, c, d) = (q[i], q[(i + 1) % 4], q[(i + 2) % 4], q[(i + 3) % 4]);
            // Far ends belong to the near ones: d is beyond a, c beyond b.
            sides.push(if a < b { ([a, b], [d, c]) } else { ([b, a], [c, d]) });
        }
    }
    sides.sort_unstable();
    for pair in sides.chunks_exact(2) {
        cloth.link(pair[0].1[0], pair[1].1[0], compliance);
        cloth.link(pair[0].1[1], pair[1].1[1], compliance);
    }
}

/// Box of about `n_vertices` surface points, two sides equal and the third fitted.
fn ball_of(n_vertices: usize) -> BoxLattice {
    let side = ((n_vertices as f64 - 2.0) / 6.0).sqrt().round().max(2.0);
    let third = ((n_vertices as f64 - 2.0 - 2.0 * side * side) / (4.0 * side)).round().max(2.0);
    BoxLattice { cells: IVec3::new(third as i32, side as i32, side as i32) }
}

/// Even map of the cube's surface onto the unit sphere.
fn cube_to_sphere(p: DVec3) -> DVec3 {
    let q = p * p;
    v(
        p.x * (1.0 - 0.5 * (q.y + q.z) + q.y * q.z / 3.0).sqrt(),
        p.y * (1.0 - 0.5 * (q.z + q.x) + q.z * q.x / 3.0).sqrt(),
        p.z * (1.0 - 0.5 * (q.x + q.y) + q.x * q.y / 3.0).sqrt(),
    )
}

/// A round-topped pole on the floor.
fn out_of_pole(before: DVec3, at: DVec3, skin: f64) -> DVec3 {
    const RADIUS: f64 = 0.06;
    const TOP: f64 = 0.62;
    if at.y < skin {
        return push_out(before, at, DVec3::Y, skin - at.y, 0.6);
    }
    let axis = v(0.0, at.y.min(TOP - RADIUS), 0.0);
    let away = at - axis;
    let distance = away.length();
    let depth = RADIUS + skin - distance;
    if depth <= 0.0 || distance < 1e-9 {
        return at;
    }
    push_out(before, at, away / distance, depth, 3.0)
}
