//! Bad treatment: the ten thousand steps of `sinew_bench flesh --long`, and a coarser bar for fewer.

use super::{Rigged, nodes_where, noise3};
use crate::{FleshParams, Lattice, Material};
use glam::{DQuat, DVec3};

/// A bar of 1.2 m held at both ends: turns of one of them by 180 degrees about random axes, jumps of up to 35 m, steps of all
/// lengths. Farthest any node ever is from where the bar is held, in lengths of the bar.
fn farthest(lattice: &Lattice, young: f64, steps: usize) -> f64 {
    let size = lattice.size();
    let held = nodes_where(lattice, |p| !(1.5 * size..1.2 - 1.5 * size).contains(&p.z));
    let material = Material { young, ..Material::default() };
    let mut rigged = Rigged::new(lattice, &material, held, &FleshParams::default());
    let rest = rigged.input.held.clone();
    let middle = DVec3::new(0.2, 0.2, 0.6);
    let mut farthest: f64 = 0.0;
    for step in 0..steps {
        let seed = step / 5;
        let axis = noise3(seed).normalize_or(DVec3::Y);
        let turn = DQuat::from_axis_angle(axis, std::f64::consts::PI);
        let jump = if step % 50 == 0 { 20.0 * noise3(seed + 7) } else { DVec3::ZERO };
        for (target, &p) in rigged.input.held.iter_mut().zip(&rest) {
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
    let coarse = Lattice::block([2, 2, 6], 0.2, DVec3::ZERO).unwrap();
    for young in [1e3, 3e4, 1e6, 1e8] {
        let reach = farthest(&coarse, young, 400);
        assert!(reach < 4.0, "{young:e}: {reach} lengths away");
    }
}

/// The softest flesh of a finer bar was once flung 250 lengths away.
#[test]
fn soft_flesh_is_not_flung_away() {
    let fine = Lattice::block([4, 4, 12], 0.1, DVec3::ZERO).unwrap();
    for young in [1e3, 1e4] {
        let reach = farthest(&fine, young, 2000);
        assert!(reach < 4.0, "{young:e}: {reach} lengths away");
    }
}
