//! Rules over frames of a clip.

use super::*;

#[test]
fn hands_are_kept_apart_by_a_rule() {
    let motion = walk(60.0, 2.0, 0.0);
    let rig = walker(1.0);
    let free = fit(&rig, &motion, &on("flat"));
    let mut params = on("flat");
    params.rules = rules(&rig, "distance LeftHand RightHand >= 60 cm");
    let rule = params.rules[0].clone();
    let held = fit(&rig, &motion, &params);
    let least = |motion: &Motion| {
        let worst = |pose: &Pose| rule.violation(&JointFrames::of(&rig, pose));
        motion.poses.iter().map(worst).fold(0.0, f64::max)
    };
    assert!(least(&free.motion) > 0.1, "{}", least(&free.motion));
    assert!(least(&held.motion) < 0.005 && held.report.rule_violation < 0.005, "{}", least(&held.motion));
    assert_good(&held.report, "rule");
}

#[test]
fn rules_hold_when_they_say() {
    let (rig, motion) = (walker(1.0), walk(60.0, 2.0, 0.0));
    let hand = rig.find("LeftHand").unwrap();
    let mut params = on("slope:5");
    params.rules = rules(
        &rig,
        "plane Shelf = through (0, 0.9, 0) m normal (0, 1, 0)\nhold LeftHand during 30 .. 42\npin RightHand to (-0.3, 1.4, 1.5) m during 70 .. 80 fade 3\n\
         put RightHand above Shelf when contact(LeftFoot)",
    );
    assert_eq!(params.rules.len(), 3);
    let fitted = fit(&rig, &motion, &params);
    let path: Vec<DVec3> =
        fitted.motion.poses.iter().map(|pose| JointFrames::of(&rig, pose).positions[hand]).collect();
    for place in &path[30..=42] {
        assert!(place.distance(path[36]) < 0.003, "{place} {}", path[36]);
    }
    assert!(path[0].distance(path[36]) > 0.3);
    let free = fit(&rig, &motion, &on("slope:5"));
    let before = &free.motion.poses[20].locals[rig.find("LeftForeArm").unwrap()].rotation;
    let after = &fitted.motion.poses[20].locals[rig.find("LeftForeArm").unwrap()].rotation;
    assert!(before.angle_between(*after) < 0.3);
    assert!(fitted.report.fitted.slide < 0.01, "{:?}", fitted.report.fitted);
}

#[test]
fn ranges_of_a_text_are_kept() {
    let (rig, motion) = (walker(1.0), walk(60.0, 2.0, 0.0));
    let (script, _) =
        crate::language::parse("range LeftLeg.rx in 8 .. 50 deg\nrange Spine.ry in -1 .. 1 deg");
    let made = ClipRules::new(&script, &rig, &crate::compile::Scene::default()).unwrap();
    assert!(made.diagnostics.is_empty(), "{:?}", made.diagnostics);
    let fitted = fit(&made.rig, &motion, &on("slope:10"));
    assert_eq!(fitted.report.fitted.limit_violations, 0);
    let knee = rig.find("LeftLeg").unwrap();
    for pose in &fitted.motion.poses {
        let bend = made.rig.joints()[knee].values_at(&pose.locals[knee])[0].to_degrees();
        assert!((7.999..=50.001).contains(&bend), "{bend}");
    }
}

/// The ground of a rule is that of the clip, placed along its path.
#[test]
fn a_hand_glides_over_the_ground() {
    let (rig, motion) = (walker(1.0), walk(60.0, 2.0, 0.0));
    let hand = rig.find("LeftHand").unwrap();
    let mut params = on("slope:10");
    params.rules = rules(&rig, "put LeftHand above Ground by = 70 cm");
    let fitted = fit(&rig, &motion, &params);
    for pose in &fitted.motion.poses {
        let place = JointFrames::of(&rig, pose).positions[hand];
        let height = place.y - fitted.site.height(place.x, place.z);
        assert!((height - 0.7).abs() < 0.02, "{height}");
    }
    assert!(fitted.report.rule_violation < 0.01, "{}", fitted.report.rule_violation);
}

/// A hand maximised in height during a walk: the arm is straight, and feet
/// stay planted; outside the named frames nothing changes.
#[test]
fn what_is_maximized_goes_as_far_as_the_body_lets_it() {
    let (rig, motion) = (walker(1.0), walk(60.0, 3.0, 0.0));
    let find = |name: &str| rig.find(name).unwrap();
    let (hand, shoulder) = (find("LeftHand"), find("LeftArm"));
    let reach = 0.28 + 0.25f64.hypot(0.02);
    let heights = |text: &str, of: [usize; 2]| {
        let params = RefitParams { rules: rules(&rig, text), ..on("flat") };
        let fitted = fit(&rig, &motion, &params);
        assert_good(&fitted.report, text);
        assert_eq!(fitted.report.rule_violation, 0.0);
        let up = |pose: &Pose| {
            let world = JointFrames::of(&rig, pose);
            world.positions[of[0]].y - world.positions[of[1]].y
        };
        fitted.motion.poses.iter().map(up).collect::<Vec<f64>>()
    };
    let free = heights("", [hand, shoulder]);
    let high = heights("maximize LeftHand.y during 60 .. 120 fade 10", [hand, shoulder]);
    for t in 80..100 {
        assert!(high[t] > 0.97 * reach, "{t}: {} of {reach}", high[t]);
    }
    assert!((0..20).chain(160..180).all(|t| (high[t] - free[t]).abs() < 0.02), "{high:?}");
    let low = heights("minimize Head.y during 60 .. 120", [find("Head"), find("LeftFoot")]);
    let usual = heights("", [find("Head"), find("LeftFoot")]);
    assert!((75..105).all(|t| low[t] < usual[t] - 0.3), "{low:?} {usual:?}");
}

