//! Boxes, walls, slopes and hills.

use crate::{
    Attachment, BodyPoint, Collider, FleshError, FleshParams, FleshSolver, FleshState, Lattice, Material,
    Obstacle, StepInput, Terrain,
};
use glam::{DQuat, DVec2, DVec3};
use sinew_geom::Mesh;
use std::sync::Arc;

#[test]
fn distances() {
    let turn = DQuat::from_rotation_y(0.5);
    let center = DVec3::new(1.0, 2.0, 3.0);
    let cuboid = Collider::Cuboid { center, half: DVec3::new(1.0, 0.5, 2.0), rotation: turn };
    let cases = [
        (DVec3::new(3.0, 0.0, 0.0), 2.0, DVec3::X),
        (DVec3::new(0.0, -1.5, 1.0), 1.0, DVec3::NEG_Y),
        (DVec3::new(4.0, 4.5, 0.0), 5.0, DVec3::new(0.6, 0.8, 0.0)),
        (DVec3::new(0.0, 0.4, 1.0), -0.1, DVec3::Y),
        (DVec3::new(-0.95, 0.0, 0.0), -0.05, DVec3::NEG_X),
    ];
    for (p, wanted, normal) in cases {
        let (distance, found) = cuboid.distance(center + turn * p);
        assert!((distance - wanted).abs() < 1e-12 && found.distance(turn * normal) < 1e-12, "{p} {distance}");
    }
    let room = Collider::room(DVec3::ZERO, DVec3::ONE);
    let nearest = |p: DVec3| room.iter().map(|wall| wall.distance(p).0).fold(f64::INFINITY, f64::min);
    assert!(
        (nearest(DVec3::new(0.9, 0.5, 0.5)) - 0.1).abs() < 1e-12 && nearest(DVec3::new(0.5, -0.2, 0.5)) < 0.0
    );
    // A plane as terrain has the distances of the plane, on both kinds of triangles.
    let slope = |x: f64, z: f64| 0.3 * x - 0.2 * z + 1.0;
    let heights = (0..12).map(|k| slope(f64::from(k % 4), f64::from(k / 4) * 2.0)).collect();
    let terrain = Terrain::new(DVec2::ZERO, DVec2::new(3.0, 4.0), [4, 3], heights).unwrap();
    let normal = DVec3::new(-0.3, 1.0, 0.2).normalize();
    for p in [DVec3::new(0.3, 2.0, 0.4), DVec3::new(1.9, 0.5, 3.8), DVec3::new(3.0, 1.0, 4.0)] {
        let (distance, found) = terrain.distance(p);
        let wanted = (p - DVec3::new(p.x, slope(p.x, p.z), p.z)).dot(normal);
        assert!((distance - wanted).abs() < 1e-12 && found.distance(normal) < 1e-12);
    }
    assert_eq!(terrain.distance(DVec3::new(-0.1, 0.0, 1.0)).0, f64::INFINITY, "beside it is nothing");
}

#[test]
fn bad_obstacles_are_refused() {
    let flat =
        Collider::Cuboid { center: DVec3::ZERO, half: DVec3::new(1.0, 0.0, 1.0), rotation: DQuat::IDENTITY };
    assert!(matches!(flat.check(), Err(FleshError::Parameter { name: "side of a box", .. })));
    let make = |high: DVec2, n: [usize; 2], heights: Vec<f64>| Terrain::new(DVec2::ZERO, high, n, heights);
    assert!(make(DVec2::ONE, [2, 2], vec![0.0; 3]).unwrap_err().to_string().contains("expected 4"));
    assert!(make(DVec2::ONE, [1, 4], vec![0.0; 4]).is_err());
    assert!(make(DVec2::X, [2, 2], vec![0.0; 4]).is_err());
    assert!(make(DVec2::ONE, [2, 2], vec![f64::INFINITY; 4]).is_err());
    assert!(make(DVec2::ONE, [2, 2], vec![f64::NAN; 4]).unwrap().distance(DVec3::splat(0.5)).0.is_infinite());
    assert!(Terrain::from_mesh(&Mesh::default()).is_err());
}

/// How far a block slides in a second.
fn slide(shape: &Collider, friction: f64, start: DVec3) -> (DVec3, f64) {
    let lattice = Lattice::block([2; 3], 0.05, start).unwrap();
    let corner = |c: usize| std::array::from_fn(|k| f64::from(u8::from(k == c)));
    let contact_points =
        (0..8).flat_map(|cell| (0..8).map(move |c| BodyPoint { cell, weights: corner(c) })).collect();
    let attachment = Attachment { contact_points, ..Attachment::default() };
    let params = FleshParams { stiffness_damping: 0.05, ..FleshParams::default() };
    let material = Material { young: 1e5, ..Material::default() };
    let mut solver = FleshSolver::new(&lattice, &[material], &attachment, &params).unwrap();
    let mut state = FleshState::at_rest(&lattice);
    let mut input = StepInput::at_rest(&lattice, &attachment);
    input.obstacles = vec![Obstacle { shape: shape.clone(), friction }];
    let first = state.center(solver.masses());
    let mut deepest: f64 = 0.0;
    for _ in 0..200 {
        assert!(solver.step(&mut state, &input, 0.005).unwrap().converged);
        let depth = state.positions.iter().map(|p| shape.distance(*p).0).fold(f64::INFINITY, f64::min);
        deepest = deepest.min(depth);
    }
    (state.center(solver.masses()) - first, deepest)
}

/// On a slope of 0.4, friction of 0.8 holds and 0.05 does not, be it a plane or a terrain; a box carries.
#[test]
fn slopes_hold_or_let_go() {
    let square = [
        DVec3::new(-2.0, 0.8, -2.0),
        DVec3::new(2.0, -0.8, -2.0),
        DVec3::new(2.0, -0.8, 2.0),
        DVec3::new(-2.0, 0.8, 2.0),
    ];
    let mesh = Mesh::new(square.to_vec(), vec![[0, 2, 1], [0, 3, 2]]).unwrap();
    let terrain = Collider::Terrain(Arc::new(Terrain::from_mesh(&mesh).unwrap()));
    let plane = Collider::Plane { point: DVec3::ZERO, normal: DVec3::new(0.4, 1.0, 0.0).normalize() };
    let start = DVec3::new(-0.05, 0.04, -0.05);
    let mut ways = Vec::new();
    for shape in [&terrain, &plane] {
        let (held, depth) = slide(shape, 0.8, start);
        let (slid, _) = slide(shape, 0.05, start);
        assert!(held.length() < 0.06 && depth > -0.01, "{held} {depth}");
        assert!(slid.x > 0.5 && slid.y < -0.2, "{slid}");
        // It slides by at most g (sin − μ cos) t² / 2; tipping over at the start takes some time.
        let angle = 0.4f64.atan();
        let wanted = 9.81 * (angle.sin() - 0.05 * angle.cos()) / 2.0;
        assert!((0.7..1.02).contains(&(slid.length() / wanted)), "{} {wanted}", slid.length());
        ways.push(slid.length());
    }
    assert!((ways[0] / ways[1] - 1.0).abs() < 0.02, "terrain and plane are the same ground: {ways:?}");
    let half = DVec3::new(0.5, 0.1, 0.5);
    let table = Collider::Cuboid { center: DVec3::new(0.0, -0.1, 0.0), half, rotation: DQuat::IDENTITY };
    let (rests, depth) = slide(&table, 0.5, start);
    assert!(rests.length() < 0.06 && depth > -0.01, "{rests} {depth}");
}
