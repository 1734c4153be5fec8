//! The studio without sockets: who waits for whom, and what is shared.

#![allow(clippy::unwrap_used)]

use crate::{
    capabilities::{ActPart, ClipsPart, FilePart, HandlesPart, HistoryPart, PosePart, SurfacePart},
    engine,
    files::Files,
    studio::{Drag, MAX_DRAGS, Studio},
    wire::{Context, GestureId, Page, Part, Snapshot, registry},
};
use serde_json::{Value, json};
use sinew::{
    geom::{
        Warnings,
        sample::{Sample, build_character},
    },
    session::{ClipSource, Command, Document, SessionError, read_project, write_project},
};
use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// A studio in a folder of its own, which is removed with it.
struct Desk {
    studio: Arc<Studio>,
    folder: PathBuf,
}

impl Desk {
    fn new(name: &str, sample: Sample, n_vertices: usize) -> Self {
        let folder = std::env::temp_dir().join(format!("sinew-desk-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("root")).unwrap();
        let files = Files::new(&folder.join("root"), &folder.join("home"), "run").unwrap();
        let document = Document::new(build_character(sample, n_vertices).unwrap());
        let studio = Arc::new(Studio::new("1".into(), document, None, files).unwrap());
        Self { studio, folder }
    }

    /// Let the engine run for as long as something is done.
    fn with_engine<T>(&self, work: impl FnOnce() -> T) -> T {
        std::thread::scope(|scope| {
            let _stop = Stop(&self.studio);
            scope.spawn(|| engine::run(&self.studio));
            work()
        })
    }

    fn ask(&self, page: u64, message: Value) -> anyhow::Result<Value> {
        let call = registry().call(message["type"].as_str().unwrap(), &message.to_string()).unwrap();
        self.studio.settle(page);
        Ok(serde_json::from_str(&call.run(&Context { studio: &self.studio, page })?)?)
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Releases all waiting threads, also when a test fails: else it would never end.
struct Stop<'a>(&'a Studio);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.pending().stop = true;
        self.0.ring();
    }
}

fn drag(page: u64, drag: u32, degrees: Option<i32>, end: bool) -> Drag {
    let step = degrees.map(|degrees| {
        let turn = json!({ "move": { "rotate": { "main": "head", "axis": [1, 0, 0], "degrees": degrees } } });
        registry().step("rotate", &turn.to_string()).unwrap()
    });
    Drag { gesture: GestureId { page, drag }, step, end }
}

/// Come true soon, or not at all.
fn until(what: impl Fn() -> bool) {
    for _ in 0..3000 {
        if what() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("it never came true");
}

#[test]
fn of_each_gesture_the_newest_move_waits() {
    let desk = Desk::new("queue", Sample::Sack, 1_000);
    for degrees in 1..=9 {
        desk.studio.leave_drag(drag(1, 10, Some(degrees), false));
        desk.studio.leave_drag(drag(2, 20, Some(-degrees), degrees == 9));
    }
    // A page that goes takes nothing back.
    desk.studio.leave_drag(drag(1, 10, None, true));
    desk.studio.leave_drag(drag(2, 21, Some(3), false));
    let queue: Vec<Drag> = desk.studio.pending().drags.drain(..).collect();
    let wanted = [drag(1, 10, Some(9), true), drag(2, 20, Some(-9), true), drag(2, 21, Some(3), false)];
    assert_eq!(format!("{queue:?}"), format!("{wanted:?}"));
}

#[test]
fn the_end_of_a_gesture_has_room_where_a_beginning_has_none() {
    let desk = Desk::new("full", Sample::Sack, 1_000);
    let most = u32::try_from(MAX_DRAGS).unwrap();
    (0..most).for_each(|k| desk.studio.leave_drag(drag(1, k, Some(1), false)));
    desk.studio.leave_drag(drag(1, most, Some(2), false));
    desk.studio.leave_drag(drag(1, most + 1, Some(3), true));
    let queue: Vec<Drag> = desk.studio.pending().drags.drain(..).collect();
    assert_eq!(queue.len(), MAX_DRAGS + 1);
    assert_eq!(format!("{:?}", queue.last().unwrap()), format!("{:?}", drag(1, most + 1, Some(3), true)));
}

#[test]
fn gestures_do_not_wait_for_each_other() {
    let desk = Desk::new("settle", Sample::Sack, 1_000);
    // Nothing takes it up: there is no engine.
    desk.studio.leave_drag(drag(1, 10, Some(5), false));
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _stop = Stop(&desk.studio);
        let rename = json!({ "type": "do", "command": { "rename": { "name": "at once" } } });
        scope.spawn(|| desk.ask(2, rename).unwrap());
        until(|| desk.studio.session().document().name == "at once");
        scope.spawn(|| {
            desk.ask(1, json!({ "type": "undo" })).unwrap();
            is_done.store(true, Ordering::Relaxed);
        });
        std::thread::sleep(Duration::from_millis(100));
        assert!(!is_done.load(Ordering::Relaxed), "its own gesture comes first");
        // Taken up, and then done.
        let mut pending = desk.studio.pending();
        pending.dragging = pending.drags.pop_front().map(|drag| drag.gesture.page);
        drop(pending);
        std::thread::sleep(Duration::from_millis(100));
        assert!(!is_done.load(Ordering::Relaxed));
        desk.studio.drag_done();
        until(|| is_done.load(Ordering::Relaxed));
    });
}

