use super::*;

/// A standing body, turned and shifted.
fn body(heading: f64, at: DVec3) -> BodyPose {
    let (rest, turn) = (CanonicalPose::rest(), DQuat::from_rotation_y(heading));
    BodyPose::new(std::array::from_fn(|k| at + turn * rest.joint(k)))
}

fn tracker(smoothing: f64) -> BodyTracker {
    BodyTracker::new(TrackerParams { smoothing, ..TrackerParams::default() })
}

#[test]
fn place_heading_and_size_are_taken_out() {
    let (rest, _) = CanonicalPose::of(&body(0.0, DVec3::ZERO));
    for heading in [-3.0, -0.5, 0.0, 1.0, 2.0] {
        let at = DVec3::new(1.0, 2.0, -3.0);
        let mut large = body(heading, DVec3::ZERO);
        large.joints.iter_mut().for_each(|p| *p = at + 1.3 * *p);
        let (pose, place) = CanonicalPose::of(&large);
        assert!((place.heading - heading).abs() < 1e-9, "{} {heading}", place.heading);
        assert!(place.position.distance(at) < 1e-12 && (place.trunk - 1.3 * 0.5).abs() < 1e-9);
        let worst = pose.numbers.iter().zip(&rest.numbers).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-12, "{worst}");
    }
}

#[test]
fn a_mirror_exchanges_sides() {
    let mut pose = body(0.3, DVec3::X);
    pose.joints[BodyJoint::WristLeft as usize] += DVec3::Y;
    let seen = pose.mirrored();
    assert_eq!(seen.at(BodyJoint::WristRight), pose.at(BodyJoint::WristLeft) * DVec3::new(-1.0, 1.0, 1.0));
    assert_eq!(seen.mirrored(), pose);
    assert!((CanonicalPose::of(&seen).1.heading + 0.3).abs() < 1e-9);
}

#[test]
fn lost_frames_are_held_then_fade_and_come_back_without_a_jump() {
    let mut tracker = tracker(0.0);
    let mut raised = body(0.0, DVec3::ZERO);
    (5..8).for_each(|k| raised.joints[k].y += 0.4);
    let mut lost = raised.clone();
    lost.seen[3] = false;
    let (raised_pose, _) = CanonicalPose::of(&raised);
    let frame = 1.0 / 30.0;
    assert!(tracker.step(0.0, &lost).is_none(), "nothing is guessed before anything was seen");
    let mut before = tracker.step(frame, &raised).unwrap();
    assert!(!before.held && before.pose == raised_pose);
    let mut worst = 0.0f64;
    for k in 2..180 {
        let time = f64::from(k) * frame;
        let input = if (10..100).contains(&k) { &lost } else { &raised };
        let now = tracker.step(time, input).unwrap();
        assert_eq!(now.held, (10..100).contains(&k), "frame {k}");
        let step = now.pose.numbers.iter().zip(&before.pose.numbers).map(|(a, b)| (a - b).abs());
        worst = worst.max(step.fold(0.0, f64::max));
        match k {
            20 => assert_eq!(now.pose, raised_pose, "held for a second"),
            99 => assert_eq!(now.pose, CanonicalPose::rest(), "then it is at rest"),
            179 => assert_eq!(now.pose, raised_pose, "then it is back"),
            _ => {}
        }
        before = now;
    }
    assert!(worst < 0.1, "moves by {worst} m in a frame");
}

#[test]
fn a_joint_that_jumps_is_not_believed_unless_it_stays() {
    let mut tracker = tracker(0.0);
    let still = body(0.0, DVec3::ZERO);
    let mut jump = still.clone();
    jump.joints[7] += DVec3::new(2.0, 0.0, 0.0);
    tracker.step(0.0, &still);
    assert!(!tracker.step(0.033, &still).unwrap().held);
    let rest = CanonicalPose::rest();
    let shown = tracker.step(0.066, &jump).unwrap();
    assert!(!shown.held && shown.pose.joint(7).distance(rest.joint(7)) < 1e-9, "a hand jumps alone");
    assert_eq!(tracker.kept_limbs(), [0, 1, 0, 0, 0]);
    assert!(!tracker.step(0.1, &still).unwrap().held, "it was one frame");
    let moved = body(0.0, DVec3::X * 3.0);
    let held: Vec<bool> = (4..20).map(|k| tracker.step(f64::from(k) * 0.033, &moved).unwrap().held).collect();
    assert!(held[0] && !held[15], "a body that stays elsewhere is there: {held:?}");
}

