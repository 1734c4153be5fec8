use super::{thesis::*, *};
use crate::{
    Skeleton,
    compile::{CompileParams, Problem, has_errors},
    language::{Diagnostic, parse},
};

fn compiled(text: &str, skeleton: &Skeleton, params: &CompileParams) -> (Problem, Vec<Diagnostic>) {
    let (script, diagnostics) = parse(text);
    assert_eq!(diagnostics, [], "{text}");
    Problem::new(&script, skeleton, &scene(), params)
}

fn solver(text: &str, skeleton: &Skeleton) -> Solver {
    let (problem, diagnostics) = compiled(text, skeleton, &CompileParams::default());
    assert!(!has_errors(&diagnostics), "{diagnostics:?}");
    Solver::new(problem)
}

fn within_ranges(skeleton: &Skeleton, values: &[f64]) -> bool {
    let pairs = skeleton.dofs().iter().zip(values);
    pairs.clone().all(|(dof, value)| (dof.range[0] - 1e-9..=dof.range[1] + 1e-9).contains(value))
}

/// All subsets of cases that the tests look at: each alone, 5 and 6, all.
const SUBSETS: [&[usize]; 9] =
    [&[1], &[2], &[3], &[4], &[5], &[6], &[5, 6], &[1, 2, 3, 4, 5], &[1, 2, 3, 4, 5, 6]];

#[test]
fn every_case_is_solved_alone_and_together_from_near_and_far() {
    for turns in [false, true] {
        let skeleton = skeleton(turns);
        for cases in SUBSETS {
            let mut solver = solver(&text(cases), &skeleton);
            for start in [near(&skeleton), far(&skeleton), skeleton.rest_values()] {
                let solution = solver.solve(&start, &SolveParams::default()).unwrap();
                let report = &solution.report;
                assert_eq!(report.stop, Stop::Converged, "{cases:?} {turns} {report:?}");
                assert!(
                    report.rules.iter().all(|rule| rule.holds && rule.residual < 1e-4),
                    "{cases:?} {report:?}"
                );
                assert!(within_ranges(&skeleton, &solution.values), "{cases:?}");
                assert_eq!(report.conflicts, []);
            }
        }
    }
}

#[test]
fn a_hundred_random_starts_converge_within_ranges() {
    for turns in [false, true] {
        let skeleton = skeleton(turns);
        let mut solver = solver(&text(&[1, 2, 3, 4, 5, 6]), &skeleton);
        for start in random(&skeleton, 100) {
            let params = SolveParams { nearest: false, ..SolveParams::default() };
            let solution = solver.solve(&start, &params).unwrap();
            assert_eq!(solution.report.stop, Stop::Converged, "{turns}");
            assert!(within_ranges(&skeleton, &solution.values));
        }
    }
}

#[test]
fn the_nearest_pose_is_that_of_ipopt() {
    // Distances found by IPOPT and SNOPT.
    for (turns, expected) in [(false, [0.8213, 3.3122]), (true, [0.6788, 2.4672])] {
        let skeleton = skeleton(turns);
        let mut solver = solver(&text(&[1, 2, 3, 4, 5, 6]), &skeleton);
        for (start, expected) in [near(&skeleton), far(&skeleton)].iter().zip(expected) {
            let report = solver.solve(start, &SolveParams::default()).unwrap().report;
            assert!((report.distance / expected - 1.0).abs() < 0.01, "{} {expected}", report.distance);
        }
    }
}

#[test]
fn the_head_is_as_high_as_ipopt_makes_it() {
    for (turns, expected) in [(false, 1.8348), (true, 1.8507)] {
        let skeleton = skeleton(turns);
        let text = format!("{}maximize HeadTop.y priority 2\n", text(&[1, 2, 3, 4, 5, 6]));
        let mut solver = solver(&text, &skeleton);
        let solution = solver.solve(&near(&skeleton), &SolveParams::default()).unwrap();
        let height = solution.report.rules.last().unwrap().residual;
        assert_eq!(solution.report.stop, Stop::Converged);
        assert!(within_ranges(&skeleton, &solution.values));
        assert!((height - expected).abs() < 5e-4, "{height} {expected}");
    }
}

