//! Bodies that follow without pairs: a body follows itself, whatever way it faces; feet stay where they stand.

use super::*;
use glam::DAffine3;
use sinew_geom::{
    Clip,
    sample::{Sample, build_character},
};

const FPS: f64 = 30.0;

fn sample(sample: Sample) -> (Rig, Vec<Clip>) {
    let character = build_character(sample, 1000).unwrap();
    (character.rig.unwrap(), character.clips)
}

/// The clip's joints in the world, and the body in it.
fn acted(rig: &Rig, clip: &Clip, secs: f64) -> Vec<(f64, Vec<DAffine3>, BodyPose)> {
    let body = RigBody::find(rig).unwrap();
    let frame = |k: usize| {
        let (time, mut world) = (k as f64 / FPS, Vec::new());
        let pose = clip.sample(rig, (time % f64::from(clip.duration_secs())) as f32);
        let body = body.pose(rig, &pose, &mut world).unwrap();
        (time, world, body)
    };
    (0..(secs * FPS) as usize).map(frame).collect()
}

fn exact() -> PerformerParams {
    let tracker = TrackerParams { smoothing: 0.0, is_exact: true, ..TrackerParams::default() };
    PerformerParams { tracker, ..PerformerParams::default() }
}

fn height(rig: &Rig) -> f64 {
    let ys = rig.rest_world().iter().map(|joint| joint.translation.y).collect::<Vec<_>>();
    ys.iter().copied().fold(f64::MIN, f64::max) - ys.iter().copied().fold(f64::MAX, f64::min)
}

#[test]
fn a_body_follows_itself() {
    let (rig, clips) = sample(Sample::Biped);
    let map = Anatomy::read(&rig, &clips);
    let clip = clips.iter().find(|clip| clip.name == "walk").unwrap();
    let mut figure = Figure::new(&rig, &map.map, &map.attached).unwrap();
    let body = RigBody::find(&rig).unwrap();
    figure.set_foot_slope(body.foot_slope(&map.map).unwrap());
    let (mut pose, mut world, mut worst) = (Pose::default(), Vec::new(), 0.0f64);
    for (_, truth, body) in acted(&rig, clip, 1.0) {
        let (canonical, place) = CanonicalPose::of(&body);
        figure.pose(&canonical, &mut pose, &mut world);
        let turn = DQuat::from_rotation_y(place.heading);
        let hips = map.map.find(sinew_geom::body_map::Part::Hips, sinew_geom::rig::Side::Middle).unwrap();
        for part in ["forearm.L", "hand.R", "shin.L", "foot.R", "head"] {
            let joint = rig.find(part).unwrap();
            let seen = turn * (world[joint].translation - world[hips].translation);
            worst = worst.max(seen.distance(truth[joint].translation - truth[hips].translation));
        }
    }
    assert!(worst < 0.02 * height(&rig), "{worst}");
}

#[test]
fn which_way_a_body_faces_changes_nothing_else() {
    let (rig, clips) = sample(Sample::Biped);
    let turn = DQuat::from_rotation_y(std::f64::consts::PI);
    let mut joints = rig.joints().to_vec();
    for joint in joints.iter_mut().filter(|joint| joint.parent.is_none()) {
        joint.rest = Transform::from_affine(DAffine3::from_quat(turn) * joint.rest.to_affine()).0;
    }
    let turned = Rig::new(joints).unwrap();
    let frames = acted(&rig, &clips[0], 0.6);
    let mut performers =
        [&rig, &turned].map(|rig| Performer::new(rig, &Anatomy::read(rig, &[]), &[], &exact()).unwrap());
    for (time, _, body) in &frames {
        let one = performers[0].step(&rig, *time, body).unwrap().unwrap();
        let other = performers[1].step(&turned, *time, body).unwrap().unwrap();
        for (a, b) in one.world.iter().zip(&other.world) {
            assert!((turn * a.translation).distance(b.translation) < 1e-6, "{a:?} {b:?}");
        }
    }
}

