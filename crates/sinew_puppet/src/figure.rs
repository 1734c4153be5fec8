//! A skeleton posed directly by a body, without pairs: what each joint does follows from what it is.
//!
//! Upright bodies take the directions of the actor's limbs, so that they do what the actor does whatever their rest pose is.
//! Other bodies take what limbs do relative to standing: legs of the actor move hind legs, arms wings and, where they are raised,
//! front legs; legs of insects follow the actor's in turn, every second one the other leg. Where feet stand is decided by
//! `stance`.
//!
//! # Symbols
//! `turn` of a joint: rotation in the world from its rest; joints that nothing drives have the turn of what they hang on

use crate::{CanonicalPose, PuppetError, body::BodyJoint as B};
use glam::{DAffine3, DMat3, DQuat, DVec3};
use sinew_geom::{
    Pose, Rig, Transform,
    body_map::{BodyClass, BodyMap, Part},
    rig::{Side, parents_first},
};
use std::f64::consts::PI;

/// Bends of an elbow or knee, as sines, between which the plane of the limb begins to decide how the limb turns about itself.
const BENT: [f64; 2] = [0.15, 0.45];
/// How much of the actor's trunk bodies along the ground take.
const TRUNK_SHARE: f64 = 0.4;
/// How far legs of insects swing at most, and lift, for a radian of the actor's leg.
pub(crate) const CRAWL_SHARE: [f64; 2] = [0.7, 0.5];
/// How much of the pitch of the actor's feet paws take.
pub(crate) const PAW_SHARE: f64 = 0.6;
/// Heights of the wrist above the shoulder, in lengths of the arm, between which it lifts a front leg: those of runners, who bend
/// their arms, are lower.
const RAISED: [f64; 2] = [-0.25, 0.1];
/// Height above the shoulder to which front legs are raised, in lengths of the leg.
const HIGHEST_PAW: f64 = 0.15;
/// Slope of the feet of somebody who stands, downwards in radians, if the source does not say.
pub(crate) const FOOT_SLOPE: f64 = 0.38;

/// What moves a joint.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Drive {
    /// What it hangs on.
    Ride,
    Hips,
    /// A share of the way from hips to chest.
    Spine(f64),
    /// A share of how the head leans against the chest.
    Head(f64),
    /// Takes the direction of a bone of the actor.
    Along(Bone),
    /// Takes the turn of a bone of the actor from standing.
    Turned(usize, usize),
    /// A paw or hoof, which is level as the actor's foot is; it hangs from an arm that is raised, if it follows one.
    Paw(usize, Option<usize>),
    /// A leg of an insect at the actor's leg, on the left (1) or right (−1).
    Crawl(usize, f64),
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Bone {
    /// Joints of the actor.
    from: usize,
    to: usize,
    /// Direction at rest.
    rest: DVec3,
    /// Axis of the elbow or knee at its end, at rest, and the actor's joint after that.
    hinge: Option<(DVec3, usize)>,
    /// Downward slope at rest, of feet.
    slope: Option<f64>,
}

/// A skeleton that a body can pose.
#[derive(Debug, Clone)]
pub struct Figure {
    class: BodyClass,
    /// From the axes of the standard body (x left, y up, z ahead) to the world.
    world_from_body: DQuat,
    rest: Vec<DAffine3>,
    parents: Vec<Option<usize>>,
    /// What each joint hangs on: its parent, or what it is attached to.
    hangs_on: Vec<Option<usize>>,
    /// All joints, each after what it hangs on.
    order: Vec<usize>,
    drives: Vec<Drive>,
    /// The axis from right to left hips, and shoulders, with the direction of the trunk, at rest.
    hips: DMat3,
    chest: DMat3,
    /// Slope of the actor's feet when standing.
    foot_slope: f64,
    /// How far legs of insects swing for a radian of the actor's leg.
    crawl_share: f64,
}

