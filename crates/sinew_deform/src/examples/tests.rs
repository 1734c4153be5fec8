//! The pose space as a whole: what every blend and every search must do.

use super::*;
use crate::{HandlePose, HandleSet};
use glam::{DQuat, DVec3};
use sinew_geom::{
    Character, Mesh, Move, Warnings,
    path::{Ground, Path, Walk, plan_walk},
    sample::{PoseSet, build_character},
};
use std::ops::ControlFlow;

struct Body {
    character: Character,
    handles: HandleSet,
    poses: Vec<(String, Vec<Move>)>,
}

impl Body {
    fn new(set: PoseSet) -> Self {
        let character = build_character(set.sample(), 1_500).unwrap();
        let handles = HandleSet::new(&character.mesh, &character.handles, &mut Warnings::default()).unwrap();
        Self { character, handles, poses: set.poses() }
    }

    fn space(&self) -> PoseSpace {
        self.space_in((0..self.poses.len()).collect())
    }

    fn space_in(&self, order: Vec<usize>) -> PoseSpace {
        let examples: Vec<_> =
            order.iter().map(|&e| ExamplePose { name: &self.poses[e].0, moves: &self.poses[e].1 }).collect();
        PoseSpace::new(&self.character.mesh, &self.handles, &examples).unwrap()
    }

    fn target(&self, space: &PoseSpace, name: &str, offset: [f64; 3]) -> Target {
        let handle = space.find_handle(name).unwrap();
        let position = space.rest_grips()[handle] + DVec3::from_array(offset);
        Target { handle, position, is_pinned: false }
    }
}

fn distance(a: &HandlePose, b: &HandlePose) -> f64 {
    let points = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
    let motions = a.motions().iter().zip(b.motions());
    motions
        .flat_map(|(a, b)| points.map(|p| a.position(p).distance(b.position(p)).max(a.turn.distance(b.turn))))
        .fold(0.0, f64::max)
}

#[test]
fn every_example_is_met_exactly_at_weight_one_and_nothing_is_rest() {
    for set in PoseSet::ALL {
        let body = Body::new(set);
        let space = body.space();
        let n = space.n_examples();
        for (e, (name, moves)) in body.poses.iter().enumerate() {
            let made = HandlePose::from_moves(&body.character.mesh, &body.handles, moves).unwrap();
            let mut weights = vec![0.0; n];
            weights[e] = 1.0;
            for blend in [Blend::Free, Blend::Sequential((0..n).rev().collect())] {
                let blended = space.blend(&blend, &weights);
                assert!(distance(&made, &blended) < 1e-9, "{name} {blend:?}: {}", distance(&made, &blended));
            }
        }
        let rest = HandlePose::rest(&body.handles);
        assert!(distance(&rest, &space.blend(&Blend::Free, &[])) < 1e-12);
    }
}

#[test]
fn the_order_of_examples_matters_to_algorithm_3_and_not_to_ours() {
    let body = Body::new(PoseSet::Limbs);
    let find = |name: &str| body.poses.iter().position(|(found, _)| found == name).unwrap();
    let (ahead, aside) = (find("leg ahead.L"), find("leg aside.L"));
    let space = body.space_in(vec![ahead, aside]);
    let swapped = body.space_in(vec![aside, ahead]);
    let weights = [0.8, 0.7];
    let in_order = |order: [usize; 2]| space.blend(&Blend::Sequential(order.to_vec()), &weights);
    assert!(distance(&in_order([0, 1]), &in_order([1, 0])) > 0.1, "algorithm 3 depends on the order");
    let free = space.blend(&Blend::Free, &weights);
    let again = swapped.blend(&Blend::Free, &[0.7, 0.8]);
    assert!(distance(&free, &again) < 1e-12, "{}", distance(&free, &again));
}

