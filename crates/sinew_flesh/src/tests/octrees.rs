//! Cells of several sizes: continuous, in balance, and as right as cells of one size.

use super::{Rigged, lattices::cuboid, nodes_where, noise3};
use crate::{
    Body, BodyPoint, FleshParams, FleshSolver, FleshState, Lattice, LatticeParams, Material, Mode,
    OctreeParams, Pin, PinMethod, SmoothEmbedding, StepInput, build_body, build_octree_body,
};
use glam::{DMat3, DQuat, DVec3, Vec3};
use sinew_geom::{
    Mesh,
    sample::{Sample, build_character},
};

const FLESH: Material = Material { young: 1e4, poisson: 0.3, density: 1000.0 };

/// A thick box with cells of three sizes, fine near one corner.
fn body(levels: usize) -> (Mesh, Body) {
    let mesh = cuboid(DVec3::ZERO, DVec3::new(1.6, 1.1, 1.2));
    let octree = OctreeParams { levels, across: 2.0, near: vec![(DVec3::ZERO, 0.45)] };
    let body = build_octree_body(&mesh, &LatticeParams { cells: 0, size: Some(0.08) }, &octree).unwrap();
    (mesh, body)
}

fn cells_with(lattice: &Lattice, p: DVec3) -> Vec<usize> {
    let holds = |cell: &usize| {
        let (low, size) = (lattice.corners(*cell)[0], lattice.cell_size(*cell));
        (p - low).cmpge(DVec3::splat(-1e-9)).all() && (p - low).cmple(DVec3::splat(size + 1e-9)).all()
    };
    (0..lattice.n_cells()).filter(holds).collect()
}

#[test]
fn sizes_are_in_balance_and_fill_the_same() {
    let (mesh, uniform) = (body(0).0, body(0).1);
    let (_, octree) = body(2);
    let lattice = &octree.lattice;
    assert!(uniform.lattice.is_cubes() && !lattice.is_cubes() && lattice.is_aligned() && lattice.has_ties());
    assert!(lattice.n_cells() < uniform.lattice.n_cells() / 3, "{}", lattice.n_cells());
    let volume = |l: &Lattice| (0..l.n_cells()).map(|c| l.cell_size(c).powi(3) * l.inside()[c]).sum::<f64>();
    assert!((volume(lattice) / volume(&uniform.lattice) - 1.0).abs() < 0.02);
    let mut sizes: Vec<i64> =
        (0..lattice.n_cells()).map(|c| (lattice.cell_size(c) / lattice.size()).round() as i64).collect();
    for cell in 0..lattice.n_cells() {
        for corner in lattice.corners(cell) {
            for other in cells_with(lattice, corner) {
                assert!(sizes[cell] <= 2 * sizes[other] && sizes[other] <= 2 * sizes[cell]);
            }
        }
    }
    sizes.sort_unstable();
    sizes.dedup();
    assert_eq!(sizes, [1, 2, 4]);
    assert_eq!((octree.uncovered.len(), octree.embedding.len(), octree.n_split), (0, mesh.n_vertices(), 0));
}

/// Whatever true nodes do, cells agree where they meet: the surface has no cracks.
#[test]
fn motion_is_continuous() {
    let (_, body) = body(2);
    let lattice = &body.lattice;
    let mut moved: Vec<DVec3> = (0..lattice.n_nodes()).map(noise3).collect();
    lattice.ties().spread_places(&mut moved);
    let value = |cell: usize, p: DVec3| -> DVec3 {
        let local = (p - lattice.corners(cell)[0]) / lattice.cell_size(cell);
        let weights = crate::lattice::trilinear(local);
        lattice.cells()[cell].iter().zip(weights).map(|(&n, w)| moved[n as usize] * w).sum()
    };
    let mut n_met = 0;
    for cell in 0..lattice.n_cells() {
        let (low, size) = (lattice.corners(cell)[0], lattice.cell_size(cell));
        for face in 0..6 {
            let mut at = DVec3::new(0.23, 0.61, 0.84);
            at[face % 3] = (face / 3) as f64;
            let p = low + size * at;
            for other in cells_with(lattice, p) {
                assert!(value(cell, p).distance(value(other, p)) < 1e-12);
                n_met += usize::from(other != cell && lattice.cell_size(other) > size * 1.5);
            }
        }
    }
    assert!(n_met > 50, "{n_met}");
}

