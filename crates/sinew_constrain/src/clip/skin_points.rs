//! The surface of a body as points on its joints: what can touch the ground.
//!
//! # Cost
//! One pass over the vertices for each of the directions. At most 26 points per joint.
//! # Limits
//! A point follows the joint that moves it most.

use super::{JointFrames, joints::ancestry};
use glam::DVec3;
use sinew_geom::{Character, Rig};

/// Points of a skin, in the frames of the joints that carry them, in metres.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SkinPoints {
    /// For each joint of the rig.
    pub joints: Vec<Vec<DVec3>>,
}

impl SkinPoints {
    /// The outermost points of what each joint carries; nothing without a skin.
    pub fn of(character: &Character) -> Option<Self> {
        let (rig, skin) = (character.rig.as_ref()?, character.skin.as_ref()?);
        let places = character.positions_at(None, 0.0).ok()?;
        let world = JointFrames::of(rig, &rig.rest_pose());
        let mut carried: Vec<Vec<DVec3>> = vec![Vec::new(); rig.n_joints()];
        for (vertex, place) in places.iter().enumerate().take(skin.n_vertices()) {
            let most = skin.vertex(vertex).max_by(|a, b| a.1.total_cmp(&b.1));
            let Some(joint) = most.map(|(slot, _)| skin.slots[usize::from(slot)].joint) else { continue };
            let local = world.rotations[joint].inverse() * (place.as_dvec3() - world.positions[joint]);
            carried[joint].push(local);
        }
        Some(Self { joints: carried.iter().map(|points| outermost(points)).collect() })
    }

    /// All points with the joints that carry them.
    pub fn points(&self) -> impl Iterator<Item = (usize, DVec3)> + '_ {
        self.joints.iter().enumerate().flat_map(|(joint, points)| points.iter().map(move |p| (joint, *p)))
    }

    /// Height of the lowest point in a pose, of joints that are wanted.
    pub fn lowest(&self, world: &JointFrames, is_wanted: impl Fn(usize) -> bool) -> f64 {
        let wanted = self.points().filter(|(joint, _)| is_wanted(*joint));
        wanted.map(|(joint, p)| world.point(joint, p).y).fold(f64::INFINITY, f64::min)
    }

    /// How far the surface of a foot reaches below the lowest of some joints in a pose.
    pub fn flesh_below(&self, rig: &Rig, world: &JointFrames, ankle: usize, joints: &[usize]) -> f64 {
        let is_foot = |joint: usize| ancestry(rig, joint).any(|above| above == ankle);
        let bones = joints.iter().map(|&joint| world.positions[joint].y).fold(f64::INFINITY, f64::min);
        let depth = bones - self.lowest(world, is_foot);
        if depth.is_finite() { depth.max(0.0) } else { 0.0 }
    }
}

/// The points that are furthest along the 26 directions to the neighbours of a cell.
fn outermost(points: &[DVec3]) -> Vec<DVec3> {
    let steps = [-1.0, 0.0, 1.0];
    let mut out: Vec<DVec3> = Vec::new();
    for direction in
        steps.iter().flat_map(|x| steps.iter().flat_map(move |y| steps.map(|z| DVec3::new(*x, *y, z))))
    {
        let along = |p: &&DVec3| p.dot(direction);
        let furthest = points.iter().max_by(|a, b| along(a).total_cmp(&along(b)));
        out.extend(furthest.filter(|p| direction != DVec3::ZERO && !out.contains(p)));
    }
    out
}
