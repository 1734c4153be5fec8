//! Puppetry in documents: commands, project file, takes.

use crate::*;
use glam::{DQuat, DVec3};
use sinew_formats::pairs::{PairFile, PairTarget, PosePair};
use sinew_geom::{
    Transform, Warnings,
    sample::{PoseSet, Sample, build_character},
};
use sinew_puppet::{BodyPose, CanonicalPose};
use std::{ops::ControlFlow, path::Path, sync::Arc};

/// A body that stands, its left hand raised by a share.
fn body(raised: f64) -> BodyPose {
    let rest = CanonicalPose::rest();
    let mut joints: [DVec3; 20] = std::array::from_fn(|k| rest.joint(k) + DVec3::Y);
    let (shoulder, turn) = (joints[4], DQuat::from_rotation_z(2.5 * raised));
    for joint in &mut joints[5..8] {
        *joint = shoulder + turn * (*joint - shoulder);
    }
    BodyPose::new(joints)
}

fn pair(name: &str, raised: f64, target: PairTarget) -> PosePair {
    PosePair { name: name.into(), body: body(raised).joints.to_vec(), target }
}

fn turned(document: &Document, joint: usize, angle: f64) -> PairTarget {
    let joint = &document.body.rig.as_ref().unwrap().joints()[joint];
    let local = Transform { rotation: joint.rest.rotation * DQuat::from_rotation_x(angle), ..joint.rest };
    PairTarget::Joints(vec![(joint.name.clone(), local)])
}

fn put(document: &Document, pair: PosePair) -> Document {
    Command::PutPair { pair: Box::new(pair), thumbnail: None }.apply(document).unwrap()
}

fn dog() -> Document {
    Document::new(build_character(Sample::Quadruped, 1000).unwrap())
}

fn paired() -> Document {
    let document = put(&dog(), pair("rest", 0.0, PairTarget::Joints(Vec::new())));
    let target = turned(&document, 3, 1.0);
    put(&document, pair("up", 1.0, target))
}

/// An actor who raises the hand over a second, seen at uneven times.
fn actor() -> Actor {
    let times = [0.0, 0.11, 0.19, 0.33, 0.4, 0.57, 0.66, 0.8, 0.91, 1.0];
    Actor { frames: times.iter().map(|&t| (t, body(t))).collect(), fps: 30.0, source: ActorSource::MOTION }
}

fn still(document: &Document) -> Document {
    let settings = PuppetSettings { smoothing: Some(0.0), travel: false, ..PuppetSettings::default() };
    Command::SetPuppet { settings }.apply(document).unwrap()
}

#[test]
fn pairs_are_put_renamed_removed_and_scaled() {
    let document = paired();
    assert_eq!(document.puppet.pairs.len(), 2);
    let renamed = Command::RenamePair { name: "up".into(), to: "high".into() }.apply(&document).unwrap();
    assert!(renamed.puppet.find("high") == Some(1) && document.puppet.find("up") == Some(1));
    assert!(Command::RenamePair { name: "up".into(), to: "rest".into() }.apply(&document).is_err());
    let error = Command::RemovePair { name: "none".into() }.apply(&document).unwrap_err().to_string();
    assert!(error.contains("no pair \"none\"") && error.contains("rest, up"), "{error}");
    let removed = Command::RemovePair { name: "rest".into() }.apply(&document).unwrap();
    assert_eq!(removed.puppet.pairs.len(), 1);
    // The actor stays as large as it was; the character's poses grow with it.
    let scaled = Command::Scale { factor: 2.0 }.apply(&document).unwrap();
    let local = |document: &Document| match &document.puppet.pairs[1].pair.target {
        PairTarget::Joints(joints) => joints[0].1.translation,
        PairTarget::Example(_) => DVec3::NAN,
    };
    assert_eq!(local(&scaled), 2.0 * local(&document));
    assert_eq!(scaled.puppet.pairs[1].pair.body, document.puppet.pairs[1].pair.body);
}

