//! Selections with a known answer.

use super::*;
use crate::tests::joined;
use glam::{DMat4, DVec2, DVec3};
use std::f64::consts::{PI, TAU};

/// A grid of `n` × `n` points over −1..1 in x and y, placed by a map, its outer side towards +z.
fn sheet(n: u32, place: impl Fn(f64, f64) -> DVec3) -> Mesh {
    let at = |i: u32| 2.0 * f64::from(i) / f64::from(n - 1) - 1.0;
    let positions = (0..n * n).map(|k| place(at(k % n), at(k / n))).collect();
    let quad = |k: u32| [[k, k + 1, k + n + 1], [k, k + n + 1, k + n]];
    let faces = (0..n * (n - 1)).filter(|k| k % n < n - 1).flat_map(quad).collect();
    Mesh::new(positions, faces).unwrap()
}

fn sphere(rows: u32, columns: u32) -> Mesh {
    let point = |i: u32, j: u32| {
        let (polar, around) = (PI * f64::from(i) / f64::from(rows), TAU * f64::from(j) / f64::from(columns));
        DVec3::new(polar.sin() * around.cos(), polar.sin() * around.sin(), polar.cos())
    };
    let mut positions: Vec<DVec3> = (1..rows).flat_map(|i| (0..columns).map(move |j| point(i, j))).collect();
    let index = |i: u32, j: u32| (i - 1) * columns + j % columns;
    let (top, bottom) = (positions.len() as u32, positions.len() as u32 + 1);
    positions.extend([DVec3::Z, DVec3::NEG_Z]);
    let mut faces: Vec<[u32; 3]> = (0..columns)
        .flat_map(|j| {
            [[top, index(1, j), index(1, j + 1)], [bottom, index(rows - 1, j + 1), index(rows - 1, j)]]
        })
        .collect();
    for i in 1..rows - 1 {
        for j in 0..columns {
            let [a, b, c, d] = [index(i, j), index(i + 1, j), index(i + 1, j + 1), index(i, j + 1)];
            faces.extend([[a, b, c], [a, c, d]]);
        }
    }
    Mesh::new(positions, faces).unwrap()
}

/// From z = 5 towards −z; both show −1.25..1.25 at z = 0.
fn views() -> [View; 2] {
    let view = DMat4::from_translation(DVec3::NEG_Z * 5.0);
    let parallel = DMat4::from_scale(DVec3::new(0.8, 0.8, -0.1));
    [parallel, perspective(4.0, -1.01, -0.2)].map(|projection| View { clip_from_model: projection * view })
}

/// Depth is `a z + b`, divided by `−z`.
fn perspective(focal: f64, a: f64, b: f64) -> DMat4 {
    DMat4::from_cols_array_2d(&[
        [focal, 0.0, 0.0, 0.0],
        [0.0, focal, 0.0, 0.0],
        [0.0, 0.0, a, -1.0],
        [0.0, 0.0, b, 0.0],
    ])
}

fn around(center: DVec2, half: f64) -> ScreenBox {
    ScreenBox::new(center + half, center - half)
}

#[test]
fn rays_run_through_what_they_project_to() {
    let mesh = sphere(8, 12);
    // One more without a far plane and with reversed depth, as renderers like it.
    let infinite = perspective(1.5, 0.0, 0.1)
        * DMat4::from_rotation_y(0.4)
        * DMat4::from_translation(DVec3::NEG_Z * 4.0);
    for view in views().into_iter().chain([View { clip_from_model: infinite }]) {
        for &p in mesh.positions() {
            let Some(at) = view.project(p) else { continue };
            let ray = view.ray(&mesh, at).unwrap();
            let along = (p - ray.origin).dot(ray.direction);
            assert!(along > 0.0 && (ray.origin + ray.direction * along).distance(p) < 1e-9);
        }
    }
}

