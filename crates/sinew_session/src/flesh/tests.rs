//! Flesh as part of a document: undone, kept, baked, run live.

use crate::{
    Command, Display, Document, FleshBake, FleshChange, FleshExtras, FleshSettings, History, JointData,
    LiveFlesh, MotionStack, SessionError, bake_flesh, grow_sample, posed_joints, read_project, turned_pose,
    write_project,
};
use glam::{DQuat, DVec3};
use sinew_flesh::{Collider, Obstacle};
use sinew_geom::{
    Character, Warnings,
    sample::{Sample, build_character},
};
use std::{ops::ControlFlow, path::Path, sync::Arc};

fn go_on(_: f64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn biped() -> Document {
    let mut document =
        grow_sample(Sample::Biped, 1_000, &mut |share| go_on(share), &mut Warnings::default()).unwrap();
    let settings = FleshSettings { cells: 200, ..FleshSettings::default() };
    document = apply(&document, FleshChange::Settings { settings: Box::new(settings) });
    document
}

/// The same without skeleton, clips and handles.
fn bare() -> Document {
    let body = Character { mesh: biped().mesh().clone(), ..Character::default() };
    let mut document = Document::new(body);
    let settings = FleshSettings { cells: 200, ..FleshSettings::default() };
    document = apply(&document, FleshChange::Settings { settings: Box::new(settings) });
    document
}

fn apply(document: &Document, change: FleshChange) -> Document {
    Command::Flesh(change).apply(document).unwrap()
}

fn joint(name: &str, parent: Option<&str>, position: [f64; 3]) -> FleshChange {
    let parent = parent.map(str::to_owned);
    FleshChange::Joint { joint: JointData { name: name.into(), parent, position } }
}

fn with_joints(document: &Document) -> Document {
    let mut made = apply(document, joint("knee", None, [0.1, 0.5, 0.0]));
    // Put before the one it will hang on.
    made = apply(&made, joint("root", None, [0.0, 1.0, 0.0]));
    made = apply(&made, joint("knee", Some("root"), [0.1, 0.5, 0.0]));
    apply(&made, joint("top", Some("root"), [0.0, 1.5, 0.0]))
}

#[test]
fn a_project_keeps_all_of_the_flesh() {
    let mut document = biped();
    let settings = FleshSettings {
        stiffness: Some(5e3),
        gravity: [0.0, 0.0, 3.0],
        floor: Some(-0.25),
        colliders: vec![crate::ColliderData::Ball { center: [0.0, 1.0, 0.5], radius: 0.1 }],
        ..document.flesh.settings.clone()
    };
    document = apply(&document, FleshChange::Settings { settings: Box::new(settings) });
    document = apply(&document, FleshChange::Paint { vertices: vec![3, 7], factors: vec![4.0, 0.25] });
    let name = document.body.rig.as_ref().unwrap().joints()[2].name.clone();
    let rotation = DQuat::from_rotation_x(0.5).to_array();
    document = apply(&document, FleshChange::Turn { joint: name, rotation });
    let bytes = write_project(&document, &mut Warnings::default()).unwrap();
    let mut warnings = Warnings::default();
    let back = read_project(&bytes, Path::new("x.sinew.glb"), &mut warnings).unwrap();
    assert_eq!((back.flesh, warnings.messages), (document.flesh, Vec::new()));
}

#[test]
fn what_a_file_says_wrongly_of_flesh_is_reported_and_left_out() {
    let document = apply(&biped(), FleshChange::Paint { vertices: vec![3], factors: vec![4.0] });
    let bytes = write_project(&document, &mut Warnings::default()).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    assert!(text.contains("\"mode\":\"predicted\""));
    let broken: Vec<u8> = {
        let at = bytes.windows(9).position(|w| w == b"predicted").unwrap();
        let mut bytes = bytes.clone();
        bytes[at..at + 9].copy_from_slice(b"predikted");
        bytes
    };
    let mut warnings = Warnings::default();
    let back = read_project(&broken, Path::new("x.sinew.glb"), &mut warnings).unwrap();
    assert!(*back.flesh == crate::FleshData::default());
    assert!(
        warnings.messages.iter().any(|reported| reported.contains("predikted")),
        "{:?}",
        warnings.messages
    );
}

/// Every change has a serial form that gives the same, and is undone by going back.
#[test]
fn changes_are_data_and_are_undone() {
    let start = with_joints(&bare());
    let changes = [
        FleshChange::Settings { settings: Box::default() },
        FleshChange::Paint { vertices: vec![1], factors: vec![10.0] },
        FleshChange::ClearPaint {},
        joint("hip", Some("root"), [0.1, 0.9, 0.0]),
        FleshChange::RenameJoint { name: "root".into(), to: "pelvis".into() },
        FleshChange::RemoveJoint { name: "pelvis".into() },
        FleshChange::ResetTurns {},
    ];
    let mut history = History::new(start.clone());
    for change in changes {
        let command = Command::Flesh(change);
        let text = serde_json::to_string(&command).unwrap();
        let again: Command = serde_json::from_str(&text).unwrap();
        assert_eq!(again, command);
        let after = command.apply(history.document()).unwrap();
        history.put(&command, after, None, std::time::Duration::from_secs(9));
    }
    let end = history.document();
    let parents: Vec<Option<&str>> = end.flesh.joints.iter().map(|joint| joint.parent.as_deref()).collect();
    assert_eq!(parents, [None, None, None], "what hung on the root stands alone");
    assert!(history.jump(0));
    assert_eq!(history.document().flesh, start.flesh);
}

#[test]
fn nonsense_is_refused_and_says_what_would_do() {
    let (own, bare) = (biped(), with_joints(&bare()));
    let refuse = |document: &Document, change: FleshChange, words: &str| {
        let error = Command::Flesh(change).apply(document).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    let with = |change: &dyn Fn(&mut FleshSettings)| {
        let mut settings = FleshSettings::default();
        change(&mut settings);
        FleshChange::Settings { settings: Box::new(settings) }
    };
    refuse(&own, with(&|s| s.poisson = 0.5), "0.499");
    refuse(&own, with(&|s| s.stiffness = Some(-1.0)), "above 0");
    refuse(&own, with(&|s| s.density = 0.0), "above 0");
    refuse(&own, with(&|s| s.mode = "jelly".into()), "predicted");
    refuse(&own, with(&|s| s.gravity = [f64::NAN, 0.0, 0.0]), "finite");
    refuse(&own, with(&|s| s.cells = 0), "within");
    let flat = crate::ColliderData::Plane { point: [0.0; 3], normal: [0.0; 3] };
    refuse(&own, with(&|s| s.colliders = vec![flat.clone()]), "length 1");
    refuse(&own, FleshChange::Paint { vertices: vec![0], factors: vec![] }, "one each");
    refuse(&own, FleshChange::Paint { vertices: vec![9_999_999], factors: vec![2.0] }, "no vertex");
    refuse(&own, FleshChange::Paint { vertices: vec![0], factors: vec![0.0] }, "within");
    refuse(&own, joint("x", None, [0.0; 3]), "already");
    refuse(&own, FleshChange::Turn { joint: "x".into(), rotation: [0.0, 0.0, 0.0, 1.0] }, "no joint");
    refuse(&bare, joint("x", Some("nobody"), [0.0; 3]), "no joint");
    refuse(&bare, joint("root", Some("knee"), [0.0; 3]), "its own ancestor");
    refuse(&bare, joint("", None, [0.0; 3]), "empty");
    refuse(&bare, joint("x", None, [f64::INFINITY; 3]), "finite");
    refuse(&bare, FleshChange::RenameJoint { name: "knee".into(), to: "top".into() }, "taken");
    let unbound = Command::BindJoints {}.apply(&own).unwrap_err().to_string();
    assert!(unbound.contains("already"), "{unbound}");
    let none = FleshBake { clip: Some("x".into()), to: "y".into(), ..FleshBake::default() };
    assert!(matches!(Command::BakeFlesh { bake: none }.apply(&own), Err(SessionError::Absent { .. })));
}

/// A mesh without a skeleton gets one, is posed, and its flesh follows; the skeleton can be made again.
#[test]
fn a_mesh_gets_a_skeleton_by_hand() {
    let placed = with_joints(&bare());
    let names: Vec<String> = posed_joints(&placed).unwrap().into_iter().map(|joint| joint.name).collect();
    assert_eq!(names, ["root", "top", "knee"], "none comes before the one it hangs on");
    let bound = Command::BindJoints {}.apply(&placed).unwrap();
    assert!(bound.flesh.bound && bound.body.rig.as_ref().unwrap().n_joints() == 3);
    let turn = FleshChange::Turn { joint: "knee".into(), rotation: DQuat::from_rotation_x(1.0).to_array() };
    let posed = apply(&bound, turn);
    let pose = turned_pose(&posed).unwrap();
    let shape = posed.body.positions_posed(&pose).unwrap();
    let foot = (0..shape.len()).find(|&v| bound.mesh().positions()[v].y < 0.1).unwrap();
    let head = (0..shape.len()).max_by(|a, b| shape[*a].y.total_cmp(&shape[*b].y)).unwrap();
    let way = |v: usize| shape[v].as_dvec3().distance(bound.mesh().positions()[v]);
    let left = (0..shape.len()).filter(|&v| {
        let p = bound.mesh().positions()[v];
        p.y < 0.1 && p.x > 0.0
    });
    assert!(left.map(way).fold(0.0, f64::max) > 0.3, "the leg swings");
    assert!(way(head) < 1e-3 && foot < shape.len());
    let kept = Command::KeepTurns { clip: "kick".into() }.apply(&posed).unwrap();
    // Moved and made again, the clip still turns the knee; its place is the new one.
    let moved = apply(&kept, joint("knee", Some("root"), [0.1, 0.45, 0.0]));
    let again = Command::BindJoints {}.apply(&moved).unwrap();
    let (rig, clip) = (again.body.rig.as_ref().unwrap(), &again.clips[0]);
    let knee = rig.find("knee").unwrap();
    let local = clip.sample(rig, 0.0).locals[knee];
    assert!((local.translation - DVec3::new(0.1, -0.55, 0.0)).length() < 1e-9);
    assert!(local.rotation.angle_between(DQuat::from_rotation_x(1.0)) < 1e-3);
    // It is glTF: written and read, the skin is there.
    let bytes = write_project(&again, &mut Warnings::default()).unwrap();
    let back = read_project(&bytes, Path::new("x.sinew.glb"), &mut Warnings::default()).unwrap();
    assert_eq!(back.body.rig.as_ref().unwrap().n_joints(), 3);
    assert!(back.body.skin.is_some() && back.flesh == again.flesh);
}

#[test]
fn a_bake_is_a_clip_of_vertices_and_is_cached() {
    let document = biped();
    let clip = document.clips[0].name.clone();
    let bake = FleshBake { clip: Some(clip), to: "soft".into(), fps: Some(10.0), seconds: Some(0.5) };
    let mut stack = MotionStack::default();
    let (baked, report) = bake_flesh(&document, &bake, &mut stack, &go_on).unwrap();
    assert_eq!((report.frames, stack.runs[3]), (6, 1));
    let again = bake_flesh(&document, &bake, &mut stack, &go_on).unwrap().0;
    assert_eq!(stack.runs[3], 1, "what did not change is not simulated again");
    let made = &baked.clips[baked.find_clip("soft").unwrap()];
    let shape = baked.body.positions_at(Some(made), 0.3).unwrap();
    let same = again.body.positions_at(Some(&again.clips[again.find_clip("soft").unwrap()]), 0.3).unwrap();
    assert_eq!(shape, same);
    // Replayed out of a journal it gives the same: as a command, without the cache.
    let replayed = Command::BakeFlesh { bake: bake.clone() }.apply(&document).unwrap();
    let replayed =
        replayed.body.positions_at(Some(&replayed.clips[replayed.find_clip("soft").unwrap()]), 0.3);
    assert_eq!(shape, replayed.unwrap());
    // It is near what skinning alone gives, and is not that.
    let skinned = document.body.positions_at(Some(&document.clips[0]), 0.3).unwrap();
    let apart: Vec<f32> = shape.iter().zip(&skinned).map(|(a, b)| a.distance(*b)).collect();
    let most = apart.iter().copied().fold(0.0, f32::max);
    assert!((1e-4..0.3).contains(&most), "{most}");
    // A second bake of the same name takes its place; stopping leaves nothing.
    let twice = bake_flesh(&baked, &bake, &mut stack, &go_on).unwrap().0;
    assert_eq!(twice.body.morphs.len(), baked.body.morphs.len());
    let other = FleshBake { fps: Some(9.0), ..bake };
    let stopped = bake_flesh(&document, &other, &mut stack, &|_| ControlFlow::Break(()));
    assert!(matches!(stopped, Err(SessionError::Cancelled)));
}

/// Live: it keeps up, takes changes as it runs without jumping, is held and returns, and is distinguished from bakes.
#[test]
fn live_flesh_takes_changes_while_it_runs() {
    let document = biped();
    let mut live = LiveFlesh::new(&document, None).unwrap();
    let display = Display::Posed;
    let run = |live: &mut LiveFlesh, document: &Document, n: usize| {
        (0..n).for_each(|_| live.advance(document, &display, 0.02, 10.0).unwrap());
        live.positions().unwrap()
    };
    let before = run(&mut live, &document, 40);
    let vertex = (0..before.len())
        .filter(|&v| (before[v].y - 1.1).abs() < 0.1)
        .max_by(|a, b| before[*a].z.total_cmp(&before[*b].z))
        .unwrap();
    live.hold(Some((vertex, before[vertex].as_dvec3() + DVec3::Z * 0.05))).unwrap();
    let held = run(&mut live, &document, 40);
    assert!(held[vertex].z - before[vertex].z > 0.015);
    live.hold(None).unwrap();
    let after = run(&mut live, &document, 150);
    assert!(after[vertex].distance(before[vertex]) < 2e-3);
    // Softer while it runs: nothing jumps, then it sags.
    let soft = FleshSettings { stiffness: Some(4e3), ..document.flesh.settings.clone() };
    let softer = apply(&document, FleshChange::Settings { settings: Box::new(soft) });
    assert!(live.serves(&softer));
    let at_once = {
        live.advance(&softer, &display, 1e-3, 10.0).unwrap();
        live.positions().unwrap()
    };
    let far =
        |a: &[glam::Vec3], b: &[glam::Vec3]| a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    assert!(far(&at_once, &after) < 1e-3);
    assert!(far(&run(&mut live, &softer, 100), &after) > 2e-3);
    live.push(vertex, DVec3::NEG_Z).unwrap();
    live.reset(&document, &display).unwrap();
    assert!(far(&run(&mut live, &document, 40), &before) < 2e-3);
    let cells = FleshSettings { cells: 100, ..document.flesh.settings.clone() };
    assert!(!live.serves(&apply(&document, FleshChange::Settings { settings: Box::new(cells) })));
    assert!(live.status().cells > 100 && !live.cells().0.is_empty());
    // A baked clip is seen as it was baked.
    let bake = FleshBake { to: "still".into(), fps: Some(5.0), seconds: Some(0.2), ..FleshBake::default() };
    let baked = Command::BakeFlesh { bake }.apply(&document).unwrap();
    assert!(live.serves(&baked), "a bake changes the body, but neither surface nor skeleton");
    let clip = |name: &str| Display::Clip { clip: name.into(), time: 0.0 };
    assert!(!LiveFlesh::is_seen(&baked, &clip("still")));
    assert!(LiveFlesh::is_seen(&baked, &clip(&document.clips[0].name)));
}

#[test]
fn scaling_and_mending_take_the_flesh_along() {
    let mut document = with_joints(&bare());
    let settings = FleshSettings { floor: Some(0.5), ..document.flesh.settings.clone() };
    document = apply(&document, FleshChange::Settings { settings: Box::new(settings) });
    document = apply(&document, FleshChange::Paint { vertices: vec![5], factors: vec![8.0] });
    let twice = Command::Scale { factor: 2.0 }.apply(&document).unwrap();
    assert_eq!(twice.flesh.settings.floor, Some(1.0));
    assert_eq!(twice.flesh.joints[1].position, [0.0, 2.0, 0.0]);
    let usual = |document: &Document| FleshSettings::usual_stiffness(document.mesh());
    assert!((usual(&twice) / usual(&document) - 2.0).abs() < 1e-9);
    let repaired = Command::Repair {}.apply(&document).unwrap();
    let paint: &Arc<Vec<f32>> = repaired.flesh.paint.as_ref().unwrap();
    assert_eq!(paint.len(), repaired.mesh().n_vertices());
    assert_eq!(paint.iter().filter(|factor| **factor == 8.0).count(), 1);
}

fn change_muscles(document: &Document, change: crate::MuscleChange) -> Document {
    let command = Command::Muscles(change);
    let text = serde_json::to_string(&command).unwrap();
    assert_eq!(serde_json::from_str::<Command>(&text).unwrap(), command);
    command.apply(document).unwrap()
}

/// A template is put on the belly, pulled by hand, driven by a slider and a curve, kept, scaled and baked.
#[test]
fn muscles_are_placed_fitted_saved_and_baked() {
    use crate::{MuscleBench, MuscleChange, MusclePlace, control_value_in, shown_muscles};
    let document = biped();
    let display = Display::Posed;
    let bench = MuscleBench::new(&document, &display).unwrap();
    let rest = document.mesh().positions();
    let vertex = (0..rest.len())
        .filter(|&v| (rest[v].y - 1.1).abs() < 0.1)
        .max_by(|a, b| rest[*a].z.total_cmp(&rest[*b].z))
        .unwrap();
    let place = MusclePlace {
        template: "bump".into(),
        guide: "skin".into(),
        vertex,
        ray: [rest[vertex] + DVec3::Z, DVec3::NEG_Z],
    };
    let made = bench.place("belly", &place).unwrap();
    for (template, guide) in [("bulge", "bone"), ("radial", "free"), ("torus", "skin")] {
        let place = MusclePlace { template: template.into(), guide: guide.into(), ..place.clone() };
        assert_eq!(bench.place("x", &place).unwrap().muscles.len(), 1, "{template} by {guide}");
    }
    assert!(bench.place("x", &MusclePlace { template: "jelly".into(), ..place.clone() }).is_err());
    let muscles = crate::muscles_to_json(&made);
    let rigged = change_muscles(&document, MuscleChange::Add { muscles: muscles.clone() });
    assert!(Command::Muscles(MuscleChange::Add { muscles }).apply(&rigged).is_err(), "a name is taken once");
    let pushed = change_muscles(&rigged, MuscleChange::Value { control: "belly".into(), value: 1.0 });
    assert!(bench.serves(&pushed, &display));
    // In a simulation it comes out by about what the linear body said.
    let shape = |document: &Document| {
        let mut live = LiveFlesh::new(document, None).unwrap();
        (0..100).for_each(|_| live.advance(document, &display, 0.02, 10.0).unwrap());
        live.positions().unwrap()
    };
    let (flat, out) = (shape(&document), shape(&pushed));
    let moved = (out[vertex] - flat[vertex]).z;
    let wanted = 0.02 * document.mesh().diagonal() as f32;
    assert!((0.5 * wanted..2.0 * wanted).contains(&moved), "{moved} of {wanted}");
    // Pulled further by hand: the search gives the parameters that do it.
    let target = flat[vertex].as_dvec3() + DVec3::Z * 2.0 * f64::from(wanted);
    let data = &pushed.flesh.muscles;
    let eta = bench.fit(data, "belly", &|control| data.value(control), (vertex, target)).unwrap();
    let pulled = change_muscles(&pushed, MuscleChange::Record { muscle: "belly".into(), at: 1.0, eta });
    let further = (shape(&pulled)[vertex] - flat[vertex]).z;
    assert!(further > 1.4 * moved, "{further} beyond {moved}");
    assert_eq!(shown_muscles(&pulled, &display)[0].parameters.len(), 4);
    // A curve over a clip, under its clip's new name; kept in the project.
    let clip = pulled.clips[0].name.clone();
    let key = |time: f64, value: Option<f64>| {
        let (clip, control) = (clip.clone(), "belly".into());
        MuscleChange::Key { clip, control, time, value }
    };
    let mut keyed = change_muscles(&change_muscles(&pulled, key(0.0, Some(0.0))), key(0.5, Some(1.0)));
    let at = |document: &Document, clip: &str, time: f32| {
        control_value_in(document, &Display::Clip { clip: clip.into(), time }, "belly").unwrap()
    };
    assert!((at(&keyed, &clip, 0.25) - 0.5).abs() < 1e-9 && at(&keyed, &clip, 9.0) == 1.0);
    keyed = Command::RenameClip { clip: clip.clone(), to: "stroll".into() }.apply(&keyed).unwrap();
    assert!((at(&keyed, "stroll", 0.25) - 0.5).abs() < 1e-9);
    let bytes = write_project(&keyed, &mut Warnings::default()).unwrap();
    let back = read_project(&bytes, Path::new("x.sinew.glb"), &mut Warnings::default()).unwrap();
    assert_eq!(back.flesh.muscles.curves, keyed.flesh.muscles.curves);
    assert_eq!(back.flesh.muscles.set.muscles.len(), 1);
    // Baked with the curve, the end is out and the beginning is not.
    let bake = |document: &Document| {
        let (fps, seconds) = (Some(10.0), Some(0.5));
        let bake = FleshBake { clip: Some("stroll".into()), to: "soft".into(), fps, seconds };
        let baked = Command::BakeFlesh { bake }.apply(document).unwrap();
        let made = &baked.clips[baked.find_clip("soft").unwrap()];
        [0.0, 0.5].map(|time| baked.body.positions_at(Some(made), time).unwrap()[vertex])
    };
    let plain = change_muscles(&keyed, MuscleChange::Remove { muscle: "belly".into() });
    assert!(plain.flesh.muscles == crate::MuscleData::default(), "what belongs to a muscle goes with it");
    let ([a, b], [c, d]) = (bake(&keyed), bake(&plain));
    assert!(a.distance(c) < 2e-3 && b.distance(d) > 0.5 * wanted, "{} {}", a.distance(c), b.distance(d));
    let twice = Command::Scale { factor: 2.0 }.apply(&pulled).unwrap();
    let [one, two] = [&pulled, &twice].map(|document| shown_muscles(document, &display)[0].clone());
    assert!((two.reach / one.reach - 2.0).abs() < 1e-9);
    let far = |p: [f64; 3], q: [f64; 3]| (DVec3::from_array(p) * 2.0).distance(DVec3::from_array(q));
    assert!(far(one.center.unwrap(), two.center.unwrap()) < 1e-9);
}

/// What keeps a body without bones from falling for ever: the ground below it, unless something else does.
#[test]
fn a_body_without_bones_rests_on_the_ground_unless_something_else_holds_it() {
    let mesh = build_character(Sample::Bar, 1_000).unwrap().mesh;
    let low = mesh.bounds()[0].y;
    let body = Character { mesh, ..Character::default() };
    let floors = |settings: &FleshSettings, extras: FleshExtras| {
        let params = settings.bake_params(&body, extras).unwrap();
        params.simulation.obstacles.into_iter().map(|obstacle| obstacle.shape).collect::<Vec<_>>()
    };
    let settings = FleshSettings::default();
    assert_eq!(floors(&settings, FleshExtras::default()), [Collider::floor(low)]);
    let given = FleshSettings { floor: Some(-9.0), ..FleshSettings::default() };
    assert_eq!(floors(&given, FleshExtras::default()), [Collider::floor(-9.0)]);
    let ball = Collider::Sphere { center: glam::DVec3::ZERO, radius: 1.0 };
    let beside = FleshExtras {
        obstacles: vec![Obstacle { shape: ball.clone(), friction: 0.5 }],
        ..FleshExtras::default()
    };
    assert_eq!(floors(&settings, beside), [ball]);
    assert!(floors(&settings, FleshExtras { on_handles: true, ..FleshExtras::default() }).is_empty());
    let soft = FleshExtras { softness: 1e3, ..FleshExtras::default() };
    assert!(settings.bake_params(&body, soft).is_err());
    let slow = FleshSettings { step: 1.5, ..FleshSettings::default() };
    assert!(slow.bake_params(&body, FleshExtras::default()).is_err());
}
