//! Clouds of points, and how far they are from each other.

use glam::{DVec3, IVec3};
use sinew_formats::{Content, GltfFile, read_any};
use sinew_geom::Warnings;
use std::{collections::HashMap, path::Path};

/// An FBX file and its warnings, or its error.
pub fn open(path: &Path) -> Result<(GltfFile, Vec<String>), String> {
    let mut warnings = Warnings::default();
    match read_any(path, &mut warnings) {
        Ok(Content::Gltf(file)) => Ok((*file, warnings.messages)),
        Ok(_) => panic!("{} is not read as FBX", path.display()),
        Err(error) => Err(error.to_string()),
    }
}

/// Files of a folder with an ending.
pub fn files(folder: &Path, ending: &str) -> Vec<std::path::PathBuf> {
    let all = sinew_outside::files_below(folder).into_iter();
    all.filter(|path| path.extension().is_some_and(|e| e.eq_ignore_ascii_case(ending))).collect()
}

/// Diagonal of the box around points.
pub fn diagonal(points: &[DVec3]) -> f64 {
    let [low, high] = sinew_geom::mesh::bounds(points);
    low.distance(high)
}

/// How many points of one cloud have none of the other within a distance, in both directions.
pub fn strays(a: &[DVec3], b: &[DVec3], distance: f64) -> usize {
    alone(a, b, distance) + alone(b, a, distance)
}

fn alone(points: &[DVec3], others: &[DVec3], distance: f64) -> usize {
    let cell = |p: DVec3| (p / distance).floor().as_ivec3();
    let mut grid: HashMap<IVec3, Vec<DVec3>> = HashMap::new();
    others.iter().for_each(|p| grid.entry(cell(*p)).or_default().push(*p));
    let around = |p: DVec3| {
        let steps = -1..=1;
        let cells = steps.clone().flat_map(move |x| {
            let steps = -1..=1;
            steps.flat_map(move |y| (-1..=1).map(move |z| IVec3::new(x, y, z)))
        });
        cells.map(move |step| cell(p) + step)
    };
    let is_near = |p: &DVec3| {
        around(*p)
            .any(|cell| grid.get(&cell).is_some_and(|found| found.iter().any(|q| p.distance(*q) <= distance)))
    };
    points.iter().filter(|p| !is_near(p)).count()
}
