//! One cell at a time: patch test, rigid motions, derivatives, and the fast cubes against the general hexahedron.

use super::{nodes_where, noise3};
use crate::{
    ElementKind, FleshParams, FleshSolver, FleshState, Lattice, Material, Mode,
    element::{
        CubeMaterial, Definite, Energy, Integrals, MeanCell, cell_response, gauss_gradients, mean_response,
        stiffness,
    },
    system::{BlockMatrix, Cubes, Direct},
};
use glam::{DMat3, DQuat, DVec3};
use proptest::prelude::*;
use sinew_geom::linalg::DenseCholesky;

const FLESH: Material = Material { young: 2.0, poisson: 0.3, density: 1.0 };

/// A block of 3 × 3 × 3 cells whose inner nodes are moved about.
fn distorted() -> Lattice {
    let block = Lattice::block([3; 3], 1.0 / 3.0, DVec3::ZERO).unwrap();
    let inner = |p: DVec3| p.cmpgt(DVec3::splat(0.1)).all() && p.cmplt(DVec3::splat(0.9)).all();
    let shifted = block.nodes().iter().enumerate();
    let nodes = shifted.map(|(i, &p)| if inner(p) { p + 0.08 * noise3(i) } else { p }).collect();
    let lattice = Lattice::new(nodes, block.cells().to_vec()).unwrap();
    assert!(!lattice.is_cubes());
    lattice
}

/// Under a linear displacement no inner node feels a force, in regular cells and in distorted ones.
#[test]
fn patch() {
    let gradient = DMat3::from_cols_array(&[0.01, 0.02, -0.01, 0.005, -0.01, 0.01, 0.0, 0.02, 0.015]);
    let modes = [Mode::Linear, Mode::Stvk, Mode::NeoHookean];
    for lattice in [Lattice::block([3; 3], 1.0 / 3.0, DVec3::ZERO).unwrap(), distorted()] {
        for (element, mode) in ElementKind::ALL.into_iter().flat_map(|e| modes.map(|mode| (e, mode))) {
            let params = FleshParams { mode, element, ..FleshParams::default() };
            let solver = FleshSolver::new(&lattice, &[FLESH], &Default::default(), &params).unwrap();
            let mut state = FleshState::at_rest(&lattice);
            state.positions.iter_mut().for_each(|p| *p += gradient * *p);
            let force = solver.gradient(&state).unwrap();
            let largest = force.iter().map(|f| f.length()).fold(0.0, f64::max);
            let inner = nodes_where(&lattice, |p| {
                p.cmpgt(DVec3::splat(0.1)).all() && p.cmplt(DVec3::splat(0.9)).all()
            });
            assert_eq!(inner.len(), 8);
            let worst = inner.iter().map(|&n| force[n as usize].length()).fold(0.0, f64::max);
            assert!(worst < 1e-12 * largest, "{element:?} {mode:?}, cubes {}: {worst:e}", lattice.is_cubes());
        }
    }
}

/// Without the correction of Taylor the modes of a distorted cell would see a constant strain.
#[test]
fn a_cell_has_six_rigid_modes() {
    let corners = distorted().corners(13);
    for kind in ElementKind::ALL {
        let k = stiffness(&corners, &FLESH, kind).unwrap();
        let times = |u: &[DVec3; 8]| -> f64 {
            let flat: [f64; 24] = std::array::from_fn(|i| u[i / 3][i % 3]);
            (0..24)
                .map(|i| k[i].iter().zip(&flat).map(|(a, b)| a * b).sum::<f64>().powi(2))
                .sum::<f64>()
                .sqrt()
        };
        for axis in DVec3::AXES {
            assert!(times(&[axis; 8]) < 1e-12);
            assert!(times(&corners.map(|p| axis.cross(p))) < 1e-12);
        }
        // All others cost energy: with the rigid ones made stiff, the matrix is positive definite.
        let mut full: Vec<f64> = (0..24).flat_map(|i| k[i].to_vec()).collect();
        assert!(DenseCholesky::new(24, full.iter().map(|x| x - 1e-6).collect()).is_err());
        for axis in DVec3::AXES {
            for u in [[axis; 8], corners.map(|p| axis.cross(p))] {
                let flat: [f64; 24] = std::array::from_fn(|i| u[i / 3][i % 3]);
                (0..576).for_each(|at| full[at] += flat[at / 24] * flat[at % 24]);
            }
        }
        (0..24).for_each(|i| full[25 * i] -= 1e-3);
        assert!(DenseCholesky::new(24, full).is_ok(), "{kind:?}");
    }
}

