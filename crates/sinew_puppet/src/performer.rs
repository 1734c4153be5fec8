//! The whole pipeline from a tracked body to a posed skeleton.
//!
//! # Source
//! Sun (2017), §4.3, algorithm 1 and figure 4.1.

use crate::{
    BodyPose, BodyTracker, Footing, GroundParams, Interpolation, Limb, LimbSet, PuppetError, Puppeteer,
    PuppeteerParams, RigBlend, TrackerParams, assign_parts, carry,
};
use glam::DAffine3;
use sinew_geom::{Pose, Rig};

/// A pose of the actor and the character's pose for it.
#[derive(Debug, Clone, PartialEq)]
pub struct RigPair {
    /// The actor.
    pub body: BodyPose,
    /// The character.
    pub pose: Pose,
}

/// Settings of a performance.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PerformerParams {
    /// How the actor is followed.
    pub tracker: TrackerParams,
    /// How poses become weights.
    pub puppeteer: PuppeteerParams,
    /// How poses of the character are blended.
    pub interpolation: Interpolation,
    /// How the character travels.
    pub ground: GroundParams,
    /// Whether the body is one space, as in Sun (2017), instead of one for each part (false).
    pub whole_body: bool,
    /// Joints of the character, and the limbs of the actor that move them, as overridden by the user.
    pub limbs: Vec<(usize, Vec<Limb>)>,
}

/// The character at one time.
#[derive(Debug, Clone)]
pub struct PerformedFrame {
    /// Its pose, in the world. With blended matrices it is the nearest pose that has no shear.
    pub pose: Pose,
    /// `world_from_joint` of every joint.
    pub world: Vec<DAffine3>,
    /// Weight of each pair, over all parts.
    pub weights: Vec<f64>,
    /// Distance of the actor from the pairs' blend, see [`crate::Weights::residual`].
    pub residual: f64,
    /// Whether the frame was rejected.
    pub held: bool,
}

/// A skeleton that follows an actor.
#[derive(Debug, Clone)]
pub struct Performer {
    tracker: BodyTracker,
    puppeteer: Puppeteer,
    blend: RigBlend,
    footing: Footing,
    interpolation: Interpolation,
    parts: Vec<LimbSet>,
}

impl Performer {
    /// Prepare pairs for a rig.
    ///
    /// # Errors
    /// No pairs, a body that was not fully tracked, poses of another rig, settings out of range.
    pub fn new(rig: &Rig, pairs: &[RigPair], params: &PerformerParams) -> Result<Self, PuppetError> {
        let mut sources = Vec::with_capacity(pairs.len());
        for (pair, RigPair { body, .. }) in pairs.iter().enumerate() {
            if let Some(joint) = body.first_missing() {
                return Err(PuppetError::Untracked { pair, joint });
            }
            sources.push(params.tracker.paired(body));
        }
        let poses: Vec<Pose> = pairs.iter().map(|pair| pair.pose.clone()).collect();
        let blend = RigBlend::new(rig, &poses)?;
        let mut parts = match params.whole_body {
            true => vec![LimbSet::BODY; blend.n_joints()],
            false => assign_parts(&sources, blend.n_joints(), |joint, i, k| blend.distance(joint, i, k)),
        };
        for (joint, limbs) in &params.limbs {
            if let Some(part) = parts.get_mut(*joint) {
                *part = LimbSet::of(limbs);
            }
        }
        Ok(Self {
            tracker: BodyTracker::new(params.tracker.clone()),
            puppeteer: Puppeteer::new(&sources, &parts, &params.puppeteer)?,
            blend,
            footing: Footing::new(rig.rest_world().iter().map(|joint| joint.translation), params.ground),
            interpolation: params.interpolation,
            parts,
        })
    }

    /// Which part of the actor moves each joint.
    pub fn parts(&self) -> &[LimbSet] {
        &self.parts
    }

    /// Process the next frame; `None` before the first that was fully tracked. Times ascend, in seconds.
    ///
    /// # Errors
    /// A rig that is not the one it was prepared for.
    pub fn step(
        &mut self,
        rig: &Rig,
        time: f64,
        body: &BodyPose,
    ) -> Result<Option<PerformedFrame>, PuppetError> {
        let Some(tracked) = self.tracker.step(time, body) else { return Ok(None) };
        let weights = self.puppeteer.step(&tracked.pose)?;
        let (mut pose, mut world) = (Pose::default(), Vec::new());
        self.blend.pose(weights, &mut pose);
        rig.forward(&pose, &mut world)?;
        let (mean, residual) = (weights.mean(), weights.residual);
        if self.interpolation == Interpolation::Linear {
            self.blend.matrices(weights, &mut world);
        }
        let carried = self.footing.step(time, &tracked, |joint| world[joint].translation);
        carry(rig, &mut pose, carried);
        world.iter_mut().for_each(|matrix| *matrix = carried * *matrix);
        Ok(Some(PerformedFrame { pose, world, weights: mean, residual, held: tracked.held }))
    }
}