/// Under a linear displacement no true node within feels a force, wherever sizes meet.
#[test]
fn patch() {
    let (_, body) = body(2);
    let lattice = &body.lattice;
    let gradient = DMat3::from_cols_array(&[0.01, 0.02, -0.01, 0.005, -0.01, 0.01, 0.0, 0.02, 0.015]);
    for mode in [Mode::Linear, Mode::Stvk] {
        let params = FleshParams { mode, ..FleshParams::default() };
        let solver = FleshSolver::new(lattice, &[FLESH], &Default::default(), &params).unwrap();
        let mut state = FleshState::at_rest(lattice);
        state.positions.iter_mut().for_each(|p| *p += gradient * *p);
        let force = solver.gradient(&state).unwrap();
        let mut force: Vec<[f64; 4]> = force.iter().map(|f| [f.x, f.y, f.z, 0.0]).collect();
        lattice.ties().gather(&mut force);
        let largest = force.iter().map(|f| DVec3::from_slice(f).length()).fold(0.0, f64::max);
        let inner = nodes_where(lattice, |p| {
            let around = [-1.0, 1.0].into_iter().flat_map(|x| {
                [-1.0, 1.0].into_iter().flat_map(move |y| [-1.0, 1.0].map(|z| DVec3::new(x, y, z)))
            });
            around.into_iter().all(|side| {
                let cells = cells_with(lattice, p + 1e-6 * side);
                !cells.is_empty() && cells.iter().all(|&cell| lattice.inside()[cell] == 1.0)
            })
        });
        assert!(inner.len() > 30);
        let worst = inner.iter().map(|&n| DVec3::from_slice(&force[n as usize]).length()).fold(0.0, f64::max);
        assert!(worst < 1e-12 * largest.max(1.0), "{mode:?}: {worst:e} of {largest:e}");
    }
}

/// A beam that hangs by its end sags alike, in linear modes and others, soft and too stiff to iterate; it turns freely.
#[test]
fn several_sizes_sag_as_one_does() {
    let mesh = cuboid(DVec3::ZERO, DVec3::new(2.0, 0.8, 0.8));
    let params = LatticeParams { cells: 0, size: Some(0.15) };
    let octree = OctreeParams { levels: 1, across: 2.0, near: vec![(DVec3::new(0.0, 0.4, 0.4), 0.5)] };
    let bodies = [build_body(&mesh, &params).unwrap(), build_octree_body(&mesh, &params, &octree).unwrap()];
    for (mode, young) in [(Mode::Predicted, 1e5), (Mode::Predicted, 1e9), (Mode::NeoHookean, 3e5)] {
        let [one, several] = [0, 1].map(|k| {
            let lattice = &bodies[k].lattice;
            let hangs = lattice.ties().nodes().to_vec();
            let mut held = nodes_where(lattice, |p| p.x < 0.01);
            held.retain(|node| !hangs.contains(node));
            let params = FleshParams { mode, newton_rounds: 6, ..FleshParams::default() };
            let mut rigged = Rigged::new(lattice, &Material { young, ..FLESH }, held, &params);
            for _ in 0..25 {
                let report = rigged.step(0.2);
                assert!(report.converged, "{mode:?} {young}: {report:?}");
            }
            let mut moved = vec![Vec3::ZERO; mesh.n_vertices()];
            bodies[k].embedding.evaluate(lattice, &rigged.state.positions, &mut moved).unwrap();
            moved.iter().zip(mesh.positions()).map(|(a, b)| f64::from(a.y) - b.y).fold(0.0, f64::min)
        });
        assert!(one < 0.0 && (several / one - 1.0).abs() < 0.06, "{mode:?} {young}: {several} {one}");
    }
    // A free body that is turned and pushed keeps its momentum.
    let lattice = &bodies[1].lattice;
    let params = FleshParams { gravity: DVec3::ZERO, tolerance: 1e-6, ..FleshParams::default() };
    let mut rigged = Rigged::new(lattice, &FLESH, vec![], &params);
    let turn = DQuat::from_scaled_axis(DVec3::new(0.4, -0.8, 1.1));
    rigged.state.positions.iter_mut().for_each(|p| *p = turn * *p);
    rigged.state.rotations.fill(turn);
    rigged.state.velocities.fill(DVec3::new(0.5, 0.0, -0.2));
    let start = rigged.state.clone();
    rigged.step(0.01);
    for (a, b) in rigged.state.positions.iter().zip(&start.positions) {
        assert!(a.distance(*b + 0.01 * DVec3::new(0.5, 0.0, -0.2)) < 1e-7);
    }
}

