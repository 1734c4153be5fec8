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

mod journal;
mod stage;

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
        (0.0..50.0).prop_map(|x| Command::SetEdit(EditChange { inside: Some(x), ..Default::default() })),
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
    // A second turn about the same axis continues the first, as its own step of history.
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

/// Two tabs on one document: each gesture replaces its own move only, whatever the other does.
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
    // Both gestures, the name, both gestures again: not a step for each time they took turns.
    let labels: Vec<&str> = session.history().labels().map(|label| &**label).collect();
    assert_eq!(labels.len(), 4, "{labels:?}");
    // A pose set by another command is turned further.
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
fn jobs_report_how_far_they_are_and_can_be_stopped() {
    let jobs = Jobs::default();
    let (a, b) = (jobs.start("open", "one"), jobs.start("fit", "two"));
    assert_eq!(a.share(), None);
    assert!(a.update(0.25).is_continue() && a.share() == Some(0.25));
    assert!(jobs.cancel(b.id()) && b.update(0.5).is_break() && a.update(0.5).is_continue());
    jobs.finish(&a);
    assert!(!jobs.cancel(a.id()) && jobs.list().len() == 1);
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
