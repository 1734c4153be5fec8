//! Both bodies of a fit in one space: limbs joined, upright along +Y, facing the same way.

use super::{
    Body, JointFrames, Motion, Refit, RefitParams, SkinPoints, belt,
    counterparts::{MappedRig, has_same_rest, is_same_skeleton},
    facing::{Facing, turn_poses, turned_rig},
    joined::Joined,
    motion, read_map,
};
use crate::ConstrainError;
use glam::DVec3;
use sinew_geom::{Pose, Rig, body_map::BodyMap};

/// Frames that are looked at to find what is up.
const N_SAMPLES: usize = 200;

/// A body.
#[derive(Debug, Clone)]
pub(super) struct BodySide {
    /// Its skeleton with whole limbs, turned.
    pub rig: Rig,
    /// What it is, before it was turned.
    pub map: BodyMap,
    /// Pelvis, legs and arms.
    pub body: Body,
    /// Its surface.
    pub skin: Option<SkinPoints>,
    joined: Option<Joined>,
}

impl BodySide {
    fn new(
        rig: &Rig,
        map: BodyMap,
        skin: Option<&SkinPoints>,
        (feet, joins): (&[String], bool),
    ) -> Result<Self, ConstrainError> {
        let joined = if joins { Joined::of(rig, &map)? } else { None };
        let (rig, map, skin) = match &joined {
            None => (rig.clone(), map, skin.cloned()),
            Some(joined) => (
                joined.rig.clone(),
                BodyMap {
                    joints: joined.ordered(&map.joints),
                    places: joined.ordered(&map.places),
                    pose: joined.pose(rig, &map.pose),
                    ..map
                },
                skin.map(|skin| SkinPoints { joints: joined.ordered(&skin.joints) }),
            ),
        };
        let body = Body::of(&rig, &map, feet)?.with_flesh(&rig, &map, skin.as_ref());
        Ok(Self { rig, map, body, skin, joined })
    }

    pub fn mapped(&self) -> MappedRig<'_> {
        MappedRig { rig: &self.rig, map: &self.map }
    }
}

/// Source and target of a fit.
#[derive(Debug, Clone)]
pub(super) struct Bodies<'a> {
    pub source: BodySide,
    pub target: BodySide,
    pub motion: Motion,
    pub facing: Facing,
    /// The target as it was given.
    original: &'a Rig,
}

impl<'a> Bodies<'a> {
    pub fn new(
        source: &Rig,
        motion: &Motion,
        target: &'a Rig,
        params: &RefitParams,
    ) -> Result<Self, ConstrainError> {
        let own = params.maps[0].clone().unwrap_or_else(|| read_map(source, Some(motion)));
        let is_same = is_same_skeleton(source, target);
        // Bodies that rest alike are read alike, whatever clips they have.
        let rests_alike = is_same && has_same_rest(source, target);
        let given = params.maps[1].clone().filter(|_| !rests_alike);
        let other = given.unwrap_or_else(|| read_map(target, rests_alike.then_some(motion)));
        // Rules name joints by their place in the skeleton.
        let feet = (params.feet.as_slice(), params.rules.is_empty());
        let mut from = BodySide::new(source, own, params.skins[0].as_ref(), feet)?;
        let mut to = BodySide::new(target, other, params.skins[1].as_ref(), feet)?;
        let mut poses: Vec<Pose> = match &from.joined {
            Some(joined) => motion.poses.iter().map(|pose| joined.pose(source, pose)).collect(),
            None => motion.poses.clone(),
        };
        let some: Vec<JointFrames> = (0..poses.len())
            .step_by(poses.len().div_ceil(N_SAMPLES).max(1))
            .map(|t| JointFrames::of(&from.rig, &poses[t]))
            .collect();
        let facing = Facing::of(&from.mapped(), &some, &to.map, is_same);
        from.rig = turned_rig(&from.rig, facing.source)?;
        to.rig = turned_rig(&to.rig, facing.target)?;
        turn_poses(&from.rig, &mut poses, facing.source);
        let motion = Motion { fps: motion.fps, poses };
        Ok(Self { source: from, target: to, motion, facing, original: target })
    }

    /// Velocity of the treadmill of a walk in place, if it is one.
    pub fn belt(&self) -> Option<DVec3> {
        let (rig, body) = (&self.source.rig, &self.source.body);
        let worlds = motion::worlds(rig, &self.motion);
        belt::find_belt(body, &worlds, self.motion.fps, body.leg_length(rig))
    }

    /// The same with a motion moved at constant velocity.
    pub fn carried(&self, velocity: DVec3) -> Self {
        Self { motion: belt::carried(&self.source.rig, &self.motion, velocity), ..self.clone() }
    }

    /// A result for the target as it was given.
    pub fn finish(&self, mut fitted: Refit) -> Refit {
        fitted.upright = [self.facing.source, self.facing.target];
        let back = self.facing.target.inverse();
        for motion in [&mut fitted.motion, &mut fitted.copied] {
            turn_poses(&self.target.rig, &mut motion.poses, back);
            if let Some(joined) = &self.target.joined {
                motion.poses.iter_mut().for_each(|pose| *pose = joined.original(self.original, pose));
            }
        }
        if let Some(joined) = &self.target.joined {
            fitted.supports.iter_mut().for_each(|support| support.hand = joined.old_of(support.hand));
        }
        fitted
    }
}