#[test]
fn results_of_one_document_do_not_reach_another() {
    let desk = Desk::new("other", Sample::Sack, 1_000);
    let body = desk.studio.session().document().body.clone();
    let paint = Command::Paint {
        handle: "late".into(),
        op: sinew::session::PaintOp::Add,
        vertices: vec![1, 2, 3],
        weight: 1.0,
    };
    desk.studio.apply_on(&body, &paint, None).unwrap();
    let other = Document::new(build_character(Sample::Bar, 1_000).unwrap());
    let n_handles = other.handles.len();
    desk.studio.open(other, None, Warnings::default());
    let done = desk.studio.apply_on(&body, &paint, None);
    assert!(matches!(done, Err(SessionError::Cancelled)), "{done:?}");
    assert_eq!(desk.studio.session().document().handles.len(), n_handles);
    assert!(!desk.studio.session().is_dirty());
}

/// Repairing takes long; meanwhile other requests are answered.
#[test]
fn long_commands_do_not_hold_the_session() {
    let desk = Desk::new("long", Sample::Quadruped, 60_000);
    let is_at_work = || desk.studio.jobs.list().iter().any(|job| job.kind() == "command");
    let n_heard = std::thread::scope(|scope| {
        scope.spawn(|| desk.ask(1, json!({ "type": "do", "command": { "repair": {} } })).unwrap());
        until(is_at_work);
        let mut n_heard = 0;
        while is_at_work() {
            // Counts only if it was still at work when we had the session.
            let name = desk.studio.session().document().name.clone();
            n_heard += usize::from(is_at_work() && !name.is_empty());
            std::thread::sleep(Duration::from_millis(2));
        }
        n_heard
    });
    assert!(n_heard >= 10, "the session was free {n_heard} times");
    until(|| desk.studio.session().history().len() == 2);
}

