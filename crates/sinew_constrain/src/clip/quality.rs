//! How a fitted clip compares with the one it was made from: steps between frames, directions of limbs, depth in the ground.
//!
//! # Source
//! Sinew's own. Everything is measured on the finished poses, the surface included; lengths are relative to the body, so that
//! the same motion on a larger body measures the same.

use super::{
    JointFrames,
    bodies::Bodies,
    counterparts::are_people,
    retarget::Retarget,
    touching::{TouchPoint, deepest},
};
use glam::DVec3;
use sinew_geom::{Rig, body_map::Part, path::PlacedGround};
use std::ops::Range;

/// A measure where it is worst.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Worst {
    /// In metres.
    pub value: f64,
    /// The frame.
    pub frame: usize,
    /// Name of the joint.
    pub joint: String,
}

/// A fitted clip beside the one it was made from.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Quality {
    /// Largest step of a joint between two frames beyond the source's, at the size of the target and on its bones.
    pub jump: Worst,
    /// Largest depth of the surface in the ground beyond the source's own.
    pub depth: Worst,
    /// Mean angle between limbs of source and target, radians; `None` unless both are people.
    pub direction: Option<f64>,
    /// The angle that a twentieth of them exceed.
    pub direction_p95: Option<f64>,
    /// Third differences of limbs over those of the source, root mean square; `None` if the source has none.
    pub jerk: Option<f64>,
    /// Mean speed of the joints of planted feet beyond that in the source, at the size of the target, metres per second.
    pub slide: f64,
    /// Length of the legs, by which lengths are judged.
    pub leg: f64,
}

/// Parts whose bones are compared, and the parts they lead to.
const LIMBS: [(Part, Part); 4] = [
    (Part::UpperArm, Part::Forearm),
    (Part::Forearm, Part::Hand),
    (Part::Thigh, Part::Shin),
    (Part::Shin, Part::Foot),
];
/// A joint on longer bones than the source's may move further, as the clip's angles move it, at most by this factor.
const MAX_REACH: f64 = 4.0;

/// The source of a fit, as far as results are compared with it.
pub(super) struct ComparedClip {
    worlds: Vec<JointFrames>,
    /// Its angles on the bones of the target.
    copied: Vec<JointFrames>,
    /// Joints of target and source that correspond.
    pairs: Vec<(usize, usize)>,
    /// Bones of target and source, as pairs of joints.
    limbs: Vec<[(usize, usize); 2]>,
    scale: f64,
    are_people: bool,
}

impl ComparedClip {
    pub fn new(
        bodies: &Bodies,
        retarget: &Retarget,
        worlds: Vec<JointFrames>,
        copied: Vec<JointFrames>,
    ) -> Self {
        let (source, target, scale) = (&bodies.source, &bodies.target, retarget.scale());
        let is_compared = |&joint: &usize| {
            let meaning = &target.map.joints[joint];
            !meaning.is_structural && !matches!(meaning.part, Part::Helper | Part::Unknown | Part::Face)
        };
        let pair = |joint: usize| Some((joint, retarget.source_of(joint)?));
        let pairs = (0..target.rig.n_joints()).filter(is_compared).filter_map(pair).collect();
        let bone = |map: &sinew_geom::body_map::BodyMap, (from, to): (Part, Part), side| {
            Some((map.find(from, side)?, map.find(to, side)?))
        };
        let sides = [sinew_geom::rig::Side::Left, sinew_geom::rig::Side::Right];
        let limbs = LIMBS.iter().flat_map(|limb| sides.map(|side| (*limb, side)));
        let limbs = limbs
            .filter_map(|(limb, side)| Some([bone(&target.map, limb, side)?, bone(&source.map, limb, side)?]))
            .collect();
        Self { worlds, copied, pairs, limbs, scale, are_people: are_people(&source.map, &target.map) }
    }

