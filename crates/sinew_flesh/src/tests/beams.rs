//! Beams: what engineers know of them.

use super::{Rigged, nodes_where};
use crate::{BodyPoint, ElementKind, FleshParams, Lattice, Material, Mode};
use glam::DVec3;

const LENGTH: f64 = 10.0;
const YOUNG: f64 = 1e5;

fn beam(across: usize, poisson: f64, params: &FleshParams) -> Rigged {
    let lattice = Lattice::block([10 * across, across, across], 1.0 / across as f64, DVec3::ZERO).unwrap();
    let held = nodes_where(&lattice, |p| p.x < 1e-9);
    Rigged::new(&lattice, &Material { young: YOUNG, poisson, density: 1000.0 }, held, params)
}

fn still(mode: Mode, element: ElementKind) -> FleshParams {
    FleshParams { mode, element, gravity: DVec3::ZERO, tolerance: 1e-9, ..FleshParams::default() }
}

/// An even load of `total` newtons on the end, as pushes at its cells.
fn load(rigged: &mut Rigged, total: f64) {
    let lattice = rigged.solver.lattice();
    let ends: Vec<u32> = (0..lattice.n_cells() as u32)
        .filter(|&cell| lattice.corners(cell as usize)[1].x > LENGTH - 1e-9)
        .collect();
    let force = DVec3::new(0.0, -total / ends.len() as f64, 0.0);
    let weights = std::array::from_fn(|c| if c & 1 == 1 { 0.25 } else { 0.0 });
    rigged.input.pushes = ends.iter().map(|&cell| (BodyPoint { cell, weights }, force)).collect();
}

/// How far the end went, along and down.
fn tip(rigged: &Rigged) -> [f64; 2] {
    let lattice = rigged.solver.lattice();
    let tip = nodes_where(lattice, |p| p.x > LENGTH - 1e-9);
    let mean = |k: usize| {
        let moved = |&n: &u32| lattice.nodes()[n as usize][k] - rigged.state.positions[n as usize][k];
        tip.iter().map(moved).sum::<f64>() / tip.len() as f64
    };
    [mean(0), mean(1)]
}

/// `P L³ / 3 E I + P L / κ G A`, `κ = 10 (1 + ν) / (12 + 11 ν)`.
fn timoshenko(poisson: f64) -> f64 {
    let shear = YOUNG / (2.0 * (1.0 + poisson));
    let kappa = 10.0 * (1.0 + poisson) / (12.0 + 11.0 * poisson);
    LENGTH.powi(3) / (3.0 * YOUNG / 12.0) + LENGTH / (kappa * shear)
}

/// The table of locking: share of the right deflection, by cells across. The bar: incompatible cells within 4 % with one
/// cell across at ν = 0.45.
#[test]
fn cantilever_under_an_end_load() {
    use ElementKind::{Incompatible, Trilinear};
    let rows: [(ElementKind, f64, &[f64]); 6] = [
        (Trilinear, 0.0, &[0.666, 0.888, 0.969]),
        (Trilinear, 0.3, &[0.64, 0.87, 0.96]),
        (Trilinear, 0.45, &[0.51, 0.76, 0.90]),
        (Incompatible, 0.3, &[0.99, 0.99, 0.99]),
        (Incompatible, 0.45, &[0.96, 0.96, 0.98]),
        (Incompatible, 0.49, &[0.92, 0.95, 0.97]),
    ];
    for (element, poisson, wanted) in rows {
        for (across, wanted) in [1, 2, 4].into_iter().zip(wanted) {
            let mut rigged = beam(across, poisson, &still(Mode::Linear, element));
            load(&mut rigged, 1.0);
            rigged.settle(20);
            let ratio = tip(&rigged)[1] / timoshenko(poisson);
            assert!((ratio - wanted).abs() < 0.006, "{element:?} ν {poisson} {across} across: {ratio:.4}");
            assert!(element == Trilinear || poisson > 0.46 || ratio > 0.955, "{ratio}");
        }
    }
}

/// Under small loads, nonlinear materials bend as the linear cell does: they do not lock; the trilinear cells of Capell
/// (2004) do.
#[test]
fn nonlinear_cantilevers_do_not_lock() {
    for mode in [Mode::Stvk, Mode::NeoHookean] {
        for (poisson, wanted) in [(0.3, [0.99, 0.99]), (0.45, [0.96, 0.96])] {
            for (across, wanted) in [1, 2].into_iter().zip(wanted) {
                let params = FleshParams { newton_rounds: 20, ..still(mode, ElementKind::Incompatible) };
                let mut rigged = beam(across, poisson, &params);
                load(&mut rigged, 1e-3);
                rigged.settle(20);
                let ratio = tip(&rigged)[1] / (1e-3 * timoshenko(poisson));
                assert!((ratio - wanted).abs() < 0.006, "{mode:?} ν {poisson} {across} across: {ratio:.4}");
            }
        }
    }
    let mut rigged =
        beam(1, 0.45, &FleshParams { newton_rounds: 20, ..still(Mode::Stvk, ElementKind::Trilinear) });
    load(&mut rigged, 1e-3);
    rigged.settle(20);
    let ratio = tip(&rigged)[1] / (1e-3 * timoshenko(0.45));
    assert!((ratio - 0.51).abs() < 0.006, "{ratio}");
}

