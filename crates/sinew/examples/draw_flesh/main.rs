//! Draws flesh: `draw_flesh [OUT_PREFIX] [VERTICES] [CHARACTER STIFFNESS]`.
//!
//! One picture of a bar bent at one joint by 90 and 135 degrees (Capell (2004), figure 5.2), by skinning and by modes
//! of flesh; one of a character, its cells, and its first clip with soft flesh below the skinned one.

#[path = "../draw_samples/items.rs"]
#[allow(dead_code)]
mod items;
#[path = "../draw_samples/raster.rs"]
mod raster;

use glam::{DQuat, DVec3, Vec3};
use items::{item, place_item};
use raster::{Item, Picture, View};
use sinew::{
    flesh::{BakeParams, Baker, FleshParams, Lattice, LatticeParams, Material, Mode, SimulationParams},
    formats::read_any,
    geom::{
        Character, Clip, Warnings,
        sample::{Sample, build_character},
    },
};
use std::path::Path;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let prefix = args.next().unwrap_or_else(|| "flesh".into());
    let n_vertices: usize = args.next().map_or(Ok(8_000), |n| n.parse())?;
    match (args.next(), args.next()) {
        (Some(path), Some(stiffness)) => {
            let read = read_any(Path::new(&path), &mut Warnings::default())?;
            draw_clip(&prefix, &read.into_character().ok_or("there is no character")?, stiffness.parse()?)
        }
        _ => {
            draw_bends(&prefix, n_vertices)?;
            draw_clip(&prefix, &build_character(Sample::Quadruped, n_vertices)?, 8e2)
        }
    }
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

fn draw_bends(prefix: &str, n_vertices: usize) -> Result<()> {
    let bar = build_character(Sample::Bar, n_vertices)?;
    let mut items = Vec::new();
    for (row, degrees) in [90.0, 135.0].into_iter().enumerate() {
        let clip = bend(&bar, degrees)?;
        let mut shapes = vec![bar.positions_at(Some(&clip), 2.0)?];
        for mode in [Mode::Linear, Mode::Warped, Mode::Predicted, Mode::NeoHookean] {
            shapes.push(end_of(&bar, &clip, mode)?);
        }
        for (column, shape) in shapes.iter().enumerate() {
            let place = DVec3::new(1.25 * column as f64 - 2.3, -1.25 * row as f64, 0.0);
            items.push(place_item(item(&bar, shape), 0.0, place));
        }
    }
    let view = View {
        target: DVec3::new(0.0, -0.15, 0.0),
        half_height: 1.3,
        azimuth: 12.0,
        elevation: 10.0,
        floor: false,
    };
    let mut picture = Picture::new(1600, 700);
    picture.draw(&items, &view);
    picture.write(Path::new(&format!("{prefix}-bends.png")))
}

/// The bar at the end of its bend, without gravity.
fn end_of(bar: &Character, clip: &Clip, mode: Mode) -> Result<Vec<Vec3>> {
    let params = BakeParams::from(SimulationParams {
        lattice: LatticeParams { cells: 400, size: None },
        flesh: FleshParams { mode, gravity: DVec3::ZERO, ..FleshParams::default() },
        ..SimulationParams::default()
    });
    let mut baker = Baker::new(bar, Some(clip), &params, &mut Warnings::default())?;
    let mut worst: f64 = 0.0;
    baker.advance(2.0, |report| worst = worst.max(report.residual))?;
    println!("bar, {}: {} cells, residual {worst:.1e}", mode.name(), baker.body().lattice.n_cells());
    let mut positions = Vec::new();
    baker.positions(&mut positions)?;
    Ok(positions)
}

fn draw_clip(prefix: &str, character: &Character, young: f64) -> Result<()> {
    let clip = character.clips.first().ok_or("the character has no clip")?;
    let material = Material { young, ..Material::default() };
    let simulation = SimulationParams { material, ..SimulationParams::default() };
    let params = BakeParams::from(simulation);
    let mut baker = Baker::new(character, Some(clip), &params, &mut Warnings::default())?;
    let [low, high] = character.mesh.bounds();
    let length = 1.25 * (high.z - low.z).max(high.x - low.x);
    let at = |column: f64, row: f64| DVec3::new(length * (column - 1.5), -1.3 * (high.y - low.y) * row, 0.0);
    let side = 90.0;
    let rest: Vec<Vec3> = character.mesh.positions().iter().map(|p| p.as_vec3()).collect();
    let mut items = vec![
        place_item(item(character, &rest), side, at(0.0, 0.0)),
        place_item(cells(&baker.body().lattice), side, at(0.0, 1.0)),
    ];
    let long = f64::from(clip.duration_secs());
    for column in 1..4 {
        let time = long * f64::from(column) / 4.0;
        baker.advance(time, |_| {})?;
        let mut soft = Vec::new();
        baker.positions(&mut soft)?;
        let skinned = character.positions_at(Some(clip), time as f32)?;
        items.push(place_item(item(character, &skinned), side, at(f64::from(column), 0.0)));
        items.push(place_item(item(character, &soft), side, at(f64::from(column), 1.0)));
    }
    let target = DVec3::new(0.0, 0.5 * (low.y + high.y) - 0.65 * (high.y - low.y), 0.0);
    let view = View {
        target,
        half_height: (1.35 * (high.y - low.y)).max(0.98 * length),
        azimuth: 0.0,
        elevation: 8.0,
        floor: false,
    };
    let mut picture = Picture::new(1600, 760);
    picture.draw(&items, &view);
    picture.write(Path::new(&format!("{prefix}-clip.png")))
}

/// The cells as boxes, fuller ones darker.
fn cells(lattice: &Lattice) -> Item {
    let (mut positions, mut faces, mut colors) = (Vec::new(), Vec::new(), Vec::new());
    let quads: [[u32; 4]; 6] =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    for cell in 0..lattice.n_cells() {
        let first = positions.len() as u32;
        let corners = lattice.corners(cell);
        let middle = corners.iter().sum::<DVec3>() / 8.0;
        // A little apart, so that they can be distinguished.
        positions.extend(corners.iter().map(|p| middle + (*p - middle) * 0.94));
        let tone = 0.85 - 0.6 * lattice.inside()[cell] as f32;
        for quad in quads {
            faces.extend(
                [[quad[0], quad[1], quad[2]], [quad[0], quad[2], quad[3]]].map(|f| f.map(|c| first + c)),
            );
            colors.extend([[[0.9, tone, 0.5 * tone]; 3]; 2]);
        }
    }
    Item { positions, faces, colors }
}
