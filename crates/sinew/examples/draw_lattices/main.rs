//! Draws lattices: `draw_lattices [OUT_PREFIX] [MESH]`.
//!
//! Solids of three kinds, subdivided by each scheme; a coarse bar, bent, as its cells move it and smoothed; cells of one
//! size and of several; and, given a detailed mesh, a body whose cells are halved where it is pulled (Capell (2004),
//! figure 4.8).

#[path = "../draw_samples/items.rs"]
#[allow(dead_code)]
mod items;
#[path = "../draw_samples/raster.rs"]
mod raster;
mod tip;

use glam::{DAffine3, DQuat, DVec3, Vec3};
use items::{item, place_item};
use raster::{Item, Picture, View};
use sinew::{
    flesh::{
        AdaptiveFlesh, AdaptiveParams, BakeParams, Baker, ControlLattice, FleshParams, Lattice,
        LatticeParams, LatticeSource, Material, Scheme, SimulationParams, Solid,
    },
    formats::read_any,
    geom::{
        Character, Clip, Warnings,
        sample::{Sample, build_character},
    },
};
use std::path::Path;
use tip::hold_tip;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let prefix = args.next().unwrap_or_else(|| "flesh".into());
    draw_schemes(&prefix)?;
    draw_smooth(&prefix)?;
    draw_sizes(&prefix)?;
    match args.next() {
        Some(path) => {
            let read = read_any(Path::new(&path), &mut Warnings::default())?;
            draw_adaptive(&prefix, &read.into_character().ok_or("there is no mesh")?)
        }
        None => Ok(()),
    }
}

fn view(target: DVec3, half_height: f64, azimuth: f64, elevation: f64) -> View {
    View { target, half_height, azimuth, elevation, floor: false }
}

/// Cells a little apart; `tone` colours each.
fn cells(lattice: &Lattice, nodes: &[DVec3], tone: impl Fn(usize) -> [f32; 3]) -> Item {
    let (mut positions, mut faces, mut colors) = (Vec::new(), Vec::new(), Vec::new());
    let quads: [[u32; 4]; 6] =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    for (cell, corners) in lattice.cells().iter().enumerate() {
        let first = positions.len() as u32;
        let corners = corners.map(|node| nodes[node as usize]);
        let middle = corners.iter().sum::<DVec3>() / 8.0;
        positions.extend(corners.iter().map(|p| middle + (*p - middle) * 0.92));
        for quad in quads {
            let triangles = [[quad[0], quad[1], quad[2]], [quad[0], quad[2], quad[3]]];
            faces.extend(triangles.map(|f| f.map(|c| first + c)));
            colors.extend([[tone(cell); 3]; 2]);
        }
    }
    Item { positions, faces, colors }
}

/// A hexahedron with a prism on its side and a tetrahedron on top of that.
fn solids() -> Result<ControlLattice> {
    let corner = |c: usize| DVec3::new((c & 1) as f64, (c >> 1 & 1) as f64, (c >> 2) as f64);
    let mut nodes: Vec<DVec3> = (0..8).map(corner).collect();
    nodes.extend([DVec3::new(1.9, 0.5, 0.0), DVec3::new(1.9, 0.5, 1.0), DVec3::new(1.4, 0.5, 2.0)]);
    let hexahedron = Solid::Hexahedron([0, 1, 2, 3, 4, 5, 6, 7]);
    let prism = Solid::Prism([1, 8, 3, 5, 9, 7]);
    let tetrahedron = Solid::Tetrahedron([5, 9, 7, 10]);
    Ok(ControlLattice::new(nodes, vec![hexahedron, prism, tetrahedron])?)
}

