//! The scenes of Capell (2004) as pictures: `sinew_bench flesh --scenes DIR`.
//!
//! Figure 5.2 (a bar bent by 90 and 135 degrees), 4.6 (a cucumber whose stiffness varies, shaken), 4.5 (a duck tossed about in
//! a box) and 5.4 (a cow with soft ears and hard horns). The duck is of our own making, out of balls that overlap; the cow is
//! `data/meshes/cow.obj`.

use super::data;
use crate::raster::{Item, Picture, View};
use anyhow::{Context, anyhow};
use glam::{DQuat, DVec3, Vec3};
use sinew::{
    flesh::{
        Attachment, BakeParams, Baker, Body, BodyPoint, Collider, FleshParams, FleshSolver, FleshState,
        LatticeParams, Material, Mode, Obstacle, SimulationParams, StepInput, build_body,
    },
    geom::{
        Character, Clip, Mesh, Warnings,
        query::SurfaceTree,
        sample::{Sample, build_character},
    },
};
use std::path::Path;

/// Draw them all.
pub fn run(folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    bends(folder)?;
    cucumber(folder)?;
    duck(folder)?;
    match data("cow.obj") {
        Ok(mesh) => cow(folder, &mesh),
        Err(error) => {
            println!("without the cow: {error:#}");
            Ok(())
        }
    }
}

const SKIN: [f32; 3] = [0.72, 0.45, 0.34];

/// A surface somewhere, each vertex in a colour.
fn item(mesh: &Mesh, positions: &[Vec3], place: DVec3, color: impl Fn(usize) -> [f32; 3]) -> Item {
    let faces = mesh.faces().to_vec();
    Item {
        positions: positions.iter().map(|p| p.as_dvec3() + place).collect(),
        colors: faces.iter().map(|face| face.map(|v| color(v as usize))).collect(),
        faces,
    }
}

fn draw(items: &[Item], view: &View, size: [usize; 2], path: &Path) -> anyhow::Result<()> {
    let mut picture = Picture::new(size[0], size[1]);
    picture.draw(items, view);
    picture.write(path).map_err(|error| anyhow!("{}: {error}", path.display()))?;
    println!("{}", path.display());
    Ok(())
}

/// A clip that bends the bar's middle joint and stays there.
fn bend(bar: &Character, degrees: f64) -> anyhow::Result<Clip> {
    let rig = bar.rig.as_ref().context("the bar has a skeleton")?;
    let pose = |frame: u32| {
        let mut pose = rig.rest_pose();
        let share = (f64::from(frame) / 20.0).min(1.0);
        pose.locals[2].rotation *= DQuat::from_rotation_z((degrees * share).to_radians());
        pose
    };
    Ok(Clip::from_poses("bend", rig, &(0..=40).map(pose).collect::<Vec<_>>(), 20.0)?)
}

fn bends(folder: &Path) -> anyhow::Result<()> {
    let bar = build_character(Sample::Bar, 6000)?;
    let modes = [Mode::Linear, Mode::Blended, Mode::Warped, Mode::Predicted, Mode::Stvk, Mode::NeoHookean];
    let mut items = Vec::new();
    for (row, degrees) in [90.0, 135.0].into_iter().enumerate() {
        let clip = bend(&bar, degrees)?;
        let mut shapes = vec![bar.positions_at(Some(&clip), 2.0)?];
        for mode in modes {
            let params = BakeParams::from(SimulationParams {
                lattice: LatticeParams { cells: 300, size: None },
                flesh: FleshParams { mode, gravity: DVec3::ZERO, ..FleshParams::default() },
                ..SimulationParams::default()
            });
            let mut baker = Baker::new(&bar, Some(&clip), &params, &mut Warnings::default())?;
            let mut worst: f64 = 0.0;
            baker.advance(2.0, |report| worst = worst.max(report.residual))?;
            println!("bar by {degrees} degrees, {}: residual {worst:.1e}", mode.name());
            let mut shape = Vec::new();
            baker.positions(&mut shape)?;
            shapes.push(shape);
        }
        for (column, shape) in shapes.iter().enumerate() {
            let place = DVec3::new(1.2 * column as f64 - 3.45, -1.25 * row as f64, 0.0);
            items.push(item(&bar.mesh, shape, place, |_| SKIN));
        }
    }
    let target = DVec3::new(0.0, -0.15, 0.0);
    let view = View { target, half_height: 1.3, azimuth: 0.0, elevation: 6.0, floor: false };
    draw(&items, &view, [2000, 640], &folder.join("bends.png"))
}

