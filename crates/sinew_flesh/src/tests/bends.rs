//! Two bones and a joint: how near the linear modes come to the nonlinear material on the same lattice.

use super::{Rigged, nodes_where};
use crate::{ElementKind, FleshParams, Lattice, Material, Mode};
use glam::{DQuat, DVec3};

const N: [usize; 3] = [16, 4, 4];
const JOINT: DVec3 = DVec3::new(8.0, 2.0, 2.0);

/// How far a place follows the second bone.
fn share(p: DVec3) -> f64 {
    let t = ((p.x - JOINT.x + 2.0) / 4.0).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// The bar at rest in its bend, nodes along the axis held by the bones.
fn bent(mode: Mode, polar_steps: usize, degrees: f64) -> Vec<DVec3> {
    let lattice = Lattice::block(N, 1.0, DVec3::ZERO).unwrap();
    let axis = |p: DVec3| p.y == JOINT.y && p.z == JOINT.z && (p.x - JOINT.x).abs() > 0.5;
    let held = nodes_where(&lattice, axis);
    let params = FleshParams {
        mode,
        polar_steps,
        element: ElementKind::Trilinear,
        gravity: DVec3::ZERO,
        tolerance: 1e-6,
        newton_rounds: 20,
        ..FleshParams::default()
    };
    let material = Material { young: 1e3, poisson: 0.3, density: 1.0 };
    let mut rigged = Rigged::new(&lattice, &material, held.clone(), &params);
    let turn = |share: f64| DQuat::from_rotation_z(degrees.to_radians() * share);
    for (target, &node) in rigged.input.held.iter_mut().zip(&held) {
        let p = lattice.nodes()[node as usize];
        *target = if p.x > JOINT.x { JOINT + turn(1.0) * (p - JOINT) } else { p };
    }
    let middle = |cell: usize| lattice.corners(cell).iter().sum::<DVec3>() / 8.0;
    rigged.input.cell_rotations = (0..lattice.n_cells()).map(|cell| turn(share(middle(cell)))).collect();
    rigged.input.node_rotations = lattice.nodes().iter().map(|p| turn(share(*p))).collect();
    // Begin where skinning puts it.
    for p in &mut rigged.state.positions {
        *p = p.lerp(JOINT + turn(1.0) * (*p - JOINT), share(*p));
    }
    for _ in 0..if mode == Mode::Stvk { 8 } else { 40 } {
        rigged.state.velocities.fill(DVec3::ZERO);
        rigged.step(100.0);
    }
    rigged.state.positions
}

/// Errors in cells against St. Venant–Kirchhoff; the bar: 0.11 at 45 degrees.
#[test]
fn frames_of_cells_are_nearer_than_warped_nodes() {
    for (degrees, most) in [(20.0, 0.03), (45.0, 0.11), (60.0, 0.165)] {
        let exact = bent(Mode::Stvk, 0, degrees);
        let off = |mode: Mode, polar_steps: usize| {
            let found = bent(mode, polar_steps, degrees);
            found.iter().zip(&exact).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
        };
        let (linear, warped) = (off(Mode::Linear, 0), off(Mode::Warped, 0));
        let (plain, polished) = (off(Mode::Predicted, 0), off(Mode::Predicted, 1));
        assert!(
            polished < most && plain < most && plain < warped && warped < linear,
            "{degrees} degrees: linear {linear:.3}, warped {warped:.3}, predicted {plain:.3}, polished {polished:.3}"
        );
    }
}