/// Halving trilinear cells, as in Capell (2004): errors fall by 3.0, 3.6 and 3.9 at ν = 0.
#[test]
fn trilinear_cells_converge() {
    let errors: Vec<f64> = [1, 2, 4, 8]
        .into_iter()
        .map(|across| {
            let mut rigged = beam(across, 0.0, &still(Mode::Linear, ElementKind::Trilinear));
            load(&mut rigged, 1.0);
            rigged.settle(20);
            1.0 - tip(&rigged)[1] / timoshenko(0.0)
        })
        .collect();
    for (error, wanted) in errors.iter().zip([0.334, 0.112, 0.031, 0.008]) {
        assert!((error - wanted).abs() < 0.0012, "{errors:?}");
    }
}

/// `ρ g A L⁴ / 8 E I + ρ g L² / 2 κ G`.
#[test]
fn cantilever_under_its_weight() {
    let (poisson, gravity) = (0.3, 1e-4);
    let params = FleshParams {
        gravity: DVec3::new(0.0, -gravity, 0.0),
        ..still(Mode::Linear, ElementKind::Incompatible)
    };
    let mut rigged = beam(1, poisson, &params);
    rigged.settle(20);
    let shear = YOUNG / (2.0 * (1.0 + poisson));
    let kappa = 10.0 * (1.0 + poisson) / (12.0 + 11.0 * poisson);
    let load = 1000.0 * gravity;
    let wanted = load * LENGTH.powi(4) / (8.0 * YOUNG / 12.0) + load * LENGTH.powi(2) / (2.0 * kappa * shear);
    let ratio = tip(&rigged)[1] / wanted;
    assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
}

/// Large deflections: Mattiasson 1981. Frames that turn with their cells follow the elastica; the linear model, which
/// only goes straight down, does not.
#[test]
fn elastica() {
    let bending = YOUNG / 12.0;
    let cases = [
        (Mode::Predicted, 1.0, 0.30172, 0.05643),
        (Mode::Predicted, 10.0, 0.81061, 0.55500),
        (Mode::Stvk, 1.0, 0.30172, 0.05643),
        (Mode::NeoHookean, 1.0, 0.30172, 0.05643),
        (Mode::NeoHookean, 10.0, 0.81061, 0.55500),
    ];
    for (mode, load_number, down, along) in cases {
        let params = FleshParams {
            polar_steps: 3,
            tolerance: 1e-6,
            newton_rounds: 4,
            ..still(mode, ElementKind::Incompatible)
        };
        let mut rigged = beam(2, 0.0, &params);
        // In stages, each from the shape before, and in steps short enough for the frames to follow.
        let stages = 10;
        for stage in 1..=stages {
            load(&mut rigged, load_number * bending / LENGTH.powi(2) * f64::from(stage) / f64::from(stages));
            for _ in 0..if stage == stages { 150 } else { 30 } {
                rigged.state.velocities.fill(DVec3::ZERO);
                rigged.step(3.0);
            }
        }
        // The elastica does not stretch; at ten times the load the outer fibres of this beam have 15 %, where Hooke's law
        // ends.
        let within = if mode == Mode::NeoHookean { 0.025 } else { 0.015 };
        let [x, y] = tip(&rigged).map(|d| d / LENGTH);
        assert!(
            (y - down).abs() < within * down.max(0.5) && (x - along).abs() < within,
            "{mode:?} {load_number}: {x} {y}"
        );
    }
}

/// The lowest tone of a rod along itself, fixed at one end: `√(E/ρ) / 4 L`; and of bending. Read off the time between
/// zero crossings, with implicit Euler's own stretch of periods.
#[test]
fn frequencies() {
    // Bending: (1.8751² / 2π) √(E I / ρ A) / L², 0.016154 Hz; this element on this lattice: 0.01605.
    let params = FleshParams {
        stiffness_damping: 0.0,
        tolerance: 1e-6,
        ..still(Mode::Linear, ElementKind::Incompatible)
    };
    let mut rigged = beam(1, 0.3, &params);
    let shape = |x: f64| x * x * (3.0 * LENGTH - x);
    for (v, p) in rigged.state.velocities.iter_mut().zip(rigged.solver.lattice().nodes().to_vec()) {
        v.y = 1e-6 * shape(p.x);
    }
    let found = period(&mut rigged, |rigged| tip(rigged)[1], 0.2);
    assert!((1.0 / found - 0.01605).abs() < 2e-4, "bending at {} Hz", 1.0 / found);
    // Along: lateral motion plays no part at ν = 0.
    let mut rigged = beam(1, 0.0, &params);
    for (v, p) in rigged.state.velocities.iter_mut().zip(rigged.solver.lattice().nodes().to_vec()) {
        v.x = 1e-3 * (std::f64::consts::FRAC_PI_2 * p.x / LENGTH).sin();
    }
    let found = period(&mut rigged, |rigged| tip(rigged)[0], 0.004);
    assert!((1.0 / found - 0.25).abs() < 0.001, "along at {} Hz", 1.0 / found);
}

/// Time from the first to the second rise through zero, halved over; corrected for the stretch of implicit Euler,
/// `atan(ω h) / ω h`.
fn period(rigged: &mut Rigged, measure: impl Fn(&Rigged) -> f64, secs: f64) -> f64 {
    let mut crossings = Vec::new();
    let mut last = 0.0;
    let mut time = 0.0;
    while crossings.len() < 2 {
        rigged.step(secs);
        time += secs;
        let now = measure(rigged);
        if last != 0.0 && (last > 0.0) != (now > 0.0) {
            crossings.push(time - secs * now / (now - last));
        }
        last = now;
        assert!(time < 1e3);
    }
    let seen = 2.0 * (crossings[1] - crossings[0]);
    // ω from tan(ω' h) = ω h.
    let turn = std::f64::consts::TAU / seen * secs;
    seen * turn / turn.tan()
}
