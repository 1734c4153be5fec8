//! A skeleton for a character that has none.
//!
//! # Source
//! The method is that of `sinew_rig`; this file defines what becomes of the document.

use crate::{Document, FleshData, SessionError, skinned_clip::carry_clips};
use serde::Serialize;
use sinew_geom::{Character, Rig, body_map::BodyClass};
use sinew_rig::{AutoRig, RigParams, RigReport, build_rig};
use std::sync::Arc;

/// What a character was taken for when it got its skeleton.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct SkeletonReport {
    /// The plan of the body, as `sinew rig --template` names it.
    pub class: &'static str,
    /// 0 (a guess) to 1 (certain).
    pub confidence: f64,
    /// Joints of the skeleton.
    pub joints: usize,
    /// Whether the confidence is so low that the user should look at the result.
    pub is_guess: bool,
    /// All of it in one sentence.
    pub text: String,
}

impl SkeletonReport {
    fn new(report: &RigReport, joints: usize) -> Self {
        let (class, confidence, is_guess) = (report.class, report.confidence, report.is_guess());
        let percent = 100.0 * confidence;
        let word = if is_guess { "a guess" } else { "recognised from its shape" };
        let text = format!(
            "it had no skeleton and was given one, {word}: {}, {joints} joints, confidence {percent:.0} %",
            class.description()
        );
        Self { class: class.name(), confidence, joints, is_guess, text }
    }

    /// Whether the shape was recognised as that of a body with limbs that have names.
    pub fn is_body(&self) -> bool {
        self.class != BodyClass::Tree.name()
    }
}

/// Whether a character has joints that can be posed. A single joint, as turntables have, only moves the whole.
pub fn has_skeleton(character: &Character) -> bool {
    character.rig.as_ref().is_some_and(|rig| rig.n_joints() > 1)
}

/// Give a character without a skeleton one that fits its shape, with weights. Nothing else of it changes.
///
/// # Errors
/// If it has one already, there is no surface, the template is unknown or does not fit at all.
pub fn add_skeleton(
    character: &mut Character,
    template: Option<&str>,
) -> Result<SkeletonReport, SessionError> {
    if has_skeleton(character) {
        let joints = character.rig.as_ref().map_or(0, Rig::n_joints);
        let cause = format!("the character has one of {joints} joints already");
        return Err(SessionError::Value { what: "skeleton", cause });
    }
    let template = template.map(template_of).transpose()?;
    let AutoRig { rig, skin, report } = build_rig(&character.mesh, &RigParams { template })?;
    let report = SkeletonReport::new(&report, rig.n_joints());
    (character.rig, character.skin) = (Some(rig), Some(skin));
    Ok(report)
}

/// The document with a skeleton that fits its shape, which moves in its clips as the surface did. One that was made of
/// handles or of joints placed by the user is replaced.
///
/// # Errors
/// As [`add_skeleton`].
pub fn with_skeleton(
    document: &Document,
    template: Option<&str>,
) -> Result<(Document, SkeletonReport), SessionError> {
    let mut body = (*document.body).clone();
    if document.flesh.bound || !has_skeleton(&body) {
        (body.rig, body.skin) = (None, None);
    }
    let report = add_skeleton(&mut body, template)?;
    let flesh = FleshData { bound: false, turns: Vec::new(), ..(*document.flesh).clone() };
    let mut after = Document { body: Arc::new(body), flesh: Arc::new(flesh), ..document.clone() };
    carry_clips(document, &mut after)?;
    Ok((after, report))
}

fn template_of(name: &str) -> Result<BodyClass, SessionError> {
    let names = BodyClass::ALL.map(BodyClass::name);
    BodyClass::from_name(name).ok_or_else(|| SessionError::absent("template", name, names.into_iter()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Command, History, read_project, write_project};
    use sinew_geom::{
        Warnings,
        sample::{Sample, build_character},
    };
    use std::{path::Path, time::Duration};

    fn bare_biped() -> Document {
        let grown = build_character(Sample::Biped, 2_000).unwrap();
        Document::new(Character { rig: None, skin: None, clips: Vec::new(), ..grown })
    }

    #[test]
    fn a_skeleton_is_one_step_that_is_saved_and_undone() {
        let mut history = History::new(bare_biped());
        let command = Command::AddSkeleton { template: None };
        history.apply(&command, None, Duration::ZERO).unwrap();
        let document = history.document().clone();
        assert!(has_skeleton(&document.body) && document.body.skin.is_some());
        assert_eq!(document.handles.len(), bare_biped().handles.len());
        let (_, report) = with_skeleton(&bare_biped(), None).unwrap();
        assert!(report.class == "biped" && !report.is_guess, "{report:?}");
        // It moves the surface: a turned joint takes vertices along, the others stay.
        let rig = document.body.rig.as_ref().unwrap();
        let mut pose = rig.rest_pose();
        let last = pose.locals.len() - 1;
        pose.locals[last / 2].rotation *= glam::DQuat::from_rotation_x(0.5);
        let moved = document.body.positions_posed(&pose).unwrap();
        let far = moved.iter().zip(document.mesh().positions());
        assert!(far.map(|(p, rest)| p.as_dvec3().distance(*rest)).fold(0.0, f64::max) > 0.01);
        let mut warnings = Warnings::default();
        let bytes = write_project(&document, &mut warnings).unwrap();
        let back = read_project(&bytes, Path::new("x"), &mut warnings).unwrap();
        assert_eq!(back.body.rig.as_ref().map(Rig::n_joints), Some(rig.n_joints()));
        assert!(history.apply(&command, None, Duration::ZERO).is_err(), "there is one already");
        assert!(history.undo() && !has_skeleton(&history.document().body));
    }

    #[test]
    fn templates_are_chosen_by_name() {
        let chosen = with_skeleton(&bare_biped(), Some("tree")).unwrap().1;
        assert!(chosen.class == "tree" && !chosen.is_body());
        let message = with_skeleton(&bare_biped(), Some("dragon")).unwrap_err().to_string();
        assert!(message.contains("dragon") && message.contains("quadruped"), "{message}");
        assert!(with_skeleton(&Document::default(), None).is_err());
    }
}
