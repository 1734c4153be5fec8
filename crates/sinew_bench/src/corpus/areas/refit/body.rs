//! A body in motion: joints, limbs, which way is up, how large it is, where it faces, when its feet are planted.

use super::super::super::{
    draw::bounds,
    motion::Motion,
    scene::Scene,
    shape::{diagonal, quantile},
};
use super::limbs::{Limbs, Part};
use glam::{DMat3, DVec3};
use std::path::Path;

/// All lengths in rows are given for a body of this height, in centimetres.
pub const STATURE: f64 = 170.0;
/// Height of people over the length of thigh and shin.
const HEIGHT_OF_LEG: f64 = 2.05;

pub struct Body {
    pub motion: Motion,
    pub limbs: Limbs,
    /// Arms and legs are known by name, and the trunk stands upright.
    pub is_humanoid: bool,
    pub up: DVec3,
    /// How tall it stands, in the file's unit.
    pub height: f64,
    /// The height of a person with its legs: what travel and steps are measured by, since strides scale with legs.
    pub reach: f64,
    /// Joints at rest, where the file has a rest pose (glTF).
    pub rest: Option<Vec<DVec3>>,
}

/// A foot or toe that stands from one frame to another, both included.
pub struct Contact {
    pub part: Part,
    pub side: usize,
    pub first: usize,
    pub last: usize,
}

impl Body {
    pub fn of_bvh(path: &Path) -> anyhow::Result<Self> {
        let motion = Motion::read_bvh(path)?;
        let limbs = Limbs::find(&motion.names, &motion.parents);
        let up = up_of(&motion, &limbs);
        Ok(Self::new(motion, limbs, up))
    }

    /// A glTF clip, played at a rate.
    pub fn of_scene(scene: &Scene, clip: usize, fps: f64) -> Self {
        let motion = Motion::of_scene(scene, clip, fps);
        let limbs = Limbs::find(&motion.names, &motion.parents);
        let mut body = Self::new(motion, limbs, DVec3::Y);
        let nodes = match scene.joints() {
            joints if joints.is_empty() => (0..scene.n_nodes()).collect(),
            joints => joints,
        };
        let worlds = scene.worlds(None, 0.0);
        let rest: Vec<DVec3> = nodes.iter().map(|&node| worlds[node].w_axis.truncate()).collect();
        let (low, high) = bounds(&scene.positions(None, 0.0));
        let tall = (high - low).dot(body.up);
        if tall > 0.0 && tall.is_finite() {
            body.height = tall;
        }
        // However a clip bends it, a body is what it is at rest.
        body.is_humanoid = body.limbs.are_whole() && is_upright(&body.limbs, body.up, &|joint| rest[joint]);
        let leg = body.leg();
        let has_leg = body.is_humanoid && leg > 0.0;
        body.reach = if has_leg { leg * HEIGHT_OF_LEG } else { body.height };
        body.rest = Some(rest);
        body
    }

    pub fn new(motion: Motion, limbs: Limbs, up: DVec3) -> Self {
        let mut body = Self { motion, limbs, is_humanoid: false, up, height: 1.0, reach: 1.0, rest: None };
        let upright = (0..body.n_frames()).step_by(body.stride(40));
        let upright: Vec<f64> = upright
            .map(|k| {
                f64::from(u8::from(is_upright(&body.limbs, up, &|joint| body.motion.position(k, joint))))
            })
            .collect();
        // Bodies lie down and roll; those that never stand are no humans.
        body.is_humanoid =
            body.limbs.are_whole() && upright.iter().sum::<f64>() >= 0.2 * upright.len() as f64;
        body.measure();
        body
    }

    fn measure(&mut self) {
        let leg = self.leg();
        let first: Vec<DVec3> =
            (0..self.motion.n_joints()).map(|j| self.motion.position(self.n_frames() / 2, j)).collect();
        self.height = diagonal(&first).max(1e-9);
        self.reach = self.height;
        if self.is_humanoid && leg > 0.0 {
            self.reach = leg * HEIGHT_OF_LEG;
            let trunk = self.typical(|k| {
                Some(
                    self.middle(k)
                        .distance(self.limbs.between(Part::UpperArm, &|j| self.motion.position(k, j))?),
                )
            });
            self.height = (leg + trunk) * 1.35;
        }
    }