/// The butterfly of `cube` is the 24 × 24 matrix of `hexahedron`.
#[test]
fn cubes_are_hexahedra() {
    let lattice = Lattice::block([3, 2, 2], 0.5, DVec3::ONE).unwrap();
    let x: Vec<[f64; 4]> = (0..lattice.n_nodes()).map(|i| noise3(i).extend(0.0).to_array()).collect();
    for element in ElementKind::ALL {
        for poisson in [-0.2, 0.0, 0.3, 0.45] {
            let material = Material { poisson, ..FLESH };
            let constants = CubeMaterial::new(&material, element, lattice.size(), 0.7);
            let mut cubes = Cubes::<f64>::new(&lattice, &vec![constants; lattice.n_cells()]);
            let turns: Vec<DMat3> = (0..lattice.n_cells())
                .map(|c| DMat3::from_quat(DQuat::from_scaled_axis(2.0 * noise3(c + 99))))
                .collect();
            cubes.set_rotations(&turns);
            let k = stiffness(&lattice.corners(0), &material, element).unwrap();
            let mut fast = vec![[0.0; 4]; x.len()];
            cubes.apply(&x, &mut fast);
            let mut slow = vec![DVec3::ZERO; x.len()];
            for (cell, corners) in lattice.cells().iter().enumerate() {
                let local = corners.map(|n| turns[cell].transpose() * DVec3::from_slice(&x[n as usize][..3]));
                let row = |i: usize| (0..24).map(|j| 0.7 * k[i][j] * local[j / 3][j % 3]).sum::<f64>();
                for (c, &node) in corners.iter().enumerate() {
                    slow[node as usize] +=
                        turns[cell] * DVec3::new(row(3 * c), row(3 * c + 1), row(3 * c + 2));
                }
            }
            let off = |(f, s): (&[f64; 4], &DVec3)| DVec3::from_slice(&f[..3]).distance(*s);
            let worst = fast.iter().zip(&slow).map(off).fold(0.0, f64::max);
            assert!(worst < 1e-12, "{element:?} {poisson}: {worst:e}");
            let [diagonal, beside] = constants.corner_block();
            assert!((diagonal - 0.7 * k[21][21]).abs() < 1e-12 && (beside - 0.7 * k[21][22]).abs() < 1e-12);
        }
    }
}

/// Turning a body by an angle stretches it by 1 − cos in the linear model alone.
#[test]
fn rotations_cost_nothing_but_in_the_linear_model() {
    let lattice = Lattice::block([2; 3], 0.5, DVec3::ZERO).unwrap();
    for (mode, is_free) in Mode::ALL.map(|mode| (mode, !matches!(mode, Mode::Linear | Mode::Warped))) {
        for degrees in [30f64, 60.0] {
            let params = FleshParams { mode, ..FleshParams::default() };
            let solver = FleshSolver::new(&lattice, &[FLESH], &Default::default(), &params).unwrap();
            let turn = DQuat::from_axis_angle(DVec3::new(0.6, 0.0, 0.8), degrees.to_radians());
            let mut state = FleshState::at_rest(&lattice);
            state.positions.iter_mut().for_each(|p| *p = turn * *p + DVec3::new(5.0, 1.0, -2.0));
            if is_free {
                state.rotations.fill(turn);
            }
            let worst = solver.gradient(&state).unwrap().iter().map(|f| f.length()).fold(0.0, f64::max);
            assert_eq!(worst < 1e-12, is_free, "{mode:?} {worst:e}");
        }
    }
    // Strain of a turn about z in the linear model: cos − 1 along x and y.
    let material = Material { poisson: 0.0, ..FLESH };
    let params = FleshParams { mode: Mode::Linear, ..FleshParams::default() };
    let solver = FleshSolver::new(&lattice, &[material], &Default::default(), &params).unwrap();
    for (degrees, strain) in [(30f64, 0.133_975), (60.0, 0.5)] {
        let mut state = FleshState::at_rest(&lattice);
        let turn = DQuat::from_rotation_z(degrees.to_radians());
        state.positions.iter_mut().for_each(|p| *p = turn * *p);
        let energy = solver.energies(&state).unwrap()[0];
        // μ Σ ε² over a volume of one, twice, with μ = E / 2.
        assert!((energy - material.young * strain * strain).abs() < 1e-6, "{energy}");
    }
}

