//! Sheets of one sample: at rest, its weights, bent, and in its clips.

use crate::{
    Result,
    items::{cloth_item, item, weight_item},
    raster::{Item, Picture, View},
};
use glam::{DQuat, DVec3, Vec3};
use sinew::geom::{
    Character, EulerOrder, Pose,
    rig::skin_linear,
    sample::{Sample, build_character, build_sequence},
};
use std::{ops::ControlFlow, path::Path};

pub fn draw_character(sample: Sample, n_vertices: usize, prefix: &str) -> Result<()> {
    let start = std::time::Instant::now();
    let character = build_character(sample, n_vertices)?;
    let seconds = start.elapsed().as_secs_f64();
    let (n, angle) = (character.mesh.n_vertices(), min_angle(&character));
    println!("{} {n} vertices in {seconds:.2} s, smallest angle {angle:.1} degrees", sample.name());
    let [low, high] = character.mesh.bounds();
    let view = View {
        target: 0.5 * (low + high),
        half_height: 0.58 * (high.y - low.y).max(0.6 * (high.x - low.x)).max(0.45 * (high - low).length()),
        azimuth: 30.0,
        elevation: 12.0,
        floor: true,
    };
    let file = |what: &str| format!("{prefix}-{}-{what}.png", sample.name());
    // Copies turned beside each other: three quarters, front, side, back, weights.
    let turned = |item: Item, degrees: f64, column: f64| {
        turn_item(item, view.target, degrees, column * view.half_height * 1.36)
    };
    let rest_positions: Vec<Vec3> = character.mesh.positions().iter().map(|p| p.as_vec3()).collect();
    let rest = || item(&character, &rest_positions);
    let items = [
        turned(rest(), 32.0, -2.0),
        turned(rest(), 0.0, -1.0),
        turned(rest(), -90.0, 0.0),
        turned(rest(), 150.0, 1.0),
        turned(weight_item(&character), 32.0, 2.0),
    ];
    let mut picture = Picture::new(1800, 520);
    picture.draw(&items, &View { azimuth: 0.0, ..view });
    picture.write(Path::new(&file("rest")))?;
    if let Some(head) = character.handles.iter().find(|handle| handle.name == "head") {
        // The face from nearby.
        let target = head.center + DVec3::new(0.0, 0.25 * view.half_height * 0.6, 0.0);
        let mut picture = Picture::new(800, 600);
        picture
            .draw(&[rest()], &View { target, half_height: 0.26 * view.half_height, azimuth: 24.0, ..view });
        picture.write(Path::new(&file("face")))?;
    }
    draw_flexed(&character, &view, &file)?;
    draw_clips(&character, &view, &file)
}

/// Smallest angle of any triangle, in degrees.
fn min_angle(character: &Character) -> f64 {
    let smallest = |f: usize| {
        let p = character.mesh.corners(f);
        let angle = |i: usize| (p[(i + 1) % 3] - p[i]).angle_between(p[(i + 2) % 3] - p[i]);
        angle(0).min(angle(1)).min(angle(2))
    };
    (0..character.mesh.n_faces()).map(smallest).fold(f64::INFINITY, f64::min).to_degrees()
}

/// Joints far from rest, where skinning shows its faults; joints a character lacks are skipped.
const FLEXED: [(&str, [f64; 3]); 12] = [
    ("forearm.L", [0.0, -90.0, 0.0]),
    ("forearm.R", [0.0, 140.0, 0.0]),
    ("thigh.L", [-80.0, 0.0, 10.0]),
    ("shin.L", [90.0, 0.0, 0.0]),
    ("thigh.R", [20.0, 0.0, -25.0]),
    ("upper_arm.R", [0.0, 0.0, -50.0]),
    ("hand.L", [0.0, 0.0, -60.0]),
    ("head", [0.0, 40.0, 0.0]),
    ("spine", [15.0, 20.0, 0.0]),
    ("index.1.L", [0.0, 0.0, -70.0]),
    ("index.2.L", [0.0, 0.0, -70.0]),
    ("tail.2", [0.0, 40.0, 0.0]),
];

