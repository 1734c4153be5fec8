//! Draws the built-in samples: `draw_samples [OUT_PREFIX] [VERTICES] [NAME…]`.
//!
//! Writes one picture per sample at rest and in its clips, and a line-up of all of them.

mod common;

use common::{Item, Picture, View};
use glam::{DAffine3, DQuat, DVec3};
use sinew_geom::sample::{Sample, build_character, build_sequence};
use sinew_geom::{Character, EulerOrder, MeshSequence, Pose, Skin};
use std::ops::ControlFlow;
use std::path::Path;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let prefix = args.next().unwrap_or_else(|| "samples".into());
    let n_vertices: usize = args.next().map_or(Ok(20_000), |n| n.parse())?;
    let names: Vec<String> = args.collect();
    for sample in Sample::ALL.into_iter().filter(|s| names.is_empty() || names.iter().any(|n| n == s.name()))
    {
        if sample.is_sequence() {
            draw_sequence(sample, n_vertices, &prefix)?;
        } else {
            draw_character(sample, n_vertices, &prefix)?;
        }
    }
    if names.is_empty() && prefix != "none" {
        draw_lineup(n_vertices, &prefix)?;
    }
    Ok(())
}

/// All samples in one picture.
fn draw_lineup(n_vertices: usize, prefix: &str) -> Result<()> {
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
    let target = DVec3::new(0.0, 1.02, 0.0);
    picture.draw(&items, &View { target, half_height: 1.36, azimuth: 0.0, elevation: 9.0, floor: true });
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
        let (Some(rig), Some(clip)) = (&character.rig, found) else {
            return Err(format!("{} has no clip {clip}", sample.name()).into());
        };
        let pose = clip.sample(rig, clip.duration_secs() * at);
        items.push(place_item(item(&character, skinned(&character, &pose)), degrees, place.into()));
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

/// Turn about the origin's vertical and move.
fn place_item(mut item: Item, degrees: f64, place: DVec3) -> Item {
    let turn = DQuat::from_rotation_y(degrees.to_radians());
    item.positions.iter_mut().for_each(|p| *p = turn * *p + place);
    item
}

fn draw_character(sample: Sample, n_vertices: usize, prefix: &str) -> Result<()> {
    let start = std::time::Instant::now();
    let character = build_character(sample, n_vertices)?;
    let seconds = start.elapsed().as_secs_f64();
    let (n, angle) = (character.mesh.n_vertices(), min_angle(&character));
    println!("{} {n} vertices in {seconds:.2} s, smallest angle {angle:.1} degrees", sample.name());
    if prefix == "none" {
        return Ok(());
    }
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
    let rest = || item(&character, character.mesh.positions().to_vec());
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
    let bent = skinned(character, &pose);
    let items = [-0.5, 0.5].map(|side| {
        turn_item(
            item(character, bent.clone()),
            view.target,
            75.0 * side + 10.0,
            1.5 * side * view.half_height,
        )
    });
    let mut picture = Picture::new(1100, 700);
    picture.draw(&items, &View { azimuth: 0.0, ..*view });
    picture.write(Path::new(&file("flexed")))
}

fn draw_sequence(sample: Sample, n_vertices: usize, prefix: &str) -> Result<()> {
    let start = std::time::Instant::now();
    let sequence = build_sequence(sample, n_vertices, &mut |_| ControlFlow::Continue(()))?;
    let seconds = start.elapsed().as_secs_f64();
    println!("{} {} vertices in {seconds:.2} s", sample.name(), sequence.rest().n_vertices());
    if prefix == "none" {
        return Ok(());
    }
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

fn cloth_item(sequence: &MeshSequence, frame: usize, place: impl Fn(DVec3) -> DVec3) -> Item {
    let positions = sequence.frames()[frame].iter().map(|&p| place(p.as_dvec3())).collect();
    let faces = sequence.rest().faces().to_vec();
    Item { colors: vec![[[0.62, 0.16, 0.14]; 3]; faces.len()], faces, positions }
}

fn draw_clips(character: &Character, view: &View, file: &impl Fn(&str) -> String) -> Result<()> {
    let Some(rig) = &character.rig else { return Ok(()) };
    let n_frames = 6;
    for clip in &character.clips {
        let width = view.half_height * 1.42;
        let across = DQuat::from_rotation_y(view.azimuth.to_radians()) * DVec3::X;
        let items: Vec<Item> = (0..n_frames)
            .map(|i| {
                let pose = clip.sample(rig, clip.duration_secs() * i as f32 / n_frames as f32);
                let shift = across * (width * (i as f64 - 0.5 * (n_frames - 1) as f64));
                item(character, skinned(character, &pose).into_iter().map(|p| p + shift).collect())
            })
            .collect();
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

/// Linear blend skinning.
fn skinned(character: &Character, pose: &Pose) -> Vec<DVec3> {
    let (Some(rig), Some(skin)) = (&character.rig, &character.skin) else { return Vec::new() };
    let mut world = Vec::new();
    if rig.forward(pose, &mut world).is_err() {
        return Vec::new();
    }
    let matrices: Vec<DAffine3> = skin.matrices(&world);
    let blend = |(v, &p): (usize, &DVec3)| blend_vertex(skin, &matrices, v, p);
    character.mesh.positions().iter().enumerate().map(blend).collect()
}

fn blend_vertex(skin: &Skin, matrices: &[DAffine3], vertex: usize, p: DVec3) -> DVec3 {
    skin.vertex(vertex).map(|(slot, w)| matrices[slot as usize].transform_point3(p) * f64::from(w)).sum()
}

fn item(character: &Character, positions: Vec<DVec3>) -> Item {
    let surface = &character.surface;
    let color = |(f, face): (usize, &[u32; 3])| {
        let material = surface.face_materials.get(f).map_or(0, |&m| m as usize);
        let base = surface.materials.get(material).map_or([0.7; 4], |m| m.base_color);
        face.map(|v| {
            let tone = surface.colors.as_ref().map_or([1.0; 4], |colors| colors[v as usize]);
            std::array::from_fn(|k| base[k] * tone[k])
        })
    };
    let faces = character.mesh.faces().to_vec();
    Item { colors: faces.iter().enumerate().map(color).collect(), faces, positions }
}

/// The rest shape, each joint in a colour of its own, mixed by weight.
fn weight_item(character: &Character) -> Item {
    let hue = |joint: u16| {
        let h = f32::from(joint) * 0.381_966;
        [0.0, 0.33, 0.66].map(|o| 0.12 + 0.75 * (0.5 + 0.5 * (std::f32::consts::TAU * (h + o)).cos()))
    };
    let color = |v: u32| {
        let Some(skin) = &character.skin else { return [0.5; 3] };
        skin.vertex(v as usize).fold([0.0; 3], |mut sum: [f32; 3], (joint, w)| {
            sum.iter_mut().zip(hue(joint)).for_each(|(s, c)| *s += w * c);
            sum
        })
    };
    let faces = character.mesh.faces().to_vec();
    let colors = faces.iter().map(|face| face.map(color)).collect();
    Item { positions: character.mesh.positions().to_vec(), faces, colors }
}
