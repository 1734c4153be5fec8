//! Surface muscles transferred to another character, beside the results of deformation transfer (Sumner and Popović 2004) in the same
//! poses: cat → lion and horse → camel, by numbers and, with a folder, by pictures.
//!
//! Lion and camel have no skeleton; they get that of the source, carried by the map. Poses of the target are compared vertex
//! by vertex after a rigid alignment, since deformation transfer puts its results anywhere.

use super::{boned, data, params};
use crate::raster::{Item, Picture, View};
use anyhow::{Context, anyhow};
use glam::{DMat3, DVec3};
use sinew::{
    flesh::{
        muscle::{Control, ControlSource, Muscle, MuscleSet, MuscleShape},
        muscle_fit::{
            MapPairs, MapParams, PosedBody, SurfaceParams, carry_skeleton, fit_map, fit_pose, fit_surface,
            match_joints, transfer_muscles,
        },
    },
    geom::{Character, Mesh, Warnings, linalg::polar},
};
use std::{ops::ControlFlow, path::Path, time::Instant};

/// One pose of a target: ours without and with the muscle, and what deformation transfer made of it.
struct Shown {
    source: Vec<DVec3>,
    posed: Vec<DVec3>,
    rigged: Vec<DVec3>,
    wanted: Vec<DVec3>,
}

/// Print the tables, and draw them into a folder if one is given.
pub fn run(folder: Option<&Path>) -> anyhow::Result<()> {
    println!(
        "\nmuscles transferred, beside deformation transfer: mean distance in percent of the diagonal, rigidly aligned"
    );
    for (from, to, poses) in [("cat", "lion", &["01", "03", "07"][..]), ("horse", "camel", &["02", "06"])] {
        pair((from, to), poses, folder)?;
    }
    Ok(())
}

fn markers(name: &str) -> anyhow::Result<Vec<(usize, usize)>> {
    let path = crate::places::data().join("sequences").join(name);
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let one = |line: &str| {
        let line = line.split('#').next()?.trim().trim_start_matches('-').trim().trim_matches('"');
        let (a, b) = line.split_once(':')?;
        Some((a.trim().parse().ok()?, b.trim().parse().ok()?))
    };
    Ok(text.lines().filter_map(one).collect())
}

fn pair((from, to): (&str, &str), poses: &[&str], folder: Option<&Path>) -> anyhow::Result<()> {
    let reference = |animal: &str| data(&format!("sumner-{animal}-poses/{animal}-reference.obj"));
    let (source, bare) = (boned(reference(from)?)?, reference(to)?);
    let mut quiet = Warnings::default();
    let mut body = PosedBody::new(&source, &params(&source.mesh, 1000), &mut quiet)?;
    let features: Vec<[DVec3; 2]> = markers(&format!("markers-{from}-{to}.yml"))?
        .into_iter()
        .filter_map(|(a, b)| Some([*source.mesh.positions().get(a)?, *bare.positions().get(b)?]))
        .collect();
    let start = Instant::now();
    let pairs = MapPairs { bones: Vec::new(), features };
    let mut go_on = |_| ControlFlow::Continue(());
    let map = fit_map((body.body(), &source.mesh), &bare, &pairs, &MapParams::default(), &mut go_on)?;
    let target = carry_skeleton(&map, &source, &bare, &mut quiet)?;
    let joints = match_joints(&source, &target, &[])?;
    println!(
        "{from} → {to}: {} markers; the map misses them by {:.2} %, the surface by {:.2} %, least corner {:.4}; {:.1} s",
        pairs.features.len(),
        100.0 * map.report.features,
        100.0 * map.report.surface,
        map.report.least_volume,
        start.elapsed().as_secs_f64()
    );
    println!(
        "{:>5} {:>8} {:>8} {:>8} {:>9} {:>9} {:>8} {:>11} {:>8} {:>6}",
        "pose", "rest", "posed", "rigged", "less by", "opened", "folded", "least", "cells", "s"
    );
    let mut shown = Vec::new();
    for pose in poses {
        let start = Instant::now();
        let read = |animal: &str| data(&format!("sumner-{animal}-poses/{animal}-{pose}.obj"));
        let (goal, wanted) = (read(from)?, read(to)?);
        let set = surface_muscle(&source, &mut body, &goal)?;
        let mut other = PosedBody::new(&target, &params(&target.mesh, 1000), &mut quiet)?;
        let (carried, report) = transfer_muscles(&mut body, &set, &map, &mut other, &joints)?;
        let MuscleShape::Surface { samples, .. } = &carried.muscles[0].shape else {
            return Err(anyhow!("a surface muscle became another kind"));
        };
        let forces = &samples.last().context("a muscle without samples")?.1;
        other.set_pose(&carried.muscles[0].pose_on(other.rig()))?;
        let posed = other.positions();
        let turned = forces.iter().zip(other.rotations()).map(|(f, turn)| *turn * *f).collect();
        other.push(turned)?;
        let (rigged, wanted) = (other.positions(), wanted.positions());
        let percent = |list: &[DVec3]| 100.0 * aligned(list, wanted).1 / bare.diagonal();
        let [rest, before, after] = [bare.positions(), &posed, &rigged].map(percent);
        println!(
            "{pose:>5} {rest:>8.2} {before:>8.2} {after:>8.2} {:>8.1}% {:>9} {:>8} {:>11.3} {:>8} {:>6.1}",
            100.0 * (1.0 - after / before),
            report.unfolded_cells,
            other.n_folded(),
            report.least_volume,
            other.body().lattice.n_cells(),
            start.elapsed().as_secs_f64()
        );
        let [posed, rigged] = [&posed, &rigged].map(|list| aligned(list, wanted).0);
        shown.push(Shown { source: goal.positions().to_vec(), posed, rigged, wanted: wanted.to_vec() });
    }
    match folder {
        Some(folder) => draw((&source.mesh, &bare), &shown, &folder.join(format!("{from}-{to}.png"))),
        None => Ok(()),
    }
}