#[test]
fn a_box_takes_all_before_the_viewer() {
    let sheets = joined(&[sheet(9, |x, y| DVec3::new(x, y, 0.0)), sheet(9, |x, y| DVec3::new(x, y, 30.0))]);
    let selector = Selector::new(&sheets);
    let [_, perspective] = views();
    let all = selector.in_box(&perspective, &around(DVec2::ZERO, 1.0));
    assert_eq!(all, (0..81).collect::<Vec<_>>(), "the sheet behind the viewer is not in the box");
    // Points at 0 and ±0.25 of the sheet appear at 0 and ±0.2.
    assert_eq!(selector.in_box(&perspective, &around(DVec2::ZERO, 0.25)).len(), 9);
    // A singular view shows nothing and causes no panic.
    let flat = View { clip_from_model: DMat4::ZERO };
    assert!(selector.in_box(&flat, &around(DVec2::ZERO, 1.0)).is_empty());
    assert!(selector.flood(&flat, &around(DVec2::ZERO, 1.0), Flood::Around).is_empty());
}

#[test]
fn a_flood_keeps_off_the_sheet_behind() {
    let front = sheet(17, |x, y| DVec3::new(x, y, 0.2));
    let both = joined(&[sheet(17, |x, y| DVec3::new(x, y, -0.2)), front]);
    let selector = Selector::new(&both);
    for view in views() {
        for flood in [Flood::Facing, Flood::Around] {
            let found = selector.flood(&view, &around(DVec2::ZERO, 0.5), flood);
            assert!(!found.is_empty() && found.iter().all(|&v| v >= 289), "{found:?}");
            let in_box = selector.in_box(&view, &around(DVec2::ZERO, 0.5));
            assert_eq!(found, remove(&in_box, &(0..289).collect::<Vec<_>>()));
        }
    }
}

#[test]
fn the_normal_test_parts_near_from_far_on_a_sphere() {
    // An odd number of rows: no vertex lies on the horizon.
    let mesh = sphere(25, 32);
    let selector = Selector::new(&mesh);
    let [parallel, perspective] = views();
    let whole = around(DVec2::ZERO, 1.0);
    for (view, horizon) in [(parallel, 0.0), (perspective, 0.2)] {
        // From 5 away, the horizon of the unit sphere is at z = 1/5.
        let facing = selector.flood(&view, &whole, Flood::Facing);
        let expected: Vec<u32> = (0..mesh.n_vertices() as u32)
            .filter(|&v| mesh.positions()[v as usize].z > horizon + 1e-9)
            .collect();
        assert_eq!(facing, expected);
        assert_eq!(selector.flood(&view, &whole, Flood::Around).len(), mesh.n_vertices());
    }
    // Inside out it is the same: what is seen is selected.
    let turned = mesh.faces().iter().map(|&[a, b, c]| [a, c, b]).collect();
    let turned = Mesh::new(mesh.positions().to_vec(), turned).unwrap();
    let facing = Selector::new(&turned).flood(&parallel, &whole, Flood::Facing);
    assert_eq!(facing, selector.flood(&parallel, &whole, Flood::Facing));
}

#[test]
fn a_box_on_the_arm_leaves_the_body_behind_it() {
    // An arm bent in front of a body: one surface, a strip that folds back outside the box.
    let fold = |x: f64, y: f64| match x {
        x if x < -0.4 => DVec3::new(-3.0 * x - 2.4, 3.0 * y, -0.5),
        x if x > 0.0 => DVec3::new(1.0 - 2.2 * x, y, 0.5),
        _ => DVec3::new(-1.2 + 2.2 * (x + 0.4) / 0.4, 2.0 * y, -0.5 + (x + 0.4) / 0.4),
    };
    let mesh = sheet(41, |x, y| {
        let p = fold(x, y);
        if x < -0.4 { DVec3::new(-p.x, p.y, p.z) } else { p }
    });
    let selector = Selector::new(&mesh);
    for view in views() {
        let screen = around(DVec2::ZERO, 0.15);
        let found = selector.flood(&view, &screen, Flood::Around);
        assert!(found.len() > 5 && found.iter().all(|&v| mesh.positions()[v as usize].z == 0.5), "{found:?}");
        assert!(selector.in_box(&view, &screen).len() > found.len());
    }
}