#[test]
fn characters_have_about_as_many_cells_as_asked_for() {
    for sample in [Sample::Biped, Sample::Quadruped] {
        let character = build_character(sample, 3000).unwrap();
        let params = LatticeParams { cells: 1200, size: None };
        let body = build_octree_body(&character.mesh, &params, &OctreeParams::default()).unwrap();
        let lattice = &body.lattice;
        assert!((900..1600).contains(&lattice.n_cells()), "{sample:?}: {}", lattice.n_cells());
        let mut out = vec![Vec3::ZERO; character.mesh.n_vertices()];
        body.embedding.evaluate(lattice, lattice.nodes(), &mut out).unwrap();
        let near = |(a, b): (&Vec3, &DVec3)| a.as_dvec3().distance(*b) < 1e-5;
        assert!(out.iter().zip(character.mesh.positions()).all(near));
        let mut parts = sinew_geom::mesh::UnionFind::new(lattice.n_nodes());
        for cell in lattice.cells() {
            cell.iter().for_each(|&node| {
                parts.union(cell[0], node);
            });
        }
        assert!(lattice.has_ties(), "{sample:?} has cells of several sizes");
        // Hanging nodes may belong to small cells alone; what they follow joins them.
        let mut rest = lattice.nodes().to_vec();
        lattice.ties().spread_places(&mut rest);
        assert!(rest.iter().zip(lattice.nodes()).all(|(a, b)| a.distance(*b) < 1e-9));
        let input = StepInput::at_rest(lattice, &Default::default());
        let mut solver =
            FleshSolver::new(lattice, &[FLESH], &Default::default(), &FleshParams::default()).unwrap();
        let mut state = FleshState::at_rest(lattice);
        assert!(solver.step(&mut state, &input, 0.01).unwrap().converged);
        assert!(SmoothEmbedding::new(&body, character.mesh.positions()).is_err());
    }
    let mesh = cuboid(DVec3::ZERO, DVec3::ONE);
    let deep = OctreeParams { levels: 9, ..OctreeParams::default() };
    assert!(build_octree_body(&mesh, &LatticeParams::default(), &deep).is_err());
}

/// Pins where sizes meet: held exactly by both methods, alike, and with hanging nodes where they belong.
#[test]
fn pins_hold_cells_of_several_sizes() {
    let (_, body) = body(2);
    let lattice = &body.lattice;
    let hangs = |node: &u32| lattice.ties().nodes().contains(node);
    let mixed: Vec<u32> = (0..lattice.n_cells() as u32)
        .filter(|&cell| lattice.cells()[cell as usize].iter().any(hangs))
        .collect();
    let corner = |k: usize| std::array::from_fn(|c| if c == k { 0.6 } else { 0.4 / 7.0 });
    let pin = |at: usize, k: usize| {
        let point = BodyPoint { cell: mixed[at], weights: corner(k) };
        Pin { point, target: point.evaluate(lattice, lattice.nodes()) }
    };
    let run = |pins: PinMethod| {
        let params = FleshParams { pins, tolerance: 1e-8, stiffness_damping: 0.3, ..FleshParams::default() };
        let mut rigged = Rigged::new(lattice, &FLESH, vec![], &params);
        rigged.input.pins = vec![pin(0, 0), pin(mixed.len() / 2, 7), pin(mixed.len() - 1, 3)];
        for _ in 0..20 {
            let report = rigged.step(0.02);
            assert!(report.converged, "{report:?}");
            for pin in &rigged.input.pins {
                let at = pin.point.evaluate(lattice, &rigged.state.positions);
                assert!(at.distance(pin.target) < 1e-9, "{:e}", at.distance(pin.target));
            }
            let mut tied = rigged.state.positions.clone();
            lattice.ties().spread_places(&mut tied);
            assert_eq!(tied, rigged.state.positions);
        }
        rigged
    };
    let (projected, multiplied) = (run(PinMethod::Projection), run(PinMethod::Multipliers));
    let pairs = projected.state.positions.iter().zip(&multiplied.state.positions);
    let off = pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    assert!(off < 1e-5, "{off:e}");
}

