//! Templates, guides and their integrals.

use crate::{
    Lattice,
    muscle::{
        Control, Guide, Muscle, MuscleError, MuscleEvaluator, MuscleSet, MuscleShape, Samples, Template,
    },
    tests::noise3,
};
use glam::{DQuat, DVec3};
use std::f64::consts::PI;

fn b(r: f64, radius: f64) -> f64 {
    if r.abs() < radius { 0.5 + 0.5 * (PI * r / radius).cos() } else { 0.0 }
}

#[test]
fn closed_forms_of_the_thesis() {
    let (a, radius, ring) = (3.0, 0.7, 1.1);
    for k in 0..200 {
        let x = noise3(k) * 1.5;
        let r = x.length();
        let bump = Template::Bump.force(x, &[a, radius]);
        assert!(bump.distance(DVec3::Y * (a * b(r, radius))) < 1e-12);
        // Eq. 6.4 as printed, with the angle.
        let theta = (x.x / r).acos();
        let wave = if r < radius { b(r - radius / 2.0, radius / 2.0) } else { 0.0 };
        let bulge = Template::Bulge.force(x, &[a, radius]);
        assert!(bulge.distance(x / r * (a * (2.0 * theta).cos() * wave)) < 1e-12, "{x}");
        let radial = Template::Radial.force(x, &[a, radius]);
        assert!(radial.distance(x / r * (a * wave)) < 1e-12);
        let core = DVec3::new(x.x, 0.0, x.z).normalize() * ring;
        let d = x.distance(core);
        let wave = if d < radius { b(d - radius / 2.0, radius / 2.0) } else { 0.0 };
        let torus = Template::Torus.force(x, &[a, radius, ring]);
        assert!(torus.distance((x - core) / d * (a * wave)) < 1e-12);
    }
}

#[test]
fn slopes_of_templates_match_differences() {
    let h = 1e-6;
    for template in Template::ALL {
        let params = &[1.0, 0.7, 1.1][..template.parameters().len()];
        for k in 0..100 {
            let x = noise3(k);
            let Some(field) = template.unit(x, params) else { continue };
            for axis in 0..3 {
                let step = DVec3::AXES[axis] * h;
                let difference =
                    (template.force(x + step, params) - template.force(x - step, params)) / (2.0 * h);
                assert!(field.slope.col(axis).distance(difference) < 1e-6, "{template:?} {x}");
            }
            for (at, found) in [(1, field.by_radius), (2, field.by_ring)].into_iter().take(params.len() - 1) {
                let moved = |by: f64| {
                    let mut params = params.to_vec();
                    params[at] += by;
                    template.force(x, &params)
                };
                let difference = (moved(h) - moved(-h)) / (2.0 * h);
                assert!(found.distance(difference) < 1e-6, "{template:?} {x}");
            }
        }
    }
}

#[test]
fn guides_move_as_they_say() {
    let guides = [
        Guide::Bone { joint: "arm".into(), ends: [DVec3::new(0.1, 0.2, 0.3), DVec3::new(0.5, 0.9, 0.1)] },
        Guide::Skin { point: DVec3::new(0.1, 0.2, 0.3), normal: DVec3::new(0.6, 0.0, 0.8) },
        Guide::Free,
    ];
    for guide in guides {
        let params: Vec<f64> = (0..guide.parameters().len()).map(|i| 0.3 + 0.1 * i as f64).collect();
        let frame = guide.frame(&params);
        assert!((frame.axes.determinant() - 1.0).abs() < 1e-12, "{guide:?}");
        for at in 0..params.len() {
            let moved = |by: f64| {
                let mut params = params.clone();
                params[at] += by;
                guide.frame(&params)
            };
            let h = 1e-6;
            let (low, high) = (moved(-h), moved(h));
            let [shift, spin] = frame.moves[at];
            assert!(((high.center - low.center) / (2.0 * h)).distance(shift) < 1e-8, "{guide:?}");
            for k in 0..3 {
                let turned = (high.axes.col(k) - low.axes.col(k)) / (2.0 * h);
                assert!(turned.distance(spin.cross(frame.axes.col(k))) < 1e-8, "{guide:?} {at}");
            }
        }
    }
}