#[test]
fn symbolic_and_hybrid_derivatives_agree_with_each_other_and_with_differences() {
    let extra = "plane Middle = through Root normal HipR -> HipL\nparallel ShoulderL -> ShoulderR with HipL -> HipR\n\
        perpendicular Root -> Spine to AnkleL -> AnkleR\nratio FootL FootR to HipL HipR = 2\n\
        angle ShoulderL ElbowL WristL >= 60 deg\nmidpoint Root of AnkleL AnkleR\nhalfway Head between WristL WristR\n\
        flat FootL on Floor\nlook Head at BoxMarker1\nmirror WristL with WristR across Middle\n\
        over centre() FootL, MiddleToeL, MiddleToeR, FootR\nput FootL behind FootR by >= 10 cm toward FloorMarker2\n\
        above toes(L), toes(R) Floor\nput WristL above Middle by 3 cm\nsin(KneeL.rx) * 2 m = HeadTop.y - Root.ty / 2\n\
        abs(HeadTop.x) + sqrt(dot(HeadTop - Root, HeadTop - Root)) <= 90 cm weight 3\nmaximize tan(KneeR.rx / 4) ^ 3 + 2 ^ 2\n\
        atan2(HeadTop.x, HeadTop.y) = 3 deg\n";
    for turns in [false, true] {
        let skeleton = skeleton(turns);
        let n = skeleton.n_dofs();
        for rewrite in [true, false] {
            for text in [text(&[1, 2, 3, 4, 5, 6]) + extra, THESIS.to_owned()] {
                let (problem, diagnostics) =
                    compiled(&text, &skeleton, &CompileParams { rewrite, frame: None });
                assert!(!has_errors(&diagnostics), "{diagnostics:?}");
                let symbolic = problem.symbolic();
                let mut solver = Solver::new(problem);
                for start in random(&skeleton, 5) {
                    let (f, jacobian) = solver.evaluate(&start).unwrap();
                    assert_eq!(f.len(), symbolic.equations.len());
                    for (row, &equation) in symbolic.equations.iter().enumerate() {
                        let value = symbolic.arena.evaluate(equation, &start);
                        assert!((value - f[row]).abs() < 1e-12 * (1.0 + value.abs()), "row {row}");
                    }
                    let mut full = vec![0.0; jacobian.len()];
                    for &(row, dof, derivative) in &symbolic.jacobian {
                        full[row * n + dof] = symbolic.arena.evaluate(derivative, &start);
                    }
                    for (a, b) in full.iter().zip(&jacobian) {
                        assert!((a - b).abs() < 1e-10 * (1.0 + a.abs()), "{a} {b}");
                    }
                    check_differences(&mut solver, &start, &jacobian);
                }
            }
        }
    }
}

fn check_differences(solver: &mut Solver, start: &[f64], jacobian: &[f64]) {
    let n = start.len();
    for dof in 0..n {
        let mut at = |nudge: f64| {
            let mut moved = start.to_vec();
            moved[dof] += nudge;
            solver.evaluate(&moved).unwrap().0
        };
        let (high, low) = (at(1e-6), at(-1e-6));
        for row in 0..high.len() {
            let difference = (high[row] - low[row]) / 2e-6;
            let exact = jacobian[row * n + dof];
            assert!(
                (difference - exact).abs() < 1e-6 * (1.0 + exact.abs()),
                "row {row}: {difference} {exact}"
            );
        }
    }
}

#[test]
fn arms_are_independent_of_legs() {
    let skeleton = skeleton(false);
    assert_eq!(solver(&text(&[1, 2, 3, 4, 5, 6]), &skeleton).n_groups(), 2);
    assert_eq!(solver(&text(&[1, 3]), &skeleton).n_groups(), 2);
    assert_eq!(solver(&text(&[1, 4]), &skeleton).n_groups(), 1);
}

