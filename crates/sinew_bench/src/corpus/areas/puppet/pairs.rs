//! Four pairs of poses, as a user would make them from the rig's own gait.

use super::super::super::{find::Item, lab::Lab, scene::Scene};
use super::super::refit::{body::Body, gait, limbs::Part};
use super::actor::Actor;
use glam::DVec3;
use std::{ffi::OsString, path::Path};

/// Make the file of pairs; what the product says if it does not.
pub fn make(
    motion: &Item,
    actor: &Actor,
    rig: &Item,
    own: &Scene,
    file: &Path,
    lab: &Lab,
) -> anyhow::Result<Result<(), String>> {
    let frames = actor_frames(actor);
    if frames.len() < 2 {
        return Ok(Err("the actor moves too little to make pairs".to_owned()));
    }
    let (clip, _) = gait(own);
    let name = own.json["animations"][clip]["name"].as_str().map(str::to_owned);
    let mut poses: Vec<OsString> = vec![rig.path.clone().into()];
    for time in gait_moments(own, clip) {
        let mut pose: OsString = rig.path.clone().into();
        pose.push(match &name {
            Some(name) => format!("@{name}:{time:.3}"),
            None => format!("@{}", (time * 30.0).round()),
        });
        poses.push(pose);
    }
    let (mut made, mut last) = (0, String::new());
    for (k, (frame, pose)) in frames.into_iter().zip(&poses).enumerate() {
        // Cameras lose joints; the product says so, and one takes another frame.
        for away in [0i64, 1, -1, 3, -3, 6, -6, 10, -10] {
            let near = (frame as i64 + away).clamp(0, actor.times.len() as i64 - 1);
            let mut source: OsString = motion.path.clone().into();
            source.push(format!("@{near}"));
            let name = ["stand", "left", "right", "between"][k];
            let mut words: Vec<OsString> = ["puppet", "pair", "--name", name].map(OsString::from).to_vec();
            words.extend(["--pairs".into(), file.into(), "--source".into(), source]);
            words.extend(["--target".into(), pose.clone()]);
            let outcome = lab.sinew(&words)?;
            if outcome.is_done() {
                made += 1;
                break;
            }
            last = outcome.fault();
            if !last.contains("choose another") {
                return Ok(Err(last));
            }
        }
    }
    Ok(if made >= 2 { Ok(()) } else { Err(last) })
}

/// Frames of the file that a user would choose: the first in which the actor stands and, of one who strides, the left foot
/// furthest ahead, the right one, and in between; of others, poses as different as possible. Poses that hardly differ from
/// an earlier one are left out, as the pairs would contradict each other.
fn actor_frames(actor: &Actor) -> Vec<usize> {
    let body = &actor.body;
    let stand = (0..body.n_frames()).find(|&k| body.heading(k).is_some()).unwrap_or(0);
    let mut frames = vec![stand];
    let far =
        |frames: &[usize], k: usize| frames.iter().map(|&f| unlike(body, f, k)).fold(f64::INFINITY, f64::min);
    for stride in strides(body).into_iter().flatten() {
        frames.extend(Some(stride).filter(|&k| far(&frames, k) > 0.04));
    }
    let step = body.stride(100);
    while frames.len() < 4 {
        let next = (0..body.n_frames()).step_by(step).map(|k| (k, far(&frames, k)));
        let next = next.max_by(|(_, a), (_, b)| a.total_cmp(b));
        match next.filter(|(_, far)| *far > 0.04) {
            Some((k, _)) => frames.push(k),
            None => break,
        }
    }
    // Frames are counted as they are in the file, which may have gaps.
    let nearest = |k: usize| {
        let away = |at: usize| (actor.times[at] - k as f64 * body.motion.step).abs();
        (0..actor.times.len()).min_by(|&a, &b| away(a).total_cmp(&away(b))).unwrap_or(0)
    };
    frames.into_iter().map(nearest).collect()
}

/// How far joints of one pose are from those of another, each seen from where the body faces, in heights.
fn unlike(body: &Body, a: usize, b: usize) -> f64 {
    let place = |k: usize, joint: usize| {
        let basis = body.heading(k).unwrap_or_else(|| body.world());
        basis.transpose() * (body.motion.position(k, joint) - body.middle(k))
    };
    let joints = body.motion.n_joints();
    let sum: f64 = (0..joints).map(|j| place(a, j).distance_squared(place(b, j))).sum();
    (sum / joints.max(1) as f64).sqrt() / body.reach
}

/// The left foot furthest ahead, the right one, and in between, if the actor strides.
fn strides(body: &Body) -> Option<[usize; 3]> {
    let ahead = |k: usize| {
        let feet = body.spot(k, Part::Foot, 0)? - body.spot(k, Part::Foot, 1)?;
        Some((k, (body.heading(k)? * DVec3::Z).dot(feet) / body.reach))
    };
    let strides: Vec<(usize, f64)> = (0..body.n_frames()).filter_map(ahead).collect();
    let by = |(_, a): &&(usize, f64), (_, b): &&(usize, f64)| a.total_cmp(b);
    let (left, right) = (strides.iter().max_by(by)?, strides.iter().min_by(by)?);
    if left.1 < 0.08 || right.1 > -0.08 {
        return None;
    }
    let inside = left.0.min(right.0)..=left.0.max(right.0);
    let between = strides.iter().filter(|(k, _)| inside.contains(k));
    let between = between.min_by(|(_, a), (_, b)| a.abs().total_cmp(&b.abs()))?;
    Some([left.0, right.0, between.0])
}

/// Moments of a gait in seconds: where half a period changes most, half a period later, and in between.
fn gait_moments(own: &Scene, clip: usize) -> [f64; 3] {
    let seconds = own.clips()[clip].1;
    let body = Body::of_scene(own, clip, 32.0 / seconds.max(0.03));
    let n = body.n_frames();
    let change = |k: usize| {
        let other = (k + n / 2) % n;
        let p = |frame: usize, joint: usize| body.motion.position(frame, joint) - body.centre(frame);
        (0..body.motion.n_joints()).map(|j| p(k, j).distance(p(other, j))).sum::<f64>()
    };
    let first = (0..n / 2).max_by(|&a, &b| change(a).total_cmp(&change(b))).unwrap_or(0);
    [first, first + n / 2, first + n / 4].map(|k| (k as f64 / (n.max(2) - 1) as f64 * seconds).min(seconds))
}
