//! The pipeline on meshes with known motion.

use super::*;
use crate::no_progress;
use crate::tests::{known_sequence, tube};
use glam::{DQuat, Vec3};
use sinew_geom::MeshSequence;

fn fitter(sequence: &MeshSequence) -> SkinFitter {
    let mut source = sequence;
    SkinFitter::new(sequence.rest(), &mut source).unwrap()
}

/// A tube that turns and shifts as a whole.
fn rigid_tube() -> MeshSequence {
    let mesh = tube(20);
    let frames = (0..6).map(|frame| {
        let turn = DQuat::from_axis_angle(DVec3::new(0.6, 0.0, 0.8), 0.4 * f64::from(frame));
        mesh.positions().iter().map(|p| (turn * *p + DVec3::Y * f64::from(frame)).as_vec3()).collect()
    });
    MeshSequence::new(mesh.clone(), frames.collect(), 24.0).unwrap()
}

#[test]
fn every_choice_reproduces_a_rigid_motion() {
    let sequence = rigid_tube();
    let fitter = fitter(&sequence);
    let placements = Grouping::ALL.map(Placement::Deform).into_iter().chain([Placement::PCenter]);
    for placement in placements {
        for blending in Blending::ALL {
            for transforms in BoneKind::ALL {
                let tight = LsqrParams { tolerance: 1e-12, max_iterations: 4000 };
                for solver in [TransformSolver::Direct, TransformSolver::Lsqr(tight)] {
                    let params = ThesisParams {
                        bones: 5,
                        regions: 3,
                        placement,
                        blending,
                        transforms,
                        solver,
                        ..ThesisParams::default()
                    };
                    let skin = fitter.fit_thesis(&params, &no_progress).unwrap().skin;
                    let error = fitter.measure(&skin).unwrap().e_rms_diag1;
                    assert!(error < 5e-3, "{placement:?} {blending:?} {transforms:?} {solver:?}: {error}");
                    assert_eq!(skin.n_used_bones(), 5, "{placement:?} {blending:?}");
                }
            }
        }
    }
}

#[test]
fn lsqr_and_the_direct_solve_agree() {
    let sequence = known_sequence(4, 6, false);
    let fitter = fitter(&sequence);
    let error = |solver| {
        let params =
            ThesisParams { bones: 6, placement: Placement::PCenter, solver, ..ThesisParams::default() };
        fitter.measure(&fitter.fit_thesis(&params, &no_progress).unwrap().skin).unwrap().e_rms
    };
    let direct = error(TransformSolver::Direct);
    let lsqr = error(TransformSolver::Lsqr(LsqrParams { tolerance: 1e-10, max_iterations: 4000 }));
    assert!((direct - lsqr).abs() < 1e-3 * direct, "{direct} {lsqr}");
    let loose = error(TransformSolver::Lsqr(LsqrParams { tolerance: 1e-2, max_iterations: 50 }));
    assert!(loose > direct);
}

#[test]
fn corrections_lower_the_error() {
    let sequence = known_sequence(6, 10, false);
    let fitter = fitter(&sequence);
    let error = |correct_weights, correct_rest| {
        let params = ThesisParams { bones: 6, correct_weights, correct_rest, ..ThesisParams::default() };
        fitter.measure(&fitter.fit_thesis(&params, &no_progress).unwrap().skin).unwrap().e_rms
    };
    let (plain, weights, rest, both) =
        (error(false, false), error(true, false), error(false, true), error(true, true));
    assert!(weights < plain && rest < plain && both < weights.min(rest), "{plain} {weights} {rest} {both}");
}

#[test]
fn joints_gather_where_the_surface_deforms() {
    // A tube of which only the right half bends.
    let mesh = tube(41);
    let frames = (0..8).map(|frame| {
        let bend = |p: &DVec3| {
            let angle = 0.15 * f64::from(frame) * (p.x - 2.0).max(0.0);
            (DQuat::from_rotation_z(angle) * (*p - DVec3::X * 2.0) + DVec3::X * 2.0).as_vec3()
        };
        mesh.positions().iter().map(bend).collect::<Vec<Vec3>>()
    });
    let sequence = MeshSequence::new(mesh.clone(), frames.collect(), 24.0).unwrap();
    let fitter = fitter(&sequence);
    let params = ThesisParams { bones: 12, regions: 4, ..ThesisParams::default() };
    let joints = fitter.proxy_joints(&params).unwrap();
    let right = joints.iter().filter(|&&v| mesh.positions()[v as usize].x > 2.0).count();
    assert!(right >= 8, "{right} of 12 joints in the half that bends");
    let even = fitter.proxy_joints(&ThesisParams { placement: Placement::PCenter, ..params }).unwrap();
    let right = even.iter().filter(|&&v| mesh.positions()[v as usize].x > 2.0).count();
    assert!((4..=8).contains(&right), "{right} of 12 evenly spread joints");
    let deformation = fitter.facet_deformation().unwrap();
    let calm = deformation.iter().zip(mesh.faces()).filter(|(_, f)| mesh.positions()[f[0] as usize].x < 1.5);
    assert!(calm.into_iter().all(|(d, _)| d.rotation < 1e-3 && d.shear < 1e-3));
}

#[test]
fn parameters_outside_their_range_are_refused() {
    let sequence = rigid_tube();
    let fitter = fitter(&sequence);
    for params in [
        ThesisParams { bones: 0, ..ThesisParams::default() },
        ThesisParams { bones: 10_000, ..ThesisParams::default() },
        ThesisParams { influences: 9, ..ThesisParams::default() },
        ThesisParams { p_factor: 0.5, ..ThesisParams::default() },
        ThesisParams { regions: 0, ..ThesisParams::default() },
    ] {
        assert!(fitter.fit_thesis(&params, &no_progress).is_err(), "{params:?}");
    }
}
