//! Four pairs of poses, as a user would make them from the rig's own gait.

use super::super::super::{find::Item, lab::Lab, scene::Scene};
use super::super::refit::{body::Body, gait, limbs::Part};
use super::actor::Actor;
use glam::DVec3;
use std::{ffi::OsString, path::Path};

/// The actor as the command line wants it: `FILE`, or `FILE@CLIP` if it is not the first of the file.
pub fn source(motion: &Item, actor: &Actor) -> OsString {
    let mut source: OsString = motion.path.clone().into();
    if let Some(clip) = &actor.clip {
        source.push(format!("@{clip}"));
    }
    source
}

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
    for (k, (frame, pose)) in frames.into_iter().zip(poses).enumerate() {
        let mut source: OsString = motion.path.clone().into();
        source.push(format!("@{frame}"));
        let name = ["stand", "left", "right", "between"][k];
        let words: Vec<OsString> = vec![
            "puppet".into(),
            "pair".into(),
            "--pairs".into(),
            file.into(),
            "--source".into(),
            source,
            "--target".into(),
            pose,
            "--name".into(),
            name.into(),
        ];
        let outcome = lab.sinew(&words)?;
        if !outcome.is_done() {
            return Ok(Err(outcome.fault()));
        }
    }
    Ok(Ok(()))
}

/// Frames of the file: the first in which the actor stands, the left foot furthest ahead, the right one, and in between.
fn actor_frames(actor: &Actor) -> [usize; 4] {
    let body = &actor.body;
    let n = body.n_frames();
    let ahead = |k: usize| {
        let feet = body.spot(k, Part::Foot, 0)? - body.spot(k, Part::Foot, 1)?;
        Some((body.heading(k)? * DVec3::Z).dot(feet))
    };
    let strides: Vec<(usize, f64)> = (0..n).filter_map(|k| Some((k, ahead(k)?))).collect();
    let by = |(_, a): &&(usize, f64), (_, b): &&(usize, f64)| a.total_cmp(b);
    let (left, right) = (strides.iter().max_by(by), strides.iter().min_by(by));
    let (left, right) = (left.map_or(n / 4, |s| s.0), right.map_or(3 * n / 4, |s| s.0));
    let inside = left.min(right)..=left.max(right);
    let between = strides
        .iter()
        .filter(|(k, _)| inside.contains(k))
        .min_by(|(_, a), (_, b)| a.abs().total_cmp(&b.abs()));
    let between = between.map_or(n / 2, |s| s.0);
    let stand = (0..n).find(|&k| body.heading(k).is_some()).unwrap_or(0);
    // Frames are counted as they are in the file, which may have gaps.
    [stand, left, right, between].map(|k| {
        let time = k as f64 * body.motion.step;
        let nearest = (0..actor.times.len())
            .min_by(|&a, &b| (actor.times[a] - time).abs().total_cmp(&(actor.times[b] - time).abs()));
        nearest.unwrap_or(0)
    })
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
