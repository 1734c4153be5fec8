//! All samples in one picture.

use crate::{
    Result,
    items::{cloth_item, item, place_item},
    raster::{Item, Picture, View},
};
use glam::DVec3;
use sinew::geom::sample::{Sample, build_character, build_sequence};
use std::{ops::ControlFlow, path::Path};

/// All samples in one picture.
pub fn draw_lineup(n_vertices: usize, prefix: &str) -> Result<()> {
    let mut items = draw_cast(n_vertices)?;
    let wood = [0.30, 0.17, 0.09];
    let scenes = [
        (Sample::Flag, 6, [0.10, 0.13, 0.42], [-2.85, 0.0, -0.9], vec![rod(0.018, 2.25, wood)]),
        (
            Sample::Tablecloth,
            60,
            [0.60, 0.13, 0.12],
            [0.62, 0.0, -1.1],
            vec![rod(0.05, 0.74, wood), rod(0.25, 0.03, wood)],
        ),
        (
            Sample::Balloon,
            34,
            [0.75, 0.50, 0.12],
            [1.92, 0.0, -0.75],
            vec![rod(0.055, 0.60, wood), rod(0.18, 0.03, wood)],
        ),
    ];
    for (sample, frame, color, place, props) in scenes {
        let sequence = build_sequence(sample, n_vertices, &mut |_| ControlFlow::Continue(()))?;
        let mut cloth = cloth_item(&sequence, frame, |p| p);
        cloth.colors.fill([color; 3]);
        for prop in props.into_iter().chain([cloth]) {
            items.push(place_item(prop, 12.0, place.into()));
        }
    }
    let mut picture = Picture::new(1600, 700);
    let target = DVec3::new(0.12, 1.02, 0.0);
    picture.draw(&items, &View { target, half_height: 1.42, azimuth: 0.0, elevation: 9.0, floor: true });
    picture.write(Path::new(&format!("{prefix}-lineup.png")))
}

/// The characters of the line-up, each in a moment of one of its clips.
fn draw_cast(n_vertices: usize) -> Result<Vec<Item>> {
    let cast = [
        (Sample::Biped, "greet", 0.45, [-1.72, 0.0, 0.35], 14.0),
        (Sample::Quadruped, "wag", 0.2, [-0.95, 0.0, 0.65], 38.0),
        (Sample::Octopus, "idle", 0.3, [0.16, 0.0, 0.75], -8.0),
        (Sample::Sack, "sway", 0.3, [1.42, 0.0, 0.75], -18.0),
        (Sample::Bar, "bend", 0.08, [2.78, 0.0, 0.2], -25.0),
    ];
    let mut items = Vec::new();
    for (sample, clip, at, place, degrees) in cast {
        let character = build_character(sample, n_vertices)?;
        let found = character.clips.iter().find(|c| c.name == clip);
        let clip = found.ok_or_else(|| format!("{} has no clip {clip}", sample.name()))?;
        let positions = character.positions_at(Some(clip), clip.duration_secs() * at)?;
        items.push(place_item(item(&character, &positions), degrees, place.into()));
    }
    Ok(items)
}

/// An upright cylinder on the floor, rounded at its upper end.
fn rod(radius: f64, top: f64, color: [f32; 3]) -> Item {
    let n = 40u32;
    let rings =
        [(1.0, 0.0), (1.0, top - 0.3 * radius), (0.85, top - 0.08 * radius), (0.5, top), (0.001, top)];
    let point = |i: usize| {
        let angle = (i % n as usize) as f64 * std::f64::consts::TAU / f64::from(n);
        let (r, y) = rings[i / n as usize];
        DVec3::new(radius * r * angle.sin(), y, radius * r * angle.cos())
    };
    let positions: Vec<DVec3> = (0..rings.len() * n as usize).map(point).collect();
    let quad = |(ring, i): (u32, u32)| {
        let (a, b) = (ring * n + i, ring * n + (i + 1) % n);
        [[a, b, b + n], [a, b + n, a + n]]
    };
    let faces: Vec<[u32; 3]> =
        (0..rings.len() as u32 - 1).flat_map(|r| (0..n).map(move |i| (r, i))).flat_map(quad).collect();
    Item { colors: vec![[color; 3]; faces.len()], faces, positions }
}
