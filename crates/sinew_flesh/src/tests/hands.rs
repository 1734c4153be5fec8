//! Stiffness by paint and at run time, joints by rays, grips, and the clock.

use crate::{
    FleshError, JointSite, LatticeParams, Material, Pacer, Simulation, SimulationParams, build_body,
    build_skeleton, cell_factors, place_joint,
};
use glam::{DVec3, Vec3};
use sinew_geom::{
    Character, Mesh, Warnings,
    query::SurfaceTree,
    sample::{Sample, build_character},
};

/// A closed box, facing outwards.
fn cuboid(low: DVec3, high: DVec3) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let corner = |c: usize| {
        let side = |k: usize| if c >> k & 1 == 1 { high[k] } else { low[k] };
        DVec3::new(side(0), side(1), side(2))
    };
    let faces = [
        [0, 2, 1],
        [1, 2, 3],
        [4, 5, 6],
        [5, 7, 6],
        [0, 1, 4],
        [1, 5, 4],
        [2, 6, 3],
        [3, 6, 7],
        [0, 4, 2],
        [2, 4, 6],
        [1, 3, 5],
        [3, 7, 5],
    ];
    ((0..8).map(corner).collect(), faces.to_vec())
}

fn mesh_of(parts: &[(DVec3, DVec3)]) -> Mesh {
    let (mut positions, mut faces) = (Vec::new(), Vec::new());
    for (low, high) in parts {
        let first = positions.len() as u32;
        let (p, f) = cuboid(*low, *high);
        positions.extend(p);
        faces.extend(f.iter().map(|face| face.map(|v| v + first)));
    }
    Mesh::new(positions, faces).unwrap()
}

fn biped() -> Character {
    build_character(Sample::Biped, 1500).unwrap()
}

fn small() -> SimulationParams {
    SimulationParams { lattice: LatticeParams { cells: 300, size: None }, ..SimulationParams::default() }
}

#[test]
fn paint_is_blended_by_its_logarithm_and_reaches_the_inside() {
    let character = biped();
    let body = build_body(&character.mesh, &small().lattice).unwrap();
    let n = character.mesh.n_vertices();
    let even = cell_factors(&body, &vec![3.0; n]).unwrap();
    assert!(even.iter().all(|factor| (factor - 3.0).abs() < 1e-4));
    // Four times as stiff above the middle, a quarter below: opposite everywhere if turned round.
    let [low, high] = character.mesh.bounds();
    let middle = 0.5 * (low.y + high.y);
    let by = |up: f32, down: f32| {
        let of = |p: &DVec3| if p.y > middle { up } else { down };
        cell_factors(&body, &character.mesh.positions().iter().map(of).collect::<Vec<f32>>()).unwrap()
    };
    let (one, other) = (by(4.0, 0.25), by(0.25, 4.0));
    for (a, b) in one.iter().zip(&other) {
        assert!((a * b - 1.0).abs() < 1e-4 && (0.2499..4.001).contains(a), "{a} {b}");
    }
    assert!(one.iter().any(|f| *f > 3.9) && one.iter().any(|f| *f < 0.26));
    assert!(matches!(cell_factors(&body, &[1.0]), Err(FleshError::Length { .. })));
    let mut wrong = vec![1.0; n];
    for bad in [0.0, -1.0, f32::NAN, f32::INFINITY, 1e4] {
        wrong[3] = bad;
        assert!(matches!(cell_factors(&body, &wrong), Err(FleshError::Parameter { .. })), "{bad}");
    }
}