#[test]
fn the_rest_of_the_body_is_followed_while_a_limb_is_lost() {
    let mut tracker = tracker(0.0);
    let frame = 1.0 / 30.0;
    let bowed = |k: i32, is_raised: bool| {
        let mut body = body(0.02 * f64::from(k), DVec3::Z * 0.01 * f64::from(k));
        (9..12).filter(|_| is_raised).for_each(|joint| body.joints[joint].y += 0.3);
        body
    };
    let mut before: Option<CanonicalPose> = None;
    let mut worst = 0.0f64;
    for k in 0..90 {
        let mut seen = bowed(k, k >= 40);
        if (20..60).contains(&k) {
            (9..12).for_each(|joint| seen.seen[joint] = false);
        }
        let now = tracker.step(f64::from(k) * frame, &seen).unwrap();
        assert!(!now.held, "frame {k}");
        assert!((now.place.heading - 0.02 * f64::from(k)).abs() < 1e-9, "the body turns on");
        let truth = CanonicalPose::of(&bowed(k, k >= 60)).0;
        if !(50..75).contains(&k) {
            let off =
                (0..20).map(|joint| now.pose.joint(joint).distance(truth.joint(joint))).fold(0.0, f64::max);
            assert!(off < 1e-6, "frame {k}: {off}");
        }
        let step = before.map_or(0.0, |before| now.pose.joint(10).distance(before.joint(10)));
        worst = worst.max(step);
        before = Some(now.pose);
    }
    // At once it would be half a metre.
    assert!(worst < 0.2, "the hand comes back by {worst} m in a frame");
    assert_eq!(tracker.kept_limbs(), [0, 0, 40, 0, 0]);
}

#[test]
fn who_is_seen_without_legs_is_followed_above_them() {
    let mut tracker = tracker(0.0);
    let mut seen = body(0.3, DVec3::ZERO);
    for joint in [13, 14, 15, 17, 18, 19] {
        seen.seen[joint] = false;
        seen.joints[joint] = DVec3::NAN;
    }
    let shown = tracker.step(0.0, &seen).expect("hips are there");
    assert!(!shown.held && shown.pose.joint(14).distance(CanonicalPose::rest().joint(14)) < 1e-9);
}

#[test]
fn a_body_in_other_units_is_followed_as_well() {
    let mut tracker = tracker(0.0);
    for frame in 0..60 {
        let time = f64::from(frame) / 120.0;
        // A fast walk, in centimetres.
        let mut large = body(0.0, DVec3::Z * (2.0 * time));
        large.joints.iter_mut().for_each(|p| *p *= 100.0);
        assert!(!tracker.step(time, &large).unwrap().held, "frame {frame}");
    }
}

#[test]
fn numbers_that_are_none_and_times_that_do_not_rise_do_no_harm() {
    let mut tracker = tracker(0.5);
    let still = body(0.0, DVec3::ZERO);
    let first = tracker.step(0.0, &still).unwrap();
    let mut broken = still.clone();
    broken.joints[2].y = f64::NAN;
    assert!(tracker.step(0.1, &broken).unwrap().held);
    let again = tracker.step(0.1, &body(1.0, DVec3::X)).unwrap();
    assert!(again.pose.numbers.iter().all(|v| v.is_finite()) && again.place == first.place);
}

#[test]
fn limbs_that_are_not_listened_to_hang() {
    let params = TrackerParams {
        ignored: vec![Limb::LegLeft, Limb::LegRight],
        smoothing: 0.0,
        ..TrackerParams::default()
    };
    let mut tracker = BodyTracker::new(params);
    let mut guessed = body(0.7, DVec3::ONE);
    for k in 12..20 {
        guessed.joints[k] += DVec3::new(0.3, 0.2, 0.1);
        guessed.seen[k] = false;
    }
    let tracked = tracker.step(0.0, &guessed).expect("legs are not needed");
    let rest = CanonicalPose::rest();
    for k in 12..20 {
        assert!(tracked.pose.joint(k).distance(rest.joint(k)) < 0.15, "joint {k}");
    }
}

