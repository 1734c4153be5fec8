//! Walks in place: the velocity of the treadmill on which planted feet do not slide.
//!
//! # Source
//! Sinew's own. A foot planted on a treadmill moves backwards with the belt at constant velocity. So in most frames
//! of such a clip the lower of the two feet has the same velocity, and the body does not travel. Moved forward against
//! the belt, the clip is an ordinary walk.

use super::{Body, JointFrames, Motion};
use glam::DVec3;
use sinew_geom::Rig;

/// Speed below which there is no treadmill, in leg lengths per second.
const MIN_SPEED: f64 = 0.3;
/// Share of frames in which the lower foot must move with the belt, within the following share of its speed.
const MIN_TIME_SHARE: f64 = 0.5;
const MAX_SPREAD: f64 = 0.3;
/// Distance that a body in place may travel, relative to that of the belt.
const MAX_TRAVEL: f64 = 0.15;
/// Shorter clips are not examined.
const MIN_SECS: f64 = 0.4;

/// Velocity of the treadmill of a clip, metres per second; none if the body travels or stands still.
pub fn find_belt(body: &Body, worlds: &[JointFrames], fps: f64, leg: f64) -> Option<DVec3> {
    let secs = (worlds.len().max(1) - 1) as f64 / fps;
    if body.legs.len() < 2 || secs < MIN_SECS {
        return None;
    }
    let lowest = |world: &JointFrames| {
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
    let agree = velocities.iter().filter(|v| v.distance(belt) < MAX_SPREAD * belt.length()).count();
    let gone = worlds[worlds.len() - 1].positions[body.pelvis] - worlds[0].positions[body.pelvis];
    let is_belt = belt.length() > MIN_SPEED * leg
        && agree as f64 > MIN_TIME_SHARE * velocities.len() as f64
        && gone.x.hypot(gone.z) < MAX_TRAVEL * belt.length() * secs;
    is_belt.then_some(belt)
}

/// A motion moved at constant velocity.
pub fn carried(rig: &Rig, motion: &Motion, velocity: DVec3) -> Motion {
    let mut motion = motion.clone();
    for (t, pose) in motion.poses.iter_mut().enumerate() {
        let roots = rig.joints().iter().zip(&mut pose.locals).filter(|(joint, _)| joint.parent.is_none());
        roots.for_each(|(_, local)| local.translation += velocity * (t as f64 / motion.fps));
    }
    motion
}