/// A body in a scene of its own.
struct Actor {
    body: Body,
    solver: FleshSolver,
    state: FleshState,
    drive: StepInput,
}

impl Actor {
    fn new(
        body: Body,
        materials: &[Material],
        held: Vec<u32>,
        obstacles: Vec<Obstacle>,
    ) -> anyhow::Result<Self> {
        let point = |vertex: usize| BodyPoint {
            cell: body.embedding.cell(vertex) as u32,
            weights: body.embedding.weights(vertex).map(f64::from),
        };
        let contact_points = (0..body.embedding.len()).step_by(2).map(point).collect();
        let attachment = Attachment { held, contact_points, ..Attachment::default() };
        let solver = FleshSolver::new(&body.lattice, materials, &attachment, &FleshParams::default())?;
        let drive = StepInput { obstacles, ..StepInput::at_rest(&body.lattice, &attachment) };
        Ok(Self { state: FleshState::at_rest(&body.lattice), solver, drive, body })
    }

    fn run(
        &mut self,
        from: f64,
        to: f64,
        mut drive: impl FnMut(&mut StepInput, f64),
    ) -> anyhow::Result<Vec<Vec3>> {
        let n = ((to - from) / 0.005).round() as usize;
        for step in 1..=n {
            drive(&mut self.drive, from + 0.005 * step as f64);
            self.solver.step(&mut self.state, &self.drive, 0.005)?;
        }
        let mut out = vec![Vec3::ZERO; self.body.embedding.len()];
        self.body.embedding.evaluate(&self.body.lattice, &self.state.positions, &mut out)?;
        Ok(out)
    }
}

fn middle(body: &Body, cell: usize) -> DVec3 {
    body.lattice.corners(cell).iter().sum::<DVec3>() / 8.0
}

/// A ball of some radii, turned about z.
fn ball(center: DVec3, radii: DVec3, radians: f64) -> Mesh {
    let (n, m) = (40u32, 20u32);
    let point = |i: u32, j: u32| {
        let (a, b) = (
            std::f64::consts::TAU * f64::from(i) / f64::from(n),
            std::f64::consts::PI * f64::from(j) / f64::from(m),
        );
        center
            + DQuat::from_rotation_z(radians)
                * (radii * DVec3::new(a.cos() * b.sin(), b.cos(), a.sin() * b.sin()))
    };
    let positions = (0..=m).flat_map(|j| (0..n).map(move |i| point(i, j))).collect();
    let at = |i: u32, j: u32| j * n + i % n;
    let quad = |(i, j): (u32, u32)| {
        let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
        [[a, b, c], [a, c, d]]
    };
    let faces = (0..m).flat_map(|j| (0..n).map(move |i| (i, j))).flat_map(quad).collect();
    Mesh::new(positions, faces).unwrap_or_default()
}

/// Stiff below, soft above; shaken at its foot.
fn cucumber(folder: &Path) -> anyhow::Result<()> {
    let mesh = ball(DVec3::new(0.0, 0.5, 0.0), DVec3::new(0.13, 0.55, 0.13), 0.0);
    let body = build_body(&mesh, &LatticeParams { cells: 500, size: None })?;
    let (stiff, soft): (f64, f64) = (1e6, 1.2e4);
    let share = |y: f64| (y + 0.05).clamp(0.0, 1.1) / 1.1;
    let young = |y: f64| stiff * (soft / stiff).powf(share(y));
    let materials: Vec<Material> = (0..body.lattice.n_cells())
        .map(|cell| Material { young: young(middle(&body, cell).y), ..Material::default() })
        .collect();
    let low = |node: &u32| body.lattice.nodes()[*node as usize].y < 0.06;
    let held: Vec<u32> = (0..body.lattice.n_nodes() as u32).filter(low).collect();
    let rest: Vec<DVec3> = held.iter().map(|&node| body.lattice.nodes()[node as usize]).collect();
    let mut actor = Actor::new(body, &materials, held, Vec::new())?;
    let mut items = Vec::new();
    let shift = |time: f64| DVec3::X * 0.12 * (std::f64::consts::TAU * 1.4 * time).sin();
    for column in 0..7 {
        let (from, to) = (0.2 * f64::from(column), 0.2 * f64::from(column + 1));
        let shape = actor
            .run(from, to, |drive, time| drive.held = rest.iter().map(|p| *p + shift(time)).collect())?;
        let color = |v: usize| {
            let s = share(mesh.positions()[v].y) as f32;
            [0.1 + 0.5 * s, 0.32 + 0.35 * s, 0.08]
        };
        items.push(item(&mesh, &shape, DVec3::X * (0.8 * f64::from(column) - 2.3), color));
    }
    let target = DVec3::new(0.0, 0.5, 0.0);
    let view = View { target, half_height: 0.8, azimuth: 0.0, elevation: 6.0, floor: false };
    draw(&items, &view, [1800, 500], &folder.join("cucumber.png"))
}

