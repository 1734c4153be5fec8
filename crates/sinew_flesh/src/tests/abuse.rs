//! Bad treatment.

use super::{Rigged, nodes_where, noise3};
use crate::{FleshParams, Lattice, Material};
use glam::{DQuat, DVec3};

/// A bar held at both ends: random turns by 180 degrees, jumps of twenty metres, all stiffnesses and lengths of steps.
/// Farthest any node ever is from where the bar is held, in lengths of the bar.
pub fn farthest(young: f64, steps: usize) -> f64 {
    let lattice = Lattice::block([2, 2, 6], 0.2, DVec3::ZERO).unwrap();
    let held = nodes_where(&lattice, |p| !(0.25..0.95).contains(&p.z));
    let material = Material { young, ..Material::default() };
    let mut rigged = Rigged::new(&lattice, &material, held, &FleshParams::default());
    let rest = rigged.drive.held.clone();
    let middle = DVec3::new(0.2, 0.2, 0.6);
    let mut farthest: f64 = 0.0;
    for step in 0..steps {
        let seed = step / 5;
        let axis = noise3(seed).normalize_or(DVec3::Y);
        let turn = DQuat::from_axis_angle(axis, std::f64::consts::PI);
        let jump = if step % 50 == 0 { 20.0 * noise3(seed + 7) } else { DVec3::ZERO };
        for (target, &p) in rigged.drive.held.iter_mut().zip(&rest) {
            *target = if p.z > 0.6 { turn * (p - middle) + middle } else { p } + jump;
        }
        rigged.step(1.0 / [24.0, 30.0, 60.0, 120.0, 240.0][step / 7 % 5]);
        let reach = rigged.state.positions.iter().map(|p| p.distance(middle + jump));
        farthest = reach.fold(farthest, f64::max);
    }
    farthest / 1.2
}

#[test]
fn bad_treatment_flings_nothing_away() {
    for young in [1e3, 3e4, 1e6, 1e8] {
        let reach = farthest(young, 400);
        assert!(reach < 10.0, "{young:e}: {reach} lengths away");
    }
}