impl Figure {
    /// Prepare a skeleton. `attached` names what joints move with where that is not their parent.
    ///
    /// # Errors
    /// A body of no known kind, or one without legs.
    pub fn new(rig: &Rig, map: &BodyMap, attached: &[Option<usize>]) -> Result<Self, PuppetError> {
        let is_known = match map.class {
            BodyClass::Biped | BodyClass::Quadruped | BodyClass::HorizontalBiped | BodyClass::Bird => {
                map.find(Part::Thigh, Side::Left).is_some() && map.find(Part::Thigh, Side::Right).is_some()
            }
            BodyClass::Arthropod => true,
            BodyClass::Swimmer | BodyClass::Octopus | BodyClass::Tree => false,
        };
        if !is_known {
            return Err(PuppetError::NoFigure { class: map.class.description() });
        }
        let rest = rig.rest_world();
        let parents: Vec<Option<usize>> = rig.joints().iter().map(|joint| joint.parent).collect();
        let hangs_on: Vec<Option<usize>> =
            (0..rig.n_joints()).map(|k| attached.get(k).copied().flatten().or(parents[k])).collect();
        let left = map.up.cross(map.forward);
        let world_from_body = DQuat::from_mat3(&DMat3::from_cols(left, map.up, map.forward)).normalize();
        let mut figure = Self {
            class: map.class,
            world_from_body,
            order: parents_first(&hangs_on),
            drives: vec![Drive::Ride; rig.n_joints()],
            hips: frame_at(&rest, map, Part::Thigh, left),
            chest: frame_at(&rest, map, Part::UpperArm, left),
            rest,
            parents,
            hangs_on,
            foot_slope: FOOT_SLOPE,
            crawl_share: CRAWL_SHARE[0],
        };
        figure.drive_trunk(map);
        match map.class {
            BodyClass::Arthropod => figure.drive_crawling(rig, map),
            _ => figure.drive_limbs(map),
        }
        Ok(figure)
    }

    /// The plan of the body.
    pub fn class(&self) -> BodyClass {
        self.class
    }

    /// From the axes of the standard body (x left, y up, z ahead) to the world.
    pub fn world_from_body(&self) -> DQuat {
        self.world_from_body
    }

    /// Set how steeply the feet of the actor go down, in radians, when it stands.
    pub fn set_foot_slope(&mut self, slope: f64) {
        self.foot_slope = slope;
    }

    /// Set how far legs of insects swing for a radian of the actor's leg.
    pub(crate) fn set_crawl_share(&mut self, share: f64) {
        self.crawl_share = share;
    }

    fn is_upright(&self) -> bool {
        self.class == BodyClass::Biped
    }

    fn drive_trunk(&mut self, map: &BodyMap) {
        let joints = |part: Part| map.find_all(part, Side::Middle).collect::<Vec<_>>();
        if let Some(hips) = map.find(Part::Hips, Side::Middle) {
            self.drives[hips] = Drive::Hips;
        }
        let mut spine: Vec<usize> = [joints(Part::Spine), joints(Part::Chest)].concat();
        spine.sort_unstable();
        for (k, &joint) in spine.iter().enumerate() {
            self.drives[joint] = Drive::Spine((k + 1) as f64 / spine.len() as f64);
        }
        let neck: Vec<usize> = [joints(Part::Neck), joints(Part::Head)].concat();
        for (k, &joint) in neck.iter().enumerate() {
            self.drives[joint] = Drive::Head((k + 1) as f64 / neck.len() as f64);
        }
    }

