//! Clips of a body with known footprints.

mod rule_tests;

use super::*;
use glam::{DQuat, DVec3};
use sinew_geom::{Dof, DofKind, Joint, Pose, Transform};

const THIGH: f64 = 0.42;
/// Height of the ankle and of the joint of the toes above the sole.
const ANKLE: f64 = 0.06;

/// A body of two legs, two arms and a head, as high as a person at scale 1.
pub(super) fn walker(scale: f64) -> Rig {
    let mut joints: Vec<Joint> = Vec::new();
    let mut add = |name: &str, parent: Option<usize>, at: [f64; 3]| {
        joints.push(Joint::new(name, parent, Transform::from_translation(DVec3::from_array(at) * scale)));
        joints.len() - 1
    };
    let hips = add("Hips", None, [0.0, 0.9, 0.0]);
    let spine = add("Spine", Some(hips), [0.0, 0.2, 0.0]);
    let neck = add("Neck", Some(spine), [0.0, 0.3, 0.0]);
    add("Head", Some(neck), [0.0, 0.1, 0.0]);
    for (side, x) in [("Left", 1.0), ("Right", -1.0)] {
        let shoulder = add(&format!("{side}Arm"), Some(spine), [0.18 * x, 0.25, 0.0]);
        let elbow = add(&format!("{side}ForeArm"), Some(shoulder), [0.0, -0.28, 0.0]);
        add(&format!("{side}Hand"), Some(elbow), [0.0, -0.25, 0.02]);
        let hip = add(&format!("{side}UpLeg"), Some(hips), [0.1 * x, -0.02, 0.0]);
        let knee = add(&format!("{side}Leg"), Some(hip), [0.0, -THIGH, 0.0]);
        let ankle = add(&format!("{side}Foot"), Some(knee), [0.0, -THIGH, 0.0]);
        let toe = add(&format!("{side}ToeBase"), Some(ankle), [0.0, -ANKLE, 0.14]);
        add(&format!("{side}ToeBase_end"), Some(toe), [0.0, 0.0, 0.06]);
    }
    Rig::new(joints).unwrap()
}

/// Rise of the floor along the path of the walker.
fn floor(slope: f64, z: f64) -> f64 {
    slope * z
}

/// Where a foot's ankle is relative to the start, and how high it is lifted, at a time in seconds.
fn foot(side: usize, time: f64) -> (f64, f64) {
    // Half a second standing, half a second swinging 1.1 m.
    let phase = time + 0.5 * side as f64;
    let (step, within) = (phase.floor(), phase.fract());
    let u = ((within - 0.5) / 0.5).max(0.0);
    let eased = u * u * u * (10.0 - 15.0 * u + 6.0 * u * u);
    let lift = 0.08 * (16.0 * u * u * (1.0 - u) * (1.0 - u));
    (1.1 * (step + eased - 0.5 * side as f64), lift)
}

/// A walk up a slope (rise over run) with level soles that do not slide at all, along +Z.
pub(super) fn walk(fps: f64, secs: f64, slope: f64) -> Motion {
    let rig = walker(1.0);
    let n = (secs * fps) as usize + 1;
    let find = |name: String| rig.find(&name).unwrap();
    let poses = (0..n).map(|t| {
        let time = t as f64 / fps;
        let mut pose = rig.rest_pose();
        let z = 1.1 * time - 0.25;
        let place = DVec3::new(0.0, 0.82 + floor(slope, z), z);
        pose.locals[0].translation = place;
        for (side, name) in ["Left", "Right"].into_iter().enumerate() {
            let (along, lift) = foot(side, time);
            let (dy, dz) = (floor(slope, along) + lift + ANKLE - (place.y - 0.02), along - place.z);
            let bend = ((dy * dy + dz * dz) / (2.0 * THIGH * THIGH) - 1.0).clamp(-1.0, 1.0).acos();
            let leg = (-dz).atan2(-dy);
            pose.locals[find(format!("{name}UpLeg"))].rotation = DQuat::from_rotation_x(leg - 0.5 * bend);
            pose.locals[find(format!("{name}Leg"))].rotation = DQuat::from_rotation_x(bend);
            pose.locals[find(format!("{name}Foot"))].rotation = DQuat::from_rotation_x(-leg - 0.5 * bend);
            let swing = DQuat::from_rotation_x(0.4 * (along - place.z));
            pose.locals[find(format!("{name}Arm"))].rotation = swing;
        }
        pose
    });
    Motion { fps, poses: poses.collect() }
}

