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
    let pairs = skeleton.freedoms().iter().zip(values);
    pairs.clone().all(|(freedom, value)| (freedom.range[0] - 1e-9..=freedom.range[1] + 1e-9).contains(value))
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
    // research/rules.md §3: distances found by IPOPT and SNOPT.
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
        let n = skeleton.n_freedoms();
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
                    for &(row, freedom, derivative) in &symbolic.jacobian {
                        full[row * n + freedom] = symbolic.arena.evaluate(derivative, &start);
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
    for freedom in 0..n {
        let mut at = |nudge: f64| {
            let mut moved = start.to_vec();
            moved[freedom] += nudge;
            solver.evaluate(&moved).unwrap().0
        };
        let (high, low) = (at(1e-6), at(-1e-6));
        for row in 0..high.len() {
            let difference = (high[row] - low[row]) / 2e-6;
            let exact = jacobian[row * n + freedom];
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