fn draw_flexed(character: &Character, view: &View, file: &impl Fn(&str) -> String) -> Result<()> {
    let Some(rig) = &character.rig else { return Ok(()) };
    let mut pose = rig.rest_pose();
    for (name, degrees) in FLEXED {
        if let Some(joint) = rig.find(name) {
            let angles = DVec3::from(degrees) * std::f64::consts::PI / 180.0;
            let local = &mut pose.locals[joint];
            local.rotation *= EulerOrder::default().to_quat(angles);
        }
    }
    let bent = posed(character, &pose)?;
    let items = [-0.5, 0.5].map(|side| {
        turn_item(item(character, &bent), view.target, 75.0 * side + 10.0, 1.5 * side * view.half_height)
    });
    let mut picture = Picture::new(1100, 700);
    picture.draw(&items, &View { azimuth: 0.0, ..*view });
    picture.write(Path::new(&file("flexed")))
}

pub fn draw_sequence(sample: Sample, n_vertices: usize, prefix: &str) -> Result<()> {
    let start = std::time::Instant::now();
    let sequence = build_sequence(sample, n_vertices, &mut |_| ControlFlow::Continue(()))?;
    let seconds = start.elapsed().as_secs_f64();
    println!("{} {} vertices in {seconds:.2} s", sample.name(), sequence.rest().n_vertices());
    let n_shown = 8;
    let items: Vec<Item> = (0..n_shown)
        .map(|i| {
            let frame = i * (sequence.n_frames() - 1) / (n_shown - 1);
            let (column, row) = ((i % 4) as f64 - 1.5, (i / 4) as f64);
            let shift = DVec3::new(column * 1.9, 0.0, row * 3.0);
            let turn = DQuat::from_rotation_y(0.5);
            cloth_item(&sequence, frame, |p| turn * p + shift)
        })
        .collect();
    let mut picture = Picture::new(1600, 900);
    let view = View {
        target: DVec3::new(0.4, 0.9, 1.5),
        half_height: 2.2,
        azimuth: 0.0,
        elevation: 24.0,
        floor: true,
    };
    picture.draw(&items, &view);
    picture.write(Path::new(&format!("{prefix}-{}.png", sample.name())))
}

fn draw_clips(character: &Character, view: &View, file: &impl Fn(&str) -> String) -> Result<()> {
    let n_frames = 6;
    for clip in &character.clips {
        let width = view.half_height * 1.42;
        let across = DQuat::from_rotation_y(view.azimuth.to_radians()) * DVec3::X;
        let items: Vec<Item> = (0..n_frames)
            .map(|i| {
                let time = clip.duration_secs() * i as f32 / n_frames as f32;
                let shift = across * (width * (i as f64 - 0.5 * (n_frames - 1) as f64));
                let positions = character.positions_at(Some(clip), time)?;
                let mut item = item(character, &positions);
                item.positions.iter_mut().for_each(|p| *p += shift);
                Ok(item)
            })
            .collect::<Result<_>>()?;
        let mut picture = Picture::new(1600, 420);
        picture.draw(&items, &View { half_height: view.half_height * 1.3, ..*view });
        picture.write(Path::new(&file(&clip.name)))?;
    }
    Ok(())
}

/// Turn about the vertical through `center` and move along x.
fn turn_item(mut item: Item, center: DVec3, degrees: f64, shift: f64) -> Item {
    let turn = DQuat::from_rotation_y(degrees.to_radians());
    item.positions.iter_mut().for_each(|p| *p = center + turn * (*p - center) + DVec3::X * shift);
    item
}

/// Positions in a pose of the rig.
fn posed(character: &Character, pose: &Pose) -> Result<Vec<Vec3>> {
    let (Some(rig), Some(skin)) = (&character.rig, &character.skin) else { return Err("no skeleton".into()) };
    let mut world = Vec::new();
    rig.forward(pose, &mut world)?;
    let rest: Vec<Vec3> = character.mesh.positions().iter().map(|p| p.as_vec3()).collect();
    let mut out = vec![Vec3::ZERO; rest.len()];
    skin_linear(skin, &skin.matrices(&world), &rest, &mut out)?;
    Ok(out)
}