#[test]
fn feet_stand_while_the_body_travels() {
    let (rig, clips) = sample(Sample::Biped);
    let clip = clips.iter().find(|clip| clip.name == "walk").unwrap();
    let feet = ["foot.L", "foot.R"].map(|name| rig.find(name).unwrap());
    let toes = ["toe.L", "toe.R"].map(|name| rig.find(name).unwrap());
    // A walk on the spot, carried forward as fast as its feet go back, is a walk over the ground.
    let frames = acted(&rig, clip, 2.0 * f64::from(clip.duration_secs()));
    let mut position = DVec3::ZERO;
    let mut over_ground = Vec::new();
    for pair in frames.windows(2) {
        let low = |world: &[DAffine3]| {
            feet.iter()
                .copied()
                .min_by(|a, b| world[*a].translation.y.total_cmp(&world[*b].translation.y))
                .unwrap()
        };
        let foot = low(&pair[1].1);
        let back = pair[1].1[foot].translation - pair[0].1[foot].translation;
        position -= DVec3 { y: 0.0, ..back };
        let mut body = pair[1].2.clone();
        body.joints.iter_mut().for_each(|joint| *joint += position);
        over_ground.push((pair[1].0, body));
    }
    let mut performer = Performer::new(&rig, &Anatomy::read(&rig, &clips), &[], &exact()).unwrap();
    let mut hips = Vec::new();
    let (mut swing, mut before) = (0.0f64, None::<Vec<DAffine3>>);
    let mut slides = Vec::new();
    for (time, body) in &over_ground {
        let done = performer.step(&rig, *time, body).unwrap().unwrap();
        if let Some(before) = &before {
            // A foot rolls: its ankle stands, or its toe.
            let speeds = [0, 1].map(|side| {
                let speed = |joint: usize| {
                    let step = done.world[joint].translation - before[joint].translation;
                    DVec3 { y: 0.0, ..step }.length() * FPS
                };
                speed(feet[side]).min(speed(toes[side]))
            });
            slides.push(speeds[0].min(speeds[1]));
            swing = swing.max(speeds[0].max(speeds[1]));
        }
        hips.push(done.world[0].translation);
        before = Some(done.world);
    }
    slides.sort_by(f64::total_cmp);
    let usual = slides[slides.len() / 2];
    let travelled = hips.last().unwrap().distance(hips[0]);
    assert!(usual < 0.02 * height(&rig), "the standing foot slides at {usual}");
    assert!((travelled / position.length() - 1.0).abs() < 0.1, "{travelled} of {}", position.length());
    assert!(swing > 0.3 * height(&rig), "the other foot swings: {swing}");
}

#[test]
fn a_dog_trots_when_its_actor_walks() {
    let (rig, clips) = sample(Sample::Biped);
    let (dog, of_dog) = sample(Sample::Quadruped);
    let clip = clips.iter().find(|clip| clip.name == "walk").unwrap();
    let mut performer = Performer::new(&dog, &Anatomy::read(&dog, &of_dog), &[], &exact()).unwrap();
    let legs = ["upper_arm.L", "upper_arm.R", "thigh.L", "thigh.R"].map(|name| dog.find(name).unwrap());
    let rest = dog.rest_pose();
    let mut turned = [0.0f64; 4];
    for (time, _, body) in acted(&rig, clip, 1.0) {
        let done = performer.step(&dog, time, &body).unwrap().unwrap();
        for (most, leg) in turned.iter_mut().zip(legs) {
            *most = most.max(done.pose.locals[leg].rotation.angle_between(rest.locals[leg].rotation));
        }
        let bones = |world: &[DAffine3]| -> Vec<f64> {
            let joints = dog.joints().iter().enumerate();
            joints
                .filter_map(|(k, joint)| {
                    Some(world[k].translation.distance(world[joint.parent?].translation))
                })
                .collect()
        };
        for (a, b) in bones(&done.world).iter().zip(bones(&dog.rest_world())) {
            assert!((a - b).abs() < 1e-6, "bones keep their lengths");
        }
    }
    assert!(turned.iter().all(|angle| *angle > 0.1), "all legs move: {turned:?}");
}

/// Acceleration over amplitude of some joints about their middle.
fn roughness(frames: &[Vec<DVec3>]) -> f64 {
    let locals: Vec<Vec<DVec3>> = frames
        .iter()
        .map(|points| {
            let middle = points.iter().sum::<DVec3>() / points.len() as f64;
            points.iter().map(|p| *p - middle).collect()
        })
        .collect();
    let n = frames.len() as f64;
    let (mut amplitude, mut acceleration) = (0.0, 0.0);
    for k in 0..frames[0].len() {
        let mean = locals.iter().map(|points| points[k]).sum::<DVec3>() / n;
        amplitude += locals.iter().map(|points| points[k].distance_squared(mean)).sum::<f64>();
        let bend = |three: &[Vec<DVec3>]| (three[2][k] - 2.0 * three[1][k] + three[0][k]).length_squared();
        acceleration += frames.windows(3).map(bend).sum::<f64>();
    }
    (acceleration / amplitude).sqrt()
}

