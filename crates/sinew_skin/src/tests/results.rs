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
            let params = ExportParams { fps: 24.0, tolerance, clips, name: "tube".into() };
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
        assert!(report.keys < full.keys * 3 / 4, "{report:?} {full:?}");
        assert_eq!(exact.skin.unwrap().slots.len(), 6);
        assert!(!rigid || (full.sheared == 0 && full.joints == 6), "{full:?}");
    }
}

/// Players interpolate between frames. Bones of cloth are free across the surface, and must not distort it there.
#[test]
fn between_frames_the_character_stays_near() {
    let sequence = build_sequence(Sample::Flag, 1_000, &mut |_| ControlFlow::Continue(())).unwrap();
    let (skin, errors) = fit(&sequence, &FitParams { bones: 20, ..FitParams::default() });
    let tolerance = 0.1 * errors.e_rms_diag1 / 100.0 * sequence.rest().diagonal();
    let params = ExportParams { fps: 24.0, tolerance, clips: Vec::new(), name: "flag".into() };
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
