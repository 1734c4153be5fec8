//! Draws muscles: `draw_muscles [OUT_PREFIX]`, or meshes side by side: `draw_muscles OUT_PREFIX DEGREES MESH…`.
//!
//! One picture of the templates on a body, warmer where the skin moves further; one of a body that is made to look like a
//! target, with and without a surface muscle, and of that muscle on another body.

#[path = "../draw_samples/items.rs"]
#[allow(dead_code)]
mod items;
#[path = "../draw_samples/raster.rs"]
mod raster;

use glam::{DMat3, DVec3};
use items::place_item;
use raster::{Item, Picture, View};
use sinew::{
    flesh::{
        FleshParams, SimulationParams,
        muscle::{Control, Guide, Muscle, MuscleEvaluator, MuscleSet, Template},
        muscle_fit::{
            MapPairs, MapParams, PosedBody, SurfaceParams, TemplateFitParams, TemplateFitter, carry_skeleton,
            fit_map, fit_surface, match_joints, transfer_muscles,
        },
    },
    formats::read_any,
    geom::{
        Character, Mesh, Warnings,
        sample::{Sample, build_character},
    },
};
use std::{ops::ControlFlow, path::Path};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let prefix = args.first().map_or("muscles", String::as_str);
    if args.len() > 2 {
        return draw_files(prefix, args[1].parse()?, &args[2..]);
    }
    let character = build_character(Sample::Biped, 12_000)?;
    draw_templates(prefix, &character)?;
    draw_surface(prefix, &character)
}

/// Meshes in a row, seen from a side.
fn draw_files(prefix: &str, degrees: f64, files: &[String]) -> Result<()> {
    let mut items = Vec::new();
    for file in files {
        let read = read_any(Path::new(file), &mut Warnings::default())?;
        let mesh = read.into_character().ok_or("there is no mesh")?.mesh;
        let still = vec![0.0; mesh.n_vertices()];
        items.push(heat(mesh.positions(), mesh.faces(), &still, 1.0));
    }
    draw(&format!("{prefix}.png"), items, degrees)
}

fn params() -> SimulationParams {
    let flesh = FleshParams { gravity: DVec3::ZERO, ..FleshParams::default() };
    SimulationParams { flesh, ..SimulationParams::default() }
}

/// The vertex of a body in front of a share of its height.
fn front(mesh: &Mesh, side: f64, height: f64) -> usize {
    let [low, high] = mesh.bounds();
    let place = DVec3::new(low.x + side * (high.x - low.x), low.y + height * (high.y - low.y), high.z);
    let distance = |v: &usize| mesh.positions()[*v].distance_squared(place);
    (0..mesh.n_vertices()).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0)
}

/// Rest, and each template dragged out of the belly by as much.
fn draw_templates(prefix: &str, character: &Character) -> Result<()> {
    let mesh = &character.mesh;
    let vertex = front(mesh, 0.5, 0.6);
    let guide = Guide::at_vertex(mesh, vertex).ok_or("the vertex has no normal")?;
    let mut posed = PosedBody::new(character, &params(), &mut Warnings::default())?;
    let lattice = posed.body().lattice.clone();
    let before = posed.positions();
    let mut items = vec![heat(&before, mesh.faces(), &vec![0.0; before.len()], 1.0)];
    let rest = posed.pose().clone();
    for template in Template::ALL {
        posed.set_pose(&rest)?;
        let statics = posed.statics()?;
        let point = posed.point(vertex)?;
        let base = posed.place(&point);
        let fitter =
            TemplateFitter::new(&statics, &lattice, (template, &guide), &[point], posed.rotations())?;
        let mut eta = vec![1.0, 0.14, 0.12][..template.parameters().len()].to_vec();
        eta.extend([-0.04, 0.0]);
        let keep = (0..eta.len()).map(|i| if i == 0 { 0.0 } else { f64::INFINITY }).collect();
        let fit = TemplateFitParams { keep: Some(keep), ..TemplateFitParams::default() };
        let found = fitter.fit(&eta, &[base], &[base + DVec3::Z * 0.06], &fit)?;
        let muscle = Muscle::template("r", "c", template, guide.clone(), found.eta);
        let set = MuscleSet { controls: vec![Control::free("c")], muscles: vec![muscle] };
        let now = rigged(&mut posed, &set)?;
        let ways: Vec<f64> = now.iter().zip(&before).map(|(a, b)| a.distance(*b)).collect();
        println!("{}: the vertex comes out by {:.1} mm", template.name(), 1e3 * ways[vertex]);
        items.push(heat(&now, mesh.faces(), &ways, 0.06));
    }
    draw(&format!("{prefix}-templates.png"), items, -35.0)
}

fn rigged(posed: &mut PosedBody, set: &MuscleSet) -> Result<Vec<DVec3>> {
    let mut forces = Vec::new();
    let lattice = posed.body().lattice.clone();
    let mut evaluator = MuscleEvaluator::new(set, &lattice)?;
    evaluator.forces(&lattice, &vec![1.0; set.controls.len()], posed.rotations(), &mut forces)?;
    posed.push(forces)?;
    Ok(posed.positions())
}

