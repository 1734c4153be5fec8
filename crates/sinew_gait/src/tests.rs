//! Gaits of the built-in bodies.

use super::*;
use crate::base::Base;
use glam::{DAffine3, DQuat, DVec3};
use sinew_geom::{
    Character, Transform,
    path::Ground,
    sample::{Sample, build_character},
};

fn sample(which: Sample) -> Character {
    Character { clips: Vec::new(), ..build_character(which, 3_000).unwrap() }
}

fn walk(character: &Character, params: &GaitParams) -> Gaited {
    make_gait(character, character.rig.as_ref().unwrap(), params).unwrap()
}

/// World positions of the joints in each frame.
fn joints(character: &Character, gaited: &Gaited) -> Vec<Vec<DVec3>> {
    let rig = character.rig.as_ref().unwrap();
    let frames = (f64::from(gaited.clip.duration_secs()) * 30.0).round() as usize;
    let mut world = Vec::new();
    let mut at = |k: usize| {
        rig.forward(&gaited.clip.sample(rig, k as f32 / 30.0), &mut world).unwrap();
        world.iter().map(|joint| joint.translation).collect()
    };
    (0..=frames).map(&mut at).collect()
}

#[test]
fn people_and_dogs_walk_in_every_gait_without_fault() {
    for (which, gaits) in [
        (Sample::Biped, &[Gait::Walk, Gait::Run][..]),
        (Sample::Quadruped, &[Gait::Walk, Gait::Trot, Gait::Pace, Gait::Gallop][..]),
    ] {
        let character = sample(which);
        for &gait in gaits {
            let made = walk(&character, &GaitParams { gait: Some(gait), ..GaitParams::default() });
            let faults = made.report.faults();
            assert!(faults.is_empty(), "{which:?} {gait:?}: {faults:?}");
            assert_eq!(made.report.feet.len(), if which == Sample::Biped { 2 } else { 4 });
        }
    }
}

#[test]
fn grounds_and_turns_are_walked_without_fault() {
    for which in [Sample::Biped, Sample::Quadruped] {
        let character = sample(which);
        for ground in ["flat", "slope:10", "slope:-10", "hills:0.3,4"] {
            let ground: Ground = ground.parse().unwrap();
            let line = vec![[0.0, 3.0], [1.5, 4.5]];
            let made =
                walk(&character, &GaitParams { line, ground: ground.clone(), ..GaitParams::default() });
            let faults = made.report.faults();
            assert!(faults.is_empty(), "{which:?} on {ground:?}: {faults:?}");
        }
    }
}

#[test]
fn a_steady_gait_repeats_and_keeps_its_speed() {
    for which in [Sample::Biped, Sample::Quadruped] {
        let character = sample(which);
        let made = walk(&character, &GaitParams { speed: Some(0.8), ..GaitParams::default() });
        let frames = joints(&character, &made);
        let (first, last) = (&frames[0], &frames[frames.len() - 1]);
        let secs = (frames.len() - 1) as f64 / 30.0;
        let travel = DVec3::Z * 0.8 * secs;
        let rig = character.rig.as_ref().unwrap();
        let off = |k: &usize| last[*k].distance(first[*k] + travel);
        let moves = (0..rig.n_joints()).filter(|&k| last[k].distance(first[k]) > 1e-6);
        let worst = moves.max_by(|a, b| off(a).total_cmp(&off(b))).unwrap();
        assert!(off(&worst) < 1e-4, "{which:?}: {} is {} off", rig.joints()[worst].name, off(&worst));
        let still =
            walk(&character, &GaitParams { in_place: true, speed: Some(0.8), ..GaitParams::default() });
        let frames = joints(&character, &still);
        let shift =
            frames[0].iter().zip(&frames[frames.len() - 1]).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        assert!(shift < 1e-4 && still.report.faults().is_empty(), "{shift} {:?}", still.report.faults());
    }
}

