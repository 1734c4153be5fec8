use super::*;

/// An arm of three bones along x.
fn arm() -> Rig {
    let bone = |name: &str, parent| Joint::new(name, parent, Transform::from_translation(DVec3::X));
    Rig::new(vec![bone("a", None), bone("b", Some(0)), bone("c", Some(1))]).unwrap()
}

fn turned(rig: &Rig, angles: [f64; 3]) -> Pose {
    let mut pose = rig.rest_pose();
    for (local, angle) in pose.locals.iter_mut().zip(angles) {
        local.rotation = DQuat::from_rotation_z(angle);
    }
    pose
}

/// Weights that are the same for every joint.
fn weights_of(values: &[f64], n_joints: usize) -> Weights {
    // Two poses at 0 and 1 in one number: the linear projection of a number is the weights we want.
    Weights::uniform(values.to_vec(), n_joints)
}

#[test]
fn every_example_is_met_and_extrapolation_goes_on() {
    let rig = arm();
    let poses =
        [turned(&rig, [0.1, 0.2, -0.3]), turned(&rig, [0.5, -1.2, 2.9]), turned(&rig, [3.0, 0.0, -2.9])];
    let blend = RigBlend::new(&rig, &poses, &[]).unwrap();
    let mut pose = Pose::default();
    for i in 0..3 {
        let mut weights = vec![0.0; 3];
        weights[i] = 1.0;
        blend.pose(&weights_of(&weights, 3), &mut pose);
        for (a, b) in pose.locals.iter().zip(&poses[i].locals) {
            assert!(
                a.rotation.angle_between(b.rotation) < 1e-12 && a.translation.distance(b.translation) < 1e-12
            );
        }
    }
    // Twice the way from 0 to 40 degrees is 80; bones keep their lengths, which blended matrices do not.
    let poses = [rig.rest_pose(), turned(&rig, [0.0, 40f64.to_radians(), 0.0])];
    let blend = RigBlend::new(&rig, &poses, &[]).unwrap();
    let weights = weights_of(&[-1.0, 2.0], 3);
    blend.pose(&weights, &mut pose);
    assert!((pose.locals[1].rotation.angle_between(DQuat::IDENTITY) - 80f64.to_radians()).abs() < 1e-12);
    let mut world = Vec::new();
    blend.matrices(&weights, &mut world);
    let length = world[2].translation.distance(world[1].translation);
    assert!(
        (length - (2.0 * DQuat::from_rotation_z(40f64.to_radians()).mul_vec3(DVec3::X) - DVec3::X).length())
            .abs()
            < 1e-12
    );
    assert!(length > 1.1);
}

#[test]
fn poses_of_another_skeleton_are_refused_by_number() {
    let rig = arm();
    let short = Pose { locals: vec![Transform::IDENTITY] };
    let error = RigBlend::new(&rig, &[rig.rest_pose(), short], &[]).err();
    assert_eq!(error, Some(PuppetError::Joints { pair: 1, expected: 3, actual: 1 }));
    let mut odd = rig.rest_pose();
    odd.locals[0].translation.x = f64::NAN;
    assert!(matches!(RigBlend::new(&rig, &[odd], &[]).err(), Some(PuppetError::NonFinite { index: 0, .. })));
    assert_eq!(RigBlend::new(&rig, &[], &[]).err(), Some(PuppetError::NoPairs));
}

#[test]
fn a_joint_belongs_to_the_limb_that_moves_it() {
    let rest = CanonicalPose::rest();
    let raised = |joints: std::ops::Range<usize>| {
        let mut pose = rest.clone();
        joints.for_each(|k| pose.numbers[3 * k + 1] += 0.4);
        pose
    };
    // Pair 1 raises the left arm and lifts joint a; pair 2 the right leg and joint b; joint c moves in both.
    let sources = [rest.clone(), raised(5..8), raised(17..20)];
    let rig = arm();
    let poses = [rig.rest_pose(), turned(&rig, [1.0, 0.0, 0.5]), turned(&rig, [0.0, 1.0, -0.5])];
    let blend = RigBlend::new(&rig, &poses, &[]).unwrap();
    let parts = assign_parts(&sources, 3, |joint, i, k| blend.distance(joint, i, k));
    assert_eq!(parts[0].name(), "arm.L");
    assert_eq!(parts[1].name(), "leg.R");
    assert_eq!(parts[2], LimbSet::BODY);
    // So a raised arm and leg together move both, which one space for the whole body cannot.
    let mut both = raised(5..8);
    (17..20).for_each(|k| both.numbers[3 * k + 1] += 0.4);
    let params = PuppeteerParams::default();
    let mut puppeteer = Puppeteer::new(&sources, &parts, &params).unwrap();
    let weights = puppeteer.step(&both).unwrap();
    assert!(weights.of(0)[1] > 0.95 && weights.of(1)[2] > 0.95, "{weights:?}");
    assert!((weights.of(0).iter().sum::<f64>() - 1.0).abs() < 1e-9);
}