fn draw_schemes(prefix: &str) -> Result<()> {
    let solids = solids()?;
    let ring = vec![[0, 1], [1, 3], [3, 2], [2, 0]];
    let sharp = solids.clone().with_features(ring, vec![])?;
    let rows = [
        (solids.clone(), Scheme::Trilinear),
        (solids.clone(), Scheme::MacCrackenJoy),
        (sharp, Scheme::MacCrackenJoy),
        (solids.clone(), Scheme::CellAveraging),
    ];
    let mut items = Vec::new();
    for (column, (control, scheme)) in rows.iter().enumerate() {
        let mut fine = control.clone();
        for _ in 0..3 {
            fine = fine.subdivide(*scheme);
        }
        let lattice = fine.to_lattice()?;
        // Children follow their parents, so that whole solids keep their colour.
        let kinds = [(8 * 64, [0.85, 0.55, 0.3]), (6 * 64, [0.35, 0.6, 0.8]), (4 * 64, [0.5, 0.75, 0.4])];
        let tone = |cell: usize| {
            let mut end = 0;
            for (n, tone) in kinds {
                end += n;
                if cell < end {
                    return tone;
                }
            }
            [0.5; 3]
        };
        let place = DVec3::new(2.5 * column as f64 - 4.6, 0.0, 0.0);
        items.push(place_item(upright(cells(&lattice, lattice.nodes(), tone)), 0.0, place));
    }
    let mut picture = Picture::new(1600, 480);
    picture.draw(&items, &view(DVec3::new(0.1, 0.9, 0.0), 1.5, 18.0, 16.0));
    picture.write(Path::new(&format!("{prefix}-schemes.png")))
}

/// The third axis upwards.
fn upright(mut item: Item) -> Item {
    item.positions.iter_mut().for_each(|p| *p = DVec3::new(p.x, p.z, -p.y));
    item
}

/// A clip that bends the bar's middle joint and stays there.
fn bend(bar: &Character, degrees: f64) -> Result<Clip> {
    let rig = bar.rig.as_ref().ok_or("the bar has a skeleton")?;
    let poses: Vec<_> = (0..=40)
        .map(|frame| {
            let mut pose = rig.rest_pose();
            let share = (f64::from(frame) / 20.0).min(1.0);
            pose.locals[2].rotation *= DQuat::from_rotation_z((degrees * share).to_radians());
            pose
        })
        .collect();
    Ok(Clip::from_poses("bend", rig, &poses, 20.0)?)
}

fn draw_smooth(prefix: &str) -> Result<()> {
    let bar = build_character(Sample::Bar, 20_000)?;
    let clip = bend(&bar, 80.0)?;
    let mut items = Vec::new();
    for (column, smooth) in [None, Some(false), Some(true)].into_iter().enumerate() {
        let params = BakeParams::from(SimulationParams {
            lattice: LatticeParams { cells: 40, size: None },
            smooth: smooth == Some(true),
            flesh: FleshParams { gravity: DVec3::ZERO, ..FleshParams::default() },
            ..SimulationParams::default()
        });
        let mut baker = Baker::new(&bar, Some(&clip), &params, &mut Warnings::default())?;
        baker.advance(2.0, |_| {})?;
        let place = DVec3::new(1.15 * column as f64 - 1.0, 0.0, 0.0);
        let mut shape = Vec::new();
        baker.positions(&mut shape)?;
        let drawn = match smooth {
            None => cells(&baker.body().lattice, &baker.state().positions, |_| [0.9, 0.7, 0.4]),
            Some(_) => item(&bar, &shape),
        };
        items.push(place_item(drawn, 0.0, place));
    }
    let mut picture = Picture::new(1600, 620);
    picture.draw(&items, &view(DVec3::new(0.0, 0.45, 0.0), 0.68, 12.0, 10.0));
    picture.write(Path::new(&format!("{prefix}-smooth.png")))
}

/// Larger cells darker.
fn tone_of(lattice: &Lattice, cell: usize) -> [f32; 3] {
    match (lattice.cell_size(cell) / lattice.size()).round() as i32 {
        1 => [0.95, 0.8, 0.45],
        2 => [0.45, 0.65, 0.85],
        _ => [0.3, 0.4, 0.6],
    }
}

