//! Motion: what is conserved, what decays, what is held.

use super::{Rigged, nodes_where, noise3};
use crate::{
    BodyPoint, Collider, ElementKind, FleshError, FleshParams, Lattice, Material, Mode, Obstacle, Pin,
};
use glam::{DQuat, DVec2, DVec3};

const JELLY: Material = Material { young: 2e4, poisson: 0.4, density: 1000.0 };

fn cube() -> Lattice {
    Lattice::block([3; 3], 0.1, DVec3::ZERO).unwrap()
}

/// `y = −g h² n (n + 1) / 2`, exactly, whatever shakes inside.
#[test]
fn free_fall() {
    for mode in [Mode::Predicted, Mode::NeoHookean] {
        let mut rigged = Rigged::new(
            &cube(),
            &JELLY,
            vec![],
            &FleshParams { mode, tolerance: 1e-5, ..FleshParams::default() },
        );
        rigged.state.positions.iter_mut().enumerate().for_each(|(i, p)| *p += 0.01 * noise3(i));
        let masses = rigged.solver.masses().to_vec();
        let start = rigged.state.center(&masses);
        let h = 0.01;
        for n in 1..=50 {
            rigged.step(h);
            let n = f64::from(n);
            let fallen = rigged.state.center(&masses) - start;
            let wanted = -9.81 * h * h * n * (n + 1.0) / 2.0;
            assert!(
                (fallen.y - wanted).abs() < 1e-6 && fallen.with_y(0.0).length() < 1e-6,
                "{mode:?} {fallen}"
            );
        }
    }
}

/// Linear momentum stays. Frames left where a step began let turning grow by less than a percent in 200 ms; frames that
/// follow within the step let it only decay, as implicit Euler has it, and by less with half the step.
#[test]
fn momentum() {
    let lost = |h: f64, frame_rounds: usize| {
        let params = FleshParams {
            gravity: DVec3::ZERO,
            polar_steps: 3,
            tolerance: 1e-7,
            stiffness_damping: 0.0,
            frame_rounds,
            ..FleshParams::default()
        };
        let mut rigged = Rigged::new(&cube(), &JELLY, vec![], &params);
        let masses = rigged.solver.masses().to_vec();
        let middle = rigged.state.center(&masses);
        for (v, p) in rigged.state.velocities.iter_mut().zip(&rigged.state.positions) {
            *v = DVec3::new(0.0, 0.0, 3.0).cross(*p - middle) + DVec3::new(1.0, 2.0, 0.0);
        }
        let before = (rigged.state.momentum(&masses), rigged.state.angular_momentum(&masses));
        for _ in 0..(0.2 / h) as usize {
            rigged.step(h);
        }
        let after = rigged.state.momentum(&masses);
        assert!(after.distance(before.0) < 1e-6 * before.0.length());
        let spin = |l: DVec3, c: DVec3, p: DVec3| (l - c.cross(p)).z;
        let now = spin(rigged.state.angular_momentum(&masses), rigged.state.center(&masses), after);
        1.0 - now / spin(before.1, middle, before.0)
    };
    let (coarse, fine) = (lost(0.01, 1), lost(0.005, 1));
    assert!(coarse.abs() < 0.01 && fine.abs() < 0.75 * coarse.abs(), "{coarse} {fine}");
    let (coarse, fine) = (lost(0.01, 6), lost(0.005, 6));
    assert!(coarse > 0.0 && coarse < 0.02 && fine > 0.0 && fine < 0.55 * coarse, "{coarse} {fine}");
}

/// Without load the sum of both energies never rises.
#[test]
fn energy_decays() {
    for mode in [Mode::Linear, Mode::Stvk, Mode::NeoHookean] {
        let params = FleshParams {
            mode,
            gravity: DVec3::ZERO,
            tolerance: 1e-6,
            newton_rounds: 12,
            stiffness_damping: 0.0,
            ..FleshParams::default()
        };
        let held = nodes_where(&cube(), |p| p.y < 1e-9);
        let mut rigged = Rigged::new(&cube(), &JELLY, held, &params);
        rigged.state.velocities.iter_mut().enumerate().for_each(|(i, v)| *v = noise3(i));
        for &node in &nodes_where(&cube(), |p| p.y < 1e-9) {
            rigged.state.velocities[node as usize] = DVec3::ZERO;
        }
        let sum = |rigged: &Rigged| rigged.solver.energies(&rigged.state).unwrap().iter().sum::<f64>();
        let mut last = sum(&rigged);
        let first = last;
        for _ in 0..60 {
            rigged.step(0.005);
            let now = sum(&rigged);
            assert!(now <= last * (1.0 + 1e-6) + 1e-12, "{mode:?}: {last} to {now}");
            last = now;
        }
        assert!(last < 0.5 * first, "{mode:?}");
    }
}

