//! Clips of a body with known footprints.

use super::*;
use glam::{DQuat, DVec3};
use sinew_geom::{Joint, Transform};

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

/// Rise of the walker's floor along its way.
fn floor(slope: f64, z: f64) -> f64 {
    slope * z
}

/// Where a foot's ankle is relative to the start, and whether it stands, at a time in seconds.
fn foot(side: usize, time: f64) -> (f64, f64) {
    // Half a second standing, half a second swinging 1.1 m.
    let phase = time + 0.5 * side as f64;
    let (step, within) = (phase.floor(), phase.fract());
    let u = ((within - 0.5) / 0.5).max(0.0);
    let eased = u * u * u * (10.0 - 15.0 * u + 6.0 * u * u);
    let lift = 0.08 * (16.0 * u * u * (1.0 - u) * (1.0 - u));
    (1.1 * (step + eased - 0.5 * side as f64), lift)
}

/// A walk up a slope (rise over run) whose soles stand level and exactly still, along +Z.
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

fn fit(target: &Rig, motion: &Motion, params: &RefitParams) -> Refit {
    let rig = walker(1.0);
    refit((&rig, motion), target, params, &mut Warnings::default(), &mut |_| ControlFlow::Continue(())).unwrap()
}

fn on(ground: &str) -> RefitParams {
    RefitParams { ground: ground.parse().unwrap(), ..RefitParams::default() }
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
    eprintln!("{:?}", fitted.report);
    assert!(angle(&motion, &fitted.motion) < 0.3, "{}", angle(&motion, &fitted.motion));
    for (a, b) in motion.poses.iter().zip(&fitted.motion.poses) {
        assert!(a.locals[0].translation.distance(b.locals[0].translation) < 5e-3);
    }
}

fn assert_good(report: &RefitReport, what: &str) {
    let m = &report.fitted;
    assert!(m.slide < 0.01, "{what}: {m:?}");
    assert!(m.drift < 0.005, "{what}: {m:?}");
    assert!(m.penetration < 0.005, "{what}: {m:?}");
    assert!(m.height_error < 0.005, "{what}: {m:?}");
    assert_eq!(m.limit_violations, 0, "{what}");
}

#[test]
fn feet_stand_on_every_ground() {
    let motion = walk(60.0, 3.0, 0.0);
    for ground in ["flat", "slope:10", "slope:-10", "slope:20", "slope:-20", "steps:0.15,0.6", "hills"] {
        for scale in [1.0, 0.6] {
            let fitted = fit(&walker(scale), &motion, &on(ground));
            eprintln!("{ground} {scale} {:?} jerk {}", fitted.report.fitted, fitted.report.jerk_ratio());
            assert_good(&fitted.report, ground);
        }
    }
}