/// Smooth weights sum to one, give every affine motion, and turn a bend that has creases into one that has none.
#[test]
fn smooth_display_has_no_creases() {
    let character = build_character(Sample::Biped, 1500).unwrap();
    let body = build_body(&character.mesh, &LatticeParams { cells: 300, size: None }).unwrap();
    let smooth = SmoothEmbedding::new(&body, character.mesh.positions()).unwrap();
    let map = DMat3::from_cols_array(&[1.0, 0.2, -0.1, 0.3, 0.9, 0.0, 0.1, -0.4, 1.2]);
    let moved: Vec<DVec3> = body.lattice.nodes().iter().map(|p| map * *p + DVec3::ONE).collect();
    let mut out = vec![Vec3::ZERO; smooth.len()];
    smooth.evaluate(&moved, &mut out).unwrap();
    for (point, (out, p)) in out.iter().zip(character.mesh.positions()).enumerate() {
        assert!((smooth.row(point).1.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        assert!(out.as_dvec3().distance(map * *p + DVec3::ONE) < 1e-5);
    }
    // Points along a bent beam: the turn from one to the next jumps at every cell, or does not.
    let mesh = cuboid(DVec3::ZERO, DVec3::new(2.0, 0.4, 0.4));
    let points: Vec<DVec3> = (0..=400).map(|k| DVec3::new(0.4 + 0.003 * f64::from(k), 0.2, 0.2)).collect();
    let along =
        Mesh::new(mesh.positions().iter().chain(&points).copied().collect(), mesh.faces().to_vec()).unwrap();
    let body = build_body(&along, &LatticeParams { cells: 0, size: Some(0.2) }).unwrap();
    let smooth = SmoothEmbedding::new(&body, along.positions()).unwrap();
    let bent: Vec<DVec3> =
        body.lattice.nodes().iter().map(|p| DVec3::new(p.x, p.y + 0.3 * p.x * p.x, p.z)).collect();
    let mut plain = vec![Vec3::ZERO; along.n_vertices()];
    let mut curved = plain.clone();
    body.embedding.evaluate(&body.lattice, &bent, &mut plain).unwrap();
    smooth.evaluate(&bent, &mut curved).unwrap();
    let sharpest = |list: &[Vec3]| {
        let turn = |w: &[Vec3]| (f64::from(w[2].y) - 2.0 * f64::from(w[1].y) + f64::from(w[0].y)).abs();
        list[8..].windows(3).map(turn).fold(0.0, f64::max)
    };
    // Bent evenly, each cell of 0.2 m turns by 0.12; a quarter of it is what is left between parts of a cell.
    assert!((sharpest(&plain) / (0.12 * 0.003) - 1.0).abs() < 0.05, "{}", sharpest(&plain));
    assert!(sharpest(&curved) < 0.3 * sharpest(&plain), "{} {}", sharpest(&curved), sharpest(&plain));
}

/// A pulled end gets small cells, and large ones again when it is released; the surface follows the finest body.
#[test]
fn cells_are_halved_where_a_body_deforms() {
    use crate::{AdaptiveFlesh, AdaptiveParams, Clamp};
    use glam::DAffine3;
    let mesh = cuboid(DVec3::ZERO, DVec3::new(2.4, 0.8, 0.8));
    let lattice = LatticeParams { cells: 0, size: Some(0.11) };
    let clamps =
        [DVec3::new(0.0, 0.4, 0.4), DVec3::new(2.4, 0.4, 0.4)].map(|center| Clamp { center, radius: 0.25 });
    let params = FleshParams { gravity: DVec3::ZERO, ..FleshParams::default() };
    let make = |thresholds: Vec<[f64; 2]>| {
        let adaptive = AdaptiveParams { thresholds, every: 2, across: 1.0 };
        AdaptiveFlesh::new(&mesh, &lattice, &FLESH, &clamps, &params, &adaptive).unwrap()
    };
    let pull =
        |share: f64| [DAffine3::IDENTITY, DAffine3::from_translation(DVec3::new(0.3, 0.2, 0.0) * share)];
    let (mut adaptive, mut finest) = (make(vec![[0.1, 0.04], [0.06, 0.03]]), make(vec![]));
    let start = adaptive.lattice().n_cells();
    assert!(start < finest.lattice().n_cells() / 3);
    let mut reach = 0;
    for k in 1..=40 {
        let share = f64::from(k.min(20)) / 20.0;
        assert!(adaptive.step(&pull(share), 0.02).unwrap().converged);
        finest.step(&pull(share), 0.02).unwrap();
        reach = reach.max(adaptive.lattice().n_cells());
    }
    assert!(
        reach > start && reach < finest.lattice().n_cells(),
        "{start} {reach} {}",
        finest.lattice().n_cells()
    );
    let [mut a, mut b] = [vec![Vec3::ZERO; 8], vec![Vec3::ZERO; 8]];
    adaptive.positions(&mut a).unwrap();
    finest.positions(&mut b).unwrap();
    let apart = a.iter().zip(&b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    assert!(apart < 0.03, "{apart}");
    for k in 1..=60 {
        let share = 1.0 - f64::from(k.min(20)) / 20.0;
        assert!(adaptive.step(&pull(share), 0.25).unwrap().converged);
    }
    assert!(adaptive.lattice().n_cells() <= start + 16, "{start} {}", adaptive.lattice().n_cells());
    adaptive.positions(&mut a).unwrap();
    let apart = a.iter().zip(mesh.positions()).map(|(a, b)| a.as_dvec3().distance(*b)).fold(0.0, f64::max);
    assert!(apart < 0.02, "{apart}");
    let twisted = AdaptiveParams { thresholds: vec![[0.01, 0.02]], ..AdaptiveParams::default() };
    assert!(AdaptiveFlesh::new(&mesh, &lattice, &FLESH, &clamps, &params, &twisted).is_err());
    let away = [Clamp { center: DVec3::splat(9.0), radius: 0.1 }];
    assert!(AdaptiveFlesh::new(&mesh, &lattice, &FLESH, &away, &params, &AdaptiveParams::default()).is_err());
}

/// Cells that adapt on bones: they change while an animal walks, and its skin stays near that of the finest cells.
#[test]
fn cells_adapt_on_a_skeleton() {
    use crate::{AdaptiveParams, BakeParams, Baker, SimulationParams};
    use sinew_geom::Warnings;
    let character = build_character(Sample::Quadruped, 1500).unwrap();
    let bake = |thresholds: Vec<[f64; 2]>| {
        let adaptive = AdaptiveParams { thresholds, every: 5, ..AdaptiveParams::default() };
        let lattice = LatticeParams { cells: 2500, size: None };
        let simulation = SimulationParams { lattice, ..SimulationParams::default() };
        let params = BakeParams { simulation, adaptive: Some(adaptive), ..BakeParams::default() };
        let clip = character.clips.first();
        let mut baker = Baker::new(&character, clip, &params, &mut Warnings::default()).unwrap();
        let first = baker.body().lattice.n_cells();
        let mut n_open = 0;
        baker.advance(0.3, |report| n_open += usize::from(!report.converged)).unwrap();
        let mut positions = Vec::new();
        baker.positions(&mut positions).unwrap();
        (positions, baker.n_changes(), [first, baker.body().lattice.n_cells()], n_open)
    };
    let (finest, still, [all, _], _) = bake(Vec::new());
    let (adapted, changes, [first, last], n_open) = bake(vec![[0.1, 0.04]; 2]);
    assert!(still == 0 && changes > 0 && n_open == 0, "{still} {changes} {n_open}");
    assert!(first < all && last < all, "{first} {last} {all}");
    let apart = adapted.iter().zip(&finest).map(|(a, b)| f64::from(a.distance(*b)));
    let mean = apart.sum::<f64>() / finest.len() as f64 / character.mesh.diagonal();
    assert!(mean < 0.005, "{mean}");
    let wrong = AdaptiveParams { thresholds: vec![[0.1, 0.2]], ..AdaptiveParams::default() };
    let params = BakeParams { adaptive: Some(wrong), ..BakeParams::default() };
    assert!(Baker::new(&character, None, &params, &mut Warnings::default()).is_err());
}