/// A single mode loses `1 / √(1 + (ω h)²)` and turns by `atan(ω h)` a step.
#[test]
fn amplitudes_decay_as_implicit_euler_has_it() {
    // One cell, stretched along x: ω² = E V / (L²) over the lumped mass of the free face, which is half of all.
    let lattice = Lattice::block([1; 3], 1.0, DVec3::ZERO).unwrap();
    let material = Material { young: 9e4, poisson: 0.0, density: 2000.0 };
    let params = FleshParams {
        mode: Mode::Linear,
        gravity: DVec3::ZERO,
        tolerance: 1e-9,
        stiffness_damping: 0.0,
        ..FleshParams::default()
    };
    let mut rigged = Rigged::new(&lattice, &material, nodes_where(&lattice, |p| p.x < 0.5), &params);
    let omega = (9e4f64 / 1000.0).sqrt();
    let h = 0.3 / omega;
    let tip = nodes_where(&lattice, |p| p.x > 0.5);
    tip.iter().for_each(|&n| rigged.state.positions[n as usize].x += 1e-3);
    let place = |rigged: &Rigged| {
        let node = tip[0] as usize;
        DVec2::new(rigged.state.positions[node].x - 1.0, rigged.state.velocities[node].x / omega)
    };
    for _ in 0..20 {
        let before = place(&rigged);
        rigged.step(h);
        let (ratio, angle) = (place(&rigged).length() / before.length(), before.angle_to(place(&rigged)));
        assert!((ratio - 1.0 / (1.0 + 0.09f64).sqrt()).abs() < 1e-6, "{ratio}");
        assert!((angle + 0.3f64.atan()).abs() < 1e-6, "{angle}");
    }
}

