//! The smoothed energy against finite differences.

use super::*;
use crate::{
    HandleSet,
    examples::{ExamplePose, Objective},
};
use sinew_geom::{
    Warnings,
    sample::{PoseSet, build_character},
};

const SMOOTHING: f64 = 1e-2;

fn space(set: PoseSet) -> PoseSpace {
    let character = build_character(set.sample(), 1_500).unwrap();
    let handles = HandleSet::new(&character.mesh, &character.handles, &mut Warnings::default()).unwrap();
    let poses = set.poses();
    let examples: Vec<_> = poses.iter().map(|(name, moves)| ExamplePose { name, moves }).collect();
    PoseSpace::new(&character.mesh, &handles, &examples).unwrap()
}

fn target(space: &PoseSpace, name: &str) -> Target {
    let handle = space.find_handle(name).unwrap();
    let position = space.rest_grips()[handle] + DVec3::new(0.1, 0.3, 0.2);
    Target { handle, position, is_pinned: false }
}

#[test]
fn slopes_are_those_of_finite_differences() {
    let terms = ["dtt", "dtt+sow", "dtt+omsow", "dtt+0.3dfe", "dtt+0.4dtl", "dtt+now"];
    for (set, names) in [
        (PoseSet::Walk, ["foot.L", "hand.R"]),
        (PoseSet::Limbs, ["hand.L", "foot.R"]),
        (PoseSet::Jump, ["top", "ear.L"]),
    ] {
        let space = space(set);
        let targets = names.map(|name| target(&space, name));
        let weights: Vec<f64> = (0..space.n_examples()).map(|e| 0.2 + 0.05 * (e % 5) as f64).collect();
        let last = space.rest_grips().to_vec();
        for (text, anchors) in terms.iter().flat_map(|t| [(t, vec![]), (t, vec![(0, 0.7), (1, 0.3)])]) {
            let objective: Objective = text.parse().unwrap();
            let mut energy = Energy::new(&space, Blend::Free, &objective, &targets, &anchors, Some(&last));
            let (mut model, mut from) = (Model::new(&energy), Model::new(&energy));
            from.with_roots = true;
            let value = model.at(&mut energy, &weights, SMOOTHING, &from);
            assert!((value - model.value(&energy, SMOOTHING)).abs() < 1e-12, "{text}");
            let gradient = model.gradient.clone();
            for e in 0..weights.len() {
                let mut beside = |step: f64| {
                    let mut moved = weights.clone();
                    moved[e] += step;
                    model.at(&mut energy, &moved, SMOOTHING, &from)
                };
                let expected = (beside(1e-5) - beside(-1e-5)) / 2e-5;
                assert!(
                    (gradient[e] - expected).abs() < 1e-5 * (1.0 + expected.abs()),
                    "{set:?} {text} {e}: {} is not {expected}",
                    gradient[e]
                );
            }
        }
    }
}

#[test]
fn the_curvature_is_exact_where_handles_turn_about_one_axis() {
    // The leg of these examples bends about one axis at hip and knee.
    let space = space(PoseSet::First);
    let targets = [target(&space, "foot.L")];
    let objective: Objective = "dtt".parse().unwrap();
    let mut energy = Energy::new(&space, Blend::Free, &objective, &targets, &[], None);
    let (mut model, mut from) = (Model::new(&energy), Model::new(&energy));
    let weights = [0.3, 0.2, 0.6];
    from.at(
        &mut energy,
        &weights,
        1e-9,
        &Model::new(&Energy::new(&space, Blend::Free, &objective, &targets, &[], None)),
    );
    let mut slope = |step: f64| {
        let mut moved = weights;
        moved[2] += step;
        model.at(&mut energy, &moved, 1e-9, &from);
        (model.gradient[2], model.curvature(2, 2))
    };
    let expected = (slope(1e-5).0 - slope(-1e-5).0) / 2e-5;
    let found = slope(0.0).1;
    assert!((found - expected).abs() < 1e-5 * expected.abs(), "{found} is not {expected}");
}
