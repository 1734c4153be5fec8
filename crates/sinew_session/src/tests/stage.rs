//! What is shown and exported.

use super::*;

#[test]
fn steps_of_the_motion_stack_run_only_when_their_input_changed() {
    let (mut stage, mut stack) = (Stage::default(), MotionStack::default());
    let mut document = worked_on();
    document.edit = Default::default();
    let clip = document.clips[0].name.clone();
    let mut params = StackParams { source: Source::Clip(clip), reshape: true, fps: 12.0 };
    let first = stack.run(&document, &params, &mut stage, &go_on).unwrap();
    assert_eq!(stack.runs, [1, 1, 0, 0]);
    // Nothing changed; then only the frame rate; then a name, on which nothing depends; then the pose.
    assert!(std::sync::Arc::ptr_eq(&first, &stack.run(&document, &params, &mut stage, &go_on).unwrap()));
    params.fps = 24.0;
    let finer = stack.run(&document, &params, &mut stage, &go_on).unwrap();
    assert_eq!((stack.runs, finer.n_frames() > first.n_frames()), ([1, 2, 0, 0], true));
    document = Command::Rename { name: "x".into() }.apply(&document).unwrap();
    stack.run(&document, &params, &mut stage, &go_on).unwrap();
    assert_eq!(stack.runs, [1, 2, 0, 0]);
    document = Command::SetPose { moves: vec![] }.apply(&document).unwrap();
    let plain = stack.run(&document, &params, &mut stage, &go_on).unwrap();
    assert_eq!(stack.runs, [1, 3, 0, 0]);
    assert_ne!(plain.frames()[0], finer.frames()[0]);
    let expected = document.body.positions_at(Some(&document.clips[0]), 0.0).unwrap();
    assert_eq!(plain.frames()[0], expected);
    assert!(matches!(
        stack.run(&document, &StackParams { fps: 7.0, ..params }, &mut stage, &|_| ControlFlow::Break(())),
        Err(SessionError::Cancelled)
    ));
}