/// Conjugate gradients and the factorisation find the same, and the switch is reported.
#[test]
fn direct_and_iterative_agree() {
    let lattice = Lattice::block([8, 2, 2], 0.05, DVec3::ZERO).unwrap();
    let held = nodes_where(&lattice, |p| p.x < 1e-9);
    let run = |switch_after: Option<usize>| {
        let params = FleshParams { tolerance: 1e-6, switch_after, ..FleshParams::default() };
        let mut rigged = Rigged::new(&lattice, &Material::default(), held.clone(), &params);
        let reports: Vec<_> = (0..20).map(|_| rigged.step(1.0 / 60.0)).collect();
        assert!(reports.iter().all(|r| r.converged && r.residual <= 2e-6), "{reports:?}");
        assert!(reports.iter().all(|r| r.direct == switch_after.is_some()));
        rigged.state.positions
    };
    let (a, b) = (run(None), run(Some(2)));
    let off = a.iter().zip(&b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    assert!(off < 1e-4 * 0.05 && off > 0.0, "{off:e}");
    assert_eq!(run(None), a, "the same bits every time");
}

/// Pinned points are where they should be; the same pin twice is fine, two that contradict each other are reported.
#[test]
fn pins_hold_and_contradictions_are_named() {
    let lattice = cube();
    let mut rigged = Rigged::new(&lattice, &JELLY, vec![], &FleshParams::default());
    let pin = |cell: u32, weights: [f64; 8], by: DVec3| {
        let point = BodyPoint { cell, weights };
        Pin { point, target: point.evaluate(&lattice, lattice.nodes()) + by }
    };
    let middle = [0.125; 8];
    let corner = std::array::from_fn(|c| if c == 0 { 0.7 } else { 0.3 / 7.0 });
    rigged.input.pins = vec![
        pin(0, middle, DVec3::ZERO),
        pin(26, middle, DVec3::new(0.02, 0.0, 0.0)),
        pin(1, corner, DVec3::ZERO),
        pin(0, middle, DVec3::ZERO),
    ];
    for _ in 0..40 {
        rigged.step(0.01);
        for pin in &rigged.input.pins {
            let at = pin.point.evaluate(&lattice, &rigged.state.positions);
            assert!(at.distance(pin.target) < 1e-7, "{:e}", at.distance(pin.target));
        }
    }
    let before = rigged.state.clone();
    rigged.input.pins.push(pin(26, middle, DVec3::ZERO));
    let error = rigged.solver.step(&mut rigged.state, &rigged.input, 0.01).unwrap_err();
    assert!(
        matches!(&error, FleshError::ContradictoryPins { pin: 4, others, .. } if others == "pin 1"),
        "{error}"
    );
    assert_eq!(rigged.state, before, "a refused step changes nothing");
}

/// Multipliers and the projection hold the same points in the same way; multipliers report the weight that hangs on them.
#[test]
fn multipliers_hold_as_the_projection_does() {
    let block = cube();
    let nodes = block.nodes().iter().enumerate().map(|(i, p)| *p + 1e-4 * noise3(i)).collect();
    let other = Lattice::new(nodes, block.cells().to_vec()).unwrap();
    for lattice in [block, other] {
        let pin = |cell: u32, corner: usize| {
            let point = BodyPoint {
                cell,
                weights: std::array::from_fn(|c| if c == corner { 0.6 } else { 0.4 / 7.0 }),
            };
            Pin { point, target: point.evaluate(&lattice, lattice.nodes()) }
        };
        let run = |pins: crate::PinMethod| {
            let params =
                FleshParams { pins, tolerance: 1e-8, stiffness_damping: 0.3, ..FleshParams::default() };
            let mut rigged = Rigged::new(&lattice, &JELLY, vec![], &params);
            rigged.input.pins = vec![pin(0, 6), pin(2, 7), pin(0, 6), pin(24, 2)];
            for _ in 0..60 {
                let report = rigged.step(0.02);
                assert!(report.converged, "{report:?}");
                for pin in &rigged.input.pins {
                    let at = pin.point.evaluate(&lattice, &rigged.state.positions);
                    assert!(at.distance(pin.target) < 1e-9, "{:e}", at.distance(pin.target));
                }
            }
            rigged
        };
        let (projected, multiplied) = (run(crate::PinMethod::Projection), run(crate::PinMethod::Multipliers));
        let pairs = projected.state.positions.iter().zip(&multiplied.state.positions);
        let off = pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        assert!(off < 1e-6, "{off:e}");
        assert!(projected.solver.pin_forces().is_empty());
        let forces = multiplied.solver.pin_forces();
        assert_eq!((forces.len(), forces[2]), (4, DVec3::ZERO), "a pin said twice holds once");
        let weight = 9.81 * multiplied.solver.masses().iter().sum::<f64>();
        let pulled: DVec3 = forces.iter().sum();
        assert!((pulled - DVec3::Y * weight).length() < 0.02 * weight, "{pulled} {weight}");
    }
}

/// A jelly falls, rocks, lies on the floor and stays: it neither sinks nor slides nor creeps. Eight seconds, since rocking at
/// 1.8 Hz loses 6 % of critical damping with the default `β`.
#[test]
fn the_floor_carries_and_holds() {
    let lattice = cube();
    let contact_points = corners_where(&lattice, |p| p.y < 1e-9);
    let attachment = crate::Attachment { contact_points, ..Default::default() };
    let mut solver =
        crate::FleshSolver::new(&lattice, &[JELLY], &attachment, &FleshParams::default()).unwrap();
    let mut state = crate::FleshState::at_rest(&lattice);
    state.velocities.fill(DVec3::new(1.0, 0.0, 0.0));
    let mut input = crate::StepInput::at_rest(&lattice, &attachment);
    input.obstacles = vec![Obstacle { shape: Collider::floor(-0.05), friction: 0.8 }];
    let mut last = state.clone();
    for step in 0..1600 {
        let report = solver.step(&mut state, &input, 0.005).unwrap();
        assert!(report.converged);
        if step == 1599 {
            assert!(report.contacts > 0);
            let moved = state.positions.iter().zip(&last.positions).map(|(a, b)| a.distance(*b));
            let moved = moved.fold(0.0, f64::max);
            assert!(moved < 1e-4, "it lies still {moved}");
        }
        last = state.clone();
    }
    let lowest = state.positions.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
    assert!(lowest > -0.056 && lowest < -0.049, "{lowest}");
    // μ g stops 1 m/s after v² / 2 μ g = 6 cm.
    let way = state.center(solver.masses()).x - 0.15;
    assert!((0.03..0.12).contains(&way), "{way}");
}

/// Corners of cells as points that meet obstacles.
fn corners_where(lattice: &Lattice, test: impl Fn(DVec3) -> bool) -> Vec<BodyPoint> {
    let weights = |c: usize| std::array::from_fn(|k| f64::from(u8::from(k == c)));
    (0..lattice.n_cells() as u32)
        .flat_map(|cell| (0..8).map(move |c| BodyPoint { cell, weights: weights(c) }))
        .filter(|point| test(point.evaluate(lattice, lattice.nodes())))
        .collect()
}

/// A ball is lowered 5 cm into the top of a jelly whose bottom is held: flesh stays out of it, evenly around it, and comes back
/// when it is lifted.
#[test]
fn a_ball_pushed_in_keeps_flesh_out() {
    let lattice = cube();
    let top = nodes_where(&lattice, |p| p.y > 0.3 - 1e-9);
    let attachment = crate::Attachment {
        held: nodes_where(&lattice, |p| p.y < 1e-9),
        contact_points: corners_where(&lattice, |p| p.y > 0.3 - 1e-9),
        ..Default::default()
    };
    let params = FleshParams { gravity: DVec3::ZERO, ..FleshParams::default() };
    let mut solver = crate::FleshSolver::new(&lattice, &[JELLY], &attachment, &params).unwrap();
    let mut state = crate::FleshState::at_rest(&lattice);
    let mut input = crate::StepInput::at_rest(&lattice, &attachment);
    let ball = |depth: f64| Collider::Sphere { center: DVec3::new(0.15, 0.45 - depth, 0.15), radius: 0.15 };
    for step in 0..200 {
        let shape = ball((0.0005 * f64::from(step)).min(0.05));
        input.obstacles = vec![Obstacle { shape, friction: 0.0 }];
        let report = solver.step(&mut state, &input, 0.005).unwrap();
        assert!(report.converged && (step < 199 || report.contacts > 0), "{step}: {report:?}");
    }
    let out = |node: u32| ball(0.05).distance(state.positions[node as usize]).0;
    let deepest = top.iter().map(|&node| -out(node)).fold(0.0, f64::max);
    assert!(deepest < 0.005, "{deepest}");
    // Four nodes lie 7 cm from the middle, where the ball is 3.2 cm below the top.
    let middle = |p: DVec3| (p.x - 0.15).abs() < 0.1 && (p.z - 0.15).abs() < 0.1;
    let pressed: Vec<f64> = (top.iter())
        .filter(|&&node| middle(lattice.nodes()[node as usize]))
        .map(|&node| 0.3 - state.positions[node as usize].y)
        .collect();
    assert_eq!(pressed.len(), 4);
    assert!(pressed.iter().all(|depth| (0.027..0.033).contains(depth)), "{pressed:?}");
    assert!(pressed.iter().all(|depth| (depth - pressed[0]).abs() < 1e-4), "{pressed:?}");
    input.obstacles.clear();
    for _ in 0..400 {
        solver.step(&mut state, &input, 0.005).unwrap();
    }
    let off = state.positions.iter().zip(lattice.nodes()).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    assert!(off < 1e-4, "{off}");
}

#[test]
fn distances_to_a_capsule() {
    let capsule = Collider::Capsule { ends: [DVec3::ZERO, DVec3::X], radius: 0.5 };
    assert!((capsule.distance(DVec3::new(0.5, 2.0, 0.0)).0 - 1.5).abs() < 1e-12);
    assert!((capsule.distance(DVec3::new(3.0, 0.0, 0.0)).0 - 1.5).abs() < 1e-12);
}

/// Random poses, stiffnesses and steps, turns by 180 degrees and jumps of fifty metres: nothing is ever infinite, and all
/// comes back.
#[test]
fn nothing_blows_up() {
    let lattice = Lattice::block([6, 2, 2], 0.1, DVec3::ZERO).unwrap();
    let held = nodes_where(&lattice, |p| p.x < 0.05 || p.x > 0.55);
    for (case, young) in [1e3f64, 3e4, 1e6, 1e8].into_iter().enumerate() {
        for mode in [Mode::Predicted, Mode::NeoHookean] {
            let params =
                FleshParams { mode, newton_rounds: 2, gravity: DVec3::ZERO, ..FleshParams::default() };
            let mut rigged = Rigged::new(&lattice, &Material { young, ..JELLY }, held.clone(), &params);
            let rest = rigged.input.held.clone();
            let steps = if mode == Mode::Predicted { 60 } else { 12 };
            for step in 0..steps {
                let seed = step / 3 + 100 * case;
                let turn = DQuat::from_scaled_axis(2.0 * std::f64::consts::PI * noise3(seed));
                let far = if step % 20 == 0 { 50.0 } else { 0.0 };
                let jump = far * noise3(seed + 7);
                for (target, &p) in rigged.input.held.iter_mut().zip(&rest) {
                    *target = if p.x > 0.3 { turn * (p - DVec3::splat(0.1)) } else { p } + jump;
                }
                rigged.step([1.0 / 24.0, 1.0 / 60.0, 1.0 / 240.0][step % 3]);
            }
            rigged.input.held = rest;
            for _ in 0..600 {
                rigged.step(1.0 / 24.0);
            }
            let off = rigged.state.positions.iter().zip(lattice.nodes()).map(|(a, b)| a.distance(*b));
            let worst = off.fold(0.0, f64::max);
            assert!(worst < 0.01, "{mode:?} {young:e}: {worst}");
        }
    }
}

/// Elements that are no cubes go the same way through another solver.
#[test]
fn assembled_cells_move_as_cubes_do() {
    let block = Lattice::block([4, 1, 1], 0.1, DVec3::ZERO).unwrap();
    // A shift too small to matter, but too large to be a cube.
    let nodes = block.nodes().iter().enumerate().map(|(i, p)| *p + 1e-6 * noise3(i)).collect();
    let other = Lattice::new(nodes, block.cells().to_vec()).unwrap();
    assert!(block.is_cubes() && !other.is_cubes());
    let run = |lattice: &Lattice| {
        let params =
            FleshParams { tolerance: 1e-8, element: ElementKind::Incompatible, ..FleshParams::default() };
        let mut rigged = Rigged::new(lattice, &JELLY, nodes_where(&block, |p| p.x < 1e-9), &params);
        for _ in 0..30 {
            rigged.step(0.01);
        }
        rigged.state.positions
    };
    let (a, b) = (run(&block), run(&other));
    let off = a.iter().zip(&b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    assert!(off < 1e-4, "{off:e}");
}

#[test]
fn bad_numbers_are_refused_with_their_range() {
    let refused = |material: Material| {
        crate::FleshSolver::new(&cube(), &[material], &Default::default(), &FleshParams::default())
            .unwrap_err()
            .to_string()
    };
    assert!(refused(Material { poisson: 0.5, ..JELLY }).contains("at most 0.499"));
    assert!(refused(Material { young: -1.0, ..JELLY }).contains("above 0"));
    assert!(refused(Material { young: f64::NAN, ..JELLY }).contains("stiffness is NaN"));
    assert!(refused(Material { density: 0.0, ..JELLY }).contains("density is 0"));
    let mut rigged = Rigged::new(&cube(), &JELLY, vec![0], &FleshParams::default());
    assert!(rigged.solver.step(&mut rigged.state, &rigged.input, 0.0).is_err());
    let step_error = |rigged: &mut Rigged| {
        rigged.solver.step(&mut rigged.state, &rigged.input, 0.01).unwrap_err().to_string()
    };
    rigged.input.held[0].x = f64::NAN;
    assert!(step_error(&mut rigged).contains("not finite"));
    rigged.input.held.clear();
    assert!(step_error(&mut rigged).contains("expected 1"));
    // Nodes and cells that do not exist.
    let lattice = cube();
    let attach = |attachment: crate::Attachment| {
        let made = crate::FleshSolver::new(&lattice, &[JELLY], &attachment, &FleshParams::default());
        made.unwrap_err().to_string()
    };
    assert!(attach(crate::Attachment { held: vec![999], ..Default::default() }).contains("held node 999"));
    let point = BodyPoint { cell: 99, weights: [0.125; 8] };
    assert!(
        attach(crate::Attachment { contact_points: vec![point], ..Default::default() })
            .contains("there are 27")
    );
    let mut rigged = Rigged::new(&lattice, &JELLY, vec![], &FleshParams::default());
    rigged.input.pins = vec![Pin { point, target: DVec3::ZERO }];
    assert!(rigged.solver.step(&mut rigged.state, &rigged.input, 0.01).is_err());
}