#[test]
fn blends_keep_limbs_as_long_as_they_are() {
    let body = Body::new(PoseSet::Limbs);
    let space = body.space();
    let knee = |pose: &HandlePose, name: &str| {
        let h = body.handles.find(name).unwrap();
        pose.motions()[h].position(body.handles.handles()[h].center)
    };
    let rest = HandlePose::rest(&body.handles);
    let weights: Vec<f64> = (0..space.n_examples()).map(|e| 0.2 + 0.05 * (e % 7) as f64).collect();
    let pose = space.blend(&Blend::Free, &weights);
    for (from, to) in
        [("elbow.L", "forearm.L"), ("forearm.R", "hand.R"), ("knee.L", "shin.L"), ("shin.R", "foot.R")]
    {
        let [before, after] = [&rest, &pose].map(|p| knee(p, from).distance(knee(p, to)));
        assert!((before - after).abs() < 1e-9, "{from} to {to}: {before} became {after}");
    }
}

#[test]
fn a_blend_becomes_moves_and_back() {
    for set in [PoseSet::Walk, PoseSet::Jump] {
        let body = Body::new(set);
        let mut poses = body.poses.clone();
        if set == PoseSet::Walk {
            let twist = Move::Twist {
                handles: vec!["hand.L".into()],
                axis: DVec3::X,
                radians: 1.2,
                over: vec!["forearm.L".into()],
            };
            poses.push(("twist".into(), vec![twist]));
        }
        let body = Body { poses, ..body };
        let space = body.space();
        let weights: Vec<f64> = (0..space.n_examples()).map(|e| 0.3 + 0.1 * (e % 3) as f64).collect();
        let pose = space.blend(&Blend::Free, &weights);
        let moves = space.history(&body.handles, &pose);
        let again = HandlePose::from_moves(&body.character.mesh, &body.handles, &moves).unwrap();
        assert!(distance(&pose, &again) < 1e-9, "{set:?}: {}", distance(&pose, &again));
    }
}

fn all_params() -> impl Iterator<Item = SearchParams> {
    let objectives = ["dtt", "dtt+omsow", "dtt+sow+dfe", "dtt+omsow+now+neu(2)+dtl"];
    objectives.into_iter().flat_map(|objective| {
        Optimiser::ALL.map(|optimiser| SearchParams {
            optimiser,
            objective: objective.parse().unwrap(),
            rounds: 20,
            ..SearchParams::default()
        })
    })
}

#[test]
fn every_optimiser_lowers_the_energy_and_stays_within_limits() {
    let body = Body::new(PoseSet::Walk);
    let space = body.space();
    let targets =
        [body.target(&space, "foot.L", [0.0, 0.1, 0.25]), body.target(&space, "hand.R", [0.1, -0.1, 0.15])];
    let grips = space.rest_grips().to_vec();
    let start = Start { grips: Some(&grips), ..Start::default() };
    for params in all_params() {
        for sequential in [false, true] {
            let params = SearchParams { sequential, ..params.clone() };
            let found = space.search(&targets, &params, &start).unwrap();
            let before: f64 = rest_energy(&space, &targets, &params, &start);
            let name = format!("{} {} sequential {sequential}", params.optimiser.name(), params.objective);
            assert!(found.energy <= before + 1e-12, "{name}: {} of {before}", found.energy);
            assert!(found.weights.iter().all(|w| (0.0..=1.0).contains(w)), "{name}: {:?}", found.weights);
            let terms: f64 = found.terms.iter().map(|(_, value)| value).sum();
            assert!((terms - found.energy).abs() < 1e-12);
            assert!(found.evaluations > 0);
        }
    }
}

/// The energy at the start: a search that cannot move returns it.
fn rest_energy(space: &PoseSpace, targets: &[Target], params: &SearchParams, start: &Start<'_>) -> f64 {
    let params = SearchParams { limits: [0.0, 0.0], ..params.clone() };
    space.search(targets, &params, start).unwrap().energy
}

#[test]
fn newton_is_not_worse_than_any_search_of_the_thesis() {
    for set in [PoseSet::Walk, PoseSet::First] {
        let body = Body::new(set);
        let space = body.space();
        let targets = [
            body.target(&space, "foot.L", [0.02, 0.08, 0.2]),
            body.target(&space, "hand.R", [0.1, -0.1, 0.15]),
        ];
        for objective in ["dtt", "dtt+omsow", "dtt+sow"] {
            let params = |optimiser| SearchParams {
                optimiser,
                objective: objective.parse().unwrap(),
                rounds: if optimiser == Optimiser::Newton { 1 } else { 60 },
                multi_start: true,
                ..SearchParams::default()
            };
            let ours = space.search(&targets, &params(Optimiser::Newton), &Start::default()).unwrap().energy;
            for optimiser in Optimiser::ALL {
                let theirs = space.search(&targets, &params(optimiser), &Start::default()).unwrap().energy;
                assert!(
                    ours <= theirs * 1.000_01,
                    "{set:?} {objective}: {ours}, {} {theirs}",
                    optimiser.name()
                );
            }
        }
    }
}

