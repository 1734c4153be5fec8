//! Muscles: milliseconds of a drag, how near surface muscles come to real poses of the cat, the lion and the horse, and what is
//! left of them on another animal (`transfer`).
//!
//! The poses are those of Sumner and Popović (`data/sequences/sumner-*`); they come without a skeleton, so that one is made of
//! handles found from the shape. Features are the hand-picked markers of the same data set.

mod transfer;

use crate::{
    measure::{in_pool, thread_secs},
    places,
};
use anyhow::Context;
use glam::DVec3;
use sinew::{
    deform::{AutoParams, HandleSet, build_skin, find_handles},
    flesh::{
        FleshParams, LatticeParams, Material, SimulationParams,
        muscle::{Guide, Template},
        muscle_fit::{
            AdaptParams, Matching, PosedBody, SurfaceParams, TemplateFitParams, TemplateFitter, fit_adaptive,
            fit_pose, fit_surface,
        },
    },
    formats::read_any,
    geom::{
        Character, Mesh, Warnings,
        sample::{Sample, build_character},
    },
};
use std::{ops::ControlFlow, time::Instant};

/// Print the tables: `drag`, `surface` and `transfer [FOLDER]`, which also draws into a folder.
pub fn run(args: &[String]) -> anyhow::Result<()> {
    let wants = |name: &str| args.is_empty() || args.iter().any(|arg| arg == name);
    if wants("drag") {
        in_pool(1, drag)?;
    }
    if wants("surface") {
        surface()?;
    }
    if wants("transfer") {
        let folder = args.iter().position(|arg| arg == "transfer").and_then(|at| args.get(at + 1));
        transfer::run(folder.map(std::path::Path::new))?;
    }
    Ok(())
}

pub fn data(name: &str) -> anyhow::Result<Mesh> {
    let data = places::data();
    let path = data.join("sequences").join(name);
    let read = read_any(&path, &mut Warnings::default()).with_context(|| path.display().to_string())?;
    Ok(read.into_character().unwrap_or_default().mesh)
}

/// A mesh with bones out of handles found from its shape.
pub fn boned(mesh: Mesh) -> anyhow::Result<Character> {
    let mut warnings = Warnings::default();
    let go_on = &mut |_| ControlFlow::Continue(());
    let handles = find_handles(&mesh, &AutoParams::default(), go_on, &mut warnings)?;
    let set = HandleSet::new(&mesh, &handles, &mut warnings)?;
    let (rig, skin) = build_skin(&mesh, &set, &mut warnings)?;
    Ok(Character { mesh, rig: Some(rig), skin: Some(skin), ..Character::default() })
}

/// Flesh in proportion to its size, without gravity: what a pose looks like at rest.
pub fn params(mesh: &Mesh, cells: usize) -> SimulationParams {
    let [low, high] = mesh.bounds();
    SimulationParams {
        lattice: LatticeParams { cells, size: None },
        material: Material::default().stiffened((high - low).max_element() / 1.7),
        flesh: FleshParams { gravity: DVec3::ZERO, ..FleshParams::default() },
        ..SimulationParams::default()
    }
}

/// One template dragged by one point, over and over with another target, as a hand does.
fn drag() -> anyhow::Result<()> {
    println!(
        "one template dragged by a point of the skin (biped; milliseconds of the processor: to factorise, to take hold, and a \
         drag, mean of 40 targets; bar 100 ms)"
    );
    println!(
        "{:>8} {:>7} {:>8}  {:>9} {:>9} {:>9} {:>7}",
        "template", "cells", "dof", "factor", "grip", "drag", "rounds"
    );
    let character = build_character(Sample::Biped, 10_000)?;
    let top = highest(&character.mesh);
    for cells in [1000, 3000] {
        let posed = PosedBody::new(&character, &params(&character.mesh, cells), &mut Warnings::default())?;
        let start = thread_secs();
        let statics = posed.statics()?;
        let factor = (thread_secs() - start) * 1e3;
        for template in Template::ALL {
            let guide = Guide::at_vertex(&character.mesh, top).context("no normal")?;
            let radius = 0.12;
            let mut eta = vec![1.0, radius, radius][..template.parameters().len()].to_vec();
            eta.extend([-0.3 * radius, 0.0]);
            let start = thread_secs();
            let point = posed.point(top)?;
            let lattice = &posed.body().lattice;
            let fitter =
                TemplateFitter::new(&statics, lattice, (template, &guide), &[point], posed.rotations())?;
            let grip = (thread_secs() - start) * 1e3;
            let base = posed.place(&point);
            let mut rounds = 0;
            let start = thread_secs();
            for k in 0..40 {
                let way =
                    DVec3::new(0.004 * f64::from(k % 5), 0.001 * f64::from(k), -0.003 * f64::from(k % 3));
                let found = fitter.fit(&eta, &[base], &[base + way], &TemplateFitParams::default())?;
                rounds = rounds.max(found.report.rounds);
            }
            let drag = (thread_secs() - start) * 1e3 / 40.0;
            let dof = 3 * lattice.n_nodes();
            let n_cells = lattice.n_cells();
            println!(
                "{:>8} {n_cells:>7} {dof:>8}  {factor:>9.1} {grip:>9.2} {drag:>9.2} {rounds:>7}",
                template.name()
            );
        }
    }
    Ok(())
}