    /// Measure a result.
    pub fn measure(
        &self,
        (rig, worlds): (&Rig, &[JointFrames]),
        segments: &[Range<usize>],
        (touching, site): (&[Vec<TouchPoint>], Option<&PlacedGround>),
        (leg, planted, fps): (f64, &[(usize, Range<usize>)], f64),
    ) -> Quality {
        let mut angles = self.angles(worlds);
        angles.sort_by(f64::total_cmp);
        let mean = (!angles.is_empty()).then(|| angles.iter().sum::<f64>() / angles.len() as f64);
        let mut quality = Quality {
            leg,
            direction: mean,
            direction_p95: angles.get(angles.len() * 19 / 20).copied(),
            jerk: self.jerk(worlds, segments),
            slide: self.slide(worlds, planted) * fps,
            ..Quality::default()
        };
        let name = |joint: usize| rig.joints()[joint].name.clone();
        let note = |worst: &mut Worst, value: f64, frame: usize, joint: usize| {
            if value > worst.value {
                *worst = Worst { value, frame, joint: name(joint) };
            }
        };
        for t in segments.iter().flat_map(|segment| segment.start + 1..segment.end) {
            for &(joint, other) in &self.pairs {
                let own = self.scale * largest_step(&self.worlds, other, t);
                let asked = largest_step(&self.copied, joint, t).min(MAX_REACH * own).max(own);
                note(&mut quality.jump, step(worlds, joint, t) - asked, t, joint);
            }
        }
        for (t, points) in touching.iter().enumerate() {
            if let Some((depth, joint)) = site.and_then(|site| deepest(points, &worlds[t], site)) {
                note(&mut quality.depth, depth, t, joint);
            }
        }
        quality
    }

    /// Angles between limbs of people, over all frames.
    fn angles(&self, worlds: &[JointFrames]) -> Vec<f64> {
        let way = |world: &JointFrames, (from, to): (usize, usize)| {
            (world.positions[to] - world.positions[from]).try_normalize()
        };
        let mut angles = Vec::new();
        for (world, other) in worlds.iter().zip(&self.worlds).filter(|_| self.are_people) {
            for [ours, theirs] in &self.limbs {
                let both = way(world, *ours).zip(way(other, *theirs));
                angles.extend(both.map(|(a, b)| DVec3::angle_between(a, b)));
            }
        }
        angles
    }

    /// Third differences of the ends of limbs over those of the source.
    fn jerk(&self, worlds: &[JointFrames], segments: &[Range<usize>]) -> Option<f64> {
        let square = |worlds: &[JointFrames], joint: usize, t: usize| {
            let p = |k: usize| worlds[t + k].positions[joint];
            (p(3) - 3.0 * p(2) + 3.0 * p(1) - p(0)).length_squared()
        };
        let (mut ours, mut theirs) = (0.0, 0.0);
        for t in segments.iter().flat_map(|segment| segment.start..segment.end.saturating_sub(3)) {
            for [(_, to), (_, other)] in &self.limbs {
                ours += square(worlds, *to, t);
                theirs += self.scale * self.scale * square(&self.worlds, *other, t);
            }
        }
        let is_moving = theirs > 1e-14 * (self.limbs.len() * worlds.len()) as f64;
        is_moving.then(|| (ours / theirs).sqrt())
    }

    /// How much further joints of planted feet go along the ground from frame to frame than in the source.
    fn slide(&self, worlds: &[JointFrames], planted: &[(usize, Range<usize>)]) -> f64 {
        let level = |worlds: &[JointFrames], joint: usize, t: usize| {
            let way = worlds[t].positions[joint] - worlds[t - 1].positions[joint];
            way.x.hypot(way.z)
        };
        let (mut sum, mut n) = (0.0, 0u32);
        for (joint, frames) in planted {
            let Some((_, other)) = self.pairs.iter().find(|(ours, _)| ours == joint) else { continue };
            for t in frames.start + 1..frames.end {
                sum += level(worlds, *joint, t) - self.scale * level(&self.worlds, *other, t);
                n += 1;
            }
        }
        (sum / f64::from(n.max(1))).max(0.0)
    }
}

/// The largest step of a joint around a frame.
fn largest_step(worlds: &[JointFrames], joint: usize, t: usize) -> f64 {
    let around = t.saturating_sub(1).max(1)..(t + 2).min(worlds.len());
    around.map(|t| step(worlds, joint, t)).fold(0.0, f64::max)
}

fn step(worlds: &[JointFrames], joint: usize, t: usize) -> f64 {
    worlds[t].positions[joint].distance(worlds[t - 1].positions[joint])
}