/// Limbs that have several valleys each, and terms that count examples.
#[test]
fn newton_finds_the_best_of_many_valleys() {
    let body = Body::new(PoseSet::Limbs);
    let space = body.space();
    let targets = [
        body.target(&space, "hand.L", [-0.1, 0.4, 0.25]),
        body.target(&space, "hand.R", [0.15, -0.15, 0.1]),
        body.target(&space, "foot.L", [0.05, 0.1, 0.25]),
        body.target(&space, "foot.R", [-0.15, 0.05, -0.1]),
    ];
    for objective in ["dtt", "dtt+omsow", "dtt+omsow+neu(2)", "dtt+omsow+now"] {
        let energy = |optimiser| {
            let objective = objective.parse().unwrap();
            let params = SearchParams {
                optimiser,
                objective,
                rounds: 60,
                multi_start: true,
                ..SearchParams::default()
            };
            space.search(&targets, &params, &Start::default()).unwrap().energy
        };
        let ours = energy(Optimiser::Newton);
        for optimiser in Optimiser::ALL {
            let theirs = energy(optimiser);
            assert!(ours <= theirs * 1.000_001, "{objective}: {ours}, {} {theirs}", optimiser.name());
        }
    }
}

#[test]
fn one_example_is_enough() {
    let body = Body::new(PoseSet::Walk);
    let space = body.space_in(vec![0]);
    let target = body.target(&space, "foot.L", [0.0, 0.05, 0.2]);
    for params in all_params() {
        let found = space
            .search(&[target], &SearchParams { multi_start: true, ..params }, &Start::default())
            .unwrap();
        assert!(found.weights.len() == 1 && (0.0..=1.0).contains(&found.weights[0]), "{:?}", found.weights);
    }
}

#[test]
fn an_example_s_own_places_are_met_by_that_example() {
    let body = Body::new(PoseSet::Limbs);
    let space = body.space();
    for (e, (name, moves)) in body.poses.iter().enumerate() {
        let pose = HandlePose::from_moves(&body.character.mesh, &body.handles, moves).unwrap();
        let grips = space.grips(&pose);
        let targets: Vec<_> = grips
            .iter()
            .enumerate()
            .map(|(handle, p)| Target { handle, position: *p, is_pinned: false })
            .collect();
        let params = SearchParams { multi_start: true, ..SearchParams::default() };
        let found = space.search(&targets, &params, &Start::default()).unwrap();
        assert!(found.energy < 1e-3, "{name}: {}", found.energy);
        for (other, weight) in found.weights.iter().enumerate() {
            let expected = f64::from(u8::from(other == e));
            assert!((weight - expected).abs() < 1e-2, "{name}: weight {weight} of {}", body.poses[other].0);
        }
    }
}

