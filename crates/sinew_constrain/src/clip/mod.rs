//! Whole clips on another body and another ground.
//!
//! # Source
//! Abdelhay (2008), §3.2 (constraints that accompany every pose of an animation) and §5.2 (constraints between
//! consecutive poses, as future work); Gleicher (1998). See `plan` and `solve`.
//! # Cost
//! Linear in the number of frames; about a dozen rounds of a banded factorisation.
//! # Limits
//! Only rigs whose joints scale uniformly. A foot stands on one footprint at a time; hands stand on the ground that the
//! feet stand on.

mod banded;
mod belt;
mod body;
mod contacts;
mod feet;
mod fitting;
mod freedom;
mod hands;
mod knees;
mod limits;
mod measure;
mod motion;
mod objective;
mod plan;
mod prepare;
mod prints;
mod retarget;
mod rules;
mod script;
mod solve;
mod stretch;
#[cfg(test)]
mod tests;

pub use body::{Body, Leg, flesh_below, guess_unit, scale_limbs};
pub use contacts::ContactParams;
pub use feet::{GivenContact, Part, Sole, SolePoint, Stance};
pub use hands::Support;
pub use measure::{Measured, Measures};
pub use motion::{Motion, World};
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
    /// Contacts of the clip, if they are known; then none are looked for. Default: none.
    pub given: Option<Vec<GivenContact>>,
    /// Names of the joints that carry feet; empty to find them by their names.
    pub feet: Vec<String>,
    /// The ground.
    pub ground: Ground,
    /// Whether the ground is laid out along the way of the clip, from where it starts; else along +Z of the world.
    /// Default: along the way.
    pub along_way: bool,
    /// Rules that hold over frames; joints are those of the target.
    pub rules: Vec<FrameRule>,
    /// Whether frames are fitted together; if not, each on its own, as most tools do. Default: together.
    pub together: bool,
    /// Flesh below the soles' joints, in metres, one number a leg; empty for none.
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
    /// The source's angles on the target's bones, set on the ground: what most tools give.
    pub copied: Motion,
    /// The ground where it was laid out.
    pub site: Site,
    /// When feet stand.
    pub stances: Vec<Stance>,
    /// When hands do.
    pub supports: Vec<Support>,
    /// Numbers.
    pub report: RefitReport,
}

/// Numbers of a fit.
#[derive(Debug, Clone, PartialEq)]
pub struct RefitReport {
    /// Of the source on its own ground, which is not known: no heights.
    pub source: Measures,
    /// Of copied angles.
    pub copied: Measures,
    /// Of the result.
    pub fitted: Measures,
    /// Greatest violation of a rule, in metres.
    pub rule_violation: f64,
    /// Rules that do not hold, in the order of the text.
    pub broken: Vec<BrokenRule>,
    /// By how much a limit of speed or acceleration is exceeded at worst, as a share of it.
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
    /// By how much it is off at worst, in metres (a radian counts as 0.1).
    pub worst: f64,
    /// The frame where that is.
    pub frame: usize,
    /// In how many frames it is off.
    pub n_frames: usize,
}

impl RefitReport {
    /// Jerk relative to the source; 1 where the source has none and the result neither.
    pub fn jerk_ratio(&self) -> f64 {
        match self.source.jerk {
            jerk if jerk > 1e-9 => self.fitted.jerk / jerk,
            _ => 1.0 + self.fitted.jerk,
        }
    }
}

/// Fit a motion of one rig to another rig and ground. `progress` is told the share done and may stop it.
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
    // On level ground it goes on walking in place, elsewhere it must get ahead.
    let walk = belt::carried(source, motion, -belt);
    let mut fitted =
        Prepared::new(source, &walk, target, params, warnings)?.solve(params, warnings, progress)?;
    if matches!(params.ground, Ground::Flat(_)) {
        let back = belt * fitted.report.scale;
        fitted.motion = belt::carried(target, &fitted.motion, back);
        fitted.copied = belt::carried(target, &fitted.copied, back);
    } else {
        let speed = belt.length() * fitted.report.scale;
        warnings
            .push(format!("the clip walks in place; on this ground it goes ahead, {speed:.2} m a second"));
    }
    Ok(fitted)
}

/// Velocity of the belt a motion walks on, if it does.
fn belt_of(rig: &Rig, motion: &Motion, params: &RefitParams) -> Result<Option<DVec3>, ConstrainError> {
    let body = Body::find(rig, &params.feet)?;
    let worlds = motion::worlds(rig, motion);
    Ok(belt::find_belt(&body, &worlds, motion.fps, body.leg_length(rig)))
}

/// When feet stand in a motion, part by part, and hands, which count as heels; and the names of all feet and of the hands
/// that stand.
///
/// # Errors
/// A rig that cannot be posed, feet that are not found, or numbers that are not finite.
pub fn detect_contacts(
    rig: &Rig,
    motion: &Motion,
    params: &RefitParams,
) -> Result<(Vec<GivenContact>, Vec<String>), ConstrainError> {
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
    let hands::Standing { stances, supports, .. } =
        hands::find_standing(None, (rig, &body), &worlds, when, by)?;
    let name = |joint: usize| rig.joints()[joint].name.clone();
    let mut feet: Vec<String> = body.legs.iter().map(|leg| name(leg.ankle)).collect();
    let mut contacts = feet::contacts_of(&stances, rig, &body);
    for support in &supports {
        let (foot, frames) = (name(support.hand), support.frames.clone());
        if !feet.contains(&foot) {
            feet.push(foot.clone());
        }
        contacts.push(GivenContact { foot, part: Part::Heel, frames });
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
