//! Joints that hang on a root but move with a limb: feet of legs that were animated by inverse kinematics and baked.
//!
//! A joint is attached to another if its place, seen from there, hardly changes in its clips although its place seen from its
//! own parent does. Single clips may pull the two apart. Code that blends or turns the limb must move it along, or the limb tears.

use crate::{Clip, Rig};
use glam::{DAffine3, DVec3};

/// Poses that are compared.
const N_SAMPLES: usize = 24;
/// Change of a place, in extents of the skeleton, above which a joint moves by itself.
const MIN_MOVEMENT: f64 = 0.015;
/// Share of that by which it moves, at most, seen from what it is attached to.
const MAX_MOTION_SHARE: f64 = 0.25;

/// For each joint, what it moves with where that is not its parent.
pub fn attachments(rig: &Rig, clips: &[Clip]) -> Vec<Option<usize>> {
    let n = rig.n_joints();
    let poses = sample(rig, clips);
    let size = extent(&poses[0]);
    if poses.len() < 3 || size <= 0.0 {
        return vec![None; n];
    }
    let is_below = |joint: usize, above: usize| {
        let mut at = Some(joint);
        while let Some(k) = at {
            if k == above {
                return true;
            }
            at = rig.joints()[k].parent;
        }
        false
    };
    let spread = |joint: usize, from: usize| spread_seen_from(&poses, joint, from) / size;
    let seen_from_parent =
        |joint: usize| rig.joints()[joint].parent.map_or(0.0, |parent| spread(joint, parent));
    let own: Vec<f64> = (0..n).map(seen_from_parent).collect();
    let is_free: Vec<bool> = own.iter().map(|own| *own > MIN_MOVEMENT).collect();
    let attach = |joint: usize| {
        // A joint that moves freely itself carries nothing but its children.
        let carriers = (0..n).filter(|&k| !is_free[k] && !is_below(k, joint) && !is_below(joint, k));
        let best = carriers.map(|k| (k, spread(joint, k))).min_by(|a, b| a.1.total_cmp(&b.1));
        best.filter(|(_, spread)| *spread < MAX_MOTION_SHARE * own[joint]).map(|(k, _)| k)
    };
    (0..n).map(|joint| if is_free[joint] { attach(joint) } else { None }).collect()
}

fn sample(rig: &Rig, clips: &[Clip]) -> Vec<Vec<DAffine3>> {
    let mut poses = vec![rig.rest_world()];
    let per_clip = N_SAMPLES.div_ceil(clips.len().max(1)).max(3);
    for clip in clips.iter().take(N_SAMPLES) {
        for k in 0..per_clip {
            let time = clip.duration_secs() * (k as f32 + 0.5) / per_clip as f32;
            let mut world = Vec::new();
            if rig.forward(&clip.sample(rig, time), &mut world).is_ok() {
                poses.push(world);
            }
        }
    }
    poses
}

/// How far a joint moves in most poses, seen from another.
fn spread_seen_from(poses: &[Vec<DAffine3>], joint: usize, from: usize) -> f64 {
    let seen = |world: &Vec<DAffine3>| {
        let (_, turn, at) = world[from].to_scale_rotation_translation();
        turn.inverse() * (world[joint].translation - at)
    };
    let places: Vec<DVec3> = poses.iter().map(seen).filter(|p| p.is_finite()).collect();
    let mean = places.iter().sum::<DVec3>() / places.len().max(1) as f64;
    let mut away: Vec<f64> = places.iter().map(|p| p.distance(mean)).collect();
    away.sort_by(f64::total_cmp);
    away.get(away.len() * 3 / 4).copied().unwrap_or(0.0)
}

fn extent(world: &[DAffine3]) -> f64 {
    let start = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    let (low, high) = world
        .iter()
        .fold(start, |(low, high), joint| (low.min(joint.translation), high.max(joint.translation)));
    Some((high - low).length()).filter(|size| size.is_finite()).unwrap_or(0.0)
}