#[test]
fn what_would_fill_the_memory_is_not_baked() {
    let (mut stage, mut stack) = (Stage::default(), MotionStack::default());
    let document = Document::new(build_character(Sample::Biped, 20_000).unwrap());
    let clip = document.clips[0].clone();
    let params = |fps| StackParams { source: Source::Clip(clip.name.clone()), reshape: false, fps };
    // As many frames as may be asked for, and yet too much: 20,000 vertices of 12 bytes each.
    let fps = 6_000.0 / f64::from(clip.duration_secs());
    let stop = |_: f64| ControlFlow::Break(());
    let error = stack.run(&document, &params(fps), &mut stage, &stop).unwrap_err().to_string();
    assert!(error.contains("GB") && error.contains("fps"), "{error}");
    // What it advises is accepted; stopped at once, since the result is not needed.
    let advised: f64 = error.split("at most ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    let stopped = stack.run(&document, &params(advised), &mut stage, &stop);
    assert!(matches!(stopped, Err(SessionError::Cancelled)), "{advised}");
}

/// Renaming, moving a centre or another follower must not factor anything again, but moves must see it.
#[test]
fn only_what_handles_hold_is_prepared_again() {
    let mut stage = Stage::default();
    let first = stage.prepare(&BIPED, &go_on).unwrap();
    let cancelled = |_: f64| ControlFlow::Break(());
    let apply = |document: &Document, command: Command| command.apply(document).unwrap();
    let renamed = apply(&BIPED, Command::RenameHandle { name: "elbow.L".into(), to: "bow".into() });
    assert!(!first.serves(&renamed));
    // Would fail if anything long were begun.
    let second = stage.prepare(&renamed, &cancelled).unwrap();
    assert!(second.serves(&renamed) && second.pose(&[turn("elbow.L", 10.0)]).is_err());
    let (a, b) =
        (first.positions(&[turn("elbow.L", 10.0)]).unwrap(), second.positions(&[turn("bow", 10.0)]).unwrap());
    assert_eq!(a, b);
    let moved = apply(&renamed, Command::SetCenter { name: "bow".into(), center: [0.5, 1.0, 0.0] });
    let third = stage.prepare(&moved, &cancelled).unwrap();
    assert_ne!(third.positions(&[turn("bow", 10.0)]).unwrap(), b);
    let painted =
        Command::Paint { handle: "bow".into(), op: PaintOp::Add, vertices: vec![1, 2, 3], weight: 1.0 };
    let painted = apply(&moved, painted);
    assert!(matches!(stage.prepare(&painted, &cancelled), Err(SessionError::Cancelled)));
}

/// The polished shape is shaded as it is, not as it was before.
#[test]
fn a_polished_pose_has_normals_of_its_own() {
    let prepared = Prepared::new(&BIPED, &go_on).unwrap();
    let moves = [turn("elbow.L", 80.0), turn("head", 40.0)];
    let (plain, refined) =
        (prepared.frame(&moves).unwrap(), prepared.refined_frame(&moves, None, &go_on).unwrap());
    assert_ne!(plain.positions, refined.positions);
    let positions: Vec<DVec3> = refined.positions.iter().map(|p| p.as_dvec3()).collect();
    let expected = sinew_geom::measure::compute_vertex_normals(&positions, BIPED.mesh().faces());
    let off = |normals: &[glam::Vec3]| {
        normals.iter().zip(&expected).map(|(a, b)| a.as_dvec3().distance(*b)).fold(0.0, f64::max)
    };
    assert!(off(&refined.normals) < 1e-3, "{}", off(&refined.normals));
    assert!(off(&plain.normals) > 1e-2, "the test would not see it");
}

/// Bones made of handles move as the stored poses say.
#[test]
fn stored_poses_are_clips_of_the_skin_that_is_exported() {
    let params = ExportParams {
        parts: None,
        fit: None,
        format: ExportFormat::Glb,
        what: ExportWhat::Skin,
        clip: None,
        reshaped: false,
        fps: None,
        influences: None,
    };
    let (mut stack, mut stage, mut warnings) =
        (MotionStack::default(), Stage::default(), Warnings::default());
    let made = export(&BIPED, &params, &mut stack, &mut stage, &go_on, &mut warnings).unwrap();
    let back = read_project(&made.bytes, Path::new("skin.glb"), &mut warnings).unwrap();
    let names = |document: &Document| document.clips.iter().map(|clip| clip.name.clone()).collect::<Vec<_>>();
    // What moved the surface before, then the poses.
    assert_eq!(names(&back), ["walk", "idle", "greet", "wave", "bow", "step"]);
    let walk = |document: &Document| document.body.positions_at(Some(&document.clips[0]), 0.4).unwrap();
    let far = walk(&back)
        .iter()
        .map(|p| walk(&BIPED).iter().map(|q| p.distance(*q)).fold(f32::MAX, f32::min))
        .fold(0.0, f32::max);
    assert!(far < 0.02 * BIPED.mesh().diagonal() as f32, "{far}");
    let prepared = Prepared::new(&BIPED, &go_on).unwrap();
    let size = BIPED.mesh().diagonal();
    for (clip, example) in back.clips[3..].iter().zip(&BIPED.examples) {
        let skinned = back.body.positions_at(Some(clip), 0.5).unwrap();
        let posed = prepared.positions(&example.moves).unwrap();
        let mut far: Vec<f64> = posed
            .iter()
            .map(|p| skinned.iter().map(|q| q.as_dvec3().distance(*p)).fold(f64::MAX, f64::min))
            .collect();
        far.sort_by(f64::total_cmp);
        assert!(far[far.len() / 2] < 1e-3 * size, "{}: {}", example.name, far[far.len() / 2]);
        let rest = back.body.positions_at(None, 0.0).unwrap();
        assert!(skinned.iter().zip(&rest).any(|(a, b)| a.distance(*b) > 0.1), "{}", example.name);
    }
}

#[test]
fn what_is_seen_turns_with_the_handle_it_is_seen_on() {
    let prepared = Prepared::new(&BIPED, &go_on).unwrap();
    let before = vec![turn("elbow.L", 90.0)];
    let seen = Move::Rotate { main: "forearm.L".into(), handles: vec![], axis: DVec3::Y, radians: 0.5 };
    let kept = prepared.at_rest(&before, seen).unwrap();
    let pose = prepared.pose(&[before.clone(), vec![kept]].concat()).unwrap();
    let start = prepared.pose(&before).unwrap();
    let hand = BIPED.find_handle("forearm.L").unwrap();
    // About the axis as seen, whatever the elbow did before.
    let turned = pose.motions()[hand].rotation * start.motions()[hand].rotation.inverse();
    assert!(turned.to_scaled_axis().distance(DVec3::Y * 0.5) < 1e-12);
    // Cancelled before it began.
    assert!(matches!(Prepared::new(&BIPED, &|_| ControlFlow::Break(())), Err(SessionError::Cancelled)));
}
