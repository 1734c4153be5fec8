//! Optimisation: the minimiser, gradients, dragging.

use super::bar;
use crate::{
    BodyPoint, StaticSolver, find_rest,
    muscle::{Control, Guide, Muscle, MuscleEvaluator, MuscleSet, Template},
    muscle_fit::{Bounds, MinimiseParams, TemplateFitParams, TemplateFitter, minimise},
};
use glam::{DQuat, DVec3};

#[test]
fn rosenbrock_within_bounds_and_without() {
    let value = |x: &[f64], slope: &mut [f64]| {
        let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
        slope[0] = -2.0 * a - 400.0 * x[0] * b;
        slope[1] = 200.0 * b;
        a * a + 100.0 * b * b
    };
    let params = MinimiseParams { gain: 1e-14, rounds: 500, ..MinimiseParams::default() };
    let mut x = [-1.2, 1.0];
    let report = minimise(&mut x, &Bounds::default(), &params, value);
    assert!(report.converged && (x[0] - 1.0).abs() < 1e-4 && (x[1] - 1.0).abs() < 1e-4, "{x:?} {report:?}");
    // With x ≤ 0.5 the least value lies on that bound, at y = x².
    let mut x = [-1.2, 1.0];
    let bounds = Bounds { low: vec![-2.0, -2.0], high: vec![0.5, 2.0] };
    minimise(&mut x, &bounds, &params, value);
    assert!((x[0] - 0.5).abs() < 1e-9 && (x[1] - 0.25).abs() < 1e-4, "{x:?}");
}

#[test]
fn many_variables() {
    // A chain of springs between held ends, one of them pressed against a bound.
    let n = 300;
    let mut x = vec![0.0; n];
    let bounds =
        Bounds { low: vec![-1.0; n], high: (0..n).map(|i| if i == 150 { 0.2 } else { 9.0 }).collect() };
    let params = MinimiseParams { rounds: 2000, gain: 1e-13, ..MinimiseParams::default() };
    let report = minimise(&mut x, &bounds, &params, |x, slope| {
        slope.fill(0.0);
        let mut value = 0.0;
        for i in 0..=n {
            let low = if i == 0 { 0.0 } else { x[i - 1] };
            let high = if i == n { 1.0 } else { x[i] };
            value += (high - low) * (high - low);
            if i > 0 {
                slope[i - 1] -= 2.0 * (high - low);
            }
            if i < n {
                slope[i] += 2.0 * (high - low);
            }
        }
        value
    });
    assert!(report.converged, "{report:?}");
    assert!((x[150] - 0.2).abs() < 1e-9 && (x[75] - 0.2 * 76.0 / 151.0).abs() < 1e-3, "{} {}", x[150], x[75]);
}

fn point(cell: u32, local: DVec3) -> BodyPoint {
    BodyPoint { cell, weights: crate::lattice::trilinear(local) }
}

/// The bar of the issue: 1e-6.
#[test]
fn the_adjoint_gradient_matches_differences() {
    let bar = bar();
    let statics = StaticSolver::new(&bar.solver, &bar.state, &bar.input).unwrap();
    let points = [point(35, DVec3::new(0.3, 1.0, 0.4)), point(94, DVec3::new(0.5, 0.2, 0.9))];
    let turn = vec![DQuat::from_rotation_y(0.4); bar.lattice.n_nodes()];
    let guides = [
        (Guide::Bone { joint: "b".into(), ends: [DVec3::ZERO, DVec3::X] }, vec![0.45, 0.05, 0.3]),
        (Guide::Skin { point: DVec3::new(0.52, 0.2, 0.03), normal: DVec3::Y }, vec![-0.05, 0.2]),
        (Guide::Free, vec![0.5, 0.06, -0.04, 0.3, -0.2, 0.5]),
    ];
    for template in Template::ALL {
        for (guide, rest) in &guides {
            let mut eta = vec![4e4, 0.21, 0.13][..template.parameters().len()].to_vec();
            eta.extend(rest);
            let fitter =
                TemplateFitter::new(&statics, &bar.lattice, (template, guide), &points, &turn).unwrap();
            let wanted = [DVec3::new(0.01, 0.03, 0.0), DVec3::new(0.0, -0.01, 0.02)];
            let mut slope = vec![0.0; eta.len()];
            let value = fitter.cost(&eta, &wanted, &mut slope);
            for at in 0..eta.len() {
                let h = 1e-5 * eta[at].abs();
                let moved = |by: f64| {
                    let mut eta = eta.clone();
                    eta[at] += by;
                    fitter.cost(&eta, &wanted, &mut vec![0.0; eta.len()])
                };
                // Fourth order, so that the difference itself is as exact as is asked for.
                let difference =
                    (8.0 * (moved(h) - moved(-h)) - (moved(2.0 * h) - moved(-2.0 * h))) / (12.0 * h);
                let size = slope[at].abs().max(value / eta[at].abs() * 1e-2);
                let off = (slope[at] - difference).abs() / size;
                assert!(off < 1e-6, "{template:?} {} {at}: {} {difference} {off}", guide.name(), slope[at]);
            }
        }
    }
}

