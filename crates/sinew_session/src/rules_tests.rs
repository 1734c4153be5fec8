//! Rules, markers, kept poses and refitted clips, as a user's program sees them.

use super::*;
use glam::DVec3;
use sinew_formats::paths::GroundData;
use sinew_geom::{
    Clip, Warnings,
    sample::{Sample, build_character},
};
use std::{
    ops::ControlFlow,
    path::Path,
    sync::{Arc, LazyLock},
};

static BIPED: LazyLock<Document> =
    LazyLock::new(|| Document::new(build_character(Sample::Biped, 1_500).unwrap()));

fn apply(document: &Document, change: RulesChange) -> Document {
    Command::Rules(change).apply(document).unwrap()
}

fn refused(document: &Document, change: RulesChange) -> String {
    Command::Rules(change).apply(document).unwrap_err().to_string()
}

fn text(text: &str) -> RulesChange {
    RulesChange::Text { text: text.into() }
}

fn marker(name: &str, position: [f64; 3]) -> RulesChange {
    RulesChange::Marker { name: name.into(), position }
}

/// The biped with a hand pinned to a marker and a toe on a plane.
fn ruled() -> Document {
    let document = apply(&BIPED, marker("Cup", [0.3, 1.2, 0.3]));
    let plane = RulesChange::Plane { name: "Step".into(), point: [0.0, 0.2, 0.0], normal: [0.0, 2.0, 0.0] };
    apply(&apply(&document, plane), text("pin hand.L to Cup # the cup\nput toe.R on Step\n"))
}

fn joint(document: &Document, solved: &Solved, name: &str) -> DVec3 {
    solved.world.positions[document.body.rig.as_ref().unwrap().find(name).unwrap()]
}

fn solve(document: &Document) -> Arc<Solved> {
    Ruled::new(document, None).unwrap().solved.unwrap()
}

#[test]
fn joints_go_where_markers_and_planes_are_and_the_skin_follows() {
    let document = ruled();
    let solved = solve(&document);
    assert!(joint(&document, &solved, "hand.L").distance(DVec3::new(0.3, 1.2, 0.3)) < 1e-5);
    assert!((joint(&document, &solved, "toe.R").y - 0.2).abs() < 1e-5);
    // Marks are at the joints, and point nowhere where rules hold.
    assert_eq!(solved.marks.len(), 2);
    assert!(solved.marks.iter().all(|mark| mark.from.distance(mark.to) < 1e-5));
    // A vertex that follows the hand alone has moved as the hand.
    let frame = Stage::default().show(&document, &Display::Ruled, &|_| ControlFlow::Continue(())).unwrap();
    let body = &document.body;
    let (rig, skin) = (body.rig.as_ref().unwrap(), body.skin.as_ref().unwrap());
    let hand = rig.find("hand.L").unwrap();
    let is_hands =
        |v: &usize| skin.vertex(*v).any(|(slot, w)| skin.slots[slot as usize].joint == hand && w > 0.999);
    let v = (0..document.mesh().n_vertices()).find(is_hands).unwrap();
    let at_rest = rig.rest_world()[hand].inverse().transform_point3(document.mesh().positions()[v]);
    let mut world = Vec::new();
    rig.forward(&solved.pose, &mut world).unwrap();
    let expected = world[hand].transform_point3(at_rest);
    assert!(frame.positions[v].as_dvec3().distance(expected) < 1e-3);
}

#[test]
fn marks_say_which_way_and_how_far() {
    let document = apply(&ruled(), text("lock chest\npin hand.L to Cup\npin hand.L to (30, 150, 30) cm\n"));
    let solved = solve(&document);
    let marks = &solved.marks;
    assert_eq!(marks.len(), 2);
    // Each is off by half of the way between the two places.
    assert!((marks[0].to - marks[0].from - DVec3::new(0.0, -0.15, 0.0)).length() < 1e-3, "{marks:?}");
    assert!((marks[1].to - marks[1].from - DVec3::new(0.0, 0.15, 0.0)).length() < 1e-3, "{marks:?}");
    assert_eq!(solved.solution.report.conflicts.len(), 1);
}

#[test]
fn a_text_with_errors_keeps_the_pose_and_tells_the_place() {
    let good = ruled();
    let mut stage = Stage::default();
    let before = stage.ruled(&good).unwrap();
    assert!(Arc::ptr_eq(&before, &stage.ruled(&good).unwrap()), "solved once");
    let bad = apply(&good, text("pin hand.L to Cup\npin hnd.L to Cup\n"));
    let after = stage.ruled(&bad).unwrap();
    assert!(after.is_stale);
    assert!(Arc::ptr_eq(after.solved.as_ref().unwrap(), before.solved.as_ref().unwrap()));
    let fault = &after.diagnostics[0];
    assert_eq!((fault.span.line, fault.span.column), (2, 5));
    assert!(fault.message.contains("hand.L"), "{fault}");
    // Such a pose is not kept.
    let error = Command::KeepPose { clip: "x".into() }.apply(&bad).unwrap_err().to_string();
    assert!(error.contains("2:5") && error.contains("hnd.L"), "{error}");
}