/// Every gradient is the derivative of its energy, and every tangent that of its gradient.
#[test]
fn derivatives_are_differences() {
    let corners = distorted().corners(13);
    let points = gauss_gradients(&corners);
    for energy in [Energy::StVenantKirchhoff, Energy::NeoHookean] {
        let at: [DVec3; 8] = std::array::from_fn(|c| 1.1 * corners[c] + 0.1 * noise3(c + 7));
        let run = |at: &[DVec3; 8], definite| cell_response(energy, &points, at, &FLESH, 0.8, definite);
        let exact = run(&at, Some(Definite::Exact));
        let tangent = exact.tangent.unwrap();
        let step = 1e-5;
        for i in 0..24 {
            let moved = |by: f64| {
                let mut at = at;
                at[i / 3][i % 3] += by;
                run(&at, None)
            };
            let (up, down) = (moved(step), moved(-step));
            let slope = (up.energy - down.energy) / (2.0 * step);
            assert!((slope - exact.gradient[i / 3][i % 3]).abs() < 1e-7, "{energy:?}");
            for j in 0..24 {
                let slope = (up.gradient[j / 3][j % 3] - down.gradient[j / 3][j % 3]) / (2.0 * step);
                assert!((slope - tangent[j][i]).abs() < 1e-6, "{energy:?} {slope} {}", tangent[j][i]);
            }
        }
    }
}

