//! Body maps of our own samples, turned and renamed.

use super::{BodyClass, BodyMap, Part};
use crate::{
    Joint, Rig, Transform,
    rig::{Interpolation, JointTrack, Keys, Side},
    sample::{Sample, build_character},
};
use glam::{DQuat, DVec3};

fn rig_of(sample: Sample) -> Rig {
    build_character(sample, 1000).unwrap().rig.unwrap()
}

/// The rig below a root that turns it.
fn turned(rig: &Rig, turn: DQuat) -> Rig {
    let root = Joint::new("Armature", None, Transform { rotation: turn, ..Transform::IDENTITY });
    let mut joints = vec![root];
    for joint in rig.joints() {
        let mut joint = joint.clone();
        joint.parent = Some(joint.parent.map_or(0, |parent| parent + 1));
        joints.push(joint);
    }
    Rig::new(joints).unwrap()
}

#[test]
fn samples_are_understood() {
    let biped = BodyMap::read(&rig_of(Sample::Biped), &[]);
    assert_eq!((biped.class, biped.up, biped.forward), (BodyClass::Biped, DVec3::Y, DVec3::Z));
    assert_eq!(biped.metres_per_unit, Some(1.0));
    assert!(biped.confidence > 0.8, "{}", biped.confidence);
    let quadruped = BodyMap::read(&rig_of(Sample::Quadruped), &[]);
    assert_eq!(
        (quadruped.class, quadruped.up, quadruped.forward),
        (BodyClass::Quadruped, DVec3::Y, DVec3::Z)
    );
    for map in [&biped, &quadruped] {
        for part in [Part::UpperArm, Part::Forearm, Part::Thigh, Part::Shin] {
            for side in [Side::Left, Side::Right] {
                assert!(map.find(part, side).is_some(), "{part:?} {side:?}");
            }
        }
    }
}

#[test]
fn up_and_facing_follow_the_body() {
    use std::f64::consts::{FRAC_PI_2, PI};
    for sample in [Sample::Biped, Sample::Quadruped] {
        let rig = rig_of(sample);
        let back = BodyMap::read(&turned(&rig, DQuat::from_rotation_y(PI)), &[]);
        assert_eq!((back.up, back.forward), (DVec3::Y, DVec3::NEG_Z));
        let z_up = BodyMap::read(&turned(&rig, DQuat::from_rotation_x(FRAC_PI_2)), &[]);
        assert_eq!((z_up.up, z_up.forward), (DVec3::Z, DVec3::NEG_Y));
        assert!(z_up.joints[0].is_structural);
    }
}

#[test]
fn knees_bend_backwards() {
    let map = BodyMap::read(&rig_of(Sample::Biped), &[]);
    for side in [Side::Left, Side::Right] {
        let knee = map.find(Part::Shin, side).unwrap();
        let hinge = map.joints[knee].hinge.unwrap();
        // Turning a shin that hangs down about the axis brings the foot back.
        let moved = DQuat::from_axis_angle(hinge.axis, 0.5) * DVec3::NEG_Y;
        assert!(moved.z < -0.3, "{moved}");
    }
}

#[test]
fn joints_that_rest_in_a_heap_are_read_from_a_clip() {
    let character = build_character(Sample::Biped, 1000).unwrap();
    let rig = character.rig.unwrap();
    // All bones along +X, as in recordings of Bandai Namco.
    let heap: Vec<Joint> = rig
        .joints()
        .iter()
        .map(|joint| {
            let mut joint = joint.clone();
            joint.rest.rotation = DQuat::IDENTITY;
            joint.rest.translation = DVec3::X * joint.rest.translation.length();
            joint
        })
        .collect();
    let heap = Rig::new(heap).unwrap();
    let pose = rig.rest_pose();
    let keys = |values| Keys::new(vec![0.0], values, Interpolation::Linear, 1).unwrap();
    let track = |joint: usize, local: &Transform| JointTrack {
        joint,
        translation: Some(keys(vec![local.translation.as_vec3()])),
        rotation: Some(
            Keys::new(vec![0.0], vec![local.rotation.as_quat()], Interpolation::Linear, 1).unwrap(),
        ),
        scale: None,
    };
    let tracks = pose.locals.iter().enumerate().map(|(joint, local)| track(joint, local)).collect();
    let clip = crate::Clip { name: "stand".into(), joints: tracks, morphs: Vec::new() };
    let map = BodyMap::read(&heap, &[clip]);
    assert_eq!((map.class, map.up, map.forward), (BodyClass::Biped, DVec3::Y, DVec3::Z));
}