#[test]
fn solving_begins_with_a_moment_of_a_clip() {
    let document = apply(&BIPED, text("keep pose\n"));
    let start = |clip: &str| RulesChange::Start { start: Some(StartData { clip: clip.into(), time: 0.4 }) };
    let started = apply(&document, start("walk"));
    let rig = document.body.rig.as_ref().unwrap();
    let wanted = document.clips[document.find_clip("walk").unwrap()].sample(rig, 0.4);
    let found = solve(&started);
    for (a, b) in found.pose.locals.iter().zip(&wanted.locals) {
        assert!(a.rotation.dot(b.rotation).abs() > 1.0 - 1e-6);
    }
    assert!(refused(&document, start("run")).contains("run"));
    // The clip may go or get another name; the start follows it.
    let renamed = Command::RenameClip { clip: "walk".into(), to: "stroll".into() }.apply(&started).unwrap();
    assert_eq!(renamed.rules.start.as_ref().unwrap().clip, "stroll");
    let removed = Command::RemoveClip { clip: "stroll".into() }.apply(&renamed).unwrap();
    assert_eq!(removed.rules.start, None);
}

#[test]
fn names_are_taken_once_and_renamed_in_the_text() {
    let document = ruled();
    for name in ["Step", "hand.L", "", "a\"b"] {
        let error = refused(&document, RulesChange::Rename { name: "Cup".into(), to: name.into() });
        assert!(error.contains("choose another"), "{error}");
    }
    assert!(refused(&document, marker("head", [0.0; 3])).contains("head"));
    assert!(refused(&document, marker("Far", [f64::NAN, 0.0, 0.0])).contains("Far"));
    let flat = RulesChange::Plane { name: "No".into(), point: [0.0; 3], normal: [0.0; 3] };
    assert!(refused(&document, flat).contains("normal"));
    let renamed = apply(&document, RulesChange::Rename { name: "Cup".into(), to: "tea cup".into() });
    assert_eq!(renamed.rules.text, "pin hand.L to \"tea cup\" # the cup\nput toe.R on Step\n");
    assert!(!Ruled::new(&renamed, None).unwrap().is_stale);
    let removed = apply(&renamed, RulesChange::Remove { name: "Step".into() });
    assert!(Ruled::new(&removed, None).unwrap().diagnostics[0].message.contains("Step"));
    assert!(refused(&removed, RulesChange::Remove { name: "Step".into() }).contains("tea cup"));
}

#[test]
fn a_kept_pose_is_a_clip_that_is_exchanged_but_exchanges_no_other() {
    let kept = Command::KeepPose { clip: "stance".into() }.apply(&ruled()).unwrap();
    let again = Command::KeepPose { clip: "stance".into() }.apply(&kept).unwrap();
    assert_eq!(again.clips.len(), BIPED.clips.len() + 1);
    let clip = &again.clips[again.find_clip("stance").unwrap()];
    let rig = again.body.rig.as_ref().unwrap();
    let (sampled, solved) = (clip.sample(rig, 0.0), solve(&again));
    let world = sinew_constrain::clip::JointFrames::of(rig, &sampled);
    for (a, b) in world.positions.iter().zip(&solved.world.positions) {
        assert!(a.distance(*b) < 1e-5);
    }
    let error = Command::KeepPose { clip: "walk".into() }.apply(&kept).unwrap_err().to_string();
    assert!(error.contains("taken"), "{error}");
}

#[test]
fn rules_are_saved_undone_and_scaled() {
    let document = ruled();
    let contacts = vec![ContactData { foot: "foot.L".into(), heel: true, frames: [0, 4] }];
    let change = RulesChange::Contacts { clip: "walk".into(), fps: 30.0, contacts: Some(contacts) };
    let document = apply(&document, change);
    let mut warnings = Warnings::default();
    let bytes = write_project(&document, &mut warnings).unwrap();
    let back = read_project(&bytes, Path::new("a.sinew.glb"), &mut warnings).unwrap();
    assert_eq!(warnings.messages, [""; 0]);
    assert_eq!(back.rules, document.rules);
    // Continuous typing is one step; markers are steps of their own.
    let mut session = Session::new(BIPED.clone(), None, None);
    session.apply(&Command::Rules(marker("Cup", [0.0; 3])), None).unwrap();
    session.apply(&Command::Rules(text("pin hand.L")), None).unwrap();
    session.apply(&Command::Rules(text("pin hand.L to Cup")), None).unwrap();
    assert_eq!(session.history().len(), 3);
    assert!(session.undo() && session.document().rules.text.is_empty());
    assert_eq!(session.document().rules.markers.len(), 1);
    let scaled = Command::Scale { factor: 2.0 }.apply(&document).unwrap();
    assert_eq!(scaled.rules.markers[0].position, [0.6, 2.4, 0.6]);
    assert_eq!(scaled.rules.planes[0].point, [0.0, 0.4, 0.0]);
    // What is invalid is left out of a file, and reported.
    let mut broken = document;
    Arc::make_mut(&mut broken.rules).markers[0].position[0] = 1e9;
    let bytes = write_project(&broken, &mut warnings).unwrap();
    let back = read_project(&bytes, Path::new("a.sinew.glb"), &mut warnings).unwrap();
    assert_eq!(*back.rules, RulesData::default());
    assert!(warnings.messages[0].contains("Cup"), "{:?}", warnings.messages);
}