/// The integrals of Capell (2004), appendix A, are the sums over points, for energy, gradient and tangent; exact ones
/// differ from 2 × 2 × 2 points only in the cubic terms.
#[test]
fn integrals_are_sums_over_points() {
    let cube = Lattice::block([1; 3], 0.7, DVec3::ZERO).unwrap().corners(0);
    for corners in [cube, distorted().corners(13)] {
        let q: [DVec3; 8] = std::array::from_fn(|c| 0.2 * noise3(c + 3));
        let at = std::array::from_fn(|c| corners[c] + q[c]);
        let points = gauss_gradients(&corners);
        let sums = cell_response(Energy::StVenantKirchhoff, &points, &at, &FLESH, 1.0, Some(Definite::Exact));
        let integrals = Integrals::new(&points);
        let (energy, gradient) = integrals.response(&q, &FLESH, 1.0);
        assert!((energy - sums.energy).abs() < 1e-10, "{energy} {}", sums.energy);
        let tangent = sums.tangent.unwrap();
        for c in 0..8 {
            assert!(gradient[c].distance(sums.gradient[c]) < 1e-10);
            for d in 0..8 {
                let block = integrals.tangent(&q, &FLESH, (c, d));
                for k in 0..9 {
                    let off = block.col(k % 3)[k / 3] - tangent[3 * c + k / 3][3 * d + k % 3];
                    assert!(off.abs() < 1e-10, "{off:e}");
                }
            }
        }
    }
    let lattice = Lattice::block([2, 1, 1], 0.7, DVec3::ZERO).unwrap();
    let gradient = |integrals: bool, size: f64| {
        let params = FleshParams {
            mode: Mode::Stvk,
            element: ElementKind::Trilinear,
            integrals,
            ..FleshParams::default()
        };
        let solver = FleshSolver::new(&lattice, &[FLESH], &Default::default(), &params).unwrap();
        let mut state = FleshState::at_rest(&lattice);
        state.positions.iter_mut().enumerate().for_each(|(i, p)| *p += size * noise3(i));
        solver.gradient(&state).unwrap()
    };
    let off = |size: f64| {
        let (a, b) = (gradient(true, size), gradient(false, size));
        a.iter().zip(&b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
    };
    assert!(off(0.2) > 1e-6, "the solver uses them");
    assert!(off(0.01) < 1.3e-4 * off(0.2), "{:e} {:e}: third degree", off(0.01), off(0.2));
}

/// Nonlinear cells that bend: slopes of their energy, no force on inner nodes under even strain, and at rest the tangent
/// of the linear cell.
#[test]
fn bending_cells() {
    let corners = distorted().corners(13);
    let mean = MeanCell::new(&corners, &gauss_gradients(&corners));
    let unit = Material { young: 1.0, ..FLESH };
    let stiffness = stiffness(&corners, &unit, ElementKind::Incompatible).unwrap();
    let share = 0.8;
    for energy in [Energy::StVenantKirchhoff, Energy::NeoHookean] {
        let run = |at: &[DVec3; 8], tangent| {
            let matrix = (&*stiffness, FLESH.young * share);
            mean_response(energy, &mean, at, (&FLESH, share), matrix, tangent)
        };
        let at: [DVec3; 8] = std::array::from_fn(|c| 1.1 * corners[c] + 0.1 * noise3(c + 7));
        let exact = run(&at, false);
        for i in 0..24 {
            let moved = |by: f64| {
                let mut at = at;
                at[i / 3][i % 3] += by;
                run(&at, false).energy
            };
            let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((slope - exact.gradient[i / 3][i % 3]).abs() < 1e-8, "{energy:?}");
        }
        // Of a cell bent far the tangent is still positive.
        let bent = run(&at, true).tangent.unwrap();
        let largest = (0..24).map(|i| bent[i][i]).fold(0.0, f64::max);
        let mut flat: Vec<f64> = (0..24).flat_map(|i| bent[i].to_vec()).collect();
        (0..24).for_each(|i| flat[25 * i] += 1e-9 * largest);
        assert!(DenseCholesky::new(24, flat).is_ok(), "{energy:?}");
        let tangent = run(&corners, true).tangent.unwrap();
        for i in 0..24 {
            for j in 0..24 {
                let wanted = FLESH.young * share * stiffness[i][j];
                assert!((tangent[i][j] - wanted).abs() < 1e-10, "{energy:?} {} {wanted}", tangent[i][j]);
            }
        }
    }
}

/// The same for linear strain in the frames of the cells.
#[test]
fn forces_are_slopes_of_the_energy() {
    let lattice = Lattice::block([2, 1, 1], 0.4, DVec3::ZERO).unwrap();
    for mode in [Mode::Linear, Mode::Predicted, Mode::Stvk, Mode::NeoHookean] {
        let params = FleshParams { mode, ..FleshParams::default() };
        let solver = FleshSolver::new(&lattice, &[FLESH], &Default::default(), &params).unwrap();
        let mut state = FleshState::at_rest(&lattice);
        state.positions.iter_mut().enumerate().for_each(|(i, p)| *p += 0.05 * noise3(i));
        state.rotations.iter_mut().enumerate().for_each(|(i, q)| *q = DQuat::from_scaled_axis(noise3(i)));
        let gradient = solver.gradient(&state).unwrap();
        for node in 0..lattice.n_nodes() {
            for k in 0..3 {
                let mut energy = |by: f64| {
                    state.positions[node][k] += by;
                    let energy = solver.energies(&state).unwrap()[0];
                    state.positions[node][k] -= by;
                    energy
                };
                let slope = (energy(1e-5) - energy(-1e-5)) / 2e-5;
                assert!((slope - gradient[node][k]).abs() < 1e-8, "{mode:?}");
            }
        }
    }
}

/// Stretched along one axis with free sides: `P = E/2 λ (λ² − 1)` for St. Venant–Kirchhoff without lateral strain, whose
/// slope vanishes at `1/√3`; neo-Hookean material keeps resisting.
#[test]
fn uniaxial_stress() {
    let lattice = Lattice::block([1; 3], 1.0, DVec3::ZERO).unwrap();
    let material = Material { poisson: 0.0, ..FLESH };
    let pull = |mode: Mode, stretch: f64, material: &Material| {
        let params = FleshParams { mode, ..FleshParams::default() };
        let solver = FleshSolver::new(&lattice, &[*material], &Default::default(), &params).unwrap();
        let mut state = FleshState::at_rest(&lattice);
        state.positions.iter_mut().for_each(|p| p.x *= stretch);
        let gradient = solver.gradient(&state).unwrap();
        nodes_where(&lattice, |p| p.x > 0.5).iter().map(|&n| gradient[n as usize].x).sum::<f64>()
    };
    for stretch in [0.3, 0.5, 0.577, 0.9, 1.0, 1.3, 2.0] {
        let wanted = material.young / 2.0 * stretch * (stretch * stretch - 1.0);
        assert!((pull(Mode::Stvk, stretch, &material) - wanted).abs() < 1e-12, "{stretch}");
    }
    let slope = |mode, at: f64| (pull(mode, at + 1e-4, &material) - pull(mode, at - 1e-4, &material)) / 2e-4;
    let turning = 1.0 / 3f64.sqrt();
    assert!(slope(Mode::Stvk, turning).abs() < 1e-6 && slope(Mode::Stvk, 0.5) < -0.1);
    assert!([0.01, 0.1, 0.3, 0.5, 1.0].iter().all(|&at| slope(Mode::NeoHookean, at) > 0.5));
    // Small strains are Hooke's in every mode: E ε if the sides are free, λ + 2 μ times ε if they are not.
    for mode in Mode::ALL {
        let stiff = (pull(mode, 1.0 + 1e-6, &FLESH) / 1e-6 - (FLESH.lambda() + 2.0 * FLESH.shear())).abs();
        assert!(stiff < 1e-4, "{mode:?} {stiff}");
    }
}

/// Systems of a thousand random poses are symmetric and can be factorised.
#[test]
fn systems_are_symmetric_and_positive() {
    let lattice = Lattice::block([2, 1, 1], 0.5, DVec3::ZERO).unwrap();
    for mode in [Mode::Predicted, Mode::Stvk, Mode::NeoHookean] {
        let params = FleshParams { mode, ..FleshParams::default() };
        let solver = FleshSolver::new(&lattice, &[FLESH], &Default::default(), &params).unwrap();
        let mut blocks = BlockMatrix::new(&lattice);
        for pose in 0..1000 {
            let seed = 50 * pose;
            let size = f64::from(pose as u32 % 10) * 0.1;
            let x: Vec<DVec3> =
                lattice.nodes().iter().enumerate().map(|(i, p)| *p + size * noise3(i + seed)).collect();
            let turns: Vec<DMat3> = (0..lattice.n_cells())
                .map(|c| DMat3::from_quat(DQuat::from_scaled_axis(3.0 * noise3(c + seed))))
                .collect();
            crate::response::respond(
                &solver.body,
                &crate::response::Configuration { places: &x, rotations: &turns, rest: None },
                Some(&mut blocks),
            );
            (0..lattice.n_nodes()).for_each(|node| blocks.add_diagonal(node, 1e-3));
            let number: Vec<u32> = (0..lattice.n_nodes() as u32).collect();
            let matrix = blocks.to_sparse(&number, lattice.n_nodes());
            let n = 3 * lattice.n_nodes();
            let [e, f] = [1, 2].map(|k| (0..n).map(|i| noise3(i + seed + k)[k]).collect::<Vec<f64>>());
            let times = |x: &[f64]| {
                let mut out = vec![0.0; n];
                matrix.mul_vec(x, &mut out);
                out
            };
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let (one, other) = (dot(&f, &times(&e)), dot(&e, &times(&f)));
            assert!((one - other).abs() < 1e-7 * dot(&e, &times(&e)), "{mode:?} {one} {other}");
            assert!(Direct::new(&blocks, &vec![false; lattice.n_nodes()]).is_ok(), "{mode:?} pose {pose}");
        }
    }
}

proptest! {
    /// Forces turn with the body.
    #[test]
    fn turned_bodies_have_turned_forces(seed in 0..1000usize, x in -3.0..3.0f64, y in -3.0..3.0f64, z in -3.0..3.0f64) {
        let lattice = Lattice::block([2, 1, 1], 0.5, DVec3::ZERO).unwrap();
        let turn = DQuat::from_scaled_axis(DVec3::new(x, y, z));
        for mode in [Mode::Predicted, Mode::Stvk, Mode::NeoHookean] {
            let params = FleshParams { mode, ..FleshParams::default() };
            let solver = FleshSolver::new(&lattice, &[FLESH], &Default::default(), &params).unwrap();
            let mut state = FleshState::at_rest(&lattice);
            state.positions.iter_mut().enumerate().for_each(|(i, p)| *p += 0.1 * noise3(i + seed));
            let before = solver.gradient(&state).unwrap();
            state.positions.iter_mut().for_each(|p| *p = turn * *p + DVec3::new(1.0, -2.0, 0.5));
            state.rotations.iter_mut().for_each(|q| *q = turn * *q);
            let after = solver.gradient(&state).unwrap();
            let off = before.iter().zip(&after).map(|(b, a)| (turn * *b).distance(*a)).fold(0.0, f64::max);
            prop_assert!(off < 1e-12, "{mode:?} {off:e}");
        }
    }

    /// With its negative curvatures taken out, every tangent is positive.
    #[test]
    fn clamped_tangents_are_positive(seed in 0..10_000usize, size in 0.0..2.0f64) {
        let corners = distorted().corners(13);
        let points = gauss_gradients(&corners);
        let at: [DVec3; 8] = std::array::from_fn(|c| corners[c] + size * noise3(c + seed));
        for energy in [Energy::StVenantKirchhoff, Energy::NeoHookean] {
            let done = cell_response(energy, &points, &at, &FLESH, 1.0, Some(Definite::Clamped));
            let tangent = done.tangent.unwrap();
            let largest = (0..24).map(|i| tangent[i][i]).fold(0.0, f64::max);
            let mut flat: Vec<f64> = (0..24).flat_map(|i| tangent[i].to_vec()).collect();
            (0..24).for_each(|i| flat[25 * i] += 1e-9 * largest);
            prop_assert!(DenseCholesky::new(24, flat).is_ok(), "{energy:?}");
        }
    }
}