#[test]
fn smoothing_quiets_noise_and_lets_movement_through() {
    let mut random = Random(9);
    let frame = 1.0 / 30.0;
    let mut jitter = [0.0; 2];
    for (jitter, smoothing) in jitter.iter_mut().zip([0.0, 0.8]) {
        let mut tracker = tracker(smoothing);
        let mut last = None;
        for k in 0..300 {
            let mut noisy = body(0.0, DVec3::ZERO);
            noisy.joints.iter_mut().for_each(|p| p.y += 0.01 * random.next());
            let now = tracker.step(f64::from(k) * frame, &noisy).unwrap().pose.numbers[3 * 7 + 1];
            *jitter += last.map_or(0.0, |last: f64| (now - last).abs());
            last = Some(now);
        }
    }
    assert!(jitter[1] < 0.35 * jitter[0], "{jitter:?}");
    // A fast arm arrives within a quarter of a second.
    let mut tracker = tracker(0.4);
    let mut raised = body(0.0, DVec3::ZERO);
    (0..10).for_each(|k| {
        tracker.step(f64::from(k) * frame, &raised);
    });
    (5..8).for_each(|k| raised.joints[k].y += 0.3);
    let shown: Vec<f64> =
        (10..20).map(|k| tracker.step(f64::from(k) * frame, &raised).unwrap().pose.joint(7).y).collect();
    let goal = CanonicalPose::of(&raised).0.joint(7).y;
    assert!((shown[8] - goal).abs() < 0.03, "{shown:?} {goal}");
}

#[test]
fn the_foot_that_stands_stays_and_jumps_are_jumps() {
    // A body of two legs that swing against each other, 0.9 m long, on hips 0.9 m up.
    let joint = |name: &str, parent, at: DVec3| Joint::new(name, parent, Transform::from_translation(at));
    let rig = Rig::new(vec![
        joint("hips", None, DVec3::Y * 0.9),
        joint("leg.L", Some(0), DVec3::X * 0.1),
        joint("leg.R", Some(0), DVec3::X * -0.1),
        joint("foot.L", Some(1), DVec3::Y * -0.9),
        joint("foot.R", Some(2), DVec3::Y * -0.9),
    ])
    .unwrap();
    let mut footing =
        Footing::new(rig.rest_world().iter().map(|m| m.translation), &[], GroundParams::default());
    let (mut world, mut travelled, mut lowest) = (Vec::new(), Vec::new(), Vec::new());
    let mut feet: Vec<[DVec3; 2]> = Vec::new();
    for k in 0..240 {
        let time = f64::from(k) / 60.0;
        let angle = 0.4 * (std::f64::consts::TAU * time).sin();
        let mut pose = rig.rest_pose();
        pose.locals[1].rotation = DQuat::from_rotation_x(angle);
        pose.locals[2].rotation = DQuat::from_rotation_x(-angle);
        // The one that swings ahead is drawn up.
        let ahead = (std::f64::consts::TAU * time).cos() < 0.0;
        pose.locals[if ahead { 3 } else { 4 }].translation.y += 0.1;
        rig.forward(&pose, &mut world).unwrap();
        let jump = if (200..220).contains(&k) { 0.3 } else { 0.0 };
        let (pose, place) = CanonicalPose::of(&body(0.0, DVec3::Y * jump));
        let carried = footing.step(time, &Tracked { pose, place, held: false }, |j| world[j].translation);
        let at = [3, 4].map(|j| carried.transform_point3(world[j].translation));
        travelled.push(carried.translation.z);
        lowest.push(at[0].y.min(at[1].y));
        feet.push(at);
    }
    assert!(lowest[..200].iter().all(|y| y.abs() < 1e-9), "feet are on the ground");
    assert!(lowest[205] > 0.1 && lowest[230].abs() < 1e-9, "{} {}", lowest[205], lowest[230]);
    // There is a body in every frame.
    for pair in feet[..200].windows(2) {
        let slid =
            (0..2).map(|f| (pair[1][f] - pair[0][f]).with_y(0.0).length()).fold(f64::INFINITY, f64::min);
        assert!(slid < 1e-9, "slid by {slid}");
    }
    assert!(travelled[199].abs() > 1.0, "walks: {}", travelled[199]);
}

/// One frame of a standing body gives the tilt of the camera; afterwards bodies are upright.
#[test]
fn a_tilted_camera_is_set_upright() {
    let tilt = DQuat::from_rotation_x(0.3) * DQuat::from_rotation_z(-0.1);
    let tilted = |pose: &BodyPose| BodyPose { joints: pose.joints.map(|p| tilt * p), seen: pose.seen };
    let straight = body(0.4, DVec3::new(0.2, 1.0, -2.0));
    let calibration = Calibration::of_standing(&tilted(&straight)).unwrap();
    let repaired = calibration.apply(&tilted(&straight));
    let lean = |pose: &BodyPose| {
        let feet = pose.at(BodyJoint::AnkleLeft).midpoint(pose.at(BodyJoint::AnkleRight));
        (pose.at(BodyJoint::ShoulderCenter) - feet).angle_between(DVec3::Y)
    };
    assert!(lean(&tilted(&straight)) > 0.25 && lean(&repaired) < 1e-6, "{}", lean(&repaired));
    let params = TrackerParams { calibration: Some(calibration), smoothing: 0.0, ..TrackerParams::default() };
    let tracked = BodyTracker::new(params).step(0.0, &tilted(&straight)).unwrap();
    assert_eq!(tracked.place.trunk, calibration.trunk);
    let plain = CanonicalPose::of(&straight).0;
    let far = (0..20).map(|k| tracked.pose.joint(k).distance(plain.joint(k))).fold(0.0, f64::max);
    assert!(far < 0.1, "{far}");
    // A body on the floor, or half hidden, cannot be used.
    let lying =
        BodyPose { joints: straight.joints.map(|p| DQuat::from_rotation_z(1.5) * p), ..straight.clone() };
    assert!(Calibration::of_standing(&lying).unwrap_err().to_string().contains("stand straight"));
    let mut hidden = straight;
    hidden.seen[3] = false;
    assert!(Calibration::of_standing(&hidden).is_err());
}

