//! Reaching, details, paths and baked motions, as a user's program sees them.

use super::*;
use glam::DVec3;
use sinew_deform::{DeformError, HandlePose};
use sinew_formats::paths::{GroundData, KeyframesData, PathData, PathsData, WalkData};
use sinew_geom::{
    Character, Clip, Move, Warnings,
    sample::{PoseSet, Sample, build_character},
};
use std::{
    ops::ControlFlow,
    path::Path,
    sync::{Arc, LazyLock},
    time::Duration,
};

mod paths;

static WALKER: LazyLock<Document> = LazyLock::new(|| {
    let mut document = Document::new(build_character(Sample::Biped, 1_500).unwrap());
    let example = |(name, moves): (String, Vec<Move>)| {
        Arc::new(Example { name, moves: Arc::new(moves), detail: None, thumbnail: None })
    };
    document.examples = PoseSet::Walk.poses().into_iter().map(example).collect();
    document
});

fn go_on(_: f64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn apply(document: &Document, command: Command) -> Document {
    command.apply(document).unwrap()
}

fn refused(document: &Document, command: Command) -> String {
    command.apply(document).unwrap_err().to_string()
}

fn target(handle: &str, position: Option<[f64; 3]>) -> TargetGoal {
    TargetGoal { handle: handle.into(), position, pin: false }
}

fn to(targets: Vec<TargetGoal>) -> ReachGoal {
    ReachGoal { targets, ..ReachGoal::default() }
}

fn by_hand(weights: &[(&str, f64)]) -> ReachGoal {
    let weights = weights.iter().map(|(name, weight)| ((*name).to_owned(), *weight)).collect();
    ReachGoal { weights: Some(weights), ..ReachGoal::default() }
}

/// Largest distance between the centres of handles in two poses.
fn apart(document: &Document, a: &HandlePose, b: &HandlePose) -> f64 {
    let at = |pose: &HandlePose, h: usize| pose.motions()[h].position(document.handles[h].center);
    (0..document.handles.len()).map(|h| at(a, h).distance(at(b, h))).fold(0.0, f64::max)
}

fn project_of(document: &Document) -> Document {
    let mut warnings = Warnings::default();
    let bytes = write_project(document, &mut warnings).unwrap();
    let back = read_project(&bytes, Path::new("a.sinew.glb"), &mut warnings).unwrap();
    assert_eq!(warnings.messages, [""; 0]);
    back
}

#[test]
fn a_dragged_target_is_reached_and_becomes_the_pose_only_when_it_is_taken() {
    let document = WALKER.clone();
    let mut reach = Reach::new(&document).unwrap();
    // A target where the handle is: nothing moves. Then it is dragged, a little at a time.
    reach.follow(&to(vec![target("foot.L", None)]), &document.search).unwrap();
    let start = reach.report().targets[0].1;
    assert!(reach.report().is_reached);
    let before = reach.report().weights;
    for k in 1..=10 {
        let place = start + DVec3::new(0.0, 0.01, 0.03) * f64::from(k);
        reach.follow(&to(vec![target("foot.L", Some(place.to_array()))]), &document.search).unwrap();
    }
    let report = reach.report();
    assert!(report.is_reached, "{report:?}");
    assert_ne!(report.weights, before, "the sliders move");
    assert!(report.weights.iter().all(|(_, w)| (0.0..=1.0).contains(w)));
    assert!(report.terms.iter().any(|(term, _)| term.name() == "target") && report.evaluations > 0);
    assert!(reach.serves(&document) && document.pose.is_empty());
    // Taken, it is one step that can be undone; its moves make the pose that was shown.
    let mut session = Session::new(document.clone(), None, None);
    session.apply(&reach.command(), None).unwrap();
    assert!(!reach.serves(session.document()), "the pose it set out from is gone");
    let prepared = Prepared::new(&document, &go_on).unwrap();
    let taken = prepared.pose(&session.document().pose).unwrap();
    assert!(apart(&document, &taken, &reach.pose()) < 1e-9);
    assert_eq!(session.history().labels().last().unwrap().as_ref(), "Reach");
    assert!(session.undo() && session.document().pose.is_empty());
}

#[test]
fn weights_are_set_by_hand_and_the_search_goes_on_from_there() {
    let document = WALKER.clone();
    let prepared = Prepared::new(&document, &go_on).unwrap();
    let mut reach = Reach::new(&document).unwrap();
    let example = &document.examples[2];
    reach.follow(&by_hand(&[(&example.name, 1.0)]), &document.search).unwrap();
    let stored = prepared.pose(&example.moves).unwrap();
    assert!(apart(&document, &reach.pose(), &stored) < 1e-9, "weight 1 is the example");
    let half = by_hand(&[(&example.name, 0.5)]);
    reach.follow(&half, &document.search).unwrap();
    assert_eq!(reach.report().weights[2].1, 0.5);
    reach.follow(&to(vec![target("hand.R", None)]), &document.search).unwrap();
    assert!(reach.report().is_reached);
    // A document whose pose is an example begins with it.
    let loaded = apply(&document, Command::LoadExample { name: example.name.clone() });
    assert_eq!(Reach::new(&loaded).unwrap().report().weights[2].1, 1.0);
    // Any other pose begins with the nearest blend.
    let moves = vec![Move::Rotate { main: "head".into(), handles: vec![], axis: DVec3::Y, radians: 0.3 }];
    let turned = apply(&document, Command::SetPose { moves });
    assert!(Reach::new(&turned).is_ok());
}

#[test]
fn everything_else_stays_when_it_is_pinned() {
    let document = WALKER.clone();
    let mut reach = Reach::new(&document).unwrap();
    let start = {
        reach.follow(&to(vec![target("hand.L", None)]), &document.search).unwrap();
        reach.report().targets[0].1
    };
    let place = (start + DVec3::new(-0.05, 0.12, 0.15)).to_array();
    let goal = ReachGoal { pin_others: true, ..to(vec![target("hand.L", Some(place))]) };
    reach.follow(&goal, &document.search).unwrap();
    let pose = reach.pose();
    let size = document.mesh().diagonal();
    for (h, handle) in document.handles.iter().enumerate().filter(|(_, h)| h.name.ends_with(".R")) {
        let middle: DVec3 =
            handle.vertices.iter().map(|&v| document.mesh().positions()[v as usize]).sum::<DVec3>()
                / handle.vertices.len() as f64;
        let moved = pose.motions()[h].affine().transform_point3(middle).distance(middle);
        assert!(moved < 1e-3 * size, "{} moved by {moved}", handle.name);
    }
    assert!(reach.report().missed < 0.05, "{:?}", reach.report());
}

#[test]
fn what_cannot_be_reached_says_so_and_bad_goals_are_refused_by_name() {
    let document = WALKER.clone();
    let bare = Document { examples: Vec::new(), ..document.clone() };
    assert!(Reach::new(&bare).unwrap_err().to_string().contains("no example pose"));
    let mut without = document.clone();
    without.handles.clear();
    assert!(Reach::new(&without).is_err());
    // One is enough.
    let one = Document { examples: document.examples[..1].to_vec(), ..document.clone() };
    let mut reach = Reach::new(&one).unwrap();
    reach.follow(&to(vec![target("foot.L", Some([0.1, 0.2, 0.3]))]), &one.search).unwrap();
    // An example that names a handle that is not there.
    let mut odd = document.clone();
    let moves = vec![Move::Translate { handles: vec!["tail".into()], vector: DVec3::X }];
    let example = Example { name: "odd".into(), moves: Arc::new(moves), detail: None, thumbnail: None };
    odd.examples.push(Arc::new(example));
    let error = Reach::new(&odd).unwrap_err().to_string();
    assert!(error.contains("\"odd\"") && error.contains("\"tail\""), "{error}");
    let mut reach = Reach::new(&document).unwrap();
    let mut wrong = |goal: ReachGoal| reach.follow(&goal, &document.search).unwrap_err().to_string();
    assert!(wrong(to(vec![target("tail", None)])).contains("\"tail\""));
    let nowhere = target("head", Some([f64::NAN, 0.0, 0.0]));
    assert!(wrong(to(vec![nowhere])).contains("target of handle \"head\" is not finite"));
    assert!(wrong(to(vec![target("head", None), target("head", None)])).contains("has two"));
    assert!(wrong(by_hand(&[("nobody", 1.0)])).contains("\"nobody\""));
    assert!(
        wrong(by_hand(&[("spread legs", f64::INFINITY)])).contains("finite")
            || document.find_example("spread legs").is_err()
    );
    // Ten metres away: the nearest pose, and it says how far it is off.
    let mut settings = document.search.clone();
    settings.residual = false;
    reach.follow(&to(vec![target("hand.L", Some([10.0, 1.0, 0.0]))]), &settings).unwrap();
    let report = reach.report();
    assert!(!report.is_reached && report.missed > 1.0, "{report:?}");
}

#[test]
fn settings_of_the_search_are_checked_kept_and_undone() {
    let document = WALKER.clone();
    let change = |objective: &str| {
        Command::SetSearch(SearchChange { objective: Some(objective.into()), ..SearchChange::default() })
    };
    let error = refused(&document, change("dtt+speed"));
    assert!(error.contains("\"speed\"") && error.contains("omsow"), "{error}");
    let limits = SearchChange { limits: Some([1.0, 0.0]), ..SearchChange::default() };
    assert!(refused(&document, Command::SetSearch(limits)).contains("not a range"));
    let optimiser = SearchChange { optimiser: Some("magic".into()), ..SearchChange::default() };
    assert!(refused(&document, Command::SetSearch(optimiser)).contains("newton"));
    let all = SearchChange {
        objective: Some("target + 0.3 like-examples".into()),
        optimiser: Some("climb".into()),
        reorder: Some("distance".into()),
        in_order: Some(true),
        limits: Some([-0.5, 1.5]),
        local: Some(0.15),
        residual: Some(false),
    };
    let changed = apply(&document, Command::SetSearch(all.clone()));
    assert_eq!(SearchChange::of_all(&changed.search), all);
    assert_eq!(project_of(&changed).search, changed.search);
    assert!(changed.changes_since(&document).motion);
    // Another method finds a pose, too.
    let mut reach = Reach::new(&changed).unwrap();
    reach.follow(&to(vec![target("foot.L", Some([0.1, 0.15, 0.2]))]), &changed.search).unwrap();
    assert_eq!(reach.report().objective, "target + 0.3 like-examples");
}

fn sculpted() -> Document {
    let name = WALKER.examples[1].name.clone();
    let loaded = apply(&WALKER, Command::LoadExample { name: name.clone() });
    let (vertices, offsets) = ((100..400).collect(), (0..300).map(|k| k as f32 * 1e-4).collect());
    apply(&loaded, Command::Sculpt { example: Some(name), vertices, offsets })
}

#[test]
fn detail_is_shown_by_its_weight_and_kept_with_its_pose() {
    let document = sculpted();
    let name = document.examples[1].name.clone();
    let layer = document.examples[1].detail.clone().unwrap();
    assert!(Arc::ptr_eq(&layer, document.detail.as_ref().unwrap()) && layer[399] == 299.0 * 1e-4f32);
    let mut stage = Stage::default();
    let with = stage.show(&document, &Display::Posed, &go_on).unwrap();
    let bare = Document { detail: None, ..document.clone() };
    let without = stage.show(&bare, &Display::Posed, &go_on).unwrap();
    let off = |v: usize| f64::from(with.positions[v].distance(without.positions[v]));
    for v in 0..document.mesh().n_vertices() {
        assert!((off(v) - f64::from(layer[v].abs())).abs() < 1e-6, "{v}: {}", off(v));
    }
    // By a blend: half of it, and in the pose that is taken.
    let mut reach = Reach::new(&document).unwrap();
    assert_eq!(reach.detail().unwrap(), *layer);
    reach.follow(&by_hand(&[(&name, 0.5)]), &document.search).unwrap();
    let half = reach.detail().unwrap();
    assert!(half.iter().zip(layer.iter()).all(|(a, b)| (a - 0.5 * b).abs() < 1e-8));
    let taken = apply(&document, reach.command());
    assert_eq!(**taken.detail.as_ref().unwrap(), half);
    reach.follow(&by_hand(&[(&name, 0.0)]), &document.search).unwrap();
    assert_eq!(reach.detail(), None);
    // Other poses have none; a pose that is reset neither.
    let other = WALKER.examples[0].name.clone();
    assert!(apply(&document, Command::LoadExample { name: other.clone() }).detail.is_none());
    assert!(apply(&document, Command::SetPose { moves: vec![] }).detail.is_none());
    // Saved under another name it comes along.
    let saved = apply(&document, Command::SaveExample { name: "strong".into(), thumbnail: None });
    assert!(saved.examples.last().unwrap().detail.is_some());
    let posed = export::export(
        &document,
        &ExportParams {
            format: ExportFormat::Obj,
            what: ExportWhat::Posed,
            clip: None,
            reshaped: false,
            fps: None,
            parts: None,
            influences: None,
            fit: None,
        },
        &mut MotionStack::default(),
        &mut stage,
        &go_on,
        &mut Warnings::default(),
    );
    let line = format!("v {:.4}", with.positions[399].x);
    let text = String::from_utf8(posed.unwrap().bytes).unwrap();
    assert!(text.lines().any(|l| l.starts_with(&line[..line.len() - 1])), "{line}");
    assert!(refused(&document, Command::ClearDetail { example: Some(other) }).contains("load it first"));
    let cleared = apply(&document, Command::ClearDetail { example: Some(name) });
    assert!(cleared.detail.is_none() && cleared.examples[1].detail.is_none());
}

#[test]
fn detail_survives_files_scaling_and_mending_and_bad_detail_is_refused() {
    let document = sculpted();
    let back = project_of(&document);
    // Angles are written in degrees, which rounds the last bit; offsets come back as they are.
    let details = |document: &Document| {
        document.examples.iter().map(|example| example.detail.clone()).collect::<Vec<_>>()
    };
    assert_eq!((&back.detail, details(&back)), (&document.detail, details(&document)));
    let doubled = apply(&document, Command::Scale { factor: 2.0 });
    assert_eq!(doubled.detail.as_ref().unwrap()[399], 2.0 * document.detail.as_ref().unwrap()[399]);
    let repaired = apply(&document, Command::Repair {});
    assert_eq!(repaired.detail.as_ref().map(|layer| layer.len()), Some(repaired.mesh().n_vertices()));
    assert_eq!(repaired.body.morphs.len(), document.body.morphs.len());
    let sculpt = |example: Option<&str>, vertices: Vec<u32>, offsets: Vec<f32>| Command::Sculpt {
        example: example.map(str::to_owned),
        vertices,
        offsets,
    };
    assert!(refused(&document, sculpt(None, vec![1, 2], vec![0.1])).contains("1 offsets for 2"));
    assert!(refused(&document, sculpt(None, vec![9_999_999], vec![0.1])).contains("no vertex"));
    assert!(refused(&document, sculpt(None, vec![1], vec![f32::NAN])).contains("finite"));
    assert!(refused(&document, sculpt(Some("nobody"), vec![1], vec![0.1])).contains("nobody"));
    // Offsets of nothing are no layer, and a file without one has no trace of it.
    let none = apply(&WALKER, sculpt(None, vec![1], vec![0.0]));
    assert!(none.detail.is_none());
    let bytes = write_project(&WALKER, &mut Warnings::default()).unwrap();
    for key in ["\"detail\"", "\"paths\"", "\"search\""] {
        assert!(!bytes.windows(key.len()).any(|window| window == key.as_bytes()), "{key}");
    }
}

#[test]
fn a_mirrored_example_is_the_mirror_image() {
    let mut document = WALKER.clone();
    let turn =
        |main: &str, axis: DVec3| Move::Rotate { main: main.into(), handles: vec![], axis, radians: 0.8 };
    let shift = Move::Translate { handles: vec!["head".into()], vector: DVec3::new(0.1, 0.02, 0.0) };
    let twist = Move::Twist {
        handles: vec!["hand.L".into()],
        axis: DVec3::X,
        radians: 0.5,
        over: vec!["forearm.L".into()],
    };
    let moves = vec![turn("elbow.L", DVec3::new(0.2, 0.5, 0.8)), turn("knee.R", DVec3::X), shift, twist];
    document = apply(&document, Command::SetPose { moves });
    document = apply(&document, Command::SaveExample { name: "odd.L".into(), thumbnail: None });
    document = apply(&document, Command::MirrorExample { name: "odd.L".into(), to: "odd.R".into() });
    let prepared = Prepared::new(&document, &go_on).unwrap();
    let pose =
        |name: &str| prepared.pose(&document.examples[document.find_example(name).unwrap()].moves).unwrap();
    let (left, right) = (pose("odd.L"), pose("odd.R"));
    let mut n_twins = 0;
    for (h, handle) in document.handles.iter().enumerate() {
        let twin = document.find_handle(&twin_name(&handle.name).unwrap_or(handle.name.clone())).unwrap();
        let image = |p: DVec3| DVec3::new(-p.x, p.y, p.z);
        let here = left.motions()[h].position(handle.center);
        let there = right.motions()[twin].position(document.handles[twin].center);
        assert!(image(here).distance(there) < 1e-3, "{}: {here} {there}", handle.name);
        n_twins += usize::from(twin != h);
    }
    assert!(n_twins > 6);
    // Twice is as before.
    let twice = apply(&document, Command::MirrorExample { name: "odd.R".into(), to: "again".into() });
    let [first, last] =
        ["odd.L", "again"].map(|n| twice.examples[twice.find_example(n).unwrap()].moves.clone());
    assert_eq!(first, last);
    assert!(
        refused(&document, Command::MirrorExample { name: "odd.L".into(), to: "odd.R".into() })
            .contains("taken")
    );
    // Without the other side it cannot be.
    let lame = apply(&document, Command::RemoveHandle { name: "elbow.R".into() });
    let error = refused(&lame, Command::MirrorExample { name: "odd.L".into(), to: "x".into() });
    assert!(error.contains("elbow.R"), "{error}");
}
