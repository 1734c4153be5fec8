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
mod body;
mod contacts;
mod corrections;
mod feet;
mod fitting;
mod footprints;
mod hands;
mod knees;
mod limits;
mod measure;
mod motion;
mod objective;
mod plan;
mod prepare;
mod retarget;
mod rules;
mod script;
mod solve;
mod stretch;
#[cfg(test)]
mod tests;

pub use body::{Body, Leg, flesh_below, guess_unit, scale_limbs};
pub use contacts::ContactParams;
pub use feet::{Contact, FootPart, Sole, SolePoint, Stance};
pub use hands::Support;
pub use measure::{Measures, MotionMeasurer};
pub use motion::{JointFrames, Motion};
pub use rules::FrameRule;
pub use script::ClipRules;
pub use stretch::stretch_limbs;

use crate::{ConstrainError, Skeleton, language::Span};
use glam::DVec3;
use prepare::Prepared;
use sinew_geom::{
    Rig, Warnings,
    path::{Ground, Site},
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
    /// The ground.
    pub ground: Ground,
    /// Whether the ground is placed along the path of the clip, from its start; otherwise along +Z of the world.
    /// Default: along the path.
    pub along_way: bool,
    /// Rules that hold over frames; joints are those of the target.
    pub rules: Vec<FrameRule>,
    /// Whether frames are fitted together; if not, each on its own, as most tools do. Default: together.
    pub together: bool,
    /// Thickness of flesh below the joints of the soles, in metres, one number per leg; empty for none.
    pub flesh: Vec<f64>,
}

impl Default for RefitParams {
    fn default() -> Self {
        Self {
            contacts: ContactParams::default(),
            given: None,
            feet: Vec::new(),
            ground: Ground::default(),
            along_way: true,
            rules: Vec::new(),
            together: true,
            flesh: Vec::new(),
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
    /// The ground as placed.
    pub site: Site,
    /// When feet are planted.
    pub stances: Vec<Stance>,
    /// When hands are planted.
    pub supports: Vec<Support>,
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
    params.ground.check()?;
    let Some(belt) = belt_of(source, motion, params)? else {
        return Prepared::new(source, motion, target, params, warnings)?.solve(params, warnings, progress);
    };
    // On level ground it keeps walking in place; elsewhere it must move ahead.
    let walk = belt::carried(source, motion, -belt);
    let mut fitted =
        Prepared::new(source, &walk, target, params, warnings)?.solve(params, warnings, progress)?;
    if matches!(params.ground, Ground::Flat(_)) {
        let back = belt * fitted.report.scale;
        fitted.motion = belt::carried(target, &fitted.motion, back);
        fitted.copied = belt::carried(target, &fitted.copied, back);
    } else {
        let speed = belt.length() * fitted.report.scale;
        warnings.push(format!("the clip walks in place; on this ground it moves ahead at {speed:.2} m/s"));
    }
    Ok(fitted)
}

/// Velocity of the treadmill of a walk in place, if it is one.
fn belt_of(rig: &Rig, motion: &Motion, params: &RefitParams) -> Result<Option<DVec3>, ConstrainError> {
    let body = Body::find(rig, &params.feet)?;
    let worlds = motion::worlds(rig, motion);
    Ok(belt::find_belt(&body, &worlds, motion.fps, body.leg_length(rig)))
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
    let body = Body::find(rig, &params.feet)?;
    let walk = belt_of(rig, motion, params)?.map(|belt| belt::carried(rig, motion, -belt));
    let motion = walk.as_ref().unwrap_or(motion);
    let worlds = motion::worlds(rig, motion);
    let leg = body.leg_length(rig);
    let segments = feet::find_segments(motion, &worlds, body.pelvis, leg);
    let by = (leg, &params.contacts);
    let when = (motion.fps, segments.as_slice());
    let hands::BodyContacts { stances, supports, .. } =
        hands::find_standing(None, (rig, &body), &worlds, when, by)?;
    let name = |joint: usize| rig.joints()[joint].name.clone();
    let mut feet: Vec<String> = body.legs.iter().map(|leg| name(leg.ankle)).collect();
    let mut contacts = feet::contacts_of(&stances, rig, &body);
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
