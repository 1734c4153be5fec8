//! Walks in place: how the ground moves below the body, so that the feet on it stand still.
//!
//! # Source
//! Sinew's own. A foot that stands on a treadmill moves backwards with the belt at constant velocity. So in most frames
//! of such a clip the lower of the two feet has the same velocity, and the body does not travel. Moved forward against
//! the belt, the clip is an ordinary walk.

use super::{Body, Motion, World};
use glam::DVec3;
use sinew_geom::Rig;

/// Speed below which there is no belt, in legs a second.
const SLOWEST: f64 = 0.3;
/// Share of frames in which the lower foot must go with the belt, up to this much of its speed.
const SHARE: f64 = 0.5;
const AGREES: f64 = 0.3;
/// Way that a body in place may have gone, relative to that of the belt.
const IN_PLACE: f64 = 0.15;
/// Shorter clips do not tell.
const LEAST_SECS: f64 = 0.4;

/// Velocity of the belt that a clip walks on, metres a second; none if the body goes somewhere or stands.
pub fn find_belt(body: &Body, worlds: &[World], fps: f64, leg: f64) -> Option<DVec3> {
    let secs = (worlds.len().max(1) - 1) as f64 / fps;
    if body.legs.len() < 2 || secs < LEAST_SECS {
        return None;
    }
    let lowest = |world: &World| {
        let foot = |joint: usize| world.positions[joint];
        let parts =
            body.legs.iter().flat_map(|leg| [Some(leg.ankle), leg.toe, leg.tip].into_iter().flatten());
        parts.min_by(|&a, &b| foot(a).y.total_cmp(&foot(b).y))
    };
    let velocity = |t: usize| {
        let joint = lowest(&worlds[t])?;
        let way = worlds[t + 1].positions[joint] - worlds[t].positions[joint];
        Some(DVec3::new(way.x, 0.0, way.z) * fps)
    };
    let velocities: Vec<DVec3> = (0..worlds.len() - 1).filter_map(velocity).collect();
    let belt = super::contacts::median(&velocities);
    let agree = velocities.iter().filter(|v| v.distance(belt) < AGREES * belt.length()).count();
    let gone = worlds[worlds.len() - 1].positions[body.pelvis] - worlds[0].positions[body.pelvis];
    let is_belt = belt.length() > SLOWEST * leg
        && agree as f64 > SHARE * velocities.len() as f64
        && gone.x.hypot(gone.z) < IN_PLACE * belt.length() * secs;
    is_belt.then_some(belt)
}

/// A motion carried along evenly.
pub fn carried(rig: &Rig, motion: &Motion, velocity: DVec3) -> Motion {
    let mut motion = motion.clone();
    for (t, pose) in motion.poses.iter_mut().enumerate() {
        let roots = rig.joints().iter().zip(&mut pose.locals).filter(|(joint, _)| joint.parent.is_none());
        roots.for_each(|(_, local)| local.translation += velocity * (t as f64 / motion.fps));
    }
    motion
}
