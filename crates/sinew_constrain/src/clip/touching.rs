//! What of a body comes near the ground in a motion, and how deep it may be there.
//!
//! A body may be as deep in the ground as the source is in its own: markers and floors of recordings are not exact.

use super::{JointFrames, SkinPoints};
use glam::DVec3;
use sinew_geom::path::PlacedGround;

/// Height above the ground, in leg lengths, from which on points are watched.
const WATCHED_LEG_LENGTHS: f64 = 0.1;

/// Slopes beyond this are edges, which push up and not sideways.
const MAX_SLOPE: f64 = 1.5;

/// A point of the surface that must not enter the ground.
#[derive(Debug, Clone, Copy)]
pub struct TouchPoint {
    /// Joint that carries it.
    pub joint: usize,
    /// Place in the joint's frame.
    pub local: DVec3,
    /// How deep it may be.
    pub depth: f64,
}

/// Depth of the source in its level ground in every frame, at the size of the target.
pub(super) fn own_depths(
    worlds: &[JointFrames],
    skin: Option<&SkinPoints>,
    level: Option<f64>,
    scale: f64,
) -> Vec<f64> {
    let Some(level) = level else { return vec![0.0; worlds.len()] };
    let depth = |world: &JointFrames| {
        let joints = world.positions.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
        let surface = skin.map_or(f64::INFINITY, |skin| skin.lowest(world, |_| true));
        (level - joints.min(surface)).max(0.0) * scale
    };
    worlds.iter().map(depth).collect()
}

/// Points of the surface near the ground, frame by frame.
pub(super) fn find_touching(
    skin: Option<&SkinPoints>,
    worlds: &[JointFrames],
    (site, leg): (&PlacedGround, f64),
    depths: &[f64],
) -> Vec<Vec<TouchPoint>> {
    let near = |(world, depth): (&JointFrames, &f64)| {
        let mut points = Vec::new();
        for (joint, local) in skin.iter().flat_map(|skin| skin.points()) {
            let place = world.point(joint, local);
            if place.y - site.height(place.x, place.z) < WATCHED_LEG_LENGTHS * leg {
                points.push(TouchPoint { joint, local, depth: *depth });
            }
        }
        points
    };
    worlds.iter().zip(depths).map(near).collect()
}

/// How far points are in the ground beyond what is allowed: the worst of a frame and its joint.
pub(super) fn deepest(
    points: &[TouchPoint],
    world: &JointFrames,
    site: &PlacedGround,
) -> Option<(f64, usize)> {
    let deep = |point: &TouchPoint| {
        let place = world.point(point.joint, point.local);
        inside(site, place, point.depth).map(|(depth, _)| (depth, point.joint))
    };
    points.iter().filter_map(deep).max_by(|a, b| a.0.total_cmp(&b.0))
}

/// How deep a point is in the ground beyond what is allowed, and the direction that leads out.
pub(super) fn inside(site: &PlacedGround, place: DVec3, allowed: f64) -> Option<(f64, DVec3)> {
    const SLOPE_STEP_METRES: f64 = 0.005;
    let depth = site.height(place.x, place.z) - place.y - allowed;
    if depth <= 0.0 {
        return None;
    }
    let slope = |dx: f64, dz: f64| {
        let [a, b] = [-1.0, 1.0].map(|s| site.height(place.x + s * dx, place.z + s * dz));
        let slope = (b - a) / (2.0 * SLOPE_STEP_METRES);
        if slope.abs() < MAX_SLOPE { slope } else { 0.0 }
    };
    Some((depth, DVec3::new(-slope(SLOPE_STEP_METRES, 0.0), 1.0, -slope(0.0, SLOPE_STEP_METRES))))
}