/// Body, neck, head, beak and tail.
fn duck_mesh() -> anyhow::Result<(Mesh, usize)> {
    let parts = [
        ball(DVec3::new(0.0, 0.3, 0.0), DVec3::new(0.38, 0.25, 0.26), 0.1),
        ball(DVec3::new(0.24, 0.52, 0.0), DVec3::new(0.11, 0.2, 0.11), -0.2),
        ball(DVec3::new(0.3, 0.7, 0.0), DVec3::new(0.16, 0.15, 0.15), 0.0),
        ball(DVec3::new(-0.36, 0.42, 0.0), DVec3::new(0.16, 0.06, 0.11), -0.6),
        ball(DVec3::new(0.48, 0.67, 0.0), DVec3::new(0.12, 0.035, 0.09), -0.1),
    ];
    let (mut positions, mut faces, mut beak) = (Vec::new(), Vec::new(), 0);
    for part in &parts {
        let first = positions.len() as u32;
        beak = positions.len();
        positions.extend_from_slice(part.positions());
        faces.extend(part.faces().iter().map(|face| face.map(|v| v + first)));
    }
    Ok((Mesh::new(positions, faces)?, beak))
}

fn duck(folder: &Path) -> anyhow::Result<()> {
    let (mesh, beak) = duck_mesh()?;
    let body = build_body(&mesh, &LatticeParams { cells: 900, size: None })?;
    let (low, high) = (DVec3::new(-0.75, 0.0, -0.5), DVec3::new(0.75, 1.2, 0.5));
    let wall = |shape| Obstacle { shape, friction: 0.3 };
    let walls = Collider::room(low, high).map(wall).to_vec();
    let mut actor = Actor::new(body, &[Material { young: 6e4, ..Material::default() }], Vec::new(), walls)?;
    let center = actor.state.center(actor.solver.masses());
    for (v, p) in actor.state.velocities.iter_mut().zip(&actor.state.positions) {
        *v = DVec3::new(3.0, 2.0, 0.3) + DVec3::new(0.0, 0.5, -2.5).cross(*p - center);
    }
    let mut items = Vec::new();
    for column in 0..6 {
        let times = [0.0, 0.12, 0.28, 0.45, 0.65, 1.0, 3.0];
        let shape = actor.run(times[column], times[column + 1], |_, _| {})?;
        let place = DVec3::new(1.75 * (column % 3) as f64 - 1.75, -1.5 * (column / 3) as f64, 0.0);
        let color = |v: usize| if v >= beak { [0.85, 0.35, 0.05] } else { [0.9, 0.72, 0.1] };
        items.push(item(&mesh, &shape, place, color));
        items.push(floor_and_wall(low, high, place));
        let outside = shape.iter().map(|p| p.as_dvec3()).map(|p| (low - p).max(p - high).max_element());
        println!(
            "duck after {:.2} s: {:.3} m outside of its box",
            times[column + 1],
            outside.fold(0.0, f64::max)
        );
    }
    let target = DVec3::new(0.0, -0.15, 0.0);
    let view = View { target, half_height: 1.55, azimuth: 18.0, elevation: 16.0, floor: false };
    draw(&items, &view, [1700, 980], &folder.join("duck.png"))
}

/// The sides of a box that a viewer sees from within.
fn floor_and_wall(low: DVec3, high: DVec3, place: DVec3) -> Item {
    let at = |x: f64, y: f64, z: f64| DVec3::new(x, y, z) + place;
    let positions = vec![
        at(low.x, low.y, low.z),
        at(high.x, low.y, low.z),
        at(high.x, low.y, high.z),
        at(low.x, low.y, high.z),
        at(low.x, high.y, low.z),
        at(high.x, high.y, low.z),
        at(low.x, high.y, high.z),
    ];
    let faces = vec![[0, 2, 1], [0, 3, 2], [0, 1, 5], [0, 5, 4], [0, 4, 6], [0, 6, 3]];
    let tones = [0.55, 0.55, 0.75, 0.75, 0.65, 0.65];
    Item { positions, faces, colors: tones.map(|t| [[t, t, t * 1.05]; 3]).to_vec() }
}