    fn drive_limbs(&mut self, map: &BodyMap) {
        let arm = [
            (Part::UpperArm, B::ShoulderLeft, B::ElbowLeft, Some(B::WristLeft)),
            (Part::Forearm, B::ElbowLeft, B::WristLeft, None),
            (Part::Hand, B::WristLeft, B::HandLeft, None),
        ];
        let leg = [
            (Part::Thigh, B::HipLeft, B::KneeLeft, Some(B::AnkleLeft)),
            (Part::Shin, B::KneeLeft, B::AnkleLeft, None),
            (Part::Foot, B::AnkleLeft, B::FootLeft, None),
        ];
        for (side, shift) in [(Side::Left, 0), (Side::Right, 4)] {
            for (part, from, to, next) in arm.into_iter().chain(leg) {
                let Some(joint) = map.find(part, side) else { continue };
                let (from, to) = (from as usize + shift, to as usize + shift);
                let next = next.map(|next| next as usize + shift);
                self.drives[joint] = if !self.is_upright() {
                    match part {
                        Part::Foot => Drive::Paw(from, None),
                        // Front legs step with the foot across.
                        Part::Hand if self.class == BodyClass::Quadruped => {
                            let ankle = B::AnkleLeft as usize + 4 - shift;
                            Drive::Paw(ankle, Some(B::ShoulderLeft as usize + shift))
                        }
                        _ => Drive::Turned(from, to),
                    }
                } else {
                    self.bone(map, joint, part, side, from, to, next).map_or(Drive::Ride, Drive::Along)
                };
            }
            if let Some(wing) = map.find(Part::Wing, side) {
                self.drives[wing] =
                    Drive::Turned(B::ShoulderLeft as usize + shift, B::WristLeft as usize + shift);
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one row of a table and what it is applied to")]
    fn bone(
        &self,
        map: &BodyMap,
        joint: usize,
        part: Part,
        side: Side,
        from: usize,
        to: usize,
        next: Option<usize>,
    ) -> Option<Bone> {
        let after = match part {
            Part::UpperArm => Part::Forearm,
            Part::Forearm => Part::Hand,
            Part::Hand => Part::Finger,
            Part::Thigh => Part::Shin,
            Part::Shin => Part::Foot,
            _ => Part::Toe,
        };
        let at = |k: usize| self.rest[k].translation;
        let child = (0..self.parents.len())
            .find(|&k| self.hangs_on[k] == Some(joint) && !map.joints[k].is_structural);
        let end = map.find(after, side).filter(|&k| at(k).distance(at(joint)) > 1e-9).or(child);
        let rest = match end {
            Some(end) => (at(end) - at(joint)).try_normalize()?,
            // A limb that ends here goes on as it came.
            None => (at(joint) - at(self.hangs_on[joint]?)).try_normalize()?,
        };
        let hinge = next.and_then(|next| {
            let knee = map.find(after, side)?;
            map.joints[knee].hinge.map(|hinge| (hinge.axis, next))
        });
        let slope = (part == Part::Foot).then(|| -rest.dot(map.up).clamp(-1.0, 1.0).asin());
        Some(Bone { from, to, rest, hinge, slope })
    }

    fn drive_crawling(&mut self, rig: &Rig, map: &BodyMap) {
        for (side, sign) in [(Side::Left, 1.0), (Side::Right, -1.0)] {
            let is_leg = |k: usize| map.joints[k].part == Part::Leg && map.joints[k].side == side;
            let is_first = |&k: &usize| is_leg(k) && self.hangs_on[k].is_none_or(|above| !is_leg(above));
            let mut first: Vec<usize> = (0..rig.n_joints()).filter(is_first).collect();
            // Feet that hang on nothing known are not legs of their own.
            first.retain(|&k| (0..rig.n_joints()).any(|c| self.hangs_on[c] == Some(k)));
            let ahead = |k: usize| self.rest[k].translation.dot(map.forward);
            first.sort_by(|&a, &b| ahead(b).total_cmp(&ahead(a)));
            for (place, &joint) in first.iter().enumerate() {
                let is_other = (place + usize::from(side == Side::Right)) % 2 == 1;
                let thigh = if is_other { B::HipRight } else { B::HipLeft };
                self.drives[joint] = Drive::Crawl(thigh as usize, sign);
            }
        }
    }

    /// Pose the skeleton: its pose, with roots at rest, and `world_from_joint` of every joint.
    pub fn pose(&self, actor: &CanonicalPose, pose: &mut Pose, world: &mut Vec<DAffine3>) {
        let at = |k: usize| self.world_from_body * actor.joint(k);
        let trunk = at(2) - at(0);
        let hips = basis(at(12) - at(16), trunk) * self.hips.transpose();
        let chest = basis(at(4) - at(8), trunk) * self.chest.transpose();
        let (mut hips, mut chest) =
            (DQuat::from_mat3(&hips).normalize(), DQuat::from_mat3(&chest).normalize());
        if !self.is_upright() {
            let lean = |full: DQuat| DQuat::IDENTITY.slerp(full, TRUNK_SHARE);
            let stands = self.world_from_body * trunk_of(&CanonicalPose::rest());
            hips = lean(DQuat::from_rotation_arc(stands.normalize(), trunk.normalize()));
            chest = hips * lean(twist_between(&at, trunk));
        }
        let head = at(3) - at(2);
        let lean = DQuat::from_rotation_arc(trunk.normalize_or(DVec3::Y), head.normalize_or(DVec3::Y));
        let mut turns = vec![DQuat::IDENTITY; self.drives.len()];
        world.clear();
        world.resize(self.drives.len(), DAffine3::IDENTITY);
        for &joint in &self.order {
            let (ridden, place) = match self.hangs_on[joint] {
                Some(on) => {
                    let arm = self.rest[joint].translation - self.rest[on].translation;
                    (turns[on], world[on].translation + turns[on] * arm)
                }
                None => (DQuat::IDENTITY, self.rest[joint].translation),
            };
            turns[joint] = match self.drives[joint] {
                Drive::Ride => ridden,
                Drive::Hips => hips,
                Drive::Spine(share) => hips.slerp(chest, share),
                Drive::Head(share) => DQuat::IDENTITY.slerp(lean, share) * chest,
                Drive::Along(bone) => self.along(&bone, ridden, &at),
                Drive::Turned(from, to) => self.turned(actor, from, to),
                Drive::Paw(ankle, arm) => self.paw(actor, ankle, arm),
                // Legs that stand do not lean with the trunk.
                Drive::Crawl(thigh, sign) => self.crawl(actor, thigh, sign),
            };
            world[joint] = DAffine3::from_mat3_translation(
                DMat3::from_quat(turns[joint]) * self.rest[joint].matrix3,
                place,
            );
        }
        self.locals(world, pose);
    }

    /// The pose of joints in the world.
    pub(crate) fn locals(&self, world: &[DAffine3], pose: &mut Pose) {
        pose.locals.clear();
        for (joint, parent) in self.parents.iter().enumerate() {
            let local = parent.map_or(world[joint], |parent| world[parent].inverse() * world[joint]);
            pose.locals.push(Transform::from_affine(local).0);
        }
    }

    /// The turn that brings a bone along the actor's; how it turns about itself follows from what it hangs on, and from the
    /// plane in which the actor's elbow or knee bends.
    fn along(&self, bone: &Bone, ridden: DQuat, at: &dyn Fn(usize) -> DVec3) -> DQuat {
        let Some(mut along) = (at(bone.to) - at(bone.from)).try_normalize() else { return ridden };
        if let Some(slope) = bone.slope {
            // About the axis of the ankle, from right to left.
            let left = ridden * (self.world_from_body * DVec3::X);
            if let Some(across) = (left - left.dot(along) * along).try_normalize() {
                along = DQuat::from_axis_angle(across, slope - self.foot_slope) * along;
            }
        }
        let swung = DQuat::from_rotation_arc((ridden * bone.rest).normalize(), along) * ridden;
        let Some((axis, next)) = bone.hinge else { return swung };
        let lower = (at(next) - at(bone.to)).normalize_or_zero();
        let bend = along.cross(lower);
        let share = smooth((bend.length() - BENT[0]) / (BENT[1] - BENT[0]));
        let flat = |v: DVec3| (v - v.dot(along) * along).try_normalize();
        let (Some(is), Some(wanted)) = (flat(swung * axis), flat(bend)) else { return swung };
        let angle = is.cross(wanted).dot(along).atan2(is.dot(wanted));
        // A limb that bends the wrong way is tracked wrongly: about half a turn there is none to prefer.
        let trusted = 1.0 - smooth((angle.abs() - 0.6 * PI) / (0.35 * PI));
        DQuat::from_axis_angle(along, share * trusted * angle) * swung
    }

    fn turned(&self, actor: &CanonicalPose, from: usize, to: usize) -> DQuat {
        let along = |pose: &CanonicalPose| (pose.joint(to) - pose.joint(from)).normalize_or(DVec3::NEG_Y);
        let turn = DQuat::from_rotation_arc(along(&CanonicalPose::rest()), along(actor));
        self.world_from_body * turn * self.world_from_body.inverse()
    }

    fn paw(&self, actor: &CanonicalPose, ankle: usize, arm: Option<usize>) -> DQuat {
        let pitch = foot_pitch(actor.joint(ankle + 1) - actor.joint(ankle), self.foot_slope);
        let left = self.world_from_body * DVec3::X;
        let level = DQuat::from_axis_angle(left, PAW_SHARE * pitch);
        match arm.map(|shoulder| (shoulder, raised(actor, shoulder))) {
            Some((shoulder, share)) if share > 0.0 => {
                let turn = self.world_from_body * hanging(actor, shoulder) * self.world_from_body.inverse();
                level.slerp(turn, share)
            }
            _ => level,
        }
    }

    /// A leg out to the side swings about the vertical as the actor's swings, and is lifted as its knee bends.
    fn crawl(&self, actor: &CanonicalPose, thigh: usize, sign: f64) -> DQuat {
        let leg = actor.joint(thigh + 2) - actor.joint(thigh);
        let swing = leg.z.atan2(-leg.y);
        let upper = (actor.joint(thigh + 1) - actor.joint(thigh)).normalize_or(DVec3::NEG_Y);
        let lower = (actor.joint(thigh + 2) - actor.joint(thigh + 1)).normalize_or(DVec3::NEG_Y);
        // Smooth also where a knee is straight.
        let lift = 1.2 * (1.0 - upper.dot(lower));
        let turn = DQuat::from_rotation_y(-sign * self.crawl_share * swing.clamp(-1.2, 1.2))
            * DQuat::from_rotation_z(sign * CRAWL_SHARE[1] * lift);
        self.world_from_body * turn * self.world_from_body.inverse()
    }
}

fn trunk_of(pose: &CanonicalPose) -> DVec3 {
    pose.joint(2) - pose.joint(0)
}

/// How shoulders are turned against hips about the trunk.
fn twist_between(at: &dyn Fn(usize) -> DVec3, trunk: DVec3) -> DQuat {
    let Some(axis) = trunk.try_normalize() else { return DQuat::IDENTITY };
    let flat = |v: DVec3| (v - v.dot(axis) * axis).normalize_or_zero();
    let (hips, shoulders) = (flat(at(12) - at(16)), flat(at(4) - at(8)));
    DQuat::from_axis_angle(axis, hips.cross(shoulders).dot(axis).atan2(hips.dot(shoulders)))
}

/// Axes across and up the trunk at a pair of limbs, at rest.
fn frame_at(rest: &[DAffine3], map: &BodyMap, part: Part, left: DVec3) -> DMat3 {
    let pair = |part: Part| {
        let at = |side| map.find(part, side).map(|k| rest[k].translation);
        Some((at(Side::Left)?, at(Side::Right)?))
    };
    let middle = |part: Part| pair(part).map(|(l, r)| l.midpoint(r));
    let across = pair(part).map_or(left, |(l, r)| l - r);
    let top = middle(Part::UpperArm)
        .or_else(|| map.find(Part::Neck, Side::Middle).map(|k| rest[k].translation))
        .or_else(|| map.find(Part::Head, Side::Middle).map(|k| rest[k].translation));
    let trunk = top.zip(middle(Part::Thigh)).map_or(map.up, |(top, low)| top - low);
    basis(across, trunk)
}

/// Axes with the second along the trunk and the first as near to `across` as can be.
fn basis(across: DVec3, trunk: DVec3) -> DMat3 {
    let up = trunk.try_normalize().unwrap_or(DVec3::Y);
    let left = (across - across.dot(up) * up).try_normalize().unwrap_or_else(|| up.any_orthonormal_vector());
    DMat3::from_cols(left, up, left.cross(up))
}

/// How far an arm of the actor lifts the front leg that hangs on it, from 0 to 1.
pub(crate) fn raised(pose: &CanonicalPose, shoulder: usize) -> f64 {
    let height = arm_of(pose, shoulder).y;
    smooth((height - RAISED[0]) / (RAISED[1] - RAISED[0]))
}

/// How much steeper a foot goes down than one that stands with this slope, in radians near there. An angle would turn back where a foot
/// is swung past the vertical; the sine comes to rest there.
pub(crate) fn foot_pitch(foot: DVec3, slope: f64) -> f64 {
    foot.try_normalize().map_or(0.0, |along| (-along.y - slope.sin()) / slope.cos().max(0.3))
}

/// The turn of what hangs from a raised arm, in the axes of the standard body.
pub(crate) fn hanging(pose: &CanonicalPose, shoulder: usize) -> DQuat {
    DQuat::from_rotation_arc(DVec3::NEG_Y, arm_of(pose, shoulder).normalize_or(DVec3::NEG_Y))
}

/// From the shoulder of the actor to its wrist, in lengths of its arm; front legs are not raised much above the shoulder.
pub(crate) fn arm_of(pose: &CanonicalPose, shoulder: usize) -> DVec3 {
    let upper = pose.joint(shoulder + 1) - pose.joint(shoulder);
    let lower = pose.joint(shoulder + 2) - pose.joint(shoulder + 1);
    let arm = (upper + lower) / (upper.length() + lower.length()).max(1e-9);
    DVec3 { y: if arm.y > 0.0 { HIGHEST_PAW * (arm.y / HIGHEST_PAW).tanh() } else { arm.y }, ..arm }
}

/// From 0 to 1 with zero slope at both ends.
pub(crate) fn smooth(share: f64) -> f64 {
    let t = share.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}