/// Between two dabs of a brush the surface stays where it is, and so do its search trees.
#[test]
fn dabs_of_a_brush_share_their_search_trees() {
    let desk = Desk::new("dabs", Sample::Biped, 2_000);
    desk.with_engine(|| {
        let shown = || desk.studio.shown().ok();
        until(|| shown().is_some());
        let mut meshes = Vec::new();
        for dab in 0..3u32 {
            let region = json!({ "vertices": [dab, dab + 1] });
            desk.ask(
                1,
                json!({ "type": "paint", "handle": "new", "op": "add", "region": region, "stroke": 1 }),
            )
            .unwrap();
            let has_it = |n: usize| {
                shown().is_some_and(|shown| {
                    shown.document.handles.iter().any(|h| h.name == "new" && h.vertices.len() == n)
                })
            };
            until(|| has_it(dab as usize + 2));
            meshes.push(shown().unwrap().mesh());
        }
        assert!(Arc::ptr_eq(&meshes[0], &meshes[1]) && Arc::ptr_eq(&meshes[1], &meshes[2]));
        // Another pose is another surface.
        let moves =
            json!([{ "rotate": { "main": "head", "handles": [], "axis": [1, 0, 0], "degrees": 20 } }]);
        desk.ask(1, json!({ "type": "do", "command": { "set_pose": { "moves": moves } } })).unwrap();
        until(|| shown().is_some_and(|shown| !shown.document.pose.is_empty()));
        assert!(!Arc::ptr_eq(&meshes[2], &shown().unwrap().mesh()));
    });
}

/// After a reply the next state contains what was done.
#[test]
fn what_was_done_is_news_before_it_is_answered() {
    let desk = Desk::new("news", Sample::Sack, 1_000);
    let before = desk.studio.versions();
    desk.ask(1, json!({ "type": "do", "command": { "add_handle": { "name": "fresh" } } })).unwrap();
    let after = desk.studio.versions();
    let is_news = |part: Option<usize>| after.differs(&before, part.unwrap());
    let registry = registry();
    assert!(is_news(registry.index::<HandlesPart>()) && is_news(registry.index::<HistoryPart>()));
    assert!(is_news(registry.index::<FilePart>()) && !is_news(registry.index::<PosePart>()));
    assert!(!is_news(registry.index::<SurfacePart>()) && !is_news(registry.index::<ClipsPart>()));
}

