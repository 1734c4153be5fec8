//! Cells that are folded over open again, and nothing else moves.

use super::bar;
use crate::{
    element::corner_volumes,
    muscle_fit::unfold::{Corners, Unfolded, unfold},
};
use glam::DVec3;
use proptest::prelude::*;

fn opened(goal: &[DVec3]) -> (Unfolded, Vec<DVec3>) {
    let bar = bar();
    let mut places = goal.to_vec();
    let done = unfold(&bar.lattice, &bar.solver.body.is_held, goal, &mut places);
    (done, places)
}

#[test]
fn what_is_not_folded_stays() {
    let bar = bar();
    let bent: Vec<DVec3> = bar.lattice.nodes().iter().map(|p| *p + DVec3::Y * (0.2 * p.x * p.x)).collect();
    let (done, places) = opened(&bent);
    assert_eq!((done.n_folded, done.n_left), (0, 0));
    assert!(places == bent);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Nodes thrown up to two cells about, those at the ends held where they are.
    #[test]
    fn thrown_nodes_are_opened(throws in proptest::collection::vec((0usize..275, prop::array::uniform3(-0.2f64..0.2)), 1..25)) {
        let bar = bar();
        let held = &bar.solver.body.is_held;
        let mut goal = bar.lattice.nodes().to_vec();
        for (node, way) in &throws {
            if !held[*node] {
                goal[*node] += DVec3::from_array(*way);
            }
        }
        let (done, places) = opened(&goal);
        prop_assert_eq!(done.n_left, 0);
        for cell in bar.lattice.cells() {
            let at = cell.map(|n| places[n as usize]);
            prop_assert!(corner_volumes(&at).iter().all(|v| *v > 0.0));
        }
        for (node, held) in held.iter().enumerate() {
            prop_assert!(!held || places[node] == goal[node]);
        }
        // What goes further than the throws were is not next to where it was.
        let way = places.iter().zip(&goal).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        prop_assert!(way < 0.5, "{}", way);
    }
}

/// Ends that changed places: between them cells cannot but be folded, which is reported.
#[test]
fn what_cannot_be_opened_is_reported() {
    let bar = bar();
    let goal: Vec<DVec3> = bar.lattice.nodes().iter().map(|p| DVec3::new(1.0 - p.x, p.y, p.z)).collect();
    let (done, places) = opened(&goal);
    assert!(done.n_left > 0 && done.least_volume <= 0.0, "{done:?}");
    assert!(places.iter().all(|p| p.is_finite()));
}

/// What corners pay, open and folded, by differences.
#[test]
fn slopes_are_those_of_the_value() {
    let bar = bar();
    let corners = Corners::new(&bar.lattice);
    let shake =
        |k: usize| 0.07 * DVec3::new((k as f64 * 1.7).sin(), (k as f64 * 2.9).cos(), (k as f64 * 0.6).sin());
    let places: Vec<DVec3> = bar.lattice.nodes().iter().enumerate().map(|(k, p)| *p + shake(k)).collect();
    let (_, slope) = corners.shapes(&places, 0.3);
    let h = 1e-6;
    for node in (0..places.len()).step_by(17) {
        for axis in 0..3 {
            let at = |way: f64| {
                let mut places = places.clone();
                places[node][axis] += way;
                corners.shapes(&places, 0.3).0
            };
            let wanted = (at(h) - at(-h)) / (2.0 * h);
            assert!(
                (slope[node][axis] - wanted).abs() < 1e-6 * wanted.abs().max(1.0),
                "{} {wanted}",
                slope[node][axis]
            );
        }
    }
}