#[test]
fn every_kind_of_rule_is_solved_alone() {
    let head = "plane Floor = through StepMarker normal FloorNormal1 -> FloorNormal2\n\
        plane Middle = through (0, 0, 0) cm normal (1, 0, 0)\nplane Ceiling = through (0, 170, 0) normal (0, 1, 0)\n\
        line Rail = through BoxMarker1 along BoxMarker1 -> BoxMarker2\nnumber step = 40 cm\nvector ahead = (0, 0, 1)\n";
    let rules = [
        "pin WristL to BoxMarker2",
        "put WristL on Rail",
        "put FootL on Floor",
        "put WristL above Floor by >= 120 cm",
        "put WristL below Floor by >= -50 cm",
        "put FootL behind FootR by >= 30 cm toward ahead",
        "put FootL beyond FootR by 20 cm toward FloorMarker2",
        "above toes(L), toes(R) Floor",
        "below HeadTop, WristL Ceiling",
        "aim ElbowL -> WristL along BoxMarker1 -> BoxMarker2",
        "parallel ShoulderL -> ShoulderR with BoxMarker2 -> BoxMarker1",
        "perpendicular HipL -> KneeL to HipR -> KneeR",
        "distance WristL WristR <= 20 cm",
        "distance FootL FootR >= 70 cm",
        "ratio FootL FootR to HipL HipR = 2.5",
        "angle ShoulderL ElbowL WristL = 60 deg",
        "angle Root -> Spine and ahead <= 80 deg",
        "midpoint WristL of BoxMarker1 BoxMarker2",
        "halfway WristR between BoxMarker1 BoxMarker2",
        "flat FootL on Floor",
        "look Root at BoxMarker1",
        "mirror WristL with WristR across Middle",
        "over centre() FootL, MiddleToeL, MiddleToeR, FootR by 1 cm",
        "clear ElbowL WristL from ElbowR WristR by >= 45 cm",
        "distance(FootL, FootR)^2 = step^2",
        "sin(KneeL.rx) = 0.5",
        "KneeR.rx + KneeL.rx = 80",
        "HeadTop.y = 1.7 m",
        "cross(ElbowL -> WristL, ahead) = 0",
        "WristL - WristR = (30, 0, 0) cm",
    ];
    let skeleton = skeleton(true);
    for rule in rules {
        let mut solver = solver(&format!("{head}{rule}\n"), &skeleton);
        for start in [near(&skeleton), far(&skeleton)] {
            let solution = solver.solve(&start, &SolveParams::default()).unwrap();
            assert_eq!(solution.report.stop, Stop::Converged, "{rule}: {:?}", solution.report);
            assert!(within_ranges(&skeleton, &solution.values), "{rule}");
            let (_, jacobian) = solver.evaluate(&start).unwrap();
            check_differences(&mut solver, &start, &jacobian);
        }
    }
}

#[test]
fn a_start_in_gimbal_lock_is_left() {
    let skeleton = skeleton(true);
    let mut start = near(&skeleton);
    for dof in 0..start.len() {
        if skeleton.dof_name(dof).ends_with(".ry") {
            start[dof] = std::f64::consts::FRAC_PI_2;
        }
    }
    let params = SolveParams { ranges: false, ..SolveParams::default() };
    let solution = solver(&text(&[1, 2, 3, 4, 5, 6]), &skeleton).solve(&start, &params).unwrap();
    assert_eq!(solution.report.stop, Stop::Converged);
}

#[test]
fn bones_without_length_have_no_direction_and_harm_nothing() {
    use glam::DVec3;
    use sinew_geom::{Joint, Rig, Transform};
    let joints = vec![
        Joint::new("A", None, Transform::IDENTITY),
        Joint::new("B", Some(0), Transform::IDENTITY),
        Joint::new("C", Some(1), Transform::from_translation(DVec3::Y)),
    ];
    let skeleton = Skeleton::from_rig(&Rig::new(joints).unwrap()).unwrap();
    let (problem, diagnostics) = compiled(
        "aim A -> B along A -> C\ndistance A B = 0 cm\npin C to (10, 20, 30) cm\n",
        &skeleton,
        &CompileParams::default(),
    );
    assert!(diagnostics[0].message.contains("no length"), "{diagnostics:?}");
    let mut solver = Solver::new(problem);
    let solution = solver.solve(&skeleton.rest_values(), &SolveParams::default()).unwrap();
    assert_eq!(solution.report.stop, Stop::Converged, "{:?}", solution.report);
    assert!(solution.values.iter().all(|x| x.is_finite()));
}

#[test]
fn newton_is_as_the_thesis_found_it() {
    // It converges from a start near the solution, and leaves the ranges.
    let skeleton = skeleton(false);
    let params = SolveParams { method: Method::Newton, ..SolveParams::default() };
    let solution = solver(&text(&[1, 2, 3, 4, 5, 6]), &skeleton).solve(&near(&skeleton), &params).unwrap();
    assert_eq!(solution.report.stop, Stop::Converged);
    assert!(solution.report.iterations.feasible < 12 && !within_ranges(&skeleton, &solution.values));
    // Nothing solves a contradiction: it stops, and says how.
    let mut solver = solver("distance WristL ElbowL = 30 cm\n", &skeleton);
    let report = solver.solve(&near(&skeleton), &params).unwrap().report;
    assert!(matches!(report.stop, Stop::Stalled | Stop::Oscillating | Stop::IterationLimit), "{report:?}");
}

#[test]
fn redundant_rules_are_found_and_freedom_is_counted() {
    let skeleton = skeleton(false);
    let mut solver =
        solver("pin FootR to StepMarker\nFootR.x = -9 cm\ndistance FootL FootR = 40 cm\n", &skeleton);
    let report = solver.solve(&near(&skeleton), &SolveParams::default()).unwrap().report;
    assert_eq!((report.rank, report.free.len()), (4, 26));
    assert_eq!(report.redundant, [1]);
}