#[test]
fn nobody_shakes_more_than_the_actor() {
    let (rig, clips) = sample(Sample::Biped);
    let clip = clips.iter().find(|clip| clip.name == "walk").unwrap();
    // Carried over the ground, faster than the clip: what counts is that nothing switches.
    let frames = acted(&rig, clip, 2.0);
    let walking = |(time, _, body): &(f64, Vec<DAffine3>, BodyPose)| {
        let mut body = body.clone();
        body.joints.iter_mut().for_each(|joint| joint.z += 1.2 * time);
        (*time, body)
    };
    let walk: Vec<(f64, BodyPose)> = frames.iter().map(walking).collect();
    let of_actor = roughness(&walk.iter().map(|(_, body)| body.joints.to_vec()).collect::<Vec<_>>());
    for kind in [Sample::Biped, Sample::Quadruped] {
        let (target, own) = sample(kind);
        let mut performer = Performer::new(&target, &Anatomy::read(&target, &own), &[], &exact()).unwrap();
        let take: Vec<Vec<DVec3>> = walk
            .iter()
            .map(|(time, body)| {
                let done = performer.step(&target, *time, body).unwrap().unwrap();
                done.world.iter().map(|joint| joint.translation).collect()
            })
            .collect();
        let ours = roughness(&take);
        assert!(ours < 1.3 * of_actor, "{kind:?}: {ours} of {of_actor}");
    }
}

#[test]
fn what_stands_in_the_source_stands_on_other_legs() {
    let (rig, clips) = sample(Sample::Biped);
    let body = RigBody::find(&rig).unwrap();
    let standing = body.pose(&rig, &rig.rest_pose(), &mut Vec::new()).unwrap();
    // Legs of other proportions.
    let mut joints = rig.joints().to_vec();
    for joint in &mut joints {
        let by = match joint.name.as_str() {
            "shin.L" | "shin.R" => 0.7,
            "foot.L" | "foot.R" => 0.85,
            _ => 1.0,
        };
        joint.rest.translation *= by;
    }
    let short = Rig::new(joints).unwrap();
    let mut performer = Performer::new(&short, &Anatomy::read(&short, &clips), &[], &exact()).unwrap();
    let feet = ["foot.L", "foot.R"].map(|name| short.find(name).unwrap());
    let mut first: Option<Vec<DVec3>> = None;
    for k in 0..60 {
        // It bows, shifts its weight and crouches over feet that stay.
        let time = f64::from(k) / FPS;
        let mut seen = standing.clone();
        let shift = DVec3::new(0.04 * (3.0 * time).sin(), -0.05 - 0.04 * (5.0 * time).sin(), 0.0);
        let stays = [14, 15, 18, 19];
        (0..20).filter(|joint| !stays.contains(joint)).for_each(|joint| seen.joints[joint] += shift);
        for hip in [12, 16] {
            // Knees bend so that bones keep their lengths.
            let bone = |k: usize| standing.joints[k].distance(standing.joints[k + 1]);
            let (a, b, leg) = (bone(hip), bone(hip + 1), seen.joints[hip + 2] - seen.joints[hip]);
            let along = (a * a - b * b + leg.length_squared()) / (2.0 * leg.length());
            let ahead = (a * a - along * along).max(0.0).sqrt() * DVec3::Z;
            seen.joints[hip + 1] = seen.joints[hip] + along * leg.normalize() + ahead;
        }
        let done = performer.step(&short, time, &seen).unwrap().unwrap();
        let places: Vec<DVec3> = feet.iter().map(|&foot| done.world[foot].translation).collect();
        let began = first.get_or_insert_with(|| places.clone());
        for (a, b) in places.iter().zip(began.iter()) {
            assert!(a.distance(*b) < 4e-3 * height(&short), "frame {k}: {}", a.distance(*b));
        }
    }
}

#[test]
fn what_follows_nobody_says_so() {
    let (rig, clips) = sample(Sample::Sack);
    let error = Performer::new(&rig, &Anatomy::read(&rig, &clips), &[], &exact()).err();
    assert!(matches!(error, Some(PuppetError::NoFigure { .. })), "{error:?}");
}