#[test]
fn turning_and_scaling_the_world_does_not_change_the_weights() {
    let body = Body::new(PoseSet::Walk);
    let (turn, scale) = (DQuat::from_axis_angle(DVec3::new(1.0, 2.0, 0.5).normalize(), 1.1), 37.0);
    let there = |p: DVec3| turn * p * scale + DVec3::new(5.0, -3.0, 2.0);
    let mesh = Mesh::new(
        body.character.mesh.positions().iter().map(|p| there(*p)).collect(),
        body.character.mesh.faces().to_vec(),
    )
    .unwrap();
    let mut handles = body.handles.handles().to_vec();
    handles.iter_mut().for_each(|h| h.center = there(h.center));
    let moved = |step: &Move| match step.clone() {
        Move::Rotate { main, handles, axis, radians } => {
            Move::Rotate { main, handles, axis: turn * axis, radians }
        }
        Move::Translate { handles, vector } => Move::Translate { handles, vector: turn * vector * scale },
        twist => twist,
    };
    let poses: Vec<(String, Vec<Move>)> =
        body.poses.iter().map(|(name, moves)| (name.clone(), moves.iter().map(moved).collect())).collect();
    let set = HandleSet::new(&mesh, &handles, &mut Warnings::default()).unwrap();
    let examples: Vec<_> = poses.iter().map(|(name, moves)| ExamplePose { name, moves }).collect();
    let other = PoseSpace::new(&mesh, &set, &examples).unwrap();
    let space = body.space();
    // The unit is that of an upright box, which a turn changes; energies are compared in the same one.
    let other = PoseSpace { unit: space.unit * scale, ..other };
    let targets =
        [body.target(&space, "foot.L", [0.0, 0.1, 0.2]), body.target(&space, "hand.L", [0.0, -0.1, 0.1])];
    let far: Vec<_> = targets.iter().map(|t| Target { position: there(t.position), ..*t }).collect();
    for optimiser in Optimiser::ALL {
        let params = SearchParams { optimiser, ..SearchParams::default() };
        let a = space.search(&targets, &params, &Start::default()).unwrap();
        let b = other.search(&far, &params, &Start::default()).unwrap();
        assert!((a.energy - b.energy).abs() < 1e-6, "{}: {} {}", optimiser.name(), a.energy, b.energy);
    }
}

#[test]
fn residual_motion_reaches_beyond_the_examples_and_keeps_pins() {
    let body = Body::new(PoseSet::Walk);
    let space = body.space();
    let mut targets =
        vec![body.target(&space, "hand.L", [0.0, 0.12, 0.1]), body.target(&space, "foot.R", [0.0; 3])];
    targets[1].is_pinned = true;
    let params = SearchParams { residual: true, ..SearchParams::default() };
    let plain = SearchParams::default();
    let without = space.search(&targets, &plain, &Start::default()).unwrap();
    let with = space.search(&targets, &params, &Start::default()).unwrap();
    assert!(without.target_errors(&targets)[1] > 0.02, "the examples alone should not reach it");
    assert!(with.target_errors(&targets)[1] < 1e-6, "missed by {:?}", with.target_errors(&targets));
    // What was found is what the pose does.
    let grips = space.grips(&space.pose_of(&with, &params));
    assert!(grips.iter().zip(&with.grips).all(|(a, b)| a.distance(*b) < 1e-9));
    // Far out of reach: the nearest pose, finite, and reported as missing the target.
    targets[0].position += DVec3::Y * 50.0;
    let far = space.search(&targets, &params, &Start::default()).unwrap();
    assert!(far.grips.iter().all(|p| p.is_finite()));
    let missed = far.target_errors(&targets)[1];
    assert!((48.0..51.0).contains(&missed), "{missed}");
}

#[test]
fn keyframes_go_straight_from_example_to_example() {
    let body = Body::new(PoseSet::Walk);
    let space = body.space();
    let frames = space.keyframes(&[0, 3, 5], 1.0, 2.0).unwrap();
    let expected = [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.5, 0.5], [0.0, 0.0, 1.0]];
    assert_eq!(frames.len(), expected.len());
    for ((weights, _), expected) in frames.iter().zip(expected) {
        assert_eq!([weights[0], weights[3], weights[5]], expected);
    }
    assert!(space.keyframes(&[], 1.0, 2.0).is_err() && space.keyframes(&[99], 1.0, 2.0).is_err());
    assert_eq!(space.keyframes(&[1], 1.0, 30.0).unwrap().len(), 1);
}

