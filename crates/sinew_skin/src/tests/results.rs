//! What is measured, exported and counted after a fit.

use super::*;

#[test]
fn errors_follow_the_equations() {
    // Two frames, one vertex a metre from its true position in one of them.
    let mesh = tube(2);
    let rest: Vec<Vec3> = mesh.positions().iter().map(|p| p.as_vec3()).collect();
    let up: Vec<Vec3> = rest.iter().map(|p| p + Vec3::Y).collect();
    let sequence = MeshSequence::new(mesh.clone(), vec![rest, up.clone()], 24.0).unwrap();
    let mut source = &sequence;
    let fitter = SkinFitter::new(&mesh, &mut source).unwrap();
    let n = mesh.n_vertices();
    let skin = FittedSkin {
        rest: mesh.positions().to_vec(),
        n_bones: 1,
        influences: 1,
        indices: vec![0; n],
        weights: vec![1.0; n],
        transforms: vec![DAffine3::IDENTITY; 2],
    };
    let errors = fitter.measure(&skin).unwrap();
    // ‖A − A'‖² = n; each path spreads by ½ about its mean, twice: ‖A − A_avg‖² = n / 2.
    assert!(close(errors.de, 100.0 * 2f64.sqrt(), 1e-6), "{}", errors.de);
    assert!(close(errors.e_rms, 100.0 * (1.0 / 6.0f64).sqrt(), 1e-6));
    assert!(close(errors.e_rms_diag1, errors.e_rms / mesh.diagonal(), 1e-9));
    assert!(
        close(errors.max, 1.0, 1e-6) && close(errors.per_frame[1], 1.0, 1e-6) && errors.per_frame[0] < 1e-6
    );
    assert!(errors.per_vertex.iter().all(|e| close(*e, 0.5f64.sqrt(), 1e-6)));
    assert!(errors.d_avg > 0.1 && errors.d_avg < 0.5);
}

#[test]
fn the_character_plays_what_was_fitted() {
    for rigid in [false, true] {
        let sequence = known_sequence(4, 24, rigid);
        let transforms = if rigid { BoneKind::Rigid } else { BoneKind::Affine };
        let (skin, _) = fit(&sequence, &FitParams { bones: 6, transforms, ..FitParams::default() });
        let export = |tolerance: f64| {
            let clips = vec![("first".to_owned(), 0..10), ("second".to_owned(), 10..24)];
            let params = ExportParams { fps: 24.0, tolerance, clips, name: "tube".into(), flat: false };
            let mut warnings = Warnings::default();
            let made = build_character(&skin, sequence.rest(), &Surface::default(), &params, &mut warnings);
            assert!(warnings.messages.is_empty(), "{warnings:?}");
            made.unwrap()
        };
        let worst = |character: &sinew_geom::Character| {
            let mut worst: f32 = 0.0;
            for frame in 0..24 {
                let (clip, at) = if frame < 10 { (0, frame) } else { (1, frame - 10) };
                let time = (at as f64 / 24.0) as f32;
                let played = character.positions_at(Some(&character.clips[clip]), time).unwrap();
                let wanted = skin.positions(frame);
                let off = played.iter().zip(&wanted).map(|(a, b)| a.distance(b.as_vec3()));
                worst = off.fold(worst, f32::max);
            }
            worst
        };
        let (exact, full) = export(0.0);
        assert!(worst(&exact) < 2e-5, "rigid {rigid}: {}", worst(&exact));
        let (rough, report) = export(0.02);
        // Shift, both turns, scale and the split of the matrix add up.
        assert!(worst(&rough) < 0.12, "rigid {rigid}: {}", worst(&rough));
        // Of so few frames curves of rigid bones keep all: times of their own would take more.
        let most = if rigid { full.keys - 1 } else { full.keys * 3 / 4 };
        assert!(report.keys <= most, "{report:?} {full:?}");
        assert_eq!(exact.skin.unwrap().slots.len(), 6);
        assert!(!rigid || (full.sheared == 0 && full.joints == 7), "{full:?}");
    }
}