#[test]
fn rules_survive_a_crash() {
    let root = std::env::temp_dir().join(format!("sinew-rules-{}", std::process::id()));
    let mut session = Session::new(BIPED.clone(), None, Some(root.clone()));
    session.apply(&Command::Rules(marker("Cup", [0.3, 1.2, 0.3])), None).unwrap();
    for k in 0..5 {
        let place = [0.3, 1.2 + 0.01 * f64::from(k), 0.3];
        session.apply(&Command::Rules(marker("Cup", place)), Some(Gesture(7))).unwrap();
    }
    session.apply(&Command::Rules(text("pin hand.L to Cup")), None).unwrap();
    session.apply(&Command::KeepPose { clip: "stance".into() }, None).unwrap();
    let settings = RefitSettings { clip: "walk".into(), to: "again".into(), ..RefitSettings::default() };
    session.apply(&Command::Refit { settings: Box::new(settings) }, None).unwrap();
    assert!(session.flush());
    let wanted = session.document().clone();
    drop(session);
    let found = Recovery::find_all(&root);
    let recovered = found[0].recover(&mut Warnings::default()).unwrap();
    assert_eq!(recovered.history.document().rules, wanted.rules);
    // Made again from the file as it was read back: the same up to its single precision.
    let names = |document: &Document| document.clips.iter().map(|clip| clip.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(recovered.history.document()), names(&wanted));
    for clip in ["stance", "again"] {
        let way = |document: &Document| {
            path(document, &document.clips[document.find_clip(clip).unwrap()], "hand.L")
        };
        for (a, b) in way(recovered.history.document()).iter().zip(&way(&wanted)) {
            assert!(a.distance(*b) < 1e-3, "{clip}: {a} {b}");
        }
    }
    std::fs::remove_dir_all(root).unwrap();
}

fn refitted(document: &Document, settings: RefitSettings) -> (Document, RefitNumbers) {
    refit_clip(document, &settings, &mut |_| ControlFlow::Continue(())).unwrap()
}

fn walk_to(to: &str) -> RefitSettings {
    RefitSettings { clip: "walk".into(), to: to.into(), ..RefitSettings::default() }
}

/// Where a joint is over a clip.
fn path(document: &Document, clip: &Clip, name: &str) -> Vec<DVec3> {
    let rig = document.body.rig.as_ref().unwrap();
    let joint = rig.find(name).unwrap();
    let at = |k: usize| sinew_constrain::clip::JointFrames::of(rig, &clip.sample(rig, k as f32 / 30.0));
    (0..=(clip.duration_secs() * 30.0).round() as usize).map(|k| at(k).positions[joint]).collect()
}

#[test]
fn contacts_by_hand_are_what_a_refit_holds() {
    let track = find_contact_track(&BIPED, "walk").unwrap();
    assert!(!track.edited && track.feet == ["foot.L", "foot.R"] && track.contacts.len() >= 4, "{track:?}");
    let held = |heel| ContactData { foot: "foot.R".into(), heel, frames: [0, track.frames - 1] };
    let contacts = Some(vec![held(true), held(false)]);
    let change = RulesChange::Contacts { clip: "walk".into(), fps: track.fps, contacts };
    let document = apply(&BIPED, change);
    assert!(find_contact_track(&document, "walk").unwrap().edited);
    // On a slope the walk goes ahead; the held foot does not.
    let ground = Some(GroundData::Slope(10.0));
    let (after, numbers) = refitted(&document, RefitSettings { ground, ..walk_to("held") });
    assert!(numbers.slide_cm_s < 1.0, "{numbers:?}");
    let clip = &after.clips[after.find_clip("held").unwrap()];
    let places = path(&after, clip, "foot.R");
    let still = places.iter().map(|at| at.distance(places[0])).fold(0.0, f64::max);
    assert!(still < 0.12, "the ankle only tilts: {still}");
    let other = path(&after, clip, "foot.L");
    assert!(other.iter().map(|at| at.distance(other[0])).fold(0.0, f64::max) > 0.3);
    // The ground is kept with its clip, and goes with it.
    assert_eq!(after.rules.grounds.len(), 1);
    let removed = Command::RemoveClip { clip: "held".into() }.apply(&after).unwrap();
    assert!(removed.rules.grounds.is_empty());
    // A foot that does not exist is reported.
    let lost = vec![ContactData { foot: "paw".into(), heel: true, frames: [0, 3] }];
    let change = RulesChange::Contacts { clip: "walk".into(), fps: 30.0, contacts: Some(lost) };
    let error = refit_clip(&apply(&BIPED, change), &walk_to("x"), &mut |_| ControlFlow::Continue(()));
    assert!(error.unwrap_err().to_string().contains("paw"));
}