    /// Median length of thigh and shin.
    fn leg(&self) -> f64 {
        let length =
            |a: Part, b: Part| self.typical(|k| Some(self.spot(k, a, 0)?.distance(self.spot(k, b, 0)?)));
        length(Part::Thigh, Part::Shin) + length(Part::Shin, Part::Foot)
    }

    /// Median of something over frames.
    fn typical(&self, value: impl Fn(usize) -> Option<f64>) -> f64 {
        let values: Vec<f64> = (0..self.n_frames()).step_by(self.stride(60)).filter_map(value).collect();
        quantile(&values, 0.5)
    }

    /// Frames to step over so that about `n` are looked at.
    pub fn stride(&self, n: usize) -> usize {
        (self.n_frames() / n).max(1)
    }

    pub fn n_frames(&self) -> usize {
        self.motion.frames.len()
    }

    pub fn spot(&self, frame: usize, part: Part, side: usize) -> Option<DVec3> {
        Some(self.motion.position(frame, self.limbs.joint(part, side)?))
    }

    /// Between the hips; of bodies without known legs, the middle of all joints.
    pub fn middle(&self, frame: usize) -> DVec3 {
        let hips = self.limbs.between(Part::Thigh, &|joint| self.motion.position(frame, joint));
        hips.filter(|_| self.is_humanoid).unwrap_or_else(|| self.centre(frame))
    }

    /// The middle of all joints.
    pub fn centre(&self, frame: usize) -> DVec3 {
        let n = self.motion.n_joints();
        (0..n).map(|joint| self.motion.position(frame, joint)).sum::<DVec3>() / n.max(1) as f64
    }

    /// Left, up and forward, horizontal but for up; nothing while the body lies on its side or is no humanoid.
    pub fn heading(&self, frame: usize) -> Option<DMat3> {
        if !self.is_humanoid {
            return None;
        }
        let side =
            |part: Part| Some((self.spot(frame, part, 0)? - self.spot(frame, part, 1)?).normalize_or_zero());
        let (hips, shoulders) = (self.flat(side(Part::Thigh)?), self.flat(side(Part::UpperArm)?));
        // In a body that is wrung, hips and shoulders point against each other: the hips say where it goes.
        let across = [hips + shoulders, hips].into_iter().find(|across| across.length() > 0.5)?;
        let left = across.normalize();
        Some(DMat3::from_cols(left, self.up, left.cross(self.up)))
    }

    /// A fixed frame of the world with the same meaning of up.
    pub fn world(&self) -> DMat3 {
        let left = DVec3::X;
        DMat3::from_cols(left, self.up, left.cross(self.up))
    }

    pub fn flat(&self, v: DVec3) -> DVec3 {
        v - self.up * v.dot(self.up)
    }

    /// The height of the lowest joint.
    pub fn low(&self, frame: usize) -> f64 {
        (0..self.motion.n_joints())
            .map(|j| self.motion.position(frame, j).dot(self.up))
            .fold(f64::INFINITY, f64::min)
    }

    /// Feet and toes that stand: slower than 12 cm/s, within 4 cm of their lowest, for at least a tenth of a second.
    pub fn contacts(&self) -> Vec<Contact> {
        let mut contacts = Vec::new();
        for (part, side) in [(Part::Foot, 0), (Part::Foot, 1), (Part::Toe, 0), (Part::Toe, 1)] {
            let Some(joint) = self.limbs.joint(part, side) else { continue };
            let heights: Vec<f64> =
                (0..self.n_frames()).map(|k| self.motion.position(k, joint).dot(self.up)).collect();
            let ground = quantile(&heights, 0.02);
            let stands = |k: usize| {
                heights[k] - ground < 4.0 / STATURE * self.reach
                    && self.speed(joint, k).length() < 12.0 / STATURE * self.reach
            };
            let least = (0.1 / self.motion.step).ceil().max(2.0) as usize;
            let mut first = 0;
            for k in 0..=self.n_frames() {
                if k == self.n_frames() || !stands(k) {
                    if k - first > least {
                        contacts.push(Contact { part, side, first, last: k - 1 });
                    }
                    first = k + 1;
                }
            }
        }
        contacts
    }