#[test]
fn a_box_whose_centre_misses_takes_the_nearest_visible_face() {
    let part = |x: f64, z: f64| sheet(5, move |u, v| DVec3::new(x + 0.2 * u, 0.2 * v, z));
    // Hidden behind the first, but nearer to the middle of the screen by a little, is the second.
    let mesh = joined(&[part(0.5, 0.5), part(0.52, 0.0), part(-0.6, 0.0)]);
    let selector = Selector::new(&mesh);
    let [parallel, _] = views();
    let found = selector.flood(&parallel, &around(DVec2::ZERO, 0.9), Flood::Facing);
    assert_eq!(found, (0..25).collect::<Vec<_>>());
    assert!(selector.flood(&parallel, &around(DVec2::ZERO, 0.1), Flood::Facing).is_empty());
    // A box within one face has no vertex in it, one across an edge of faces finds those inside.
    let small = around(DVec2::new(0.43, 0.02), 0.01);
    assert!(selector.flood(&parallel, &small, Flood::Facing).is_empty());
}

#[test]
fn paint_stays_on_its_side() {
    // Two sheets a millimetre apart, joined along x = 1.
    let mesh = sheet(81, |x, y| {
        if x < 0.0 { DVec3::new(1.0 + 2.0 * x, y, 0.0) } else { DVec3::new(1.0 - 2.0 * x, y, -0.001) }
    });
    let selector = Selector::new(&mesh);
    let [parallel, _] = views();
    let hit = selector.pick(&parallel, DVec2::new(0.013, 0.009)).unwrap();
    assert_eq!(selector.paint_face(hit.face).len(), 3);
    let place = DVec3::new(1.25 * 0.013, 1.25 * 0.009, 0.0);
    let painted = selector.paint_radius(hit.face, hit.barycentric, 0.4);
    for (v, p) in mesh.positions().iter().enumerate() {
        let (near, in_paint) = (p.distance(place), painted.contains(&(v as u32)));
        assert!(!in_paint || (p.z == 0.0 && near <= 0.4 + 1e-12));
        // Steps overestimate distances, on this uneven grid by a fifth at most.
        assert!(in_paint || p.z < 0.0 || near > 0.33, "{p} at {near}");
    }
    assert!(selector.paint_radius(hit.face, hit.barycentric, -1.0).is_empty());
    assert!(selector.paint_face(u32::MAX).is_empty());
}

#[test]
fn growing_and_shrinking_undo_each_other_away_from_rims() {
    let mesh = sheet(21, |x, y| DVec3::new(x, y, 0.0));
    let selector = Selector::new(&mesh);
    let middle = [220u32];
    // With diagonals one way, a ring around a point is a hexagon.
    let count = |rings| selector.grow(&middle, rings).len();
    assert_eq!([0, 1, 2, 3].map(count), [1, 7, 19, 37]);
    assert_eq!(selector.shrink(&selector.grow(&middle, 3), 3), middle);
    let all: Vec<u32> = (0..441).collect();
    assert_eq!(selector.shrink(&all, 5), all, "an open rim does not eat the selection");
    assert_eq!(add(&[1, 4], &[2, 4]), [1, 2, 4]);
}

#[test]
fn mirroring_finds_the_other_half_or_says_how_much_is_missing() {
    let mesh = sphere(12, 16);
    let selector = Selector::new(&mesh);
    let right: Vec<u32> =
        (0..mesh.n_vertices() as u32).filter(|&v| mesh.positions()[v as usize].x > 1e-9).collect();
    let left: Vec<u32> =
        (0..mesh.n_vertices() as u32).filter(|&v| mesh.positions()[v as usize].x < -1e-9).collect();
    let mirrored = selector.mirror(&right, &Plane::default(), 1e-6);
    assert_eq!(mirrored, Mirrored { vertices: left.clone(), n_unpaired: 0 });
    assert_eq!(selector.mirror(&mirrored.vertices, &Plane::default(), 1e-6).vertices, right);
    // The same plane, written otherwise; and one beside the sphere.
    let same = Plane { normal: DVec3::NEG_X * 3.0, offset: 0.0 };
    assert_eq!(selector.mirror(&right, &same, 1e-6).vertices, left);
    let beside = Plane { normal: DVec3::X, offset: 5.0 };
    assert_eq!(selector.mirror(&right, &beside, 0.1), Mirrored { vertices: vec![], n_unpaired: right.len() });
}