#[test]
fn a_walk_in_place_stays_in_place_on_the_level_and_feet_stand_on_the_belt() {
    let (after, numbers) = refitted(&BIPED, walk_to("again"));
    // Feet do as in the clip, which is the same clip then.
    assert!((numbers.slide_cm_s - numbers.copied.slide_cm_s).abs() < 0.1, "{numbers:?}");
    assert!(numbers.penetration_cm < 0.5, "{numbers:?}");
    let clip = &after.clips[after.find_clip("again").unwrap()];
    let hips = path(&after, clip, "hips");
    assert!(hips.iter().all(|at| at.distance(hips[0]) < 0.12), "in place");
    assert!(refit_clip(&BIPED, &walk_to("walk"), &mut |_| ControlFlow::Continue(())).is_err(), "taken");
    let stopped = refit_clip(&BIPED, &walk_to("x"), &mut |_| ControlFlow::Break(()));
    assert!(matches!(stopped, Err(SessionError::Cancelled)));
}

#[test]
fn longer_limbs_stretch_the_skin_and_the_clips_go_on() {
    let (after, numbers) = refitted(&BIPED, RefitSettings { legs: 1.2, arms: 0.9, ..walk_to("tall") });
    // A body of other proportions slides as its clip does, in its own size.
    assert!(numbers.slide_cm_s < 1.1 * 1.2 * numbers.copied.slide_cm_s, "{numbers:?}");
    let (old, new) = (BIPED.body.rig.as_ref().unwrap(), after.body.rig.as_ref().unwrap());
    let length =
        |rig: &sinew_geom::Rig, name: &str| rig.joints()[rig.find(name).unwrap()].rest.translation.length();
    assert!((length(new, "shin.L") / length(old, "shin.L") - 1.2).abs() < 1e-9);
    assert!((length(new, "hand.R") / length(old, "hand.R") - 0.9).abs() < 1e-9);
    // Soles stay on the floor, the head rises, and the skin at rest is the mesh.
    let low = |document: &Document| document.mesh().bounds()[0].y;
    assert!((low(&after) - low(&BIPED)).abs() < 0.01, "{} {}", low(&after), low(&BIPED));
    assert!(after.mesh().bounds()[1].y > BIPED.mesh().bounds()[1].y + 0.1);
    let rest = after.body.positions_at(None, 0.0).unwrap();
    for (a, b) in rest.iter().zip(after.mesh().positions()) {
        assert!(a.as_dvec3().distance(*b) < 1e-4);
    }
    // The head keeps its shape: only what is between joints is stretched.
    let head = |document: &Document| {
        let rig = document.body.rig.as_ref().unwrap();
        let skin = document.body.skin.as_ref().unwrap();
        let head = rig.find("head").unwrap();
        let of_head =
            |v: &usize| skin.vertex(*v).any(|(slot, w)| skin.slots[slot as usize].joint == head && w > 0.999);
        let some: Vec<usize> = (0..document.mesh().n_vertices()).filter(of_head).collect();
        let at = |v: usize| document.mesh().positions()[v];
        at(some[0]).distance(at(some[some.len() - 1]))
    };
    assert!((head(&after) - head(&BIPED)).abs() < 1e-3);
    assert_eq!(after.clips.len(), BIPED.clips.len() + 1);
    let absurd = RefitSettings { legs: 40.0, ..walk_to("x") };
    assert!(refit_clip(&BIPED, &absurd, &mut |_| ControlFlow::Continue(())).is_err());
}

#[test]
fn without_a_skeleton_rules_say_so() {
    let mut bare = BIPED.clone();
    bare.body = Arc::new(sinew_geom::Character { rig: None, skin: None, ..(*bare.body).clone() });
    let error = Ruled::new(&bare, None).unwrap_err().to_string();
    assert!(error.contains("skeleton"), "{error}");
}