/// Forces and displacements correspond: what the solver says is what the simulation comes to rest at.
#[test]
fn a_drag_is_followed_by_the_simulated_body() {
    let mut bar = bar();
    let statics = StaticSolver::new(&bar.solver, &bar.state, &bar.input).unwrap();
    let guide = Guide::Skin { point: DVec3::new(0.5, 0.2, 0.0), normal: DVec3::Y };
    let at = point(54, DVec3::new(0.99, 0.99, 0.99));
    let base = at.evaluate(&bar.lattice, bar.lattice.nodes());
    let target = base + DVec3::new(0.0, 0.02, 0.0);
    let fitter = TemplateFitter::new(&statics, &bar.lattice, (Template::Bump, &guide), &[at], &[]).unwrap();
    let found =
        fitter.fit(&[1.0, 0.2, -0.05, 0.0], &[base], &[target], &TemplateFitParams::default()).unwrap();
    assert!(found.distance < 1e-4 && found.eta[0] > 0.0, "{found:?}");
    // Kept parameters stay.
    let keep = TemplateFitParams { keep: Some(vec![0.0, f64::INFINITY, f64::INFINITY, 1.0]), rounds: 40 };
    let kept = fitter.fit(&[1.0, 0.2, -0.05, 0.0], &[base], &[target], &keep).unwrap();
    assert!(kept.eta[1] == 0.2 && kept.eta[2] == -0.05 && kept.distance < 1e-4, "{kept:?}");
    let muscle = Muscle::template("bump", "c", Template::Bump, guide.clone(), found.eta.clone());
    let set = MuscleSet { controls: vec![Control::free("c")], muscles: vec![muscle] };
    let mut evaluator = MuscleEvaluator::new(&set, &bar.lattice).unwrap();
    evaluator.forces(&bar.lattice, &[1.0], &[], &mut bar.input.forces).unwrap();
    let report = find_rest(&mut bar.solver, &mut bar.state, &bar.input, (60, 1e-5)).unwrap();
    let reached = at.evaluate(&bar.lattice, &bar.state.positions);
    // Cells turn a little, which the linear fit does not know.
    assert!(report.converged && reached.distance(target) < 0.1 * 0.02, "{report:?} {reached} {target}");
}

#[test]
fn dragging_with_a_template_elsewhere_is_reported() {
    let bar = bar();
    let statics = StaticSolver::new(&bar.solver, &bar.state, &bar.input).unwrap();
    let at = point(54, DVec3::splat(0.5));
    let fitter =
        TemplateFitter::new(&statics, &bar.lattice, (Template::Bump, &Guide::Free), &[at], &[]).unwrap();
    let far = [1.0, 0.1, 7.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let error = fitter.fit(&far, &[DVec3::ZERO], &[DVec3::Y], &TemplateFitParams::default()).unwrap_err();
    assert!(error.to_string().contains("where there is no flesh"), "{error}");
}