/// A mirror exchanges the sides of what comes, not those of the pairs.
#[test]
fn a_mirrored_actor_means_the_other_side() {
    let stand = body(0.0, DVec3::Y);
    let raise = |first: usize| {
        let mut pose = stand.clone();
        for k in first + 1..first + 4 {
            pose.joints[k] = pose.joints[first] + (pose.joints[first] - pose.joints[k]);
        }
        pose
    };
    let (left, right) = (raise(4), raise(8));
    let rig = Rig::new(vec![Joint::new("a", None, Transform::IDENTITY)]).unwrap();
    let pose = |angle: f64| Pose {
        locals: vec![Transform { rotation: DQuat::from_rotation_x(angle), ..Transform::IDENTITY }],
    };
    let pairs = [(&stand, 0.0), (&left, 1.0), (&right, -1.0)]
        .map(|(body, angle)| RigPair { body: body.clone(), pose: pose(angle) });
    let weights = |mirror: bool| {
        let tracker = TrackerParams { mirror, smoothing: 0.0, ..TrackerParams::default() };
        let params = PerformerParams { tracker, whole_body: true, ..PerformerParams::default() };
        let mut performer = Performer::new(&rig, &Anatomy::read(&rig, &[]), &pairs, &params).unwrap();
        performer.step(&rig, 0.0, &left).unwrap().unwrap().weights
    };
    let (plain, mirrored) = (weights(false), weights(true));
    assert!(plain[1] > 0.95 && mirrored[2] > 0.95, "{plain:?} {mirrored:?}");
}

/// What lies outside the picture was guessed, and the picture gives the position of the hips.
#[test]
fn a_camera_knows_what_it_cannot_see() {
    let world: Vec<[f64; 4]> = (0..33)
        .map(|k| {
            let side = if k % 2 == 1 { 0.15 } else { -0.15 };
            let y =
                [(11, -0.6), (13, -0.45), (23, -0.2), (25, 0.0), (27, 0.4)].iter().find(|(to, _)| k < *to);
            [side, y.map_or(0.8, |(_, y)| *y), 0.0, 0.99]
        })
        .collect();
    let image: Vec<[f64; 2]> = world.iter().map(|p| [0.5 + 0.4 * p[0], 0.5 + 0.4 * p[1]]).collect();
    let seen = BodyPose::from_camera(Some(&world), Some(&image), 1.0).unwrap();
    assert!(seen.first_missing().is_none());
    assert!(
        seen.at(BodyJoint::ShoulderLeft).x > 0.0
            && seen.at(BodyJoint::Head).y > seen.at(BodyJoint::HipLeft).y
    );
    let mut cut = image.clone();
    (27..33).for_each(|k| cut[k][1] = 1.2);
    let half = BodyPose::from_camera(Some(&world), Some(&cut), 1.0).unwrap();
    let missing = half.missing_limb(&|_| false).unwrap();
    assert_eq!(missing.0, Limb::LegLeft);
    assert!(half.missing_limb(&|limb| matches!(limb, Limb::LegLeft | Limb::LegRight)).is_none());
    // A step to the side in the picture is one in metres.
    let moved: Vec<[f64; 2]> = image.iter().map(|p| [p[0] + 0.1, p[1]]).collect();
    let aside = BodyPose::from_camera(Some(&world), Some(&moved), 1.0).unwrap();
    let step = aside.at(BodyJoint::HipCenter).x - seen.at(BodyJoint::HipCenter).x;
    assert!((step - 0.25).abs() < 0.02, "{step}");
    assert!(BodyPose::from_camera(Some(&world[..5]), None, 1.0).is_err());
    assert!(BodyPose::from_camera(None, None, 1.0).unwrap().first_missing().is_some());
}
