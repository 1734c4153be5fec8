//! Fitting whole clips to another body and another ground.
//!
//! # Source
//! Abdelhay (2008), §3.2 (constraints that accompany every pose of an animation) and §5.2 (constraints between
//! consecutive poses, as future work); Gleicher (1998). See `plan` and `solve`.
//! # Cost
//! Linear in the number of frames; about a dozen rounds of a banded factorisation.
//! # Limits
//! Only rigs whose joints scale uniformly. A foot is planted on one footprint at a time; hands are planted on the same
//! ground as the feet.

mod banded;
mod belt;
mod bodies;
mod body;
mod contacts;
mod corrections;
mod counterparts;
mod facing;
mod feet;
mod fitting;
mod footprints;
mod hands;
mod joined;
mod joints;
mod knees;
mod limits;
mod measure;
mod motion;
mod objective;
mod plan;
mod prepare;
mod quality;
mod reach;
mod retarget;
mod rules;
mod script;
mod skin_points;
mod smooth;
mod solve;
mod stretch;
#[cfg(test)]
mod tests;
mod touching;
mod verdict;

pub use crate::joint_frames::JointFrames;
pub use body::{Body, Leg, scale_limbs};
pub use contacts::ContactParams;
pub use feet::{Contact, FootPart, Sole, SolePoint, Stance};
pub use hands::Support;
pub use measure::{Measures, MotionMeasurer};
pub use motion::Motion;
pub use quality::{Quality, Worst};
pub use rules::FrameRule;
pub use script::ClipRules;
pub use skin_points::SkinPoints;
pub use stretch::stretch_limbs;

use crate::{ConstrainError, Skeleton, language::Span};
use bodies::Bodies;
use glam::DQuat;
use prepare::Prepared;
use sinew_geom::{
    Clip, Rig, Warnings,
    body_map::BodyMap,
    path::{Ground, PlacedGround},
};
use std::ops::ControlFlow;

/// What to fit a clip to.
#[derive(Debug, Clone)]
pub struct RefitParams {
    /// How contacts are found.
    pub contacts: ContactParams,
    /// Contacts of the clip, if they are known; then none are detected. Default: none.
    pub given: Option<Vec<Contact>>,
    /// Names of the joints that carry feet; empty to find them by their names.
    pub feet: Vec<String>,
    /// Another ground; `None` for that of the clip, at the size of the target. Default: that of the clip.
    pub ground: Option<Ground>,
    /// Whether the ground is placed along the path of the clip, from its start; otherwise along +Z of the world.
    /// Default: along the path.
    pub along_way: bool,
    /// Rules that hold over frames; joints are those of the target.
    pub rules: Vec<FrameRule>,
    /// Whether frames are fitted together; if not, each on its own, as most tools do. Default: together.
    pub together: bool,
    /// Whether planted feet stand as still as stone, rather than as still as the source's. Default: as the source's.
    pub still_feet: bool,
    /// Surfaces of the source and of the target, as far as they are known.
    pub skins: [Option<SkinPoints>; 2],
    /// Body maps of the source and of the target; read from their skeletons if they are not given.
    pub maps: [Option<BodyMap>; 2],
}

impl Default for RefitParams {
    fn default() -> Self {
        Self {
            contacts: ContactParams::default(),
            given: None,
            feet: Vec::new(),
            ground: None,
            along_way: true,
            rules: Vec::new(),
            together: true,
            still_feet: false,
            skins: [None, None],
            maps: [None, None],
        }
    }
}

/// A fitted clip.
#[derive(Debug, Clone)]
pub struct Refit {
    /// The motion of the target.
    pub motion: Motion,
    /// The source's angles copied to the target and placed on the ground, as most tools do.
    pub copied: Motion,
    /// The ground as placed; level at the height of the clip's own if no other was given.
    pub site: PlacedGround,
    /// When feet are planted.
    pub stances: Vec<Stance>,
    /// When hands are planted.
    pub supports: Vec<Support>,
    /// How deep in the ground the clip's own body is, per frame and at the size of the target; `None` where no ground is known.
    pub own_depths: Option<Vec<f64>>,
    /// `site ← source` and `site ← target`: +Y of the ground is up.
    pub upright: [DQuat; 2],
    /// Measurements.
    pub report: RefitReport,
}

/// Measurements of a fit.
#[derive(Debug, Clone, PartialEq)]
pub struct RefitReport {
    /// Of the source; without heights, since its ground is not known.
    pub source: Measures,
    /// Of copied angles.
    pub copied: Measures,
    /// Of the result.
    pub fitted: Measures,
    /// Greatest violation of a rule, in metres.
    pub rule_violation: f64,
    /// Rules that do not hold, in the order of the text.
    pub broken: Vec<BrokenRule>,
    /// Largest excess over a limit of speed or acceleration, relative to the limit.
    pub limit_excess: f64,
    /// Rounds of the solver.
    pub rounds: usize,
    /// Ratio of leg lengths, target to source.
    pub scale: f64,
    /// Frames at which the clip jumps and was cut.
    pub cuts: Vec<usize>,
    /// Height of the clip's own ground and of the result's, in metres; `None` if the clip's is not level or nobody stands.
    pub ground: Option<[f64; 2]>,
    /// How the result compares with the clip, the surface included.
    pub quality: Quality,
}