/// Painted evenly, flesh is as flesh of that stiffness is; so is flesh whose stiffness is changed at run time.
#[test]
fn stiffness_by_paint_and_at_run_time_is_stiffness() {
    let character = biped();
    let mut warnings = Warnings::default();
    let shape = |simulation: &mut Simulation| {
        simulation.begin(None, true).unwrap();
        (0..20).for_each(|_| assert!(simulation.step(None, 0.01).unwrap().converged));
        simulation.state().positions.clone()
    };
    let stiff = SimulationParams { material: Material::default().stiffened(0.25), ..small() };
    let painted = SimulationParams { paint: vec![0.25; character.mesh.n_vertices()], ..small() };
    let wanted = shape(&mut Simulation::new(&character, &stiff, &mut warnings).unwrap());
    let by_paint = shape(&mut Simulation::new(&character, &painted, &mut warnings).unwrap());
    let mut changed = Simulation::new(&character, &small(), &mut warnings).unwrap();
    let before = shape(&mut changed);
    changed.change(&stiff).unwrap();
    let at_run_time = shape(&mut changed);
    let apart = |a: &[DVec3], b: &[DVec3]| a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    assert!(apart(&wanted, &before) > 1e-3, "softer flesh hangs lower");
    assert!(apart(&wanted, &by_paint) < 1e-6 && apart(&wanted, &at_run_time) < 1e-9);
}

/// Held, a part of the surface comes near the target; released, it returns to where it was.
#[test]
fn flesh_returns_when_a_hand_lets_go() {
    let character = biped();
    let mut simulation = Simulation::new(&character, &small(), &mut Warnings::default()).unwrap();
    simulation.begin(None, true).unwrap();
    let run = |simulation: &mut Simulation, n: usize| {
        (0..n).for_each(|_| assert!(simulation.step(None, 0.02).unwrap().converged));
        let mut positions = Vec::new();
        simulation.positions(&mut positions).unwrap();
        positions
    };
    let before = run(&mut simulation, 50);
    // The belly: the vertex that is farthest in front at half height.
    let vertex = (0..before.len())
        .filter(|&v| (before[v].y - 1.1).abs() < 0.1)
        .max_by(|a, b| before[*a].z.total_cmp(&before[*b].z))
        .unwrap();
    let grip = simulation.grip(vertex).unwrap();
    let way = DVec3::new(0.0, 0.0, 0.08);
    simulation.hold(Some((&grip, before[vertex].as_dvec3() + way)));
    let held = run(&mut simulation, 100);
    let moved = (held[vertex] - before[vertex]).dot(Vec3::Z);
    assert!(moved > 0.03, "drawn {moved} m of 0.08");
    simulation.hold(None);
    simulation.push(Some((&grip, DVec3::ZERO)));
    let after = run(&mut simulation, 200);
    let left = after.iter().zip(&before).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    assert!(left < 2e-3, "returned to within {left} m");
    assert!(simulation.grip(usize::MAX).is_err());
}

#[test]
fn joints_lie_half_way_between_the_first_two_hits() {
    let mesh = mesh_of(&[(DVec3::ZERO, DVec3::ONE), (DVec3::new(0.0, 0.0, 2.0), DVec3::new(1.0, 1.0, 5.0))]);
    let (tree, diagonal) = (SurfaceTree::new(&mesh), mesh.diagonal());
    let at = |origin, direction| place_joint(&tree, origin, direction, diagonal);
    let found = at(DVec3::new(0.3, 0.4, -7.0), DVec3::Z * 0.25).unwrap();
    assert!(found.distance(DVec3::new(0.3, 0.4, 0.5)) < 1e-9, "{found}");
    // Through an edge, where two faces are met at once.
    let edge = at(DVec3::new(0.5, 0.5, -7.0), DVec3::Z).unwrap();
    assert!(edge.distance(DVec3::splat(0.5)) < 1e-9, "{edge}");
    assert_eq!(at(DVec3::new(3.0, 0.4, -7.0), DVec3::Z), None);
    // From within there is one hit.
    let within = at(DVec3::new(0.3, 0.4, 4.5), DVec3::Z).unwrap();
    assert!(within.distance(DVec3::new(0.3, 0.4, 5.0)) < 1e-9);
}