/// The muscle that gives a posed body the shape of a target pose.
fn surface_muscle(source: &Character, body: &mut PosedBody, goal: &Mesh) -> anyhow::Result<MuscleSet> {
    let every: Vec<(u32, u32)> = (0..goal.n_vertices() as u32).step_by(20).map(|v| (v, v)).collect();
    let posing = fit_pose(source, goal, &every)?;
    body.set_pose(&posing.pose)?;
    let fit = fit_surface(body, &source.mesh, goal, &SurfaceParams::default(), &mut Warnings::default())?;
    let mut muscle = Muscle::surface("pose", "pose", body.body().lattice.size(), (1.0, fit.forces));
    muscle.set_pose(body.rig(), &posing.pose);
    let control = Control { name: "pose".into(), source: ControlSource::Free, range: [0.0, 1.0] };
    Ok(MuscleSet { controls: vec![control], muscles: vec![muscle] })
}

/// A shape moved rigidly onto another, and the mean distance that is left (Horn 1987).
fn aligned(list: &[DVec3], to: &[DVec3]) -> (Vec<DVec3>, f64) {
    let middle = |list: &[DVec3]| list.iter().sum::<DVec3>() / list.len() as f64;
    let (a, b) = (middle(list), middle(to));
    let mut product = DMat3::ZERO;
    for (p, q) in list.iter().zip(to) {
        let (p, q) = (*p - a, *q - b);
        product += DMat3::from_cols(q * p.x, q * p.y, q * p.z);
    }
    let turn = polar(&product).0;
    let moved: Vec<DVec3> = list.iter().map(|p| b + turn * (*p - a)).collect();
    let off = moved.iter().zip(to).map(|(p, q)| p.distance(*q)).sum::<f64>() / list.len() as f64;
    (moved, off)
}

const SOURCE: [f32; 3] = [0.55, 0.55, 0.6];
const WANTED: [f32; 3] = [0.45, 0.6, 0.45];

/// One row per pose: the source, ours posed, ours with the muscle, deformation transfer. Warmer is further from the last.
fn draw((source, target): (&Mesh, &Mesh), shown: &[Shown], path: &Path) -> anyhow::Result<()> {
    let size = |mesh: &Mesh| {
        let [low, high] = mesh.bounds();
        high - low
    };
    // All are drawn as high as the target is.
    let (own, other) = (size(source), size(target));
    let scale = other.y / own.y;
    // To the right, as seen from where the camera is.
    let along = if other.z > other.x { DVec3::NEG_Z } else { DVec3::X };
    let azimuth = if other.z > other.x { 90.0 } else { 0.0 };
    let (step, rise) = (1.25 * other.max_element(), 1.15 * other.y);
    let mut items = Vec::new();
    for (row, one) in shown.iter().enumerate() {
        let heat = |list: &[DVec3], v: usize| {
            let t = (list[v].distance(one.wanted[v]) / (0.06 * target.diagonal())).min(1.0) as f32;
            [0.35 + 0.5 * t, 0.5 - 0.3 * t, 0.62 - 0.45 * t]
        };
        let columns: [(&Mesh, Vec<DVec3>, [f32; 3], bool); 4] = [
            (source, one.source.iter().map(|p| *p * scale).collect(), SOURCE, false),
            (target, one.posed.clone(), WANTED, true),
            (target, one.rigged.clone(), WANTED, true),
            (target, one.wanted.clone(), WANTED, false),
        ];
        for (column, (mesh, list, tone, is_heated)) in columns.into_iter().enumerate() {
            let middle = {
                let [low, high] = sinew::geom::mesh::bounds(&list);
                (low + high) / 2.0
            };
            let place = along * (step * (column as f64 - 1.5)) - DVec3::Y * (rise * row as f64) - middle;
            let color = |v: u32| if is_heated { heat(&list, v as usize) } else { tone };
            items.push(Item {
                positions: list.iter().map(|p| *p + place).collect(),
                colors: mesh.faces().iter().map(|face| face.map(color)).collect(),
                faces: mesh.faces().to_vec(),
            });
        }
    }
    let rows = shown.len() as f64;
    let target = DVec3::new(0.0, -0.5 * rise * (rows - 1.0), 0.0);
    let half_height = 0.55 * rise * rows;
    let width = (1600.0f64, 1600.0 * 2.0 * half_height / (4.0 * step));
    let view = View { target, half_height, azimuth, elevation: 8.0, floor: false };
    let mut picture = Picture::new(width.0 as usize, width.1 as usize);
    picture.draw(&items, &view);
    std::fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
    picture.write(path).map_err(|error| anyhow!("{}: {error}", path.display()))?;
    println!("{}", path.display());
    Ok(())
}