#[test]
fn commands_survive_the_journal_and_the_project_file() {
    let document = still(&paired());
    let commands = [
        Command::PutPair { pair: Box::new(document.puppet.pairs[1].pair.clone()), thumbnail: None },
        Command::SetPairs { pairs: Box::new(document.puppet.file()) },
        Command::Take { clip: "take".into(), take: TakeData::new(&actor()) },
    ];
    for command in commands {
        let text = serde_json::to_string(&command).unwrap();
        let back: Command = serde_json::from_str(&text).unwrap();
        let (a, b) = (command.apply(&document).unwrap(), back.apply(&document).unwrap());
        assert!(a.puppet.pairs.len() == b.puppet.pairs.len() && a.clips.len() == b.clips.len());
        assert_eq!(a.clips.last(), b.clips.last());
    }
    let bytes = write_project(&document, &mut Warnings::default()).unwrap();
    let mut warnings = Warnings::default();
    let back = read_project(&bytes, Path::new("p.sinew.glb"), &mut warnings).unwrap();
    assert!(warnings.messages.is_empty(), "{:?}", warnings.messages);
    assert_eq!(back.puppet.settings, document.puppet.settings);
    assert_eq!(back.puppet.pairs.len(), 2);
    for (a, b) in back.puppet.pairs.iter().zip(&document.puppet.pairs) {
        assert_eq!((&a.pair.name, &a.pair.body), (&b.pair.name, &b.pair.body));
    }
}

#[test]
fn a_take_meets_its_pairs_at_an_even_rate() {
    let document = still(&paired());
    let take = TakeData::new(&actor());
    let (after, report) = perform_take(&document, "take", &take, &|_| ControlFlow::Continue(())).unwrap();
    assert!(report.n_frames == 31 && report.n_held == 0, "{report:?}");
    let (clip, rig) = (after.clips.last().unwrap(), document.body.rig.as_ref().unwrap());
    let angle = |time: f32| {
        let pose = clip.sample(rig, time);
        pose.locals[3].rotation.angle_between(rig.joints()[3].rest.rotation)
    };
    assert!(angle(0.0) < 1e-4 && (angle(1.0) - 1.0).abs() < 1e-3, "{} {}", angle(0.0), angle(1.0));
    let mut last = -1.0;
    for k in 0..=30 {
        let now = angle(k as f32 / 30.0);
        assert!(now >= last - 1e-6 && now - last < 0.2 || k == 0, "frame {k}: {last} to {now}");
        last = now;
    }
    // Every joint has a say, so that players do not keep what another clip did.
    assert_eq!(clip.joints.len(), rig.n_joints());
    assert!(perform_take(&after, "take", &take, &|_| ControlFlow::Continue(())).is_err(), "taken");
    let stopped = perform_take(&document, "other", &take, &|_| ControlFlow::Break(()));
    assert!(matches!(stopped, Err(SessionError::Cancelled)));
}

/// A mesh that has handles and no skeleton is moved as well.
#[test]
fn handles_are_puppeteered() {
    let mut document = Document::new(build_character(Sample::Biped, 1000).unwrap());
    document.body = Arc::new(sinew_geom::Character { rig: None, skin: None, ..(*document.body).clone() });
    document.clips.clear();
    document.examples = sample_poses(PoseSet::First).unwrap();
    let example = document.examples[0].name.clone();
    let document = put(&document, pair("rest", 0.0, PairTarget::Joints(Vec::new())));
    let document = still(&put(&document, pair("up", 1.0, PairTarget::Example(example.clone()))));
    let mut puppet = Puppet::new(&document, ActorSource::MOTION).unwrap();
    assert!(puppet.is_by_handles() && puppet.serves(&document, ActorSource::MOTION));
    let prepared = Prepared::new(&document, &|_| ControlFlow::Continue(())).unwrap();
    let acted = puppet.step(0.0, &body(1.0)).unwrap().unwrap();
    let frame = puppet.frame(&document, &acted.shape, Some(&prepared)).unwrap();
    let at = document.find_example(&example).unwrap();
    let wanted = prepared.positions(&document.examples[at].moves).unwrap();
    let far = frame.positions.iter().zip(&wanted).map(|(a, b)| a.as_dvec3().distance(*b)).fold(0.0, f64::max);
    assert!(far < 0.02, "the example is met: {far} m away");
    // The pose that a pair names keeps its pair when it is renamed.
    let renamed = Command::RenameExample { name: example, to: "other".into() }.apply(&document).unwrap();
    assert!(Puppet::new(&renamed, ActorSource::MOTION).is_ok());
    let take = TakeData::new(&actor());
    let (after, report) = perform_take(&document, "take", &take, &|_| ControlFlow::Continue(())).unwrap();
    // Handles become joints, with a few morph targets.
    assert!(report.n_frames == 31 && after.body.morphs.len() < 8, "{}", after.body.morphs.len());
    let joints = after.body.rig.as_ref().unwrap().n_joints();
    assert!(joints == document.handles.len() && after.clips[0].joints.len() == joints);
}

