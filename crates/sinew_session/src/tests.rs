//! The document as a user's program sees it: done, undone, saved, killed, recovered.

use super::*;
use glam::DVec3;
use proptest::prelude::*;
use serde_json::json;
use sinew_geom::{
    Move, Warnings,
    sample::{Sample, build_character},
};
use std::{
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::LazyLock,
    time::Duration,
};

static BIPED: LazyLock<Document> = LazyLock::new(|| {
    let mut document = Document::new(build_character(Sample::Biped, 1_000).unwrap());
    document.examples =
        grow_sample(Sample::Biped, 1_000, &mut |_| ControlFlow::Continue(()), &mut Warnings::default())
            .unwrap()
            .examples;
    document
});

fn go_on(_: f64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn turn(main: &str, degrees: f64) -> Move {
    Move::Rotate { main: main.into(), handles: vec![], axis: DVec3::Z, radians: degrees.to_radians() }
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("sinew-session-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Everything a user would see of a document.
fn seen(document: &Document) -> String {
    format!(
        "{} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
        document.name,
        document.mesh().positions().first(),
        document.handles,
        document.clips.iter().map(|clip| &clip.name).collect::<Vec<_>>(),
        document.pose,
        document.examples,
        document.edit,
        document.unknown,
    )
}

/// Angles are written in degrees, which rounds the last bit.
fn is_same(a: &Command, b: &Command) -> bool {
    match (a, b) {
        (Command::SetPose { moves: a }, Command::SetPose { moves: b }) => {
            let radians = |step: &Move| match step {
                Move::Rotate { radians, .. } => *radians,
                _ => 0.0,
            };
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (radians(a) - radians(b)).abs() < 1e-12)
        }
        _ => a == b,
    }
}

fn commands() -> impl Strategy<Value = Command> {
    let handle = prop::sample::select(vec!["hand.L", "head", "chest", "fresh", "hand.R"]);
    let handle = handle.prop_map(str::to_owned);
    let vertices = prop::collection::vec(0u32..1000, 1..20);
    prop_oneof![
        handle.clone().prop_map(|name| Command::AddHandle { name }),
        handle.clone().prop_map(|name| Command::RemoveHandle { name }),
        (handle.clone(), handle.clone()).prop_map(|(name, to)| Command::RenameHandle { name, to }),
        (handle.clone(), prop::array::uniform3(-2.0..2.0))
            .prop_map(|(name, center)| Command::SetCenter { name, center }),
        handle.clone().prop_map(|name| Command::ResetCenter { name }),
        (handle.clone(), handle.clone())
            .prop_map(|(name, other)| Command::SetSecondary { name, secondary: vec![other] }),
        Just(Command::ClearHandles {}),
        (handle.clone(), vertices.clone(), prop::sample::select(vec![0.5f32, 1.0])).prop_map(
            |(handle, vertices, weight)| Command::Paint { handle, op: PaintOp::Add, vertices, weight }
        ),
        (handle.clone(), vertices.clone()).prop_map(|(handle, vertices)| Command::Paint {
            handle,
            op: PaintOp::Remove,
            vertices,
            weight: 1.0
        }),
        (handle.clone(), vertices).prop_map(|(name, mut vertices)| {
            vertices.sort_unstable();
            vertices.dedup();
            let weights = vec![1.0; vertices.len()];
            let handle = HandleData { name, vertices, weights, center: [0.0; 3], secondary: vec![] };
            Command::PutHandle { handle }
        }),
        (handle.clone(), -200.0..200.0)
            .prop_map(|(main, degrees)| Command::SetPose { moves: vec![turn(&main, degrees)] }),
        Just(Command::SetPose { moves: vec![] }),
        handle.clone().prop_map(|name| Command::SaveExample { name, thumbnail: None }),
        handle.clone().prop_map(|name| Command::LoadExample { name }),
        handle.clone().prop_map(|name| Command::RemoveExample { name }),
        (handle.clone(), handle).prop_map(|(name, to)| Command::RenameExample { name, to }),
        (0.0..50.0).prop_map(|x| Command::SetEdit(EditChange { smoothness: Some(x), ..Default::default() })),
        (0.5..2.0).prop_map(|factor| Command::Scale { factor }),
        "[a-z]{1,9}".prop_map(|name| Command::Rename { name }),
        Just(Command::RemoveClip { clip: "walk".into() }),
        Just(Command::RenameClip { clip: "walk".into(), to: "stroll".into() }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// What was done can be undone and done again, to the letter; and commands survive their serial form.
    #[test]
    fn undo_and_redo_are_exact(list in prop::collection::vec(commands(), 1..12)) {
        let mut history = History::new(BIPED.clone());
        let mut states = vec![seen(history.document())];
        for (at, command) in list.iter().enumerate() {
            let back: Command = serde_json::from_str(&serde_json::to_string(command).unwrap()).unwrap();
            prop_assert!(is_same(&back, command), "{back:?}");
            // Far apart in time, so that nothing merges.
            if history.apply(command, None, Duration::from_secs(at as u64)).is_ok() {
                states.push(seen(history.document()));
            }
        }
        prop_assert_eq!(history.len(), states.len());
        for state in states.iter().rev().skip(1) {
            prop_assert!(history.undo());
            prop_assert_eq!(&seen(history.document()), state);
        }
        prop_assert!(!history.undo());
        for state in &states[1..] {
            prop_assert!(history.redo());
            prop_assert_eq!(&seen(history.document()), state);
        }
        prop_assert!(!history.redo());
    }

    /// After any work each vertex belongs to one handle at most, and moves name only handles there are.
    #[test]
    fn documents_stay_sound(list in prop::collection::vec(commands(), 1..12)) {
        let mut history = History::new(BIPED.clone());
        for command in &list {
            // Refused commands change nothing.
            let before = seen(history.document());
            if history.apply(command, None, Duration::ZERO).is_err() {
                prop_assert_eq!(before, seen(history.document()));
            }
        }
        let document = history.document();
        let mut owned = vec![0; document.mesh().n_vertices()];
        document.handles.iter().flat_map(|handle| &handle.vertices).for_each(|&v| owned[v as usize] += 1);
        prop_assert!(owned.iter().all(|&n| n <= 1));
        for example in &document.examples {
            for step in example.moves.iter() {
                if let Move::Rotate { main, .. } = step {
                    prop_assert!(document.find_handle(main).is_ok(), "{} names {main}", example.name);
                }
            }
        }
    }
}

#[test]
fn a_drag_is_one_step_and_leaves_no_trace_if_cancelled() {
    let mut session = Session::new(BIPED.clone(), None, None);
    let events = session.subscribe();
    for degrees in 1..=30 {
        session.drag(Gesture(1), turn("elbow.L", f64::from(degrees))).unwrap();
    }
    assert_eq!(session.history().len(), 2);
    assert_eq!(*session.document().pose, [turn("elbow.L", 30.0)]);
    session.end_drag(Gesture(1));
    // A second turn about the same axis goes on with the first, as its own step of history.
    session.drag(Gesture(2), turn("elbow.L", 12.0)).unwrap();
    assert_eq!(session.history().len(), 3);
    let Move::Rotate { radians, .. } = session.document().pose[0] else { panic!() };
    assert!((radians - 42f64.to_radians()).abs() < 1e-12);
    assert!(session.cancel_drag(Gesture(2)) && !session.cancel_drag(Gesture(2)));
    assert_eq!(*session.document().pose, [turn("elbow.L", 30.0)]);
    assert_eq!(session.history().len(), 2);
    let changes: Vec<Event> = events.try_iter().collect();
    assert_eq!(changes.iter().filter(|event| **event == Event::Moving).count(), 31);
    // The end of the first, and the second taken back.
    assert_eq!(changes.iter().filter(|event| matches!(event, Event::Changed(c) if c.pose)).count(), 2);
    // What was undone before a drag that is cancelled can still be done again.
    session.undo();
    session.drag(Gesture(4), turn("head", 5.0)).unwrap();
    session.drag(Gesture(4), turn("head", 9.0)).unwrap();
    assert!(session.cancel_drag(Gesture(4)) && session.document().pose.is_empty());
    assert!(session.redo());
    assert_eq!(*session.document().pose, [turn("elbow.L", 30.0)]);
    assert!(session.drag(Gesture(3), turn("no such handle", 1.0)).is_err());
    assert_eq!(session.history().len(), 2);
}

/// Two tabs on one document: each hand replaces its own move only, whatever the other does.
#[test]
fn two_gestures_at_once_do_not_disturb_each_other() {
    let turn_of = |session: &Session, name: &str| {
        let of = |step: &Move| match step {
            Move::Rotate { main, radians, .. } if main == name => radians.to_degrees(),
            _ => 0.0,
        };
        session.document().pose.iter().map(of).sum::<f64>().round() as i32
    };
    let mut session = Session::new(BIPED.clone(), None, None);
    for degrees in 1..=20 {
        session.drag(Gesture(1), turn("elbow.L", f64::from(degrees))).unwrap();
        session.drag(Gesture(2), turn("head", f64::from(-degrees))).unwrap();
        if degrees == 10 {
            // Something that has nothing to do with the pose.
            session.apply(&Command::Rename { name: "x".into() }, None).unwrap();
        }
    }
    assert_eq!((turn_of(&session, "elbow.L"), turn_of(&session, "head")), (20, -20));
    assert_eq!(session.moves_before(Gesture(2)), [turn("elbow.L", 20.0)]);
    session.end_drag(Gesture(1));
    session.drag(Gesture(2), turn("head", -30.0)).unwrap();
    assert_eq!((turn_of(&session, "elbow.L"), turn_of(&session, "head")), (20, -30));
    // One is taken back, the other stays; then the other, too.
    session.drag(Gesture(3), turn("elbow.R", 5.0)).unwrap();
    assert!(session.cancel_drag(Gesture(2)) && !session.cancel_drag(Gesture(2)));
    assert_eq!(
        (turn_of(&session, "elbow.L"), turn_of(&session, "head"), turn_of(&session, "elbow.R")),
        (20, 0, 5)
    );
    assert!(session.cancel_drag(Gesture(3)));
    assert_eq!(*session.document().pose, [turn("elbow.L", 20.0)]);
    // Both hands, the name, both hands again: not a step for each time they took turns.
    let labels: Vec<&str> = session.history().labels().map(|label| &**label).collect();
    assert_eq!(labels.len(), 4, "{labels:?}");
    // A pose from elsewhere is what goes on being turned.
    session.drag(Gesture(4), turn("head", 7.0)).unwrap();
    session.apply(&Command::SetPose { moves: vec![] }, None).unwrap();
    session.drag(Gesture(4), turn("head", 8.0)).unwrap();
    assert_eq!(*session.document().pose, [turn("head", 8.0)]);
}

#[test]
fn the_oldest_steps_are_forgotten_when_all_take_too_much() {
    let scale = |k: usize| Command::Scale { factor: if k.is_multiple_of(2) { 2.0 } else { 0.5 } };
    let mut plain = History::new(BIPED.clone());
    plain.apply(&Command::Rename { name: "x".into() }, None, Duration::ZERO).unwrap();
    let name_bytes = plain.bytes();
    plain.apply(&scale(0), None, Duration::ZERO).unwrap();
    let scale_bytes = plain.bytes() - name_bytes;
    // A name costs next to nothing, a new mesh what it takes.
    let mesh_bytes = BIPED.mesh().n_vertices() * 24 + BIPED.mesh().n_faces() * 12;
    assert!(
        name_bytes < 2_000 && (mesh_bytes..20 * mesh_bytes).contains(&scale_bytes),
        "{name_bytes} {scale_bytes}"
    );
    let mut history = History::new(BIPED.clone()).with_limit(5 * scale_bytes / 2);
    for k in 0..20 {
        history.apply(&scale(k), None, Duration::ZERO).unwrap();
        history.apply(&Command::Rename { name: format!("n{k}") }, None, Duration::ZERO).unwrap();
        assert!(history.bytes() <= 5 * scale_bytes / 2);
    }
    assert_eq!(history.first() + history.len(), 41);
    assert!((4..=6).contains(&history.len()), "{}", history.len());
    assert_eq!(history.document().name, "n19");
    while history.undo() {}
    assert!(history.redo() && history.len() >= 4);
    // Whatever one step takes, it can be undone.
    let mut tiny = History::new(BIPED.clone()).with_limit(1);
    tiny.apply(&scale(0), None, Duration::ZERO).unwrap();
    tiny.apply(&scale(1), None, Duration::ZERO).unwrap();
    assert_eq!((tiny.len(), tiny.at(), tiny.first()), (2, 1, 1));
    assert!(tiny.undo());
}

/// What a long command gave is entered only if nothing else was done meanwhile.
#[test]
fn a_long_command_is_entered_unless_the_document_changed_meanwhile() {
    let mut session = Session::new(BIPED.clone(), None, None);
    let scale = Command::Scale { factor: 2.0 };
    let before = session.document().clone();
    let after = scale.apply(&before).unwrap();
    session.apply(&Command::Rename { name: "meanwhile".into() }, None).unwrap();
    assert!(session.commit(&scale, &before, after).is_none());
    assert_eq!((session.document().name.as_str(), session.history().len()), ("meanwhile", 2));
    let before = session.document().clone();
    let after = scale.apply(&before).unwrap();
    assert!(session.commit(&scale, &before, after).unwrap().surface);
    assert_eq!(session.history().labels().last().unwrap().as_ref(), "Scale by 2");
    let size = |document: &Document| document.mesh().diagonal();
    assert!((size(session.document()) / size(&BIPED) - 2.0).abs() < 1e-6);
}

#[test]
fn numbers_scrubbed_quickly_are_one_step() {
    let mut history = History::new(BIPED.clone());
    let center = |x: f64| Command::SetCenter { name: "head".into(), center: [x, 1.5, 0.0] };
    for (ms, x) in [(0, 0.1), (400, 0.2), (800, 0.3), (1400, 0.4)] {
        history.apply(&center(x), None, Duration::from_millis(ms)).unwrap();
    }
    assert_eq!(history.len(), 3, "{:?}", history.labels().collect::<Vec<_>>());
    history.undo();
    assert_eq!(history.document().handles[history.document().find_handle("head").unwrap()].center.x, 0.3);
    // After going back, nothing merges with what is there.
    history.apply(&center(0.9), None, Duration::from_millis(1410)).unwrap();
    assert_eq!(history.at(), 2);
}

#[test]
fn a_document_knows_whether_it_is_saved() {
    let dir = folder("dirty");
    let path = dir.join("a.sinew.glb");
    let mut session = Session::new(BIPED.clone(), None, None);
    assert!(!session.is_dirty());
    session.apply(&Command::Rename { name: "first".into() }, None).unwrap();
    assert!(session.is_dirty());
    session.save(&path, &mut Warnings::default()).unwrap();
    assert!(!session.is_dirty() && session.path() == Some(&path));
    session.undo();
    assert!(session.is_dirty());
    session.redo();
    assert!(!session.is_dirty());
    session.undo();
    // The saved state can no longer be reached.
    session.apply(&Command::Rename { name: "second".into() }, None).unwrap();
    session.undo();
    session.redo();
    assert!(session.is_dirty());
    std::fs::remove_dir_all(dir).unwrap();
}

fn worked_on() -> Document {
    let mut history = History::new(BIPED.clone());
    let png = "data:image/png;base64,iVBORw0KGgo=";
    for command in [
        Command::Rename { name: "Ötzi".into() },
        Command::Paint { handle: "brow".into(), op: PaintOp::Add, vertices: vec![1, 2, 3], weight: 0.25 },
        Command::SetPose { moves: vec![turn("elbow.L", 500.0), turn("head", -20.0)] },
        Command::SaveExample { name: "odd".into(), thumbnail: Some(png.into()) },
        Command::SetEdit(EditChange { method: Some("lipman".into()), band: Some(3), ..Default::default() }),
    ] {
        history.apply(&command, None, Duration::ZERO).unwrap();
    }
    history.document().clone()
}

#[test]
fn a_project_comes_back_as_it_was() {
    let document = worked_on();
    let mut warnings = Warnings::default();
    let bytes = write_project(&document, &mut warnings).unwrap();
    let back = read_project(&bytes, Path::new("other name.sinew.glb"), &mut warnings).unwrap();
    assert_eq!(warnings.messages, [""; 0]);
    assert_eq!(seen(&Document { body: document.body.clone(), ..back.clone() }), seen(&document));
    assert_eq!(back.clips.len(), document.clips.len());
    for (a, b) in back.mesh().positions().iter().zip(document.mesh().positions()) {
        assert_eq!(a.as_vec3(), b.as_vec3());
    }
    // From then on it is the same file each time. (Sums of weights are rounded once.)
    let again = write_project(&back, &mut warnings).unwrap();
    let third = read_project(&again, Path::new("x.sinew.glb"), &mut warnings).unwrap();
    assert!(write_project(&third, &mut warnings).unwrap() == again);
}

#[test]
fn what_a_later_version_adds_survives_with_its_bytes() {
    let mut document = worked_on();
    let fields =
        json!({ "lattice": { "cells": { "bufferView": 1 }, "name": "flesh" }, "voices": ["stand", 7] });
    let extensions = json!({ "ACME_props": { "node": 3, "sound": [{ "bufferView": 0 }] } });
    document.unknown = std::sync::Arc::new(Unknown {
        fields: fields.as_object().unwrap().clone(),
        extensions: extensions.as_object().unwrap().clone(),
        views: [vec![1u8, 2, 3, 4], vec![9; 12]].map(std::sync::Arc::new).to_vec(),
    });
    let mut warnings = Warnings::default();
    let mut bytes = write_project(&document, &mut warnings).unwrap();
    for _ in 0..2 {
        let back = read_project(&bytes, Path::new("a.sinew.glb"), &mut warnings).unwrap();
        let value = |view: &serde_json::Value| {
            back.unknown.views[view["bufferView"].as_u64().unwrap() as usize].as_slice().to_vec()
        };
        assert_eq!(value(&back.unknown.fields["lattice"]["cells"]), [9; 12]);
        assert_eq!(value(&back.unknown.extensions["ACME_props"]["sound"][0]), [1, 2, 3, 4]);
        assert_eq!(back.unknown.fields["voices"], json!(["stand", 7]));
        assert_eq!(back.unknown.extensions["ACME_props"]["node"], 3);
        bytes = write_project(&back, &mut warnings).unwrap();
    }
    assert_eq!(warnings.messages, [""; 0]);
}

#[test]
fn a_project_of_a_later_version_is_refused_and_left_alone() {
    let dir = folder("newer");
    let path = dir.join("later.sinew.glb");
    let bytes = write_project(&BIPED, &mut Warnings::default()).unwrap();
    let old = br#""version":1"#;
    let at = bytes.windows(old.len()).position(|window| window == old).unwrap();
    let mut newer = bytes.clone();
    newer[at + old.len() - 1] = b'9';
    std::fs::write(&path, &newer).unwrap();
    let error = open_file(&path, &mut |_| ControlFlow::Continue(()), &mut Warnings::default()).unwrap_err();
    assert!(matches!(&error, SessionError::Newer { found: 9, known: 1, .. }), "{error}");
    assert!(error.to_string().contains("later.sinew.glb") && error.to_string().contains("update Sinew"));
    assert_eq!(std::fs::read(&path).unwrap(), newer);
    std::fs::remove_dir_all(dir).unwrap();
}

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
    assert!(error.contains("GB") && error.contains("frames a second"), "{error}");
    // What it advises is accepted; stopped at once, since nobody wants it.
    let advised: f64 = error.split("at most ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    let stopped = stack.run(&document, &params(advised), &mut stage, &stop);
    assert!(matches!(stopped, Err(SessionError::Cancelled)), "{advised}");
}

/// Renaming, moving a centre or another follower must not factor anything anew, but moves must see it.
#[test]
fn only_what_handles_hold_is_prepared_anew() {
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
    assert_eq!(names(&back), ["wave", "bow", "step"]);
    let prepared = Prepared::new(&BIPED, &go_on).unwrap();
    let size = BIPED.mesh().diagonal();
    for (clip, example) in back.clips.iter().zip(&BIPED.examples) {
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

#[test]
fn jobs_tell_how_far_they_are_and_can_be_stopped() {
    let jobs = Jobs::default();
    let (a, b) = (jobs.start("open", "one"), jobs.start("fit", "two"));
    assert_eq!(a.share(), None);
    assert!(a.update(0.25).is_continue() && a.share() == Some(0.25));
    assert!(jobs.cancel(b.id()) && b.update(0.5).is_break() && a.update(0.5).is_continue());
    jobs.finish(&a);
    assert!(!jobs.cancel(a.id()) && jobs.list().len() == 1);
}

/// The other side of the next test: works without end in a process of its own, to be killed.
#[test]
fn work_until_killed() {
    let Some(root) = std::env::var_os("SINEW_TEST_KILL") else { return };
    let root = PathBuf::from(root);
    let mut session = Session::new(BIPED.clone(), None, Some(root.join("journals")));
    session.apply(&Command::Rename { name: "worked on".into() }, None).unwrap();
    let begun = std::time::Instant::now();
    for step in 0.. {
        let now = begun.elapsed().as_millis();
        session.drag(Gesture(step / 200), turn("elbow.L", (step % 200) as f64)).unwrap();
        if step % 37 == 0 {
            session.save(&root.join("project.sinew.glb"), &mut Warnings::default()).unwrap();
            session.apply(&Command::Rename { name: format!("worked on {now}") }, None).unwrap();
        }
        // When it was done, for the other side to compare with.
        std::fs::write(root.join("clock.new"), now.to_string()).unwrap();
        std::fs::rename(root.join("clock.new"), root.join("clock")).unwrap();
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn killing_it_loses_a_moment_at_most() {
    for (round, wait_ms) in [1500, 3100, 8000].into_iter().enumerate() {
        let root = folder(&format!("kill-{round}"));
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["tests::work_until_killed", "--exact", "--nocapture"])
            .env("SINEW_TEST_KILL", &root)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        // Not before it has begun: a slow machine must not make this pass.
        let clock =
            || std::fs::read_to_string(root.join("clock")).ok().and_then(|text| text.parse::<u64>().ok());
        while clock().is_none_or(|ms| ms < 50) {
            assert!(child.try_wait().unwrap().is_none(), "the child ended by itself");
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_millis(wait_ms));
        child.kill().unwrap();
        child.wait().unwrap();
        let last = clock().unwrap();
        // The file is whole whenever it was being written.
        let mut warnings = Warnings::default();
        open_file(&root.join("project.sinew.glb"), &mut |_| ControlFlow::Continue(()), &mut warnings)
            .unwrap();
        let found = Recovery::find_all(&root.join("journals"));
        assert_eq!(found.len(), 1);
        assert!(found[0].title.starts_with("biped") && found[0].path.is_some());
        let recovered = found[0].recover(&mut warnings).unwrap();
        assert_eq!(warnings.messages, [""; 0]);
        let document = recovered.history.document();
        // Every drag turns the same handle further, so that the pose is one turn however many there were.
        assert!(matches!(document.pose.as_slice(), [Move::Rotate { .. }]), "{:?}", document.pose);
        assert!(recovered.history.len() >= 2);
        // Names tell the millisecond. Some time passes between two of them, too.
        let named: u64 = document.name.trim_start_matches("worked on").trim().parse().unwrap();
        assert!(last - named < 5000, "{last} ms had passed, {named} ms were found");
        // Nobody else may take it up as long as we look at it.
        assert!(Recovery::find_all(&root.join("journals")).is_empty());
        // Taken up, it is a session that can be recovered again.
        let mut session = Session::new(BIPED.clone(), None, Some(root.join("journals")));
        session.take_up(recovered);
        assert!(session.is_dirty());
        session.flush();
        drop(session);
        found.into_iter().for_each(Recovery::discard);
        assert_eq!(Recovery::find_all(&root.join("journals")).len(), 1);
        std::fs::remove_dir_all(root).unwrap();
    }
}

#[test]
fn a_long_journal_begins_anew_and_going_back_beyond_it_is_kept() {
    let root = folder("anew");
    let mut session = Session::new(BIPED.clone(), None, Some(root.clone()));
    session.apply(&Command::Rename { name: "first".into() }, None).unwrap();
    session.apply(&Command::Rename { name: "second".into() }, None).unwrap();
    session.flush();
    // Twenty thousand vertices a line: more than the journal holds.
    let vertices: Vec<u32> = (0..1000).cycle().take(400_000).collect();
    for stroke in 0..40 {
        let weight = if stroke % 2 == 0 { 1.0 } else { 0.5 };
        let paint =
            Command::Paint { handle: "all".into(), op: PaintOp::Add, vertices: vertices.clone(), weight };
        session.apply(&paint, None).unwrap();
        session.flush();
    }
    let n_bytes = |root: &Path| -> u64 {
        let folder = std::fs::read_dir(root).unwrap().next().unwrap().unwrap().path();
        std::fs::metadata(folder.join("journal.jsonl")).unwrap().len()
    };
    assert!(n_bytes(&root) < 64 << 20);
    session.jump(1);
    session.flush();
    drop(session);
    let found = Recovery::find_all(&root);
    let recovered = found[0].recover(&mut Warnings::default()).unwrap();
    assert_eq!(recovered.history.document().name, "first");
    drop(found);
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn saved_work_is_not_offered_for_recovery() {
    let root = folder("clean");
    let mut session = Session::new(BIPED.clone(), None, Some(root.join("journals")));
    session.apply(&Command::Rename { name: "x".into() }, None).unwrap();
    session.save(&root.join("x.sinew.glb"), &mut Warnings::default()).unwrap();
    drop(session);
    assert!(Recovery::find_all(&root.join("journals")).is_empty());
    // Unsaved work on a document stays when another is opened.
    let mut session = Session::new(BIPED.clone(), None, Some(root.join("journals")));
    session.apply(&Command::Rename { name: "y".into() }, None).unwrap();
    session.open(BIPED.clone(), None);
    let found = Recovery::find_all(&root.join("journals"));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].recover(&mut Warnings::default()).unwrap().history.document().name, "y");
    found.into_iter().for_each(Recovery::discard);
    assert!(Recovery::find_all(&root.join("journals")).is_empty());
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn pictures_of_poses_show_the_pose() {
    let pixels = |png: &[u8]| {
        let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        pixels
    };
    let rest = pixels(&draw_thumbnail(&BIPED.body, BIPED.mesh().positions()));
    let covered = rest.as_chunks::<4>().0.iter().filter(|pixel| pixel[3] == 255).count();
    // A figure fills some of the picture, and not all of it.
    assert!((2_000..20_000).contains(&covered), "{covered}");
    let [wave, bow] = [0, 1].map(|k| pixels(BIPED.examples[k].thumbnail.as_ref().unwrap()));
    assert!(wave != bow && wave != rest);
    // Nothing at all is a picture of nothing.
    let nothing = draw_thumbnail(&sinew_geom::Character::default(), &[]);
    assert!(pixels(&nothing).iter().all(|&byte| byte == 0));
}

/// Undone and done again across a journal that does not hold those steps.
#[test]
fn recovered_work_can_be_undone_done_again_and_recovered() {
    let root = folder("again");
    let mut session = Session::new(BIPED.clone(), None, Some(root.clone()));
    for name in ["one", "two", "three"] {
        session.apply(&Command::Rename { name: name.into() }, None).unwrap();
    }
    assert!(session.flush());
    drop(session);
    type Work<'a> = (&'a dyn Fn(&mut Session), &'a str);
    let rename = |session: &mut Session, name: &str| {
        session.apply(&Command::Rename { name: name.into() }, None).unwrap();
    };
    let undone_and_done = |session: &mut Session| {
        session.undo();
        session.flush();
        session.redo();
    };
    let undone_and_renamed = |session: &mut Session| {
        rename(session, "four");
        session.undo();
        rename(session, "five");
        rename(session, "six");
        session.undo();
    };
    let to_the_start = |session: &mut Session| {
        session.jump(0);
        session.flush();
        session.redo();
        session.undo();
    };
    let work: [Work; 3] =
        [(&undone_and_done, "three"), (&undone_and_renamed, "five"), (&to_the_start, "three")];
    for (doing, name) in work {
        let found = Recovery::find_all(&root);
        let recovered = found[0].recover(&mut Warnings::default()).unwrap();
        assert!(recovered.is_complete);
        let mut session = Session::new(BIPED.clone(), None, Some(root.clone()));
        session.take_up(recovered);
        assert!(session.flush());
        found.into_iter().for_each(Recovery::discard);
        doing(&mut session);
        assert_eq!(session.document().name, name);
        assert!(session.flush());
        drop(session);
        let found = Recovery::find_all(&root);
        let mut warnings = Warnings::default();
        assert_eq!(found[0].recover(&mut warnings).unwrap().history.document().name, name);
        assert_eq!(warnings.messages, [""; 0]);
    }
    std::fs::remove_dir_all(root).unwrap();
}

/// A save that ends after the work has gone on.
#[test]
fn a_late_save_marks_what_was_saved_and_nothing_else() {
    let mut session = Session::new(BIPED.clone(), None, None);
    let rename = |name: &str| Command::Rename { name: name.into() };
    session.apply(&rename("saved"), None).unwrap();
    let saved = session.document().clone();
    session.undo();
    session.apply(&rename("other"), None).unwrap();
    assert!(session.mark_saved(&saved, Path::new("a.sinew.glb")));
    assert!(session.is_dirty() && session.path().is_some());
    // The same place in the history, but not the same state.
    session.undo();
    assert!(session.is_dirty());
    session.open(BIPED.clone(), None);
    let another = Document::new(build_character(Sample::Sack, 1_000).unwrap());
    session.open(another, None);
    assert!(!session.mark_saved(&saved, Path::new("a.sinew.glb")));
    assert!(session.path().is_none() && !session.is_dirty());
}

#[test]
fn a_journal_that_is_not_understood_is_left_alone() {
    let root = folder("later");
    let mut session = Session::new(BIPED.clone(), None, Some(root.clone()));
    session.apply(&Command::Rename { name: "x".into() }, None).unwrap();
    assert!(session.flush());
    drop(session);
    let of = std::fs::read_dir(&root).unwrap().next().unwrap().unwrap().path();
    let lines = of.join("journal.jsonl");
    let text = std::fs::read_to_string(&lines).unwrap();
    std::fs::write(
        &lines,
        format!("{text}{{\"done\":{{\"merged\":false,\"command\":{{\"dance\":{{}}}}}}}}\n"),
    )
    .unwrap();
    let found = Recovery::find_all(&root);
    assert!(!found[0].recover(&mut Warnings::default()).unwrap().is_complete);
    drop(found);
    std::fs::write(&lines, "{\"begun\":1}\n").unwrap();
    assert!(Recovery::find_all(&root).is_empty() && of.exists());
    std::fs::remove_dir_all(root).unwrap();
}