/// Rest, target, with the muscle, another body at rest, the same muscle on it; the first three warm by distance to the target.
fn draw_surface(prefix: &str, character: &Character) -> Result<()> {
    let mesh = &character.mesh;
    let target = strong(mesh)?;
    let mut posed = PosedBody::new(character, &params(), &mut Warnings::default())?;
    let size = posed.body().lattice.size();
    let off =
        |at: &[DVec3]| at.iter().zip(target.positions()).map(|(a, b)| a.distance(*b)).collect::<Vec<f64>>();
    let before = posed.positions();
    let fit = fit_surface(&mut posed, mesh, &target, &SurfaceParams::default(), &mut Warnings::default())?;
    println!("surface muscle: {:.2} mm to {:.2} mm", 1e3 * fit.before.mean, 1e3 * fit.after.mean);
    let after = posed.positions();
    let set = MuscleSet {
        controls: vec![Control::free("flex")],
        muscles: vec![Muscle::surface("flex", "flex", size, (1.0, fit.forces))],
    };
    let other = wide(mesh)?;
    let features =
        (0..mesh.n_vertices()).step_by(100).map(|v| [mesh.positions()[v], other.positions()[v]]).collect();
    let pairs = MapPairs { bones: Vec::new(), features };
    let mut go_on = |_| ControlFlow::Continue(());
    let map = fit_map((posed.body(), mesh), &other, &pairs, &MapParams::default(), &mut go_on)?;
    println!("map: {:?}", map.report);
    let carried = carry_skeleton(&map, character, &other, &mut Warnings::default())?;
    let joints = match_joints(character, &carried, &[])?;
    let mut body = PosedBody::new(&carried, &params(), &mut Warnings::default())?;
    let (set, report) = transfer_muscles(&mut posed, &set, &map, &mut body, &joints)?;
    println!("transfer: {report:?}");
    let rest = body.pose().clone();
    body.set_pose(&rest)?;
    let plain = body.positions();
    let flexed = rigged(&mut body, &set)?;
    let ways: Vec<f64> = flexed.iter().zip(&plain).map(|(a, b)| a.distance(*b)).collect();
    let still = vec![0.0; plain.len()];
    let items = vec![
        heat(&before, mesh.faces(), &off(&before), 0.05),
        heat(target.positions(), mesh.faces(), &still, 1.0),
        heat(&after, mesh.faces(), &off(&after), 0.05),
        heat(&plain, mesh.faces(), &still, 1.0),
        heat(&flexed, mesh.faces(), &ways, 0.05),
    ];
    draw(&format!("{prefix}-surface.png"), items, -25.0)
}

/// The body with broad shoulders and chest, as a sculptor would have it.
fn strong(mesh: &Mesh) -> Result<Mesh> {
    let [low, high] = mesh.bounds();
    let (tall, middle) = (high.y - low.y, 0.5 * (low.z + high.z));
    let swell = |p: &DVec3| {
        let r = ((p.y - low.y) / tall - 0.74) / 0.1;
        let share = 0.3 * (-r * r).exp() * (-(p.x / (0.2 * tall)).powi(4)).exp();
        DVec3::new(p.x * (1.0 + 0.6 * share), p.y, middle + (p.z - middle) * (1.0 + 1.6 * share))
    };
    Ok(Mesh::new(mesh.positions().iter().map(swell).collect(), mesh.faces().to_vec())?)
}

/// Another body: stout and short.
fn wide(mesh: &Mesh) -> Result<Mesh> {
    let shape = DMat3::from_diagonal(DVec3::new(1.15, 0.85, 1.35));
    Ok(Mesh::new(mesh.positions().iter().map(|p| shape * *p).collect(), mesh.faces().to_vec())?)
}

/// A surface that is warm where a value is large.
fn heat(positions: &[DVec3], faces: &[[u32; 3]], values: &[f64], most: f64) -> Item {
    let color = |v: u32| {
        let t = (values[v as usize] / most).clamp(0.0, 1.0) as f32;
        [0.55 + 0.4 * t, 0.55 - 0.35 * t, 0.58 - 0.5 * t]
    };
    let colors = faces.iter().map(|face| face.map(color)).collect();
    Item { positions: positions.to_vec(), faces: faces.to_vec(), colors }
}

/// In a row, each turned by as much.
fn draw(path: &str, items: Vec<Item>, degrees: f64) -> Result<()> {
    let bounds = |item: &Item| {
        let low = item.positions.iter().fold(DVec3::INFINITY, |low, p| low.min(*p));
        (low, item.positions.iter().fold(DVec3::NEG_INFINITY, |high, p| high.max(*p)))
    };
    let turned: Vec<Item> = items.into_iter().map(|item| place_item(item, degrees, DVec3::ZERO)).collect();
    let (low, high) = turned
        .iter()
        .map(bounds)
        .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |a, b| (a.0.min(b.0), a.1.max(b.1)));
    let wide = turned.iter().map(|item| bounds(item).1.x - bounds(item).0.x).fold(0.0, f64::max) * 1.08;
    let n = turned.len();
    let place = |(k, item): (usize, Item)| {
        let middle = 0.5 * (bounds(&item).0 + bounds(&item).1);
        let x = wide * (k as f64 + 0.5 - 0.5 * n as f64) - middle.x;
        place_item(item, 0.0, DVec3::new(x, 0.0, -middle.z))
    };
    let placed: Vec<Item> = turned.into_iter().enumerate().map(place).collect();
    let width = 1600usize;
    let tall = 1.1 * (high.y - low.y);
    let height = ((width as f64 * tall / (wide * n as f64)) as usize).clamp(200, 1200);
    let half_height = (0.5 * tall).max(0.5 * wide * n as f64 * height as f64 / width as f64);
    let target = DVec3::new(0.0, 0.5 * (low.y + high.y), 0.0);
    let view = View { target, half_height, azimuth: 0.0, elevation: 5.0, floor: false };
    let mut picture = Picture::new(width, height);
    picture.draw(&placed, &view);
    picture.write(Path::new(path))
}