/// Rules of a text without faults.
pub(super) fn rules(rig: &Rig, text: &str) -> Vec<FrameRule> {
    let (script, found) = crate::language::parse(text);
    let made = ClipRules::new(&script, rig, &crate::compile::Scene::default()).unwrap();
    assert!(found.is_empty() && made.diagnostics.is_empty(), "{found:?} {:?}", made.diagnostics);
    made.rules
}

fn fit(target: &Rig, motion: &Motion, params: &RefitParams) -> Refit {
    let rig = walker(1.0);
    refit((&rig, motion), target, params, &mut Warnings::default(), &mut |_| ControlFlow::Continue(()))
        .unwrap()
}

fn on(ground: &str) -> RefitParams {
    RefitParams { ground: Some(ground.parse().unwrap()), ..RefitParams::default() }
}

/// Mean angle between two motions' joints, in degrees.
fn angle(a: &Motion, b: &Motion) -> f64 {
    let (mut sum, mut n) = (0.0, 0);
    for (a, b) in a.poses.iter().zip(&b.poses) {
        for (a, b) in a.locals.iter().zip(&b.locals) {
            sum += (2.0 * a.rotation.dot(b.rotation).abs().min(1.0).acos()).to_degrees();
            n += 1;
        }
    }
    sum / f64::from(n)
}

#[test]
fn the_same_body_on_the_same_floor_does_not_change() {
    let motion = walk(60.0, 3.0, 0.0);
    let fitted = fit(&walker(1.0), &motion, &on("flat"));
    assert!(angle(&motion, &fitted.motion) < 0.3, "{}", angle(&motion, &fitted.motion));
    for (a, b) in motion.poses.iter().zip(&fitted.motion.poses) {
        assert!(a.locals[0].translation.distance(b.locals[0].translation) < 5e-3);
    }
}

fn assert_good(report: &RefitReport, what: &str) {
    let (m, source) = (&report.fitted, &report.source);
    // Feet stand as still as the source's.
    assert!(
        m.slide < source.slide.max(0.01) && m.drift < 1.05 * source.drift.max(0.005),
        "{what}: {m:?} {source:?}"
    );
    assert!(m.penetration < 0.005 && m.height_error < 0.005, "{what}: {m:?}");
    assert!(report.jerk_ratio() < 1.5, "{what}: {}", report.jerk_ratio());
    assert_eq!(m.limit_violations, 0, "{what}");
}

#[test]
fn feet_stand_on_every_ground() {
    let motion = walk(60.0, 3.0, 0.0);
    for ground in ["flat", "slope:10", "slope:-10", "slope:20", "slope:-20", "steps:0.15,0.6", "hills"] {
        for scale in [1.0, 0.6] {
            let fitted = fit(&walker(scale), &motion, &on(ground));
            assert_eq!(fitted.stances.len(), 6, "{:?}", fitted.stances);
            assert_good(&fitted.report, ground);
            assert!(fitted.report.copied.slide < 0.01 || ground != "flat");
        }
    }
}

#[test]
fn a_walk_made_on_a_slope_stays_on_that_slope() {
    let slope = 10f64.to_radians().tan();
    let motion = walk(60.0, 3.0, slope);
    let mut params = on("slope:10");
    params.along_way = false;
    let fitted = fit(&walker(1.0), &motion, &params);
    assert_good(&fitted.report, "slope");
    assert!(angle(&motion, &fitted.motion) < 1.0, "{}", angle(&motion, &fitted.motion));
}