fn site(name: &str, parent: Option<usize>, position: [f64; 3]) -> JointSite {
    JointSite { name: name.into(), parent, position: DVec3::from_array(position) }
}

/// Bounded, one in sum, alike for neighbours, and those of the nearest bone along the body.
#[test]
fn weights_of_joints_put_by_hand() {
    let character = biped();
    let sites = [
        site("root", None, [0.0, 1.0, 0.0]),
        site("left", Some(0), [0.1, 0.5, 0.0]),
        site("right", Some(0), [-0.1, 0.5, 0.0]),
        site("top", Some(0), [0.0, 1.5, 0.0]),
    ];
    let (rig, skin) = build_skeleton(&character.mesh, &sites).unwrap();
    assert_eq!(rig.n_joints(), 4);
    let row = |vertex: usize| {
        let mut row = [0f32; 4];
        skin.vertex(vertex).for_each(|(slot, weight)| row[slot as usize] += weight);
        row
    };
    for vertex in 0..character.mesh.n_vertices() {
        let row = row(vertex);
        assert!(
            (row.iter().sum::<f32>() - 1.0).abs() < 1e-5 && row.iter().all(|w| (0.0..=1.0001).contains(w))
        );
    }
    for face in character.mesh.faces() {
        for k in 0..3 {
            let [a, b] = [row(face[k] as usize), row(face[(k + 1) % 3] as usize)];
            let way = (0..4).map(|j| (a[j] - b[j]).abs()).fold(0.0, f32::max);
            assert!(way < 0.4, "neighbours {face:?} differ by {way}");
        }
    }
    // Feet belong to their own leg, whatever lies beside it.
    for (vertex, p) in character.mesh.positions().iter().enumerate().filter(|(_, p)| p.y < 0.15) {
        let own = if p.x > 0.0 { 1 } else { 2 };
        assert!(row(vertex)[own] > 0.9, "{p} has {:?}", row(vertex));
    }
}

#[test]
fn skeletons_that_make_no_sense_are_refused() {
    let mesh = mesh_of(&[(DVec3::ZERO, DVec3::ONE)]);
    assert!(matches!(build_skeleton(&mesh, &[]), Err(FleshError::Parameter { .. })));
    let nowhere = [site("a", None, [f64::NAN, 0.0, 0.0])];
    assert!(matches!(build_skeleton(&mesh, &nowhere), Err(FleshError::NonFinite { .. })));
    let round = [site("a", Some(1), [0.5; 3]), site("b", Some(0), [0.4; 3])];
    assert!(build_skeleton(&mesh, &round).is_err());
    // A joint outside, and one at the place of another, are joints too.
    let odd = [site("a", None, [9.0, 0.5, 0.5]), site("b", Some(0), [0.5; 3]), site("c", Some(1), [0.5; 3])];
    let (_, skin) = build_skeleton(&mesh, &odd).unwrap();
    assert!(skin.weights().iter().all(|w| w.is_finite()));
}

#[test]
fn steps_keep_up_with_the_clock_or_become_slow() {
    let mut pacer = Pacer::new(0.01);
    let (n, secs) = pacer.plan(1.0 / 60.0, 1.0);
    assert!(n == 2 && (n as f64 * secs - 1.0 / 60.0).abs() < 1e-12);
    pacer.took(0.004);
    // Five steps would be needed, two can be afforded: time is dropped, steps stay safe.
    let (n, secs) = pacer.plan(0.05, 0.009);
    assert!(n == 2 && (secs - 0.01).abs() < 1e-12);
    assert!(pacer.speed() < 1.0);
    // One step at least; a pause of minutes is not made up for; no time, no step.
    assert_eq!(pacer.plan(0.05, 1e-9).0, 1);
    assert!(pacer.plan(100.0, 100.0).0 <= 25);
    assert_eq!((pacer.plan(0.0, 1.0).0, pacer.plan(f64::NAN, 1.0).0), (0, 0));
}
