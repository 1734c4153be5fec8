//! A gait for a character with a skeleton, along a line.
//!
//! # Source
//! The method is that of `sinew_gait`; this file defines its inputs and how the document changes.

use crate::{DEFAULT_FPS, Document, SessionError, command::check_name, rules::rig_of};
use serde::{Deserialize, Serialize};
use sinew_formats::paths::GroundData;
use sinew_gait::{FootReport, GaitError, GaitParams, GaitReport, make_gait};
use std::sync::Arc;

/// What a user can choose about a gait.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(default, deny_unknown_fields)]
pub struct WalkSettings {
    /// Name of the clip.
    pub clip: String,
    /// walk, run, trot, pace or gallop; by the speed if absent.
    pub gait: Option<String>,
    /// Metres per second; what suits the body if absent.
    pub speed: Option<f64>,
    /// Points to go along, in metres from where the body is: to its left, and ahead. Steady steps that can be repeated if empty.
    pub line: Vec<[f64; 2]>,
    /// What it goes over; level ground if absent.
    pub ground: Option<GroundData>,
    /// Whether it stays on the spot.
    pub in_place: bool,
    /// Frames per second.
    pub fps: f64,
    /// Metres per unit of the character; guessed from its size if absent.
    pub unit: Option<f64>,
}

impl Default for WalkSettings {
    fn default() -> Self {
        Self {
            clip: "walk".into(),
            gait: None,
            speed: None,
            line: Vec::new(),
            ground: None,
            in_place: false,
            fps: DEFAULT_FPS,
            unit: None,
        }
    }
}

/// What a gait does, for showing.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "Walked"))]
#[allow(missing_docs)]
pub struct WalkNumbers {
    pub gait: &'static str,
    /// What the body was taken for.
    pub body: &'static str,
    pub legs: usize,
    pub speed: f64,
    pub stride: f64,
    pub stride_seconds: f64,
    /// Height of the hips in metres.
    pub leg: f64,
    /// Of all feet, at worst.
    pub slide_cm_s: f64,
    pub lift_cm: f64,
    pub sink_cm: f64,
    /// The same in per cent of the height of the body.
    pub sink_percent: f64,
    pub feet: Vec<FootNumbers>,
    /// What is wrong with it, in words.
    pub faults: Vec<String>,
}

/// What a foot does while it stands and while it is lifted.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "WalkedFoot"))]
#[allow(missing_docs)]
pub struct FootNumbers {
    pub joint: String,
    pub slide_cm_s: f64,
    pub lift_cm: f64,
}

impl WalkNumbers {
    fn new(report: &GaitReport) -> Self {
        let foot = |foot: &FootReport| FootNumbers {
            joint: foot.name.clone(),
            slide_cm_s: 100.0 * foot.slide,
            lift_cm: 100.0 * foot.lift,
        };
        let slide = report.feet.iter().map(|foot| foot.slide).fold(0.0, f64::max);
        let lift = report.feet.iter().map(|foot| foot.lift).fold(f64::INFINITY, f64::min);
        Self {
            gait: report.gait.name(),
            body: report.class.name(),
            legs: report.feet.len(),
            speed: report.speed,
            stride: report.stride,
            stride_seconds: report.stride_secs,
            leg: report.leg,
            slide_cm_s: 100.0 * slide,
            lift_cm: 100.0 * lift,
            sink_cm: 100.0 * report.sink,
            sink_percent: 100.0 * report.sink / report.height.max(1e-9),
            feet: report.feet.iter().map(foot).collect(),
            faults: report.faults(),
        }
    }
}

/// The document with a clip in which its character walks, and what that does.
///
/// # Errors
/// No skeleton, no legs, a name that is taken, or numbers outside their range.
pub fn add_walk(
    document: &Document,
    settings: &WalkSettings,
) -> Result<(Document, WalkNumbers), SessionError> {
    check_name("clip", &settings.clip, document.find_clip(&settings.clip).is_ok())?;
    let rig = rig_of(document)?;
    let refuse = |cause: GaitError| SessionError::Value { what: "walk", cause: cause.to_string() };
    let params = GaitParams {
        name: settings.clip.clone(),
        gait: settings.gait.as_deref().map(str::parse).transpose().map_err(refuse)?,
        speed: settings.speed,
        line: settings.line.clone(),
        ground: settings.ground.as_ref().map(GroundData::build).transpose()?.unwrap_or_default(),
        in_place: settings.in_place,
        fps: settings.fps,
        unit: settings.unit,
    };
    let made = make_gait(&document.character(), rig, &params).map_err(refuse)?;
    let mut after = document.clone();
    after.clips.push(Arc::new(made.clip));
    Ok((after, WalkNumbers::new(&made.report)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Command;
    use sinew_geom::sample::{Sample, build_character};

    #[test]
    fn a_walk_is_one_more_clip_and_the_command_makes_the_same() {
        let document = Document::new(build_character(Sample::Quadruped, 1_000).unwrap());
        let settings = WalkSettings { clip: "stroll".into(), ..WalkSettings::default() };
        let (after, numbers) = add_walk(&document, &settings).unwrap();
        assert_eq!(after.clips.len(), document.clips.len() + 1);
        assert_eq!((numbers.legs, numbers.gait), (4, "walk"));
        assert!(numbers.faults.is_empty(), "{numbers:?}");
        let by_command = Command::Walk { settings: Box::new(settings.clone()) }.apply(&document).unwrap();
        assert_eq!(by_command.clips, after.clips);
        assert!(add_walk(&after, &settings).is_err(), "the name is taken");
        let rates = [DEFAULT_FPS, 60.0].map(|fps| {
            let settings = WalkSettings { fps, ..settings.clone() };
            add_walk(&document, &settings).unwrap().0.clips.last().unwrap().joint_rate().round()
        });
        assert_eq!(rates, [DEFAULT_FPS, 60.0]);
        let bare =
            Document::new(sinew_geom::Character { mesh: document.mesh().clone(), ..Default::default() });
        assert!(add_walk(&bare, &settings).is_err(), "there is no skeleton");
    }
}