#[test]
fn a_turned_and_moved_scene_gives_the_turned_and_moved_result() {
    let motion = walk(30.0, 2.0, 0.0);
    let (turn, shift) = (DQuat::from_rotation_y(0.7), DVec3::new(3.0, 0.0, -2.0));
    let mut moved = motion.clone();
    for pose in &mut moved.poses {
        pose.locals[0].translation = turn * pose.locals[0].translation + shift;
        pose.locals[0].rotation = turn * pose.locals[0].rotation;
    }
    for ground in ["slope:10", "hills"] {
        let [a, b] = [&motion, &moved].map(|motion| fit(&walker(0.8), motion, &on(ground)));
        assert!((b.site.heading - a.site.heading - 0.7).abs() < 1e-9);
        for (a, b) in a.motion.poses.iter().zip(&b.motion.poses) {
            let start = motion.poses[0].locals[0].translation * DVec3::new(1.0, 0.0, 1.0);
            let expected = turn * a.locals[0].translation + shift;
            assert!(expected.distance(b.locals[0].translation) < 1e-4, "{start}");
            for (a, b) in a.locals.iter().zip(&b.locals).skip(1) {
                assert!(a.rotation.dot(b.rotation).abs() > 1.0 - 1e-6);
            }
        }
    }
}

#[test]
fn there_and_back_is_the_same_clip() {
    let motion = walk(60.0, 3.0, 0.0);
    let (rig, child) = (walker(1.0), walker(0.6));
    let there = fit(&child, &motion, &on("flat"));
    let mut go_on = |_| ControlFlow::Continue(());
    let back =
        refit((&child, &there.motion), &rig, &on("flat"), &mut Warnings::default(), &mut go_on).unwrap();
    assert!(angle(&motion, &back.motion) < 0.5, "{}", angle(&motion, &back.motion));
}

#[test]
fn a_fit_of_all_frames_jerks_less_than_one_of_each() {
    let motion = walk(60.0, 3.0, 0.0);
    let together = fit(&walker(0.8), &motion, &on("steps:0.15,0.6"));
    let apart = fit(&walker(0.8), &motion, &RefitParams { together: false, ..on("steps:0.15,0.6") });
    assert!(together.report.jerk_ratio() < 0.7 * apart.report.jerk_ratio());
}

#[test]
fn ranges_are_kept_exactly() {
    let motion = walk(60.0, 2.0, 0.0);
    let mut joints = walker(1.0).joints().to_vec();
    let range = |kind, low: f64, high: f64| Dof { kind, range: [low.to_radians(), high.to_radians()] };
    for side in ["Left", "Right"] {
        let mut limit = |name: &str, dofs: Vec<Dof>| {
            let joint = joints.iter_mut().find(|joint| joint.name == format!("{side}{name}")).unwrap();
            joint.dofs = dofs;
        };
        limit("Leg", vec![range(DofKind::Rx, 5.0, 60.0)]);
        limit(
            "Foot",
            vec![
                range(DofKind::Rx, -25.0, 25.0),
                range(DofKind::Ry, -10.0, 10.0),
                range(DofKind::Rz, -10.0, 10.0),
            ],
        );
        limit("Arm", vec![range(DofKind::Rx, -5.0, 5.0)]);
    }
    let rig = Rig::new(joints).unwrap();
    let fitted = fit(&rig, &motion, &on("slope:15"));
    assert_eq!(fitted.report.fitted.limit_violations, 0);
    assert_eq!(fitted.report.copied.limit_violations, 0);
    assert!(fitted.report.fitted.slide < 0.05, "{:?}", fitted.report.fitted);
}

#[test]
fn clips_that_jump_are_cut_and_not_smoothed() {
    let mut motion = walk(60.0, 2.0, 0.0);
    for pose in &mut motion.poses[60..] {
        pose.locals[0].translation.x += 5.0;
    }
    let fitted = fit(&walker(0.7), &motion, &on("slope:10"));
    assert_eq!(fitted.report.cuts, [60]);
    assert_good(&fitted.report, "jump");
}

