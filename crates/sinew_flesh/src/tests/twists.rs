//! What keeps stretched cells in their frames.

use super::noise3;
use crate::{
    Attachment, FleshParams, FleshSolver, FleshState, Lattice, Material, StepInput,
    element::{CubeMaterial, ElementKind, full_twist, gauss_gradients, twist, twist_matrix},
    system::Cubes,
};
use glam::{DMat3, DQuat, DVec3};
use sinew_geom::linalg::polar;

const SOFT: Material = Material { young: 1e3, poisson: 0.45, density: 1000.0 };

/// Corotated energy of a unit of volume.
fn corotated(f: &DMat3, material: &Material) -> f64 {
    let (r, _) = polar(f);
    let strain = r.transpose() * *f - DMat3::IDENTITY;
    let square: f64 = strain.to_cols_array().iter().map(|x| x * x).sum();
    let trace = strain.x_axis.x + strain.y_axis.y + strain.z_axis.z;
    material.shear() * square + 0.5 * material.lambda() * trace * trace
}

/// The second derivative of the corotated energy along skew changes, for any stretches that make it positive.
#[test]
fn twist_is_a_derivative() {
    let turn = DMat3::from_quat(DQuat::from_scaled_axis(DVec3::new(0.3, -0.8, 0.5)));
    let axes = DMat3::from_quat(DQuat::from_scaled_axis(DVec3::new(-0.5, 0.2, 0.9)));
    for stretches in [DVec3::splat(1.5), DVec3::new(1.2, 1.6, 1.1), DVec3::new(4.0, 0.9, 2.5)] {
        let f = turn * axes * DMat3::from_diagonal(stretches) * axes.transpose();
        let k = full_twist(&f, &SOFT);
        for axis in [DVec3::X, DVec3::new(0.2, 0.5, -0.7)] {
            let skew = DMat3::from_cols(axis.cross(DVec3::X), axis.cross(DVec3::Y), axis.cross(DVec3::Z));
            let step = 1e-4;
            let at = |by: f64| corotated(&(f + turn * skew * by), &SOFT);
            let second = (at(step) - 2.0 * at(0.0) + at(-step)) / (step * step);
            let closed = axis.dot(k * axis);
            assert!((second / closed - 1.0).abs() < 1e-4, "{stretches}: {second} {closed}");
        }
    }
    assert_eq!(twist(&(turn * 1.1), &turn, &SOFT), None);
}

/// The butterfly and the matrix say the same.
#[test]
fn twists_of_cubes_are_those_of_hexahedra() {
    let lattice = Lattice::block([3, 2, 2], 0.5, DVec3::ONE).unwrap();
    let constants = CubeMaterial::new(&SOFT, ElementKind::default(), lattice.size(), 0.7);
    let mut cubes = Cubes::<f64>::new(&lattice, &vec![constants; lattice.n_cells()]);
    let turns: Vec<DMat3> = (0..lattice.n_cells())
        .map(|c| DMat3::from_quat(DQuat::from_scaled_axis(2.0 * noise3(c + 9))))
        .collect();
    cubes.set_rotations(&turns);
    let x: Vec<[f64; 4]> = (0..lattice.n_nodes()).map(|i| noise3(i).extend(0.0).to_array()).collect();
    let mut fast = vec![[0.0; 4]; x.len()];
    let mut without = vec![[0.0; 4]; x.len()];
    cubes.apply(&x, &mut without);
    let k = full_twist(&DMat3::from_diagonal(DVec3::new(1.5, 2.0, 1.2)), &SOFT);
    let scale = 0.7 * lattice.size() / 2.0;
    cubes.set_twists(&vec![k * scale; lattice.n_cells()]);
    cubes.apply(&x, &mut fast);
    let points = gauss_gradients(&lattice.corners(0));
    let volume: f64 = points.iter().map(|(_, v)| v).sum();
    let gradients = std::array::from_fn(|c| points.iter().map(|(g, v)| g[c] * (v / volume)).sum());
    let matrix = twist_matrix(&gradients, volume, &k);
    let mut slow = vec![DVec3::ZERO; x.len()];
    for (cell, corners) in lattice.cells().iter().enumerate() {
        let local = corners.map(|n| turns[cell].transpose() * DVec3::from_slice(&x[n as usize][..3]));
        let row = |i: usize| (0..24).map(|j| 0.7 * matrix[i][j] * local[j / 3][j % 3]).sum::<f64>();
        for (c, &node) in corners.iter().enumerate() {
            slow[node as usize] += turns[cell] * DVec3::new(row(3 * c), row(3 * c + 1), row(3 * c + 2));
        }
    }
    let scale = slow.iter().map(|s| s.length()).fold(0.0, f64::max);
    for node in 0..x.len() {
        let added = DVec3::from_slice(&fast[node][..3]) - DVec3::from_slice(&without[node][..3]);
        assert!(added.distance(slow[node]) < 1e-12 * scale, "{node}: {added} {}", slow[node]);
    }
}

/// Energy of a stretched body that turns, after steps without any load, as a share of what it began with.
fn greatest_gain(lattice: &Lattice, params: &FleshParams, secs: f64) -> f64 {
    let mut solver = FleshSolver::new(lattice, &[SOFT], &Attachment::default(), params).unwrap();
    let input = StepInput::default();
    let mut state = FleshState::at_rest(lattice);
    let middle = lattice.nodes().iter().sum::<DVec3>() / lattice.n_nodes() as f64;
    for (p, v) in state.positions.iter_mut().zip(&mut state.velocities) {
        *p = middle + 2.0 * (*p - middle);
        *v = DVec3::new(4.0, 20.0, -8.0).cross(*p - middle);
    }
    let energy = |solver: &FleshSolver, state: &FleshState| {
        let mut turned = state.clone();
        solver.turn(&mut turned, &input);
        solver.energies(&turned).unwrap().iter().sum::<f64>()
    };
    let first = energy(&solver, &state);
    let mut most: f64 = 0.0;
    for _ in 0..300 {
        solver.step(&mut state, &input, secs).unwrap();
        most = most.max(energy(&solver, &state) / first);
    }
    most
}

/// Soft flesh of twice its size that turns by up to 53 degrees per step, undamped: nothing acts on it, so it gains no energy. It
/// gained 7900-fold before cells resisted turning, and 30-fold with frames that lagged behind.
#[test]
fn stretched_flesh_that_turns_gains_no_energy() {
    let cubes = Lattice::block([3, 3, 6], 0.1, DVec3::ZERO).unwrap();
    for secs in [1.0 / 24.0, 1.0 / 60.0, 1.0 / 240.0] {
        let free = FleshParams { gravity: DVec3::ZERO, stiffness_damping: 0.0, ..FleshParams::default() };
        let gain = greatest_gain(&cubes, &free, secs);
        assert!(gain <= 1.0, "{secs}: {gain}");
    }
}