    /// Velocity of a joint per second, over about a thirtieth of a second.
    pub fn speed(&self, joint: usize, frame: usize) -> DVec3 {
        let w = ((0.017 / self.motion.step).round() as usize).max(1);
        let (a, b) = (frame.saturating_sub(w), (frame + w).min(self.n_frames() - 1));
        let time = (b - a).max(1) as f64 * self.motion.step;
        (self.motion.position(b, joint) - self.motion.position(a, joint)) / time
    }

    /// How far the body gets from where it began, along the ground.
    pub fn travel(&self) -> f64 {
        let start = self.middle(0);
        (0..self.n_frames()).map(|k| self.flat(self.middle(k) - start).length()).fold(0.0, f64::max)
    }
}

fn is_upright(limbs: &Limbs, up: DVec3, position: &dyn Fn(usize) -> DVec3) -> bool {
    let (low, high) = (limbs.between(Part::Thigh, position), limbs.between(Part::UpperArm, position));
    let trunk = low.zip(high).map(|(low, high)| (high - low).normalize_or_zero());
    trunk.is_some_and(|trunk| trunk.dot(up) > 0.6)
}

/// Up of a BVH file, which does not say: Y, unless the body stands along Z and never along Y.
fn up_of(motion: &Motion, limbs: &Limbs) -> DVec3 {
    let tall = |k: usize| {
        let position = |joint: usize| motion.position(k, joint);
        let (low, high) = (limbs.between(Part::Foot, &position)?, limbs.between(Part::UpperArm, &position)?);
        Some((high - low).normalize_or_zero())
    };
    let tall: Vec<DVec3> = (0..motion.frames.len()).filter_map(tall).collect();
    let most = |axis: usize| quantile(&tall.iter().map(|v| v[axis]).collect::<Vec<_>>(), 0.9);
    if most(1) < 0.7 && most(2) > 0.7 { DVec3::Z } else { DVec3::Y }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use glam::{DMat4, DQuat};

    /// A stick figure that walks along its own front for two seconds, turned about up by an angle.
    pub fn walker(turn: f64, size: f64) -> Body {
        let names = [
            "LeftUpLeg",
            "LeftLeg",
            "LeftFoot",
            "RightUpLeg",
            "RightLeg",
            "RightFoot",
            "LeftArm",
            "LeftForeArm",
            "LeftHand",
            "RightArm",
            "RightForeArm",
            "RightHand",
        ];
        let parents = [
            None,
            Some(0),
            Some(1),
            Some(0),
            Some(3),
            Some(4),
            Some(0),
            Some(6),
            Some(7),
            Some(0),
            Some(9),
            Some(10),
        ];
        let frame = |k: usize| -> Vec<DMat4> {
            let t = k as f64 / 60.0;
            let limb = |x: f64, top: f64, swing: f64| {
                let hang = DVec3::new(0.0, -swing.cos(), swing.sin());
                let root = DVec3::new(x, top, t);
                [root, root + hang * 0.41, root + hang * 0.82]
            };
            let swing = 0.4 * (6.0 * t).sin();
            let limbs = [
                limb(0.1, 0.9, swing),
                limb(-0.1, 0.9, -swing),
                limb(0.2, 1.4, -swing),
                limb(-0.2, 1.4, swing),
            ];
            let turn = DQuat::from_rotation_y(turn);
            limbs.concat().into_iter().map(|p| DMat4::from_translation(turn * p * size)).collect()
        };
        let motion = Motion {
            names: names.map(str::to_owned).to_vec(),
            parents: parents.to_vec(),
            step: 1.0 / 60.0,
            frames: (0..120).map(frame).collect(),
        };
        let limbs = Limbs::find(&motion.names, &motion.parents);
        Body::new(motion, limbs, DVec3::Y)
    }

    #[test]
    fn size_travel_and_heading_do_not_depend_on_the_facing() {
        let (a, b) = (walker(0.0, 1.0), walker(2.0, 100.0));
        assert!(a.is_humanoid && b.is_humanoid);
        assert!((a.reach - 0.82 * HEIGHT_OF_LEG).abs() < 1e-9);
        assert!((a.travel() / a.reach - b.travel() / b.reach).abs() < 1e-9);
        let forward = a.heading(10).unwrap() * DVec3::Z;
        assert!(forward.distance(DVec3::Z) < 1e-9);
    }
}