#[test]
fn what_cannot_be_fitted_is_refused_or_survived() {
    let rig = walker(1.0);
    let motion = walk(30.0, 1.0, 0.0);
    let attempt = |source: &Rig, motion: &Motion, target: &Rig| {
        let mut warnings = Warnings::default();
        let mut go_on = |_| ControlFlow::Continue(());
        refit((source, motion), target, &on("hills"), &mut warnings, &mut go_on).map(|fit| (fit, warnings))
    };
    // One frame.
    let one = Motion { fps: 30.0, poses: motion.poses[..1].to_vec() };
    assert!(attempt(&rig, &one, &walker(0.6)).is_ok());
    // None.
    assert_eq!(
        attempt(&rig, &Motion { fps: 30.0, poses: vec![] }, &rig).unwrap_err(),
        ConstrainError::NoFrames
    );
    // A number that is none.
    let mut broken = motion.clone();
    broken.poses[3].locals[2].rotation.x = f64::NAN;
    let error = attempt(&rig, &broken, &rig).unwrap_err().to_string();
    assert!(error.contains("frame 3") && error.contains("Neck"), "{error}");
    // Bones without length.
    let flat: Vec<Joint> =
        rig.joints().iter().map(|joint| Joint { rest: Transform::IDENTITY, ..joint.clone() }).collect();
    assert!(attempt(&rig, &motion, &Rig::new(flat).unwrap()).is_err());
    let mut stub = rig.joints().to_vec();
    for joint in stub.iter_mut().filter(|joint| joint.name.contains("Toe") || joint.name.contains("Hand")) {
        joint.rest.translation = DVec3::ZERO;
    }
    let (fitted, _) = attempt(&rig, &motion, &Rig::new(stub).unwrap()).unwrap();
    assert!(fitted.report.fitted.penetration < 0.005, "{:?}", fitted.report.fitted);
    // Other names.
    let renamed: Vec<Joint> = rig
        .joints()
        .iter()
        .enumerate()
        .map(|(i, joint)| Joint { name: format!("j{i}"), ..joint.clone() })
        .collect();
    let renamed = Rig::new(renamed).unwrap();
    assert!(matches!(attempt(&rig, &motion, &renamed), Err(ConstrainError::Unmatched { .. })));
    // No feet on either side: nothing is held, and it is said.
    let (_, warnings) = attempt(&renamed, &motion, &renamed).unwrap();
    assert!(warnings.messages.iter().any(|message| message.contains("no feet")), "{warnings:?}");
    // Standing on one spot for ever, and a teleport every frame.
    let still = Motion { fps: 30.0, poses: vec![motion.poses[0].clone(); 40] };
    assert!(attempt(&rig, &still, &walker(1.3)).is_ok());
    let mut wild = motion.clone();
    for (t, pose) in wild.poses.iter_mut().enumerate() {
        pose.locals[0].translation *= if t % 2 == 0 { 1.0 } else { 100.0 };
    }
    assert!(attempt(&rig, &wild, &walker(0.6)).is_ok());
}

#[test]
fn rates_that_make_no_sense_are_refused() {
    let rig = walker(1.0);
    let clip = walk(30.0, 1.0, 0.0).to_clip(&rig, "walk").unwrap();
    assert!(Motion::from_clip(&rig, &clip, 0.0).is_err());
    assert!(Motion::from_clip(&rig, &clip, f64::NAN).is_err());
    let again = Motion::from_clip(&rig, &clip, 60.0).unwrap();
    assert_eq!(again.n_frames(), 61);
    let slow = Motion::from_clip(&rig, &clip, 30.0).unwrap();
    assert!(angle(&slow, &walk(30.0, 1.0, 0.0)) < 0.05);
}

#[test]
fn it_can_be_stopped() {
    let (rig, motion) = (walker(1.0), walk(30.0, 1.0, 0.0));
    let mut stop = |_| ControlFlow::Break(());
    let stopped = refit((&rig, &motion), &rig, &on("flat"), &mut Warnings::default(), &mut stop);
    assert_eq!(stopped.unwrap_err(), ConstrainError::Cancelled);
}

/// The walk without its forward motion: a treadmill.
fn in_place(motion: &Motion) -> Motion {
    belt::carried(&walker(1.0), motion, DVec3::new(0.0, 0.0, -1.1))
}