/// The walker swings its hands; a limit slows one of them down and keeps the feet planted.
#[test]
fn limits_of_speed_are_kept() {
    let (rig, motion) = (walker(1.0), walk(60.0, 2.0, 0.0));
    let hand = rig.find("LeftHand").unwrap();
    let places = |motion: &Motion| -> Vec<DVec3> {
        motion.poses.iter().map(|pose| JointFrames::of(&rig, pose).positions[hand]).collect()
    };
    let fastest =
        |motion: &Motion| places(motion).windows(2).map(|w| w[0].distance(w[1]) * 60.0).fold(0.0, f64::max);
    let hardest = |motion: &Motion| {
        places(motion).windows(3).map(|w| (w[0] - 2.0 * w[1] + w[2]).length() * 3600.0).fold(0.0, f64::max)
    };
    let free = fit(&rig, &motion, &on("flat"));
    let (speed, change) = (0.8 * fastest(&free.motion), 0.6 * hardest(&free.motion));
    for (text, limit, is_speed) in [
        (format!("limit velocity(LeftHand) <= {speed:.4} m/s"), speed, true),
        (format!("limit acceleration(LeftHand) <= {change:.4} m/s2"), change, false),
    ] {
        let mut params = on("flat");
        params.rules = rules(&rig, &text);
        let held = fit(&rig, &motion, &params);
        let reached = if is_speed { fastest(&held.motion) } else { hardest(&held.motion) };
        assert!(reached < 1.02 * limit, "{text}: {reached}");
        assert!((held.report.limit_excess - (reached / limit - 1.0).max(0.0)).abs() < 1e-3, "{text}");
        assert_good(&held.report, &text);
    }
    assert_eq!(free.report.limit_excess, 0.0);
}

#[test]
fn faults_of_a_text_are_reported() {
    let rig = walker(1.0);
    for (text, expected) in [
        ("distance LeftHnd RightHand >= 20 cm", "LeftHand"),
        ("pin LeftHand to (0, 1, 0) during 9 .. 3", "backwards"),
        ("pin LeftHand to (0, 1, 0) when contact(LeftFot)", "LeftFo"),
        ("limit velocity(Hips) <= -2 m/s", "positive"),
    ] {
        let (script, mut found) = crate::language::parse(text);
        found.extend(ClipRules::new(&script, &rig, &crate::compile::Scene::default()).unwrap().diagnostics);
        let messages = found.iter().map(|diagnostic| diagnostic.to_string()).collect::<Vec<_>>().join("\n");
        assert!(messages.contains(expected), "{text}: {messages}");
    }
}

#[test]
fn angles_of_joints_are_kept_in_clips() {
    let (rig, motion) = (walker(1.0), walk(60.0, 2.0, 0.0));
    let mut params = on("slope:5");
    let text = "LeftForeArm.rx = -40 deg during 20 .. 60\nRightArm.rx + RightForeArm.rx = 10 deg during 20 .. 60\nSpine.ry <= -5 deg";
    params.rules = rules(&rig, text);
    let fitted = fit(&rig, &motion, &params);
    let angles = |t: usize, name: &str| {
        let joint = rig.find(name).unwrap();
        let (of, local) = (&rig.joints()[joint], &fitted.motion.poses[t].locals[joint]);
        of.euler.to_angles(of.rest.rotation.inverse() * local.rotation).to_array().map(f64::to_degrees)
    };
    for t in 20..=60 {
        assert!((angles(t, "LeftForeArm")[0] + 40.0).abs() < 1.0, "{t}: {:?}", angles(t, "LeftForeArm"));
        let both = angles(t, "RightArm")[0] + angles(t, "RightForeArm")[0];
        assert!((both - 10.0).abs() < 1.0, "{t}: {both}");
    }
    assert!((0..fitted.motion.n_frames()).all(|t| angles(t, "Spine")[1] < -4.0));
    assert!(angles(0, "LeftForeArm")[0].abs() < 15.0, "not before: {:?}", angles(0, "LeftForeArm"));
    assert_good(&fitted.report, "angles");
}

#[test]
fn later_priorities_give_way_in_clips() {
    let (rig, motion) = (walker(1.0), walk(60.0, 1.0, 0.0));
    let hand = rig.find("RightHand").unwrap();
    let mut params = on("slope:5");
    let text = "pin RightHand to (-0.3, 1.3, 0.4) m during 10 .. 40\npin RightHand to (-0.3, 1.1, 0.4) m during 10 .. 40 priority 2";
    params.rules = rules(&rig, text);
    let fitted = fit(&rig, &motion, &params);
    for pose in &fitted.motion.poses[12..=38] {
        let at = JointFrames::of(&rig, pose).positions[hand];
        assert!(at.distance(DVec3::new(-0.3, 1.3, 0.4)) < 0.01, "{at}");
    }
}