/// The vertex in front of the chest of the sample: the one nearest to a place before it.
fn highest(mesh: &Mesh) -> usize {
    let [low, high] = mesh.bounds();
    let place = DVec3::new(0.5 * (low.x + high.x), low.y + 0.68 * (high.y - low.y), high.z);
    let distance = |v: &usize| mesh.positions()[*v].distance_squared(place);
    (0..mesh.n_vertices()).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0)
}

/// Pose from features, then forces, on lattices of several sizes.
fn surface() -> anyhow::Result<()> {
    println!(
        "\nsurface muscles on real poses: mean distance in percent of the diagonal, and how much the muscle reduces it"
    );
    println!(
        "{:>6} {:>5} {:>8} {:>7}  {:>7} {:>7} {:>7}  {:>8} {:>7}",
        "", "pose", "by", "cells", "rest", "posed", "rigged", "less by", "secs"
    );
    for (animal, poses) in
        [("cat", &["01", "03", "07"][..]), ("lion", &["01", "03", "05", "07"]), ("horse", &["02", "06"])]
    {
        let folder = format!("sumner-{animal}-poses");
        let character = boned(data(&format!("{folder}/{animal}-reference.obj"))?)?;
        let diagonal = character.mesh.diagonal();
        for pose in poses {
            let target = data(&format!("{folder}/{animal}-{pose}.obj"))?;
            let every =
                (0..character.mesh.n_vertices() as u32).step_by(20).map(|v| (v, v)).collect::<Vec<_>>();
            let posing = fit_pose(&character, &target, &every)?;
            for (matching, name) in [(Matching::Vertices, "vertices"), (Matching::Closest, "closest")] {
                for cells in [500, 1000] {
                    let start = Instant::now();
                    let mut posed = PosedBody::new(
                        &character,
                        &params(&character.mesh, cells),
                        &mut Warnings::default(),
                    )?;
                    posed.set_pose(&posing.pose)?;
                    let params = SurfaceParams { matching, ..SurfaceParams::default() };
                    let fit =
                        fit_surface(&mut posed, &character.mesh, &target, &params, &mut Warnings::default())?;
                    let percent = |x: f64| 100.0 * x / diagonal;
                    println!(
                        "{animal:>6} {pose:>5} {name:>8} {:>7}  {:>7.3} {:>7.3} {:>7.3}  {:>7.1}% {:>7.2}",
                        posed.body().lattice.n_cells(),
                        percent(posing.distances[0]),
                        percent(fit.before.mean),
                        percent(fit.after.mean),
                        100.0 * (1.0 - fit.after.mean / fit.before.mean),
                        start.elapsed().as_secs_f64()
                    );
                }
            }
            let start = Instant::now();
            let adapt = AdaptParams::default();
            let body = params(&character.mesh, 1000);
            let mut go_on = |_| ControlFlow::Continue(());
            let mut ignored = Warnings::default();
            let found =
                fit_adaptive(&character, (&body, &posing.pose), &target, &adapt, &mut ignored, &mut go_on)?;
            for (k, round) in found.rounds.iter().enumerate() {
                let [before, after] = round.distances.map(|d| d.mean);
                println!(
                    "{animal:>6} {pose:>5}  adapt {k} {:>7}  {:>7.3} {:>7.3} {:>7.3}  {:>7.1}% {:>7.2}",
                    round.cells,
                    100.0 * posing.distances[0] / diagonal,
                    100.0 * before / diagonal,
                    100.0 * after / diagonal,
                    100.0 * (1.0 - after / before),
                    start.elapsed().as_secs_f64()
                );
            }
        }
    }
    Ok(())
}