#[test]
fn bones_keep_their_length_and_knees_their_direction() {
    for which in [Sample::Biped, Sample::Quadruped] {
        let character = sample(which);
        let rig = character.rig.as_ref().unwrap();
        let made = walk(&character, &GaitParams::default());
        let rest: Vec<DVec3> = rig.rest_world().iter().map(|joint| joint.translation).collect();
        let mut base = Base::new(&character, rig).unwrap();
        let legs = find_legs::find_legs(&mut base);
        for frame in joints(&character, &made) {
            for (k, joint) in rig.joints().iter().enumerate() {
                let Some(parent) = joint.parent.filter(|parent| rig.joints()[*parent].parent.is_some())
                else {
                    continue;
                };
                let (now, then) = (frame[k].distance(frame[parent]), rest[k].distance(rest[parent]));
                assert!((now - then).abs() < 1e-4, "{which:?} {}: {then} became {now}", joint.name);
            }
            for leg in &legs {
                let knee = |k: usize| frame[leg.chain[k]];
                let end = leg.foot.map_or(frame[leg.chain[leg.chain.len() - 1]], |foot| frame[foot]);
                if leg.chain.len() > 1 && leg.foot.is_some() {
                    let next = leg.chain.get(2).map_or(end, |&k| frame[k]);
                    let bend = (knee(1) - knee(0)).cross(next - knee(1)).dot(leg.axis);
                    assert!(bend * leg.bends[0].1 > -1e-4, "{which:?}: a knee bends by {bend}");
                }
            }
        }
    }
}

/// The same body in other axes and units walks in the same way.
#[test]
fn a_body_that_is_turned_and_scaled_walks_alike() {
    let plain = sample(Sample::Quadruped);
    let expected = joints(&plain, &walk(&plain, &GaitParams::default()));
    // A body map takes bodies that nearly face along an axis to face along it.
    let turn = DQuat::from_rotation_y(-std::f64::consts::FRAC_PI_2);
    let mut turned = plain.scaled(0.7).unwrap();
    let rig = turned.rig.as_ref().unwrap();
    let about = |local: Transform| Transform::from_affine(DAffine3::from_quat(turn) * local.to_affine()).0;
    let joints_turned = rig.joints().iter().map(|joint| {
        let rest = if joint.parent.is_none() { about(joint.rest) } else { joint.rest };
        sinew_geom::Joint { rest, ..joint.clone() }
    });
    turned.rig = Some(sinew_geom::Rig::new(joints_turned.collect()).unwrap());
    let points = turned.mesh.positions().iter().map(|p| turn * *p).collect();
    turned.mesh = sinew_geom::Mesh::new(points, turned.mesh.faces().to_vec()).unwrap();
    let skin = turned.skin.as_mut().unwrap();
    let back = DAffine3::from_quat(turn.inverse());
    skin.slots.iter_mut().for_each(|slot| slot.inverse_bind *= back);
    // Equal Froude numbers: time goes by the square root of the length.
    let made = walk(&turned, &GaitParams { fps: 30.0 / 0.7f64.sqrt(), ..GaitParams::default() });
    let rig = turned.rig.as_ref().unwrap();
    let mut world = Vec::new();
    for (k, frame) in expected.iter().enumerate() {
        let time = (k as f64 / 30.0 * 0.7f64.sqrt()) as f32;
        rig.forward(&made.clip.sample(rig, time), &mut world).unwrap();
        for (joint, place) in frame.iter().enumerate() {
            let off = world[joint].translation.distance(turn * *place * 0.7);
            assert!(off < 1e-4, "frame {k}, {}: {off}", rig.joints()[joint].name);
        }
    }
}

#[test]
fn what_cannot_walk_is_refused_with_a_way_out() {
    let bar = sample(Sample::Bar);
    let error = make_gait(&bar, bar.rig.as_ref().unwrap(), &GaitParams::default()).unwrap_err().to_string();
    assert!(error.contains("sinew rig"), "{error}");
    let biped = sample(Sample::Biped);
    let rig = biped.rig.as_ref().unwrap();
    for params in [
        GaitParams { speed: Some(0.0), ..GaitParams::default() },
        GaitParams { speed: Some(f64::NAN), ..GaitParams::default() },
        GaitParams { fps: 0.0, ..GaitParams::default() },
        GaitParams { unit: Some(-1.0), ..GaitParams::default() },
        GaitParams { line: vec![[0.0, f64::NAN]], ..GaitParams::default() },
        GaitParams { line: vec![[0.0, 0.0]], ..GaitParams::default() },
        GaitParams { line: vec![[0.0, 1e9]], ..GaitParams::default() },
    ] {
        assert!(make_gait(&biped, rig, &params).is_err(), "{params:?}");
    }
}