/// A rule that does not hold in all of its frames.
#[derive(Debug, Clone, PartialEq)]
pub struct BrokenRule {
    /// Where it was written.
    pub span: Span,
    /// Largest violation, in metres (a radian counts as 0.1).
    pub worst: f64,
    /// The frame of the largest violation.
    pub frame: usize,
    /// Number of frames in which it is violated.
    pub n_frames: usize,
}

impl RefitReport {
    /// Jerk relative to the source; 1 if neither has any.
    pub fn jerk_ratio(&self) -> f64 {
        match self.source.jerk {
            jerk if jerk > 1e-9 => self.fitted.jerk / jerk,
            _ => 1.0 + self.fitted.jerk,
        }
    }
}

/// Fit a motion of one rig to another rig and ground. `progress` receives the share done and may cancel.
///
/// # Errors
/// Rigs that do not match or cannot be posed, feet that are not found, numbers that are not finite, or cancelling.
pub fn refit(
    (source, motion): (&Rig, &Motion),
    target: &Rig,
    params: &RefitParams,
    warnings: &mut Warnings,
    progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Result<Refit, ConstrainError> {
    Skeleton::from_rig(source)?;
    Skeleton::from_rig(target)?;
    check(source, motion)?;
    params.ground.as_ref().map_or(Ok(()), Ground::check)?;
    let bodies = Bodies::new(source, motion, target, params)?;
    let Some(belt) = bodies.belt() else {
        let fitted = Prepared::new(&bodies, params, warnings)?.solve(params, warnings, progress)?;
        return Ok(bodies.finish(fitted));
    };
    // On level ground it keeps walking in place; elsewhere it must move ahead.
    let walk = bodies.carried(-belt);
    let mut fitted = Prepared::new(&walk, params, warnings)?.solve(params, warnings, progress)?;
    if matches!(params.ground, None | Some(Ground::Flat(_))) {
        let back = belt * fitted.report.scale;
        fitted.motion = belt::carried(&walk.target.rig, &fitted.motion, back);
        fitted.copied = belt::carried(&walk.target.rig, &fitted.copied, back);
    } else {
        let speed = belt.length() * fitted.report.scale;
        warnings.push(format!("the clip walks in place; on this ground it moves ahead at {speed:.2} m/s"));
    }
    Ok(bodies.finish(fitted))
}

/// The body map of a rig; poses of a motion help where its rest pose says nothing.
fn read_map(rig: &Rig, motion: Option<&Motion>) -> BodyMap {
    let poses = motion.map_or(&[][..], |motion| &motion.poses);
    let some = [0, poses.len() / 3, poses.len() * 2 / 3];
    let pose = |&k: &usize| poses.get(k).and_then(|pose| Clip::from_pose("pose", rig, pose).ok());
    BodyMap::read(rig, &some.iter().filter_map(pose).collect::<Vec<_>>())
}

/// Contacts of a motion: parts of feet, and hands, which count as heels; and the names of all feet and of the planted
/// hands.
///
/// # Errors
/// A rig that cannot be posed, feet that are not found, or numbers that are not finite.
pub fn detect_contacts(
    rig: &Rig,
    motion: &Motion,
    params: &RefitParams,
) -> Result<(Vec<Contact>, Vec<String>), ConstrainError> {
    Skeleton::from_rig(rig)?;
    check(rig, motion)?;
    let bodies = Bodies::new(rig, motion, rig, params)?;
    let walk = bodies.belt().map(|belt| bodies.carried(-belt));
    let bodies = walk.as_ref().unwrap_or(&bodies);
    let (rig, body, motion) = (&bodies.source.rig, &bodies.source.body, &bodies.motion);
    let worlds = motion::worlds(rig, motion);
    let leg = body.leg_length(rig);
    let segments = feet::find_segments(motion, &worlds, body.pelvis, leg);
    let by = (leg, &params.contacts);
    let when = (motion.fps, segments.as_slice());
    let hands::BodyContacts { stances, supports, .. } =
        hands::find_standing(None, (rig, body), &worlds, when, by)?;
    let name = |joint: usize| rig.joints()[joint].name.clone();
    let mut feet: Vec<String> = body.legs.iter().map(|leg| name(leg.ankle)).collect();
    let mut contacts = feet::contacts_of(&stances, rig, body);
    for support in &supports {
        let (foot, frames) = (name(support.hand), support.frames.clone());
        if !feet.contains(&foot) {
            feet.push(foot.clone());
        }
        contacts.push(Contact { foot, part: FootPart::Heel, frames });
    }
    Ok((contacts, feet))
}

fn check(rig: &Rig, motion: &Motion) -> Result<(), ConstrainError> {
    if motion.poses.is_empty() {
        return Err(ConstrainError::NoFrames);
    }
    for (frame, pose) in motion.poses.iter().enumerate() {
        if pose.locals.len() != rig.n_joints() {
            let (expected, actual) = (rig.n_joints(), pose.locals.len());
            return Err(ConstrainError::Length { what: "a pose of the clip", expected, actual });
        }
        if let Some(joint) = pose.locals.iter().position(|local| !local.is_finite()) {
            return Err(ConstrainError::BrokenFrame { frame, joint: rig.joints()[joint].name.clone() });
        }
    }
    Ok(())
}