#[test]
fn extrapolation_is_limited() {
    let at = |y: f64| {
        let mut pose = CanonicalPose::rest();
        (5..8).for_each(|k| pose.numbers[3 * k + 1] += y);
        pose
    };
    let projection = ProjectionParams { projection: Projection::Linear, ..ProjectionParams::default() };
    let params = PuppeteerParams { projection, limit: 0.5 };
    let mut puppeteer = Puppeteer::new(&[at(0.0), at(0.2)], &[LimbSet::BODY], &params).unwrap();
    let weights = puppeteer.step(&at(0.25)).unwrap().of(0).to_vec();
    assert!((weights[1] - 1.25).abs() < 1e-2, "{weights:?}");
    let weights = puppeteer.step(&at(2.0)).unwrap().of(0).to_vec();
    assert!((weights[0] + 0.5).abs() < 1e-9 && (weights[1] - 1.5).abs() < 1e-9, "{weights:?}");
}

#[test]
fn skeletons_of_several_makers_hold_a_body() {
    let styles: [[&str; 15]; 4] = [
        [
            "Hips",
            "Head",
            "LeftArm",
            "LeftForeArm",
            "LeftHand",
            "RightArm",
            "RightForeArm",
            "RightHand",
            "LeftUpLeg",
            "LeftLeg",
            "LeftFoot",
            "RightUpLeg",
            "RightLeg",
            "RightFoot",
            "LHipJoint",
        ],
        [
            "hip", "head", "lShldr", "lForeArm", "lHand", "rShldr", "rForeArm", "rHand", "lThigh", "lShin",
            "lFoot", "rThigh", "rShin", "rFoot", "rCollar",
        ],
        [
            "hips",
            "head",
            "upper_arm.L",
            "forearm.L",
            "hand.L",
            "upper_arm.R",
            "forearm.R",
            "hand.R",
            "thigh.L",
            "shin.L",
            "foot.L",
            "thigh.R",
            "shin.R",
            "foot.R",
            "shoulder.L",
        ],
        [
            "mixamorig:Hips",
            "mixamorig:Head",
            "mixamorig:LeftArm",
            "mixamorig:LeftForeArm",
            "mixamorig:LeftHand",
            "mixamorig:RightArm",
            "mixamorig:RightForeArm",
            "mixamorig:RightHand",
            "mixamorig:LeftUpLeg",
            "mixamorig:LeftLeg",
            "mixamorig:LeftFoot",
            "mixamorig:RightUpLeg",
            "mixamorig:RightLeg",
            "mixamorig:RightFoot",
            "mixamorig:LeftShoulder",
        ],
    ];
    for names in styles {
        let at = |k: usize| DVec3::new(k as f64, 1.0, 0.0);
        let joints = names
            .iter()
            .enumerate()
            .map(|(k, name)| Joint::new(*name, None, Transform::from_translation(at(k))));
        let rig = Rig::new(joints.collect()).unwrap();
        let body = RigBody::find(&rig).unwrap_or_else(|error| panic!("{}: {error}", names[2]));
        let pose = body.pose(&rig, &rig.rest_pose(), &mut Vec::new()).unwrap();
        assert_eq!(pose.first_missing(), None);
        let places =
            [BodyJoint::ShoulderLeft, BodyJoint::WristRight, BodyJoint::KneeLeft, BodyJoint::AnkleRight];
        for (joint, k) in places.into_iter().zip([2, 7, 9, 13]) {
            assert_eq!(pose.at(joint), at(k), "{joint:?} of {}", names[2]);
        }
    }
    let error = RigBody::find(&arm()).err();
    assert!(matches!(error, Some(PuppetError::NoBody { missing: "hips", .. })), "{error:?}");
}