fn draw_sizes(prefix: &str) -> Result<()> {
    let character = build_character(Sample::Quadruped, 8_000)?;
    let params = LatticeParams { cells: 3000, size: None };
    let skin = character.skin.as_ref().ok_or("the quadruped has a skin")?;
    let joints: Vec<DVec3> = skin.slots.iter().map(|slot| slot.inverse_bind.inverse().translation).collect();
    let [low, high] = character.mesh.bounds();
    let length = 1.1 * (high.z - low.z).max(high.x - low.x);
    let mut items = Vec::new();
    for (column, source) in [LatticeSource::Cubes, LatticeSource::Octree(2)].iter().enumerate() {
        let body = source.build(&character.mesh, &params, &joints)?;
        let lattice = &body.lattice;
        println!(
            "{source:?}: {} cells, {} nodes, {} hanging",
            lattice.n_cells(),
            lattice.n_nodes(),
            lattice.ties().nodes().len()
        );
        let place = DVec3::new(length * (column as f64 - 0.5), 0.0, 0.0);
        items.push(place_item(cells(lattice, lattice.nodes(), |cell| tone_of(lattice, cell)), 90.0, place));
    }
    let mut picture = Picture::new(1600, 620);
    let target = DVec3::new(0.0, (low.y + high.y) / 2.0, 0.0);
    picture.draw(&items, &view(target, 0.72 * (high.y - low.y), 12.0, 8.0));
    picture.write(Path::new(&format!("{prefix}-sizes.png")))
}

/// At rest, pulled, and the cells then.
fn draw_adaptive(prefix: &str, character: &Character) -> Result<()> {
    let (mesh, clamps) = hold_tip(&character.mesh)?;
    let [middle, tip] = [clamps[0].center, clamps[1].center];
    let [low, high] = mesh.bounds();
    let lattice = LatticeParams { cells: 8000, size: None };
    let material = Material { young: 3e4, ..Material::default() };
    let params = FleshParams { gravity: DVec3::ZERO, ..FleshParams::default() };
    let adaptive = AdaptiveParams { thresholds: vec![[0.1, 0.04]; 2], ..AdaptiveParams::default() };
    let mut flesh = AdaptiveFlesh::new(&mesh, &lattice, &material, &clamps, &params, &adaptive)?;
    let away = (tip - middle).normalize_or_zero() * 0.3;
    let rest = Character { mesh: mesh.clone(), ..Character::default() };
    let mut items = Vec::new();
    let width = 1.25 * (high.x - low.x);
    let mut add = |column: f64, item: Item| {
        items.push(place_item(item, 0.0, DVec3::new(width * (1.5 - column) - middle.x, 0.0, 0.0)))
    };
    let mut shape = vec![Vec3::ZERO; mesh.n_vertices()];
    let show = |flesh: &AdaptiveFlesh| {
        cells(flesh.lattice(), &flesh.state().positions, |cell| tone_of(flesh.lattice(), cell))
    };
    flesh.positions(&mut shape)?;
    add(0.0, item(&rest, &shape));
    add(1.0, show(&flesh));
    println!("adaptive: {} cells at rest", flesh.lattice().n_cells());
    for step in 1..=100 {
        let share = (f64::from(step) / 50.0).min(1.0);
        flesh.step(&[DAffine3::IDENTITY, DAffine3::from_translation(away * share)], 0.01)?;
    }
    println!("{} cells pulled, {} changes", flesh.lattice().n_cells(), flesh.n_changes());
    flesh.positions(&mut shape)?;
    add(2.0, item(&rest, &shape));
    add(3.0, show(&flesh));
    let mut picture = Picture::new(1800, 640);
    picture.draw(&items, &view(DVec3::new(0.0, middle.y, middle.z), 0.72 * (high.y - low.y), 180.0, 8.0));
    picture.write(Path::new(&format!("{prefix}-adaptive.png")))
}