/// All of a bump within the body is its integral: `∫ B dV = R³ (4π/3 − 8/π) / 2 …` by quadrature in spheres.
#[test]
fn the_sum_of_forces_is_the_integral_of_the_field() {
    let lattice = Lattice::block([8; 3], 0.1, DVec3::splat(-0.4)).unwrap();
    let radius = 0.35;
    let rig = Muscle::template(
        "push",
        "push",
        Template::Bump,
        Guide::Free,
        vec![2.0, radius, 0.01, 0.02, 0.0, 0.0, 0.0, 0.0],
    );
    let set = MuscleSet { controls: vec![Control::free("push")], muscles: vec![rig] };
    let mut evaluator = MuscleEvaluator::new(&set, &lattice).unwrap();
    let mut forces = Vec::new();
    evaluator.forces(&lattice, &[1.0], &[], &mut forces).unwrap();
    let sum: DVec3 = forces.iter().sum();
    // ∫₀ᴿ 4π r² (½ + ½ cos(π r / R)) dr = 2π R³ (1/3 − 2/π²).
    let wanted = 2.0 * 2.0 * PI * radius.powi(3) * (1.0 / 3.0 - 2.0 / (PI * PI));
    assert!((sum.y / wanted - 1.0).abs() < 2e-3 && sum.with_y(0.0).length() < 1e-9, "{sum} {wanted}");
    evaluator.forces(&lattice, &[0.5], &[], &mut forces).unwrap();
    assert!((forces.iter().sum::<DVec3>().y / wanted - 0.5).abs() < 2e-3);
    // Turned by half a turn, an outward bump stays outward (Capell (2004), §6.2).
    let half = vec![DQuat::from_rotation_x(PI); lattice.n_nodes()];
    evaluator.forces(&lattice, &[1.0], &half, &mut forces).unwrap();
    assert!((forces.iter().sum::<DVec3>().y / wanted + 1.0).abs() < 2e-3);
}

#[test]
fn samples_are_linear_between_and_constant_beyond() {
    let mut samples = Samples::default();
    samples.record(1.0, vec![4.0, 1.0]);
    samples.record(0.0, vec![0.0, 1.0]);
    samples.record(2.0, vec![0.0, 3.0]);
    samples.record(2.0, vec![2.0, 3.0]);
    assert_eq!(samples.list().len(), 3);
    assert_eq!(samples.at(-1.0), vec![0.0, 1.0]);
    assert_eq!(samples.at(0.25), vec![1.0, 1.0]);
    assert_eq!(samples.at(1.0), vec![4.0, 1.0]);
    assert_eq!(samples.at(1.5), vec![3.0, 2.0]);
    assert_eq!(samples.at(9.0), vec![2.0, 3.0]);
}

#[test]
fn bad_sets_are_refused() {
    let lattice = Lattice::block([2; 3], 0.1, DVec3::ZERO).unwrap();
    let rig = |name: &str, eta: Vec<f64>| Muscle::template(name, "a", Template::Bump, Guide::Free, eta);
    let at = |x: f64| vec![1.0, 0.1, x, 0.1, 0.1, 0.0, 0.0, 0.0];
    let set = |controls: &[&str], muscles: Vec<Muscle>| MuscleSet {
        controls: controls.iter().map(|name| Control::free(*name)).collect(),
        muscles,
    };
    let refused = |set: MuscleSet| MuscleEvaluator::new(&set, &lattice).unwrap_err().to_string();
    assert!(refused(set(&["a", "b", "a"], vec![])).contains("\"a\" exists twice"));
    assert!(refused(set(&["a"], vec![rig("x", at(0.1)), rig("x", at(0.1))])).contains("\"x\" exists twice"));
    assert!(
        refused(set(&["b"], vec![rig("x", at(0.1))]))
            .contains("there is no control parameter \"a\"; there are: b")
    );
    let outside = refused(set(&["a"], vec![rig("x", at(9.0))]));
    assert!(
        outside.contains("where there is no flesh") && outside.contains("make its radius larger"),
        "{outside}"
    );
    assert!(
        refused(set(&["a"], vec![rig("x", vec![1.0, -0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])]))
            .contains("it must be positive")
    );
    assert!(
        refused(set(&["a"], vec![rig("x", vec![f64::NAN, 0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])]))
            .contains("finite")
    );
    assert!(refused(set(&["a"], vec![rig("x", vec![1.0])])).contains("number of parameters"));
    let mut empty = rig("x", at(0.1));
    empty.shape = MuscleShape::Surface { cell_size: 0.1, levels: vec![], samples: vec![] };
    assert!(refused(set(&["a"], vec![empty.clone()])).contains("record one"));
    empty.shape =
        MuscleShape::Surface { cell_size: 0.05, levels: vec![], samples: vec![(1.0, vec![DVec3::ZERO; 5])] };
    assert!(matches!(
        MuscleEvaluator::new(&set(&["a"], vec![empty]), &lattice).unwrap_err(),
        crate::FleshError::Muscle(MuscleError::OtherLattice { expected: 5, actual: 27, .. })
    ));
}