/// A biped with handles and no skeleton, with a raised left arm for ours and a raised right one for our right arm.
fn boneless() -> Document {
    let mut document = Document::new(build_character(Sample::Biped, 1000).unwrap());
    document.body = Arc::new(sinew_geom::Character { rig: None, skin: None, ..(*document.body).clone() });
    document.clips.clear();
    let lift = |main: &str, degrees: f64| sinew_geom::Move::Rotate {
        main: main.into(),
        handles: Vec::new(),
        axis: DVec3::Z,
        radians: degrees.to_radians(),
    };
    for (name, step) in [("left", lift("elbow.L", 50.0)), ("right", lift("elbow.R", -50.0))] {
        let moves = Arc::new(vec![step]);
        document.examples.push(Arc::new(Example { name: name.into(), moves, detail: None, thumbnail: None }));
    }
    let mirrored = |raised: f64| {
        let mut other = body(0.0);
        let (shoulder, turn) = (other.joints[8], DQuat::from_rotation_z(-2.5 * raised));
        other.joints[9..12].iter_mut().for_each(|joint| *joint = shoulder + turn * (*joint - shoulder));
        other
    };
    let document = put(&document, pair("rest", 0.0, PairTarget::Joints(Vec::new())));
    let document = put(&document, pair("left", 1.0, PairTarget::Example("left".into())));
    let right = PosePair {
        body: mirrored(1.0).joints.to_vec(),
        ..pair("right", 0.0, PairTarget::Example("right".into()))
    };
    put(&document, right)
}

/// Limbs are spaces of their own for handles, too: both arms at once were never paired, and yet both rise.
#[test]
fn handles_follow_limbs() {
    let document = still(&boneless());
    let mut puppet = Puppet::new(&document, ActorSource::MOTION).unwrap();
    let prepared = Prepared::new(&document, &|_| ControlFlow::Continue(())).unwrap();
    let mut both = body(1.0);
    let right = &document.puppet.pairs[2].pair.body;
    (9..12).for_each(|k| both.joints[k] = right[k]);
    let acted = puppet.step(0.0, &both).unwrap().unwrap();
    let frame = puppet.frame(&document, &acted.shape, Some(&prepared)).unwrap();
    for name in ["left", "right"] {
        let wanted =
            prepared.positions(&document.examples[document.find_example(name).unwrap()].moves).unwrap();
        let hand = format!("hand.{}", &name[..1].to_uppercase());
        let handle = document.handles.iter().find(|handle| handle.name == hand).unwrap();
        for &v in &handle.vertices {
            let off = frame.positions[v as usize].as_dvec3().distance(wanted[v as usize]);
            assert!(off < 1e-4, "{hand}: {off}");
        }
    }
}

/// A body without bones goes where the actor goes, and turns as it turns; its feet stay on the ground.
#[test]
fn handles_travel() {
    let walking =
        Command::SetPuppet { settings: PuppetSettings { smoothing: Some(0.0), ..PuppetSettings::default() } };
    let document = walking.apply(&boneless()).unwrap();
    let prepared = Prepared::new(&document, &|_| ControlFlow::Continue(())).unwrap();
    let low = |points: &[glam::Vec3]| points.iter().map(|p| p.y).fold(f32::INFINITY, f32::min);
    let act = |feet: bool| {
        let settings = PuppetSettings { feet, smoothing: Some(0.0), ..PuppetSettings::default() };
        let document = Command::SetPuppet { settings }.apply(&document).unwrap();
        let mut puppet = Puppet::new(&document, ActorSource::MOTION).unwrap();
        let mut shown = Vec::new();
        for k in 0..=30 {
            let (turn, shift) = (DQuat::from_rotation_y(0.05 * f64::from(k)), DVec3::Z * 0.02 * f64::from(k));
            let mut body = body(0.0);
            body.joints.iter_mut().for_each(|joint| *joint = turn * *joint + shift);
            let acted = puppet.step(f64::from(k) / 30.0, &body).unwrap().unwrap();
            shown.push(puppet.frame(&document, &acted.shape, Some(&prepared)).unwrap());
        }
        shown
    };
    let floor = low(&document.mesh().positions().iter().map(|p| p.as_vec3()).collect::<Vec<_>>());
    let middle = |frame: &Frame| frame.positions.iter().sum::<glam::Vec3>() / frame.positions.len() as f32;
    let hovering = act(false);
    let gone = middle(&hovering[30]) - middle(&hovering[0]);
    assert!(gone.z > 0.4 && gone.x.abs() < 0.1 && gone.y.abs() < 1e-3, "gone {gone}");
    // The surface itself is that of the pose, turned: its edges keep their lengths.
    let edge = |frame: &Frame, [a, b, _]: [u32; 3]| {
        frame.positions[a as usize].distance(frame.positions[b as usize])
    };
    for &face in document.mesh().faces().iter().step_by(37) {
        assert!((edge(&hovering[30], face) - edge(&hovering[0], face)).abs() < 1e-5);
    }
    let facing = |frame: &Frame| frame.handles[0].1 * DVec3::Z;
    assert!((facing(&hovering[30]).angle_between(facing(&hovering[0])) - 1.5).abs() < 1e-3);
    // On its feet it turns on the spot, since neither foot is lifted.
    let standing = act(true);
    assert!((middle(&standing[30]) - middle(&standing[0])).length() < 0.3);
    assert!(standing.iter().all(|frame| (low(&frame.positions) - floor).abs() < 1e-4));
}