/// Of all compromises, the one nearest to the start, as if what cannot hold were asked to be off by as much.
#[test]
fn compromises_are_near_the_start() {
    let skeleton = skeleton(false);
    let start = near(&skeleton);
    let hard = "pin WristL to (30, 120, 30) cm\npin WristL to (30, 150, 30) cm";
    let found = solver(hard, &skeleton).solve(&start, &SolveParams::default()).unwrap();
    let wanted = "pin WristL to (30, 135, 30) cm";
    let wanted = solver(wanted, &skeleton).solve(&start, &SolveParams::default()).unwrap();
    assert_eq!(wanted.report.stop, Stop::Converged);
    assert!(found.report.conflicts.len() == 1 && (found.report.residual - 0.15).abs() < 1e-5);
    let (a, b) = (found.report.distance, wanted.report.distance);
    assert!((a - b).abs() < 1e-2 * b, "{a} {b}");
}

/// Rules on the ground: a slope is a plane, hills are what they are, and both sides of it.
#[test]
fn points_stand_on_the_ground() {
    use glam::DVec3;
    use sinew_geom::path::{Ground, PlacedGround};
    let skeleton = skeleton(true);
    let on = |text: &str, site: Option<PlacedGround>| {
        let (script, faults) = parse(text);
        assert_eq!(faults, []);
        let scene = crate::compile::Scene { ground: site, ..scene() };
        let (problem, found) = Problem::new(&script, &skeleton, &scene, &CompileParams::default());
        assert!(!has_errors(&found), "{found:?}");
        let mut solver = Solver::new(problem);
        let solution = solver.solve(&near(&skeleton), &SolveParams::default()).unwrap();
        assert_eq!(solution.report.stop, Stop::Converged, "{text}: {:?}", solution.report);
        let mut frames = crate::SkeletonFrames::default();
        crate::Kinematics::new(&skeleton).compute(&solution.values, &mut frames);
        let place = |name: &str| frames.positions[skeleton.find(name).unwrap()];
        (place("FootL"), place("FootR"), solution.report.distance)
    };
    let site = |ground: Ground| Some(PlacedGround { ground, origin: [0.1, 0.2], heading: 0.4 });
    // The slope as a plane: the same pose.
    let slope = site(Ground::Slope(15.0));
    let normal = {
        let (s, c) = 0.4f64.sin_cos();
        let rise = 15f64.to_radians().tan();
        DVec3::new(-rise * s, 1.0, -rise * c)
    };
    let plane = format!(
        "plane P = through (0.1, 0, 0.2) m normal ({}, {}, {})\nput FootL on P\nput FootR above P by >= 10 cm",
        normal.x, normal.y, normal.z
    );
    let a = on("put FootL on Ground\nput FootR above Ground by >= 10 cm", slope.clone());
    let b = on(&plane, None);
    let ground = slope.unwrap();
    assert!((a.0.y - ground.height(a.0.x, a.0.z)).abs() < 1e-5);
    assert!(a.1.y - ground.height(a.1.x, a.1.z) > 0.1 - 1e-5);
    // Heights over a slope are longer than distances from a plane; that is the only difference.
    assert!((a.2 - b.2).abs() < 0.05 * b.2.max(0.1), "{} {}", a.2, b.2);
    let hills = site(Ground::Hills { height: 0.3, length: 2.0 });
    let (left, right, _) = on("put FootL on Ground\nput FootR below Ground by = 5 cm", hills.clone());
    let ground = hills.unwrap();
    assert!((left.y - ground.height(left.x, left.z)).abs() < 1e-5);
    assert!((ground.height(right.x, right.z) - right.y - 0.05).abs() < 1e-5);
}

/// An objective without a minimum is refused with the reason; the pose stays where the rules hold.
#[test]
fn unbounded_objectives_are_refused() {
    let skeleton = skeleton(false);
    for (text, name) in [
        ("maximize HeadTop.y", "Root.ty"),
        ("pin FootR to StepMarker\nfree Head: rx\nmaximize Head.rx", "Head.rx"),
    ] {
        let mut solver = solver(&format!("range Root.ty in -100 m .. 1e12 m\n{text}"), &skeleton);
        let start = solver.problem().skeleton().rest_values();
        let solution = solver.solve(&start, &SolveParams::default()).unwrap();
        assert_eq!(solution.report.stop, Stop::Unbounded, "{text}");
        assert!(solution.values.iter().all(|x| x.abs() < 10.0), "{text}: {:?}", solution.values);
        let conflict = solution.report.conflicts.last().unwrap();
        let message = solver.describe_conflict(&solution.report, conflict);
        assert!(message.contains(name) && message.contains("no limit"), "{message}");
    }
}