/// Players interpolate between frames. Bones of cloth are free across the surface, and must not distort it there.
#[test]
fn between_frames_the_character_stays_near() {
    let sequence = build_sequence(Sample::Flag, 1_000, &mut |_| ControlFlow::Continue(())).unwrap();
    let params = FitParams { bones: 20, transforms: BoneKind::Affine, ..FitParams::default() };
    let (skin, errors) = fit(&sequence, &params);
    let tolerance = 0.1 * errors.e_rms_diag1 / 100.0 * sequence.rest().diagonal();
    let params = ExportParams { fps: 24.0, tolerance, clips: Vec::new(), name: "flag".into(), flat: false };
    let made =
        build_character(&skin, sequence.rest(), &Surface::default(), &params, &mut Warnings::default());
    let (character, _) = made.unwrap();
    let (mut worst, mut sum, mut n) = (0f64, 0.0, 0);
    for frame in 0..sequence.n_frames() - 1 {
        for share in [0.25, 0.5, 0.8] {
            let time = ((frame as f64 + share) / 24.0) as f32;
            let played = character.positions_at(Some(&character.clips[0]), time).unwrap();
            let (a, b) = (skin.positions(frame), skin.positions(frame + 1));
            for ((a, b), p) in a.iter().zip(&b).zip(&played) {
                let off = a.lerp(*b, share).distance(p.as_dvec3()) / sequence.rest().diagonal();
                (worst, sum, n) = (worst.max(off), sum + off * off, n + 1);
            }
        }
    }
    let rms = 100.0 * (sum / f64::from(n)).sqrt();
    assert!(rms < 3.0 * errors.e_rms_diag1 && worst < 0.03, "{rms} % and {worst}, {}", errors.e_rms_diag1);
}

#[test]
fn the_number_of_bones_follows_the_error() {
    let sequence = known_sequence(10, 12, false);
    let mut source = &sequence;
    let fitter = SkinFitter::new(sequence.rest(), &mut source).unwrap();
    let params = FitParams { bones: 60, ..FitParams::default() };
    let counts = [1.0, 0.3, 0.1].map(|target| {
        let fit = fitter.fit_to_error(target, &params, &no_progress).unwrap();
        let reached = fitter.measure(&fit.skin).unwrap().e_rms_diag1;
        assert!(reached <= target, "{target}: {reached} with {} bones", fit.skin.n_bones);
        fit.skin.n_bones
    });
    assert!(counts[0] < counts[1] && counts[1] < counts[2], "{counts:?}");
    // With clearly fewer bones, the error is not reached.
    let fewer = FitParams { bones: counts[2] / 2, ..FitParams::default() };
    assert!(fit(&sequence, &fewer).1.e_rms_diag1 > 0.1);
    // Out of reach: the maximum number of bones.
    let most =
        fitter.fit_to_error(1e-9, &FitParams { bones: 12, ..FitParams::default() }, &no_progress).unwrap();
    assert_eq!(most.skin.n_bones, 12);
    assert!(fitter.fit_to_error(f64::NAN, &params, &no_progress).is_err());
}

/// Joints composed part by part, as Unreal does: scales multiply, translations are scaled and turned, nothing shears.
fn part_by_part(rig: &sinew_geom::Rig, pose: &sinew_geom::Pose) -> Vec<DAffine3> {
    let mut worlds: Vec<(DVec3, DQuat, DVec3)> = Vec::new();
    for (joint, local) in rig.joints().iter().zip(&pose.locals) {
        let (t, r, s) = (local.translation, local.rotation, local.scale);
        worlds.push(match joint.parent {
            None => (t, r, s),
            Some(parent) => {
                let (pt, pr, ps) = worlds[parent];
                (pt + pr * (ps * t), pr * r, ps * s)
            }
        });
    }
    worlds.into_iter().map(|(t, r, s)| DAffine3::from_scale_rotation_translation(s, r, t)).collect()
}