#[test]
fn faults_say_what_to_do() {
    let message = |document: &Document| Puppet::new(document, ActorSource::MOTION).unwrap_err().to_string();
    assert!(Puppet::new(&dog(), ActorSource::MOTION).is_ok(), "legs follow legs");
    let absent = PairTarget::Joints(vec![("wing".into(), Transform::IDENTITY)]);
    let text = message(&put(&paired(), pair("fly", 0.5, absent)));
    assert!(text.contains("\"wing\"") && text.contains("pair it again"), "{text}");
    let bare = Document {
        body: Arc::new(sinew_geom::Character { rig: None, skin: None, ..(*paired().body).clone() }),
        ..paired()
    };
    assert!(message(&bare).contains("no skeleton"));
    let lost = Command::PutPair {
        pair: Box::new(pair("lost", 0.5, PairTarget::Example("nothing".into()))),
        thumbnail: None,
    };
    assert!(lost.apply(&dog()).unwrap_err().to_string().contains("\"nothing\""));
    let mut settings = PuppetSettings { smoothing: Some(2.0), ..PuppetSettings::default() };
    assert!(Command::SetPuppet { settings: settings.clone() }.apply(&dog()).is_err());
    (settings.smoothing, settings.projection) = (Some(0.4), "magic".into());
    assert!(Command::SetPuppet { settings }.apply(&dog()).unwrap_err().to_string().contains("positive"));
    // Nobody was seen in any frame.
    let unseen = BodyPose { seen: [false; 20], ..body(0.0) };
    let nobody = Actor { frames: vec![(0.0, unseen.clone()), (0.1, unseen)], ..actor() };
    let take = TakeData::new(&nobody);
    let error = perform_take(&paired(), "take", &take, &|_| ControlFlow::Continue(())).unwrap_err();
    assert!(error.to_string().contains("never fully tracked"), "{error}");
    let broken = TakeData { frames: Arc::new(vec![0.0; 7]), ..take };
    assert!(broken.actor().is_err());
}

/// One pair is always met; two that are alike share, and nothing is undefined.
#[test]
fn few_and_equal_pairs_make_sense() {
    let one = still(&put(&dog(), pair("only", 0.3, turned(&dog(), 3, 1.0))));
    let mut puppet = Puppet::new(&one, ActorSource::MOTION).unwrap();
    let acted = puppet.step(0.0, &body(0.9)).unwrap().unwrap();
    assert_eq!(acted.weights, [1.0]);
    let two = put(&one, pair("same", 0.3, turned(&dog(), 3, 0.5)));
    let mut puppet = Puppet::new(&two, ActorSource::MOTION).unwrap();
    let acted = puppet.step(0.0, &body(0.9)).unwrap().unwrap();
    assert!(acted.weights.iter().all(|w| (w - 0.5).abs() < 1e-9), "{:?}", acted.weights);
}

#[test]
fn what_belongs_to_a_later_version_is_reported() {
    let mut document = paired();
    Arc::make_mut(&mut document.puppet).settings.projection = "of the future".into();
    let bytes = write_project(&document, &mut Warnings::default()).unwrap();
    let mut warnings = Warnings::default();
    let back = read_project(&bytes, Path::new("p.sinew.glb"), &mut warnings).unwrap();
    assert_eq!(back.puppet.settings, PuppetSettings::default());
    assert!(warnings.messages.iter().any(|m| m.contains("puppet settings") && m.contains("of the future")));
    assert_eq!(back.puppet.pairs.len(), 2);
    let empty = PuppetData::from_file(PairFile::default());
    assert_eq!(empty, PuppetData::default());
}