/// Lines through the cow's ears and horns, in the units of its file, from root to tip, for one side.
const EAR: [DVec3; 2] = [DVec3::new(4.15, 2.15, 0.75), DVec3::new(4.13, 2.3, 1.37)];
const HORN: [DVec3; 4] = [
    DVec3::new(4.28, 2.48, 0.45),
    DVec3::new(4.34, 2.53, 0.7),
    DVec3::new(4.66, 2.64, 0.87),
    DVec3::new(5.1, 2.76, 0.77),
];
const NECK: DVec3 = DVec3::new(3.6, 1.2, 0.0);

/// Distance from a line, on either side of the cow.
fn near(p: DVec3, line: &[DVec3]) -> f64 {
    let p = DVec3::new(p.x, p.y, p.z.abs());
    let one = |ends: &[DVec3]| {
        let (a, b) = (ends[0], ends[1]);
        let t = ((p - a).dot(b - a) / (b - a).length_squared()).clamp(0.0, 1.0);
        p.distance(a.lerp(b, t))
    };
    line.windows(2).map(one).fold(f64::INFINITY, f64::min)
}

fn cow(folder: &Path, mesh: &Mesh) -> anyhow::Result<()> {
    // 2.3 m long.
    let scale = 0.22;
    let small = mesh.with_positions(mesh.positions().iter().map(|p| *p * scale).collect())?;
    let body = build_body(&small, &LatticeParams { cells: 5000, size: None })?;
    let young = |p: DVec3| match (near(p / scale, &HORN), near(p / scale, &EAR)) {
        (horn, _) if horn < 0.24 => 1e7,
        (_, ear) if ear < 0.4 => 2e3,
        _ => 6e4,
    };
    let materials: Vec<Material> = (0..body.lattice.n_cells())
        .map(|cell| Material { young: young(middle(&body, cell)), ..Material::default() })
        .collect();
    let tree = SurfaceTree::new(&small);
    let deep =
        |p: DVec3| tree.contains(p) && tree.closest_point(p).is_some_and(|near| near.distance > 0.3 * scale);
    let is_held = |p: DVec3| {
        let q = p / scale;
        (q.x < 3.0 || q.x > 4.3) && near(q, &EAR) > 0.5 && deep(p)
    };
    let held: Vec<u32> = (0..body.lattice.n_nodes() as u32)
        .filter(|&node| is_held(body.lattice.nodes()[node as usize]))
        .collect();
    let rest: Vec<DVec3> = held.iter().map(|&node| body.lattice.nodes()[node as usize]).collect();
    println!("cow: {} cells, {} nodes held", body.lattice.n_cells(), held.len());
    let mut actor = Actor::new(body, &materials, held, Vec::new())?;
    let turned = |p: DVec3, time: f64| {
        let angle = 0.6 * (std::f64::consts::TAU * 1.6 * time).sin();
        let turn = DQuat::from_rotation_y(angle)
            * DQuat::from_rotation_z(0.35 * (std::f64::consts::TAU * 2.1 * time).sin());
        if p.x / scale > 3.6 { turn * (p - NECK * scale) + NECK * scale } else { p }
    };
    let color = |v: usize| match young(small.positions()[v]) {
        e if e < 1e4 => [0.8, 0.25, 0.2],
        e if e > 1e6 => [0.25, 0.25, 0.28],
        _ => [0.62, 0.5, 0.4],
    };
    let mut items = Vec::new();
    for column in 0..6 {
        let (from, to) = (0.13 * f64::from(column), 0.13 * f64::from(column + 1));
        let shape = actor
            .run(from, to, |drive, time| drive.held = rest.iter().map(|p| turned(*p, time)).collect())?;
        let place = DVec3::new(0.0, 0.0, 1.15 * f64::from(column) - 2.9);
        items.push(item(&small, &shape, place - DVec3::X * 0.9, color));
    }
    let target = DVec3::new(0.0, 0.25, 0.0);
    let view = View { target, half_height: 0.8, azimuth: 90.0, elevation: 12.0, floor: false };
    draw(&items, &view, [2000, 470], &folder.join("cow.png"))
}
