//! Handles found on scanned and modelled animals: how many, and that known places are held.

use crate::support::data;
use glam::DVec3;
use sinew::{
    deform::{AutoParams, find_handles},
    formats::read_any,
    geom::{Handle, Mesh, Warnings},
};
use std::{collections::HashSet, ops::ControlFlow};

/// A model of the outside data and its handles.
fn found(name: &str) -> Option<(Mesh, Vec<Handle>)> {
    let mut warnings = Warnings::default();
    let mesh = read_any(&data()?.join("meshes").join(name), &mut warnings).unwrap().into_character()?.mesh;
    let go = &mut |_| ControlFlow::Continue(());
    let handles = find_handles(&mesh, &AutoParams::default(), go, &mut warnings).unwrap();
    Some((mesh, handles))
}

/// The handle at each place, given in shares of the bounds; each is another one and none is the body.
fn at_places(mesh: &Mesh, handles: &[Handle], places: &[[f64; 3]]) -> Vec<usize> {
    let [low, high] = mesh.bounds();
    let handle_at = |place: &[f64; 3]| {
        let point = low + DVec3::from_array(*place) * (high - low);
        let distance = |v: usize| mesh.positions()[v].distance(point);
        let nearest =
            (0..mesh.n_vertices()).min_by(|&a, &b| distance(a).total_cmp(&distance(b))).unwrap() as u32;
        let holds = |handle: &Handle| handle.vertices.binary_search(&nearest).is_ok();
        handles.iter().position(holds).unwrap_or_else(|| panic!("nothing holds {place:?}"))
    };
    let at: Vec<usize> = places.iter().map(handle_at).collect();
    let distinct: HashSet<usize> = at.iter().copied().filter(|&k| k != 0).collect();
    assert_eq!(
        distinct.len(),
        places.len(),
        "{:?}",
        at.iter().map(|&k| &handles[k].name).collect::<Vec<_>>()
    );
    at
}

#[test]
fn all_stubby_legs_horns_and_ears_of_a_cow_are_found() {
    let Some((mesh, handles)) = found("spot.obj") else { return };
    let legs = [[0.71, 0.01, 0.89], [0.29, 0.01, 0.89], [0.74, 0.0, 0.4], [0.26, 0.0, 0.4]];
    let head = [[0.7, 1.0, 0.22], [0.3, 1.0, 0.22], [0.96, 0.88, 0.25], [0.04, 0.88, 0.25], [0.5, 0.7, 0.05]];
    let at = at_places(&mesh, &handles, &[&legs[..], &head[..]].concat());
    assert_eq!(handles.len(), 10);
    // Left and right are the same size, to a few vertices.
    for pair in [[0, 1], [2, 3], [4, 5], [6, 7]] {
        let [a, b] = pair.map(|k| handles[at[k]].vertices.len() as f64);
        assert!((a - b).abs() <= 0.05 * a.max(b), "{a} and {b} vertices");
    }
    // Horns and ears go with the head.
    assert_eq!(handles[at[8]].secondary.len(), 4);
}

#[test]
fn the_head_and_the_fingers_of_the_armadillo_are_found() {
    let Some((mesh, handles)) = found("libigl-armadillo.obj") else { return };
    let snout = [0.5, 0.76, 0.92];
    let ears = [[0.67, 1.0, 0.76], [0.33, 0.99, 0.73]];
    let fingers = [[0.91, 0.81, 1.0], [0.9, 0.86, 0.97], [0.08, 0.9, 0.88], [0.11, 0.94, 0.85]];
    let toes = [[0.91, 0.01, 0.55], [0.84, 0.01, 0.58], [0.21, 0.0, 0.53], [0.28, 0.01, 0.55]];
    let at = at_places(&mesh, &handles, &[&[snout][..], &ears[..], &fingers[..], &toes[..]].concat());
    let head = &handles[at[0]];
    assert!(head.vertices.len() * 25 > mesh.n_vertices(), "{} vertices", head.vertices.len());
    assert_eq!(head.secondary.len(), 2, "it takes its ears along: {:?}", head.secondary);
    assert!((24..=34).contains(&handles.len()), "{} handles", handles.len());
}