#[test]
fn a_walk_in_place_is_one_on_a_belt() {
    let (rig, walk) = (walker(1.0), walk(60.0, 3.0, 0.0));
    let params = RefitParams::default();
    let belt = Bodies::new(&rig, &in_place(&walk), &rig, &params).unwrap().belt().unwrap();
    assert!(belt.distance(DVec3::new(0.0, 0.0, -1.1)) < 0.02, "{belt}");
    assert_eq!(Bodies::new(&rig, &walk, &rig, &params).unwrap().belt(), None);
    // The same contacts as those of the walk it is.
    let (found, feet) = detect_contacts(&rig, &in_place(&walk), &params).unwrap();
    let (wanted, _) = detect_contacts(&rig, &walk, &params).unwrap();
    assert_eq!((found.len(), feet.len()), (wanted.len(), 2));
    for (a, b) in found.iter().zip(&wanted) {
        assert!(a.frames.start.abs_diff(b.frames.start) <= 3 && a.frames.end.abs_diff(b.frames.end) <= 3);
    }
    // On another body it stays in place, with feet that go with the belt of its size.
    let fitted = fit(&walker(0.7), &in_place(&walk), &RefitParams { still_feet: true, ..params });
    let hips = |t: usize| fitted.motion.poses[t].locals[0].translation;
    assert!((0..fitted.motion.n_frames()).all(|t| hips(t).distance(hips(0)) < 0.1));
    assert!(fitted.report.fitted.slide < 1e-3, "{:?}", fitted.report.fitted);
    // Uphill it goes ahead.
    let uphill = fit(&walker(1.0), &in_place(&walk), &on("slope:10"));
    assert!(uphill.motion.poses.last().unwrap().locals[0].translation.z > 2.0);
}

#[test]
fn given_contacts_are_held_and_no_others() {
    let (rig, walk) = (walker(1.0), walk(60.0, 3.0, 0.0));
    let (found, _) = detect_contacts(&rig, &walk, &RefitParams::default()).unwrap();
    // Given back as they were found, nothing changes.
    let same = fit(&rig, &walk, &RefitParams { given: Some(found.clone()), ..RefitParams::default() });
    let free = fit(&rig, &walk, &RefitParams::default());
    assert!(angle(&same.motion, &free.motion) < 0.05, "{}", angle(&same.motion, &free.motion));
    // One that is lengthened holds the foot longer; none hold nothing.
    let at =
        found.iter().position(|c| c.foot == "LeftFoot" && c.part == FootPart::Ball && c.frames.start > 30);
    let mut longer = found.clone();
    let frames = &mut longer[at.unwrap()].frames;
    let late = frames.end + 6;
    frames.end = late;
    let held = fit(&rig, &walk, &RefitParams { given: Some(longer), ..RefitParams::default() });
    assert!(held.stances.iter().any(|stance| stance.frames.end == late), "{:?}", held.stances);
    let none = fit(&rig, &walk, &RefitParams { given: Some(Vec::new()), ..RefitParams::default() });
    assert!(none.stances.is_empty());
}

/// The walker with the names of Blender's rigs, and a spine of two joints.
#[test]
fn bodies_of_other_makers_are_matched_by_their_parts() {
    let mut joints = walker(0.8).joints().to_vec();
    for joint in &mut joints {
        let (side, name) = match joint.name.strip_prefix("Left") {
            Some(name) => (".L", name.to_owned()),
            None => match joint.name.strip_prefix("Right") {
                Some(name) => (".R", name.to_owned()),
                None => ("", joint.name.clone()),
            },
        };
        let known = [
            ("Hips", "pelvis"),
            ("Spine", "chest"),
            ("Arm", "upper_arm"),
            ("ForeArm", "forearm"),
            ("Hand", "hand"),
            ("UpLeg", "thigh"),
            ("Leg", "shin"),
            ("Foot", "foot"),
            ("ToeBase", "toe"),
            ("ToeBase_end", "toe_tip"),
        ];
        let new = known
            .iter()
            .find(|(old, _)| *old == name)
            .map_or(name.to_lowercase(), |(_, new)| (*new).to_owned());
        joint.name = format!("{new}{side}");
    }
    let target = Rig::new(joints).unwrap();
    let motion = walk(60.0, 2.0, 0.0);
    let fitted = fit(&target, &motion, &on("flat"));
    let same = fit(&walker(0.8), &motion, &on("flat"));
    assert!(angle(&fitted.motion, &same.motion) < 0.1, "{}", angle(&fitted.motion, &same.motion));
    assert_good(&fitted.report, "other names");
}
