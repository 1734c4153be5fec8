//! How good a clip is: sliding, penetration of the ground, jerk, violated ranges.
//!
//! # Source
//! Sinew's own selection of measures: slide, drift, height error, penetration at all points of the soles, mean jerk.

use super::{
    JointFrames, Motion,
    body::{Body, plain},
    feet::{Sole, Stance},
    hands::Support,
};
use glam::DVec3;
use sinew_geom::{Rig, path::PlacedGround};
use std::ops::Range;

/// Measurements of one motion; lengths in metres.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Measures {
    /// Mean speed of planted parts along the ground, metres per second.
    pub slide: f64,
    /// Greatest distance of planted parts from their mean position.
    pub drift: f64,
    /// Mean distance of planted parts from the ground.
    pub height_error: f64,
    /// Greatest depth of a sole in the ground, over all frames and points.
    pub penetration: f64,
    /// Mean jerk of pelvis, head and feet, metres per second cubed.
    pub jerk: f64,
    /// Angles of joints outside their ranges, over all frames.
    pub limit_violations: usize,
}

/// Excess over a range that counts as rounding, radians.
const ROUNDING_RADIANS: f64 = 1e-6;

/// What is needed to measure a motion.
pub struct MotionMeasurer<'a> {
    /// The rig.
    pub rig: &'a Rig,
    /// Pelvis and legs.
    pub body: &'a Body,
    /// Soles of the legs.
    pub soles: &'a [Sole],
    /// When feet are planted.
    pub stances: &'a [Stance],
    /// When hands are planted.
    pub supports: &'a [Support],
    /// Segments without jumps.
    pub segments: &'a [Range<usize>],
    /// The ground; `None` if it is not known.
    pub site: Option<&'a PlacedGround>,
}

impl MotionMeasurer<'_> {
    /// Measure a motion.
    pub fn measure(&self, motion: &Motion) -> Measures {
        let worlds = super::motion::worlds(self.rig, motion);
        let mut out = Measures { jerk: self.jerk(&worlds, motion.fps), ..Measures::default() };
        let (mut speeds, mut heights) = (Vec::new(), Vec::new());
        for stance in self.stances {
            let (leg, sole) = (&self.body.legs[stance.leg], &self.soles[stance.leg]);
            for (frames, local) in [(&stance.heel, sole.heel), (&stance.ball, sole.ball)] {
                let Some(frames) = frames else { continue };
                let path: Vec<DVec3> = frames.clone().map(|t| worlds[t].point(leg.ankle, local)).collect();
                let mean = path.iter().sum::<DVec3>() / path.len() as f64;
                speeds.extend(path.windows(2).map(|pair| level_distance(pair) * motion.fps));
                out.drift = path.iter().fold(out.drift, |worst, p| worst.max(p.distance(mean)));
                if let Some(site) = self.site {
                    heights.extend(path.iter().map(|p| (p.y - site.height(p.x, p.z)).abs()));
                }
            }
        }
        for support in self.supports {
            let path: Vec<DVec3> =
                support.frames.clone().map(|t| worlds[t].positions[support.hand]).collect();
            let mean = path.iter().sum::<DVec3>() / path.len() as f64;
            speeds.extend(path.windows(2).map(|pair| level_distance(pair) * motion.fps));
            out.drift = path.iter().fold(out.drift, |worst, p| worst.max(p.distance(mean)));
        }
        // From zero on, since an empty sum is negative zero.
        let mean = |values: &[f64]| values.iter().fold(0.0, |sum, x| sum + x) / values.len().max(1) as f64;
        (out.slide, out.height_error) = (mean(&speeds), mean(&heights));
        if let Some(site) = self.site {
            out.penetration = worlds.iter().map(|world| self.depth(world, site)).fold(0.0, f64::max);
        }
        out.limit_violations = motion.poses.iter().map(|pose| count_violations(self.rig, pose)).sum();
        out
    }

    /// Depth of the deepest point of a sole in one frame.
    pub fn depth(&self, world: &JointFrames, site: &PlacedGround) -> f64 {
        let points = self.soles.iter().flat_map(|sole| &sole.points);
        let depth = |p: DVec3| site.height(p.x, p.z) - p.y;
        points.map(|point| depth(world.point(point.joint, point.local))).fold(0.0, f64::max)
    }

    fn jerk(&self, worlds: &[JointFrames], fps: f64) -> f64 {
        let feet = self.body.legs.iter().flat_map(|leg| [Some(leg.ankle), leg.toe]);
        let head = self.rig.joints().iter().position(|joint| plain(&joint.name) == "head");
        let joints: Vec<usize> = feet.chain([Some(self.body.pelvis), head]).flatten().collect();
        let (mut sum, mut n) = (0.0, 0);
        for segment in self.segments {
            for t in segment.start..segment.end.saturating_sub(3) {
                for &joint in &joints {
                    let p = |k: usize| worlds[t + k].positions[joint];
                    sum += (p(3) - 3.0 * p(2) + 3.0 * p(1) - p(0)).length() * fps.powi(3);
                    n += 1;
                }
            }
        }
        sum / f64::from(n.max(1))
    }
}

/// Distance along the ground.
fn level_distance(pair: &[DVec3]) -> f64 {
    let way = pair[1] - pair[0];
    way.x.hypot(way.z)
}

fn count_violations(rig: &Rig, pose: &sinew_geom::Pose) -> usize {
    let of = |(joint, local): (&sinew_geom::Joint, &sinew_geom::Transform)| {
        let angles =
            joint.dofs.iter().zip(joint.values_at(local)).filter(|(dof, _)| (dof.kind as usize) >= 3);
        angles
            .filter(|(dof, x)| *x < dof.range[0] - ROUNDING_RADIANS || *x > dof.range[1] + ROUNDING_RADIANS)
            .count()
    };
    rig.joints().iter().zip(&pose.locals).map(of).sum()
}
