//! What of a body comes near the ground in a motion, and how deep it may be there.
//!
//! A body may be as deep in the ground as the source is in its own: markers and floors of recordings are not exact.

use super::{JointFrames, SkinPoints, solve::TouchPoint, solve::inside};
use sinew_geom::path::Site;

/// Height above the ground, in leg lengths, from which on points are watched.
const WATCHED_LEG_LENGTHS: f64 = 0.1;

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
    (site, leg): (&Site, f64),
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
pub(super) fn deepest(points: &[TouchPoint], world: &JointFrames, site: &Site) -> Option<(f64, usize)> {
    let deep = |point: &TouchPoint| {
        let place = world.point(point.joint, point.local);
        inside(site, place, point.depth).map(|(depth, _)| (depth, point.joint))
    };
    points.iter().filter_map(deep).max_by(|a, b| a.0.total_cmp(&b.0))
}