/// Send a cue of an actor, and wait for the shape that answers it.
fn cue(desk: &Desk, drag: u32, cue: Value) -> Vec<glam::Vec3> {
    let mut page = Page::open(desk.studio.clone(), Arc::new(|_| {})).unwrap();
    let message = json!({ "type": "drag", "drag": drag, "move": { "puppet": cue }, "end": true });
    assert!(page.receive(&message.to_string()).is_none());
    for _ in 0..500 {
        let shown = desk.studio.shown().ok();
        let answers = |drags: &[GestureId]| drags.iter().any(|gesture| gesture.drag == drag);
        if let Some(shown) = shown.filter(|shown| answers(&shown.drawn.drags)) {
            return shown.drawn.frame.positions.clone();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("cue {drag} was never answered");
}

/// What pages are sent of the performance.
fn act(desk: &Desk) -> Value {
    let snapshot = Snapshot { studio: &desk.studio, document: desk.studio.document() };
    serde_json::to_value(ActPart::value(&snapshot, &mut ()).unwrap()).unwrap()["act"].take()
}

/// 33 landmarks of a standing person, with one of them elsewhere.
fn landmarks(at: usize, x: f64, sure: f64) -> Value {
    let row = |k: usize| {
        let y = match k {
            0..=10 => -0.6,
            11 | 12 => -0.45,
            13..=22 => -0.2,
            23 | 24 => 0.0,
            25 | 26 => 0.4,
            _ => 0.8,
        };
        let side = if k % 2 == 1 { 0.15 } else { -0.15 };
        if k == at { json!([x, y, 0.0, sure]) } else { json!([side, y, 0.0, 0.99]) }
    };
    (0..33).map(row).collect()
}

/// Every cue is answered by a shape: the actor's if it is valid, else the one before.
#[test]
fn an_actor_is_followed_whatever_it_sends() {
    let desk = Desk::new("actor", Sample::Bar, 1000);
    desk.with_engine(|| {
        desk.ask(1, json!({ "type": "puppet_demo", "name": "bar" })).unwrap();
        let standing = cue(&desk, 1, json!({ "frame": 0 }));
        // The crouch of the demonstration squeezes the bar.
        let squeezed = cue(&desk, 2, json!({ "frame": 372 }));
        let height = |shape: &[glam::Vec3]| shape.iter().map(|p| p.y).fold(0.0, f32::max);
        assert!(height(&squeezed) < 0.9 * height(&standing), "{} {}", height(&squeezed), height(&standing));
        let before = cue(&desk, 3, json!({ "frame": 372 }));
        for (k, bad) in [
            json!({ "frame": 100_000 }),
            json!({ "frame": -1 }),
            json!("nonsense"),
            json!({ "camera": { "time": 0.0, "world": [[0, 0, 0, 1]] } }),
            json!({ "camera": { "time": "now" } }),
        ]
        .into_iter()
        .enumerate()
        {
            assert_eq!(cue(&desk, 10 + k as u32, bad), before);
        }
        // A camera: a body, none, a landmark far away, an uncertain one.
        for (k, world) in
            [landmarks(99, 0.0, 1.0), Value::Null, landmarks(16, 1e9, 0.99), landmarks(16, 0.0, 0.1)]
                .into_iter()
                .enumerate()
        {
            let shape =
                cue(&desk, 20 + k as u32, json!({ "camera": { "time": k as f64 / 10.0, "world": world } }));
            assert!(shape.iter().all(|p| p.is_finite()), "cue {k}");
        }
        let missing = act(&desk)["missing"].clone();
        assert_eq!(missing[0], "arm.R", "the limb that is not seen is named");
        desk.ask(1, json!({ "type": "act_end" })).unwrap();
        assert!(act(&desk).is_null());
    });
}

/// Pairs and takes by request, as steps of history.
#[test]
fn poses_are_paired_and_takes_kept() {
    let desk = Desk::new("pairs", Sample::Bar, 1000);
    desk.with_engine(|| {
        let refuse = |message: Value| desk.ask(1, message).unwrap_err().to_string();
        assert!(refuse(json!({ "type": "pair", "name": "a", "target": "rest" })).contains("no actor"));
        assert!(refuse(json!({ "type": "perform_all", "clip": "t" })).contains("no recording"));
        desk.ask(1, json!({ "type": "puppet_demo", "name": "bar" })).unwrap();
        cue(&desk, 1, json!({ "frame": 0 }));
        let posed = json!({ "type": "pair", "name": "a", "target": "posed" });
        assert!(refuse(posed).contains("at rest"));
        desk.ask(1, json!({ "type": "pair", "name": "a", "target": { "clip": ["bend", 0.5] } })).unwrap();
        let document = desk.studio.session().document().clone();
        let pair = &document.puppet.pairs[document.puppet.find("a").unwrap()];
        assert!(pair.thumbnail.is_some() && pair.pair.body.len() == 20);
        desk.ask(1, json!({ "type": "take_begin" })).unwrap();
        for k in 0..12u32 {
            cue(&desk, 2 + k, json!({ "frame": k }));
        }
        desk.ask(1, json!({ "type": "take_end", "clip": "take 1" })).unwrap();
        let clip = |name: &str| desk.studio.session().document().find_clip(name).is_ok();
        assert!(clip("take 1"));
        // What made it is known, also after saving and renaming.
        let document = desk.studio.document();
        let is_take =
            |document: &Document, clip: &str| document.clip_sources.get(clip) == Some(&ClipSource::Take);
        let renamed =
            Command::RenameClip { clip: "take 1".into(), to: "leap".into() }.apply(&document).unwrap();
        let bytes = write_project(&renamed, &mut Warnings::default()).unwrap();
        let read =
            read_project(&bytes, std::path::Path::new("leap.sinew.glb"), &mut Warnings::default()).unwrap();
        assert!(is_take(&document, "take 1") && is_take(&read, "leap") && !is_take(&read, "take 1"));
        assert!(refuse(json!({ "type": "take_end", "clip": "take 2" })).contains("nothing is recorded"));
        desk.ask(1, json!({ "type": "undo" })).unwrap();
        assert!(!clip("take 1"));
        desk.ask(1, json!({ "type": "calibrate", "on": true })).unwrap();
        assert!(desk.studio.session().document().puppet.settings.calibration.is_some());
    });
}
