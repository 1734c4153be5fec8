//! What became of a refit, in numbers: `--json` of `sinew refit`, and what the studio shows.

use super::Refitted;
use serde::Serialize;
use sinew_constrain::clip::{Refit, Support};
use sinew_geom::Rig;
use std::ops::Range;

/// How a refit became, for showing.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "Refitted"))]
#[allow(missing_docs)]
pub struct RefitNumbers {
    pub frames: usize,
    pub fps: f64,
    pub slide_cm_s: f64,
    pub drift_cm: f64,
    /// Mean distance of planted feet from the ground.
    pub height_error_cm: f64,
    pub penetration_cm: f64,
    pub jerk_ratio: f64,
    /// How much further a joint moves in a frame than in the clip, at worst.
    pub jump_cm: f64,
    /// How deep the surface is in the ground, beyond the clip's own.
    pub surface_depth_cm: f64,
    /// How far limbs point elsewhere than the clip's on average; null where bodies cannot be compared.
    pub direction_deg: Option<f64>,
    /// How much the feet of the clip slide.
    pub clip_slide_cm_s: f64,
    pub limit_violations: usize,
    /// Rules that do not hold.
    pub broken_rules: usize,
    pub rule_violation_cm: f64,
    /// By how much a limit of speed or acceleration is exceeded at worst.
    pub limit_excess_percent: f64,
    pub rounds: usize,
    /// Length of the legs relative to those of the clip.
    pub scale: f64,
    /// Frames at which the clip jumps and was cut.
    pub cuts: Vec<usize>,
    pub contacts: Vec<StanceNumbers>,
    pub hands: Vec<HandNumbers>,
    pub ground: GroundNumbers,
    /// What copying angles alone would give.
    pub copied: CopiedNumbers,
    /// Why the result should not be used; empty with rules, which may ask for what the clip does not do.
    pub damage: Vec<String>,
    pub warnings: Vec<String>,
}

/// When a foot stands: first and last frames.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "RefitStance"))]
#[allow(missing_docs)]
pub struct StanceNumbers {
    /// Which leg.
    pub foot: usize,
    pub frames: [usize; 2],
    pub heel: Option<[usize; 2]>,
    pub ball: Option<[usize; 2]>,
}

/// When a hand supports the body: first and last frames.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "RefitHand"))]
#[allow(missing_docs)]
pub struct HandNumbers {
    pub hand: String,
    pub frames: [usize; 2],
}

/// The ground of a refitted clip.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "RefitGround"))]
#[allow(missing_docs)]
pub struct GroundNumbers {
    /// Null if the clip's is not level or nobody stands.
    pub clip_height_cm: Option<f64>,
    pub height_cm: Option<f64>,
    pub origin: [f64; 2],
    pub heading_deg: f64,
}

/// What copying angles alone would give.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "RefitCopied"))]
#[allow(missing_docs)]
pub struct CopiedNumbers {
    pub slide_cm_s: f64,
    pub penetration_cm: f64,
}

impl RefitNumbers {
    /// Of a refit, and what there was to say about it.
    pub fn new(Refitted { fitted, rig, has_rules, .. }: &Refitted, warnings: Vec<String>) -> Self {
        let (report, of) = (&fitted.report, &fitted.report.fitted);
        Self {
            frames: fitted.motion.n_frames(),
            fps: fitted.motion.fps,
            slide_cm_s: 100.0 * of.slide,
            drift_cm: 100.0 * of.drift,
            height_error_cm: 100.0 * of.height_error,
            penetration_cm: 100.0 * of.penetration,
            jerk_ratio: report.jerk_ratio(),
            jump_cm: 100.0 * report.quality.jump.value,
            surface_depth_cm: 100.0 * report.quality.depth.value,
            direction_deg: report.quality.direction.map(f64::to_degrees),
            clip_slide_cm_s: 100.0 * report.source.slide,
            limit_violations: of.limit_violations,
            broken_rules: report.broken.len(),
            rule_violation_cm: 100.0 * report.rule_violation,
            limit_excess_percent: 100.0 * report.limit_excess,
            rounds: report.rounds,
            scale: report.scale,
            cuts: report.cuts.clone(),
            contacts: stances(fitted),
            hands: fitted.supports.iter().map(|support| hand(support, rig)).collect(),
            ground: ground(fitted),
            copied: CopiedNumbers {
                slide_cm_s: 100.0 * report.copied.slide,
                penetration_cm: 100.0 * report.copied.penetration,
            },
            damage: report.refusal().filter(|_| !has_rules).into_iter().collect(),
            warnings,
        }
    }
}

/// First and last, as people count.
fn ends(frames: &Range<usize>) -> [usize; 2] {
    [frames.start, frames.end.saturating_sub(1)]
}

fn stances(fitted: &Refit) -> Vec<StanceNumbers> {
    let stance = |stance: &sinew_constrain::clip::Stance| StanceNumbers {
        foot: stance.leg,
        frames: ends(&stance.frames),
        heel: stance.heel.as_ref().map(ends),
        ball: stance.ball.as_ref().map(ends),
    };
    fitted.stances.iter().map(stance).collect()
}

fn hand(support: &Support, rig: &Rig) -> HandNumbers {
    HandNumbers { hand: rig.joints()[support.hand].name.clone(), frames: ends(&support.frames) }
}

fn ground(fitted: &Refit) -> GroundNumbers {
    let heights = fitted.report.ground;
    GroundNumbers {
        clip_height_cm: heights.map(|[clip, _]| 100.0 * clip),
        height_cm: heights.map(|[_, own]| 100.0 * own),
        origin: fitted.site.origin,
        heading_deg: fitted.site.heading.to_degrees(),
    }
}