/// What is written of rigid bones plays alike wherever joints are composed part by part; affine bones do not.
#[test]
fn rigid_bones_play_alike_without_shear() {
    let sequence = known_sequence(5, 16, false);
    for transforms in BoneKind::ALL {
        let (skin, errors) = fit(&sequence, &FitParams { bones: 6, transforms, ..FitParams::default() });
        for flat in [false, true] {
            let params =
                ExportParams { fps: 24.0, tolerance: 1e-6, clips: Vec::new(), name: "tube".into(), flat };
            let surface = Surface::default();
            let made = build_character(&skin, sequence.rest(), &surface, &params, &mut Warnings::default());
            let (character, report) = made.unwrap();
            let rig = character.rig.as_ref().unwrap();
            let mut worst: f64 = 0.0;
            for frame in 0..16 {
                let time = (f64::from(frame) / 24.0) as f32;
                let pose = character.clips[0].sample(rig, time);
                let played = character.positions_by(&part_by_part(rig, &pose)).unwrap();
                let wanted = skin.positions(frame as usize);
                let far = played.iter().zip(&wanted).map(|(a, b)| a.as_dvec3().distance(*b));
                worst = far.fold(worst, f64::max);
            }
            match transforms {
                BoneKind::Rigid => {
                    assert!(worst < 2e-5, "flat {flat}: {worst}");
                    assert_eq!(report.joints, 7);
                    assert!((report.depth == 1) == flat, "{report:?}");
                    assert!(character.clips[0].joints.iter().all(|track| track.scale.is_none()));
                }
                BoneKind::Affine => {
                    assert!(worst > 1e-2, "it would not be a test: {worst}, {}", errors.e_rms)
                }
            }
        }
    }
}

/// The correction of the rest pose never costs error, and does not tear what an animator opens.
#[test]
fn a_corrected_rest_pose_is_not_torn() {
    let sequence = build_sequence(Sample::Tablecloth, 1_000, &mut |_| ControlFlow::Continue(())).unwrap();
    let run = |correct_rest, stiffness| {
        let (skin, errors) =
            fit(&sequence, &FitParams { bones: 15, correct_rest, stiffness, ..FitParams::default() });
        (errors.e_rms_diag1, crate::compute_bind_stretch(sequence.rest(), &skin.rest)[1])
    };
    let (kept, firm, free) = (run(false, 0.005), run(true, 0.005), run(true, 0.0));
    assert!(kept.1 < 1.0 + 1e-5, "{kept:?}");
    assert!(firm.0 <= kept.0 && free.0 <= 1.02 * firm.0, "{kept:?} {firm:?} {free:?}");
    assert!(firm.1 < 2.0 && firm.1 < free.1, "{firm:?} {free:?}");
}

/// More bones until facets lean as they should, and no more than are allowed.
#[test]
fn bones_are_as_many_as_it_takes_to_look_right() {
    let sequence = build_sequence(Sample::Tablecloth, 1_000, &mut |_| ControlFlow::Continue(())).unwrap();
    let mut source = &sequence;
    let fitter = SkinFitter::new(sequence.rest(), &mut source).unwrap();
    let params = FitParams { bones: 10, ..FitParams::default() };
    let p99 = |skin: &FittedSkin| fitter.normals(skin).unwrap().p99;
    let few = fitter.fit(&params, &no_progress).unwrap().skin;
    let found = fitter.fit_to_look(120, &params, &no_progress).unwrap().skin;
    assert!(p99(&few) > 12.0 && found.n_bones > 10 && found.n_bones <= 120, "{}", p99(&few));
    assert!(p99(&found) < 0.8 * p99(&few), "{} of {}", p99(&found), p99(&few));
    assert_eq!(fitter.fit_to_look(10, &params, &no_progress).unwrap().skin.n_bones, 10);
}
