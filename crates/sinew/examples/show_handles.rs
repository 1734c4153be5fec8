//! Finds handles on meshes and draws them from two sides: `show_handles OUT_DIR [--count N] MESH|SAMPLE…`.
//!
//! Soft surface is grey. A character with a skin is drawn a second time with the handles of its bones.

#[path = "draw_samples/raster.rs"]
mod raster;

use glam::{DQuat, DVec3};
use raster::{Item, Picture, View};
use sinew::{
    deform::{AutoParams, SkinHandleParams, find_handles, handles_from_skin},
    formats::read_any,
    geom::{
        Character, Handle, Mesh, Warnings,
        sample::{Sample, build_character},
    },
};
use std::{ops::ControlFlow, path::Path, time::Instant};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let mut params = AutoParams::default();
    if let Some(at) = args.iter().position(|arg| arg == "--count") {
        params.count = Some(args.get(at + 1).ok_or("--count needs a number")?.parse()?);
        args.drain(at..at + 2);
    }
    let (out, inputs) = args.split_first().ok_or("usage: show_handles OUT_DIR [--count N] MESH|SAMPLE…")?;
    std::fs::create_dir_all(out)?;
    for input in inputs {
        let mut warnings = Warnings::default();
        let character = load(input, &mut warnings)?;
        let start = Instant::now();
        let handles =
            find_handles(&character.mesh, &params, &mut |_| ControlFlow::Continue(()), &mut warnings)?;
        let name = Path::new(input).file_stem().map_or(input.as_str().into(), |stem| stem.to_string_lossy());
        println!("{name}: {} vertices, {:.2} s", character.mesh.n_vertices(), start.elapsed().as_secs_f64());
        describe(&character.mesh, &handles);
        draw(&character.mesh, &handles, &format!("{out}/{name}.png"))?;
        if character.skin.is_some() {
            let handles = handles_from_skin(&character, &SkinHandleParams::default(), &mut warnings)?;
            describe(&character.mesh, &handles);
            draw(&character.mesh, &handles, &format!("{out}/{name}-skin.png"))?;
        }
        warnings.messages.iter().for_each(|message| println!("  {message}"));
    }
    Ok(())
}

/// A file, or a sample by its name and, after a colon, its number of vertices.
fn load(input: &str, warnings: &mut Warnings) -> Result<Character> {
    let (name, count) = input.split_once(':').unwrap_or((input, "20000"));
    if let Some(sample) = Sample::from_name(name) {
        return Ok(build_character(sample, count.parse()?)?);
    }
    read_any(Path::new(input), warnings)?
        .into_character()
        .ok_or_else(|| format!("{input} holds no mesh").into())
}

fn describe(mesh: &Mesh, handles: &[Handle]) {
    for handle in handles {
        let share = 100.0 * handle.vertices.len() as f64 / mesh.n_vertices() as f64;
        println!("  {:32} {share:4.1} %, with {}", handle.name, handle.secondary.len());
    }
}

fn draw(mesh: &Mesh, handles: &[Handle], path: &str) -> Result<()> {
    let hue = |k: usize| {
        let (h, dark) = (k as f32 * 0.381_966, [1.0, 0.55, 0.8][k % 3]);
        [0.0, 0.33, 0.66].map(|o| dark * (0.1 + 0.8 * (0.5 + 0.5 * (std::f32::consts::TAU * (h + o)).cos())))
    };
    let mut colors = vec![[0.55; 3]; mesh.n_vertices()];
    for (k, handle) in handles.iter().enumerate() {
        handle.vertices.iter().for_each(|&v| colors[v as usize] = hue(k));
    }
    let [low, high] = mesh.bounds();
    let (target, size) = (0.5 * (low + high), low.distance(high));
    let item = |degrees: f64, shift: f64| Item {
        positions: (mesh.positions().iter())
            .map(|&p| {
                DQuat::from_rotation_y(f64::to_radians(degrees)) * (p - target) / size + DVec3::X * shift
            })
            .collect(),
        faces: mesh.faces().to_vec(),
        colors: mesh.faces().iter().map(|face| face.map(|v| colors[v as usize])).collect(),
    };
    let view = View { target: DVec3::ZERO, half_height: 0.52, azimuth: 0.0, elevation: 15.0, floor: false };
    let mut picture = Picture::new(1500, 750);
    picture.draw(&[item(30.0, -0.5), item(-140.0, 0.5)], &view);
    picture.write(Path::new(path))
}