fn walk_over(ground: Ground) -> Vec<MotionFrame> {
    let body = Body::new(PoseSet::Walk);
    let space = body.space();
    let feet = ["foot.L", "foot.R"].map(|name| space.find_handle(name).unwrap());
    let walk = Walk { line: vec![[0.0, 0.0], [0.0, 6.0]], stride: 0.6, secs: 1.2, lift: 0.06, stance: 0.5 };
    let (paths, way) = plan_walk(&walk, feet.map(|h| space.rest_grips()[h]), &ground).unwrap();
    let tracks = feet
        .into_iter()
        .zip(paths)
        .map(|(handle, path)| Track { handle, path, is_pinned: true, carries: true })
        .collect();
    let course = Course { tracks, way: Some(way), ground: Some(ground), abrupt: false };
    let params =
        SearchParams { residual: true, objective: Objective::for_motion(), ..SearchParams::default() };
    let mut frames = Vec::new();
    space
        .follow(&course, &params, 30.0, &mut |_, _, frame| {
            frames.push(frame.clone());
            ControlFlow::Continue(())
        })
        .unwrap();
    frames
}

#[test]
fn a_walk_over_hills_reaches_its_footprints_and_does_not_jump() {
    for ground in [Ground::default(), Ground::Hills { height: 0.3, length: 3.0 }] {
        let frames = walk_over(ground.clone());
        let errors: Vec<f64> = frames.iter().map(|f| f.found.target_errors(&f.targets)[0]).collect();
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        assert!(mean < 0.01 * 1.7, "{ground:?}: feet miss by {mean} m on average");
        let grips: Vec<Vec<DVec3>> = frames.iter().map(MotionFrame::world_grips).collect();
        let mut jumps: Vec<f64> = grips
            .windows(2)
            .flat_map(|pair| pair[0].iter().zip(&pair[1]).map(|(a, b)| a.distance(*b)).collect::<Vec<_>>())
            .collect();
        jumps.sort_by(f64::total_cmp);
        let (median, most) = (jumps[jumps.len() / 2], jumps[jumps.len() - 1]);
        assert!(most < 3.0 * median, "{ground:?}: a jump of {most} m, median {median} m");
    }
}

#[test]
fn what_makes_no_sense_is_refused_by_name() {
    let body = Body::new(PoseSet::First);
    let space = body.space();
    let none = PoseSpace::new(&body.character.mesh, &body.handles, &[]);
    assert!(none.unwrap_err().to_string().contains("no example"));
    let wrong = [Move::Translate { handles: vec!["wing".into()], vector: DVec3::X }];
    let unknown = [ExamplePose { name: "fly", moves: &wrong }];
    let error = PoseSpace::new(&body.character.mesh, &body.handles, &unknown).unwrap_err().to_string();
    assert!(error.contains("\"fly\"") && error.contains("\"wing\""), "{error}");
    assert!(space.find_handle("tail").unwrap_err().to_string().contains("hand.L"));
    let target = |handle, x| Target { handle, position: DVec3::X * x, is_pinned: false };
    let search = |target, params: &SearchParams| space.search(&[target], params, &Start::default());
    let plain = SearchParams::default();
    assert!(search(target(0, f64::NAN), &plain).is_err());
    assert!(search(target(99, 0.0), &plain).is_err());
    assert!(search(target(0, 0.0), &SearchParams { limits: [1.0, 0.0], ..plain.clone() }).is_err());
    assert!(search(target(0, 0.0), &SearchParams { local: Some(0.0), ..plain.clone() }).is_err());
    // A search without targets is valid.
    assert!(space.search(&[], &plain, &Start::default()).is_ok());
    // A path of one point, and nothing to follow.
    let still = Path::new(vec![DVec3::Y], vec![0.0]).unwrap();
    let track = Track { handle: 0, path: still, is_pinned: false, carries: true };
    let course = Course { tracks: vec![track], ..Course::default() };
    let mut count = 0;
    let mut each = |_: usize, _: usize, _: &MotionFrame| {
        count += 1;
        ControlFlow::Continue(())
    };
    space.follow(&course, &plain, 30.0, &mut each).unwrap();
    assert_eq!(count, 1);
    assert!(
        space.follow(&Course::default(), &plain, 30.0, &mut |_, _, _| ControlFlow::Continue(())).is_err()
    );
    assert!(space.follow(&course, &plain, 0.0, &mut |_, _, _| ControlFlow::Continue(())).is_err());
    let stopped = space.follow(&course, &plain, 30.0, &mut |_, _, _| ControlFlow::Break(()));
    assert_eq!(stopped.unwrap_err(), crate::DeformError::Cancelled);
}
