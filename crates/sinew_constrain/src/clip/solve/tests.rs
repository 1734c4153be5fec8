//! Gradients and rounds of the solver of clips.

use super::*;
use crate::clip::{
    corrections::CorrectionKind,
    tests::{rules, walk, walker},
};
use sinew_geom::path::Ground;

/// Rules of every kind.
const RULES: &str = "distance LeftHand RightHand >= 90 cm\naim LeftArm -> LeftHand along (0, 0, 1)\n\
    sqrt(LeftHand.y * RightHand.y) = 120 cm\nlook LeftHand at RightHand\n\
    limit velocity(LeftHand) <= 30 cm/s\nlimit acceleration(Hips) <= 1 m/s2\n\
    maximize RightHand.y\nminimize distance(LeftHand, RightFoot)";

/// Four frames of a walker half in a slope, with points to hold and to follow, and rules.
fn with_problem(text: &str, run: impl FnOnce(&ClipProblem)) {
    let rig = walker(1.0);
    let base: Vec<Pose> = walk(30.0, 1.0, 0.0).poses[..4].to_vec();
    let worlds: Vec<JointFrames> = base.iter().map(|pose| JointFrames::of(&rig, pose)).collect();
    let find = |name: &str| rig.find(name).unwrap();
    let free = [
        (find("Hips"), CorrectionKind::Shift),
        (find("Hips"), CorrectionKind::Ball),
        (find("LeftUpLeg"), CorrectionKind::Ball),
        (find("LeftLeg"), CorrectionKind::Hinge(DVec3::X)),
        (find("LeftArm"), CorrectionKind::Ball),
    ];
    let joints = ["LeftFoot", "RightFoot", "LeftHand", "RightHand"].map(find);
    let corrections = Corrections::new(&rig, &free, &joints);
    let goal = |joint: usize, is_held: bool| PointGoal {
        joint,
        local: DVec3::new(0.02, -0.06, 0.1),
        target: DVec3::new(0.1, 0.02, 0.3),
        is_held,
        give: 1.0,
        depth: 0.0,
    };
    let goals = vec![vec![goal(joints[0], true), goal(joints[1], false)]; 4];
    let rules = rules(&rig, text);
    let site = PlacedGround::of(Ground::Slope(10.0));
    let n = corrections.n;
    let (low, high) = (vec![f64::NEG_INFINITY; 4 * n], vec![f64::INFINITY; 4 * n]);
    run(&ClipProblem {
        rig: &rig,
        base: &base,
        worlds: &worlds,
        corrections: &corrections,
        goals: &goals,
        touching: &vec![Vec::new(); 4],
        site: Some(&site),
        rules: &rules,
        active: &vec![(0..rules.len()).collect(); 4],
        segments: std::slice::from_ref(&(0..4)),
        unit: 1.0,
        fps: 30.0,
        low: &low,
        high: &high,
        bias: &vec![2.0; n],
        smooth: &vec![0.1; n],
        slow: &vec![0.3; n],
    });
}

const STAGE: Stiffness = Stiffness { held: 0.03, free: 0.1, ground: 0.05, rounds: 40 };

#[test]
fn the_gradient_is_that_of_the_sum_of_squares() {
    with_problem(RULES, |problem| {
        let n = problem.corrections.n;
        let mut solver = ClipSolver::new(problem);
        let x: Vec<f64> = (0..4 * n).map(|i| 0.1 * ((i * 37 % 19) as f64 / 9.0 - 1.0)).collect();
        solver.assemble(problem, &STAGE, &x);
        let gradient = solver.gradient.clone();
        for i in 0..4 * n {
            let mut at = |by: f64| {
                let mut moved = x.clone();
                moved[i] += by;
                solver.assemble(problem, &STAGE, &moved)
            };
            // The sum is of the order of 1e9: a shorter step would be lost in rounding.
            let expected = (at(1e-5) - at(-1e-5)) / 4e-5;
            let scale = 1.0 + expected.abs();
            assert!((expected - gradient[i]).abs() < 1e-5 * scale, "{i}: {expected} {}", gradient[i]);
        }
    });
}

/// Rules with edges and objectives make the last rounds slow. Where it stops, all that forty more attempts find
/// is less than what a single round must gain.
#[test]
fn rounds_lower_the_sum_until_little_is_gained() {
    with_problem(RULES, |problem| {
        let n = problem.corrections.n;
        let mut solver = ClipSolver::new(problem);
        let mut x = vec![0.0; 4 * n];
        let first = solver.assemble(problem, &STAGE, &x);
        let mut go_on = |_| ControlFlow::Continue(());
        let rounds = solver.solve(problem, &STAGE, &mut x, &mut go_on).unwrap();
        let reached = solver.assemble(problem, &STAGE, &x);
        assert!(rounds < STAGE.rounds && reached < 0.012 * first, "{rounds}: {reached} of {first}");
        let mut last = reached;
        for _ in 0..40 {
            solver.solve(problem, &STAGE, &mut x, &mut go_on).unwrap();
            let next = solver.assemble(problem, &STAGE, &x);
            assert!(next <= last, "{last} rises to {next}");
            last = next;
        }
        assert!(reached - last < MIN_GAIN * reached, "{reached} {last}");
        let mut stop = |_| ControlFlow::Break(());
        assert_eq!(solver.solve(problem, &STAGE, &mut x, &mut stop), Err(ConstrainError::Cancelled));
    });
}

/// Without rules the sum has no edges, and the gradient goes to zero.
#[test]
fn the_gradient_vanishes() {
    with_problem("", |problem| {
        let n = problem.corrections.n;
        let mut solver = ClipSolver::new(problem);
        let mut x = vec![0.0; 4 * n];
        let slope = |solver: &mut ClipSolver, x: &[f64]| {
            solver.assemble(problem, &STAGE, x);
            solver.gradient.iter().fold(0.0f64, |worst, g| worst.max(g.abs()))
        };
        let first = slope(&mut solver, &x);
        let mut go_on = |_| ControlFlow::Continue(());
        let mut slopes = Vec::new();
        for _ in 0..20 {
            solver.solve(problem, &STAGE, &mut x, &mut go_on).unwrap();
            slopes.push(slope(&mut solver, &x) / first);
        }
        assert!(slopes.last().is_some_and(|last| *last < 1e-6), "{slopes:?}");
    });
}
